//! [`ZarrOptions`]: storage of cells in a Zarr store.

use std::path::Path;

use zippy::extents::Index;
use zippy_files::FileError;

/// Maximum bytes of a chunk, and of a written shard.
pub(super) const MOST_BYTES: u64 = 1 << 30;

/// Maximum bytes of a chunk with default extents.
const CHUNK_BYTES: u64 = 4 << 20;

/// Target bytes of a chunk with default extents in a shard; larger if the shard has no more even
/// extents to halve.
const INNER_BYTES: u64 = 1 << 20;

/// Maximum number of levels; later ones would have one cell.
const MOST_LEVELS: usize = 62;

/// Storage of an array in a Zarr store. [`Self::new`] and the default: uncompressed chunks of up to
/// 4 MiB, each in a file of its own, with a checksum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ZarrOptions {
    /// Extents of a chunk in cells, axis 0 first; chunks at the end of an axis are padded with
    /// zeros. `None`: up to 4 MiB, with nearly equal extents.
    pub chunk: Option<Vec<i64>>,
    /// Extents of a shard in cells, multiples of the chunk's: a file with several chunks and an
    /// index. One rank writes a whole shard and needs memory for a few of them. `None`: one file
    /// per chunk.
    pub shard: Option<Vec<i64>>,
    /// Compression of the chunks.
    pub compression: Compression,
    /// True if each chunk has a checksum (CRC32C, 4 bytes), by which a load finds damage.
    /// zarr-python, tensorstore and zarrita read it. The index of a shard always has one. The
    /// default is `true`.
    pub checksum: bool,
    /// Number of levels of detail in addition to the full array. Level k has every 2^k-th cell
    /// along each axis, from the first. Each level needs device memory for its cells during the
    /// save.
    pub levels: usize,
    /// True if files are also written for chunks of zeros. Otherwise such files are omitted, as by
    /// zarr-python, and read as zeros. In a shard with other cells, chunks of zeros never take
    /// space.
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

/// Extents of chunks and shards in cells, axis 0 first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChunkGrid {
    pub chunk: Index,
    pub shard: Option<Index>,
}

impl ChunkGrid {
    /// Extents of the cells in one file.
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

    /// Also writes files for chunks of zeros.
    pub fn write_empty(mut self) -> Self {
        self.write_empty = true;
        self
    }

    /// Chunk grid for an array of this shape.
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
        let shard =
            self.shard.as_ref().map(|shard| extents(path, "shard", shard, shape.axes(), cell_bytes)).transpose()?;
        let chunk = match (&self.chunk, &shard) {
            (Some(chunk), _) => extents(path, "chunk", chunk, shape.axes(), cell_bytes)?,
            (None, Some(shard)) => halved(*shard, cell_bytes),
            (None, None) => cut(shape, cell_bytes),
        };
        if let Some(shard) = shard.filter(|shard| (0..shape.axes()).any(|axis| shard[axis] % chunk[axis] != 0)) {
            return bad(format!("shards of {shard} cells are not made of whole chunks of {chunk}"));
        }
        Ok(ChunkGrid { chunk, shard })
    }
}

/// Checks the user's extents of a chunk or shard.
fn extents(path: &Path, what: &str, extents: &[i64], axes: usize, cell_bytes: u64) -> Result<Index, FileError> {
    if extents.len() != axes {
        let message = format!("a {what} of {} extents, and the array has {axes} axes", extents.len());
        return Err(FileError::request(path, message));
    }
    let cells = extents.iter().try_fold(1_u64, |all, &extent| match extent {
        1.. => all.checked_mul(extent.unsigned_abs()),
        _ => None,
    });
    match cells.and_then(|cells| cells.checked_mul(cell_bytes)) {
        Some(..=MOST_BYTES) => Ok(Index::new(extents)),
        _ => {
            let most = MOST_BYTES >> 20;
            let message =
                format!("a {what} of {extents:?} cells; it must have at least one cell and at most {most} MiB");
            Err(FileError::request(path, message))
        }
    }
}

/// Default chunk extents of an array: the longest axis is halved until the chunk is small enough.
fn cut(shape: &Index, cell_bytes: u64) -> Index {
    let mut pieces = Index::splat(shape.axes(), 1);
    loop {
        let extents = Index::from_fn(shape.axes(), |axis| (shape[axis].max(1) - 1) / pieces[axis] + 1);
        let bytes = extents.product().and_then(|cells| cells.checked_mul(cell_bytes));
        let longest = (0..shape.axes()).max_by_key(|&axis| extents[axis]).unwrap_or(0);
        if bytes.is_some_and(|bytes| bytes <= CHUNK_BYTES) || extents[longest] == 1 {
            return extents;
        }
        pieces[longest] *= 2;
    }
}

/// Default chunk extents in a shard.
fn halved(shard: Index, cell_bytes: u64) -> Index {
    let mut extents = shard;
    while extents.product().is_some_and(|cells| cells * cell_bytes > INNER_BYTES) {
        let even = (0..extents.axes()).filter(|&axis| extents[axis] % 2 == 0);
        match even.max_by_key(|&axis| extents[axis]) {
            Some(axis) => extents[axis] /= 2,
            None => break,
        }
    }
    extents
}
