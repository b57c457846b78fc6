//! How a connection begins: both sides prove that they know the token, and neither says it.
//!
//! A viewer says a random number, and the program answers with one of its own and a keyed hash of both, whose key is the token.
//! The viewer compares it, and proves itself by a hash of its own. Who listens at the port of a run that is over learns nothing
//! that opens the next one. Whoever relays between both sides can read and steer. The magic, the version and the length of the first words are the same in all versions, so that
//! sides that differ can say so.

use std::io::{self, ErrorKind, Read, Write};

use blake3::{Hash, Hasher};

use super::VERSION;

/// What both sides say first.
const MAGIC: [u8; 8] = *b"zippydbg";
/// Digits of a token.
pub const TOKEN_DIGITS: usize = 32;
/// Bytes of a side's random number, and of a proof.
pub(crate) const NUMBER_BYTES: usize = 32;
/// Bytes of a viewer's greeting: the magic, its version, its number.
pub const GREETING_BYTES: usize = 8 + 2 + NUMBER_BYTES;
/// Bytes of what a program makes of it: the magic, its version, a code.
const RECEPTION_BYTES: usize = 8 + 2 + 1;

/// What a program makes of a viewer.
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
    /// Its proof is waited for; the program's number and proof follow.
    Challenge,
}

impl Reception {
    fn code(self) -> u8 {
        match self {
            Self::Welcome => 0,
            Self::OtherVersion => 1,
            Self::WrongToken => 2,
            Self::Full => 3,
            Self::Challenge => 4,
        }
    }
}

/// A side that proves itself; what one has proved the other cannot repeat as its own proof.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    Program,
    Viewer,
}

/// What a side says to prove that it knows the token, for these numbers of the viewer and of the program. Compared in a time
/// that does not tell how much of it is right.
pub(crate) fn proof(side: Side, token: &str, [viewer, program]: [&[u8; NUMBER_BYTES]; 2]) -> Hash {
    let key = blake3::derive_key("Zippy, token of a viewer", token.as_bytes());
    let mut hasher = Hasher::new_keyed(&key);
    let side = match side {
        Side::Program => 0,
        Side::Viewer => 1,
    };
    hasher.update(&[side]).update(&VERSION.to_le_bytes()).update(viewer).update(program);
    hasher.finalize()
}

fn random() -> io::Result<[u8; NUMBER_BYTES]> {
    let mut number = [0; NUMBER_BYTES];
    getrandom::fill(&mut number)
        .map_err(|error| io::Error::other(format!("the system gives no random number: {error}")))?;
    Ok(number)
}

/// What a viewer says first: its version and its number.
pub(crate) fn greeting(number: &[u8; NUMBER_BYTES]) -> [u8; GREETING_BYTES] {
    let mut bytes = [0; GREETING_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
    bytes[10..].copy_from_slice(number);
    bytes
}

/// The program's number and its proof, behind [`Reception::Challenge`].
pub(crate) fn challenge(token: &str, numbers: [&[u8; NUMBER_BYTES]; 2]) -> [u8; RECEPTION_BYTES + 2 * NUMBER_BYTES] {
    let mut bytes = [0; RECEPTION_BYTES + 2 * NUMBER_BYTES];
    bytes[..RECEPTION_BYTES].copy_from_slice(&reception_bytes(Reception::Challenge));
    bytes[RECEPTION_BYTES..][..NUMBER_BYTES].copy_from_slice(numbers[1]);
    bytes[RECEPTION_BYTES + NUMBER_BYTES..].copy_from_slice(proof(Side::Program, token, numbers).as_bytes());
    bytes
}

fn reception_bytes(reception: Reception) -> [u8; RECEPTION_BYTES] {
    let mut bytes = [0; RECEPTION_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
    bytes[10] = reception.code();
    bytes
}

/// Says what is made of a viewer.
///
/// # Errors
/// What the stream says.
pub fn answer(to: &mut impl Write, reception: Reception) -> io::Result<()> {
    to.write_all(&reception_bytes(reception))?;
    to.flush()
}

/// Hears a viewer's greeting and its proof, of a program with this token. [`Reception::Welcome`], which is still to be said: the
/// viewer knows the token, and knows that the program does. Every other one has been said.
///
/// # Errors
/// What the stream says; [`InvalidData`](ErrorKind::InvalidData) for what is no greeting at all.
pub fn receive(stream: &mut (impl Read + Write), token: &str) -> io::Result<Reception> {
    let mut bytes = [0; GREETING_BYTES];
    stream.read_exact(&mut bytes)?;
    let (magic, viewer) = (&bytes[..8], std::array::from_fn(|at| bytes[10 + at]));
    if *magic != MAGIC {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is no greeting of a viewer"));
    }
    if bytes[8..10] != VERSION.to_le_bytes() {
        answer(stream, Reception::OtherVersion)?;
        return Ok(Reception::OtherVersion);
    }
    let program = random()?;
    let numbers = [&viewer, &program];
    stream.write_all(&challenge(token, numbers))?;
    stream.flush()?;
    let mut proved = [0; NUMBER_BYTES];
    stream.read_exact(&mut proved)?;
    if proof(Side::Viewer, token, numbers) == proved {
        return Ok(Reception::Welcome);
    }
    answer(stream, Reception::WrongToken)?;
    Ok(Reception::WrongToken)
}

/// Greets a program, proves that this viewer knows the token where the program has proved that it does, and waits for what the
/// program makes of it.
///
/// # Errors
/// What the stream says; in words why the program does not listen, or is not believed: [`ResourceBusy`](ErrorKind::ResourceBusy)
/// where it has as many viewers as it takes, else [`ConnectionRefused`](ErrorKind::ConnectionRefused).
pub fn greet(stream: &mut (impl Read + Write), token: &str) -> io::Result<()> {
    let viewer = random()?;
    stream.write_all(&greeting(&viewer))?;
    stream.flush()?;
    let refused = |text: &str| Err(io::Error::new(ErrorKind::ConnectionRefused, text));
    if heard(stream)? != Reception::Challenge.code() {
        return refused("what answers there has not proved that it knows the token");
    }
    let mut theirs = [[0; NUMBER_BYTES]; 2];
    stream.read_exact(theirs.as_flattened_mut())?;
    let [program, proved] = theirs;
    let numbers = [&viewer, &program];
    if proof(Side::Program, token, numbers) != proved {
        return refused("the token is not the one that the program there has printed");
    }
    stream.write_all(proof(Side::Viewer, token, numbers).as_bytes())?;
    stream.flush()?;
    match heard(stream)? {
        0 => Ok(()),
        code => refused(&format!("the program does not listen and says only {code}")),
    }
}

/// The code of what a program makes of this viewer, where that is no refusal.
fn heard(stream: &mut impl Read) -> io::Result<u8> {
    let mut bytes = [0; RECEPTION_BYTES];
    stream.read_exact(&mut bytes)?;
    let refused = |text: String| Err(io::Error::new(ErrorKind::ConnectionRefused, text));
    if bytes[..8] != MAGIC {
        return refused("what answers there is no program of Zippy's".into());
    }
    match bytes[10] {
        1 => {
            let theirs = u16::from_le_bytes([bytes[8], bytes[9]]);
            refused(format!(
                "the program speaks version {theirs} of the protocol and this viewer version {VERSION}: build both from one \
                 release"
            ))
        }
        2 => refused("the token is not the one that the program has printed".into()),
        3 => Err(io::Error::new(ErrorKind::ResourceBusy, "as many viewers are connected as the program takes")),
        code @ (0 | 4) => Ok(code),
        code => refused(format!("the program does not listen and says only {code}")),
    }
}
