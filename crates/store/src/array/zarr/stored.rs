//! [`StoredArray`]: array of a store, read chunk by chunk.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;
use zarrs::array::DataType;
use zarrs::metadata::v3::ArrayMetadataV3;
use zippy::extents::Index;
use zippy::region::Region;
use zippy_files::memory::zeros;
use zippy_files::{FileError, open_regular, quoted};

use super::fields::{Leaf, cell_extents};
use super::keys::ChunkKeys;
use super::layers::ShardLayers;
use super::options::MOST_BYTES;
use super::shards::{ByteRange, Shards};
use super::tree::ArrayNode;
use super::values::{sizes, wrong};

/// Maximum bytes of an array; the ends of chunks beyond its end then also fit 63 bits.
const MOST_CELL_BYTES: u64 = 1 << 62;

/// Array of a leaf, read in chunks, or in chunks within shards.
pub(super) struct StoredArray {
    pub leaf: Leaf,
    pub directory: PathBuf,
    pub shape: Index,
    keys: ChunkKeys,
    layers: ShardLayers,
    /// Cached file: index of the file, and the open file unless it is missing.
    cached_file: Option<(Index, Option<(File, ByteRange)>)>,
    /// Bytes of one missing cell.
    pub fill: Vec<u8>,
}

impl StoredArray {
    /// Opens the array of `leaf`; an unsupported feature is an error.
    pub(super) fn new(array: &ArrayNode, leaf: &Leaf, axes: usize) -> Result<Self, FileError> {
        Self::parse(&array.directory, &array.metadata, leaf, axes)
            .map_err(|message| FileError::unsupported(&array.file, 0, message))
    }

    fn parse(directory: &Path, array: &ArrayMetadataV3, leaf: &Leaf, axes: usize) -> Result<Self, String> {
        let kind = array.data_type.name();
        if kind != leaf.kind && !(kind == "bool" && leaf.kind == "uint8") {
            return Err(format!("cells of type {}, not of {:?}", quoted(kind), leaf.kind));
        }
        let unknown = array.additional_fields.iter().find(|(_, field)| field.must_understand());
        if let Some((name, _)) = unknown {
            return Err(format!("the field {} is not understood", quoted(name)));
        }
        if let Some(transformer) = array.storage_transformers.first() {
            return Err(format!("the storage transformer {} is not understood", quoted(transformer.name())));
        }
        let shape = cell_extents(&array.shape, leaf, axes, true)?;
        let bytes = shape.product().and_then(|cells| cells.checked_mul(leaf.bytes() as u64));
        bytes.filter(|&bytes| bytes <= MOST_CELL_BYTES).ok_or("more bytes than fit 62 bits")?;
        if array.chunk_grid.name() != "regular" {
            return Err(format!("a grid {} is not read; \"regular\" is", quoted(array.chunk_grid.name())));
        }
        let chunk = array.chunk_grid.configuration().and_then(|all| all.get("chunk_shape")).unwrap_or(&Value::Null);
        let chunk = cell_extents(&sizes("chunk_shape", chunk)?, leaf, axes, false)?;
        let fill = DataType::from_metadata(&array.data_type).ok();
        let fill = fill.and_then(|kind| kind.fill_value_v3(&array.fill_value).ok()).ok_or_else(|| {
            let found = serde_json::to_value(&array.fill_value).unwrap_or_default();
            wrong("fill_value", &found, &format!("a number of type {kind} is read"))
        })?;
        let keys = ChunkKeys::new(&array.chunk_key_encoding)?;
        let layers = ShardLayers::new(&array.codecs, leaf, chunk)?;
        let bytes = layers.inner_chunk.product().and_then(|cells| cells.checked_mul(leaf.bytes() as u64));
        if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
            let (most, chunk) = (MOST_BYTES >> 20, layers.inner_chunk);
            return Err(format!("chunks of {chunk} cells are too large; chunks of at most {most} MiB are read"));
        }
        let fill = fill.as_ne_bytes().repeat(leaf.numbers.unwrap_or(1));
        let (leaf, directory) = (leaf.clone(), directory.to_path_buf());
        Ok(Self { leaf, directory, shape, keys, layers, cached_file: None, fill })
    }

    /// The region may reach beyond the end of the array.
    pub(super) fn region(&self, chunk: &Index) -> Region {
        Region::at(
            Index::from_fn(chunk.axes(), |axis| chunk[axis] * self.layers.inner_chunk[axis]),
            self.layers.inner_chunk,
        )
    }

    pub(super) fn chunks_overlapping(&self, cells: &Region) -> Region {
        let (axes, chunk) = (cells.axes(), &self.layers.inner_chunk);
        let first = Index::from_fn(axes, |axis| cells.start[axis] / chunk[axis]);
        Region::between(first, Index::from_fn(axes, |axis| (cells.end[axis] - 1) / chunk[axis] + 1))
    }

    /// Reads the cells of a chunk, axis 0 fastest; `None` if all have the fill value.
    pub(super) fn read(&mut self, chunk: &Index) -> Result<Option<Vec<u8>>, FileError> {
        let file = self.index_of_container(chunk, 0);
        let path = self.path(&file);
        if self.cached_file.as_ref().is_none_or(|(cached_file, _)| *cached_file != file) {
            self.layers.shards.iter_mut().for_each(Shards::clear_cache);
            self.cached_file = Some((file, open(&self.directory, &path)?));
        }
        let numbers: Vec<Index> =
            (0..=self.layers.shards.len()).map(|layer| self.index_of_container(chunk, layer)).collect();
        let Some((_, Some((file, whole)))) = &mut self.cached_file else { return Ok(None) };
        let mut range = *whole;
        for (layer, shards) in self.layers.shards.iter_mut().enumerate() {
            let part = Index::from_fn(chunk.axes(), |axis| numbers[layer + 1][axis] % shards.counts[axis]);
            let Some(found) = shards.part((file, &path), (&numbers[layer], range), &part)? else { return Ok(None) };
            range = found;
        }
        let bytes = self.layers.inner_chunk.product().unwrap_or(0) * self.leaf.bytes() as u64;
        let encoded = read(file, &path, range, self.layers.decoder.encoded_length(bytes))?;
        let numbers = self.leaf.numbers.map(|numbers| numbers as i64);
        let extents: Vec<i64> = numbers.into_iter().chain(self.layers.inner_chunk.iter().copied()).collect();
        let decoded = self.layers.decoder.decode(encoded, &extents, bytes);
        decoded.map(Some).map_err(|message| FileError::malformed(&path, range.start, message))
    }

    /// Index of the file (`layers` = 0), shard or chunk that contains a chunk, after `layers`
    /// levels of shards.
    fn index_of_container(&self, chunk: &Index, layers: usize) -> Index {
        let inner = &self.layers.shards[layers..];
        Index::from_fn(chunk.axes(), |axis| inner.iter().fold(chunk[axis], |at, shards| at / shards.counts[axis]))
    }

    fn path(&self, at: &Index) -> PathBuf {
        let numbers = (0..at.axes()).rev().map(|axis| at[axis].unsigned_abs());
        let numbers: Vec<u64> = numbers.chain(self.leaf.numbers.map(|_| 0)).collect();
        self.directory.join(self.keys.encode(&numbers))
    }

    /// Detects a wrong chunk key encoding: the name of an existing file, and the expected name of
    /// the first chunk. `None` if a chunk exists, or there is no file.
    pub(super) fn foreign_file(&self) -> Option<(String, String)> {
        if self.shape.contains(&0) {
            return None;
        }
        let chunk = &self.layers.inner_chunk;
        let pieces = Index::from_fn(chunk.axes(), |axis| (self.shape[axis] - 1) / chunk[axis]);
        let most = self.index_of_container(&pieces, 0);
        let most: Vec<u64> = most.iter().rev().map(|&at| at as u64).chain(self.leaf.numbers.map(|_| 0)).collect();
        let foreign_file = self.keys.foreign_file(&self.directory, &most)?;
        Some((foreign_file, self.keys.encode(&vec![0; most.len()])))
    }
}

/// Opens a file with its length; `None` if it does not exist.
fn open(directory: &Path, path: &Path) -> Result<Option<(File, ByteRange)>, FileError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A dangling link is no omitted chunk.
            let ancestors = path.ancestors().take_while(|ancestors| *ancestors != directory);
            match ancestors.filter(|ancestors| ancestors.is_symlink()).last() {
                Some(link) => Err(FileError::request(link, "is a link that leads to nothing")),
                None => Ok(None),
            }
        }
        _ => open_regular(path).map(|(file, bytes)| Some((file, ByteRange { start: 0, bytes }))),
    }
}

/// Reads bytes of a file; their number must be `wanted`, or at most `wanted` if not `is_exact`.
fn read(
    file: &mut File,
    path: &Path,
    ByteRange { start, bytes }: ByteRange,
    (wanted, is_exact): (u64, bool),
) -> Result<Vec<u8>, FileError> {
    let offset = start + bytes;
    if is_exact && bytes < wanted {
        return Err(FileError::Truncated { path: path.to_path_buf(), offset, found: bytes, expected: wanted });
    }
    if bytes > wanted {
        return Err(FileError::Oversized { path: path.to_path_buf(), offset, expected: wanted });
    }
    let mut out = zeros(bytes).map_err(|none| FileError::request(path, none))?;
    let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut out));
    read.map_err(|error| FileError::system(path, "read", &error))?;
    Ok(out)
}
