//! [`Outline`]: what stands where in a file of an array.

use zippy::element::ElementInfo;
use zippy::region::Region;

use super::leaves::Leaf;
use crate::IoError;

/// A file of an array before its cells are there.
#[derive(Debug, Default)]
pub struct Outline {
    /// Bytes of the file.
    pub length: u64,
    /// What is no cell: the byte where it begins, and its bytes.
    pub fixed: Vec<(u64, Vec<u8>)>,
    /// Where the bytes of the cells go.
    planes: Vec<Plane>,
}

/// A part of each cell, densely one behind the other.
#[derive(Debug)]
struct Plane {
    start: u64,
    /// The bytes of a cell that stand here.
    offset: usize,
    bytes: usize,
}

/// Takes bytes, and where in the file they go.
pub type Put<'a> = &'a mut dyn FnMut(u64, &[u8]) -> Result<(), IoError>;

impl Outline {
    /// Puts bytes behind what is there; whether the file still fits 63 bits.
    pub fn put(&mut self, bytes: Vec<u8>) -> bool {
        let at = self.length;
        let fits = self.grow(bytes.len() as u64, 1);
        self.fixed.push((at, bytes));
        fits
    }

    /// Whole cells behind what is there, so many; whether the file still fits 63 bits.
    pub fn cells(&mut self, element: &ElementInfo, cells: u64) -> bool {
        self.planes.push(Plane { start: self.length, offset: 0, bytes: element.bytes });
        self.grow(element.bytes as u64, cells)
    }

    /// A part of each cell, likewise.
    pub fn leaf(&mut self, leaf: &Leaf, cells: u64) -> bool {
        self.planes.push(Plane { start: self.length, offset: leaf.offset, bytes: leaf.bytes() });
        self.grow(leaf.bytes() as u64, cells)
    }

    fn grow(&mut self, bytes: u64, count: u64) -> bool {
        let length = bytes.checked_mul(count).and_then(|more| self.length.checked_add(more));
        let length = length.filter(|&length| i64::try_from(length).is_ok());
        self.length = length.unwrap_or(self.length);
        length.is_some()
    }

    /// Hands over the bytes of a block of cells of `element_bytes` each, which is contiguous in `whole`, each with the byte
    /// of the file where they go. `scratch` is memory for as many.
    ///
    /// # Errors
    /// What `write` returns.
    pub fn block(
        &self,
        (whole, block): (&Region, &Region),
        (cells, element_bytes): (&[u8], usize),
        scratch: &mut Vec<u8>,
        write: Put,
    ) -> Result<(), IoError> {
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
