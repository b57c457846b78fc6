//! Sizes of blocks and pieces, and maximum sizes.

/// Bytes of a block, unless the file needs more than [`MOST_CHECKSUMS`]; the last block of a file
/// may be shorter. Small in unit tests, so that their files have several blocks.
pub(super) const BLOCK_BYTES: u64 = if cfg!(test) { 256 } else { 4 << 20 };

/// Maximum bytes of a block.
pub(super) const MOST_BLOCK_BYTES: u64 = 64 << 20;

/// Maximum number of checksums in a generation; larger generations have larger blocks. Leaves half
/// of the manifest to other data.
pub(super) const MOST_CHECKSUMS: u64 = if cfg!(test) { 100 } else { 3_000_000 };

/// Maximum bytes of a state.
pub(super) const MOST_STATE: u64 = if cfg!(test) { 1 << 16 } else { 16 << 20 };

/// Bytes of cells per transfer between device and file.
pub(super) const PIECE_BYTES: u64 = if cfg!(test) { 300 } else { 4 << 20 };
