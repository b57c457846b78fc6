//! [`Window`]: which cells of a file an array gets.

use std::path::Path;

use zippy::extents::Index;
use zippy::region::Region;

use super::metadata::Metadata;
use super::options::LoadOptions;
use crate::IoError;

/// Cells that are further apart in the file are read one by one; what lies between nearer ones is read with them.
const APART: u64 = 1 << 14;

/// A box of the cells of a file, of which every so manyth is taken along each axis.
#[derive(Debug, Clone)]
pub struct Window {
    start: Index,
    step: Index,
    /// Cells along each axis of the array that it makes.
    pub shape: Index,
    /// The cells that are taken along this axis are read one by one.
    apart: Vec<bool>,
}

impl Window {
    /// What the options say of a file with cells of so many bytes.
    ///
    /// # Errors
    /// A section that leaves the file, a step below 1, or either of another number of axes.
    pub fn new(path: &Path, shape: &Index, options: &LoadOptions, cell_bytes: u64) -> Result<Self, IoError> {
        let axes = shape.axes();
        let wrong = |message: String| Err(IoError::request(path, message));
        let section = match &options.section {
            None => Region::whole(*shape),
            Some(ranges) => {
                let lies = |(axis, range): (usize, &std::ops::Range<i64>)| {
                    range.start >= 0 && range.start <= range.end && range.end <= shape[axis]
                };
                if ranges.len() != axes || !ranges.iter().enumerate().all(lies) {
                    return wrong(format!("holds an array of {shape}, in which the section {ranges:?} does not lie"));
                }
                Region::between(
                    Index::from_fn(axes, |axis| ranges[axis].start),
                    Index::from_fn(axes, |axis| ranges[axis].end),
                )
            }
        };
        let step = options.step.clone().unwrap_or_else(|| vec![1; axes]);
        if step.len() != axes || step.iter().any(|&step| step < 1) {
            return wrong(format!("cannot be loaded with steps {step:?}; {axes} are needed, each at least 1"));
        }
        let extents = section.extents();
        // A step to beyond the end is one to the end.
        let step = Index::from_fn(axes, |axis| step[axis].min(extents[axis].max(1)));
        let kept = Index::from_fn(axes, |axis| (extents[axis] - 1).max(-1).div_euclid(step[axis]) + 1);
        let mut stride = cell_bytes;
        let is_apart = |axis: usize| {
            let apart = step[axis] > 1 && stride.saturating_mul(step[axis] as u64) >= APART;
            stride = stride.saturating_mul(shape[axis].max(1) as u64);
            apart
        };
        Ok(Self { start: section.start, step, shape: kept, apart: (0..axes).map(is_apart).collect() })
    }

    /// For files that are read from front to back: nothing is passed over.
    pub fn without_gaps(&self) -> Self {
        Self { apart: vec![false; self.apart.len()], ..self.clone() }
    }

    /// So many cells of the file are read for one that is taken.
    pub fn read_for_one(&self) -> u64 {
        let near = (0..self.step.axes()).filter(|&axis| !self.apart[axis]);
        near.fold(1, |all: u64, axis| all.saturating_mul(self.step[axis] as u64))
    }

    /// The boxes of the array into which one of it falls, each of which is read at once.
    pub fn parts(&self, wanted: &Region) -> Vec<Region> {
        let extents = wanted.extents();
        let part = Index::from_fn(extents.axes(), |axis| if self.apart[axis] { 1 } else { extents[axis] });
        wanted.tiles(&part).collect()
    }

    /// The box of the file that has the cells of one of the array.
    pub fn in_file(&self, wanted: &Region) -> Region {
        let at = |place: Index| Index::from_fn(place.axes(), |axis| self.start[axis] + place[axis] * self.step[axis]);
        let last = Index::from_fn(wanted.axes(), |axis| wanted.end[axis] - 1);
        let end = at(last);
        Region::between(at(wanted.start), Index::from_fn(end.axes(), |axis| end[axis] + 1))
    }

    /// Copies the cells that are taken, of so many bytes each, from those that have been read for `part` to their places in
    /// `block`.
    pub fn take(&self, bytes: usize, (block, part): (&Region, &Region), read: &[u8], out: &mut [u8]) {
        let from = Region::whole(self.in_file(part).extents());
        let (extents, step) = (part.extents(), self.step[0] as usize);
        let row = extents[0] as usize;
        let rows = Region::between(
            Index::zeros(extents.axes()),
            Index::from_fn(extents.axes(), |axis| if axis == 0 { 1 } else { extents[axis] }),
        );
        for first in rows.points() {
            let at = Index::from_fn(first.axes(), |axis| first[axis] * self.step[axis]);
            let (from, to) = (from.offset(&at) as usize, block.offset(&(part.start + first)) as usize);
            let (read, out) = (&read[from * bytes..], &mut out[to * bytes..(to + row) * bytes]);
            if step == 1 {
                out.copy_from_slice(&read[..row * bytes]);
                continue;
            }
            let taken = read.chunks_exact(bytes).step_by(step);
            out.chunks_exact_mut(bytes).zip(taken).for_each(|(out, cell)| out.copy_from_slice(cell));
        }
    }

    /// Whether all cells of the boxes that are read are taken.
    pub fn is_dense(&self) -> bool {
        self.read_for_one() == 1
    }

    /// What is said of the cells that are taken, where `metadata` is said of all.
    pub fn metadata(&self, mut metadata: Metadata) -> Metadata {
        let offsets: Vec<f64> =
            metadata.axes.iter().zip(self.start.iter()).map(|(axis, &start)| axis.spacing * start as f64).collect();
        for (number, axis) in metadata.axes.iter_mut().enumerate() {
            axis.origin += match &metadata.directions {
                None => offsets[number],
                Some(all) => {
                    let part =
                        |(vector, offset): (&Vec<f64>, &f64)| vector.get(number).map_or(0.0, |part| part * offset);
                    all.iter().zip(&offsets).map(part).sum::<f64>()
                }
            };
            axis.spacing *= self.step[number] as f64;
        }
        metadata
    }
}
