//! [`Stored`]: an array of a store, and the pieces in which its cells are read.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use zarrs::array::{ChunkKeyEncoding, DataType, FillValue};
use zarrs::metadata::v3::{ArrayMetadataV3, MetadataV3};
use zippy::extents::Index;
use zippy::region::Region;

use super::decode::Decoder;
use super::fields::Leaf;
use super::node;
use super::options::MOST_BYTES;
use crate::IoError;
use crate::store::open_regular;

/// Pieces that reach beyond the end of an array still end at a place that fits 63 bits.
const MOST_CELL_BYTES: u64 = 1 << 62;

/// An array that holds a leaf of the element. Its cells come in pieces: its chunks, or the chunks within its shards.
pub struct Stored {
    pub leaf: Leaf,
    pub directory: PathBuf,
    /// Of the array and of a piece, axis 0 fastest.
    pub shape: Index,
    piece: Index,
    shards: Option<Shards>,
    keys: ChunkKeyEncoding,
    decoder: Decoder,
    /// A cell of what is missing.
    pub fill: Vec<u8>,
}

/// Files that hold several pieces, and an index of them.
struct Shards {
    /// Pieces along each axis of a shard.
    counts: Index,
    index: Decoder,
    index_bytes: u64,
    is_at_end: bool,
    /// The one that was read last.
    last: Option<(Index, Option<Shard>)>,
}

struct Shard {
    file: File,
    length: u64,
    /// First byte and bytes of each piece.
    pieces: Vec<u64>,
}

#[derive(Deserialize)]
struct Chunks {
    chunk_shape: Vec<u64>,
}

#[derive(Deserialize)]
struct Sharding {
    chunk_shape: Vec<u64>,
    codecs: Vec<MetadataV3>,
    index_codecs: Vec<MetadataV3>,
    #[serde(default)]
    index_location: Option<String>,
}

impl Stored {
    /// # Errors
    /// What is not a leaf of so many axes, or is not read here.
    pub fn new(directory: &Path, array: &ArrayMetadataV3, leaf: &Leaf, axes: usize) -> Result<Self, IoError> {
        let file = node::document(directory).unwrap_or_else(|| directory.to_path_buf());
        Self::of(directory, array, leaf, axes).map_err(|message| IoError::unsupported(&file, 0, message))
    }

    fn of(directory: &Path, array: &ArrayMetadataV3, leaf: &Leaf, axes: usize) -> Result<Self, String> {
        let kind = array.data_type.name();
        if kind != leaf.kind && !(kind == "bool" && leaf.kind == "uint8") {
            return Err(format!("cells of type {kind:?}, not of {:?}", leaf.kind));
        }
        if let Some(name) =
            array.additional_fields.iter().find(|(_, field)| field.must_understand()).map(|(name, _)| name)
        {
            return Err(format!("the field {name:?} is not understood"));
        }
        if let Some(one) = array.storage_transformers.first() {
            return Err(format!("the storage transformer {:?} is not understood", one.name()));
        }
        let shape = reversed(&array.shape, leaf, axes, true)?;
        let bytes = shape.product().and_then(|cells| cells.checked_mul(leaf.bytes() as u64));
        bytes.filter(|&bytes| bytes <= MOST_CELL_BYTES).ok_or("more bytes than fit 62 bits")?;
        if array.chunk_grid.name() != "regular" {
            return Err(format!("a grid {:?} is not read; \"regular\" is", array.chunk_grid.name()));
        }
        let chunks: Chunks = array.chunk_grid.to_typed_configuration().map_err(|error| error.to_string())?;
        let chunk = reversed(&chunks.chunk_shape, leaf, axes, false)?;
        let kind = DataType::from_metadata(&array.data_type).map_err(|error| error.to_string())?;
        let fill = kind.fill_value_v3(&array.fill_value).map_err(|error| error.to_string())?;
        let keys = ChunkKeyEncoding::from_metadata(&array.chunk_key_encoding).map_err(|error| error.to_string())?;
        let (piece, shards, decoder) = match &array.codecs[..] {
            [one] if one.name() == "sharding_indexed" => {
                let sharding: Sharding = one.to_typed_configuration().map_err(|error| error.to_string())?;
                let piece = reversed(&sharding.chunk_shape, leaf, axes, false)?;
                (piece, Some(Shards::new(&sharding, &chunk, &piece)?), Decoder::new(&sharding.codecs, &kind, &fill)?)
            }
            codecs => (chunk, None, Decoder::new(codecs, &kind, &fill)?),
        };
        let bytes = piece.product().and_then(|cells| cells.checked_mul(leaf.bytes() as u64));
        if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
            let most = MOST_BYTES >> 20;
            return Err(format!("chunks of {piece} cells are too large; chunks of at most {most} MiB are read"));
        }
        let fill = fill.as_ne_bytes().repeat(leaf.numbers.unwrap_or(1));
        let (leaf, directory) = (leaf.clone(), directory.to_path_buf());
        Ok(Self { leaf, directory, shape, piece, shards, keys, decoder, fill })
    }

    /// The cells of a piece, by its number along each axis; it may reach beyond the end of the array.
    pub fn region(&self, piece: &Index) -> Region {
        Region::at(Index::from_fn(piece.axes(), |axis| piece[axis] * self.piece[axis]), self.piece)
    }

    /// The numbers of the pieces that cells of a box are in.
    pub fn touching(&self, cells: &Region) -> Region {
        let axes = cells.axes();
        let first = Index::from_fn(axes, |axis| cells.start[axis] / self.piece[axis]);
        Region::between(first, Index::from_fn(axes, |axis| (cells.end[axis] - 1) / self.piece[axis] + 1))
    }

    /// The bytes of the cells of a piece, axis 0 fastest; `None`: all of them are the fill value.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read(&mut self, piece: &Index) -> Result<Option<Vec<u8>>, IoError> {
        let bytes = self.piece.product().unwrap_or(0) * self.leaf.bytes() as u64;
        let (path, encoded) = match &mut self.shards {
            None => {
                let path = chunk_path(&self.directory, &self.keys, &self.leaf, piece);
                let Some((file, length)) = open(&path)? else { return Ok(None) };
                let encoded = whole(file, &path, length, self.decoder.encoded(bytes))?;
                (path, encoded)
            }
            Some(shards) => {
                let shard = Index::from_fn(piece.axes(), |axis| piece[axis] / shards.counts[axis]);
                let path = chunk_path(&self.directory, &self.keys, &self.leaf, &shard);
                let inner = Index::from_fn(piece.axes(), |axis| piece[axis] % shards.counts[axis]);
                let most = self.decoder.encoded(bytes);
                let Some(encoded) = shards.piece(&path, &shard, &inner, most)? else { return Ok(None) };
                (path, encoded)
            }
        };
        let shape: Vec<u64> = super::encode::extents(&self.leaf, &self.piece);
        let decoded = self.decoder.decode(encoded, &shape, bytes);
        decoded.map(Some).map_err(|message| IoError::malformed(&path, 0, message))
    }
}

/// The file of a chunk or a shard.
fn chunk_path(directory: &Path, keys: &ChunkKeyEncoding, leaf: &Leaf, at: &Index) -> PathBuf {
    let numbers = (0..at.axes()).rev().map(|axis| at[axis].unsigned_abs());
    let numbers: Vec<u64> = numbers.chain(leaf.numbers.map(|_| 0)).collect();
    directory.join(keys.encode(&numbers).as_str())
}

/// Extents, axis 0 first, without the numbers of a vector.
fn reversed(extents: &[u64], leaf: &Leaf, axes: usize, is_array: bool) -> Result<Index, String> {
    let (what, least) = if is_array { ("an array", 0) } else { ("a chunk", 1) };
    let (extents, last) = extents.split_at_checked(axes).unwrap_or((&[], extents));
    match (leaf.numbers, last) {
        (None, []) => {}
        // Chunks may reach beyond the end of an axis, and would hold what is no cell.
        (Some(numbers), &[last]) if last == numbers as u64 => {}
        (Some(numbers), &[_]) if !is_array => {
            return Err(format!("chunks do not hold all {numbers} numbers of a cell"));
        }
        (None, _) => return Err(format!("{what} of {} axes, not of {axes}", extents.len() + last.len())),
        (Some(numbers), _) => {
            let found: Vec<u64> = extents.iter().chain(last).copied().collect();
            return Err(format!(
                "{what} of extents {found:?}, and vectors need {axes} axes and a last one of {numbers}"
            ));
        }
    }
    let fits = extents.iter().all(|&extent| i64::try_from(extent).is_ok_and(|extent| extent >= least));
    match fits && Index::from_fn(axes, |axis| extents[axis] as i64).product().is_some() {
        true => Ok(Index::from_fn(axes, |axis| extents[axes - 1 - axis] as i64)),
        false => Err(format!("extents {extents:?} are none of {what}")),
    }
}

/// A file of the store; `None`: there is none.
fn open(path: &Path) -> Result<Option<(File, u64)>, IoError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => open_regular(path).map(Some),
    }
}

/// All of a file that must have so many bytes, or at most.
fn whole(mut file: File, path: &Path, length: u64, (bytes, is_exact): (u64, bool)) -> Result<Vec<u8>, IoError> {
    check_length(path, length, length, (bytes, is_exact))?;
    let mut out = vec![0; length as usize];
    file.read_exact(&mut out).map_err(|error| IoError::system(path, "read", &error))?;
    Ok(out)
}

fn check_length(path: &Path, end: u64, found: u64, (bytes, is_exact): (u64, bool)) -> Result<(), IoError> {
    match is_exact {
        true if found < bytes => {
            Err(IoError::Truncated { path: path.to_path_buf(), offset: end, found, expected: bytes })
        }
        _ if found > bytes => Err(IoError::Oversized { path: path.to_path_buf(), offset: end, expected: bytes }),
        _ => Ok(()),
    }
}

impl Shards {
    fn new(sharding: &Sharding, shard: &Index, piece: &Index) -> Result<Self, String> {
        if (0..shard.axes()).any(|axis| shard[axis] % piece[axis] != 0) {
            return Err(format!("shards of {shard} cells are not made of whole chunks of {piece}"));
        }
        let counts = Index::from_fn(shard.axes(), |axis| shard[axis] / piece[axis]);
        let is_at_end = match sharding.index_location.as_deref() {
            None | Some("end") => true,
            Some("start") => false,
            Some(other) => return Err(format!("\"index_location\" is {other:?}, neither \"start\" nor \"end\"")),
        };
        let kind = DataType::from_metadata(&MetadataV3::new("uint64")).map_err(|error| error.to_string())?;
        let index = Decoder::new(&sharding.index_codecs, &kind, &FillValue::from(u64::MAX))?;
        let bytes = counts.product().and_then(|count| count.checked_mul(16)).filter(|&bytes| bytes <= MOST_BYTES);
        let (index_bytes, is_exact) = index.encoded(bytes.ok_or("shards of too many chunks")?);
        match is_exact {
            true => Ok(Self { counts, index, index_bytes, is_at_end, last: None }),
            false => Err("the index of shards is compressed".into()),
        }
    }

    /// The bytes of a piece of a shard; `None`: it is left out.
    fn piece(
        &mut self,
        path: &Path,
        shard: &Index,
        inner: &Index,
        most: (u64, bool),
    ) -> Result<Option<Vec<u8>>, IoError> {
        if self.last.as_ref().is_none_or(|(last, _)| last != shard) {
            self.last = None;
            self.last = Some((*shard, self.open(path)?));
        }
        let Some((_, Some(open))) = &mut self.last else { return Ok(None) };
        // The index is in the order of Zarr, in which the last of its axes, axis 0, is fastest.
        let number = 2 * inner.dot(&self.counts.dense_strides()) as usize;
        let (first, bytes) = (open.pieces[number], open.pieces[number + 1]);
        if (first, bytes) == (u64::MAX, u64::MAX) {
            return Ok(None);
        }
        if first.checked_add(bytes).is_none_or(|end| end > open.length) {
            let message =
                format!("the index has a chunk of {bytes} bytes from byte {first} on, behind the end of the shard");
            return Err(IoError::malformed(
                path,
                if self.is_at_end { open.length - self.index_bytes } else { 0 },
                message,
            ));
        }
        check_length(path, first + bytes, bytes, most)?;
        let mut out = vec![0; bytes as usize];
        let mut read = || open.file.seek(SeekFrom::Start(first)).and_then(|_| open.file.read_exact(&mut out));
        read().map_err(|error| IoError::system(path, "read", &error))?;
        Ok(Some(out))
    }

    fn open(&self, path: &Path) -> Result<Option<Shard>, IoError> {
        let Some((mut file, length)) = open(path)? else { return Ok(None) };
        if length < self.index_bytes {
            let (path, expected) = (path.to_path_buf(), self.index_bytes);
            return Err(IoError::Truncated { path, offset: length, found: length, expected });
        }
        let at = if self.is_at_end { length - self.index_bytes } else { 0 };
        let mut bytes = vec![0; self.index_bytes as usize];
        let mut read = || file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
        read().map_err(|error| IoError::system(path, "read", &error))?;
        let count = self.counts.product().unwrap_or(0);
        let index = self.index.decode(bytes, &[count, 2], 16 * count);
        let index =
            index.map_err(|message| IoError::malformed(path, at, format!("the index of the shard: {message}")))?;
        let pieces = bytemuck::pod_collect_to_vec(&index);
        Ok(Some(Shard { file, length, pieces }))
    }
}
