//! Location of the voxels for a header.

use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use zippy_files::open_regular;

use super::data_files::DataFiles;
use super::header::Header;
use crate::IoError;
use crate::array::Metadata;
use crate::head::{Head, error_in_named_file, named_path};
use crate::scalar::ScalarKind;
use crate::voxels::{Description, Encoding, Segment, VoxelLayout, decoded_length};

const FORMAT: &str = "NRRD";

/// Maximum decompressed bytes before the data: every rank decompresses them.
const MAX_SKIPPED_BYTES: u64 = 16 << 20;

pub(crate) fn open(head: &Head) -> Result<Description, IoError> {
    let header = Header::parse(&head.path, &head.bytes, head.complete(), 3)?;
    describe(head, &header, Segment::from_byte)
}

type NewSegment = fn(&Path, u64, Encoding, u64, u64, ScalarKind) -> Result<Segment, IoError>;

/// [`open`] with at most `most_axes` axes of voxels, and the metadata. Bytes after the data are an
/// error.
pub(crate) fn open_with(head: &Head, most_axes: usize) -> Result<(Description, Metadata), IoError> {
    let mut header = Header::parse(&head.path, &head.bytes, head.complete(), most_axes)?;
    let metadata = std::mem::take(&mut header.metadata);
    Ok((describe(head, &header, Segment::to_the_end)?, metadata))
}

fn describe(head: &Head, header: &Header, new_segment: NewSegment) -> Result<Description, IoError> {
    let path = &head.path;
    let grid = header.grid.clone();
    let detached = |name: &str, grid: &VoxelLayout, bytes: u64| {
        segment((header, new_segment), &named_path(path, name), 0, grid, bytes)
            .map_err(|error| error_in_named_file(path, header.files_at, &error))
    };
    match &header.files {
        DataFiles::Attached => {
            let segment = segment((header, new_segment), path, header.end, &grid, grid.bytes())?;
            Ok(Description::single(FORMAT, grid, segment))
        }
        DataFiles::One(name) => {
            let segment = detached(name, &grid, grid.bytes())?;
            Ok(Description::single(FORMAT, grid, segment))
        }
        DataFiles::Several(names) => {
            let problem = |message| IoError::malformed(path, header.files_at, message);
            Description::slabs(FORMAT, grid, names, problem, detached)
        }
    }
}

fn segment(
    (header, new_segment): (&Header, NewSegment),
    path: &Path,
    start: u64,
    grid: &VoxelLayout,
    bytes: u64,
) -> Result<Segment, IoError> {
    let start = skip_lines(header, path, start)?;
    let skip = u64::try_from(header.byte_skip);
    let (start, lead) = match (&header.encoding, skip) {
        (Encoding::Gzip, Ok(skip)) => (start, skip),
        // The number of bytes before the data is known only after decompression.
        (Encoding::Gzip, Err(_)) => {
            let whole = Segment::to_the_end(path, start, Encoding::Gzip, 0, 0, grid.kind)?;
            (start, decoded_length(&whole, bytes.saturating_add(MAX_SKIPPED_BYTES))?.saturating_sub(bytes))
        }
        (_, Ok(skip)) => (start.saturating_add(skip), 0),
        // A skip of -1: the data are at the end.
        (_, Err(_)) => (open_regular(path)?.1.saturating_sub(bytes).max(start), 0),
    };
    if lead > MAX_SKIPPED_BYTES {
        let message =
            format!("gzip data with more than {MAX_SKIPPED_BYTES} bytes before the voxels (byte skip) are not read");
        return Err(IoError::unsupported(path, start, message));
    }
    new_segment(path, start, header.encoding.clone(), lead, bytes, grid.kind)
}

fn skip_lines(header: &Header, path: &Path, mut start: u64) -> Result<u64, IoError> {
    if header.line_skip == 0 {
        return Ok(start);
    }
    let system = |error| IoError::system(path, "read", &error);
    let (mut file, _) = open_regular(path)?;
    file.seek(SeekFrom::Start(start)).map_err(system)?;
    let mut reader = BufReader::new(file);
    for line in 0..header.line_skip {
        let skipped = reader.skip_until(b'\n').map_err(system)?;
        if skipped == 0 {
            let message = format!("the data end after {line} of {} lines to skip", header.line_skip);
            return Err(IoError::malformed(path, start, message));
        }
        start += skipped as u64;
    }
    Ok(start)
}
