//! Bits on different numbers of ranks and cuts.

use zippy::{Config, Layout, run_with};
use zippy_lbm::{Cut, Flow, Populations, Precision, VelocitySet};

use super::against_reference;
use super::cases::{Case, TestSide, all_cases};
use super::support::launcher;

/// Bits of a flow after 7 steps, and the shape of its populations.
#[derive(Debug, Clone, PartialEq)]
struct FlowBits {
    hash: u64,
    mass: u64,
    forces: Vec<[u64; 6]>,
    shape: [i64; 3],
}

fn run_seven_steps(case: &Case, ranks: usize, cut: &Cut) -> FlowBits {
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
        Ok(FlowBits { hash, mass, forces, shape: [x, y, z] })
    })
    .unwrap();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "ranks differ");
    all.into_iter().next().unwrap()
}

/// Three uneven parts along each long axis; the first part has its least length.
fn uneven_cut(case: &Case, lattice: [i64; 3]) -> Cut {
    // An outlet and its inner neighbour are in one part, and so are an image and its cell.
    let least = |side: TestSide| match side {
        TestSide::Outlet(_) => 3,
        TestSide::Mirror => 2,
        _ => 1,
    };
    let pad = i64::from(case.precision == Precision::Half);
    Cut::Sizes([0, 1, 2].map(|axis| {
        let ([first, last], cells) = (case.sides[axis].map(least), lattice[axis]);
        let rest = cells - first - 2;
        if rest < last + pad { vec![cells] } else { vec![first, 2, rest] }
    }))
}

fn assert_same(case: &Case, alone: &FlowBits, ranks: usize, cut: &Cut) {
    let found = &run_seven_steps(case, ranks, cut);
    assert_eq!(found, alone, "{} {:?} {:?}, {ranks} ranks, {cut:?}", case.name, case.set, case.precision);
}

#[test]
fn all_cuts_have_the_same_bits() {
    // Compilation of kernels takes most of the time: of D3Q27 in 32 bits, cases with solids cover
    // corners.
    let large = |case: &Case| case.set == VelocitySet::D3Q27 && case.precision == Precision::Single;
    for case in all_cases().into_iter().filter(|case| !large(case) || case.has_solids) {
        // Under an MPI launcher, one of three ranks has the only chunk.
        let alone = run_seven_steps(&case, 1, &Cut::Parts([1; 3]));
        let uneven = uneven_cut(&case, alone.shape);
        let ranks = if case.set == VelocitySet::D2Q9 || case.name == "solids" { 3 } else { 2 };
        assert_same(&case, &alone, ranks, &uneven);
        // More ranks than parts, and parts of one cell.
        let (ranks, cut) = match case.name {
            "stream" => (5, Cut::Auto),
            "periodic" => (2, Cut::Parts([alone.shape[0] as usize, 1, 1])),
            _ => continue,
        };
        assert_same(&case, &alone, ranks, &cut);
    }
}

/// Populations of an odd step move to another number of ranks and another cut, like through a file.
#[test]
fn resumed_flow_has_the_bits_of_an_uninterrupted_flow() {
    for case in all_cases().iter().filter(|case| ["solids", "duct", "stream", "room"].contains(&case.name)) {
        let alone = run_seven_steps(case, 1, &Cut::Parts([1; 3]));
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
        let [nx, ny, nz] = alone.shape;
        let word = |[x, y, z, slot]: [i64; 4]| words[(x + nx * (y + ny * (z + nz * slot))) as usize];
        let hashes =
            run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
                let mut flow =
                    Flow::resumed(world, &case.problem(), &uneven_cut(case, alone.shape), 3, |populations| {
                        match populations {
                            Populations::Single(f) => f.fill_with(|at| f32::from_bits(word(at))),
                            Populations::Half(f) => f.fill_with(word),
                        }
                    })?;
                flow.run(4)?;
                flow.hash()
            });
        assert!(hashes.unwrap().iter().all(|&hash| hash == alone.hash), "{} {:?}", case.name, case.precision);
    }
}

// Without mapped memory, interior cells are computed during the exchange.
zippy_testing::with_variables! {
    without_mapping_by_driver, [("ZIPPY_HOST_MAP", "0")], || {
        for case in all_cases().iter().filter(|case| ["periodic", "room", "cavity"].contains(&case.name)) {
            let alone = run_seven_steps(case, 1, &Cut::Parts([1; 3]));
            let cut = uneven_cut(case, alone.shape);
            assert_same(case, &alone, 3, &cut);
            against_reference::compare_with_reference(case, &[2]);
        }
    }
}

#[test]
fn two_flows_in_one_world_do_not_disturb_each_other() {
    let case = &all_cases()[0];
    let alone = run_seven_steps(case, 1, &Cut::Auto).hash;
    let hashes = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let _same_name = world.array::<f32, 1>("velocity", &Layout::new([3]))?;
        let problem = case.problem();
        let mut one = Flow::new(world, &problem, &Cut::Auto)?;
        let mut other = Flow::new(world, &problem.name("other"), &Cut::Auto)?;
        one.run(7)?;
        other.run(7)?;
        Ok([one.hash()?, other.hash()?])
    });
    assert!(hashes.unwrap().iter().all(|hashes| *hashes == [alone; 2]));
}
