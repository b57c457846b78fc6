//! Sizes of blocks and portions, and limits.

/// Bytes of a block, unless the generation needs more than [`MOST_CHECKSUMS`]; the last block of a
/// file may be shorter. Small in unit tests, so that their files have several blocks.
pub(super) const BLOCK_BYTES: u64 = if cfg!(test) { 256 } else { 4 << 20 };

pub(super) const MOST_BLOCK_BYTES: u64 = 64 << 20;

/// Maximum number of checksums in a generation; larger generations have larger blocks. Half of the
/// manifest remains for other data.
pub(super) const MOST_CHECKSUMS: u64 = if cfg!(test) { 100 } else { 3_000_000 };

pub(super) const MOST_STATE: u64 = if cfg!(test) { 1 << 16 } else { 16 << 20 };

/// Bytes of cells per transfer between device and file.
pub(super) const PIECE_BYTES: u64 = if cfg!(test) { 300 } else { 4 << 20 };
