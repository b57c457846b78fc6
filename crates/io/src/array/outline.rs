//! [`Outline`]: byte layout of an array file.

use zippy_base::element::ElementInfo;
use zippy_files::FileError;
use zippy_plan::region::Region;

use super::leaves::Leaf;

/// Layout of an array file, with all bytes except the cells.
#[derive(Debug, Default)]
pub struct Outline {
    /// Length of the file in bytes.
    pub length: u64,
    /// Bytes other than cells: blocks with their offsets.
    pub fixed: Vec<(u64, Vec<u8>)>,
    planes: Vec<CellPlane>,
}

/// Byte range with the same part of every cell, without gaps.
#[derive(Debug)]
struct CellPlane {
    start: u64,
    offset: usize,
    bytes: usize,
}

/// Write callback: offset in the file, and bytes.
pub(super) type WriteAt<'a> = &'a mut dyn FnMut(u64, &[u8]) -> Result<(), FileError>;

impl Outline {
    /// Appends bytes; returns false if the file would exceed 63 bits.
    pub fn put(&mut self, bytes: Vec<u8>) -> bool {
        let at = self.length;
        let fits = self.grow(bytes.len() as u64, 1);
        self.fixed.push((at, bytes));
        fits
    }

    /// Appends space for `cells` whole cells; returns false if the file would exceed 63 bits.
    pub fn cells(&mut self, element: &ElementInfo, cells: u64) -> bool {
        self.planes.push(CellPlane { start: self.length, offset: 0, bytes: element.bytes });
        self.grow(element.bytes as u64, cells)
    }

    /// Appends space for one leaf of `cells` cells; returns false if the file would exceed 63 bits.
    pub fn leaf(&mut self, leaf: &Leaf, cells: u64) -> bool {
        self.planes.push(CellPlane { start: self.length, offset: leaf.offset, bytes: leaf.bytes() });
        self.grow(leaf.bytes() as u64, cells)
    }

    fn grow(&mut self, bytes: u64, count: u64) -> bool {
        let length = bytes.checked_mul(count).and_then(|more| self.length.checked_add(more));
        let length = length.filter(|&length| i64::try_from(length).is_ok());
        self.length = length.unwrap_or(self.length);
        length.is_some()
    }

    /// Writes a block of cells that is contiguous in `whole`, with `element_bytes` bytes per cell.
    /// `write` receives the bytes with their offsets in the file; `scratch` is a reusable buffer.
    pub fn block(
        &self,
        (whole, block): (&Region, &Region),
        (cells, element_bytes): (&[u8], usize),
        scratch: &mut Vec<u8>,
        write: WriteAt<'_>,
    ) -> Result<(), FileError> {
        let first = whole.offset(&block.start);
        for plane in &self.planes {
            let at = plane.start + plane.bytes as u64 * first;
            if plane.bytes == element_bytes {
                write(at, cells)?;
                continue;
            }
            scratch.clear();
            for cell in cells.chunks_exact(element_bytes) {
                scratch.extend(&cell[plane.offset..plane.offset + plane.bytes]);
            }
            write(at, scratch)?;
        }
        Ok(())
    }
}
