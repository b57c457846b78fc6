//! [`ZarrOptions`]: how cells are put into a Zarr store.

use std::path::Path;

use zippy::extents::Index;

use crate::IoError;

/// A chunk of more bytes is neither written nor read, and a shard of more is not written.
pub const MOST_BYTES: u64 = 1 << 30;

/// Chunks that are not asked for have at most so many bytes, and more than half as many where there is so much.
const CHUNK_BYTES: u64 = 4 << 20;

/// Chunks in shards that are not asked for have at most so many bytes, where the shard can be halved so often.
const INNER_BYTES: u64 = 1 << 20;

/// Levels that are more would be of one cell.
const MOST_LEVELS: usize = 62;

/// How an array is stored. [`Self::new`], and the default: chunks of up to 4 MiB, each in a file of its own, as they are in
/// memory, with a checksum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ZarrOptions {
    /// Cells of a chunk along each axis, axis 0 first; chunks at the end of an axis are filled up with zeros. `None`: up to
    /// 4 MiB, cut as evenly as can be.
    pub chunk: Option<Vec<i64>>,
    /// Cells of a shard along each axis, multiples of the chunk's: a file that holds several chunks and an index of them. One
    /// rank writes a shard at once and has room for a few of them. `None`: each chunk is a file.
    pub shard: Option<Vec<i64>>,
    /// How chunks are compressed.
    pub compression: Compression,
    /// Whether each chunk has a checksum, CRC32C, of 4 bytes, by which a load finds damage. zarr-python, tensorstore and zarrita
    /// read it. The index of a shard always has one. The default is `true`.
    pub checksum: bool,
    /// Levels of detail beside the whole: level k has every 2^k-th cell along each axis, from the first on. Each takes the
    /// room of its cells on the devices while it is written.
    pub levels: usize,
    /// Whether files of chunks of zeros are written. Otherwise they are left out, as zarr-python does, and read as zeros all the
    /// same. In a shard that is not all zeros, chunks that are have no room in any case.
    pub write_empty: bool,
}

/// How the chunks of a Zarr array are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// Zstandard of a level from -131072 to 22; 0 stands for 3.
    Zstd(i32),
    /// gzip of a level from 0 to 9.
    Gzip(u32),
}

/// The extents of what is stored, in cells, axis 0 first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChunkGrid {
    pub chunk: Index,
    pub shard: Option<Index>,
}

impl ChunkGrid {
    /// What is in a file of its own.
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
    /// Chunks of up to 4 MiB, each in a file of its own, as they are in memory, with a checksum.
    pub fn new() -> Self {
        Self::default()
    }

    /// With chunks of so many cells along each axis.
    pub fn chunk<const D: usize>(mut self, cells: [i64; D]) -> Self {
        self.chunk = Some(cells.into());
        self
    }

    /// With shards of so many cells along each axis.
    pub fn shard<const D: usize>(mut self, cells: [i64; D]) -> Self {
        self.shard = Some(cells.into());
        self
    }

    /// With chunks that are compressed so.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// With a checksum for each chunk, or without.
    pub fn checksum(mut self, checksum: bool) -> Self {
        self.checksum = checksum;
        self
    }

    /// With so many levels of detail.
    pub fn levels(mut self, levels: usize) -> Self {
        self.levels = levels;
        self
    }

    /// With files for chunks of zeros, too.
    pub fn write_empty(mut self) -> Self {
        self.write_empty = true;
        self
    }

    /// The grid for an array of this shape.
    ///
    /// # Errors
    /// Extents that are none or too large; a shard that is not made of chunks; a level that compression does not have.
    pub fn grid(&self, path: &Path, shape: &Index, cell_bytes: u64) -> Result<ChunkGrid, IoError> {
        let bad = |message: String| Err(IoError::request(path, message));
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

/// Extents that were asked for.
fn extents(path: &Path, what: &str, given: &[i64], axes: usize, cell_bytes: u64) -> Result<Index, IoError> {
    if given.len() != axes {
        let message = format!("a {what} of {} extents, and the array has {axes} axes", given.len());
        return Err(IoError::request(path, message));
    }
    let cells = given.iter().try_fold(1_u64, |all, &extent| match extent {
        1.. => all.checked_mul(extent.unsigned_abs()),
        _ => None,
    });
    match cells.and_then(|cells| cells.checked_mul(cell_bytes)) {
        Some(..=MOST_BYTES) => Ok(Index::new(given)),
        _ => {
            let most = MOST_BYTES >> 20;
            let message = format!("a {what} of {given:?} cells; it must have at least one cell and at most {most} MiB");
            Err(IoError::request(path, message))
        }
    }
}

/// Extents of chunks for an array: the longest is cut in two until it is small enough.
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

/// Extents of chunks of which a shard is made.
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
