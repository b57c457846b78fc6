//! [`Lengths`]: reduction operand of the lengths of vectors.

use super::format::Format;
use super::number::Number;
use super::operand::LocalOperand;
use super::reduced::Reduced;
use super::source::{Work, kernel_of_lengths};
use crate::error::Result;

/// Euclidean lengths of vectors, as `f32`. The host rounds a length once; lengths computed by a
/// device may differ by a few units in the last place. A vector with a NaN has the length NaN.
pub(crate) struct Lengths<S>(pub LocalOperand<S, 1>);

impl<S: Number> Reduced for Lengths<S> {
    type Of = f32;

    fn components(&self) -> usize {
        1
    }

    fn cells(&self) -> u64 {
        self.0.cells()
    }

    fn format(&self) -> Option<Format> {
        self.0.format()
    }

    fn fold(
        &self,
        format: Format,
        (work, constants): (&Work, &[u32]),
        _: usize,
        each: &mut dyn FnMut(&[u32]),
    ) -> Result<()> {
        let (name, source) = kernel_of_lengths(work, &S::INFO, format, self.0.components());
        self.0.fold_with_kernel((&name, &source), (work, constants), 0, each)
    }

    fn fold_on_host<A: Send>(
        &self,
        least: u64,
        start: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, usize, &[f32]) + Sync,
    ) -> Result<Vec<A>> {
        let of_cell = self.0.numbers();
        let with_room = || (start(), Vec::new());
        let found = self.0.fold_cells(least, with_room, |(found, lengths), block| {
            let numbers: &[S] = bytemuck::cast_slice(block.cells[0]);
            lengths.clear();
            lengths.extend(of_cell.of_cells(numbers).map(length));
            add(found, 0, lengths);
        })?;
        Ok(found.into_iter().map(|(found, _)| found).collect())
    }
}

fn length<S: Number>(numbers: &[S]) -> f32 {
    let nan = numbers.iter().any(|number| number.key().is_none());
    let squares: f64 = numbers.iter().map(|number| number.to_f64().powi(2)).sum();
    if nan { f32::NAN } else { squares.sqrt() as f32 }
}
