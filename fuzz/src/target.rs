//! Kinds of inputs, with the generator and the reader of each kind.

use std::path::Path;

use clap::ValueEnum;
use volume::keyframes::Track;
use zippy::World;

use crate::mutate::{Random, mutated_sample};
use crate::samples::{self, Encoding, Sample, SampleFile};
use crate::{invalid_values, meshes, messages, stores, viewer};

/// Kind of inputs.
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
    /// Damaged recordings, and well-formed recordings with invalid values
    Recordings,
    /// Well-formed answers to a viewer with invalid values
    Answers,
}

pub(crate) struct Inputs {
    target: Target,
    samples: Vec<Sample>,
    seed: u64,
}

impl Target {
    pub const ALL: [Self; 7] =
        [Self::Files, Self::Meshes, Self::Zarr, Self::Checkpoints, Self::Messages, Self::Recordings, Self::Answers];

    /// Name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }

    pub fn samples(self, world: &World) -> Result<Vec<Sample>, String> {
        match self {
            Self::Files => {
                let keys = include_bytes!("../../examples/volume/keyframes.json").to_vec();
                let track = vec![SampleFile { name: "keyframes.json".into(), sections: vec![(Encoding::Plain, keys)] }];
                Ok([samples::volumes(), samples::texts(), vec![track]].concat())
            }
            Self::Meshes => meshes::samples(),
            Self::Zarr => stores::arrays(world),
            Self::Checkpoints => stores::checkpoints(world),
            Self::Messages => messages::samples(),
            Self::Recordings => invalid_values::recordings(),
            Self::Answers => invalid_values::answers(),
        }
    }
}

impl Inputs {
    pub(crate) fn new(target: Target, seed: u64, world: &World) -> Result<Self, String> {
        Ok(Self { target, samples: target.samples(world)?, seed })
    }

    /// Generates the names and bytes of the files of an input.
    pub(crate) fn make(&self, number: u64) -> Vec<(String, Vec<u8>)> {
        let mut seed = Random::new(self.seed);
        let mut random = Random::new(seed.next_u64() ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        match self.target {
            Target::Recordings if random.below(2) == 0 => invalid_values::recording(&mut random),
            Target::Answers if random.below(8) > 0 => invalid_values::answer(&mut random),
            _ => mutated_sample(&self.samples, &mut random),
        }
    }
}

pub(crate) fn read(path: &Path, folder: &Path, world: &World) -> Result<(), String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let message = |error: zippy_io::IoError| error.to_string();
    match name.split_once('.').map_or("", |(stem, _)| stem) {
        _ if path.starts_with(folder.join(stores::STORE)) => stores::read_arrays(&folder.join(stores::STORE), world),
        _ if path.starts_with(folder.join(stores::RUN)) => stores::read_checkpoint(&folder.join(stores::RUN), world),
        "keyframes" => Track::read(path).map(|track| assert_eq!(track.poses(6).len(), 6)).map_err(message),
        "mesh" => meshes::read(path).map_err(message),
        "ask" | "message" | "greeting" => {
            messages::read(name, &std::fs::read(path).map_err(|error| error.to_string())?)
        }
        "run" => viewer::read_recording(path),
        "answers" => viewer::read_answers(path),
        _ => samples::read(path).map_err(message),
    }
}

pub(crate) fn max_memory(path: &Path, length: usize) -> isize {
    if let Some(chunks) = stores::max_chunk_memory(path) {
        return samples::max_memory(length) + chunks as isize;
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let more = match name.split('.').next() {
        // Compressed arrays of a mesh are decompressed to numbers in memory.
        Some("mesh") => 48 << 20,
        // A viewer draws pictures.
        Some("run" | "answers") => 64 << 20,
        _ => 0,
    };
    samples::max_memory(length) + more
}
