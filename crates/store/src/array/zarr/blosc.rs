//! Decoder of Blosc 1 buffers.
//!
//! Format: a header of 16 bytes, the offset of each block, and the blocks. A block is one stream,
//! or one stream per byte of a number; a 4-byte length precedes each stream. A stream whose length
//! equals its decoded length is not compressed. Before compression, Blosc sorts the bytes or bits
//! of a block by their position in a number.

use zippy_files::memory::reserved;

use super::decompress::{inflate, lz4_block, max_decompressed_size, unzstd};

const HEADER: usize = 16;

const SHUFFLED: u8 = 1;
const STORED: u8 = 2;
const BITS_SHUFFLED: u8 = 4;
const UNSPLIT: u8 = 16;

/// Maximum short distance of BloscLZ; it marks a long one.
const LONG_DISTANCE: usize = 8191;

pub(super) fn decode(encoded: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let buffer = BloscBuffer::new(encoded)?;
    if buffer.bytes as u64 > most {
        return Err(format!("damaged: it unpacks to {} bytes, of at most {most}", buffer.bytes));
    }
    if buffer.flags & STORED != 0 {
        let stored = encoded[HEADER..].get(..buffer.bytes);
        return stored.map(<[u8]>::to_vec).ok_or_else(|| damaged("its bytes end early"));
    }
    let mut out = Vec::new();
    for number in 0..buffer.bytes.div_ceil(buffer.block_bytes) {
        let bytes = buffer.block_bytes.min(buffer.bytes - out.len());
        let block = buffer.block(number, bytes)?;
        out.try_reserve(bytes).map_err(|_| format!("no memory for {} bytes", buffer.bytes))?;
        buffer.unshuffle(&block, &mut out);
    }
    Ok(out)
}

fn damaged(what: &str) -> String {
    format!("damaged: Blosc: {what}")
}

struct BloscBuffer<'a> {
    all: &'a [u8],
    flags: u8,
    number_bytes: usize,
    bytes: usize,
    block_bytes: usize,
}

impl<'a> BloscBuffer<'a> {
    fn new(all: &'a [u8]) -> Result<Self, String> {
        let (Some(&[version, _, flags, number_bytes]), true) = (all.first_chunk(), all.len() >= HEADER) else {
            return Err(damaged("shorter than its header"));
        };
        if version != 2 {
            return Err(format!("a Blosc buffer of version {version} is not read; version 2 is, which Blosc 1 writes"));
        }
        let length = |at: usize| word(all, at).ok_or_else(|| damaged("shorter than its header"));
        let (bytes, block_bytes, length) = (length(4)?, length(8)?, length(12)?);
        if length > all.len() || bytes > 0 && (block_bytes == 0 || number_bytes == 0) {
            return Err(damaged("its header has impossible lengths"));
        }
        Ok(Self { all: &all[..length.max(HEADER)], flags, number_bytes: number_bytes.into(), bytes, block_bytes })
    }

    fn block(&self, number: usize, bytes: usize) -> Result<Vec<u8>, String> {
        let start = word(self.all, HEADER + 4 * number).ok_or_else(|| damaged("its list of blocks ends early"))?;
        let is_split = self.flags & UNSPLIT == 0 && bytes == self.block_bytes;
        let streams = if is_split { self.number_bytes } else { 1 };
        let (mut at, mut out) = (start, Vec::new());
        for _ in 0..streams {
            let length = word(self.all, at).ok_or_else(|| damaged("a block begins after the end"))?;
            let stream = at.checked_add(4 + length).and_then(|end| self.all.get(at + 4..end));
            let stream = stream.ok_or_else(|| damaged("a block reaches beyond the end"))?;
            let decoded_bytes = bytes / streams;
            if length == decoded_bytes {
                out.extend_from_slice(stream)
            } else {
                self.stream(stream, decoded_bytes, &mut out)?
            }
            at += 4 + length;
        }
        if out.len() == bytes {
            Ok(out)
        } else {
            Err(damaged(&format!("a block has {} bytes and not {bytes}", out.len())))
        }
    }

    fn stream(&self, stream: &[u8], decoded_bytes: usize, out: &mut Vec<u8>) -> Result<(), String> {
        if decoded_bytes as u64 > max_decompressed_size(stream.len()) {
            return Err(damaged(&format!("{} bytes do not unpack to {decoded_bytes}", stream.len())));
        }
        let unpacked = match self.flags >> 5 {
            0 => decode_blosclz(stream, decoded_bytes),
            1 => lz4_block(stream, decoded_bytes as u64),
            3 => inflate(flate2::read::ZlibDecoder::new(stream), stream.len(), decoded_bytes as u64),
            4 => unzstd(stream, decoded_bytes as u64),
            2 => return Err("Blosc with Snappy is not read; with BloscLZ, LZ4, Zlib and Zstandard it is".into()),
            other => return Err(damaged(&format!("there is no compressor {other}"))),
        };
        let unpacked = unpacked.map_err(|error| damaged(&error))?;
        if unpacked.len() != decoded_bytes {
            return Err(damaged(&format!("a stream has {} bytes and not {decoded_bytes}", unpacked.len())));
        }
        out.try_reserve(decoded_bytes).map_err(|_| format!("no memory for {decoded_bytes} bytes"))?;
        out.extend_from_slice(&unpacked);
        Ok(())
    }

    /// Appends the bytes of a decompressed block to `out` in the order of the numbers.
    fn unshuffle(&self, block: &[u8], out: &mut Vec<u8>) {
        let size = self.number_bytes;
        let numbers = block.len() / size;
        let sorted = numbers * size;
        if self.flags & SHUFFLED != 0 && size > 1 {
            out.extend((0..sorted).map(|at| block[at % size * numbers + at / size]));
        } else if self.flags & BITS_SHUFFLED != 0 && numbers.is_multiple_of(8) {
            // Row `bit` has that bit of all numbers.
            let row = numbers / 8;
            let bit = |number: usize, bit: usize| block[bit * row + number / 8] >> (number % 8) & 1;
            let byte = |at: usize| (0..8).fold(0, |byte, k| byte | bit(at / size, at % size * 8 + k) << k);
            out.extend((0..sorted).map(byte));
        } else {
            out.extend_from_slice(&block[..sorted]);
        }
        out.extend_from_slice(&block[sorted..]);
    }
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(4)?)?.first_chunk()?;
    i32::from_le_bytes(*word).try_into().ok()
}

/// Decodes BloscLZ: literal runs and copies of earlier output.
fn decode_blosclz(stream: &[u8], decoded_bytes: usize) -> Result<Vec<u8>, String> {
    let mut out = reserved(decoded_bytes as u64)?;
    let mut bytes = stream.iter().map(|&byte| usize::from(byte));
    let mut next = || bytes.next().ok_or("a stream ends early");
    // The first control byte has only the length of a literal run.
    let mut control = Ok(next()? & 31);
    while let Ok(code) = control {
        if code < 32 {
            for _ in 0..=code {
                out.push(next()? as u8);
            }
        } else {
            let (mut length, high) = ((code >> 5) - 1, code & 31);
            while length >= 6 {
                let more = next()?;
                length += more;
                if more < 255 {
                    break;
                }
            }
            let low = next()?;
            let distance = match high << 8 | low {
                LONG_DISTANCE => LONG_DISTANCE + (next()? << 8) + next()?,
                near => near,
            };
            let from = out.len().checked_sub(distance + 1).ok_or("a stream refers to what is before it")?;
            (from..from + length + 3).for_each(|at| out.push(out[at]));
        }
        if out.len() > decoded_bytes {
            return Err(format!("a stream has more than {decoded_bytes} bytes"));
        }
        control = next();
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    /// 1000 numbers of two bytes in blocks of several sizes, written by numcodecs 0.16: compressor
    /// and shuffle (1 bytes, 2 bits), and the buffer.
    #[rustfmt::skip]
    const BUFFERS: [(&str, &str); 4] = [
        ("blosclz, 1", "AgEBAtAHAADQBwAAXQEAABQAAADDAAAAJAEAAAAA4CMAAQAB4CQABAECAQEC4CcAAQID4CEABwMEAwMDAwME4CcAAQQF4B4AAQUGoCgBBQbgJwABBgfgGwABBwjgASUBBwjgJwABCAngGAABCQrgBCIBCQrgJwABCgvgFQABCwzgBx8BCwzgJwABDA3gEgABDQ7gChwBDQ7gJwABDg/gDwABDxDgDRkBDxDgJwABEBHgDAABERLgDBYFERERERES4CcAARIT4AkAARMU4AkTChMTExMTExMTExMTfgAAACMAAAAA4CQDAQAB4CcAAQEC4CcAAQID4CcAAQME4CcAAQQF4CcAAQUG4CcAAQYH4CcAAQcI4CcAAQgJ4CcAAQkK4CcAAQoL4CcAAQsM4CcAAQwN4CcAAQ0O4CcAAQ4P4CcAAQ8Q4CcAARAR4CcAARES4CcAARIT4CUAAhMTEw=="),
        ("lz4, 2", "AgEkAtAHAADQBwAAUwEAABQAAADLAAAAIAEAAQAg/P8BABANCwAgAMALACH/+wwAAhkAIfcPDQABGQAh7/8MAAEZACbf/xkAJr//GQAnf/8ZABf+GQAX/RkAJPv/GQACAgAR8ncAAgIAA30AAQIAIgjwFAAAAgAEfQAAAgAmIAAZAAV9AFcAAACAABkABX0ARwAAAAIZAAx9AAgCABAEagAPAgAACH0ACAIAP0AAAC4AAAt9AAgCABgEDQAPAgAUHxBkAAQPAgAGCPoADwIAXh8BEwEFC/QBDwIA/1RQAAAAAABsAAAAEQABACD8/wEAEQ8MABDACwAh//8MAA8ZAFICAgAQ8HUABAIAAhMAAgIADxkAUQkCAASFAA0CAAkmAAgCAA0qAAQCAAglAA8CACwEUwAPAgAXD3EALA8CACsPpwAGD1cAKw8CAP8iUAAAAAAA"),
        ("zlib, 0", "AgFgAtAHAADQBwAAgQAAABQAAAAxAAAAeNpjZKA9YKQpYIKQdADMNAIsyGw6AFaqAzZMEToAdioCDlzidACcVAFceGUB2GcRmzQAAAB42r3KyREAIAgDwD+egP3Xagshjtn3mv3XHnXkCAzaxKfAIuzqF/CScEYIJOgk7wI4YDiq"),
        ("zstd, 2", "AgGUAtAHAAAABAAA7wAAABgAAACAAAAAZAAAACi1L/1gAAPVAgDCgwoT0GcOAPp7BxRWAAAAcIz2DVU7Bde1am6xU7Ck0UmETEpIh1gyHX+o+UAaoFAEZqgOgK9MBwwDVJVam5pCRwq/lakLVkD1x0taZaiAQSBEyIIB5iDe9aZrAAAAKLUv/WDQAg0DAGLECg/gbSJ7MjUAwEMFfO3snQLT+KN7B+727sTd3pEqtOnO3Kdi7cbldZ+ju7sYoFAYBdkyB0BTQXnPdQroEpj8WEajiAJjPBzp2FvKIHYSL3R+2TdghDQJdoM3ipO8Sgo="),
    ];

    fn numbers() -> Vec<u8> {
        (0..1000_u16).flat_map(|i| (i / 50 * 257 + u16::from(i.is_multiple_of(97))).to_le_bytes()).collect()
    }

    fn buffers() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
        BUFFERS.into_iter().map(|(name, text)| (name, BASE64_STANDARD.decode(text).unwrap()))
    }

    #[test]
    fn buffers_of_numcodecs_are_decoded() {
        let numbers = numbers();
        for (name, buffer) in buffers() {
            assert!(decode(&buffer, 2000).as_ref() == Ok(&numbers), "{name}");
            assert!(decode(&buffer, 1999).unwrap_err().contains("unpacks to 2000 bytes"), "{name}");
        }
        let stored = [&[2, 1, 0x21 | STORED, 2, 4, 0, 0, 0, 4, 0, 0, 0, 20, 0, 0, 0][..], b"1234"].concat();
        assert_eq!(decode(&stored, 4).unwrap(), b"1234");
        assert!(decode(&stored[..19], 4).unwrap_err().contains("impossible lengths"));
    }

    #[test]
    fn damaged_buffers_give_bounded_output_or_an_error() {
        let mut random = 1_u64;
        for (name, buffer) in buffers() {
            for end in 0..buffer.len() {
                decode(&buffer[..end], 2000).expect_err(name);
            }
            for _ in 0..2000 {
                let mut changed = buffer.clone();
                for _ in 0..1 + random % 3 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let at = (random >> 33) as usize % buffer.len();
                    changed[at] = (random >> 24) as u8;
                }
                let found = decode(&changed, 2000);
                assert!(found.is_err() || found.is_ok_and(|bytes| bytes.len() <= 2000), "{name}");
            }
        }
    }
}
