//! How a connection begins: the same in all versions, so that those that differ can say so.

use std::io::{self, Read, Write};

use super::VERSION;

/// What both sides say first.
const MAGIC: [u8; 8] = *b"zippydbg";
/// Digits of a token.
pub const TOKEN_DIGITS: usize = 32;
/// Bytes of a viewer's greeting: the magic, its version, the token.
pub const GREETING_BYTES: usize = 8 + 2 + TOKEN_DIGITS;

/// What a program makes of a greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reception {
    /// It is heard; [`Program`](super::Program) follows in a frame.
    Welcome,
    /// The sides are of different versions.
    OtherVersion,
    /// The token is a wrong one.
    WrongToken,
    /// As many viewers are connected as can be.
    Full,
}

impl Reception {
    fn code(self) -> u8 {
        match self {
            Self::Welcome => 0,
            Self::OtherVersion => 1,
            Self::WrongToken => 2,
            Self::Full => 3,
        }
    }
}

/// What a viewer says first: its version and the token.
pub fn greeting(token: &str) -> [u8; GREETING_BYTES] {
    let mut bytes = [0; GREETING_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
    let token = token.as_bytes();
    let length = token.len().min(TOKEN_DIGITS);
    bytes[10..10 + length].copy_from_slice(&token[..length]);
    bytes
}

/// What is to be made of a greeting, where the token is this one; none for what is no greeting at all. The time that it takes
/// does not tell how much of a token is right.
pub fn received(bytes: &[u8; GREETING_BYTES], token: &str) -> Option<Reception> {
    if bytes[..8] != MAGIC {
        return None;
    }
    if bytes[8..10] != VERSION.to_le_bytes() {
        return Some(Reception::OtherVersion);
    }
    let right = greeting(token);
    let differing = bytes.iter().zip(&right).fold(0, |differing, (one, other)| differing | (one ^ other));
    Some(if differing == 0 { Reception::Welcome } else { Reception::WrongToken })
}

/// Says what was made of a greeting.
///
/// # Errors
/// What the stream says.
pub fn answer(to: &mut impl Write, reception: Reception) -> io::Result<()> {
    let mut bytes = [0; 11];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
    bytes[10] = reception.code();
    to.write_all(&bytes)?;
    to.flush()
}

/// Greets a program and waits for what it makes of that.
///
/// # Errors
/// What the stream says; in words why the program does not listen: [`ResourceBusy`](io::ErrorKind::ResourceBusy) where it has as
/// many viewers as it takes, else [`ConnectionRefused`](io::ErrorKind::ConnectionRefused).
pub fn greet(stream: &mut (impl Read + Write), token: &str) -> io::Result<()> {
    stream.write_all(&greeting(token))?;
    stream.flush()?;
    let mut bytes = [0; 11];
    stream.read_exact(&mut bytes)?;
    let refused = |text: String| Err(io::Error::new(io::ErrorKind::ConnectionRefused, text));
    if bytes[..8] != MAGIC {
        return refused("what answers there is no program of Zippy's".into());
    }
    match bytes[10] {
        0 => Ok(()),
        1 => {
            let theirs = u16::from_le_bytes([bytes[8], bytes[9]]);
            refused(format!(
                "the program speaks version {theirs} of the protocol and this viewer version {VERSION}: build both from one \
                 release"
            ))
        }
        2 => refused("the token is not the one that the program has printed".into()),
        3 => Err(io::Error::new(io::ErrorKind::ResourceBusy, "as many viewers are connected as the program takes")),
        code => refused(format!("the program does not listen and says only {code}")),
    }
}
