//! Decompression of consecutive gzip members.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::GzDecoder;

use super::source::Bytes;

/// Maximum compressed bytes without output. The longest useful header has 64 KiB.
const MAX_BYTES_WITHOUT_OUTPUT: u64 = 1 << 20;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

pub(super) struct Gunzip {
    member: Member,
    /// True if other bytes may follow the members.
    open_ended: bool,
    /// Number of zeros after the members.
    pub zeros: u64,
    /// True if bytes other than zeros follow the members.
    pub is_followed: bool,
}

enum Member {
    Open(Box<GzDecoder<LimitedBytes>>),
    Ended(LimitedBytes),
}

impl Gunzip {
    pub(super) fn new(bytes: Box<dyn Bytes>, open_ended: bool) -> Self {
        let first = GzDecoder::new(LimitedBytes::new(bytes));
        Self { member: Member::Open(Box::new(first)), open_ended, zeros: 0, is_followed: false }
    }

    fn limited(&self) -> &LimitedBytes {
        match &self.member {
            Member::Open(member) => member.get_ref(),
            Member::Ended(limited) => limited,
        }
    }

    /// Offset of the next byte in the file.
    pub(super) fn position(&self) -> u64 {
        let limited = self.limited();
        limited.bytes.position() - u64::from(limited.is_put_back)
    }

    /// Reads some of the next bytes; none at the end of the last member. Zeros may follow: tapes
    /// and disks are padded with them, and `gzip` ignores them.
    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let Member::Open(member) = &mut self.member else { return Ok(0) };
            let got = member.read(out)?;
            if got > 0 || out.is_empty() {
                member.get_mut().bytes_without_output = 0;
                return Ok(got);
            }
            let begins = member.get_mut().begins_member()?;
            let placeholder = Member::Ended(LimitedBytes::new(Box::new(EmptySource)));
            let Member::Open(member) = std::mem::replace(&mut self.member, placeholder) else { return Ok(0) };
            let mut limited = member.into_inner();
            self.member = if begins {
                let mut member = GzDecoder::new(limited);
                if self.open_ended && has_bad_header(&mut member)? {
                    self.is_followed = true;
                    Member::Ended(member.into_inner())
                } else {
                    Member::Open(Box::new(member))
                }
            } else {
                (self.zeros, self.is_followed) = limited.skip_zeros()?;
                Member::Ended(limited)
            };
            if self.is_followed && !self.open_ended {
                return Err(io::Error::new(ErrorKind::InvalidData, "other bytes than zeros follow the last member"));
            }
        }
    }
}

fn has_bad_header(member: &mut GzDecoder<LimitedBytes>) -> io::Result<bool> {
    if member.header().is_some() {
        return Ok(false);
    }
    // The decoder returns a header error from the first read.
    match member.read(&mut []) {
        Ok(_) => Ok(false),
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::UnexpectedEof) => Ok(true),
        Err(error) => Err(error),
    }
}

struct EmptySource;

impl Read for EmptySource {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl BufRead for EmptySource {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(&[])
    }

    fn consume(&mut self, _: usize) {}
}

impl Bytes for EmptySource {
    fn seek(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn position(&self) -> u64 {
        0
    }
}

/// Compressed bytes with a limit on the bytes without output: empty members are allowed, but not a
/// file full of them.
struct LimitedBytes {
    bytes: Box<dyn Bytes>,
    bytes_without_output: u64,
    /// True if the first byte of [`MAGIC`] was consumed from `bytes` and is returned next.
    is_put_back: bool,
}

impl LimitedBytes {
    fn new(bytes: Box<dyn Bytes>) -> Self {
        Self { bytes, bytes_without_output: 0, is_put_back: false }
    }

    /// True if the next bytes are [`MAGIC`], without consuming them.
    fn begins_member(&mut self) -> io::Result<bool> {
        if self.fill_buf()?.first() != Some(&MAGIC[0]) {
            return Ok(false);
        }
        // A buffer may end between the two bytes.
        self.bytes.consume(1);
        self.is_put_back = true;
        Ok(self.bytes.fill_buf()?.first() == Some(&MAGIC[1]))
    }

    /// Skips zeros; returns their number, and true if another byte follows.
    fn skip_zeros(&mut self) -> io::Result<(u64, bool)> {
        let mut all = 0;
        if self.is_put_back {
            return Ok((all, true));
        }
        loop {
            let buffer = self.bytes.fill_buf()?;
            let zeros = buffer.iter().take_while(|&&byte| byte == 0).count();
            let (is_over, is_followed) = (buffer.is_empty(), zeros < buffer.len());
            self.bytes.consume(zeros);
            all += zeros as u64;
            if is_over || is_followed {
                return Ok((all, is_followed));
            }
        }
    }
}

impl Read for LimitedBytes {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.fill_buf()?.read(out)?;
        self.consume(got);
        Ok(got)
    }
}

impl BufRead for LimitedBytes {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.bytes_without_output > MAX_BYTES_WITHOUT_OUTPUT {
            let message = format!("more than {MAX_BYTES_WITHOUT_OUTPUT} bytes of empty members or headers");
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        if self.is_put_back { Ok(&MAGIC[..1]) } else { self.bytes.fill_buf() }
    }

    fn consume(&mut self, count: usize) {
        self.bytes_without_output += count as u64;
        if self.is_put_back && count > 0 {
            self.is_put_back = false;
        } else {
            self.bytes.consume(count);
        }
    }
}
