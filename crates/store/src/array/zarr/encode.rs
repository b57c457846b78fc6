//! [`Encoder`]: encodes blocks of cells as chunks or shards.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::path::Path;

use serde_json::{Value, json};
use zarrs::array::codec::api::ArrayToBytesCodecTraits;
use zarrs::array::{ArrayBytes, CodecChain, CodecOptions, DataType, FillValue};
use zarrs::metadata::v3::MetadataV3;
use zippy::extents::Index;
use zippy_files::FileError;

use super::fields::Leaf;
use super::options::{ChunkGrid, Compression, ZarrOptions};

pub(super) struct Encoder {
    pub leaf: Leaf,
    /// Bytes of a cell with all leaves.
    cell_bytes: usize,
    pub grid: ChunkGrid,
    codecs: CodecChain,
    shape: Vec<NonZeroU64>,
    kind: DataType,
    zero: FillValue,
    write_empty: bool,
}

impl Encoder {
    pub(super) fn new(
        path: &Path,
        leaf: Leaf,
        cell_bytes: usize,
        grid: ChunkGrid,
        options: &ZarrOptions,
    ) -> Result<Self, FileError> {
        let bad = |error: &dyn std::fmt::Display| FileError::request(path, format!("cannot be encoded: {error}"));
        let kind = DataType::from_metadata(&MetadataV3::new(leaf.kind)).map_err(|error| bad(&error))?;
        let described = codecs(&leaf, &grid, options).into_iter().map(serde_json::from_value);
        let described = described.collect::<Result<Vec<MetadataV3>, _>>().map_err(|error| bad(&error))?;
        let codecs = CodecChain::from_metadata(&described).map_err(|error| bad(&error))?;
        let shape = zarr_extents(&leaf, &grid.file()).iter().filter_map(|&extent| NonZeroU64::new(extent)).collect();
        let zero = FillValue::new(vec![0; leaf.number_bytes]);
        Ok(Self { leaf, cell_bytes, grid, codecs, shape, kind, zero, write_empty: options.write_empty })
    }

    pub(super) fn key(&self, at: &Index) -> String {
        let mut key = String::from("c");
        (0..at.axes()).rev().for_each(|axis| key.push_str(&format!("/{}", at[axis])));
        if self.leaf.numbers.is_some() {
            key.push_str("/0");
        }
        key
    }

    /// Encodes a block; `None` if it has only zeros and is not written.
    pub(super) fn encode<'a>(&self, cells: &'a [u8], block: &Index) -> Result<Option<Cow<'a, [u8]>>, String> {
        let mut numbers = if self.leaf.bytes() == self.cell_bytes {
            Cow::Borrowed(cells)
        } else {
            Cow::Owned(self.leaf_values(cells))
        };
        if !self.write_empty && is_zero(&numbers) {
            return Ok(None);
        }
        let file = self.grid.file();
        if *block != file {
            numbers = Cow::Owned(padded(&numbers, block, &file, self.leaf.bytes()));
        }
        let options = CodecOptions::default().with_concurrent_target(1);
        let bytes = ArrayBytes::new_flen(numbers);
        self.codecs
            .encode(bytes, &self.shape, &self.kind, &self.zero, &options)
            .map(Some)
            .map_err(|error| error.to_string())
    }

    fn leaf_values(&self, cells: &[u8]) -> Vec<u8> {
        let (first, bytes) = (self.leaf.offset, self.leaf.bytes());
        let mut leaf_values = Vec::with_capacity(cells.len() / self.cell_bytes * bytes);
        cells.chunks_exact(self.cell_bytes).for_each(|cell| leaf_values.extend_from_slice(&cell[first..first + bytes]));
        leaf_values
    }
}

/// Extents in Zarr's order, slowest dimension first.
pub(super) fn zarr_extents(leaf: &Leaf, cells: &Index) -> Vec<u64> {
    let axes = (0..cells.axes()).rev().map(|axis| cells[axis] as u64);
    axes.chain(leaf.numbers.map(|numbers| numbers as u64)).collect()
}

/// Codecs of an array, as JSON for its document.
pub(super) fn codecs(leaf: &Leaf, grid: &ChunkGrid, options: &ZarrOptions) -> Vec<Value> {
    let bytes = match leaf.number_bytes {
        1 => json!({"name": "bytes"}),
        _ => json!({"name": "bytes", "configuration": {"endian": "little"}}),
    };
    let checksum = json!({"name": "crc32c"});
    let compression = match options.compression {
        Compression::None => None,
        Compression::Zstd(level) => Some(json!({"name": "zstd", "configuration": {"level": level, "checksum": false}})),
        Compression::Gzip(level) => Some(json!({"name": "gzip", "configuration": {"level": level}})),
    };
    let chunk: Vec<Value> =
        [Some(bytes), compression, options.checksum.then(|| checksum.clone())].into_iter().flatten().collect();
    if grid.shard.is_none() {
        return chunk;
    }
    let index = [json!({"name": "bytes", "configuration": {"endian": "little"}}), checksum];
    let configuration = json!({
        "chunk_shape": zarr_extents(leaf, &grid.chunk),
        "codecs": chunk,
        "index_codecs": index,
        "index_location": "end",
    });
    vec![json!({"name": "sharding_indexed", "configuration": configuration})]
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|part| part.iter().fold(0, |all, byte| all | byte) == 0)
}

fn padded(cells: &[u8], block: &Index, whole: &Index, cell_bytes: usize) -> Vec<u8> {
    let mut out = vec![0; whole.product().unwrap_or(0) as usize * cell_bytes];
    let row = block[0] as usize * cell_bytes;
    let strides = whole.dense_strides();
    for (number, cells) in cells.chunks_exact(row.max(1)).enumerate() {
        let mut rest = number as i64;
        let first = Index::from_fn(block.axes(), |axis| {
            let extent = if axis == 0 { 1 } else { block[axis] };
            let at = rest % extent;
            rest /= extent;
            at
        });
        let to = first.dot(&strides) as usize * cell_bytes;
        out[to..to + row].copy_from_slice(cells);
    }
    out
}
