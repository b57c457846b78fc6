//! What the library saves and loads, and how.

use std::path::{Path, PathBuf};

use zippy::array::GlobalArray;
use zippy::{Layout, Result, Split, World};
use zippy_io::array::zarr::{Compression, ZarrOptions};
use zippy_io::array::{LoadOptions, SaveOptions, load_with, save_with};
use zippy_io::checkpoint::{Checkpoints, Contents};

/// The most that a save should take in terms of a plain write: at least 70 % of its rate.
const TARGET: f64 = 1.0 / 0.7;

/// One way of saving, and its way back.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    /// The name of its file or directory.
    file: &'static str,
    way: Way,
    /// The most that a save should take in terms of a plain write.
    pub target: Option<f64>,
    /// What the peers' program calls those who do the same, and what they are called.
    pub peers: &'static [(&'static str, &'static str)],
    /// What the peers' program calls files of this kind, where it reads them.
    pub read_by_peers: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Array(Compression),
    Checkpoint,
    /// Started and waited for.
    Started,
}

const fn array(name: &'static str, file: &'static str, compression: Compression) -> Kind {
    Kind { name, file, way: Way::Array(compression), target: None, peers: &[], read_by_peers: None }
}

/// All of them.
pub const KINDS: [Kind; 6] = [
    Kind {
        target: Some(TARGET),
        peers: &[("numpy", "NumPy"), ("h5py", "h5py, contiguous")],
        read_by_peers: Some("npy"),
        ..array("npy", "saved.npy", Compression::None)
    },
    Kind {
        target: Some(TARGET),
        peers: &[("zarr", "zarr-python, raw")],
        read_by_peers: Some("zarr"),
        ..array("Zarr, raw", "raw.zarr", Compression::None)
    },
    Kind {
        peers: &[("zarr-zstd", "zarr-python, zstd")],
        read_by_peers: Some("zarr"),
        ..array("Zarr, zstd", "zstd.zarr", Compression::Zstd(3))
    },
    Kind { read_by_peers: Some("vti"), ..array("VTI", "saved.vti", Compression::None) },
    Kind { way: Way::Checkpoint, ..array("checkpoint", "saved.ckpt", Compression::None) },
    Kind { way: Way::Started, ..array("checkpoint, started", "started.ckpt", Compression::None) },
];

/// How the array is cut, and the one that is loaded.
pub fn layout(shape: [i64; 3]) -> Layout {
    Layout::new(shape).split_all(Split::Auto)
}

impl Kind {
    /// Where it is in a folder.
    pub fn path(&self, folder: &Path) -> PathBuf {
        folder.join(self.file)
    }

    /// Whether a save holds a copy of the cells on the host.
    pub fn copies(&self) -> bool {
        self.way == Way::Started
    }

    /// Whether loading makes an array.
    pub fn makes_array(&self) -> bool {
        matches!(self.way, Way::Array(_))
    }

    /// Saves the array into a folder. Collective.
    pub fn save(&self, world: &World, folder: &Path, field: &GlobalArray<f32, 3>) -> Result<()> {
        let path = self.path(folder);
        let checkpoints = || (Checkpoints::new(&path, 1), Contents::new().array(field));
        match self.way {
            Way::Array(compression) => {
                let zarr = ZarrOptions::new().compression(compression);
                save_with(world, &path, field.at(..), &SaveOptions::new().zarr(zarr)).map(drop)
            }
            Way::Checkpoint => {
                let (checkpoints, contents) = checkpoints();
                checkpoints.save(world, 1, &contents)
            }
            Way::Started => {
                let (checkpoints, contents) = checkpoints();
                checkpoints.start(world, 1, &contents)?.wait()
            }
        }
    }

    /// Loads it from a folder: a checkpoint into the array that was saved, all else as a new array. Collective.
    pub fn load(
        &self,
        world: &World,
        folder: &Path,
        field: &GlobalArray<f32, 3>,
    ) -> Result<Option<GlobalArray<f32, 3>>> {
        let path = self.path(folder);
        if let Way::Array(_) = self.way {
            let loaded = load_with::<f32, 3>(world, &path, "loaded", &LoadOptions::new(), layout)?;
            return Ok(Some(loaded.array));
        }
        let checkpoint = Checkpoints::new(&path, 1).latest(world)?;
        let checkpoint = checkpoint.ok_or_else(|| zippy::Error::program("the checkpoint is gone"))?;
        checkpoint.fill(world, field)?;
        Ok(None)
    }
}
