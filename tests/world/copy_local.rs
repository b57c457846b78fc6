//! Asynchronous copies between a global array and local sections of each rank.

use zippy::{Layout, Split};

use crate::support::{RANKS, cells::expect, ranks};

#[test]
fn source_may_change_after_local_copy_has_started() {
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

/// Each rank copies its chunk to its own second half, and to the first half of the next chunk, from
/// which the next rank reads.
#[test]
fn copy_of_chunk_into_its_array_reads_all_sources_first() {
    ranks(RANKS, |world| {
        let (rank, size) = (world.rank() as i64, world.size() as i64);
        let array = world.array::<i32, 1>("array", &Layout::new([4 * size]).split([Split::Even(world.size())]))?;
        let expected = |[x]: [i64; 1]| if x < 2 { x } else { x - 2 } as i32;
        let length = if rank == size - 1 { 2 } else { 4 };
        for started in [false, true] {
            array.fill_with(|[x]| x as i32)?;
            let (source, target) = (array.local()?.at(0..length), array.at(4 * rank + 2..4 * rank + 2 + length));
            if started {
                world.start_copy(source, target)?.wait()?;
            } else {
                world.copy(source, target)?;
            }
            world.barrier()?;
            expect(&array, &format!("started {started}"), expected)?;
        }
        Ok(())
    });
}

#[test]
fn overlapping_copies_from_local_sections_leave_cells_of_highest_rank() {
    ranks(RANKS, |world| {
        let (rank, size) = (world.rank() as i64, world.size() as i64);
        let array = world.array::<u8, 1>("array", &Layout::new([3 * size + 4]).split([Split::Even(world.size())]))?;
        let local = world.local_array::<u8, 1>("local", &Layout::new([7]))?;
        local.all().fill(rank as u8 + 1)?;
        let moved = world.copy(&local, array.at(3 * rank..3 * rank + 7))?;
        let own = array
            .chunks()
            .map(|chunk| chunk.region())
            .map(|chunk| (chunk.end[0].min(3 * rank + 7) - chunk.start[0].max(3 * rank)).max(0) as u64);
        assert_eq!(moved.bytes_local, own.sum::<u64>());
        world.barrier()?;
        expect(&array, &"overlapping", |[x]| (x / 3).min(size - 1) as u8 + 1)
    });
}
