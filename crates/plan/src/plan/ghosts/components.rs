use std::ops::Range;
use std::sync::Arc;

use crate::chunks::Chunks;
use crate::error::PlanError;
use crate::extents::MAX_AXES;

/// Component lists of a ghost update: the components that the update moves, per direction, for an
/// array with a component axis (normally the last and slowest axis).
///
/// A direction has −1, 0 or 1 per axis of the array, and 0 on the component axis. It is the side of
/// the chunk with the *ghost cells of the update*: `[1, 0, 0, 0]` are ghost cells past the end of
/// axis 0. There, a lattice Boltzmann step that streams towards −x lists the components that move
/// towards −x. Calls can have different lists. A clone is cheap; comparison is by content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Components {
    axis: usize,
    axes: usize,
    runs: Arc<[Vec<Range<i64>>]>,
}

impl Components {
    /// Component lists for arrays of `axes` axes with component axis `axis`.
    ///
    /// `list(direction)` returns the components of a direction, in any order, with or without
    /// repetitions. It is called once per direction, 3^(axes − 1) − 1 times.
    ///
    /// # Errors
    /// [`PlanError::ComponentAxis`]: the axis does not exist, or `axes` is too large. Operations
    /// check the components against their arrays.
    pub fn new(axis: usize, axes: usize, list: impl Fn(&[i8]) -> Vec<usize>) -> Result<Self, PlanError> {
        if axis >= axes || axes > MAX_AXES {
            return Err(PlanError::ComponentAxis { axis, table_axes: axes, axes: axes.min(MAX_AXES) });
        }
        let runs = (0..3_usize.pow(axes as u32)).map(|index| {
            let direction = direction(index, axes);
            let has_ghosts = direction[axis] == 0 && direction[..axes].iter().any(|&step| step != 0);
            if has_ghosts { runs(list(&direction[..axes])) } else { Vec::new() }
        });
        Ok(Self { axis, axes, runs: runs.collect() })
    }

    /// Component axis.
    pub fn axis(&self) -> usize {
        self.axis
    }

    /// Components of a direction, as ascending runs of consecutive components.
    pub fn runs(&self, direction: &[i8]) -> &[Range<i64>] {
        &self.runs[direction_index(direction)]
    }

    pub(super) fn check(&self, chunks: &Chunks) -> Result<(), PlanError> {
        let axis = self.axis;
        if chunks.axes() != self.axes {
            return Err(PlanError::ComponentAxis { axis, table_axes: self.axes, axes: chunks.axes() });
        }
        let (before, after) = (chunks.ghost_lo()[axis], chunks.ghost_hi()[axis]);
        if (before, after) != (0, 0) {
            return Err(PlanError::ComponentGhosts { axis, before, behind: after });
        }
        let count = chunks.shape()[axis];
        for (index, runs) in self.runs.iter().enumerate() {
            if let Some(run) = runs.last().filter(|run| run.end > count) {
                let direction = direction(index, self.axes)[..self.axes].to_vec();
                return Err(PlanError::Component { direction, component: run.end - 1, axis, count });
            }
        }
        Ok(())
    }
}

/// Index of a direction: steps plus 1 as digits of base 3, axis 0 lowest.
fn direction_index(direction: &[i8]) -> usize {
    direction.iter().rev().fold(0, |index, &step| index * 3 + (step + 1) as usize)
}

fn direction(index: usize, axes: usize) -> [i8; MAX_AXES] {
    let mut quotient = index;
    let mut out = [0; MAX_AXES];
    for step in &mut out[..axes] {
        *step = (quotient % 3) as i8 - 1;
        quotient /= 3;
    }
    out
}

fn runs(mut list: Vec<usize>) -> Vec<Range<i64>> {
    list.sort_unstable();
    list.dedup();
    let mut runs: Vec<Range<i64>> = Vec::new();
    for component in list {
        let component = i64::try_from(component).unwrap_or(i64::MAX - 1).min(i64::MAX - 1);
        match runs.last_mut() {
            Some(run) if run.end == component => run.end += 1,
            _ => runs.push(component..component + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_lists_become_runs_by_direction() {
        let table =
            Components::new(1, 2, |direction| if direction[0] > 0 { vec![5, 3, 4, 4, 9] } else { vec![] }).unwrap();
        assert_eq!(table.runs(&[1, 0]), [3..6, 9..10]);
        assert!(table.runs(&[-1, 0]).is_empty());
        assert!(table.runs(&[1, 1]).is_empty(), "never along the component axis");
        assert!(Components::new(2, 2, |_| vec![]).is_err());
        assert!(Components::new(0, 8, |_| vec![]).is_err());
    }

    #[test]
    fn direction_index_inverts_direction() {
        for index in 0..81 {
            assert_eq!(direction_index(&direction(index, 4)[..4]), index);
        }
    }
}
