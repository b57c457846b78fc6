//! [`ZarrOptions`]: storage of cells in a Zarr store.

use std::path::Path;

use zippy::extents::Index;
use zippy_files::FileError;

pub(super) const MOST_BYTES: u64 = 1 << 30;

const CHUNK_BYTES: u64 = 4 << 20;

/// Target bytes of a default chunk in a shard. A shard without even extents to halve has larger
/// chunks.
const INNER_BYTES: u64 = 1 << 20;

const MOST_LEVELS: usize = 62;

/// Storage of an array in a Zarr store. Default and [`Self::new`]: uncompressed chunks of up to 4
/// MiB, each in its own file, with a checksum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ZarrOptions {
    /// Extents of a chunk in cells, axis 0 first; chunks at the end of an axis are padded with
    /// zeros. `None`: up to 4 MiB, with nearly equal extents.
    pub chunk: Option<Vec<i64>>,
    /// Extents in cells of a shard (a file with several chunks and an index), multiples of the
    /// chunk's. One rank writes a whole shard and needs memory for a few of them. `None`: one file
    /// per chunk.
    pub shard: Option<Vec<i64>>,
    /// Compression of the chunks.
    pub compression: Compression,
    /// True if each chunk has a checksum (CRC32C, 4 bytes), by which a load finds damage.
    /// zarr-python, tensorstore and zarrita read it. The index of a shard always has one. Default:
    /// `true`.
    pub checksum: bool,
    /// Number of levels of detail in addition to the full array. Level k has every 2^k-th cell
    /// along each axis, from the first. Each level needs device memory for its cells during the
    /// save.
    pub levels: usize,
    /// True if files of zero chunks are also written. Omitted files read as zeros, as in
    /// zarr-python. In a shard with other cells, zero chunks never take space.
    pub write_empty: bool,
}

/// Compression of the chunks of a Zarr array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// Zstandard with a level from -131072 to 22; 0 stands for 3.
    Zstd(i32),
    /// gzip with a level from 0 to 9.
    Gzip(u32),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChunkGrid {
    pub chunk: Index,
    pub shard: Option<Index>,
}

impl ChunkGrid {
    pub fn file(&self) -> Index {
        self.shard.unwrap_or(self.chunk)
    }
}

impl Default for ZarrOptions {
    fn default() -> Self {
        let (compression, checksum) = (Compression::None, true);
        Self { chunk: None, shard: None, compression, checksum, levels: 0, write_empty: false }
    }
}

impl ZarrOptions {
    /// Uncompressed chunks of up to 4 MiB, each in a file of its own, with a checksum.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the extents of a chunk in cells.
    pub fn chunk<const D: usize>(mut self, cells: [i64; D]) -> Self {
        self.chunk = Some(cells.into());
        self
    }

    /// Sets the extents of a shard in cells.
    pub fn shard<const D: usize>(mut self, cells: [i64; D]) -> Self {
        self.shard = Some(cells.into());
        self
    }

    /// Sets the compression of chunks.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets whether each chunk has a checksum.
    pub fn checksum(mut self, checksum: bool) -> Self {
        self.checksum = checksum;
        self
    }

    /// Sets the number of levels of detail.
    pub fn levels(mut self, levels: usize) -> Self {
        self.levels = levels;
        self
    }

    /// Writes also files of zero chunks.
    pub fn write_empty(mut self) -> Self {
        self.write_empty = true;
        self
    }

    /// Chunk grid for an array of shape `shape`.
    ///
    /// # Errors
    /// Extents that are not positive or too large; a shard that is not made of whole chunks; an
    /// invalid compression level.
    pub fn grid(&self, path: &Path, shape: &Index, cell_bytes: u64) -> Result<ChunkGrid, FileError> {
        let bad = |message: String| Err(FileError::request(path, message));
        match self.compression {
            Compression::Zstd(level) if !(-131_072..=22).contains(&level) => {
                return bad(format!("zstd has no level {level}; -131072 to 22 there are"));
            }
            Compression::Gzip(level) if level > 9 => {
                return bad(format!("gzip has no level {level}; 0 to 9 there are"));
            }
            _ if self.levels > MOST_LEVELS => {
                return bad(format!("{} levels of detail are more than {MOST_LEVELS}", self.levels));
            }
            _ => {}
        }
        let shard = self
            .shard
            .as_ref()
            .map(|shard| checked_extents(path, "shard", shard, shape.axes(), cell_bytes))
            .transpose()?;
        let chunk = match (&self.chunk, &shard) {
            (Some(chunk), _) => checked_extents(path, "chunk", chunk, shape.axes(), cell_bytes)?,
            (None, Some(shard)) => default_extents_in_shard(*shard, cell_bytes),
            (None, None) => default_extents(shape, cell_bytes),
        };
        if let Some(shard) = shard.filter(|shard| (0..shape.axes()).any(|axis| shard[axis] % chunk[axis] != 0)) {
            return bad(format!("shards of {shard} cells are not made of whole chunks of {chunk}"));
        }
        Ok(ChunkGrid { chunk, shard })
    }
}

fn checked_extents(
    path: &Path,
    what: &str,
    checked_extents: &[i64],
    axes: usize,
    cell_bytes: u64,
) -> Result<Index, FileError> {
    if checked_extents.len() != axes {
        let message = format!("a {what} of {} extents, and the array has {axes} axes", checked_extents.len());
        return Err(FileError::request(path, message));
    }
    let cells = checked_extents.iter().try_fold(1_u64, |all, &extent| match extent {
        1.. => all.checked_mul(extent.unsigned_abs()),
        _ => None,
    });
    match cells.and_then(|cells| cells.checked_mul(cell_bytes)) {
        Some(..=MOST_BYTES) => Ok(Index::new(checked_extents)),
        _ => {
            let most = MOST_BYTES >> 20;
            let message =
                format!("a {what} of {checked_extents:?} cells; it must have at least one cell and at most {most} MiB");
            Err(FileError::request(path, message))
        }
    }
}

/// Default chunk extents: the longest axis of the array is halved until the chunk is small enough.
fn default_extents(shape: &Index, cell_bytes: u64) -> Index {
    let mut pieces = Index::splat(shape.axes(), 1);
    loop {
        let checked_extents = Index::from_fn(shape.axes(), |axis| (shape[axis].max(1) - 1) / pieces[axis] + 1);
        let bytes = checked_extents.product().and_then(|cells| cells.checked_mul(cell_bytes));
        let longest = (0..shape.axes()).max_by_key(|&axis| checked_extents[axis]).unwrap_or(0);
        if bytes.is_some_and(|bytes| bytes <= CHUNK_BYTES) || checked_extents[longest] == 1 {
            return checked_extents;
        }
        pieces[longest] *= 2;
    }
}

/// Default chunk extents in a shard.
fn default_extents_in_shard(shard: Index, cell_bytes: u64) -> Index {
    let mut checked_extents = shard;
    while checked_extents.product().is_some_and(|cells| cells * cell_bytes > INNER_BYTES) {
        let even = (0..checked_extents.axes()).filter(|&axis| checked_extents[axis] % 2 == 0);
        match even.max_by_key(|&axis| checked_extents[axis]) {
            Some(axis) => checked_extents[axis] /= 2,
            None => break,
        }
    }
    checked_extents
}
