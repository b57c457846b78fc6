//! The bytes behind a header from front to back, raw or out of a gzip stream.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};

use flate2::bufread::MultiGzDecoder;

use super::data::NrrdFile;
use super::header::Encoding;
use crate::error::IoError;

/// An open file, somewhere in its data.
pub(super) struct Stream<'a> {
    nrrd: &'a NrrdFile,
    source: Source,
    /// Bytes of data behind it, skipped ones of a gzip stream included.
    at: u64,
    scratch: Vec<u8>,
}

enum Source {
    Raw(BufReader<File>),
    Gzip(Box<MultiGzDecoder<BufReader<File>>>),
}

impl<'a> Stream<'a> {
    /// At the beginning of the data.
    pub fn open(nrrd: &'a NrrdFile) -> Result<Self, IoError> {
        let path = &nrrd.data_path;
        let mut file = File::open(path).map_err(|error| IoError::system(path, "open", &error))?;
        file.seek(SeekFrom::Start(nrrd.data_start)).map_err(|error| nrrd.system(&error))?;
        let file = BufReader::with_capacity(1 << 16, file);
        let source = match nrrd.header.encoding {
            Encoding::Raw => Source::Raw(file),
            Encoding::Gzip => Source::Gzip(Box::new(MultiGzDecoder::new(file))),
        };
        Ok(Self { nrrd, source, at: 0, scratch: vec![0; 1 << 15] })
    }

    /// Bytes before the first voxel, as [`Self::at`] counts: those of a raw file are skipped when it is opened.
    fn lead(&self) -> u64 {
        match self.source {
            Source::Raw(_) => 0,
            Source::Gzip(_) => u64::try_from(self.nrrd.header.byte_skip).unwrap_or(0),
        }
    }

    /// The voxels from number `first` on that fill `out`; never one that lies behind.
    ///
    /// # Errors
    /// The voxels are behind; the data end, are corrupt or cannot be read.
    pub fn read(&mut self, first: u64, out: &mut [u8]) -> Result<(), IoError> {
        let from = self.lead() + first * self.nrrd.header.kind.bytes();
        let Some(skipped) = from.checked_sub(self.at) else {
            return Err(IoError::request(&self.nrrd.data_path, "boxes that overlap cannot be read together"));
        };
        if let Source::Raw(file) = &mut self.source {
            file.seek_relative(skipped as i64).map_err(|error| self.nrrd.system(&error))?;
            self.at = from;
        }
        while self.at < from {
            let mut scratch = std::mem::take(&mut self.scratch);
            let piece = (from - self.at).min(scratch.len() as u64) as usize;
            let read = self.exactly(&mut scratch[..piece]);
            self.scratch = scratch;
            read?;
        }
        self.exactly(out)
    }

    /// Checks that nothing follows the last voxel, where that one has been read; a gzip stream's checksum with it.
    ///
    /// # Errors
    /// More data than the header declares, or a checksum that is wrong or missing.
    pub fn finish(mut self) -> Result<(), IoError> {
        let expected = self.nrrd.header.data_bytes();
        let end = self.lead() + expected;
        match &mut self.source {
            Source::Gzip(stream) if self.at == end => match stream.read(&mut self.scratch[..1]) {
                Ok(0) => Ok(()),
                Ok(_) => {
                    let (path, offset) = (self.nrrd.data_path.clone(), self.position());
                    Err(IoError::Oversized { path, offset, expected })
                }
                Err(error) => Err(self.corrupt(&error, "after the last voxel")),
            },
            _ => Ok(()),
        }
    }

    fn exactly(&mut self, mut out: &mut [u8]) -> Result<(), IoError> {
        while !out.is_empty() {
            let read = match &mut self.source {
                Source::Raw(file) => file.read(out),
                Source::Gzip(stream) => stream.read(out),
            };
            match read {
                // The length of a raw file was right when it was opened: somebody has cut it since.
                Ok(0) => return Err(self.truncated()),
                Ok(got) => {
                    self.at += got as u64;
                    out = &mut out[got..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(self.truncated()),
                Err(error) => {
                    let whence = format!("after {} bytes of data", self.at);
                    return Err(self.corrupt(&error, &whence));
                }
            }
        }
        Ok(())
    }

    /// Where in the file it stands.
    fn position(&mut self) -> u64 {
        match &mut self.source {
            Source::Raw(_) => self.nrrd.data_start + self.at,
            Source::Gzip(stream) => stream.get_mut().stream_position().unwrap_or(self.nrrd.data_start),
        }
    }

    fn truncated(&mut self) -> IoError {
        let found = self.at.saturating_sub(self.lead());
        let (path, expected) = (self.nrrd.data_path.clone(), self.nrrd.header.data_bytes());
        IoError::Truncated { path, offset: self.position(), found, expected }
    }

    fn corrupt(&mut self, error: &io::Error, whence: &str) -> IoError {
        let message = match (&self.source, error.kind()) {
            (Source::Gzip(_), ErrorKind::UnexpectedEof) => {
                format!("the gzip stream ends before its checksum, {whence}; the file is truncated")
            }
            (Source::Gzip(_), ErrorKind::InvalidData | ErrorKind::InvalidInput) => {
                format!("the gzip data are corrupt, {whence}: {error}")
            }
            _ => return self.nrrd.system(error),
        };
        let offset = self.position();
        IoError::malformed(&self.nrrd.data_path, offset, message)
    }
}
