//! Valid files of every format, damaged: whatever happens to one, reading it is an error that names the file or gives as
//! many numbers as its shape says, without a panic, without an end that does not come, and without memory that the file
//! cannot account for.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

use common::nrrd::{file, gzip, values};
use common::volumes::{Folder, bytes, zlib};
use common::vti::{Array, Piece, styles};
use proptest::prelude::*;
use zippy::error::IoError;
use zippy::io::volume::{self, RawLayout, ScalarKind, VolumeFile};
use zippy::region::Region;

/// Counts the bytes that the calling thread holds, and the most that it has held.
struct Counting;

thread_local! {
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // The memory of a thread that ends is counted by nobody.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + bytes;
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: all calls are passed on to the system's allocator as they are.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller's promises are those that the system's allocator asks for.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as for `alloc`.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a file of a few hundred bytes may take: buffers and decompressors, and voxels of a stream of such a length.
const MOST: isize = 2 << 20;

/// The most memory that `act` holds at a time beyond what is held before.
fn most(act: impl FnOnce()) -> isize {
    let before = HELD.get().0;
    HELD.set((before, before));
    act();
    HELD.get().1 - before
}

/// A valid file and the name that it needs.
fn valid() -> Vec<(&'static str, Vec<u8>)> {
    let data = values(60, |i| i as i16);
    let raw = bytes(&data, true);
    let npy = |header: &str| {
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\0".as_slice(), &length, header.as_bytes(), &raw].concat()
    };
    let meta = "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementByteOrderMSB = True\nElementSpacing = 1 2 3\nOffset = 0 0 1\n";
    let meta = |more: &str, data: &[u8]| {
        [format!("{meta}{more}ElementType = MET_SHORT\nElementDataFile = LOCAL\n").as_bytes(), data].concat()
    };
    let mut all = vec![
        ("a.nrrd", file("int16", &[5, 4, 3], &data, true, false, "\n")),
        ("a.nrrd", file("int16", &[5, 4, 3], &data, true, true, "\n")),
        ("a.npy", npy("{'descr': '>i2', 'fortran_order': True, 'shape': (5, 4, 3), }\n")),
        ("a.npy", npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 2, 5, 3), }\n")),
        ("a.mha", meta("", &raw)),
        ("a.mha", meta("CompressedData = True\n", &zlib(&raw))),
        ("a.mha", meta("CompressedData = True\nElementNumberOfChannels = 1\n", &gzip(&raw))),
        ("a.nii", nifti(&raw)),
        ("a.nii.gz", gzip(&nifti(&raw))),
    ];
    let extent = [-1, 3, 4, 7, 0, 2];
    let vti = |style: &common::vti::Style| {
        let arrays = vec![Array::new("v", "Int16", 1, &data, style.big)];
        ("a.vti", style.write(extent, " Scalars=\"v\"", &[Piece { extent, arrays }]))
    };
    all.extend(styles().iter().step_by(3).map(vti));
    all
}

/// A NIfTI-1 file with the fields that matter.
fn nifti(raw: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 352];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &348_i32.to_be_bytes());
    for (axis, size) in [3_i16, 5, 4, 3, 1, 1, 1, 1].iter().enumerate() {
        put(40 + 2 * axis, &size.to_be_bytes());
        put(76 + 4 * axis, &1.5_f32.to_be_bytes());
    }
    put(70, &4_i16.to_be_bytes());
    put(72, &16_i16.to_be_bytes());
    put(108, &352_f32.to_be_bytes());
    put(344, b"n+1\0");
    [header, raw.to_vec()].concat()
}

/// One blow to a file.
#[derive(Debug, Clone)]
enum Damage {
    Set(usize, u8),
    Flip(usize, u8),
    Insert(usize, u8),
    Remove(usize, usize),
    Cut(usize),
    Repeat(usize, usize),
    /// A number written in digits becomes another one.
    Number(usize, usize),
}

const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1",
    "61",
    "2147483648",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e308",
    "nan",
    "-inf",
];

fn damage() -> impl Strategy<Value = Damage> {
    let at = || 0_usize..2000;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (at(), 0_u8..8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        (at(), 1_usize..40).prop_map(|(at, count)| Damage::Remove(at, count)),
        at().prop_map(Damage::Cut),
        (at(), 1_usize..200).prop_map(|(at, count)| Damage::Repeat(at, count)),
        (0_usize..60, 0..NUMBERS.len()).prop_map(|(which, number)| Damage::Number(which, number)),
    ]
}

fn strike(content: &mut Vec<u8>, damage: &Damage) {
    let length = content.len().max(1);
    if content.is_empty() {
        return;
    }
    match *damage {
        Damage::Set(at, byte) => content[at % length] = byte,
        Damage::Flip(at, bit) => content[at % length] ^= 1 << bit,
        Damage::Insert(at, byte) => content.insert(at % length, byte),
        Damage::Remove(at, count) => drop(content.drain(at % length..(at % length + count).min(length))),
        Damage::Cut(at) => content.truncate(at % length),
        Damage::Repeat(at, count) => {
            let part = content[at % length..(at % length + count).min(length)].to_vec();
            content.splice(at % length..at % length, part);
        }
        Damage::Number(which, number) => {
            let digit = |at: &usize| content[*at].is_ascii_digit();
            let starts: Vec<usize> =
                (0..length).filter(|at| digit(at) && (*at == 0 || !digit(&(at - 1)))).take(60).collect();
            if let Some(&start) = starts.get(which % starts.len().max(1)) {
                let end = (start..length).find(|at| !digit(at)).unwrap_or(length);
                content.splice(start..end, NUMBERS[number].bytes());
            }
        }
    }
}

/// Opens and reads everything: as many numbers as the shape says, or an error that names a file of this folder.
fn read(path: &Path, open: impl FnOnce() -> Result<VolumeFile, IoError>) -> Result<(), TestCaseError> {
    let mut outcome = Ok(());
    let held = most(|| {
        outcome = match open() {
            // What is asked for is not what a header may make the reader take.
            Ok(file) if file.shape().product().is_some_and(|voxels| voxels > 100_000) => Ok(()),
            Ok(file) => file.read_region_f32(&Region::whole(file.shape())).map(|read| {
                assert_eq!(Some(read.len() as u64), file.shape().product().map(|n| n * file.components() as u64));
            }),
            Err(error) => Err(error),
        };
    });
    prop_assert!(held < MOST, "{held} bytes held at a time");
    if let Err(error) = outcome {
        let folder = path.parent().unwrap().to_str().unwrap();
        // A damaged name of a file may lead anywhere; what is wrong inside a file has a byte.
        let named =
            error.to_string().starts_with(folder) || matches!(error, IoError::System { .. } | IoError::Request { .. });
        prop_assert!(named, "{error}");
    }
    Ok(())
}

#[test]
fn the_files_are_valid() {
    let folder = Folder::new();
    for (number, (name, content)) in valid().iter().enumerate() {
        let path = folder.file(name, content);
        let file = volume::open(&path).unwrap_or_else(|error| panic!("file {number}: {error}"));
        let shape = file.shape();
        assert_eq!(file.read_region_f32(&Region::whole(shape)).unwrap().len(), 60, "{name}");
        assert!(read(&path, || volume::open(&path)).is_ok());
    }
    // The counter counts: a file of 4 MiB held whole is too much.
    assert!(most(|| drop(std::hint::black_box(vec![1_u8; 4 << 20]))) > MOST);
}

/// A stream that expands a thousandfold is never held: neither as a whole nor by what its header says.
#[test]
fn bombs_take_no_memory() {
    let folder = Folder::new();
    let zeros = vec![0_u8; 48 << 20];
    let head = "NRRD0001\ntype: uint8\ndimension: 3\nsizes: 4096 4096 3\nencoding: gzip\n\n";
    let meta =
        "NDims = 3\nDimSize = 4096 4096 3\nElementType = MET_UCHAR\nCompressedData = True\nElementDataFile = LOCAL\n";
    let files = [
        folder.file("bomb.nrrd", &[head.as_bytes(), &gzip(&zeros)].concat()),
        folder.file("bomb.mha", &[meta.as_bytes(), &zlib(&zeros)].concat()),
    ];
    drop(zeros);
    for path in files {
        let held = most(|| {
            let file = volume::open(&path).unwrap();
            let last = Region::new(&[4090, 4095, 2], &[4096, 4096, 3]).unwrap();
            assert_eq!(file.read_region::<u8>(&last).unwrap(), [0; 6]);
        });
        assert!(held < MOST, "{held} bytes held at a time");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_errors_or_volumes(which in any::<prop::sample::Index>(), blows in prop::collection::vec(damage(), 1..5)) {
        thread_local! {
            static FILES: (Vec<(&'static str, Vec<u8>)>, Folder) = (valid(), Folder::new());
        }
        FILES.with(|(files, folder)| {
            let (name, content) = &files[which.index(files.len())];
            let mut content = content.clone();
            blows.iter().for_each(|blow| strike(&mut content, blow));
            let path = folder.file(name, &content);
            read(&path, || volume::open(&path))
        })?;
    }

    #[test]
    fn any_layout_of_a_raw_file_is_an_error_or_a_volume(
        shape in prop::collection::vec(prop_oneof![1_i64..9, any::<i64>()], 0..5),
        components in prop_oneof![1_i64..5, any::<i64>()],
        offset in prop_oneof![0_u64..9, any::<u64>()],
        gz in any::<bool>(),
    ) {
        thread_local! {
            static FOLDER: Folder = Folder::new();
        }
        let layout = RawLayout { components, offset, gzip: gz, ..RawLayout::new(shape, ScalarKind::U16) };
        FOLDER.with(|folder| {
            let path = folder.file("a.raw", &[b"\x1f\x8b".as_slice(), &[7; 95]].concat());
            read(&path, || VolumeFile::raw(&path, layout))
        })?;
    }
}
