//! Bytes out of gzip members, one after the other.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::GzDecoder;

use super::source::Bytes;

/// A stretch of so many compressed bytes out of which nothing comes is an error. The longest header that makes sense has
/// 64 KiB.
const FRUITLESS: u64 = 1 << 20;

/// The first bytes of a member.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Somewhere in the members.
pub struct Gunzip {
    member: Member,
    /// Whether other bytes may follow the members.
    open_ended: bool,
    /// Zeros after the members.
    pub zeros: u64,
    /// Whether other bytes than zeros follow the members.
    pub is_followed: bool,
}

enum Member {
    Open(Box<GzDecoder<Watched>>),
    /// After the last member.
    Ended(Watched),
}

impl Gunzip {
    pub fn new(bytes: Box<dyn Bytes>, open_ended: bool) -> Self {
        let first = GzDecoder::new(Watched::new(bytes));
        Self { member: Member::Open(Box::new(first)), open_ended, zeros: 0, is_followed: false }
    }

    fn watched(&self) -> &Watched {
        match &self.member {
            Member::Open(member) => member.get_ref(),
            Member::Ended(watched) => watched,
        }
    }

    /// The byte of the file that comes next.
    pub fn position(&self) -> u64 {
        let watched = self.watched();
        watched.bytes.position() - u64::from(watched.is_put_back)
    }

    /// Some of the next bytes; none at the end of the last member. Zeros may follow that: tapes and
    /// disks are filled up with them, and `gzip` itself leaves them out.
    pub fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let Member::Open(member) = &mut self.member else { return Ok(0) };
            let got = member.read(out)?;
            if got > 0 || out.is_empty() {
                member.get_mut().fruitless = 0;
                return Ok(got);
            }
            let begins = member.get_mut().begins_member()?;
            let placeholder = Member::Ended(Watched::new(Box::new(Nothing)));
            let Member::Open(member) = std::mem::replace(&mut self.member, placeholder) else { return Ok(0) };
            let mut watched = member.into_inner();
            self.member = if begins {
                let mut member = GzDecoder::new(watched);
                match self.open_ended && has_bad_header(&mut member)? {
                    true => {
                        self.is_followed = true;
                        Member::Ended(member.into_inner())
                    }
                    false => Member::Open(Box::new(member)),
                }
            } else {
                (self.zeros, self.is_followed) = watched.zeros()?;
                Member::Ended(watched)
            };
            if self.is_followed && !self.open_ended {
                return Err(io::Error::new(ErrorKind::InvalidData, "other bytes than zeros follow the last member"));
            }
        }
    }
}

/// True if the bytes at the beginning of a member are no header.
fn has_bad_header(member: &mut GzDecoder<Watched>) -> io::Result<bool> {
    if member.header().is_some() {
        return Ok(false);
    }
    // A decoder returns the error of its header from the first read.
    match member.read(&mut []) {
        Ok(_) => Ok(false),
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::UnexpectedEof) => Ok(true),
        Err(error) => Err(error),
    }
}

/// No bytes.
struct Nothing;

impl Read for Nothing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl BufRead for Nothing {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(&[])
    }

    fn consume(&mut self, _: usize) {}
}

impl Bytes for Nothing {
    fn seek(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn position(&self) -> u64 {
        0
    }
}

/// Compressed bytes that must bear fruit: members may be empty, but not a file full of them.
struct Watched {
    bytes: Box<dyn Bytes>,
    /// Bytes taken since the last one came out.
    fruitless: u64,
    /// True if the first byte of [`MAGIC`] comes next, which was taken out of `bytes`.
    is_put_back: bool,
}

impl Watched {
    fn new(bytes: Box<dyn Bytes>) -> Self {
        Self { bytes, fruitless: 0, is_put_back: false }
    }

    /// True if the next bytes are [`MAGIC`]. They stay to be read.
    fn begins_member(&mut self) -> io::Result<bool> {
        if self.fill_buf()?.first() != Some(&MAGIC[0]) {
            return Ok(false);
        }
        // A buffer may end between the two bytes.
        self.bytes.consume(1);
        self.is_put_back = true;
        Ok(self.bytes.fill_buf()?.first() == Some(&MAGIC[1]))
    }

    /// Goes through the zeros that follow: how many, and whether something else comes then.
    fn zeros(&mut self) -> io::Result<(u64, bool)> {
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
        if self.is_put_back { Ok(&MAGIC[..1]) } else { self.bytes.fill_buf() }
    }

    fn consume(&mut self, count: usize) {
        self.fruitless += count as u64;
        if self.is_put_back && count > 0 {
            self.is_put_back = false;
        } else {
            self.bytes.consume(count);
        }
    }
}
