//! [`Shards`]: byte ranges with an index and several chunks or nested shards.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use zippy::extents::Index;
use zippy_files::FileError;
use zippy_files::memory::zeros;

use super::decode::Decoder;
use super::options::MOST_BYTES;
use zippy_io::array::{AxisOrder, strides};

/// All shards of a layer have the same size.
pub(super) struct Shards {
    /// Parts (chunks or nested shards) per shard along each axis.
    pub counts: Index,
    strides: Vec<usize>,
    index: Decoder,
    index_bytes: u64,
    is_at_end: bool,
    cached_index: Option<(Index, Vec<u64>)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ByteRange {
    pub start: u64,
    pub bytes: u64,
}

impl Shards {
    pub(super) fn new(
        (shard, part): (&Index, &Index),
        is_vector: bool,
        order: Option<AxisOrder>,
        (index, is_at_end): (Decoder, bool),
    ) -> Result<Self, String> {
        if (0..shard.axes()).any(|axis| shard[axis] % part[axis] != 0) {
            return Err(format!("shards of {shard} cells are not made of whole chunks of {part}"));
        }
        let counts = Index::from_fn(shard.axes(), |axis| shard[axis] / part[axis]);
        let bytes = counts.product().and_then(|count| count.checked_mul(16)).filter(|&bytes| bytes <= MOST_BYTES);
        let (index_bytes, is_exact) = index.encoded_length(bytes.ok_or("shards of too many chunks")?);
        if !is_exact {
            return Err("the index of shards is compressed; one without compression is read".into());
        }
        // The components of a vector are an axis with one part.
        let vector_axes = usize::from(is_vector);
        let along: Vec<i64> = std::iter::repeat_n(1, vector_axes).chain(counts.iter().copied()).collect();
        let strides = order.map_or_else(|| strides(&along), |order| order.strides_in_file(&along));
        Ok(Self { counts, strides: strides[vector_axes..].to_vec(), index, index_bytes, is_at_end, cached_index: None })
    }

    /// Locates a part of a shard; `None` if the part is empty. `shard` is the index among all
    /// shards.
    pub(super) fn part(
        &mut self,
        (file, path): (&mut File, &Path),
        (shard, within): (&Index, ByteRange),
        part: &Index,
    ) -> Result<Option<ByteRange>, FileError> {
        let at = within.start + if self.is_at_end { within.bytes.saturating_sub(self.index_bytes) } else { 0 };
        if self.cached_index.as_ref().is_none_or(|(cached_index, _)| cached_index != shard) {
            // Free the old index first.
            self.cached_index = None;
            self.cached_index = Some((*shard, self.read((file, path), within, at)?));
        }
        let Some((_, parts)) = &self.cached_index else { return Ok(None) };
        let number: usize = part.iter().zip(&self.strides).map(|(&at, stride)| at as usize * stride).sum();
        let (first, bytes) = (parts[2 * number], parts[2 * number + 1]);
        if (first, bytes) == (u64::MAX, u64::MAX) {
            return Ok(None);
        }
        if first.checked_add(bytes).is_none_or(|end| end > within.bytes) {
            let message =
                format!("the index has a chunk of {bytes} bytes from byte {first} on, after the end of the shard");
            return Err(FileError::malformed(path, at, message));
        }
        Ok(Some(ByteRange { start: within.start + first, bytes }))
    }

    fn read(&self, (file, path): (&mut File, &Path), within: ByteRange, at: u64) -> Result<Vec<u64>, FileError> {
        if within.bytes < self.index_bytes {
            let (offset, found) = (within.start + within.bytes, within.bytes);
            return Err(FileError::Truncated { path: path.to_path_buf(), offset, found, expected: self.index_bytes });
        }
        let mut bytes = zeros(self.index_bytes).map_err(|none| FileError::request(path, none))?;
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|error| FileError::system(path, "read", &error))?;
        let index = self.index.decode(bytes, &[], 16 * self.counts.product().unwrap_or(0));
        let index =
            index.map_err(|message| FileError::malformed(path, at, format!("the index of the shard: {message}")))?;
        Ok(bytemuck::pod_collect_to_vec(&index))
    }

    pub(super) fn clear_cache(&mut self) {
        self.cached_index = None;
    }
}
