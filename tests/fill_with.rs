//! Chunks filled by a function of the position: the values, and how much memory of the host it takes.

mod support;
under_mpi!();

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use zippy::{Element, Layout, Result, Split, World};

/// Counts what is allocated, and the most that it was.
struct Counting;
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: all is done by the system's allocator; this counts only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        let now = NOW.fetch_add(memory.size(), Relaxed) + memory.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: as the caller of this function promises.
        unsafe { System.alloc(memory) }
    }
    unsafe fn dealloc(&self, at: *mut u8, memory: Memory) {
        NOW.fetch_sub(memory.size(), Relaxed);
        // SAFETY: as the caller of this function promises.
        unsafe { System.dealloc(at, memory) }
    }
}

fn of<const D: usize>(p: [i64; D]) -> i64 {
    p.iter().rev().fold(0, |sum, x| 1009 * sum + x)
}

/// Fills an array of 64 MiB in one chunk a rank, and checks some of its cells, all of them along one line.
fn fill<T: Element + PartialEq + std::fmt::Debug>(world: &World, value: impl Fn(i64) -> T) -> Result<()> {
    let rows = (64 << 20) / 1021 / size_of::<T>() as i64;
    let layout = Layout::new([1021, rows]).split([Split::Whole, Split::Even(world.size())]).ghost([1, 0]);
    let array = world.array::<T, 2>("array", &layout)?;
    array.fill_with(|p| value(of(p)))?;
    world.barrier()?;
    for chunk in array.chunks() {
        let last = chunk.extents()[1] - 1;
        for part in [chunk.at((.., ..3)), chunk.at((.., last)), chunk.at((517, ..))] {
            let cells = part.region()?.points().zip(part.read()?);
            cells.for_each(|(p, got)| assert_eq!(got, value(of([p[0], p[1]])), "{p:?}"));
        }
    }
    Ok(())
}

/// Tests of one process share what is counted.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn chunks_are_not_collected_on_the_host() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    support::ranks(&[1, 2], |world| {
        fill(world, |n| n as u8)?;
        world.barrier()?;
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        world.barrier()?;
        fill(world, |n| n as f32)?;
        fill(world, |n| n as i16)?;
        fill(world, |n| n as u8)?;
        fill(world, |n| [n as u32, 1, 2, n as u32])?;
        world.barrier()?;
        let grown = PEAK.load(Relaxed).saturating_sub(before);
        assert!(grown < 32 << 20, "{grown} bytes for chunks of {} MiB", 64 / world.size());
        world.barrier()
    });
}

#[test]
fn every_cell_of_every_part_has_its_value() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(world: &World, value: impl Fn(i64) -> T) -> Result<()> {
        // Rows longer than what is written at a time, and of a length that is no multiple of a word.
        let layout = Layout::new([4_500_001, 2]).split([Split::Even(world.size()), Split::Whole]);
        let array = world.array::<T, 2>("long", &layout)?;
        let mut order = None;
        array.fill_with(|p| {
            assert!(order.replace([p[1], p[0]]).is_none_or(|last| world.size() > 1 || last < [p[1], p[0]]), "in order");
            value(of(p))
        })?;
        for chunk in array.chunks() {
            let cells = chunk.region().points().zip(chunk.all().read()?);
            cells.for_each(|(p, got)| assert_eq!(got, value(of([p[0], p[1]])), "{p:?}"));
        }
        Ok(())
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    support::ranks(&[1, 3], |world| {
        check(world, |n| n as u8)?;
        check(world, |n| n as i16)?;
        check(world, |n| n as f32)
    });
}
