//! Get, put, accumulate and fence on 1, 2, 3, 5 and 8 ranks, against the operations run one after the other on a vector.

mod support;

use support::RANKS;
use zippy::{Layout, Operator, Ownership, Split, World};

/// A small generator, the same on all ranks.
struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as i64
    }
}

#[derive(Clone, Debug)]
enum Step {
    Get,
    Put(i32),
    Add(i32),
    Max(i32),
}

/// The operations of every rank; all ranks draw the same.
fn script(seed: u64, ranks: usize, shape: [i64; 2]) -> Vec<Vec<([i64; 2], [i64; 2], Step)>> {
    let mut random = Random(seed);
    (0..ranks)
        .map(|_| {
            (0..random.below(12))
                .map(|_| {
                    let start = [random.below(shape[0] + 1), random.below(shape[1] + 1)];
                    let end = [
                        start[0] + random.below(shape[0] - start[0] + 1),
                        start[1] + random.below(shape[1] - start[1] + 1),
                    ];
                    let value = random.below(1000) as i32 - 500;
                    let step = match random.below(4) {
                        0 => Step::Get,
                        1 => Step::Put(value),
                        2 => Step::Add(value),
                        _ => Step::Max(value),
                    };
                    (start, end, step)
                })
                .collect()
        })
        .collect()
}

fn cells(start: [i64; 2], end: [i64; 2]) -> Vec<[i64; 2]> {
    (start[1]..end[1]).flat_map(|y| (start[0]..end[0]).map(move |x| [x, y])).collect()
}

#[test]
fn operations_run_in_rank_and_sequence_order() {
    support::ranks(RANKS, |world: &World| {
        let shape = [13, 9];
        let n = world.size();
        let layout = Layout::new(shape).split([[4, 0, 6, 3].into(), Split::Even(3)]).ghost([1, 1]);
        let owners = (0..12).map(|chunk| (chunk * 5 + 1) % n).collect();
        let array = world.array_owned::<i32, 2>("array", &layout, Ownership::table(owners, n)?)?;
        let mut truth = vec![0_i32; 13 * 9];
        for epoch in 0..6 {
            let script = script(epoch + 17, n, shape);
            let mut tickets = Vec::new();
            for (start, end, step) in &script[world.rank()] {
                let section = array.at([start[0]..end[0], start[1]..end[1]]);
                let cells = cells(*start, *end);
                let values = |base: i32| (0..cells.len() as i32).map(|i| base + i).collect::<Vec<_>>();
                match step {
                    Step::Get => tickets.push(world.get(section)?),
                    Step::Put(base) => world.put(&values(*base), section)?,
                    Step::Add(base) => world.accumulate(&values(*base), section, Operator::Add)?,
                    Step::Max(base) => world.accumulate(&values(*base), section, Operator::Max)?,
                }
            }
            let mut fetched = world.fence()?;
            let mut tickets = tickets.into_iter();
            for (rank, steps) in script.iter().enumerate() {
                for (start, end, step) in steps {
                    let cells = cells(*start, *end);
                    let at = |[x, y]: [i64; 2]| (x + 13 * y) as usize;
                    if let (Step::Get, true) = (step, rank == world.rank()) {
                        let expected: Vec<i32> = cells.iter().map(|&p| truth[at(p)]).collect();
                        assert_eq!(fetched.redeem(tickets.next().unwrap())?, expected, "{start:?} {end:?}");
                    }
                    for (i, &p) in cells.iter().enumerate() {
                        let cell = &mut truth[at(p)];
                        match step {
                            Step::Get => {}
                            Step::Put(base) => *cell = base + i as i32,
                            Step::Add(base) => *cell += base + i as i32,
                            Step::Max(base) => *cell = (*cell).max(base + i as i32),
                        }
                    }
                }
            }
            let ticket = world.get(array.at(..))?;
            assert_eq!(world.fence()?.redeem(ticket)?, truth, "after epoch {epoch}");
        }
        Ok(())
    });
}

#[test]
fn packed_cells_of_one_word_are_put_by_different_ranks() {
    support::ranks(RANKS, |world: &World| {
        let n = world.size() as i64;
        let array = world.array::<u8, 1>("array", &Layout::new([3 * n + 1]).split([Split::Even(2)]))?;
        let mine = 3 * world.rank() as i64;
        world.put(&[1, 2, 3].map(|v| v + 10 * world.rank() as u8), array.at([mine..mine + 3]))?;
        world.fence()?;
        let ticket = world.get(array.at(..))?;
        let cells = world.fence()?.redeem(ticket)?;
        let expected: Vec<u8> = (0..n as u8).flat_map(|r| [1, 2, 3].map(|v| v + 10 * r)).chain([0]).collect();
        assert_eq!(cells, expected);
        Ok(())
    });
}

#[test]
fn local_sections_are_either_end() {
    support::ranks(RANKS, |world: &World| {
        let (rank, n) = (world.rank() as i64, world.size() as i64);
        let global = world.array::<f32, 2>("global", &Layout::new([7, 2 * n]).split([Split::Even(2), Split::Auto]))?;
        let local = world.local_array::<f32, 2>("local", &Layout::new([9, 4]).ghost([1, 1]))?;
        local.all().write(&(0..36).map(|i| (1000 * rank + i) as f32).collect::<Vec<_>>())?;
        // Each rank puts two rows; the last rank puts nothing.
        let rows = if rank == n - 1 && n > 1 { 0..0 } else { 2 * rank..2 * rank + 2 };
        let height = rows.end - rows.start;
        world.copy(local.at((1..8, 1..1 + height)), global.at((.., rows)))?;
        world.put(local.at((0..1, 3..4)), global.at((0..1, 0..1)))?;
        world.fence()?;
        local.all().write(&[-1.0; 36])?;
        world.copy(global.at((.., 0..2)), local.at((2..9, 2..4)))?;
        let cells = local.at((2..9, 2..4)).read()?;
        for (i, cell) in cells.into_iter().enumerate() {
            let (x, y) = (i as i64 % 7, i as i64 / 7);
            let expected = if i == 0 { (1000 * (n - 1) + 27) as f32 } else { (x + 1 + 9 * (y + 1)) as f32 };
            assert_eq!(cell, if n == 1 && i == 0 { 27.0 } else { expected }, "at {x}, {y}");
        }
        assert_eq!(local.at((0..2, ..)).read()?, [-1.0; 8]);
        Ok(())
    });
}

#[test]
fn mistakes_are_found_at_the_call() {
    support::ranks(RANKS, |world: &World| {
        let array = world.array::<i32, 1>("array", &Layout::new([10]))?;
        assert!(world.get(array.at([5..11])).is_err());
        let wrong = world.put(&[1, 2, 3], array.at([0..4])).unwrap_err().to_string();
        assert!(wrong.contains('3') && wrong.contains('4'), "{wrong}");
        assert!(world.accumulate(&[1], array.at([0..1]), Operator::Over).is_err());
        let early = world.get(array.at([0..1]))?;
        let mut fetched = world.fence()?;
        let late = world.get(array.at([0..1]))?;
        fetched.redeem(early)?;
        assert!(fetched.redeem(late).is_err(), "not filled by that fence");
        world.fence()?;
        Ok(())
    });
}

support::under_mpi!();
