//! [`Lengths`]: vectors by how long they are.

use super::number::{Format, Number};
use super::operand::LocalOperand;
use super::reduced::Reduced;
use super::source::{Work, kernel_of_lengths};
use crate::error::Result;

/// The Euclidean lengths of vectors, as `f32`: the host's are rounded once, those of a device may be a few units in the last
/// place off. Where a component is NaN the length is, too.
pub struct Lengths<S>(pub LocalOperand<S, 1>);

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
        self.0.fold_by((&name, &source), (work, constants), 0, each)
    }

    fn visit(&self, mut each: impl FnMut(usize, f32)) -> Result<()> {
        self.0.read_cells(|numbers| {
            let nan = numbers.iter().any(|number| number.key().is_none());
            let squares: f64 = numbers.iter().map(|number| number.to_f64().powi(2)).sum();
            each(0, if nan { f32::NAN } else { squares.sqrt() as f32 });
        })
    }
}
