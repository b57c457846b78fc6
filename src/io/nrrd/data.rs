//! The voxels behind a header: any box of them, without reading or holding the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::header::{Encoding, HEADER_LIMIT, Header};
use super::stream::Stream;
use crate::error::IoError;

/// Deflate cannot expand a byte to more than this many; a header that declares more lies.
const DEFLATE_LIMIT: u64 = 1032;

/// An NRRD file whose header has been read and found to fit the length of its data.
#[derive(Debug, Clone)]
pub struct NrrdFile {
    pub(super) header: Header,
    /// The file that holds the voxels: the file itself or the one that a detached header names.
    pub(super) data_path: PathBuf,
    /// First byte of the voxels (raw) or of the gzip stream.
    pub(super) data_start: u64,
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

    pub(super) fn system(&self, error: &io::Error) -> IoError {
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

    /// The voxels of each box `start..end` (one entry per axis, inside the sizes), axis 0 fastest, in the machine's byte
    /// order, as bytes cast to `T` (the type of a voxel, or `u8` for plain bytes). Boxes must not overlap. `done` gets the
    /// number of a box and its voxels as soon as all are read. Local to the calling rank. One pass through the file: raw
    /// data are read row by row, gzip data are streamed from their beginning to the end of the last box. Memory: the boxes
    /// that are begun and not done, and a buffer.
    ///
    /// # Errors
    /// Values that do not make up a voxel; a box leaves the volume, overlaps another or does not fit the memory; the data are truncated, corrupt or, found by
    /// whoever reads the last voxel, too many; what `done` returns.
    pub fn read_boxes<T: bytemuck::Pod, E: From<IoError>>(
        &self,
        boxes: &[(Vec<u64>, Vec<u64>)],
        mut done: impl FnMut(usize, Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (voxel, value) = (self.header.kind.bytes(), size_of::<T>() as u64);
        if value == 0 || voxel % value != 0 {
            let message = format!("voxels of {voxel} bytes cannot be read as values of {value}");
            return Err(IoError::request(&self.data_path, message).into());
        }
        let mut stream = None;
        let mut filling: Vec<Filling<T>> = Vec::with_capacity(boxes.len());
        let mut next = BinaryHeap::new();
        for (number, (start, end)) in boxes.iter().enumerate() {
            let runs = Runs::new(&self.header.sizes, start, end).ok_or_else(|| {
                let sizes = &self.header.sizes;
                let message =
                    format!("the box from {start:?} to {end:?} does not lie in the volume of {sizes:?} voxels");
                IoError::request(&self.data_path, message)
            })?;
            filling.push(Filling { voxels: runs.voxels(), runs: runs.iter(), out: Vec::new(), filled: 0 });
            match filling[number].runs.next().filter(|run| run.1 > 0) {
                Some(run) => next.push(Reverse((run, number))),
                None => done(number, Vec::new())?,
            }
        }
        while let Some(Reverse(((first, voxels), number))) = next.pop() {
            let stream = match &mut stream {
                Some(stream) => stream,
                none => none.insert(Stream::open(self)?),
            };
            let one = &mut filling[number];
            if one.filled == 0 {
                one.out = self.memory(one.voxels)?;
            }
            let bytes = (voxels * self.header.kind.bytes()) as usize;
            let target: &mut [u8] = bytemuck::cast_slice_mut(&mut one.out);
            stream.read(first, &mut target[one.filled..one.filled + bytes])?;
            one.filled += bytes;
            if let Some(run) = one.runs.next() {
                next.push(Reverse((run, number)));
                continue;
            }
            if self.header.big_endian != cfg!(target_endian = "big") {
                crate::io::scalar::swap_bytes(self.header.kind, target);
            }
            done(number, std::mem::take(&mut one.out))?;
        }
        Ok(stream.map_or(Ok(()), Stream::finish)?)
    }

    /// Zeros for so many voxels of a box. A box is part of the volume, whose bytes fit 63 bits and are backed by the length
    /// of the file.
    fn memory<T: bytemuck::Pod>(&self, voxels: u64) -> Result<Vec<T>, IoError> {
        let bytes = voxels * self.header.kind.bytes();
        let none = || IoError::request(&self.data_path, format!("no memory for {bytes} bytes of voxels"));
        let count = usize::try_from(bytes).map_err(|_| none())? / size_of::<T>();
        let mut out = Vec::new();
        out.try_reserve_exact(count).map_err(|_| none())?;
        out.resize(count, T::zeroed());
        Ok(out)
    }
}

/// A box that is being read.
struct Filling<T> {
    voxels: u64,
    runs: Box<dyn Iterator<Item = (u64, u64)>>,
    out: Vec<T>,
    /// Bytes of `out` that are there.
    filled: usize,
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
    fn iter(&self) -> Box<dyn Iterator<Item = (u64, u64)>> {
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
        Box::new((0..z_count).flat_map(move |z| (0..y_count).map(move |y| (first + nx * (y + ny * z), width))))
    }
}
