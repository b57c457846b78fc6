//! Division of a lattice over the ranks.

use zippy::{Layout, Split, World};

use crate::cut_error::{CutError, CutUnit};
use crate::cut_grid::{CutGrid, MAX_CHUNKS, extend, fits, product, split_evenly};
use crate::error::FlowError;
use crate::problem::Problem;
use crate::side::Side;

/// Division of the lattice along each axis.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Cut {
    /// About as many cells on each rank, with small cuts, in chunks that fit one binding of a
    /// kernel.
    #[default]
    Auto,
    /// Number of parts along each axis, as even as possible.
    Parts([usize; 3]),
    /// Lengths of the parts along each axis, which add up to [`Problem::cut_extents`].
    Sizes([Vec<i64>; 3]),
}

impl Cut {
    /// Lengths of the parts along each axis of a problem's lattice, with `cell_bytes` bytes of
    /// populations per cell.
    pub(crate) fn resolve(
        &self,
        world: &World,
        problem: &Problem,
        cell_bytes: i64,
    ) -> Result<[Vec<i64>; 3], FlowError> {
        let extents = problem.cut_extents();
        let parts = match self {
            Self::Sizes(sizes) => {
                for (axis, lengths) in sizes.iter().enumerate() {
                    check_sizes(problem, axis, lengths)?;
                }
                check_chunk_count(world, extents, product(&sizes.each_ref().map(|lengths| lengths.len() as i64)))?;
                return Ok(sizes.clone());
            }
            Self::Parts(parts) => parts.map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
            Self::Auto => {
                let max_cells = i128::from(world.limits().binding_bytes) / i128::from(cell_bytes);
                check_chunk_count(world, extents, product(&extents) / max_cells.max(1))?;
                let minima = [0, 1, 2].map(|axis| end_minima(problem, axis));
                CutGrid { extents, ghosts: ghost_layers(problem), minima, max_cells }.choose(world.size() as i64)
            }
        };
        for axis in 0..3 {
            let (length, minima) = (extents[axis], end_minima(problem, axis));
            if !fits(length, parts[axis], minima) {
                let unit = cut_unit(problem, axis);
                return Err(CutError::TooManyParts { axis, parts: parts[axis], length, minima, unit }.into());
            }
        }
        check_chunk_count(world, extents, product(&parts))?;
        Ok(std::array::from_fn(|axis| split_evenly(extents[axis], parts[axis], end_minima(problem, axis))))
    }

    /// Checks that each chunk with its ghost cells fits one binding: kernels index populations
    /// within a binding.
    pub(crate) fn check_chunk_size(
        world: &World,
        problem: &Problem,
        parts: &[Vec<i64>; 3],
        cell_bytes: i64,
    ) -> Result<(), FlowError> {
        let cells = [0, 1, 2].map(|axis| parts[axis].iter().max().map_or(0, |&length| length));
        let bytes = product(&extend(cells, ghost_layers(problem))).saturating_mul(cell_bytes.into());
        let max_bytes = world.limits().binding_bytes;
        if bytes > max_bytes.into() {
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            return Err(FlowError::ChunkTooLarge { cells, bytes, max_bytes });
        }
        Ok(())
    }
}

fn cut_unit(problem: &Problem, axis: usize) -> CutUnit {
    if problem.fold_axis() == Some(axis) { CutUnit::Words } else { CutUnit::Cells }
}

fn check_sizes(problem: &Problem, axis: usize, lengths: &[i64]) -> Result<(), CutError> {
    let (unit, expected, owned) = (cut_unit(problem, axis), problem.cut_extents()[axis], || lengths.to_vec());
    if lengths.is_empty() || lengths.iter().any(|&length| length < 1) {
        return Err(CutError::EmptyPart { axis, lengths: owned(), unit });
    }
    let sum = lengths.iter().try_fold(0_i64, |sum, &length| sum.checked_add(length));
    if sum != Some(expected) {
        return Err(CutError::WrongSum { axis, lengths: owned(), expected, unit });
    }
    let minima @ [first, last] = end_minima(problem, axis);
    if lengths.len() > 1 && (lengths[0] < first || lengths[lengths.len() - 1] < last) {
        return Err(CutError::ShortEnd { axis, lengths: owned(), minima, unit });
    }
    Ok(())
}

/// Refuses lattices that need more chunks than both [`MAX_CHUNKS`] and the number of ranks.
fn check_chunk_count(world: &World, lattice: [i64; 3], chunks: i128) -> Result<(), FlowError> {
    let max = MAX_CHUNKS.max(world.size() as i128);
    if chunks > max { Err(FlowError::TooManyChunks { lattice, chunks, max }) } else { Ok(()) }
}

/// Layers of ghost cells of a chunk along each axis, both ends together.
fn ghost_layers(problem: &Problem) -> [i64; 3] {
    std::array::from_fn(|axis| if axis < problem.set.axes() { 2 } else { 0 })
}

/// Layout of an array with these parts, and with `components` numbers per cell along a fourth axis.
pub(crate) fn lattice_layout(parts: &[Vec<i64>; 3], components: Option<usize>) -> Layout {
    let [nx, ny, nz] = parts.each_ref().map(|lengths| lengths.iter().sum::<i64>());
    let [x, y, z] = parts.each_ref().map(|lengths| Split::Sizes(lengths.clone()));
    match components {
        None => Layout::new([nx, ny, nz]).split([x, y, z]),
        Some(count) => Layout::new([nx, ny, nz, count as i64]).split([x, y, z, Split::Whole]),
    }
}

/// Least length of a part at an outlet: the layer beyond, the outlet, and its inner neighbour.
const MIN_AT_OUTLET: i64 = 3;
/// Least length of a part at a free-slip side: the image, and its cell.
const MIN_AT_FREE_SLIP: i64 = 2;

fn end_minima(problem: &Problem, axis: usize) -> [i64; 2] {
    [0, 1].map(|side| {
        let padding = if side == 1 { problem.padding_layers(axis) } else { 0 };
        match problem.sides[axis][side] {
            Side::Outlet(_) => MIN_AT_OUTLET + padding,
            Side::FreeSlip => MIN_AT_FREE_SLIP + padding,
            _ => 1,
        }
    })
}
