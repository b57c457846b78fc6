//! A value and its length.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lists;

/// The longest frame that a program takes from a viewer.
pub const MOST_ASKED: usize = 64 << 10;
/// The longest frame that a viewer takes from a program.
pub const MOST_TOLD: usize = 16 << 20;

/// A value as it is sent: four bytes of its length, the lowest first, and its encoding.
///
/// # Errors
/// It is longer than `most` bytes.
pub fn encode(value: &impl Serialize, most: usize) -> Result<Vec<u8>, String> {
    let bytes = postcard::to_extend(value, vec![0; 4]).map_err(|error| format!("it cannot be written: {error}"))?;
    let mut bytes: Vec<u8> = bytes;
    let length = bytes.len() - 4;
    if length > most {
        return Err(format!("it has {length} bytes, and at most {most} are sent"));
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(bytes)
}

/// The value in the bytes behind a length.
///
/// # Errors
/// They are none, or more than that; its lists take more than 64 MiB.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match lists::of_one_frame(|| postcard::take_from_bytes(bytes)) {
        None => {
            Err(format!("the lists in a frame of {} bytes take more than {} bytes", bytes.len(), lists::MOST_BYTES))
        }
        Some(Ok((value, []))) => Ok(value),
        Some(Ok((_, rest))) => Err(format!("a frame has {} bytes too many", rest.len())),
        Some(Err(error)) => Err(format!("a frame of {} bytes makes no sense: {error}", bytes.len())),
    }
}

/// Sends a value.
///
/// # Errors
/// What the stream says; [`InvalidInput`](io::ErrorKind::InvalidInput) where the value is too long.
pub fn write(to: &mut impl Write, value: &impl Serialize, most: usize) -> io::Result<()> {
    let bytes = encode(value, most).map_err(|text| io::Error::new(io::ErrorKind::InvalidInput, text))?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Receives a value; nothing where the stream ends between two. Memory grows with what has come, and not with what a length
/// says.
///
/// # Errors
/// What the stream says, its end within a frame included; [`InvalidData`](io::ErrorKind::InvalidData) for a length of more
/// than `most` bytes, and for bytes that are no such value.
pub fn read<T: DeserializeOwned>(from: &mut impl Read, most: usize) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read(&mut length)? {
        0 => return Ok(None),
        begun => from.read_exact(&mut length[begun..])?,
    }
    let length = u32::from_le_bytes(length) as usize;
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    if length > most {
        return Err(invalid(format!("a frame says that it has {length} bytes, and at most {most} are taken")));
    }
    let mut bytes = Vec::new();
    from.by_ref().take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        let text = format!("a frame of {length} bytes ends after {}", bytes.len());
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
    }
    decode(&bytes).map(Some).map_err(invalid)
}
