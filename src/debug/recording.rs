//! A recording: what a program would have told a viewer, in a file.
//!
//! The file begins with `zippyrec` and the version of the protocol in two bytes, the lower one first. Entries follow: the
//! length of one and the CRC-32 of its bytes, four bytes each, the lowest first, and a [`Recorded`] value in postcard's
//! encoding. A file that was cut off is one of fewer entries.

use std::io::{self, Read, Seek, SeekFrom, Write};

use super::protocol::{FIRST_RECORDED_VERSION, Recorded, VERSION, frame};

const MAGIC: [u8; 8] = *b"zippyrec";

/// The beginning of the end of a recording that was ended by its limit, and not by the end of the
/// run.
pub const LIMIT_REACHED: &str = "the recording has reached its limit";

/// Views that an array has at most at a debug point. Ghost cells of arrays with more chunks are not
/// recorded: each chunk takes a gather of its own.
pub const MOST_VIEWS: usize = 256;

/// Writes entries, each in one piece.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    bytes: u64,
    /// Entries that are not written yet, between [`hold`](Self::hold) and
    /// [`release`](Self::release).
    held: Option<Vec<u8>>,
}

impl<W: Write> Writer<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// Entries of the stream.
    pub fn new(mut to: W) -> io::Result<Self> {
        to.write_all(&MAGIC)?;
        to.write_all(&VERSION.to_le_bytes())?;
        Ok(Self { to, bytes: MAGIC.len() as u64 + 2, held: None })
    }

    /// Bytes of all entries so far, those that are held included.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// What the stream says; [`InvalidInput`](io::ErrorKind::InvalidInput) for one of more than
    /// [`MOST_TOLD`](frame::MOST_TOLD) bytes.
    pub fn add(&mut self, entry: &Recorded) -> io::Result<()> {
        self.add_within(entry, u64::MAX).map(drop)
    }

    /// Adds an entry if the recording has at most `most` bytes with it. Returns `false` where it
    /// would have more.
    ///
    /// # Errors
    /// As [`add`](Self::add).
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

    /// Writes the entries that are held.
    ///
    /// # Errors
    /// Entries of the stream.
    pub fn release(&mut self) -> io::Result<()> {
        let Some(held) = self.held.take() else { return Ok(()) };
        self.to.write_all(&held)?;
        self.to.flush()
    }

    /// Drops the entries that are held.
    pub fn discard(&mut self) {
        let held = self.held.take().map_or(0, |held| held.len());
        self.bytes -= held as u64;
    }
}

/// Reads entries, at any place that one begins.
#[derive(Debug)]
pub struct Reader<R>(R);

impl<R: Read + Seek> Reader<R> {
    /// Looks at how a recording begins.
    ///
    /// # Errors
    /// What the stream says; [`InvalidData`](io::ErrorKind::InvalidData) for what is no recording, or one of another version.
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

    /// The place of the next entry, for [`go_to`](Self::go_to).
    ///
    /// # Errors
    /// Entries of the stream.
    pub fn place(&mut self) -> io::Result<u64> {
        self.0.stream_position()
    }

    /// Goes on at an entry.
    ///
    /// # Errors
    /// Entries of the stream.
    pub fn go_to(&mut self, place: u64) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(place)).map(drop)
    }

    /// The next entry; none at the end.
    ///
    /// # Errors
    /// What the stream says; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) where the file was cut off within an entry, and
    /// [`InvalidData`](io::ErrorKind::InvalidData) where one is damaged or makes no sense. What came before is good.
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
            return Err(invalid(format!("an entry says that it has {length} bytes, more than any has")));
        }
        let mut bytes = Vec::new();
        self.0.by_ref().take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            let text = format!("an entry of {length} bytes ends after {}", bytes.len());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        if crc32fast::hash(&bytes) != checksum {
            return Err(invalid("an entry has another checksum than was written".into()));
        }
        let entry: Recorded = frame::decode(&bytes).map_err(invalid)?;
        entry.check().map_err(invalid)?;
        Ok(Some(entry))
    }
}
