//! [`Target`]: what a fuzzer reads, and how its inputs are made.

use std::path::Path;

use clap::ValueEnum;
use volume::keyframes::Track;
use zippy::World;

use crate::damage::{Random, struck};
use crate::samples::{self, Content, Packing, Sample};
use crate::{meshes, messages, nonsense, stores, viewer};

/// What is read.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Volumes, arrays in single files, scenes, transfer functions, key frames
    Files,
    /// Meshes in every format
    Meshes,
    /// Zarr stores: documents and chunks
    Zarr,
    /// Checkpoints: manifests and cells
    Checkpoints,
    /// Messages between programs and viewers, and their greetings
    Messages,
    /// Recordings: damaged ones, and whole ones whose entries make no sense
    Recordings,
    /// Answers that make no sense, to a viewer
    Answers,
}

/// The inputs of a target.
pub struct Inputs {
    target: Target,
    samples: Vec<Sample>,
    seed: u64,
}

impl Target {
    /// All, in the order in which they run.
    pub const ALL: [Self; 7] =
        [Self::Files, Self::Meshes, Self::Zarr, Self::Checkpoints, Self::Messages, Self::Recordings, Self::Answers];

    /// Its name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }

    /// Valid inputs.
    ///
    /// # Errors
    /// The library cannot write one.
    pub fn samples(self, world: &World) -> Result<Vec<Sample>, String> {
        match self {
            Self::Files => {
                let keys = include_bytes!("../../examples/volume/keyframes.json").to_vec();
                let track = vec![Content { name: "keyframes.json".into(), parts: vec![(Packing::Plain, keys)] }];
                Ok([samples::volumes(), samples::texts(), vec![track]].concat())
            }
            Self::Meshes => meshes::samples(),
            Self::Zarr => stores::arrays(world),
            Self::Checkpoints => stores::checkpoints(world),
            Self::Messages => messages::samples(),
            Self::Recordings => nonsense::recordings(),
            Self::Answers => nonsense::answers(),
        }
    }
}

impl Inputs {
    /// # Errors
    /// As [`Target::samples`].
    pub fn new(target: Target, seed: u64, world: &World) -> Result<Self, String> {
        Ok(Self { target, samples: target.samples(world)?, seed })
    }

    /// Input `number`: names and bytes. The same for the same seed.
    pub fn make(&self, number: u64) -> Vec<(String, Vec<u8>)> {
        let mut seed = Random::new(self.seed);
        let mut random = Random::new(seed.number() ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        match self.target {
            Target::Recordings if random.below(2) == 0 => nonsense::recording(&mut random),
            Target::Answers if random.below(8) > 0 => nonsense::answer(&mut random),
            _ => struck(&self.samples, &mut random),
        }
    }
}

/// Reads the first file of an input, whose name says how.
///
/// # Errors
/// What the reader says.
pub fn read(path: &Path, folder: &Path, world: &World) -> Result<(), String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let said = |error: zippy_io::IoError| error.to_string();
    match name.split_once('.').map_or("", |(stem, _)| stem) {
        _ if path.starts_with(folder.join(stores::STORE)) => stores::read_arrays(&folder.join(stores::STORE), world),
        _ if path.starts_with(folder.join(stores::RUN)) => stores::read_checkpoint(&folder.join(stores::RUN), world),
        "keyframes" => Track::read(path).map(|track| assert_eq!(track.poses(6).len(), 6)).map_err(said),
        "mesh" => meshes::read(path).map_err(said),
        "asked" | "told" | "greeting" => messages::read(name, &std::fs::read(path).map_err(|error| error.to_string())?),
        "run" => viewer::read_recording(path),
        "answers" => viewer::read_answers(path),
        _ => samples::read(path).map_err(said),
    }
}

/// What an input of so many bytes may take.
pub fn memory(path: &Path, length: usize) -> isize {
    if let Some(unpacked) = stores::most_unpacked(path) {
        return samples::memory(length) + unpacked as isize;
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let more = match name.split('.').next() {
        // What is compressed in a mesh is held as numbers, and a part unpacks to more than a mebibyte.
        Some("mesh") => 48 << 20,
        // A viewer makes pictures.
        Some("run" | "answers") => 64 << 20,
        _ => 0,
    };
    samples::memory(length) + more
}
