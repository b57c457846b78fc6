use std::sync::Arc;

use super::auto::{self, ChunkBytes};
use super::{Layout, RequestedCuts, Split};
use crate::chunks::{AxisCuts, BoxCuts, Chunks, Cuts, MAX_CHUNKS};
use crate::error::LayoutError;
use crate::extents::Index;
use crate::region::{Region, RegionTree};

impl Layout {
    /// Chunks of an array with this layout, for `ranks` ranks, cells of `element_bytes` bytes and
    /// buffers of at most `max_chunk_bytes` bytes.
    ///
    /// The result depends only on the arguments, and is equal on all ranks. Cost: none per chunk
    /// for cuts of a grid, n log n for n boxes.
    ///
    /// # Errors
    /// * The first mistake of the layout.
    /// * The array overflows 63-bit indices or byte counts.
    /// * The sum of chunk sizes is not the extent of the axis.
    /// * Boxes overlap, leave gaps, or are not inside the shape.
    /// * A chunk with its ghost cells is larger than `max_chunk_bytes`.
    /// * The number of chunks exceeds the maximum.
    pub fn resolve(&self, ranks: usize, element_bytes: usize, max_chunk_bytes: u64) -> Result<Chunks, LayoutError> {
        if let Some(mistake) = &self.mistake {
            return Err(mistake.clone());
        }
        let overflow = || LayoutError::Overflow { shape: self.shape.to_string(), element_bytes };
        let cells = self.shape.product().ok_or_else(overflow)?;
        cells.checked_mul(element_bytes.max(1) as u64).filter(|&n| n <= i64::MAX as u64).ok_or_else(overflow)?;
        for axis in 0..self.shape.axes() {
            // A quarter of the range, so that coordinates of images and sums of widths cannot
            // overflow.
            let reach =
                [self.ghost_lo[axis], self.ghost_hi[axis]].iter().try_fold(self.shape[axis], |a, &b| a.checked_add(b));
            reach.filter(|&reach| reach <= i64::MAX / 4).ok_or_else(overflow)?;
        }
        let bytes =
            ChunkBytes { lo: self.ghost_lo, hi: self.ghost_hi, element: element_bytes.max(1), limit: max_chunk_bytes };
        let automatic = vec![Split::Auto; self.shape.axes()];
        let splits = match &self.cuts {
            None => &automatic,
            Some(RequestedCuts::Splits(splits)) => splits,
            Some(RequestedCuts::Boxes(boxes)) => return Ok(self.chunks(Cuts::Boxes(self.cover(boxes, cells, &bytes)?))),
        };
        if splits.iter().all(|split| *split == Split::Auto)
            && let Some(boxes) = auto::boxes(self.shape, cells, ranks, &bytes)
        {
            let tree = RegionTree::new(&boxes);
            return Ok(self.chunks(Cuts::Boxes(BoxCuts::new(boxes.into(), tree))));
        }
        Ok(self.chunks(Cuts::Grid(self.grid(splits, ranks, &bytes)?)))
    }

    fn chunks(&self, cuts: Cuts) -> Chunks {
        Chunks::from_cuts(self.shape, cuts, self.ghost_lo, self.ghost_hi, self.periodic)
    }

    fn grid(&self, splits: &[Split], ranks: usize, bytes: &ChunkBytes) -> Result<Vec<AxisCuts>, LayoutError> {
        let mut cuts = Vec::with_capacity(splits.len());
        for (axis, split) in splits.iter().enumerate() {
            let extent = self.shape[axis];
            cuts.push(match split {
                Split::Whole | Split::Auto => Some(AxisCuts::even(extent, 1)),
                Split::Even(0) => return Err(LayoutError::NoChunks { axis }),
                Split::Even(count) => Some(AxisCuts::even(extent, (*count).min(MAX_CHUNKS + 1))),
                Split::Sizes(sizes) => Some(user_sizes(axis, extent, sizes)?),
            });
            if *split == Split::Auto {
                cuts[axis] = None;
            }
        }
        let fixed: u128 = cuts.iter().flatten().map(|cut| cut.count() as u128).product();
        if fixed > MAX_CHUNKS as u128 {
            return Err(LayoutError::TooManyChunks { given: fixed, limit: MAX_CHUNKS });
        }
        let cuts = auto::choose(self.shape, cuts, ranks, bytes);
        let given: u128 = cuts.iter().map(|cut| cut.count() as u128).product();
        if given > MAX_CHUNKS as u128 {
            return Err(LayoutError::TooManyChunks { given, limit: MAX_CHUNKS });
        }
        let largest = Index::from_fn(cuts.len(), |axis| cuts[axis].largest().1);
        let needed = bytes.of(largest);
        if needed > u128::from(bytes.limit) {
            let counts = Index::from_fn(cuts.len(), |axis| cuts[axis].count() as i64);
            let chunk = (0..cuts.len()).rev().fold(0, |id, axis| id * cuts[axis].count() + cuts[axis].largest().0);
            return Err(self.too_large(chunk, largest, needed, counts, bytes));
        }
        Ok(cuts)
    }

    fn cover(&self, boxes: &Arc<[Region]>, cells: u64, bytes: &ChunkBytes) -> Result<BoxCuts, LayoutError> {
        if boxes.is_empty() {
            return Err(LayoutError::Gaps { held: 0, cells, shape: self.shape.to_string() });
        }
        if boxes.len() > MAX_CHUNKS {
            return Err(LayoutError::TooManyChunks { given: boxes.len() as u128, limit: MAX_CHUNKS });
        }
        let whole = Region::whole(self.shape);
        for (chunk, region) in boxes.iter().enumerate() {
            Region::new(&region.start, &region.end)
                .and_then(|region| region.check_within(&whole, "the shape"))
                .map_err(|source| LayoutError::Box { chunk, source })?;
        }
        let tree = RegionTree::new(boxes);
        if let Some((first, second)) = tree.overlapping_pair() {
            let (first_box, second_box) = (boxes[first].to_string(), boxes[second].to_string());
            return Err(LayoutError::Overlap { first, first_box, second, second_box });
        }
        let held: u128 = boxes.iter().map(|region| u128::from(region.cells())).sum();
        if held != u128::from(cells) {
            return Err(LayoutError::Gaps { held, cells, shape: self.shape.to_string() });
        }
        for (chunk, region) in boxes.iter().enumerate() {
            let needed = bytes.of(region.extents());
            if needed > u128::from(bytes.limit) {
                let counts = Index::splat(self.shape.axes(), 1);
                return Err(self.too_large(chunk, region.extents(), needed, counts, bytes));
            }
        }
        Ok(BoxCuts::new(boxes.clone(), tree))
    }

    fn too_large(&self, chunk: usize, extents: Index, needed: u128, counts: Index, bytes: &ChunkBytes) -> LayoutError {
        let advice = match auto::refine(self.shape, counts, &[true; crate::extents::MAX_AXES], bytes) {
            Some(counts) => {
                let splits: Vec<_> = counts.iter().map(|count| format!("Split::Even({count})")).collect();
                format!("Split::Auto or .split([{}]) would fit", splits.join(", "))
            }
            None => "its ghost cells alone are too many, so no split fits; use narrower ghost widths".to_owned(),
        };
        let extents = bytes.with_ghosts(extents).to_string();
        LayoutError::ChunkTooLarge { chunk, extents, bytes: needed, limit: bytes.limit, advice }
    }
}

fn user_sizes(axis: usize, extent: i64, sizes: &[i64]) -> Result<AxisCuts, LayoutError> {
    if sizes.is_empty() {
        return Err(LayoutError::NoChunks { axis });
    }
    if let Some(negative) = sizes.iter().find(|&&size| size < 0) {
        return Err(LayoutError::Size { what: "a chunk size", axis, given: negative.to_string() });
    }
    let sum: i128 = sizes.iter().map(|&size| i128::from(size)).sum();
    if sum != i128::from(extent) {
        return Err(LayoutError::Sum { axis, sum, extent });
    }
    Ok(AxisCuts::sizes(sizes))
}
