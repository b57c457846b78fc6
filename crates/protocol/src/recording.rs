//! Recordings: files of the debug points of a run.
//!
//! A file begins with `zippyrec` and the version of the protocol as a little-endian `u16`. Each
//! entry has its length and the CRC-32 of its bytes, as little-endian `u32`, and a [`Recorded`]
//! value in postcard's encoding. A truncated file is readable up to its last complete entry.

use std::io::{self, Read, Seek, SeekFrom, Write};

use super::{FIRST_RECORDED_VERSION, Recorded, VERSION, frame};

const MAGIC: [u8; 8] = *b"zippyrec";

/// Start of the text of [`Recorded::End`] if the size limit ended the recording before the end of
/// the run.
pub const LIMIT_REACHED: &str = "the recording has reached its limit";

/// Maximum number of views of an array at a debug point. Ghost cells of arrays with more chunks are
/// not recorded: each chunk takes a separate gather.
pub const MOST_VIEWS: usize = 256;

/// Writer of a recording. Each entry is written by one call.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    bytes: u64,
    /// Unwritten entries, between [`hold`](Self::hold) and [`release`](Self::release).
    held: Option<Vec<u8>>,
}

impl<W: Write> Writer<W> {
    /// Starts a recording.
    ///
    /// # Errors
    /// Errors of the stream.
    pub fn new(mut to: W) -> io::Result<Self> {
        to.write_all(&MAGIC)?;
        to.write_all(&VERSION.to_le_bytes())?;
        Ok(Self { to, bytes: MAGIC.len() as u64 + 2, held: None })
    }

    /// Size of the recording so far in bytes, with the held entries.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds an entry to the recording.
    ///
    /// # Errors
    /// Errors of the stream; [`InvalidInput`](io::ErrorKind::InvalidInput) for an entry of more
    /// than [`MOST_TOLD`](frame::MOST_TOLD) bytes.
    pub fn add(&mut self, entry: &Recorded) -> io::Result<()> {
        self.add_within(entry, u64::MAX).map(drop)
    }

    /// Adds an entry if the recording then has at most `most` bytes, else returns `false`.
    ///
    /// # Errors
    /// The errors of [`add`](Self::add).
    pub fn add_within(&mut self, entry: &Recorded, most: u64) -> io::Result<bool> {
        let mut bytes = frame::encode(entry, frame::MOST_TOLD)
            .map_err(|text| io::Error::new(io::ErrorKind::InvalidInput, format!("an entry: {text}")))?;
        let checksum = crc32fast::hash(&bytes[4..]);
        bytes.splice(4..4, checksum.to_le_bytes());
        let length = self.bytes.saturating_add(bytes.len() as u64);
        if length > most {
            return Ok(false);
        }
        match &mut self.held {
            Some(held) => held.append(&mut bytes),
            None => {
                self.to.write_all(&bytes)?;
                self.to.flush()?;
            }
        }
        self.bytes = length;
        Ok(true)
    }

    /// Keeps entries in memory until [`release`](Self::release) or [`discard`](Self::discard), so
    /// that a reader of the stream sees all of them or none.
    pub fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    /// Writes the held entries.
    ///
    /// # Errors
    /// Errors of the stream.
    pub fn release(&mut self) -> io::Result<()> {
        let Some(held) = self.held.take() else { return Ok(()) };
        self.to.write_all(&held)?;
        self.to.flush()
    }

    /// Drops the held entries.
    pub fn discard(&mut self) {
        let held = self.held.take().map_or(0, |held| held.len());
        self.bytes -= held as u64;
    }
}

/// Reader of a recording, from any entry on.
#[derive(Debug)]
pub struct Reader<R>(R);

impl<R: Read + Seek> Reader<R> {
    /// Opens a recording: reads and checks its first bytes.
    ///
    /// # Errors
    /// Errors of the stream; [`InvalidData`](io::ErrorKind::InvalidData) for a file that is not a
    /// recording, or a recording of another version.
    pub fn new(mut from: R) -> io::Result<Self> {
        let mut bytes = [0; 10];
        let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
        match from.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(invalid("it is no recording: it has less than 10 bytes".into()));
            }
            read => read?,
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if bytes[..8] != MAGIC {
            return Err(invalid("it is no recording: it does not begin with `zippyrec`".into()));
        }
        if !(FIRST_RECORDED_VERSION..=VERSION).contains(&version) {
            let text = format!(
                "it is a recording of version {version}, and this program reads those from {FIRST_RECORDED_VERSION} to {VERSION}"
            );
            return Err(invalid(text));
        }
        Ok(Self(from))
    }

    /// Offset of the next entry in bytes, for [`seek`](Self::seek).
    ///
    /// # Errors
    /// Errors of the stream.
    pub fn offset(&mut self) -> io::Result<u64> {
        self.0.stream_position()
    }

    /// Moves to the entry at an offset in bytes.
    ///
    /// # Errors
    /// Errors of the stream.
    pub fn seek(&mut self, offset: u64) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(offset)).map(drop)
    }

    /// Reads the next entry; `None` at the end.
    ///
    /// # Errors
    /// Errors of the stream; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the file is
    /// truncated within an entry; [`InvalidData`](io::ErrorKind::InvalidData) if an entry is
    /// damaged or invalid. Earlier entries are valid.
    pub fn next_entry(&mut self) -> io::Result<Option<Recorded>> {
        let mut head = [0; 8];
        match self.0.read(&mut head)? {
            0 => return Ok(None),
            begun => self.0.read_exact(&mut head[begun..])?,
        }
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, checksum) = (number(0) as usize, number(4));
        let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
        if length > frame::MOST_TOLD {
            return Err(invalid(format!(
                "an entry has a length of {length} bytes; the maximum is {}",
                frame::MOST_TOLD
            )));
        }
        let mut bytes = Vec::new();
        self.0.by_ref().take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            let text = format!("an entry of {length} bytes ends after {}", bytes.len());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        if crc32fast::hash(&bytes) != checksum {
            return Err(invalid("an entry does not match its checksum".into()));
        }
        let entry: Recorded = frame::decode(&bytes).map_err(invalid)?;
        entry.check().map_err(invalid)?;
        Ok(Some(entry))
    }
}
