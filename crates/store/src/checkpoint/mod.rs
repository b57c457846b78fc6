//! Checkpoints: arrays and program state at a step. A later run restores them, bit for bit, on any
//! number of ranks and with any cuts.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use zippy::{Layout, Split, World};
//! use zippy_store::checkpoint::{Checkpoints, Contents};
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
//!     let contents = Contents::new().array_as("heat", &heat).growable_as("hits", &hits);
//!     let contents = contents.state(&State { time: 0.5 });
//!     checkpoints.save(world, 50, &contents)?;
//!
//!     // In the background: the program may overwrite the arrays after `start` has returned.
//!     let pending = checkpoints.start(world, 60, &contents)?;
//!     heat.fill(0.0)?;
//!     pending.wait()
//! })?;
//!
//! zippy::run_with(zippy::Config::threads(2), |world: &World| {
//!     let checkpoint = checkpoints.latest(world)?.expect("a checkpoint has been saved");
//!     assert_eq!((checkpoint.step(), checkpoint.state::<State>()?.time), (60, 0.5));
//!     let cut = |shape| Layout::new(shape).split_all(Split::Even(2));
//!     let heat = checkpoint.array::<f32, 2>(world, "heat", cut)?;
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
//! [`Contents::array`] saves an array under its own name. A program that swaps two arrays after
//! each step chooses the saved name itself, with [`Contents::array_as`], [`Contents::growable_as`]
//! and [`Checkpoint::fill_as`].
//!
//! # Files
//!
//! A checkpoint is a directory `step-<step>.<number>`, called a *generation*. The number counts the
//! saves: the latest generation has the highest number, even after a program has gone back to an
//! earlier step. A generation contains:
//!
//! * `manifest.json`: names, types and shapes of the arrays; for each box of cells the rank that
//!   has written it and its offset in that rank's file; lengths and checksums. The first line is
//!   the checksum of the rest.
//! * `rank-<rank>.cells` for each saving rank: cells only, in little-endian byte order, axis 0
//!   fastest, boxes without gaps.
//! * `state.msgpack`: the program's state in MessagePack, if there is one.
//! * `refused.txt`: the reason for which a load has found the generation damaged. A load that finds
//!   the generation whole removes the file.
//!
//! Checksums are CRC-32 (as in zlib and gzip) of each block of `block_bytes` bytes of a file: 4
//! MiB, and up to 64 MiB in checkpoints of more than 12 TB.
//!
//! The directory of the generations also contains `run.lock` while a program saves there: host,
//! process and start time of the program.
//!
//! A generation in progress has a name that begins with a point and ends with `.tmp`. The next
//! successful save removes such directories of killed programs. Files and directories with other
//! names are never touched.
//!
//! # One run at a time
//!
//! A directory belongs to one run, on any number of ranks as threads and processes. The run holds
//! it from its first save until the last [`Checkpoints`] that has saved there, its clones and its
//! started saves are dropped, or the process ends. Saves of other programs fail with an error that
//! names the holder; loads do not. The run locks `run.lock`; the lock ends with the process, so a
//! new run can start at once after a kill. On a file system without locks, rank 0 writes the time
//! into the file once a minute. A time is out of date after ten minutes, or when its process is
//! known to have ended.

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
mod rank_exchange;
mod run;
mod save;
mod sizes;
mod stored;
#[cfg(test)]
mod tests;
mod tidy;

use zippy_files::FileError;

use std::path::{Path, PathBuf};

use zippy::error::CallSite;
use zippy::{Result, World};

pub use contents::Contents;
pub use load::Checkpoint;
pub use open::PassedOver;
pub use pending::PendingSave;

use open::Opened;
use save::StartedSave;
use tidy::Retention;

/// Directory of checkpoints.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    directory: PathBuf,
    retention: Retention,
}

impl Checkpoints {
    /// Checkpoints in `directory`, which the first save creates; all ranks must see the same file
    /// system. Local.
    ///
    /// A save keeps the last `keep` (at least 1) whole generations, itself included. Generations
    /// that [`latest`](Self::latest) or [`at`](Self::at) have refused do not count. The generation
    /// that this value or a clone has loaded last stays until `keep` newer ones have been written.
    pub fn new(directory: impl Into<PathBuf>, keep: usize) -> Self {
        Self { directory: directory.into(), retention: Retention::new(keep) }
    }

    /// Directory of the generations.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Steps with a generation, whole or not, in rising order. Local.
    ///
    /// # Errors
    /// The directory cannot be listed.
    #[track_caller]
    pub fn steps(&self) -> Result<Vec<u64>> {
        let _call = CallSite::enter();
        let generations = names::generations(&self.directory);
        let generations =
            generations.map_err(|error| FileError::system(&self.directory, "list the directory", &error))?;
        let mut steps: Vec<u64> = generations.into_iter().map(|generation| generation.step).collect();
        steps.sort_unstable();
        steps.dedup();
        Ok(steps)
    }

    /// Saves a generation. On return it is whole, on the disk and under its final name. Collective,
    /// with the same step and contents on every rank.
    ///
    /// The generation replaces an earlier one of the same step. When the call returns on rank 0,
    /// generations older than the kept ones are removed; other ranks do not wait for the removal.
    ///
    /// Each rank writes the cells of its own chunks in portions. A rank's host needs 4 MiB and the
    /// staging of chunk reads; rank 0 also needs memory for the manifest.
    ///
    /// # Errors
    /// The same on every rank:
    ///
    /// - two arrays of one name, contents that differ between ranks, a state that is too large or
    ///   cannot be serialized;
    /// - an operating system error on any rank, such as a full disk or a missing permission;
    /// - a manifest that would exceed 64 MiB (too many chunks and cells), found before a cell is
    ///   written;
    /// - another program saves into the directory; the error names it.
    ///
    /// After an error nothing of the new generation is left and earlier ones stay. The only
    /// exception is a failed sync of the directory after the rename: the generation then has its
    /// final name, and the error says so.
    #[track_caller]
    pub fn save(&self, world: &World, step: u64, contents: &Contents<'_>) -> Result<()> {
        let _call = CallSite::enter();
        let started = StartedSave::new(world, ("save", step), (&self.directory, self.retention.clone()), contents)?;
        let written = save::write(&started, contents);
        started.finish(world, written)
    }

    /// Starts a save that a thread of each rank writes while the program continues. On return the
    /// arrays have been read and may be written. Collective.
    ///
    /// [`PendingSave::wait`] completes the save. Several saves may be in progress and may be
    /// completed in any order that is the same on every rank: a completed generation stays at least
    /// until the next save. Each rank needs host memory for all its cells; the memory is freed as
    /// they are written.
    ///
    /// # Errors
    /// As [`save`](Self::save), as far as they are known at the start; `wait` returns the others.
    #[track_caller]
    pub fn start<'w>(&self, world: &'w World, step: u64, contents: &Contents<'_>) -> Result<PendingSave<'w>> {
        let _call = CallSite::enter();
        let started = StartedSave::new(world, ("start", step), (&self.directory, self.retention.clone()), contents)?;
        PendingSave::start(world, started, contents)
    }

    /// Opens the latest whole generation; `None` if there is no generation or no directory.
    /// Collective.
    ///
    /// The ranks share the reading of all bytes and compare them with the checksums. Damaged
    /// generations are skipped; the log and [`Checkpoint::passed_over`] report them.
    ///
    /// # Errors
    /// The same on every rank: all generations are damaged (malformed, truncated, too long or with
    /// missing files), or an operating system error on any rank. A file that cannot be opened or
    /// read for another reason does not make its generation damaged, so `latest` fails and does not
    /// use an older generation; [`at`](Self::at) can.
    #[track_caller]
    pub fn latest(&self, world: &World) -> Result<Option<Checkpoint>> {
        let _call = CallSite::enter();
        Ok(open::latest(world, &self.directory)?.map(|opened| self.loaded(world, opened)))
    }

    /// Opens the generation of a step. The ranks share the reading of all bytes and compare them
    /// with the checksums. Collective.
    ///
    /// # Errors
    /// The same on every rank: there is no such generation, or it is damaged, truncated, of another
    /// program or of a newer version (the error contains the reason, the file and the step of the
    /// whole generation before it); an operating system error.
    #[track_caller]
    pub fn at(&self, world: &World, step: u64) -> Result<Checkpoint> {
        let _call = CallSite::enter();
        Ok(self.loaded(world, open::at(world, &self.directory, step)?))
    }

    fn loaded(&self, world: &World, opened: Opened) -> Checkpoint {
        if world.rank() == 0 {
            self.retention.set_loaded(opened.generation, opened.last);
        }
        Checkpoint::new(opened)
    }
}
