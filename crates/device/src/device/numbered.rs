//! Boxes that are moved to other boxes of one device, their buffers numbered.

use std::collections::BTreeMap;

use super::boxes::{Strided, common_multiple};
use super::checks::{bad, check_destinations, check_element, check_view};
use super::memory::SLICE_BYTES;
use super::order::{Copy, Step, any_hazard, cut, order};
use super::{ChunkBuffer, Device};
use crate::error::DeviceError;

/// A box in a chunk buffer.
#[derive(Debug, Clone, Copy)]
pub struct BufferBox<'a> {
    /// The buffer.
    pub buffer: &'a ChunkBuffer,
    /// The box in it.
    pub view: Strided,
}

/// Copies that have been checked, with buffers as numbers.
pub(super) struct Numbered<'a> {
    pub buffers: Vec<&'a wgpu::Buffer>,
    pub copies: Vec<Copy>,
    pub element_bytes: usize,
    /// Boxes stand at multiples of this in temporary memory.
    align: u64,
}

impl<'a> Numbered<'a> {
    /// The steps of copying: sources that are written, too, are read aside first, as much at a time as is staged.
    pub fn in_order(&mut self, on: &Device) -> Vec<Step> {
        if !any_hazard(&self.copies) {
            return vec![Step::Direct((0..self.copies.len()).collect())];
        }
        let limit = self.staged_cells(on);
        self.copies = cut(&self.copies, limit);
        order(&self.copies, limit)
    }

    /// The most cells that are staged at a time.
    pub fn staged_cells(&self, on: &Device) -> u64 {
        (SLICE_BYTES.min(on.limits().binding_bytes) / self.element_bytes as u64).max(1)
    }

    pub fn bytes(&self, i: usize) -> u64 {
        self.copies[i].src.1.cells() * self.element_bytes as u64
    }

    /// Whether reading all into temporary memory and writing all from it takes fewer dispatches: copies between many
    /// pairs of buffers, as in the ghost update of a rank with many chunks.
    pub fn better_aside(&self, which: &[usize], limit: u64) -> bool {
        if which.iter().any(|&i| self.bytes(i) > limit) {
            return false;
        }
        let mut pairs: Vec<_> = which.iter().map(|&i| (self.copies[i].src.0, self.copies[i].dst.0)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.len() > self.used(which, |c| c.src.0).len() + self.used(which, |c| c.dst.0).len()
    }

    /// Runs of copies of at most `limit` bytes together, or of one.
    pub fn batches<'b>(&self, which: &'b [usize], limit: u64) -> Vec<&'b [usize]> {
        let mut out = Vec::new();
        let (mut from, mut bytes) = (0, 0);
        for (at, &i) in which.iter().enumerate() {
            if at > from && bytes + self.bytes(i) > limit {
                out.push(&which[from..at]);
                (from, bytes) = (at, 0);
            }
            bytes += self.bytes(i);
        }
        out.push(&which[from..]);
        out
    }

    /// Where boxes stand in temporary memory, and its length.
    pub fn places(&self, which: &[usize]) -> (Vec<u64>, u64) {
        let mut end = 0;
        let place = |&i: &usize| {
            let at = end;
            end = (end + self.bytes(i)).next_multiple_of(self.align);
            at
        };
        let places = which.iter().map(place).collect();
        (places, end)
    }

    /// The copies of a list by the buffer at one end, each with its place in the list, in its order.
    pub fn by(&self, which: &[usize], side: fn(&Copy) -> usize) -> BTreeMap<usize, Vec<(usize, usize)>> {
        let mut out: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, &i) in which.iter().enumerate() {
            out.entry(side(&self.copies[i])).or_default().push((place, i));
        }
        out
    }

    pub fn used(&self, which: &[usize], side: fn(&Copy) -> usize) -> Vec<usize> {
        let mut used: Vec<usize> = which.iter().map(|&i| side(&self.copies[i])).collect();
        used.sort_unstable();
        used.dedup();
        used
    }
}

/// Checks copies and leaves out empty ones.
pub(super) fn number<'a>(
    what: &str,
    element_bytes: usize,
    copies: &[(BufferBox<'a>, BufferBox<'a>)],
) -> Result<Numbered<'a>, DeviceError> {
    check_element(what, element_bytes)?;
    check_destinations(what, copies.iter().map(|(_, dst)| &dst.view))?;
    let align = common_multiple(16, element_bytes as u64);
    let mut out = Numbered { buffers: Vec::new(), copies: Vec::new(), element_bytes, align };
    let mut numbers = std::collections::HashMap::new();
    for (src, dst) in copies {
        if src.view.extents != dst.view.extents {
            let message = format!("extents {} do not go with extents {}", src.view.extents, dst.view.extents);
            return Err(bad(what, message));
        }
        let mut side = |of: &BufferBox<'a>| {
            check_view(what, &of.view, element_bytes, of.buffer.bytes())?;
            let number = *numbers.entry(of.buffer.id()).or_insert_with(|| {
                out.buffers.push(of.buffer.raw());
                out.buffers.len() - 1
            });
            Ok((number, of.view))
        };
        let copy = Copy { src: side(src)?, dst: side(dst)? };
        if src.view.cells() > 0 {
            out.copies.push(copy);
        }
    }
    Ok(out)
}
