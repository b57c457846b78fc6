//! Frames: encoded values with their lengths.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lists;

/// Maximum size of a frame from a viewer, in bytes.
pub const MOST_ASKED: usize = 64 << 10;
/// Maximum size of a frame from a program, in bytes.
pub const MOST_TOLD: usize = 16 << 20;

/// Encodes a value as its length, a little-endian `u32`, and its postcard encoding.
///
/// # Errors
/// The encoding has more than `most` bytes.
pub fn encode(value: &impl Serialize, most: usize) -> Result<Vec<u8>, String> {
    let bytes = postcard::to_extend(value, vec![0; 4]).map_err(|error| format!("it cannot be encoded: {error}"))?;
    let mut bytes: Vec<u8> = bytes;
    let length = bytes.len() - 4;
    if length > most {
        return Err(format!("it has {length} bytes, and at most {most} are sent"));
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(bytes)
}

/// Decodes the bytes of a frame after its length.
///
/// # Errors
/// The bytes do not encode a value, or more follow; the value's lists take more than 64 MiB.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match lists::decode_frame(|| postcard::take_from_bytes(bytes)) {
        None => Err(format!("the lists in a frame of {} bytes take more than {} bytes", bytes.len(), lists::MAX_BYTES)),
        Some(Ok((value, []))) => Ok(value),
        Some(Ok((_, rest))) => Err(format!("a frame has {} bytes too many", rest.len())),
        Some(Err(error)) => Err(format!("a frame of {} bytes cannot be decoded: {error}", bytes.len())),
    }
}

/// Writes a frame with a value.
///
/// # Errors
/// Errors of the stream; [`InvalidInput`](io::ErrorKind::InvalidInput) if the value has more than
/// `most` bytes.
pub fn write(to: &mut impl Write, value: &impl Serialize, most: usize) -> io::Result<()> {
    let bytes = encode(value, most).map_err(|text| io::Error::new(io::ErrorKind::InvalidInput, text))?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads a frame and decodes its value; `None` if the stream ends before a frame. Memory grows with
/// the received bytes, not with the stated length.
///
/// # Errors
/// Errors of the stream, also its end within a frame; [`InvalidData`](io::ErrorKind::InvalidData)
/// for a length of more than `most` bytes, and for bytes that do not encode a value.
pub fn read<T: DeserializeOwned>(from: &mut impl Read, most: usize) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read(&mut length)? {
        0 => return Ok(None),
        begun => from.read_exact(&mut length[begun..])?,
    }
    let length = u32::from_le_bytes(length) as usize;
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    if length > most {
        return Err(invalid(format!("a frame has a length of {length} bytes; the maximum is {most}")));
    }
    let mut bytes = Vec::new();
    from.by_ref().take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        let text = format!("a frame of {length} bytes ends after {}", bytes.len());
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
    }
    decode(&bytes).map(Some).map_err(invalid)
}
