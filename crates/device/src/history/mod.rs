//! Records of operations on chunks: the number of writes and the last writer of each and, in
//! checked runs, stale ghost cells.
//!
//! Each `History` refers to the `Ledger` of its world, which holds the outermost operation in
//! progress. Code that knows the written regions reports them: sections, kernels, exchanges, epochs
//! and sequences.
//!
//! # Stale ghost cells
//!
//! In checked runs an array with ghost cells has `Ghosts`. For each box of ghost cells it holds the
//! owner, the time of the last fill, and the time of the owner's last write. A rank learns of the
//! writes of other ranks at the next collective: ranks exchange their writes since the last
//! collective there, and then check their reads of ghost cells.
//!
//! Between two collectives, a write on one chunk precedes a read on another chunk if the reading
//! chunk has passed the call site of the write as often. The rule holds because programs do the
//! same at a call site, whichever chunk and rank it is for. So findings do not depend on the number
//! of ranks. A read is checked against the state of the ghost cells at the time of the read.

mod finding;
mod ghosts;
mod ledger;
mod moment;
mod record;
mod site;

pub use finding::{Finding, MissingGhostWidth, OutsideAccesses, Problem};
pub use ghosts::Ghosts;
pub use ledger::{History, Ledger, OperationScope};
pub use moment::Moment;
pub use record::WriteRecord;
pub use site::OperationName;
pub use site::Site;
