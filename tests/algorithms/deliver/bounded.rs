//! However much is delivered, a rank stages no more than a few messages.

use zippy::world::Destinations;
use zippy::{Layout, Result, World};

use super::{CASES, Case, check, elements_in_runs, scattered, sections, two_columns};
use crate::counting::most;
use crate::support::{launcher, ranks};

/// The cases of all others with messages of very few elements, so that ranks wait for each other again and again.
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

crate::with_variables! {
    a_cell_a_message, [("ZIPPY_MESSAGE", "12")], small_messages
}

crate::with_variables! {
    some_cells_a_message, [("ZIPPY_MESSAGE", "400")], small_messages
}

/// As in `much`.
const MESSAGE: u64 = 1 << 17;

fn memory(world: &World, case: &Case) -> Result<()> {
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
    let what = format!("{} on rank {rank} of {size}", case.name);
    // Slices on their way, and what wgpu holds for them, one that has come before the one before it is written among them;
    // MPI also brings in what each of the others has under way.
    let under_way = 4 + if launcher::size().is_some() { 2 * (size as u64 - 1) } else { 0 };
    // Without a driver the buffers of all ranks of the process are the host's memory.
    let in_host_memory = |bytes: u64| if world.gpu().has_driver() { 0 } else { bytes * size as u64 };
    let buffers = in_host_memory(taken);
    assert!(grown < (under_way * MESSAGE + buffers) as isize, "{what}: {grown} bytes of the host for {} sent", 4 * n);
    // What arrives, once, and staging memory, of which there are three kinds in buffers of at least 64 KiB.
    assert!(taken <= 4 * total + (1 << 20), "{what}: {taken} bytes of the device for {} that arrive", 4 * total);
    let mut found = delivered.elements.all().read()?.into_iter();
    for source in 0..size {
        for x in arriving(source) {
            assert_eq!(found.next(), Some((x as u32).wrapping_mul(11) + source as u32), "{what}: {x} of {source}");
        }
    }
    assert_eq!(found.next(), None);

    // The same in one run, of which nothing passes the host.
    let runs = Destinations::Runs(vec![(rank, n as u64)]);
    let mut result = None;
    let grown = most(|| result = Some(world.deliver("y", own.all(), runs)));
    let buffers = in_host_memory(4 * n as u64);
    assert!(grown < (3 * MESSAGE + buffers) as isize, "{what}: {grown} bytes of the host for what stays");
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
        ranks(&[2, 5], |world| memory(world, case));
    }
}

crate::with_variables! {
    /// A dozen messages' worth a rank.
    more_than_a_message, [("ZIPPY_MESSAGE", "131072")], much
}

/// Elements of a rank in the longest step.
const LONGEST: u64 = 1 << 19;

/// Deliveries whose lengths change at random. The program itself holds elements, their ranks and
/// those that arrive.
fn changing_lengths(world: &World) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let length = |rank: usize, step: u64| {
        let mixed = (step * 64 + rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        LONGEST / 4 + mixed % (3 * LONGEST / 4)
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
    // Where the host does not reach chunks, staging has a copy of all that is sent and received.
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
