//! The same bits for every number of ranks and every cut.

use zippy::{Config, run_with};
use zippy_lbm::Cut;

use super::cases::{Case, all};
use super::support::launcher;

/// Hash, mass and forces after 13 steps, an odd number.
type Found = (u64, u64, Vec<[u64; 6]>);

fn found(case: &Case, ranks: usize, cut: &Cut) -> Found {
    let all = run_with(Config::threads(ranks), |world| {
        let mut flow = case.flow(world, cut)?;
        flow.run(13)?;
        let pulls = flow.pulls()?.into_iter().map(|pull| {
            let [a, b, c] = pull.force.map(f64::to_bits);
            let [d, e, f] = pull.torque.map(f64::to_bits);
            [a, b, c, d, e, f]
        });
        Ok((flow.hash()?, flow.mass()?.to_bits(), pulls.collect()))
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
    for case in all() {
        // One rank under a launcher is still three, with one chunk for all of them.
        let alone = found(&case, 1, &Cut::Parts([1; 3]));
        for ranks in launcher::counts(&[2, 3, 5]) {
            assert_eq!(found(&case, ranks, &Cut::Auto), alone, "{} {:?}, {ranks} ranks", case.name, case.set);
        }
        let lattice = case.twin().shape;
        let three = |parts: i64| [0, 1, 2].map(|axis| uneven(lattice[axis], if lattice[axis] < 3 { 1 } else { parts }));
        for parts in [2, 3] {
            let mut cut = three(parts);
            // An outlet and the cell before it are in one part.
            if case.name == "stream" {
                cut.iter_mut().filter(|lengths| lengths.len() > 1).for_each(|lengths| {
                    lengths[0] += 2;
                    *lengths.last_mut().expect("a part") -= 2;
                });
            }
            let cut = Cut::Sizes(cut);
            assert_eq!(found(&case, 3, &cut), alone, "{} {:?}, cut {cut:?}", case.name, case.set);
        }
        if case.name == "stream" {
            continue;
        }
        let single = Cut::Parts([lattice[0] as usize, 1, 1]);
        assert_eq!(found(&case, 2, &single), alone, "{} {:?}, layers of one cell", case.name, case.set);
    }
}
