//! Arrays that are of a flow, and those that are not.

use zippy::{Element, GlobalArray};

use super::{Fields, Flow};
use crate::error::FlowError;

impl Flow<'_> {
    /// Whether this rank's chunks of an array are those of the flow's cells, with their ghost cells.
    ///
    /// # Errors
    /// How they differ.
    pub(super) fn owns<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<(), FlowError> {
        let wrong = |wrong: String| Err(FlowError::Array { name: array.name().to_owned(), wrong });
        let (own, other) = (self.cells.shape(), array.shape());
        if other[..3] != own || other[3..].iter().any(|&count| count != 3) {
            return wrong(format!("it has the shape {other:?}, and the lattice {own:?}"));
        }
        let mut chunks = array.chunks().map(|chunk| chunk.region());
        for region in self.cells.chunks().map(|chunk| chunk.region()) {
            match chunks.next() {
                Some(other) if (0..3).all(|k| (other.start[k], other.end[k]) == (region.start[k], region.end[k])) => {}
                other => {
                    let has = other.map_or("none".to_owned(), |other| format!("{other}"));
                    return wrong(format!("it has {has} on this rank where the flow has the chunk {region}"));
                }
            }
        }
        if let Some(more) = chunks.next() {
            return wrong(format!("it has {more} on this rank, and the flow no such chunk"));
        }
        let (own, other) = (self.cells.core().chunks(), array.core().chunks());
        let ghosts = |k: usize| (own.ghost_lo()[k], own.ghost_hi()[k]) == (other.ghost_lo()[k], other.ghost_hi()[k]);
        match (0..3).all(|k| ghosts(k) && own.periodic()[k] == other.periodic()[k]) {
            true => Ok(()),
            false => wrong("it has other ghost cells".into()),
        }
    }

    /// [`owns`](Self::owns), of both arrays.
    pub(super) fn owns_fields(&self, fields: &Fields) -> Result<(), FlowError> {
        self.owns(&fields.excess).and_then(|()| self.owns(&fields.velocity))
    }
}
