//! Plain files of as many bytes, and what others do with files (peers/files.py).

use std::fs::{self, File};
use std::io::{Error, Read, Result, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::peer::Peer;
use super::vtk::PYTHON;

/// So many bytes go to the system at once.
const BLOCK_BYTES: usize = 8 << 20;

/// Writes bytes to a file that is there from byte `offset` on, and waits until they are on the disk.
///
/// # Errors
/// What the system said.
pub fn write(path: &Path, offset: u64, bytes: &[u8]) -> Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    bytes.chunks(BLOCK_BYTES).try_for_each(|block| file.write_all(block))?;
    file.sync_all()
}

/// Writes a file from its beginning: the same bytes again and again until there are so many.
///
/// # Errors
/// What the system said.
pub fn write_alone(path: &Path, length: u64, bytes: &[u8]) -> Result<()> {
    let mut file = File::create(path)?;
    let mut left = length;
    while left > 0 {
        for block in bytes.chunks(BLOCK_BYTES) {
            let count = left.min(block.len() as u64);
            file.write_all(&block[..count as usize])?;
            left -= count;
        }
    }
    file.sync_all()
}

/// Reads a file from byte `offset` on, until `bytes` are full.
///
/// # Errors
/// What the system said.
pub fn read(path: &Path, offset: u64, bytes: &mut [u8]) -> Result<()> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    bytes.chunks_mut(BLOCK_BYTES).try_for_each(|block| file.read_exact(block))
}

/// Copies a file with `dd`, which waits for the disk.
///
/// # Errors
/// It is not there, or has failed.
pub fn dd(from: &Path, to: &Path) -> Result<()> {
    let file = |word: &str, path: &Path| format!("{word}={}", path.display());
    let words = [&file("if", from), &file("of", to), "bs=8388608", "conv=fsync"];
    let status = Command::new("dd").args(words).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(Error::other(format!("dd: {status}"))) }
}

/// The bytes of a file, or of all files in a directory.
///
/// # Errors
/// What the system said.
pub fn length(path: &Path) -> Result<u64> {
    let about = fs::metadata(path)?;
    match about.is_dir() {
        true => fs::read_dir(path)?.map(|entry| length(&entry?.path())).sum(),
        false => Ok(about.len()),
    }
}

/// Removes a file, or a directory with everything in it, that may be there, and waits until the disk knows.
///
/// # Errors
/// What the system said.
pub fn remove(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path)?,
        Ok(_) => fs::remove_file(path)?,
        Err(_) => {}
    }
    #[cfg(unix)]
    rustix::fs::sync();
    Ok(())
}

/// What the system said, as the benchmark's own error.
pub fn failed(error: Error) -> zippy::Error {
    zippy::Error::program(error.to_string())
}

/// NumPy, h5py, zarr-python and VTK in a running process; ends when dropped.
pub struct Others {
    peer: Peer,
    /// Versions.
    pub about: String,
}

impl Others {
    /// Whether peers were asked for.
    pub fn wanted() -> bool {
        std::env::var_os(PYTHON).is_some()
    }

    /// Starts it for the field of this shape, x first.
    ///
    /// # Errors
    /// Whatever keeps it from working, in words.
    pub fn start(shape: [i64; 3]) -> std::result::Result<Self, String> {
        let python = std::env::var_os(PYTHON).ok_or("no Python with h5py and zarr was named")?;
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/files.py");
        let mut peer = Peer::start("the peers' Python", Command::new(python).arg(program).stderr(Stdio::null()))?;
        let answer = peer.ask(&json!({ "do": "field", "shape": shape }))?;
        let about = answer.get("about").and_then(Value::as_str).unwrap_or("unknown").to_string();
        Ok(Self { peer, about })
    }

    /// Saves (`what` is `save`) or loads (`load`) a file by one of them, or looks whether it has the field's values (`check`;
    /// `by` is the kind of file).
    ///
    /// # Errors
    /// The program's own, in words: also that values are others.
    pub fn ask(&mut self, what: &str, by: &str, path: &Path) -> std::result::Result<(), String> {
        self.peer.ask(&json!({ "do": what, "by": by, "path": path })).map(drop)
    }
}
