//! The voxels behind a header: any box of them, without reading or holding the others.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::header::{Encoding, HEADER_LIMIT, Header};
use crate::error::IoError;

/// Deflate cannot expand a byte to more than this many; a header that declares more lies.
const DEFLATE_LIMIT: u64 = 1032;

type GzStream = MultiGzDecoder<BufReader<File>>;

/// An NRRD file whose header has been read and found to fit the length of its data.
#[derive(Debug, Clone)]
pub struct NrrdFile {
    header: Header,
    /// The file that holds the voxels: the file itself or the one that a detached header names.
    data_path: PathBuf,
    /// First byte of the voxels (raw) or of the gzip stream.
    data_start: u64,
}

impl NrrdFile {
    /// Opens `path` and reads its header; the voxels stay in the file. Local to the calling rank.
    ///
    /// # Errors
    /// The file cannot be opened; the header is malformed; the data are shorter or longer than the header declares
    /// (for gzip only what the length of the compressed data already shows).
    pub fn open(path: &Path) -> Result<Self, IoError> {
        let mut file = File::open(path).map_err(|error| IoError::system(path, "open", &error))?;
        let mut bytes = Vec::new();
        let limit = HEADER_LIMIT as u64;
        (&mut file).take(limit).read_to_end(&mut bytes).map_err(|error| IoError::system(path, "read", &error))?;
        let header = Header::parse(path, &bytes, (bytes.len() as u64) < limit)?;
        let (data_path, mut file, start) = match &header.data_file {
            None => (path.to_path_buf(), file, header.bytes),
            Some(name) => {
                let data_path = path.parent().unwrap_or(Path::new("")).join(name);
                let file = File::open(&data_path).map_err(|error| IoError::system(&data_path, "open", &error))?;
                (data_path, file, 0)
            }
        };
        let length = file.metadata().map_err(|error| IoError::system(&data_path, "read", &error))?.len();
        let mut nrrd = Self { header, data_path, data_start: start };
        file.seek(SeekFrom::Start(start)).map_err(|error| nrrd.system(&error))?;
        nrrd.skip_lines(BufReader::new(file))?;
        match nrrd.header.encoding {
            Encoding::Raw => nrrd.check_raw(length)?,
            Encoding::Gzip => nrrd.check_gzip(length)?,
        }
        Ok(nrrd)
    }

    /// What the header says.
    pub fn header(&self) -> &Header {
        &self.header
    }

    fn system(&self, error: &io::Error) -> IoError {
        IoError::system(&self.data_path, "read", error)
    }

    fn skip_lines(&mut self, mut reader: impl BufRead) -> Result<(), IoError> {
        for line in 0..self.header.line_skip {
            let skipped = reader.skip_until(b'\n').map_err(|error| self.system(&error))?;
            if skipped == 0 {
                let message = format!("the data end after {line} of {} lines to skip", self.header.line_skip);
                return Err(IoError::malformed(&self.data_path, self.data_start, message));
            }
            self.data_start += skipped as u64;
        }
        Ok(())
    }

    fn check_raw(&mut self, length: u64) -> Result<(), IoError> {
        let expected = self.header.data_bytes();
        let available = length.saturating_sub(self.data_start);
        let skip = match u64::try_from(self.header.byte_skip) {
            Ok(skip) => skip,
            Err(_) => available.saturating_sub(expected),
        };
        let path = self.data_path.clone();
        let found = available.saturating_sub(skip);
        if found < expected {
            return Err(IoError::Truncated { path, offset: length, found, expected });
        }
        self.data_start += skip;
        if found > expected {
            return Err(IoError::Oversized { path, offset: self.data_start + expected, expected });
        }
        Ok(())
    }

    fn check_gzip(&self, length: u64) -> Result<(), IoError> {
        let compressed = length.saturating_sub(self.data_start);
        let expected = self.header.data_bytes();
        if compressed.saturating_mul(DEFLATE_LIMIT) < expected {
            let message = format!(
                "{compressed} bytes of gzip data cannot hold the {expected} bytes that the header declares; \
                 the file is truncated or its sizes are wrong"
            );
            return Err(IoError::malformed(&self.data_path, self.data_start, message));
        }
        Ok(())
    }

    /// The voxels of the box `start..end` (one entry per axis, inside the sizes), axis 0 fastest, in the machine's
    /// byte order, as bytes cast to `T` (the type of a voxel, or `u8` for plain bytes). Local to the calling rank. Raw
    /// data are read row by row; gzip data are streamed from their beginning to the end of the box. Memory: the box
    /// and a buffer.
    ///
    /// # Errors
    /// The box leaves the volume or does not fit the memory; the data are truncated, corrupt or, found by whoever
    /// reads the last voxel, too many.
    pub fn read_box<T: bytemuck::Pod>(&self, start: &[u64], end: &[u64]) -> Result<Vec<T>, IoError> {
        let runs = Runs::new(&self.header.sizes, start, end).ok_or_else(|| {
            let message = format!(
                "the box from {start:?} to {end:?} does not lie in the volume of {:?} voxels",
                self.header.sizes
            );
            IoError::request(&self.data_path, message)
        })?;
        // The box is part of the volume, whose bytes fit 63 bits and are backed by the length of the file.
        let bytes = runs.voxels() * self.header.kind.bytes();
        let no_memory = || IoError::request(&self.data_path, format!("no memory for {bytes} bytes of voxels"));
        let count = usize::try_from(bytes).map_err(|_| no_memory())? / size_of::<T>();
        let mut out = Vec::new();
        out.try_reserve_exact(count).map_err(|_| no_memory())?;
        out.resize(count, T::zeroed());
        if count > 0 {
            let target: &mut [u8] = bytemuck::cast_slice_mut(&mut out);
            self.fill(&runs, target)?;
            if self.header.big_endian != cfg!(target_endian = "big") {
                crate::io::scalar::swap_bytes(self.header.kind, target);
            }
        }
        Ok(out)
    }

    fn fill(&self, runs: &Runs, out: &mut [u8]) -> Result<(), IoError> {
        let mut file = File::open(&self.data_path).map_err(|error| IoError::system(&self.data_path, "open", &error))?;
        file.seek(SeekFrom::Start(self.data_start)).map_err(|error| self.system(&error))?;
        let file = BufReader::with_capacity(1 << 16, file);
        match self.header.encoding {
            Encoding::Raw => self.read_raw(file, runs, out),
            Encoding::Gzip => self.read_gzip(MultiGzDecoder::new(file), runs, out),
        }
    }

    fn read_raw(&self, mut file: BufReader<File>, runs: &Runs, mut out: &mut [u8]) -> Result<(), IoError> {
        let width = self.header.kind.bytes();
        let mut at = 0;
        for (first, voxels) in runs.iter() {
            let (from, bytes) = (first * width, voxels * width);
            file.seek_relative((from - at) as i64).map_err(|error| self.system(&error))?;
            let (run, rest) = out.split_at_mut(bytes as usize);
            out = rest;
            at = from + bytes;
            match file.read_exact(run) {
                Ok(()) => {}
                // The length was right when the file was opened: somebody cut it since.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    return Err(self.truncated(self.data_start + from, from));
                }
                Err(error) => return Err(self.system(&error)),
            }
        }
        Ok(())
    }

    fn read_gzip(&self, mut stream: GzStream, runs: &Runs, mut out: &mut [u8]) -> Result<(), IoError> {
        let width = self.header.kind.bytes();
        let lead = u64::try_from(self.header.byte_skip).unwrap_or(0);
        let mut scratch = vec![0; 1 << 15];
        let mut at = 0;
        for (first, voxels) in runs.iter() {
            let from = lead + first * width;
            while at < from {
                let piece = (from - at).min(scratch.len() as u64) as usize;
                self.read_exact(&mut stream, &mut at, &mut scratch[..piece])?;
            }
            let (run, rest) = out.split_at_mut((voxels * width) as usize);
            out = rest;
            self.read_exact(&mut stream, &mut at, run)?;
        }
        if at < lead + self.header.data_bytes() {
            return Ok(());
        }
        // Reading past the last voxel also checks the stream's checksum.
        match stream.read(&mut scratch[..1]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(IoError::Oversized {
                path: self.data_path.clone(),
                offset: self.position(&mut stream),
                expected: self.header.data_bytes(),
            }),
            Err(error) => Err(self.corrupt(&mut stream, &error, "after the last voxel")),
        }
    }

    fn read_exact(&self, stream: &mut GzStream, at: &mut u64, mut out: &mut [u8]) -> Result<(), IoError> {
        while !out.is_empty() {
            match stream.read(out) {
                Ok(0) => return Err(self.truncated(self.position(stream), *at)),
                Ok(got) => {
                    *at += got as u64;
                    out = &mut out[got..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    return Err(self.truncated(self.position(stream), *at));
                }
                Err(error) => return Err(self.corrupt(stream, &error, &format!("after {at} bytes of data"))),
            }
        }
        Ok(())
    }

    /// Where in the file the decoder stands.
    fn position(&self, stream: &mut GzStream) -> u64 {
        stream.get_mut().stream_position().unwrap_or(self.data_start)
    }

    fn truncated(&self, offset: u64, found: u64) -> IoError {
        let lead = u64::try_from(self.header.byte_skip).unwrap_or(0);
        let found = found.saturating_sub(if self.header.encoding == Encoding::Gzip { lead } else { 0 });
        IoError::Truncated { path: self.data_path.clone(), offset, found, expected: self.header.data_bytes() }
    }

    fn corrupt(&self, stream: &mut GzStream, error: &io::Error, whence: &str) -> IoError {
        let message = match error.kind() {
            ErrorKind::UnexpectedEof => {
                format!("the gzip stream ends before its checksum, {whence}; the file is truncated")
            }
            ErrorKind::InvalidData | ErrorKind::InvalidInput => format!("the gzip data are corrupt, {whence}: {error}"),
            _ => return self.system(error),
        };
        IoError::malformed(&self.data_path, self.position(stream), message)
    }
}

/// The contiguous stretches of a box in a volume of up to three axes.
struct Runs {
    start: [u64; 3],
    end: [u64; 3],
    sizes: [u64; 3],
}

impl Runs {
    /// `None`: the box does not lie in the volume.
    fn new(sizes: &[u64], start: &[u64], end: &[u64]) -> Option<Self> {
        let fits = start.len() == sizes.len()
            && end.len() == sizes.len()
            && (0..sizes.len()).all(|axis| start[axis] <= end[axis] && end[axis] <= sizes[axis]);
        let padded = |values: &[u64], fill| std::array::from_fn(|axis| values.get(axis).copied().unwrap_or(fill));
        fits.then(|| Self { start: padded(start, 0), end: padded(end, 1), sizes: padded(sizes, 1) })
    }

    fn voxels(&self) -> u64 {
        (0..3).map(|axis| self.end[axis] - self.start[axis]).product()
    }

    /// (first voxel, number of voxels) of each stretch, in the order of the box.
    fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let [nx, ny, _] = self.sizes;
        let [x, y, z] = [0, 1, 2].map(|axis| self.start[axis]..self.end[axis]);
        // Whole rows join, and whole planes of whole rows.
        let rows = x == (0..nx);
        let planes = rows && y == (0..ny);
        let (width, y_count, z_count) = match (rows, planes) {
            (_, true) => (nx * ny * (z.end - z.start), 1, 1),
            (true, false) => (nx * (y.end - y.start), 1, z.end - z.start),
            (false, _) => (x.end - x.start, y.end - y.start, z.end - z.start),
        };
        let first = x.start + nx * (y.start + ny * z.start);
        (0..z_count).flat_map(move |z| (0..y_count).map(move |y| (first + nx * (y + ny * z), width)))
    }
}
