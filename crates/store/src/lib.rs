//! Files of all ranks: global arrays and checkpoints.
//!
//! Functions of [`array`](mod@array) and [`checkpoint`] and methods of [`CollectiveFile`] are
//! collective unless they are documented as local. Output files are written atomically: they get
//! their names when they are complete, also files of several ranks
//! ([`SharedFile`](zippy_files::SharedFile), the base of `CollectiveFile`).
#![forbid(unsafe_code)]

pub mod array;
pub mod checkpoint;
mod collective;
#[cfg(test)]
mod full_disk;

pub use collective::CollectiveFile;
