//! The same bits for every number of ranks and every cut.

use zippy::{Config, Layout, run_with};
use zippy_lbm::{Cut, Flow, Populations, Precision, VelocitySet};

use super::against_twin;
use super::cases::{Beyond, Case, all};
use super::support::launcher;

/// Hash, mass and forces after 7 steps, an odd number, and the shape of the populations.
type Found = (u64, u64, Vec<[u64; 6]>, [i64; 3]);

fn found(case: &Case, ranks: usize, cut: &Cut) -> Found {
    let all = run_with(Config::threads(launcher::counts(&[ranks])[0]), |world| {
        let mut flow = case.flow(world, cut)?;
        flow.run(7)?;
        let forces = flow.body_forces()?.into_iter().map(|force| {
            let [a, b, c] = force.force.map(f64::to_bits);
            let [d, e, f] = force.torque.map(f64::to_bits);
            [a, b, c, d, e, f]
        });
        let (forces, hash, mass) = (forces.collect(), flow.hash()?, flow.mass()?.to_bits());
        let [x, y, z, _] = match flow.populations()? {
            Populations::Single(f) => f.shape(),
            Populations::Half(f) => f.shape(),
        };
        Ok((hash, mass, forces, [x, y, z]))
    })
    .unwrap();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "ranks differ");
    all.into_iter().next().unwrap()
}

/// Three uneven parts along each axis that is long enough for them, the first one as short as it
/// may be.
fn sizes(case: &Case, lattice: [i64; 3]) -> Cut {
    // An outlet and the cell before it are in one part, and so are a mirror's cell and the one that
    // it shows.
    let least = |beyond: Beyond| match beyond {
        Beyond::Outlet(_) => 3,
        Beyond::Mirror => 2,
        _ => 1,
    };
    let pad = i64::from(case.precision == Precision::Half);
    Cut::Sizes([0, 1, 2].map(|axis| {
        let ([first, last], cells) = (case.sides[axis].map(least), lattice[axis]);
        let rest = cells - first - 2;
        if rest < last + pad { vec![cells] } else { vec![first, 2, rest] }
    }))
}

fn same(case: &Case, found: &Found, alone: &Found, ranks: usize, cut: &Cut) {
    assert_eq!(found, alone, "{} {:?} {:?}, {ranks} ranks, {cut:?}", case.name, case.set, case.precision);
}

#[test]
fn all_cuts() {
    // Each case compiles its kernels on each rank, which takes all the time. Of the largest set in 32 bits those with
    // solids show what corners need.
    let large = |case: &Case| case.set == VelocitySet::D3Q27 && case.precision == Precision::Single;
    for case in all().into_iter().filter(|case| !large(case) || case.solids) {
        // Under a launcher three ranks have the one chunk.
        let alone = found(&case, 1, &Cut::Parts([1; 3]));
        let uneven = sizes(&case, alone.3);
        let ranks = if case.set == VelocitySet::D2Q9 || case.name == "solids" { 3 } else { 2 };
        same(&case, &found(&case, ranks, &uneven), &alone, ranks, &uneven);
        // More ranks than the cut has parts, and one part a cell wide.
        let (ranks, cut) = match case.name {
            "stream" => (5, Cut::Auto),
            "periodic" => (2, Cut::Parts([alone.3[0] as usize, 1, 1])),
            _ => continue,
        };
        same(&case, &found(&case, ranks, &cut), &alone, ranks, &cut);
    }
}

/// Populations of an odd step go to other ranks and another cut, as through a file.
#[test]
fn resumed() {
    for case in all().iter().filter(|case| ["solids", "duct", "stream", "room"].contains(&case.name)) {
        let alone = found(case, 1, &Cut::Parts([1; 3]));
        let words = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
            let mut flow = case.flow(world, &Cut::Auto)?;
            flow.run(3)?;
            Ok(match flow.populations()? {
                Populations::Single(f) => {
                    let all = world.get(f.at(..))?;
                    world.fence()?.redeem(all)?.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                }
                Populations::Half(f) => {
                    let all = world.get(f.at(..))?;
                    world.fence()?.redeem(all)?
                }
            })
        });
        let words = words.unwrap().swap_remove(0);
        let [nx, ny, nz] = alone.3;
        let word = |[x, y, z, slot]: [i64; 4]| words[(x + nx * (y + ny * (z + nz * slot))) as usize];
        let hashes = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
            let mut flow =
                Flow::resumed(world, &case.problem(), &sizes(case, alone.3), 3, |populations| match populations {
                    Populations::Single(f) => f.fill_with(|at| f32::from_bits(word(at))),
                    Populations::Half(f) => f.fill_with(word),
                })?;
            flow.run(4)?;
            flow.hash()
        });
        assert!(hashes.unwrap().iter().all(|&hash| hash == alone.0), "{} {:?}", case.name, case.precision);
    }
}

// Where the device is not the host, cells inside are computed before those at cuts.
zippy_testing::with_variables! {
    without_mapping_by_driver, [("ZIPPY_HOST_MAP", "0")], || {
        for case in all().iter().filter(|case| ["periodic", "room", "cavity"].contains(&case.name)) {
            let alone = found(case, 1, &Cut::Parts([1; 3]));
            let cut = sizes(case, alone.3);
            same(case, &found(case, 3, &cut), &alone, 3, &cut);
            against_twin::compare(case, &[2]);
        }
    }
}

#[test]
fn side_by_side() {
    let case = &all()[0];
    let alone = found(case, 1, &Cut::Auto).0;
    let hashes = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let _own = world.array::<f32, 1>("velocity", &Layout::new([3]))?;
        let problem = case.problem();
        let mut one = Flow::new(world, &problem, &Cut::Auto)?;
        let mut other = Flow::new(world, &problem.name("other"), &Cut::Auto)?;
        one.run(7)?;
        other.run(7)?;
        Ok([one.hash()?, other.hash()?])
    });
    assert!(hashes.unwrap().iter().all(|hashes| *hashes == [alone; 2]));
}
