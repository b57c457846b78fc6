//! The files of one input, and how they are read.

use std::path::Path;

use volume::keyframes::Track;
use zippy_io::IoError;

use crate::damage::{Random, struck};
use crate::samples::{self, Content, Packing, Sample};

/// What the readers of the library and of the example know.
pub fn all() -> Vec<Sample> {
    let keys = include_bytes!("../../examples/volume/keyframes.json").to_vec();
    let track = vec![Content { name: "keyframes.json", parts: vec![(Packing::Plain, keys)] }];
    [samples::volumes(), samples::texts(), vec![track]].concat()
}

/// Input `number` of a seed: names and bytes.
pub fn make(samples: &[Sample], seed: u64, number: u64) -> Vec<(&'static str, Vec<u8>)> {
    let mut seed = Random::new(seed);
    struck(samples, &mut Random::new(seed.number() ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
}

/// Reads the first file of an input.
///
/// # Errors
/// What the reader says.
pub fn read(path: &Path) -> Result<(), IoError> {
    if path.file_name().is_some_and(|name| name == "keyframes.json") {
        return Track::read(path).map(|track| assert_eq!(track.poses(6).len(), 6));
    }
    samples::read(path)
}
