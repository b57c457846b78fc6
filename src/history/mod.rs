//! What has happened to chunks: how often and by whom each was written, and, in checked runs, which ghost cells are stale.
//!
//! Every `History` knows the `Ledger` of its world, in which the outermost operation under way says who it is. Writes are
//! told where regions are known: by sections, kernels, exchanges, epochs and sequences.
//!
//! # Stale ghost cells
//!
//! In checked runs an array with ghost cells has `Ghosts`: for each box of them who owns the cells, from when the values are,
//! and when the owner was written last. Nobody knows of other ranks' writes at once. So reads of ghost cells are noted, and
//! looked at when the ranks meet next: at each collective they tell what they have written since the last one.
//!
//! Between two meetings a write on one chunk is before a read on another one where the latter has passed the place of the write
//! in the program as often: programs do the same at a place, whichever chunk it is for and wherever that is. So findings are
//! the same for any number of ranks. Reads are judged by what the ghost cells were when they were read.

mod finding;
mod ghosts;
mod ledger;
mod moment;
mod record;
mod site;

pub use finding::{Finding, GhostState, Problem, Reach, Stray};
pub(crate) use ghosts::Ghosts;
pub(crate) use ledger::{Acting, History, Ledger};
pub(crate) use moment::Moment;
pub(crate) use record::WriteRecord;
pub use site::Site;
pub(crate) use site::What;
