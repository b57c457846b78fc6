//! Decompression of byte streams to a bounded size.

use std::io::Read;

use zippy_files::memory::{reserved, zeros};
use zstd::bulk::Decompressor;

/// Maximum compression ratio of gzip.
const GZIP_RATIO: u64 = 1040;

/// Maximum bytes of a Zstandard block; its smallest encoding has four bytes.
const ZSTD_BLOCK: u64 = 128 * 1024;

fn too_short(found: usize, most: u64) -> String {
    format!("damaged: {found} compressed bytes cannot be the {most} of the chunk")
}

/// Decompresses a stream of `encoded` bytes to at most `most` bytes.
///
/// # Errors
/// The stream is damaged or decompresses to more.
pub(super) fn inflate(stream: impl Read, encoded: usize, most: u64) -> Result<Vec<u8>, String> {
    let room = most.min((encoded as u64).saturating_mul(GZIP_RATIO));
    let mut out = reserved(room)?;
    stream.take(most + 1).read_to_end(&mut out).map_err(|error| format!("damaged: {error}"))?;
    if out.len() as u64 > most { Err(format!("damaged: it unpacks to more than {most} bytes")) } else { Ok(out) }
}

/// Maximum decompressed size of `encoded` bytes of Zstandard, which has the highest ratio of all
/// supported codecs.
pub(super) fn most_of_zstd(encoded: usize) -> u64 {
    (encoded as u64 / 4 + 1).saturating_mul(ZSTD_BLOCK)
}

/// Decompresses a Zstandard frame to at most `most` bytes.
///
/// # Errors
/// The frame is damaged or decompresses to more.
pub(super) fn unzstd(encoded: &[u8], most: u64) -> Result<Vec<u8>, String> {
    // The decompressor never writes beyond the reserved capacity.
    let room = most.min(most_of_zstd(encoded.len()));
    let mut out = reserved(room)?;
    let unpacked =
        Decompressor::new().and_then(|mut decompressor| decompressor.decompress_to_buffer(encoded, &mut out));
    unpacked.map(|_| out).map_err(|error| format!("{} ({error})", too_short(encoded.len(), most)))
}

/// Decompresses an LZ4 block that follows its decompressed length.
///
/// # Errors
/// The block is damaged or decompresses to more than `most` bytes.
pub(super) fn unlz4(encoded: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let (length, block) = encoded.split_first_chunk().ok_or_else(|| too_short(encoded.len(), most))?;
    let length = u32::from_le_bytes(*length);
    if u64::from(length) > most {
        return Err(format!("damaged: it unpacks to {length} bytes, of at most {most}"));
    }
    // 255 is the maximum ratio of LZ4.
    let room = (length as usize).min(block.len().saturating_mul(255));
    lz4_block(block, room as u64).map_err(|error| format!("damaged: LZ4: {error}"))
}

/// Decompresses an LZ4 block to at most `most` bytes.
///
/// # Errors
/// The block is damaged or decompresses to more.
pub(super) fn lz4_block(block: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let mut out = zeros(most)?;
    let length = lz4_flex::block::decompress_into(block, &mut out).map_err(|error| error.to_string())?;
    out.truncate(length);
    Ok(out)
}
