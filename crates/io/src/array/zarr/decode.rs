//! Bytes of a file to the cells of a chunk. What a stream unpacks to is bounded by what the chunk must have: nothing that a
//! file says makes room for more.

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use zarrs::array::codec::api::{ArrayToBytesCodecTraits, BytesToBytesCodecTraits, Codec};
use zarrs::array::{BytesRepresentation, CodecOptions, DataType, FillValue};
use zarrs::metadata::v3::MetadataV3;

use super::blosc;

/// No stream of gzip unpacks to more bytes for each of its own.
const GZIP_RATIO: u64 = 1040;

/// No block of Zstandard has more bytes, and each takes four.
pub const ZSTD_RATIO: u64 = 128 * 1024;

/// Bytes of a checksum.
const CHECKSUM: u64 = 4;

/// How chunks are unpacked.
#[derive(Debug, Clone)]
pub struct Decoder {
    numbers: Arc<dyn ArrayToBytesCodecTraits>,
    /// In the order of encoding.
    steps: Vec<Step>,
    kind: DataType,
    zero: FillValue,
}

#[derive(Debug, Clone)]
enum Step {
    Blosc,
    Gzip,
    Zstd,
    Checksum(Arc<dyn BytesToBytesCodecTraits>),
}

impl Decoder {
    /// From the codecs of a document.
    ///
    /// # Errors
    /// One of them is not known, or is not read here.
    pub fn new(codecs: &[MetadataV3], kind: &DataType, fill: &FillValue) -> Result<Self, String> {
        let Some((first, rest)) = codecs.split_first().filter(|(first, _)| first.name() == "bytes") else {
            let names: Vec<&str> = codecs.iter().map(MetadataV3::name).collect();
            return Err(format!(
                "codecs {names:?} are not read; they must begin with \"bytes\" or \"sharding_indexed\""
            ));
        };
        let made = |codec: &MetadataV3| Codec::from_metadata(codec).map_err(|error| error.to_string());
        let Codec::ArrayToBytes(numbers) = made(first)? else { return Err("\"bytes\" is no codec of arrays".into()) };
        let step = |codec: &MetadataV3| match codec.name() {
            "blosc" => Ok(Step::Blosc),
            "gzip" => Ok(Step::Gzip),
            "zstd" => Ok(Step::Zstd),
            "crc32c" => match made(codec)? {
                Codec::BytesToBytes(codec) => Ok(Step::Checksum(codec)),
                _ => Err("\"crc32c\" is no codec of bytes".into()),
            },
            name => Err(format!("the codec {name:?} is not read; blosc, crc32c, gzip and zstd are")),
        };
        let steps = rest.iter().map(step).collect::<Result<_, _>>()?;
        Ok(Self { numbers, steps, kind: kind.clone(), zero: fill.clone() })
    }

    /// The bytes of a file for so many bytes of cells: the number of them, or the most where they are compressed.
    pub fn encoded(&self, bytes: u64) -> (u64, bool) {
        self.steps.iter().fold((bytes, true), |(bytes, is_exact), step| match step {
            Step::Checksum(_) => (bytes + CHECKSUM, is_exact),
            // More than any adds to what it cannot compress.
            _ => (bytes + bytes / 4 + 1024, false),
        })
    }

    /// The bytes of the cells, of which there are so many along each axis.
    ///
    /// # Errors
    /// What the bytes are not.
    pub fn decode(&self, encoded: Vec<u8>, shape: &[u64], bytes: u64) -> Result<Vec<u8>, String> {
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
                Step::Zstd => unzstd(&found, most)?,
                Step::Checksum(codec) => {
                    let options = CodecOptions::default();
                    let checked = codec.decode(Cow::Owned(found), &BytesRepresentation::UnboundedSize, &options);
                    checked.map_err(|error| format!("damaged: {error}"))?.into_owned()
                }
            };
        }
        if found.len() as u64 != bytes {
            return Err(format!("unpacks to {} bytes, and the chunk has {bytes}", found.len()));
        }
        let shape: Vec<_> = shape.iter().filter_map(|&extent| extent.try_into().ok()).collect();
        let cells = self.numbers.decode(Cow::Owned(found), &shape, &self.kind, &self.zero, &CodecOptions::default());
        let cells = cells.and_then(|cells| Ok(cells.into_fixed()?.into_owned()));
        cells.map_err(|error| error.to_string())
    }
}

fn too_short(found: usize, most: u64) -> String {
    format!("damaged: {found} compressed bytes cannot be the {most} of the chunk")
}

/// What a stream of so many compressed bytes unpacks to, at most so much.
///
/// # Errors
/// It is damaged, or unpacks to more.
pub fn inflate(stream: impl Read, encoded: usize, most: u64) -> Result<Vec<u8>, String> {
    let room = most.min((encoded as u64).saturating_mul(GZIP_RATIO));
    let mut out = Vec::with_capacity(room as usize);
    stream.take(most + 1).read_to_end(&mut out).map_err(|error| format!("damaged: {error}"))?;
    match out.len() as u64 > most {
        true => Err(format!("damaged: it unpacks to more than {most} bytes")),
        false => Ok(out),
    }
}

fn unzstd(encoded: &[u8], most: u64) -> Result<Vec<u8>, String> {
    // Into given room nothing is written beyond its end.
    let room = most.min((encoded.len() as u64).saturating_mul(ZSTD_RATIO));
    let unpacked = zstd::bulk::decompress(encoded, room as usize);
    unpacked.map_err(|error| format!("{} ({error})", too_short(encoded.len(), most)))
}

/// The name of each codec of a document, those within shards too.
pub fn names(codecs: &[MetadataV3]) -> Vec<String> {
    let own = |codec: &MetadataV3| {
        let inner = codec.configuration().and_then(|own| own.get("codecs")).and_then(Value::as_array);
        let inner = inner.into_iter().flatten().filter_map(|codec| codec["name"].as_str().or(codec.as_str()));
        [codec.name().to_string()].into_iter().chain(inner.map(str::to_string)).collect::<Vec<_>>()
    };
    codecs.iter().flat_map(own).collect()
}
