//! Which components of an array cross in which direction.

use std::ops::Range;
use std::sync::Arc;

use crate::chunks::Chunks;
use crate::error::PlanError;
use crate::extents::MAX_AXES;

/// For an array with a component axis (normally the last and slowest): the components that a ghost update
/// moves, for each direction.
///
/// A direction has −1, 0 or 1 per axis of the array, 0 on the component axis: it names the side of the
/// chunk *whose ghost cells take part*. `[1, 0, 0, 0]` are ghosts past the end of axis 0, and a lattice
/// Boltzmann step that streams towards −x lists there the components that move towards −x. Lists may differ from
/// call to call. Cheap to clone; compared by content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Components {
    axis: usize,
    axes: usize,
    /// Runs of consecutive components, by [`place`] of the direction.
    runs: Arc<[Vec<Range<i64>>]>,
}

impl Components {
    /// The table that `list(direction)` describes, for arrays of `axes` axes whose axis `axis` counts
    /// components. Order and repetition in a list do not matter.
    ///
    /// `list` is called once for every direction, 3^(axes − 1) − 1 times.
    ///
    /// # Errors
    /// When there are no such axes. Components are checked against an array by the operation.
    pub fn new(axis: usize, axes: usize, list: impl Fn(&[i8]) -> Vec<usize>) -> Result<Self, PlanError> {
        if axis >= axes || axes > MAX_AXES {
            return Err(PlanError::ComponentAxis { axis, table_axes: axes, axes: axes.min(MAX_AXES) });
        }
        let runs = (0..3_usize.pow(axes as u32)).map(|place| {
            let direction = direction(place, axes);
            let crosses = direction[axis] == 0 && direction[..axes].iter().any(|&step| step != 0);
            if crosses { runs(list(&direction[..axes])) } else { Vec::new() }
        });
        Ok(Self { axis, axes, runs: runs.collect() })
    }

    /// The component axis.
    pub fn axis(&self) -> usize {
        self.axis
    }

    /// The components of a direction, as runs of consecutive ones, ascending.
    pub fn runs(&self, direction: &[i8]) -> &[Range<i64>] {
        &self.runs[place(direction)]
    }

    pub(super) fn check(&self, chunks: &Chunks) -> Result<(), PlanError> {
        let axis = self.axis;
        if chunks.axes() != self.axes {
            return Err(PlanError::ComponentAxis { axis, table_axes: self.axes, axes: chunks.axes() });
        }
        let (before, behind) = (chunks.ghost_lo()[axis], chunks.ghost_hi()[axis]);
        if (before, behind) != (0, 0) {
            return Err(PlanError::ComponentGhosts { axis, before, behind });
        }
        let count = chunks.shape()[axis];
        for (place, runs) in self.runs.iter().enumerate() {
            if let Some(run) = runs.last().filter(|run| run.end > count) {
                let direction = direction(place, self.axes)[..self.axes].to_vec();
                return Err(PlanError::Component { direction, component: run.end - 1, axis, count });
            }
        }
        Ok(())
    }
}

fn place(direction: &[i8]) -> usize {
    direction.iter().rev().fold(0, |place, &step| place * 3 + (step + 1) as usize)
}

fn direction(place: usize, axes: usize) -> [i8; MAX_AXES] {
    let mut rest = place;
    let mut out = [0; MAX_AXES];
    for step in &mut out[..axes] {
        *step = (rest % 3) as i8 - 1;
        rest /= 3;
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
    fn lists_become_runs_by_direction() {
        let table =
            Components::new(1, 2, |direction| if direction[0] > 0 { vec![5, 3, 4, 4, 9] } else { vec![] }).unwrap();
        assert_eq!(table.runs(&[1, 0]), [3..6, 9..10]);
        assert!(table.runs(&[-1, 0]).is_empty());
        assert!(table.runs(&[1, 1]).is_empty(), "never along the component axis");
        assert!(Components::new(2, 2, |_| vec![]).is_err());
        assert!(Components::new(0, 8, |_| vec![]).is_err());
    }

    #[test]
    fn places_and_directions_are_inverse() {
        for at in 0..81 {
            assert_eq!(place(&direction(at, 4)[..4]), at);
        }
    }
}
