//! Bytes out of gzip members, one after the other.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;

use super::source::Bytes;

/// A stretch of so many compressed bytes out of which nothing comes is an error. The longest header that makes sense has
/// 64 KiB.
const FRUITLESS: u64 = 1 << 20;

/// Somewhere in the members.
pub struct Gunzip {
    members: MultiGzDecoder<Watched>,
}

impl Gunzip {
    pub fn new(bytes: Box<dyn Bytes>) -> Self {
        Self { members: MultiGzDecoder::new(Watched { bytes, fruitless: 0 }) }
    }

    /// The byte of the file that comes next.
    pub fn position(&self) -> u64 {
        self.members.get_ref().bytes.position()
    }

    /// Some of the next bytes; none at the end of the last member.
    pub fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.members.read(out)?;
        if got > 0 {
            self.members.get_mut().fruitless = 0;
        }
        Ok(got)
    }
}

/// Compressed bytes that must bear fruit: members may be empty, but not a file full of them.
struct Watched {
    bytes: Box<dyn Bytes>,
    /// Bytes taken since the last one came out.
    fruitless: u64,
}

impl Read for Watched {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.fill_buf()?.read(out)?;
        self.consume(got);
        Ok(got)
    }
}

impl BufRead for Watched {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.fruitless > FRUITLESS {
            let message = format!("more than {FRUITLESS} bytes of empty members or headers");
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        self.bytes.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.fruitless += count as u64;
        self.bytes.consume(count);
    }
}
