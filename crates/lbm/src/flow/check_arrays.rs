//! Checks that arrays have the layout of a flow.

use zippy::{Element, GlobalArray};

use super::array_mismatch::ArrayMismatch;
use super::fields::Fields;
use super::running_flow::Flow;
use crate::error::FlowError;

impl Flow<'_> {
    /// Checks that an array has the chunks of the lattice on this rank, with their ghost cells.
    /// Local.
    pub(super) fn check_array<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<(), FlowError> {
        self.compare_array(array)
            .map_err(|mismatch| FlowError::ForeignArray { name: array.name().to_owned(), mismatch })
    }

    pub(super) fn check_fields(&self, fields: &Fields) -> Result<(), FlowError> {
        self.check_array(&fields.excess)?;
        self.check_array(&fields.velocity)
    }

    fn compare_array<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<(), ArrayMismatch> {
        let (lattice, shape) = (self.kinds.shape(), array.shape());
        if shape[..3] != lattice || shape[3..].iter().any(|&components| components != 3) {
            return Err(ArrayMismatch::Shape { array: shape.to_vec(), lattice });
        }
        let mut chunks = array.chunks().map(|chunk| chunk.region());
        for region in self.kinds.chunks().map(|chunk| chunk.region()) {
            let found = chunks.next();
            let is_same = found.as_ref().is_some_and(|found| {
                (0..3).all(|k| (found.start[k], found.end[k]) == (region.start[k], region.end[k]))
            });
            if !is_same {
                let array = found.map(|found| found.to_string());
                return Err(ArrayMismatch::Chunk { array, lattice: region.to_string() });
            }
        }
        if let Some(region) = chunks.next() {
            return Err(ArrayMismatch::AdditionalChunk { region: region.to_string() });
        }
        let (own, other) = (self.kinds.core().chunks(), array.core().chunks());
        let has_same_ghosts = |k: usize| {
            (own.ghost_lo()[k], own.ghost_hi()[k]) == (other.ghost_lo()[k], other.ghost_hi()[k])
                && own.periodic()[k] == other.periodic()[k]
        };
        if (0..3).all(has_same_ghosts) { Ok(()) } else { Err(ArrayMismatch::GhostCells) }
    }
}
