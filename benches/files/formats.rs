use std::path::{Path, PathBuf};

use zippy::array::GlobalArray;
use zippy::{Layout, Result, Split, World};
use zippy_store::array::zarr::{Compression, ZarrOptions};
use zippy_store::array::{LoadOptions, SaveOptions, load_with, save_with};
use zippy_store::checkpoint::{Checkpoints, Contents};

/// Upper limit for the ratio of a save to a plain write: 70 % of its bandwidth.
const TARGET: f64 = 1.0 / 0.7;

#[derive(Debug, Clone, Copy)]
pub(crate) struct FileKind {
    pub name: &'static str,
    file: &'static str,
    method: SaveMethod,
    pub target: Option<f64>,
    /// Peers with the same format: the name in peers/files.py, and the reported name.
    pub peers: &'static [(&'static str, &'static str)],
    /// Name of the format in peers/files.py, if the peers can read it.
    pub read_by_peers: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SaveMethod {
    Array(Compression),
    Checkpoint,
    Started,
}

const fn array(name: &'static str, file: &'static str, compression: Compression) -> FileKind {
    FileKind { name, file, method: SaveMethod::Array(compression), target: None, peers: &[], read_by_peers: None }
}

pub(crate) const KINDS: [FileKind; 6] = [
    FileKind {
        target: Some(TARGET),
        peers: &[("numpy", "NumPy"), ("h5py", "h5py, contiguous")],
        read_by_peers: Some("npy"),
        ..array("npy", "saved.npy", Compression::None)
    },
    FileKind {
        target: Some(TARGET),
        peers: &[("zarr", "zarr-python, raw")],
        read_by_peers: Some("zarr"),
        ..array("Zarr, raw", "raw.zarr", Compression::None)
    },
    FileKind {
        peers: &[("zarr-zstd", "zarr-python, zstd")],
        read_by_peers: Some("zarr"),
        ..array("Zarr, zstd", "zstd.zarr", Compression::Zstd(3))
    },
    FileKind { read_by_peers: Some("vti"), ..array("VTI", "saved.vti", Compression::None) },
    FileKind { method: SaveMethod::Checkpoint, ..array("checkpoint", "saved.ckpt", Compression::None) },
    FileKind { method: SaveMethod::Started, ..array("checkpoint, started", "started.ckpt", Compression::None) },
];

pub(crate) fn layout(shape: [i64; 3]) -> Layout {
    Layout::new(shape).split_all(Split::Auto)
}

impl FileKind {
    pub(crate) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(self.file)
    }

    /// True if a save holds a copy of the cells on the host.
    pub(crate) fn copies(&self) -> bool {
        self.method == SaveMethod::Started
    }

    pub(crate) fn makes_array(&self) -> bool {
        matches!(self.method, SaveMethod::Array(_))
    }

    /// Saves the array into a folder. Collective.
    pub(crate) fn save(&self, world: &World, folder: &Path, field: &GlobalArray<f32, 3>) -> Result<()> {
        let path = self.path(folder);
        let checkpoints = || (Checkpoints::new(&path, 1), Contents::new().array(field));
        match self.method {
            SaveMethod::Array(compression) => {
                let zarr = ZarrOptions::new().compression(compression);
                save_with(world, &path, field.at(..), &SaveOptions::new().zarr(zarr)).map(drop)
            }
            SaveMethod::Checkpoint => {
                let (checkpoints, contents) = checkpoints();
                checkpoints.save(world, 1, &contents)
            }
            SaveMethod::Started => {
                let (checkpoints, contents) = checkpoints();
                checkpoints.start(world, 1, &contents)?.wait()
            }
        }
    }

    /// Loads from a folder: a checkpoint into `field`, all other kinds into a new array.
    /// Collective.
    pub(crate) fn load(
        &self,
        world: &World,
        folder: &Path,
        field: &GlobalArray<f32, 3>,
    ) -> Result<Option<GlobalArray<f32, 3>>> {
        let path = self.path(folder);
        if let SaveMethod::Array(_) = self.method {
            let loaded = load_with::<f32, 3>(world, &path, "loaded", &LoadOptions::new(), layout)?;
            return Ok(Some(loaded.array));
        }
        let checkpoint = Checkpoints::new(&path, 1).latest(world)?;
        let checkpoint = checkpoint.ok_or_else(|| zippy::Error::program("there is no checkpoint"))?;
        checkpoint.fill(world, field)?;
        Ok(None)
    }
}
