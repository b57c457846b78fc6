//! Decoder of chunk files. The chunk's size bounds the size of every decompressed stream, so a
//! hostile file cannot cause larger allocations.
//!
//! Chunks of other programs are not decoded with the crate `zarrs`: it allocates the length in the
//! header of a Zstandard frame, decompresses gzip without a bound, and adds numbers of a shard's
//! index without checks.

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

/// Maximum number of codecs after "bytes". Each adds a quarter to the maximum length of a file.
const MOST_CODECS: usize = 4;

const CHECKSUM_BYTES: u64 = 4;

#[derive(Debug, Clone)]
pub(super) struct Decoder {
    /// Bytes of a number in the other byte order; 1 for the machine's order.
    swap_width: usize,
    number_bytes: usize,
    /// Order of the axes in the file, if it differs from the array's.
    order: Option<AxisOrder>,
    /// In the order of encoding.
    byte_codecs: Vec<ByteCodec>,
}

#[derive(Debug, Clone)]
enum ByteCodec {
    Blosc,
    Gzip,
    Lz4,
    Zlib,
    Zstd,
    Checksum(Arc<dyn BytesToBytesCodecTraits>),
}

impl Decoder {
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
        let byte_codecs = rest.iter().map(ByteCodec::new).collect::<Result<_, _>>()?;
        Ok(Self { swap_width, number_bytes, order, byte_codecs })
    }

    /// Length of an encoded file; `false` marks an upper bound (compression).
    pub(super) fn encoded_length(&self, bytes: u64) -> (u64, bool) {
        self.byte_codecs.iter().fold((bytes, true), |(bytes, is_exact), codec| match codec {
            ByteCodec::Checksum(_) => (bytes + CHECKSUM_BYTES, is_exact),
            // Upper bound for the growth of incompressible data.
            _ => (bytes + bytes / 4 + 1024, false),
        })
    }

    /// Decodes a chunk to `bytes` bytes. `extents`: numbers of a vector first, then cells along
    /// each axis, axis 0 first.
    pub(super) fn decode(&self, encoded: Vec<u8>, extents: &[i64], bytes: u64) -> Result<Vec<u8>, String> {
        let mut bounds = vec![bytes];
        for codec in &self.byte_codecs {
            let last = bounds[bounds.len() - 1];
            bounds.push(if let ByteCodec::Checksum(_) = codec {
                last + CHECKSUM_BYTES
            } else {
                last + last / 4 + 1024
            });
        }
        let mut found = encoded;
        for (codec, &most) in self.byte_codecs.iter().zip(&bounds).rev() {
            found = match codec {
                ByteCodec::Blosc => blosc::decode(&found, most)?,
                ByteCodec::Gzip => inflate(MultiGzDecoder::new(&*found), found.len(), most)?,
                ByteCodec::Lz4 => unlz4(&found, most)?,
                ByteCodec::Zlib => inflate(ZlibDecoder::new(&*found), found.len(), most)?,
                ByteCodec::Zstd => unzstd(&found, most)?,
                ByteCodec::Checksum(codec) => {
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

impl ByteCodec {
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

/// Names of all codecs, also within shards.
pub(super) fn names(codecs: &[MetadataV3]) -> Vec<String> {
    let codec_names = |codec: &MetadataV3| {
        let inner = codec.configuration().and_then(|all| all.get("codecs")).and_then(Value::as_array);
        let inner = inner.into_iter().flatten().filter_map(|codec| codec["name"].as_str().or(codec.as_str()));
        [codec.name().to_string()].into_iter().chain(inner.map(str::to_string)).collect::<Vec<_>>()
    };
    codecs.iter().flat_map(codec_names).collect()
}
