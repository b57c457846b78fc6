//! The same bits for every number of ranks and every cut.

use zippy::{Config, Layout, run_with};
use zippy_lbm::{Cut, Flow, Populations, Storage};

use super::cases::{Case, all};
use super::support::launcher;

/// Hash, mass and forces after 7 steps, an odd number, and the shape of the populations.
type Found = (u64, u64, Vec<[u64; 6]>, [i64; 3]);

fn found(case: &Case, ranks: usize, cut: &Cut) -> Found {
    let all = run_with(Config::threads(launcher::counts(&[ranks])[0]), |world| {
        let mut flow = case.flow(world, cut)?;
        flow.run(7)?;
        let pulls = flow.pulls()?.into_iter().map(|pull| {
            let [a, b, c] = pull.force.map(f64::to_bits);
            let [d, e, f] = pull.torque.map(f64::to_bits);
            [a, b, c, d, e, f]
        });
        let (pulls, hash, mass) = (pulls.collect(), flow.hash()?, flow.mass()?.to_bits());
        let [x, y, z, _] = match flow.populations()? {
            Populations::Single(f) => f.shape(),
            Populations::Half(f) => f.shape(),
        };
        Ok((hash, mass, pulls, [x, y, z]))
    })
    .unwrap();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "ranks differ");
    all.into_iter().next().unwrap()
}

/// `n` cells in parts of which the first has one cell.
fn uneven(n: i64, parts: i64) -> Vec<i64> {
    let parts = parts.min(n);
    (0..parts).map(|part| if part + 1 < parts { 1 + part } else { n - parts * (parts - 1) / 2 }).collect()
}

#[test]
fn all_cuts() {
    for (number, case) in all().into_iter().enumerate() {
        // Under a launcher three ranks have the one chunk.
        let alone = found(&case, 1, &Cut::Parts([1; 3]));
        let lattice = alone.3;
        // An outlet and the cell before it are in one part.
        let outlet = case.name == "stream";
        let sizes = |parts: i64| {
            let least = if outlet { 7 + i64::from(case.storage == Storage::Half) } else { 4 };
            let mut cut = [0, 1, 2].map(|axis| uneven(lattice[axis], if lattice[axis] < least { 1 } else { parts }));
            if outlet {
                cut.iter_mut().filter(|lengths| lengths.len() > 1).for_each(|lengths| {
                    lengths[0] += 2;
                    *lengths.last_mut().expect("a part") -= 2;
                });
            }
            Cut::Sizes(cut)
        };
        let single = if outlet { Cut::Auto } else { Cut::Parts([lattice[0] as usize, 1, 1]) };
        let ways = [(2, Cut::Auto), (3, sizes(3)), (5, Cut::Auto), (2, single), (3, Cut::Auto), (3, sizes(2))];
        // Each case goes half of the ways, and the next one the others; those in 16 bits go two.
        let count = if case.storage == Storage::Half { 2 } else { 3 };
        for (ranks, cut) in ways.iter().skip(number % 2).step_by(2).take(count) {
            assert_eq!(
                found(&case, *ranks, cut),
                alone,
                "{} {:?} {:?}, {ranks} ranks, {cut:?}",
                case.name,
                case.set,
                case.storage
            );
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
        let mut other = Flow::new(world, &problem.named("other"), &Cut::Auto)?;
        one.run(7)?;
        other.run(7)?;
        Ok([one.hash()?, other.hash()?])
    });
    assert!(hashes.unwrap().iter().all(|hashes| *hashes == [alone; 2]));
}
