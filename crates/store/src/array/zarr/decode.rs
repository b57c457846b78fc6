//! Decoding of chunk files into cells. The chunk's size bounds the size of every decompressed
//! stream, so a hostile file cannot cause larger allocations.
//!
//! The crate `zarrs` encodes chunks, but does not decode those of other programs: it makes room for
//! the length in the header of a Zstandard frame, unpacks gzip without a bound, and adds numbers of
//! a shard's index without checks.

use std::borrow::Cow;
use std::sync::Arc;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use serde_json::Value;
use zarrs::array::codec::api::{BytesToBytesCodecTraits, Codec};
use zarrs::array::{BytesRepresentation, CodecOptions};
use zarrs::metadata::v3::MetadataV3;
use zippy_files::quoted;

use super::blosc;
use super::decompress::{inflate, unlz4, unzstd};
use super::values::wrong;
use zippy_io::array::AxisOrder;

/// Maximum number of byte codecs. Each codec adds a quarter to the maximum length of a file.
const MOST_CODECS: usize = 4;

/// Bytes of a checksum.
const CHECKSUM: u64 = 4;

/// Decoder of chunks.
#[derive(Debug, Clone)]
pub(super) struct Decoder {
    /// Bytes of a number in the other byte order, to be reversed; 1 for the machine's order.
    swap_width: usize,
    number_bytes: usize,
    /// Order of the numbers, if it differs from the order of the axes.
    order: Option<AxisOrder>,
    /// Codecs in the order of encoding.
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    Blosc,
    Gzip,
    Lz4,
    Zlib,
    Zstd,
    Checksum(Arc<dyn BytesToBytesCodecTraits>),
}

impl Decoder {
    /// Creates a decoder from the codecs of a document, without those that change the order of
    /// axes, for numbers of `number_bytes` bytes.
    ///
    /// # Errors
    /// A codec is unknown or not supported.
    pub(super) fn new(codecs: &[MetadataV3], number_bytes: usize, order: Option<AxisOrder>) -> Result<Self, String> {
        let Some((first, rest)) = codecs.split_first().filter(|(first, _)| first.name() == "bytes") else {
            let names = codecs.iter().map(|codec| quoted(codec.name())).collect::<Vec<_>>().join(", ");
            return Err(format!(
                "codecs {names} are not read; they must begin with \"bytes\" or \"sharding_indexed\", before which \
                 \"transpose\" may stand"
            ));
        };
        if rest.len() > MOST_CODECS {
            return Err(format!("{} codecs after \"bytes\"; at most {MOST_CODECS} are read", rest.len()));
        }
        let endian = first.configuration().and_then(|all| all.get("endian")).unwrap_or(&Value::Null);
        let is_big = match endian.as_str() {
            Some("big") => true,
            Some("little") => false,
            _ if number_bytes == 1 => cfg!(target_endian = "big"),
            _ => return Err(wrong("endian", endian, "\"little\" and \"big\" are read")),
        };
        let swap_width = if is_big == cfg!(target_endian = "big") { 1 } else { number_bytes };
        let steps = rest.iter().map(Step::new).collect::<Result<_, _>>()?;
        Ok(Self { swap_width, number_bytes, order, steps })
    }

    /// Length of the file for `bytes` bytes of cells, and true if it is exact; with compression it
    /// is an upper bound.
    pub(super) fn encoded_length(&self, bytes: u64) -> (u64, bool) {
        self.steps.iter().fold((bytes, true), |(bytes, is_exact), step| match step {
            Step::Checksum(_) => (bytes + CHECKSUM, is_exact),
            // An upper bound for the growth of incompressible data.
            _ => (bytes + bytes / 4 + 1024, false),
        })
    }

    /// Decodes a chunk with `extents` cells along each axis, axis 0 first, after the numbers of a
    /// vector. `bytes` is the decoded length.
    ///
    /// # Errors
    /// The defect of the encoded bytes.
    pub(super) fn decode(&self, encoded: Vec<u8>, extents: &[i64], bytes: u64) -> Result<Vec<u8>, String> {
        let mut bounds = vec![bytes];
        for step in &self.steps {
            let last = bounds[bounds.len() - 1];
            bounds.push(if let Step::Checksum(_) = step { last + CHECKSUM } else { last + last / 4 + 1024 });
        }
        let mut found = encoded;
        for (step, &most) in self.steps.iter().zip(&bounds).rev() {
            found = match step {
                Step::Blosc => blosc::unpack(&found, most)?,
                Step::Gzip => inflate(MultiGzDecoder::new(&*found), found.len(), most)?,
                Step::Lz4 => unlz4(&found, most)?,
                Step::Zlib => inflate(ZlibDecoder::new(&*found), found.len(), most)?,
                Step::Zstd => unzstd(&found, most)?,
                Step::Checksum(codec) => {
                    let options = CodecOptions::default();
                    let checked = codec.decode(Cow::Owned(found), &BytesRepresentation::UnboundedSize, &options);
                    checked.map_err(|_| "damaged: the checksum crc32c is another one".to_string())?.into_owned()
                }
            };
        }
        if found.len() as u64 != bytes {
            return Err(format!("unpacks to {} bytes, and the chunk has {bytes}", found.len()));
        }
        if self.swap_width > 1 {
            found.chunks_exact_mut(self.swap_width).for_each(<[u8]>::reverse);
        }
        let Some(order) = &self.order else { return Ok(found) };
        let mut arranged = vec![0; found.len()];
        order.arrange(&order.along_file(extents), self.number_bytes, &found, &mut arranged);
        Ok(arranged)
    }
}

impl Step {
    fn new(codec: &MetadataV3) -> Result<Self, String> {
        match codec.name().strip_prefix("numcodecs.").unwrap_or(codec.name()) {
            "blosc" => Ok(Self::Blosc),
            "gzip" => Ok(Self::Gzip),
            "lz4" => Ok(Self::Lz4),
            "zlib" => Ok(Self::Zlib),
            "zstd" => Ok(Self::Zstd),
            _ if codec.name() == "crc32c" => match Codec::from_metadata(&MetadataV3::new("crc32c")) {
                Ok(Codec::BytesToBytes(codec)) => Ok(Self::Checksum(codec)),
                _ => Err("\"crc32c\" is no codec of bytes".into()),
            },
            _ => {
                let name = quoted(codec.name());
                Err(format!("the codec {name} is not read; blosc, crc32c, gzip, lz4, zlib and zstd are"))
            }
        }
    }
}

/// Names of a document's codecs, those within shards included.
pub(super) fn names(codecs: &[MetadataV3]) -> Vec<String> {
    let codec_names = |codec: &MetadataV3| {
        let inner = codec.configuration().and_then(|all| all.get("codecs")).and_then(Value::as_array);
        let inner = inner.into_iter().flatten().filter_map(|codec| codec["name"].as_str().or(codec.as_str()));
        [codec.name().to_string()].into_iter().chain(inner.map(str::to_string)).collect::<Vec<_>>()
    };
    codecs.iter().flat_map(codec_names).collect()
}
