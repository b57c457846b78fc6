//! Start of a connection: both sides prove their knowledge of the token without sending it.
//!
//! A viewer sends a random number. The program replies with its own random number and a keyed hash
//! of both, with the token as the key. The viewer verifies this hash and sends its own. So another
//! process that listens at the port of a finished run learns nothing that gives access to a later
//! run. A relay between both sides can read and change the messages. The magic, the version and the
//! length of the first messages are the same in all versions, so that sides of different versions
//! can report the mismatch.

use std::io::{self, ErrorKind, Read, Write};

use blake3::{Hash, Hasher};

use super::VERSION;

const MAGIC: [u8; 8] = *b"zippydbg";
/// Number of hexadecimal digits of a token.
pub const TOKEN_DIGITS: usize = 32;
/// Size of a random number and of a proof, in bytes.
pub const NUMBER_BYTES: usize = 32;
/// Size of a viewer's greeting in bytes: magic, version, random number.
pub const GREETING_BYTES: usize = 8 + 2 + NUMBER_BYTES;
/// Size of a reception in bytes: magic, version, code.
const RECEPTION_BYTES: usize = 8 + 2 + 1;

/// Reply of a program to a viewer's greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reception {
    /// Accepted; a frame with the [`Program`](super::Program) follows.
    Welcome,
    /// The versions differ.
    OtherVersion,
    /// The token is wrong.
    WrongToken,
    /// The maximum number of viewers is connected.
    Full,
    /// The program waits for the viewer's proof; the program's random number and proof follow.
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

/// Side of a connection that proves its knowledge of the token. Proofs of the sides differ, so
/// neither can repeat the other's.
#[derive(Debug, Clone, Copy)]
pub enum Side {
    /// The program.
    Program,
    /// The viewer.
    Viewer,
}

/// Proof that a side knows the token, for the random numbers of the viewer and of the program.
/// `Hash` compares in constant time.
pub fn proof(side: Side, token: &str, [viewer, program]: [&[u8; NUMBER_BYTES]; 2]) -> Hash {
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

/// Greeting of a viewer: its version and random number.
pub fn greeting(number: &[u8; NUMBER_BYTES]) -> [u8; GREETING_BYTES] {
    let mut bytes = [0; GREETING_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
    bytes[10..].copy_from_slice(number);
    bytes
}

/// Bytes after [`Reception::Challenge`]: the program's random number and proof.
pub fn challenge(token: &str, numbers: [&[u8; NUMBER_BYTES]; 2]) -> [u8; RECEPTION_BYTES + 2 * NUMBER_BYTES] {
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

/// Sends a reception to a viewer.
///
/// # Errors
/// Errors of the stream.
pub fn answer(to: &mut impl Write, reception: Reception) -> io::Result<()> {
    to.write_all(&reception_bytes(reception))?;
    to.flush()
}

/// Receives a viewer's greeting and proof, for a program with this token. [`Reception::Welcome`]
/// means that both sides have proved their knowledge of the token; the caller must still send it.
/// All other receptions have been sent.
///
/// # Errors
/// Errors of the stream; [`InvalidData`](ErrorKind::InvalidData) for bytes that are not a greeting.
pub fn receive(stream: &mut (impl Read + Write), token: &str) -> io::Result<Reception> {
    let mut bytes = [0; GREETING_BYTES];
    stream.read_exact(&mut bytes)?;
    let (magic, viewer) = (&bytes[..8], std::array::from_fn(|at| bytes[10 + at]));
    if *magic != MAGIC {
        return Err(io::Error::new(ErrorKind::InvalidData, "not a greeting of a viewer"));
    }
    if bytes[8..10] != VERSION.to_le_bytes() {
        answer(stream, Reception::OtherVersion)?;
        return Ok(Reception::OtherVersion);
    }
    let program = random()?;
    let numbers = [&viewer, &program];
    stream.write_all(&challenge(token, numbers))?;
    stream.flush()?;
    let mut received_proof = [0; NUMBER_BYTES];
    stream.read_exact(&mut received_proof)?;
    if proof(Side::Viewer, token, numbers) == received_proof {
        return Ok(Reception::Welcome);
    }
    answer(stream, Reception::WrongToken)?;
    Ok(Reception::WrongToken)
}

/// Greets a program as a viewer: verifies the program's proof, then sends its own, and waits for
/// the reception.
///
/// # Errors
/// Errors of the stream, and refusals by either side: [`ResourceBusy`](ErrorKind::ResourceBusy) if
/// the maximum number of viewers is connected, otherwise
/// [`ConnectionRefused`](ErrorKind::ConnectionRefused).
pub fn greet(stream: &mut (impl Read + Write), token: &str) -> io::Result<()> {
    let viewer = random()?;
    stream.write_all(&greeting(&viewer))?;
    stream.flush()?;
    let refused = |text: &str| Err(io::Error::new(ErrorKind::ConnectionRefused, text));
    if receive_code(stream)? != Reception::Challenge.code() {
        return refused("the program at this address has not proved that it knows the token");
    }
    let mut reply = [[0; NUMBER_BYTES]; 2];
    stream.read_exact(reply.as_flattened_mut())?;
    let [program, received_proof] = reply;
    let numbers = [&viewer, &program];
    if proof(Side::Program, token, numbers) != received_proof {
        return refused("the token is not the one that the program there has printed");
    }
    stream.write_all(proof(Side::Viewer, token, numbers).as_bytes())?;
    stream.flush()?;
    match receive_code(stream)? {
        0 => Ok(()),
        code => refused(&format!("the program refuses the viewer with the unknown code {code}")),
    }
}

/// Reads a reception and returns its code, unless it is a refusal.
fn receive_code(stream: &mut impl Read) -> io::Result<u8> {
    let mut bytes = [0; RECEPTION_BYTES];
    stream.read_exact(&mut bytes)?;
    let refused = |text: String| Err(io::Error::new(ErrorKind::ConnectionRefused, text));
    if bytes[..8] != MAGIC {
        return refused("the server at this address is no program of Zippy's".into());
    }
    match bytes[10] {
        1 => {
            let reply = u16::from_le_bytes([bytes[8], bytes[9]]);
            refused(format!(
                "the program speaks version {reply} of the protocol and this viewer version {VERSION}: build both from one \
                 release"
            ))
        }
        2 => refused("the token is not the one that the program has printed".into()),
        3 => Err(io::Error::new(ErrorKind::ResourceBusy, "as many viewers are connected as the program takes")),
        code @ (0 | 4) => Ok(code),
        code => refused(format!("the program refuses the viewer with the unknown code {code}")),
    }
}
