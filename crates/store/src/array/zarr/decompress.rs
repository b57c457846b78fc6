use std::io::Read;

use zippy_files::memory::{reserved, zeros};
use zstd::bulk::Decompressor;

const GZIP_RATIO: u64 = 1040;

/// Maximum decompressed bytes of a Zstandard block; its smallest encoding has four bytes.
const ZSTD_BLOCK: u64 = 128 * 1024;

fn too_short(found: usize, most: u64) -> String {
    format!("damaged: {found} compressed bytes cannot be the {most} of the chunk")
}

pub(super) fn inflate(stream: impl Read, encoded: usize, most: u64) -> Result<Vec<u8>, String> {
    let capacity = most.min((encoded as u64).saturating_mul(GZIP_RATIO));
    let mut out = reserved(capacity)?;
    stream.take(most + 1).read_to_end(&mut out).map_err(|error| format!("damaged: {error}"))?;
    if out.len() as u64 > most { Err(format!("damaged: it unpacks to more than {most} bytes")) } else { Ok(out) }
}

/// Maximum decompressed size of `encoded` bytes of any supported codec: the ratio of Zstandard is
/// the highest.
pub(super) fn max_decompressed_size(encoded: usize) -> u64 {
    (encoded as u64 / 4 + 1).saturating_mul(ZSTD_BLOCK)
}

pub(super) fn unzstd(encoded: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let capacity = most.min(max_decompressed_size(encoded.len()));
    let mut out = reserved(capacity)?;
    let unpacked =
        Decompressor::new().and_then(|mut decompressor| decompressor.decompress_to_buffer(encoded, &mut out));
    unpacked.map(|_| out).map_err(|error| format!("{} ({error})", too_short(encoded.len(), most)))
}

/// Decompresses an LZ4 block after its decompressed length in 4 bytes.
pub(super) fn unlz4(encoded: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let (length, block) = encoded.split_first_chunk().ok_or_else(|| too_short(encoded.len(), most))?;
    let length = u32::from_le_bytes(*length);
    if u64::from(length) > most {
        return Err(format!("damaged: it unpacks to {length} bytes, of at most {most}"));
    }
    // Maximum ratio of LZ4.
    let capacity = (length as usize).min(block.len().saturating_mul(255));
    lz4_block(block, capacity as u64).map_err(|error| format!("damaged: LZ4: {error}"))
}

pub(super) fn lz4_block(block: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let mut out = zeros(most)?;
    let length = lz4_flex::block::decompress_into(block, &mut out).map_err(|error| error.to_string())?;
    out.truncate(length);
    Ok(out)
}
