//! Messages sent in place from chunks, without packing: selection, equality with packed messages,
//! and return of the leases.

use std::rc::Rc;
use std::sync::{Barrier, Mutex};

use zippy::device::{Device, DeviceOptions, PackedBox, StridedBox};
use zippy::element::ElementInfo;
use zippy::error::ErrorKind;
use zippy::transport::TransportKind;
use zippy::{ArrayOptions, Element, Exchange, GlobalArray, Layout, Operator, Ownership, Result, Split, World};
use zippy_device::device::InjectedFailure;

use crate::support::cells::{code, expect};
use crate::support::{RANKS, launcher, ranks};

const COLUMNS: i64 = 512;

/// Array with rows of 2 KiB: 32 rows are the default minimum of an in-place send.
fn array_of_rows(world: &World, name: &str, sizes: &[i64], of: u64) -> Result<GlobalArray<u32, 2>> {
    let rows = Layout::new([COLUMNS, sizes.iter().sum()]).split([Split::Whole, Split::Sizes(sizes.to_vec())]);
    let owners = Ownership::table((0..sizes.len()).map(|chunk| (chunk + 1) % world.size()).collect(), world.size())?;
    let array = world.array(name, ArrayOptions::new(&rows).owned_by(owners))?;
    array.fill_with(|at| code(of, at) as u32)?;
    Ok(array)
}

fn packed(world: &World) -> u64 {
    let counters = world.gpu().counters();
    counters.host_made + counters.host_reused
}

#[test]
fn in_place_and_packed_boxes_are_applied_in_order() {
    ranks(RANKS, |world| {
        // Overlaps of 1 to 60 rows; most pairs of ranks exchange both packed and in-place boxes.
        let from = array_of_rows(world, "from", &[40, 3, 64, 1, 100, 33, 70], 1)?;
        let onto = array_of_rows(world, "onto", &[5, 60, 61, 2, 90, 93], 2)?;
        for shift in [0, 1, 17] {
            let (source, destination) = (from.at((.., 0..311 - shift)), onto.at((.., shift..311)));
            let planned = world.plan(Exchange::new().copy(source.clone(), destination.clone()))?.moved();
            assert_eq!(world.copy(source.clone(), destination.clone())?, planned);
            let moved_to = |[x, y]: [i64; 2]| if y < shift { code(2, [x, y]) } else { code(1, [x, y - shift]) };
            expect(&onto, &"copied", |at| moved_to(at) as u32)?;
            world.composite(source, destination, Operator::Add)?;
            let times = |[_, y]: [i64; 2]| if y < shift { 1 } else { 2 };
            expect(&onto, &"added", |at| (moved_to(at) as u32).wrapping_mul(times(at)))?;
            expect(&from, &"read only", |at| code(1, at) as u32)?;
            onto.fill_with(|at| code(2, at) as u32)?;
        }
        Ok(())
    });
}

/// Dense rows of whole chunks are sent without packing. Parts of rows, cells that are also written,
/// and operators of kernels need packing.
#[test]
fn only_dense_unwritten_boxes_are_sent_without_packing() {
    ranks(&[2, 3], |world| {
        let Some(least) = world.gpu().in_place_bytes() else { return Ok(()) };
        let sizes = [64, 32, 96];
        let (a, b) = (array_of_rows(world, "a", &sizes, 1)?, array_of_rows(world, "b", &[192], 2)?);
        let packs = |label: &str, packs: bool, step: &dyn Fn() -> Result<()>| -> Result<()> {
            let before = packed(world);
            step()?;
            world.barrier()?;
            let mut any = [packed(world) - before];
            world.group().all_reduce(&mut any, |sum, more| *sum += more)?;
            assert_eq!(any[0] > 0, packs, "{label}, from {least} bytes on");
            Ok(())
        };
        packs("whole rows", false, &|| world.copy(a.at(..), b.at(..)).map(drop))?;
        packs("combined by the host", false, &|| world.composite(a.at(..), b.at(..), Operator::Max).map(drop))?;
        packs("parts of rows", true, &|| world.copy(a.at((1.., ..)), b.at((1.., ..))).map(drop))?;
        let fold = Operator::custom("fold", "fn combine(src: T, dst: T) -> T { return dst * 31u + src; }");
        packs("combined by a kernel", true, &|| world.composite(a.at(..), b.at(..), fold.clone()).map(drop))?;
        packs("started", true, &|| world.start_copy(a.at(..), b.at(..))?.wait().map(drop))?;
        let c = array_of_rows(world, "c", &[100, 92], 3)?;
        // `b` is read and written.
        let chain = [(a.at(..), b.at(..)), (b.at(..), c.at(..))];
        packs("read and written", true, &|| world.exchange(Exchange::new().copies(chain.clone())).map(drop))?;
        expect(&b, &"a chain", |at| code(1, at) as u32)
    });
}

fn check_copies_of_element<T: Element + From<u8> + PartialEq + std::fmt::Debug>(
    world: &World,
    columns: i64,
) -> Result<()> {
    let value = |[x, y]: [i64; 2]| T::from((x * 7 + y * 13) as u8);
    let rows = |sizes: &[i64]| Layout::new([columns, 9]).split([Split::Whole, Split::Sizes(sizes.to_vec())]);
    let from = world.array::<T, 2>("from", &rows(&[4, 1, 4]))?;
    let onto = world.array::<T, 2>("onto", &rows(&[2, 2, 5]))?;
    from.fill_with(value)?;
    for (columns, rows) in [(0..columns, 0..9), (1..columns, 0..9), (3..columns - 2, 4..5), (4..columns, 4..5)] {
        onto.fill(T::from(0))?;
        let section = |of: &GlobalArray<T, 2>| of.at((columns.clone(), rows.clone()));
        world.copy(section(&from), section(&onto))?;
        let inside = |[x, y]: [i64; 2]| columns.contains(&x) && rows.contains(&y);
        expect(&onto, &"copied", |at| if inside(at) { value(at) } else { T::from(0) })?;
    }
    Ok(())
}

zippy_testing::with_variables! {
    /// Elements of 1 and 2 bytes: rows begin at whole words, and boxes end within a word.
    small_elements_at_odd_places, [("ZIPPY_IN_PLACE", "1")], || {
        ranks(&[3], |world| {
            for columns in [16, 13, 14, 15] {
                check_copies_of_element::<u8>(world, columns)?;
                check_copies_of_element::<u16>(world, columns)?;
            }
            Ok(())
        });
    }
}

/// State of a rank after a failure of another rank during a copy.
#[derive(Debug)]
struct StateAfterFailure {
    remote: bool,
    lent: bool,
    read: Result<Vec<u32>>,
    refused: Option<String>,
}

/// Runs a copy in which rank 1 fails, and returns the state of the other ranks.
fn states_after_failed_copy(count: usize) -> Vec<StateAfterFailure> {
    // The mailbox of the failed rank must stay alive, like that of a process that hangs.
    let (looked, found) = (Barrier::new(count), Mutex::new(Vec::new()));
    let program = |world: &World| {
        let (a, b) = (array_of_rows(world, "a", &[64, 32, 96], 1)?, array_of_rows(world, "b", &[192], 2)?);
        world.barrier()?;
        if world.rank() == 1 {
            // This rank owns `b`, and fails after its own part of `a`.
            world.gpu().inject_failure(InjectedFailure::OutOfMemory);
        }
        // A fourth rank does not take part in the copy.
        let error = world.copy(a.at(..), b.at(..)).and_then(|_| world.barrier()).unwrap_err();
        if world.group().kind() == TransportKind::Threads {
            let read: Result<Vec<Vec<u32>>> = a.chunks().map(|chunk| chunk.all().read()).collect();
            let write = || a.fill(0).err().map(|error| error.to_string());
            if world.rank() != 1 {
                found.lock().unwrap().push(StateAfterFailure {
                    remote: matches!(error.kind(), ErrorKind::Remote { rank: 1, .. }),
                    lent: !world.gpu().reclaim_chunks(),
                    read: read.map(|chunks| chunks.concat()),
                    refused: write(),
                });
            }
            looked.wait();
        }
        Err::<(), _>(error)
    };
    let error = zippy::run_with(zippy::Config::threads(count), program).unwrap_err();
    assert!(error.to_string().contains("out of memory"), "{error}");
    let found = found.into_inner().unwrap();
    assert_eq!(found.len(), if launcher::size().is_some() { 0 } else { 2 });
    for StateAfterFailure { remote, lent, read, refused } in &found {
        assert!(remote, "{found:?}");
        // A chunk of 32 rows on one rank, of 96 on the other.
        assert!([32, 96].map(|rows| rows * COLUMNS as usize).contains(&read.as_ref().unwrap().len()));
        let refused = refused.as_ref().filter(|text| text.contains("which another rank has not read"));
        assert_eq!(refused.is_some(), *lent, "{refused:?}");
    }
    found
}

zippy_testing::with_variables! {
    /// A rank that fails during the operation never receives its messages: the other ranks return,
    /// can read their chunks, and get errors for other accesses.
    a_failed_rank_holds_nobody_up, [("ZIPPY_IN_PLACE", "4")], || {
        let count = launcher::size().unwrap_or(3);
        let mapped = std::env::var_os("ZIPPY_HOST_MAP").is_none() && open_mapping_device().is_some();
        // A rank that learns of the failure before it has sent a message leases no memory; this
        // depends on timing.
        let tries = if mapped { 50 } else { 1 };
        let both_lent = (0..tries).any(|_| states_after_failed_copy(count).iter().all(|found| found.lent));
        assert_eq!(both_lent, mapped || launcher::size().is_some());
        // The next run reuses the devices.
        ranks(&[3], |world| {
            let (a, b) = (array_of_rows(world, "a", &[64, 32, 96], 1)?, array_of_rows(world, "b", &[192], 2)?);
            world.copy(a.at(..), b.at(..))?;
            expect(&b, &"copied", |at| code(1, at) as u32)
        });
    }
}

/// Opens a device with mapped chunks; `None` if the adapter has its own memory.
fn open_mapping_device() -> Option<Rc<Device>> {
    let device = Device::open(&DeviceOptions::from_env(0, 1).unwrap()).unwrap();
    device.host_mapped().then_some(device)
}

#[test]
fn a_chunk_by_driver_is_lent_until_the_last_payload_is_gone() {
    let Some(device) = open_mapping_device() else { return };
    let chunk = device.storage_buffer(4096, "lent").unwrap();
    let values: Vec<u32> = (0..1024).collect();
    let box_of = |chunk, offset, n: i64| PackedBox {
        buffer: chunk,
        view: StridedBox::dense(offset, [n].into()),
        payload_offset: 0,
    };
    device.scatter(4, bytemuck::cast_slice(&values), &[box_of(&chunk, 0, 1024)]).unwrap();
    let payload = device.in_place_payload(&chunk, 400..800).unwrap();
    let more = device.in_place_payload(&chunk, 0..4096).unwrap().part(4..8).unwrap();
    assert_eq!((payload.as_ref(), more.as_ref()), (bytemuck::cast_slice(&values[100..200]), &[1, 0, 0, 0][..]));
    // A leased chunk can be read and packed, but not written.
    let read = device.gather(4, &[box_of(&chunk, 7, 3)], 12).unwrap();
    assert_eq!(read.as_ref(), bytemuck::cast_slice::<u32, u8>(&values[7..10]));
    let other = device.storage_buffer(4096, "other").unwrap();
    let pair = |a, b| {
        let [from, to] = [(a, 5), (b, 50)]
            .map(|(buffer, offset)| zippy::device::BufferBox { buffer, view: StridedBox::dense(offset, [10].into()) });
        (from, to)
    };
    device.copy_boxes(4, &[pair(&chunk, &other)]).unwrap();
    device.combine_boxes(&u32::INFO, &[pair(&chunk, &other)], &Operator::Add).unwrap();
    let error = device.scatter(4, &[0; 12], &[box_of(&chunk, 7, 3)]).unwrap_err().to_string();
    assert!(error.contains("a message is still being sent from a chunk"), "{error}");
    assert!(device.in_place_payload(&chunk, 0..4097).unwrap_err().to_string().contains("leave the chunk"));
    // Another rank may drop the last payload.
    assert!(!device.reclaim_chunks());
    drop(more);
    assert!(!device.reclaim_chunks());
    std::thread::spawn(move || drop(payload)).join().unwrap();
    assert!(device.reclaim_chunks());
    device.scatter(4, &[0; 12], &[box_of(&chunk, 7, 3)]).unwrap();
    let payload = device.in_place_payload(&chunk, 400..800).unwrap();
    drop(payload);
    device.scatter(4, &[0; 12], &[box_of(&chunk, 7, 3)]).unwrap();
    let read = device.gather(4, &[box_of(&chunk, 6, 3)], 12).unwrap();
    assert_eq!(read.as_ref(), bytemuck::cast_slice::<u32, u8>(&[6, 0, 0]));
    let read = device.gather(4, &[box_of(&other, 50, 2)], 8).unwrap();
    assert_eq!(read.as_ref(), bytemuck::cast_slice::<u32, u8>(&[10, 12]));
    let kernels = Device::open(&DeviceOptions { host_map: Some(false), ..Default::default() }).unwrap();
    let chunk = kernels.storage_buffer(256, "not mapped").unwrap();
    assert!(kernels.in_place_payload(&chunk, 0..4).unwrap_err().to_string().contains("not mapped"));
    assert_eq!(kernels.in_place_bytes(), None);
}

/// A chunk of a dropped array lives until its payload is dropped; then other arrays reuse it.
#[test]
fn a_dropped_chunk_outlives_its_payload() {
    let Some(device) = open_mapping_device() else { return };
    let element: &ElementInfo = &u32::INFO;
    assert!(device.is_host_transfer(element, None).unwrap());
    let chunk = device.storage_buffer(4096, "short").unwrap();
    let piece = PackedBox { buffer: &chunk, view: StridedBox::dense(0, [4].into()), payload_offset: 0 };
    device.scatter(4, &[9; 16], &[piece]).unwrap();
    let payload = device.in_place_payload(&chunk, 0..16).unwrap();
    drop(chunk);
    let other = device.storage_buffer(4096, "another").unwrap();
    let piece = PackedBox { buffer: &other, view: StridedBox::dense(0, [4].into()), payload_offset: 0 };
    device.scatter(4, &[5; 16], &[piece]).unwrap();
    assert_eq!(payload.as_ref(), [9; 16]);
    drop(payload);
    assert!(device.reclaim_chunks());
    let reused = device.counters().buffers_reused;
    let again = device.storage_buffer(4096, "again").unwrap();
    assert_eq!(device.counters().buffers_reused, reused + 1);
    let piece = PackedBox { buffer: &again, view: StridedBox::dense(0, [4].into()), payload_offset: 0 };
    assert_eq!(device.gather(4, &[piece], 16).unwrap().as_ref(), [0; 16]);
}
