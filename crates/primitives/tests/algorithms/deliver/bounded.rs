//! Tests that the staging memory of a delivery is bounded by a few messages per rank.

use zippy::world::Destinations;
use zippy::{Layout, Result, World};
use zippy_testing::random::fibonacci_hash;

use super::{CASES, Case, check, elements_in_runs, scattered, sections, two_columns};
use crate::counting::most;
use crate::support::{launcher, ranks};

/// The cases of the other tests, with messages of very few elements, so that ranks often wait for
/// each other.
fn small_messages() {
    ranks(&[2, 5], |world| {
        for case in CASES {
            let to = sections(world, "to", &case.ranks(world.rank(), world.size()), 1)?;
            check::<u8>(world, case, &to[..], 2)?;
            check::<[i32; 2]>(world, case, &to[..], 1)?;
        }
        Ok(())
    });
    ranks(&[3], |world| elements_in_runs(world).and_then(|()| two_columns(world)));
}

zippy_testing::with_variables! {
    a_cell_a_message, [("ZIPPY_MESSAGE", "12")], small_messages
}

zippy_testing::with_variables! {
    some_cells_a_message, [("ZIPPY_MESSAGE", "400")], small_messages
}

/// Message limit in bytes, as in `more_than_a_message`.
const MESSAGE: u64 = 1 << 17;

fn check_memory(world: &World, case: &Case) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let n = (case.length)(rank) as i64;
    let own = world.local_array::<u32, 1>("own", &Layout::new([n]))?;
    own.all().fill_with(|[x]| (x as u32).wrapping_mul(11) + rank as u32)?;
    let to = world.local_array::<u32, 1>("to", &Layout::new([n]))?;
    to.all().fill_with(|[x]| (case.to)(rank, x as u64, size) as u32)?;
    let arriving = |source: usize| (0..(case.length)(source)).filter(move |&x| (case.to)(source, x, size) == rank);
    let total: u64 = (0..size).map(|source| arriving(source).count() as u64).sum();
    world.barrier()?;
    let device = world.gpu().counters().bytes_now;
    world.gpu().reset_peak();
    let mut result = None;
    let grown = most(|| result = Some(world.deliver("x", own.all(), to.all())));
    let delivered = result.expect("called")?;
    let taken = world.gpu().counters().bytes_peak - device;
    let label = format!("{} on rank {rank} of {size}", case.name);
    // Messages in transit, including wgpu's copies and one message that has arrived early. MPI also
    // receives the messages of all other ranks in advance.
    let under_way = 4 + if launcher::size().is_some() { 2 * (size as u64 - 1) } else { 0 };
    // Without a driver, the buffers of all ranks of the process are in host memory.
    let in_host_memory = |bytes: u64| if world.gpu().has_driver() { 0 } else { bytes * size as u64 };
    let buffers = in_host_memory(taken);
    assert!(grown < (under_way * MESSAGE + buffers) as isize, "{label}: {grown} bytes of the host for {} sent", 4 * n);
    // The arriving elements, and three kinds of staging memory in buffers of at least 64 KiB.
    assert!(taken <= 4 * total + (1 << 20), "{label}: {taken} bytes of the device for {} that arrive", 4 * total);
    let mut found = delivered.elements.all().read()?.into_iter();
    for source in 0..size {
        for x in arriving(source) {
            assert_eq!(found.next(), Some((x as u32).wrapping_mul(11) + source as u32), "{label}: {x} of {source}");
        }
    }
    assert_eq!(found.next(), None);

    // One run that stays on the rank, so that the host copies no element.
    let runs = Destinations::Runs(vec![(rank, n as u64)]);
    let mut result = None;
    let grown = most(|| result = Some(world.deliver("y", own.all(), runs)));
    let buffers = in_host_memory(4 * n as u64);
    assert!(grown < (3 * MESSAGE + buffers) as isize, "{label}: {grown} bytes of the host for what stays");
    assert!(result.expect("called")?.elements.all().read()? == own.all().read()?);
    Ok(())
}

fn much() {
    let length = |_: usize| 400_001;
    let cases = [
        Case { name: "scattered", length, to: scattered },
        Case { name: "all to one", length, to: |_, _, size| size / 2 },
        Case { name: "to the next", length, to: |rank, _, size| (rank + 1) % size },
    ];
    for case in &cases {
        ranks(&[2, 5], |world| check_memory(world, case));
    }
}

zippy_testing::with_variables! {
    /// Each rank sends about twelve messages.
    more_than_a_message, [("ZIPPY_MESSAGE", "131072")], much
}

/// Maximum number of elements of a rank in a step.
const LONGEST: u64 = 1 << 19;

/// Deliveries with random lengths. The program holds the elements, their destinations, and the
/// arriving elements.
fn changing_lengths(world: &World) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let length = |rank: usize, step: u64| {
        let pseudo_random_number = fibonacci_hash(step * 64 + rank as u64 + 1) >> 40;
        LONGEST / 4 + pseudo_random_number % (3 * LONGEST / 4)
    };
    let counters = world.gpu().counters();
    let before = counters.bytes_now + counters.host_bytes_now;
    world.gpu().reset_peak();
    for step in 0..40 {
        let n = length(rank, step);
        let own = world.local_array::<u32, 1>("own", &Layout::new([n as i64]))?;
        own.all().fill_with(|[x]| (x as u32) << 8 | rank as u32)?;
        let to = world.local_array::<u32, 1>("to", &Layout::new([n as i64]))?;
        to.all().fill_with(|[x]| (x as usize % size) as u32)?;
        let delivered = world.deliver("x", own.all(), to.all())?;
        let arriving = (0..size).flat_map(|source| {
            let own = (rank as u64..length(source, step)).step_by(size);
            own.map(move |x| (x as u32) << 8 | source as u32)
        });
        assert!(delivered.elements.all().read()?.into_iter().eq(arriving), "step {step} on rank {rank} of {size}");
    }
    let counters = world.gpu().counters();
    let taken = counters.bytes_peak + counters.host_bytes_peak - before;
    // Without mapped chunks, staging memory has a copy of all sent and received elements.
    let times = if world.gpu().host_mapped() { 8 } else { 10 };
    assert!(
        taken <= times * 4 * LONGEST,
        "{taken} bytes for {} that are delivered, on rank {rank} of {size}",
        4 * LONGEST
    );
    Ok(())
}

#[test]
fn memory_of_deliveries_whose_lengths_change_is_bounded_by_their_data() {
    ranks(&[1, 2, 3], changing_lengths);
}
