//! [`Manifest`]: table of contents of a generation.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use zippy::region::Region;

use super::element::SavedType;
use super::names::{Generation, MANIFEST};
use super::sizes::{BLOCK_BYTES, MOST_BLOCK_BYTES, MOST_CHECKSUMS};
use zippy_files::FileError;
use zippy_files::checksum::Checksums;

const FORMAT: &str = "zippy checkpoint";
const VERSION: u64 = 1;
const BYTE_ORDER: &str = if cfg!(target_endian = "little") { "little" } else { "big" };

pub(super) const MOST_BYTES: u64 = if cfg!(test) { 2 << 20 } else { 64 << 20 };

const CHECKSUM_BYTES: u64 = 11;

/// Text before the checksum of the rest in the first line; the whole text is JSON.
const CHECKSUM_PREFIX: &str = "{\"checksum\": \"";
const CHECKSUM_SUFFIX: &str = "\",\n";

/// Byte order, step and number are stored for comparison.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: String,
    version: u64,
    byte_order: String,
    pub step: u64,
    number: u64,
    /// Name of the writing program, for messages; empty in older versions.
    #[serde(default)]
    pub run: String,
    pub block_bytes: u64,
    /// Files of the ranks, in order.
    pub files: Vec<Checksums>,
    pub state: Option<Checksums>,
    pub arrays: Vec<SavedArray>,
    pub growables: Vec<SavedGrowable>,
}

/// Global array: boxes that cover it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SavedArray {
    pub name: String,
    pub element: SavedType,
    pub shape: Vec<i64>,
    pub parts: Vec<SavedBox>,
}

/// Box of cells in a rank's file, axis 0 fastest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SavedBox {
    /// Rank whose file has the box.
    pub file: usize,
    pub offset: u64,
    start: Vec<i64>,
    end: Vec<i64>,
}

/// Growable array: one run of cells per rank, in order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SavedGrowable {
    pub name: String,
    pub element: SavedType,
    pub parts: Vec<SavedRun>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SavedRun {
    pub offset: u64,
    pub cells: u64,
}

#[derive(Deserialize)]
struct FormatVersion {
    format: String,
    version: u64,
}

struct ByteCounter(u64);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SavedBox {
    pub(super) fn new(file: usize, offset: u64, region: &Region) -> Self {
        let axes = 0..region.axes();
        let corner = |index: &zippy::extents::Index| axes.clone().map(|axis| index[axis]).collect();
        Self { file, offset, start: corner(&region.start), end: corner(&region.end) }
    }

    pub(super) fn region(&self) -> Result<Region, String> {
        Region::new(&self.start, &self.end).map_err(|error| error.to_string())
    }
}

impl Manifest {
    pub(super) fn new((generation, run): (Generation, String), ranks: usize, state_bytes: Option<u64>) -> Self {
        Self {
            format: FORMAT.to_string(),
            version: VERSION,
            byte_order: BYTE_ORDER.to_string(),
            step: generation.step,
            number: generation.number,
            run,
            block_bytes: BLOCK_BYTES,
            files: vec![Checksums::default(); ranks],
            state: state_bytes.map(|bytes| Checksums { bytes, checksums: Vec::new() }),
            arrays: Vec::new(),
            growables: Vec::new(),
        }
    }

    /// Chooses the block size of a manifest that is complete except for checksums; a manifest that
    /// would be too long is an error.
    pub(super) fn choose_block_size(&mut self) -> Result<(), String> {
        let mut checksums = self.block_count();
        while checksums > MOST_CHECKSUMS && self.block_bytes < MOST_BLOCK_BYTES {
            self.block_bytes *= 2;
            checksums = self.block_count();
        }
        let mut other_bytes = ByteCounter(0);
        serde_json::to_writer(&mut other_bytes, self).map_err(|error| error.to_string())?;
        let (other_bytes, checksums) =
            (other_bytes.0 + (CHECKSUM_PREFIX.len() + 8 + CHECKSUM_SUFFIX.len()) as u64, CHECKSUM_BYTES * checksums);
        match other_bytes + checksums {
            ..=MOST_BYTES => Ok(()),
            length => Err(format!(
                "the manifest would have about {length} bytes, {other_bytes} of them for the arrays with their names and chunks and \
                 {checksums} for checksums; it may have {MOST_BYTES}: cut the arrays into fewer chunks, or save to several \
                 directories"
            )),
        }
    }

    fn block_count(&self) -> u64 {
        self.files.iter().chain(&self.state).map(|file| file.blocks(self.block_bytes)).sum()
    }

    /// Text of the manifest; an error if it is too long.
    pub(super) fn text(&self) -> Result<Vec<u8>, String> {
        let body = serde_json::to_string(self).map_err(|error| error.to_string())?;
        // The first line has the opening brace.
        let body = format!("{}\n", &body[1..]);
        let mut text = format!("{CHECKSUM_PREFIX}{:08x}{CHECKSUM_SUFFIX}", crc32fast::hash(body.as_bytes()));
        text.push_str(&body);
        match text.len() as u64 {
            ..=MOST_BYTES => Ok(text.into_bytes()),
            length => Err(format!("the manifest would have {length} bytes, and may have {MOST_BYTES}")),
        }
    }

    /// Parses the manifest of a generation; `directory` is for errors. Damaged text and another
    /// program, version or generation are errors.
    pub(super) fn parse(text: &[u8], directory: &Path, generation: Generation) -> Result<Self, FileError> {
        let path = directory.join(MANIFEST);
        let malformed = |at: usize, message: String| FileError::malformed(&path, at as u64, message);
        let foreign =
            || malformed(0, "this is not the manifest of a Zippy checkpoint, or its first line is damaged".into());
        let line = CHECKSUM_PREFIX.len() + 8 + CHECKSUM_SUFFIX.len();
        let (first, body) = text.split_at_checked(line).ok_or_else(foreign)?;
        let saved = first
            .strip_prefix(CHECKSUM_PREFIX.as_bytes())
            .and_then(|rest| rest.strip_suffix(CHECKSUM_SUFFIX.as_bytes()));
        let found = format!("{:08x}", crc32fast::hash(body));
        let saved = saved.and_then(|saved| std::str::from_utf8(saved).ok()).ok_or_else(foreign)?;
        if saved != found {
            let message = format!("damaged: the checksum of what follows is {found}, and the first line says {saved}");
            return Err(malformed(line, message));
        }
        let json = |error: serde_json::Error| malformed(line, format!("no manifest of a checkpoint: {error}"));
        let versioned: FormatVersion = serde_json::from_slice(text).map_err(json)?;
        if versioned.format != FORMAT {
            return Err(malformed(
                line,
                format!("the format is {}, not {FORMAT:?}", zippy_files::quoted(&versioned.format)),
            ));
        }
        if versioned.version != VERSION {
            let version = versioned.version;
            let message = format!("a checkpoint of version {version}; this program reads version {VERSION}");
            return Err(FileError::unsupported(&path, line as u64, message));
        }
        let manifest: Self = serde_json::from_slice(text).map_err(json)?;
        manifest.check_generation(generation).map_err(|message| malformed(line, message))?;
        Ok(manifest)
    }

    fn check_generation(&self, generation: Generation) -> Result<(), String> {
        if self.byte_order != BYTE_ORDER {
            let order = zippy_files::quoted(&self.byte_order);
            return Err(format!("its numbers are in the byte order {order}, and this machine's is {BYTE_ORDER:?}"));
        }
        let found = Generation { number: self.number, step: self.step };
        if found == generation {
            return Ok(());
        }
        Err(format!("it is the manifest of {}, in a directory called {}", found.name(), generation.name()))
    }
}
