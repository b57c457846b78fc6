//! Parts of files that all formats share: atomic files ([`write_whole`]), also from several
//! processes ([`SharedFile`]), checksums, JSON documents, errors, and untrusted text in messages.
//!
//! This crate knows no ranks, no arrays and no formats of volumes. All functions are local.
#![forbid(unsafe_code)]

mod atomic;
pub mod checksum;
mod error;
pub mod json;
pub mod memory;
pub mod process;
mod regular;
mod terminal_text;

pub use atomic::{
    FileLocation, PendingFile, SharedFile, check_output, random_directory, resolve_dangling_links, start_writing,
    sweep, sync_directory, sync_entry, write_unsynced, write_whole,
};
pub use error::FileError;
pub use regular::open_regular;
pub use terminal_text::{quoted, said, shown};
