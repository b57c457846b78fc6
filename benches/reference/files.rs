//! Plain file operations, and other libraries' file formats in a Python process (peers/files.py).

use std::fs::{self, File};
use std::io::{Error, Read, Result, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::peer::Peer;
use super::vtk::PYTHON_VARIABLE;

const BLOCK_BYTES: usize = 8 << 20;

/// Writes bytes at byte `offset`, and waits until they are on the disk.
pub(crate) fn write(path: &Path, offset: u64, bytes: &[u8]) -> Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    bytes.chunks(BLOCK_BYTES).try_for_each(|block| file.write_all(block))?;
    file.sync_all()
}

/// Writes a file of `length` bytes by repeating `bytes`, and waits until they are on the disk.
pub(crate) fn write_alone(path: &Path, length: u64, bytes: &[u8]) -> Result<()> {
    let mut file = File::create(path)?;
    let mut remaining = length;
    while remaining > 0 {
        for block in bytes.chunks(BLOCK_BYTES) {
            let count = remaining.min(block.len() as u64);
            file.write_all(&block[..count as usize])?;
            remaining -= count;
        }
    }
    file.sync_all()
}

pub(crate) fn read(path: &Path, offset: u64, bytes: &mut [u8]) -> Result<()> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    bytes.chunks_mut(BLOCK_BYTES).try_for_each(|block| file.read_exact(block))
}

/// Copies a file with the program `dd`, and waits until the bytes are on the disk.
pub(crate) fn dd(from: &Path, to: &Path) -> Result<()> {
    let file = |word: &str, path: &Path| format!("{word}={}", path.display());
    let words = [&file("if", from), &file("of", to), "bs=8388608", "conv=fsync"];
    let status = Command::new("dd").args(words).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(Error::other(format!("dd: {status}"))) }
}

pub(crate) fn length(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() { fs::read_dir(path)?.map(|entry| length(&entry?.path())).sum() } else { Ok(metadata.len()) }
}

/// Removes a file or a directory, if it exists, and waits until the disk is up to date.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path)?,
        Ok(_) => fs::remove_file(path)?,
        Err(_) => {}
    }
    #[cfg(unix)]
    rustix::fs::sync();
    Ok(())
}

pub(crate) fn failed(error: Error) -> zippy::Error {
    zippy::Error::program(error.to_string())
}

/// A running Python process with NumPy, h5py, zarr-python and VTK; ends on drop.
pub(crate) struct FilePeers {
    peer: Peer,
    pub about: String,
}

impl FilePeers {
    pub(crate) fn wanted() -> bool {
        std::env::var_os(PYTHON_VARIABLE).is_some()
    }

    /// Starts the process for a field of this shape, x first.
    pub(crate) fn start(shape: [i64; 3]) -> std::result::Result<Self, String> {
        let python = std::env::var_os(PYTHON_VARIABLE).ok_or("no Python with h5py and zarr was named")?;
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/files.py");
        let mut peer = Peer::start("the peers' Python", Command::new(python).arg(program).stderr(Stdio::null()))?;
        let answer = peer.request(&json!({ "do": "field", "shape": shape }))?;
        let about = answer.get("about").and_then(Value::as_str).unwrap_or("unknown").to_string();
        Ok(Self { peer, about })
    }

    /// Saves, loads or checks a file.
    ///
    /// `action` is `save` or `load`, and `by` the name of a library; or `action` is `check`, and
    /// `by` the file format: then the values of the file are compared with the field.
    pub(crate) fn request(&mut self, action: &str, by: &str, path: &Path) -> std::result::Result<(), String> {
        self.peer.request(&json!({ "do": action, "by": by, "path": path })).map(drop)
    }
}
