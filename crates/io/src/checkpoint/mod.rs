//! Checkpoints: arrays and a program's state at a step, from which it goes on later, on another number of ranks and with
//! other cuts, with the same bits.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use zippy::{Layout, Split, World};
//! use zippy_io::checkpoint::{Checkpoints, Contents};
//!
//! #[derive(Serialize, Deserialize)]
//! struct State {
//!     time: f64,
//! }
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("run.ckpt");
//! // The last two generations are kept.
//! let checkpoints = Checkpoints::new(&path, 2);
//! zippy::run_with(zippy::Config::threads(3), |world: &World| {
//!     let heat = world.array::<f32, 2>("heat", &Layout::new([40, 30]).split_all(Split::Auto))?;
//!     heat.fill_with(|[x, y]| (100 * y + x) as f32)?;
//!     let mut hits = world.growable::<u32>("hits")?;
//!     hits.append(&vec![7; world.rank()])?;
//!     let contents = Contents::new().array_as("heat", &heat).growable_as("hits", &hits).state(&State { time: 0.5 });
//!     checkpoints.save(world, 50, &contents)?;
//!
//!     // In the background: the arrays may be written when `start` has returned.
//!     let pending = checkpoints.start(world, 60, &contents)?;
//!     heat.fill(0.0)?;
//!     pending.wait()
//! })?;
//!
//! zippy::run_with(zippy::Config::threads(2), |world: &World| {
//!     let checkpoint = checkpoints.latest(world)?.expect("one was saved");
//!     assert_eq!((checkpoint.step(), checkpoint.state::<State>()?.time), (60, 0.5));
//!     let heat = checkpoint.array::<f32, 2>(world, "heat", |shape| Layout::new(shape).split_all(Split::Even(2)))?;
//!     for chunk in heat.chunks() {
//!         let [x, y] = [chunk.region().start[0], chunk.region().start[1]];
//!         assert_eq!(chunk.at((0, 0)).read()?, [(100 * y + x) as f32]);
//!     }
//!     assert_eq!(checkpoint.growable::<u32>(world, "hits")?.len(), [1, 2][world.rank()]);
//!     Ok(())
//! })?;
//! # Ok::<(), zippy::Error>(())
//! ```
//!
//! # Names
//!
//! [`Contents::array`] saves an array under its own name. A program that swaps two arrays after each step has its field in
//! either of them, so it names what it saves: [`Contents::array_as`], [`Contents::growable_as`] and [`Checkpoint::fill_as`].
//!
//! # In the directory
//!
//! A checkpoint is a directory `step-<step>.<number>`, a *generation*; numbers count the saves, so that the latest
//! generation is the one with the highest number, also where a program has gone back to an earlier step. In it are
//!
//! * `manifest.json`: names, types and shapes of the arrays; for each box of cells the rank that has written it and where it
//!   begins in its file; lengths and checksums. Its first line is the checksum of all that follows.
//! * `rank-<rank>.cells` for each rank that has saved: cells and nothing else, in the machine's byte order (little endian),
//!   axis 0 fastest, boxes one behind the other.
//! * `state.msgpack`, where there is a state, in MessagePack.
//!
//! * `refused.txt`, where a program has found that the generation is not whole: what was wrong. It goes when all is right
//!   again.
//!
//! Checksums are CRC-32, as zlib and gzip have it, of each block of `block_bytes` bytes of a file: 4 MiB, and more in
//! checkpoints of more than 12 TB, at most 64 MiB.
//!
//! * `run.lock`, as long as a program saves there: its host, its process and since when.
//!
//! Until a generation is whole it has a name that begins with a point and ends with `.tmp`. What killed programs leave of
//! this kind goes with the next save that succeeds. Nothing that has other names is ever touched.
//!
//! # One run at a time
//!
//! A directory is for one run, on any number of ranks as threads and processes: from its first save until the last
//! [`Checkpoints`] that has saved there, its clones and started saves are gone, or its process has ended, saves of other
//! programs are refused with an error that names it. Loading is not. `run.lock` is locked for that, which ends with the process
//! however that ends, so that a run goes on at once after a kill. Where the file system has no locks, rank 0 writes the time
//! into it once a minute; a time is out of date after ten minutes, or when its process is known to be gone.

mod blocks;
mod check;
mod contents;
mod draft;
mod element;
mod heartbeat;
mod holder;
mod load;
mod manifest;
mod missing;
mod names;
mod open;
mod pending;
mod run;
mod save;
mod stored;
#[cfg(test)]
mod tests;
mod tidy;
mod together;

use std::path::{Path, PathBuf};

use zippy::error::CallSite;
use zippy::{Result, World};

pub use contents::Contents;
pub use load::Checkpoint;
pub use open::PassedOver;
pub use pending::PendingSave;

use crate::IoError;
use open::Opened;
use save::Begun;
use tidy::Keep;

/// A directory of checkpoints.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    directory: PathBuf,
    keep: Keep,
}

impl Checkpoints {
    /// Those in `directory`, which the first save makes; all ranks see the same file system. A save keeps the last `keep`
    /// whole generations, at least 1: the one that it has made. Those that [`latest`](Self::latest) or [`at`](Self::at) have
    /// refused do not count, and what they have loaded last, by this value or a clone, stays until `keep` newer ones have
    /// been written since.
    pub fn new(directory: impl Into<PathBuf>, keep: usize) -> Self {
        Self { directory: directory.into(), keep: Keep::new(keep) }
    }

    /// Where they are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The steps of which there are generations, whole or not, in rising order. Local.
    ///
    /// # Errors
    /// What the operating system said.
    #[track_caller]
    pub fn steps(&self) -> Result<Vec<u64>> {
        let _call = CallSite::enter();
        let generations = names::generations(&self.directory);
        let generations =
            generations.map_err(|error| IoError::system(&self.directory, "list the directory", &error))?;
        let mut steps: Vec<u64> = generations.into_iter().map(|generation| generation.step).collect();
        steps.sort_unstable();
        steps.dedup();
        Ok(steps)
    }

    /// Saves a generation. On return it is whole, on the disk and in its place; it replaces one of the same step. What is
    /// older than the last generations that are kept has been removed when the call returns on rank 0; other ranks do not
    /// wait for that. Collective; the same step and contents on every rank.
    ///
    /// Each rank writes the cells of its own chunks, in pieces: needs 4 MiB on each rank's host, and what reading chunks
    /// stages; on rank 0 also the manifest.
    ///
    /// # Errors
    /// The same on every rank: two arrays of one name, contents that differ between ranks, a state that is too large or cannot
    /// be written; what the operating system said to any rank: a full disk, no permission; more chunks and cells than a
    /// manifest of 64 MiB can tell of, which is known before a cell is written. Nothing is left of it then, and what was
    /// there before stays. Another program that saves into the directory is an error that names it. Only where the system does not say that the new name will last, the generation is in its place;
    /// the error says so.
    #[track_caller]
    pub fn save(&self, world: &World, step: u64, contents: &Contents<'_>) -> Result<()> {
        let _call = CallSite::enter();
        let begun = Begun::new(world, ("save", step), (&self.directory, self.keep.clone()), contents)?;
        let written = save::write(&begun, contents);
        begun.finish(world, written)
    }

    /// Starts a save that is written by a thread of each rank while the program goes on. On return the arrays have been read
    /// and may be written; the save ends with [`PendingSave::wait`]. Several may be under way, and end in any
    /// order, the same on every rank: what `wait` has put into its place stays at least until the next save. Collective.
    ///
    /// Needs memory for all cells of a rank on its host; it shrinks as they are written.
    ///
    /// # Errors
    /// As those of [`save`](Self::save), as far as they are known; the others are those of `wait`.
    #[track_caller]
    pub fn start<'w>(&self, world: &'w World, step: u64, contents: &Contents<'_>) -> Result<PendingSave<'w>> {
        let _call = CallSite::enter();
        let begun = Begun::new(world, ("start", step), (&self.directory, self.keep.clone()), contents)?;
        PendingSave::start(world, begun, contents)
    }

    /// The latest generation that is whole; `None` where there is none at all, or no directory. All bytes are read and
    /// compared with their checksums, by each rank a share. Generations that are not whole are passed over; the log says so,
    /// and [`Checkpoint::passed_over`]. Collective.
    ///
    /// # Errors
    /// The same on every rank: there are generations, and none of them is whole; what the operating system said to any rank.
    /// Not whole is what is malformed, truncated, too long or missing. A file that cannot be opened or read for another
    /// reason says nothing of the generation, so nothing older is taken for it; [`at`](Self::at) does take it.
    #[track_caller]
    pub fn latest(&self, world: &World) -> Result<Option<Checkpoint>> {
        let _call = CallSite::enter();
        Ok(open::latest(world, &self.directory)?.map(|opened| self.taken(world, opened)))
    }

    /// The generation of a step. All its bytes are read and compared with their checksums, by each rank a share. Collective.
    ///
    /// # Errors
    /// The same on every rank: there is none; it is damaged, truncated, of another program or of a newer version: what is
    /// wrong, where, and the step of the whole generation before it; what the operating system said.
    #[track_caller]
    pub fn at(&self, world: &World, step: u64) -> Result<Checkpoint> {
        let _call = CallSite::enter();
        Ok(self.taken(world, open::at(world, &self.directory, step)?))
    }

    fn taken(&self, world: &World, opened: Opened) -> Checkpoint {
        // The rank that takes away what is superfluous.
        if world.rank() == 0 {
            self.keep.set_loaded(opened.generation, opened.last);
        }
        Checkpoint::new(opened)
    }
}
