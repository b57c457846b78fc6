//! Each reader returns a valid result or a short error message without control characters, does not
//! panic, ends, and needs memory in proportion to the input.

use proptest::prelude::*;
use zippy::region::Region;
use zippy_io::volume::{self, RawLayout, ScalarKind, VolumeFile};

use crate::common::counting::most;
use crate::common::nrrd::gzip;
use crate::common::volumes::{Folder, zlib};
use crate::mutate::{Random, mutated_sample};
use crate::samples::{self, Encoding, max_memory, read_all};
use crate::target::{self, Target};
use crate::worker::{self, Outcome};

/// Maximum memory, in bytes, for the reader of a file of a few hundred bytes.
const MAX_MEMORY: isize = 2 << 20;

#[test]
fn samples_of_files_are_valid() {
    let folder = Folder::new();
    for (number, sample) in samples::volumes().iter().chain(&samples::texts()).enumerate() {
        let files: Vec<_> = sample.iter().map(|file| (file.name.clone(), file.bytes())).collect();
        let path = samples::write(&folder, &files);
        let mut outcome = Ok(());
        let held = most(|| outcome = samples::read(&path));
        outcome.unwrap_or_else(|error| panic!("sample {number}: {error}"));
        assert!(held < MAX_MEMORY, "peak memory of {held} bytes");
        if let Ok(file) = volume::open(&path) {
            assert_eq!(file.read_region_f32(&Region::whole(file.shape())).unwrap().len(), 60, "sample {number}");
        }
    }
    // Checks the counter itself.
    assert!(most(|| drop(std::hint::black_box(vec![1_u8; 4 << 20]))) > MAX_MEMORY);
}

#[test]
fn samples_of_volumes_have_sections_that_are_mutated_before_compression() {
    let sections = samples::volumes().into_iter().flatten().flat_map(|file| file.sections);
    let compressed = sections.filter(|(encoding, bytes)| *encoding != Encoding::Plain && bytes.len() >= 120);
    assert!(compressed.count() >= 6);
}

/// Readers must not hold the whole decompressed stream or allocate the size in the header.
#[test]
fn decompression_bombs_need_little_memory() {
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
        assert!(held < MAX_MEMORY, "peak memory of {held} bytes");
    }
}

fn check_reader(length: usize, read: impl FnOnce() -> Result<(), zippy_io::IoError>) -> Result<(), TestCaseError> {
    let mut outcome = Ok(());
    let held = most(|| outcome = read());
    prop_assert!(held < max_memory(length), "{held} bytes for an input of {length} bytes");
    if let Err(error) = outcome {
        let error = error.to_string();
        prop_assert!(error.chars().count() < 1000 && !error.contains(|letter: char| letter.is_control()), "{error:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_errors_or_volumes(seed in any::<u64>()) {
        thread_local! {
            static SAMPLES: (Vec<samples::Sample>, Folder) = ([samples::volumes(), samples::texts()].concat(), Folder::new());
        }
        SAMPLES.with(|(samples, folder)| {
            let files = mutated_sample(samples, &mut Random::new(seed));
            let path = samples::write(folder, &files);
            check_reader(files.iter().map(|(_, bytes)| bytes.len()).sum(), || samples::read(&path))
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
            check_reader(97, || read_all(VolumeFile::raw(&path, layout)))
        })?;
    }
}

#[test]
fn frame_of_short_entries_takes_bounded_memory() {
    use zippy_protocol::{Answer, Message, Moves, Timeline, frame};
    let moves = Moves::default();
    let empty = [
        Answer::Ghosts(Vec::new()),
        Answer::Arrays(Vec::new()),
        Answer::Moves(moves),
        Answer::Timeline(Timeline::default()),
    ];
    let mut refused = 0;
    for answer in empty {
        let message = frame::encode(&Message::Answer(1, Ok(answer)), frame::MOST_TOLD).unwrap();
        for index in 5..message.len() {
            if message[index] != 0 {
                continue;
            }
            // Zeros are valid entries of every type: numbers, empty texts and lists, first
            // variants.
            let zeros = frame::MOST_TOLD - message.len() - 8;
            let mut count = zeros / 3;
            let mut digits = [0; 4];
            digits.iter_mut().for_each(|digit| {
                *digit = 0x80 | (count & 0x7f) as u8;
                count >>= 7;
            });
            digits[3] &= 0x7f;
            let bytes = [&message[4..index], &digits, &vec![0; zeros]].concat();
            let held = most(|| {
                refused +=
                    usize::from(frame::decode::<Message>(&bytes).is_err_and(|text| text.contains("take more than")))
            });
            assert!(held < 128 << 20, "{held} bytes for {} bytes of {:?}", bytes.len(), &message[4..]);
        }
    }
    assert!(refused >= 3, "{refused}");
}

#[test]
fn inputs_of_every_target_are_read_or_refused() {
    for target in Target::ALL {
        let folder = Folder::new();
        let lines = worker::read_inputs(target, 1, 0..400, &folder).unwrap();
        let count = |outcome: &Outcome| lines.iter().filter(|line| line.outcome == *outcome).count();
        let wrong: Vec<_> = lines.iter().filter(|line| matches!(line.outcome, Outcome::Wrong(_))).collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", target.name());
        // Without both outcomes, the inputs would test little.
        let counts = (count(&Outcome::Read), count(&Outcome::Refused));
        assert!(counts.0 > 10 && counts.1 > 10, "{}: {counts:?}", target.name());
    }
}

/// A document may declare chunks of a gibibyte. The limit detects a reader that allocates such a
/// chunk for a store of few bytes.
#[test]
fn memory_limit_of_small_store_is_far_below_declared_chunk_size() {
    let samples = worker::on_one_rank(|world| Target::Zarr.samples(world)).unwrap();
    for (number, sample) in samples.into_iter().enumerate() {
        let folder = Folder::new();
        let files: Vec<_> = sample.iter().map(|file| (file.name.clone(), file.bytes())).collect();
        let (path, length) = (samples::write(&folder, &files), files.iter().map(|(_, bytes)| bytes.len()).sum());
        let limit = target::max_memory(&path, length);
        assert!((3 << 20..32 << 20).contains(&limit), "sample {number}: {limit} bytes for {length}");
    }
}

#[test]
fn valid_inputs_of_every_target_are_read() {
    for target in Target::ALL {
        let folder = Folder::new();
        for (number, line) in worker::read_samples(target, &folder).unwrap().into_iter().enumerate() {
            let is_greeting = target == Target::Messages && line.outcome == Outcome::Refused;
            assert!(line.outcome == Outcome::Read || is_greeting, "{} {number}: {line:?}", target.name());
        }
    }
}
