//! Asynchronous copies between a global array and local sections of each rank.

use zippy::{Layout, Split};

use crate::support::{RANKS, cells::expect, ranks};

#[test]
fn started_copies_with_local_ends_have_read_their_source() {
    ranks(RANKS, |world| {
        let (rank, size) = (world.rank() as i64, world.size() as i64);
        let layout = Layout::new([5, 2 * size]).split([Split::Even(2), Split::Even(world.size())]);
        let array = world.array::<i32, 2>("array", &layout)?;
        let value = |[x, y]: [i64; 2]| (x + 100 * y) as i32;
        array.fill_with(value)?;
        let local = world.local_array::<i32, 2>("local", &Layout::new([5, 2]))?;

        // Each rank copies the rows of the next rank, which changes them before the wait.
        let next = (rank + 1) % size;
        let pending = world.start_copy(array.at((.., 2 * next..2 * next + 2)), local.at(..))?;
        array.fill(-1)?;
        pending.wait()?;
        let expected: Vec<i32> = (0..10).map(|i| value([i % 5, 2 * next + i / 5])).collect();
        assert_eq!(local.all().read()?, expected);

        // Copies them back, and changes the local section before the wait.
        let pending = world.start_copy(local.at(..), array.at((.., 2 * next..2 * next + 2)))?;
        local.all().fill(-2)?;
        pending.wait()?;
        world.barrier()?;
        expect(&array, &"put back", value)?;

        // A copy within this rank.
        world.start_copy(local.at((0..2, ..)), local.at((3..5, ..)))?.wait()?;
        assert_eq!(local.all().read()?, [-2; 10]);
        Ok(())
    });
}
