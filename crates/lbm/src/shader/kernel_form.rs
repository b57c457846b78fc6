//! [`KernelForm`]: variants of the kernels of a flow.

use crate::collision::Collision;
use crate::problem::Problem;
use crate::sponge::Sponge;
use crate::velocity_set::VelocitySet;

/// Distances in a chunk of populations, in words: between neighbours along y and z, and between
/// slots.
pub(crate) type Strides = [i64; 3];

/// Properties of a flow that determine the text of its kernels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelForm {
    pub set: VelocitySet,
    pub collision: Collision,
    pub has_eddies: bool,
    pub has_force_field: bool,
    pub sponge: Option<Sponge>,
    /// Axis along which the two cells of a word are half the lattice apart; `None` in 32 bits.
    pub fold_axis: Option<usize>,
    pub fold_words: i64,
    /// Invocations of a workgroup along the first two axes.
    pub workgroup: [i64; 2],
    /// Strides of all chunks of this rank, if they are equal.
    pub strides: Option<Strides>,
}

/// Texts for the positions of a neighbour relative to the fold.
pub(crate) struct FoldTexts<'t> {
    pub same_half: &'t str,
    /// The neighbour above may be in the other half.
    pub above: &'t str,
    /// The neighbour below may be in the other half.
    pub below: &'t str,
}

impl KernelForm {
    /// `parts` are the lengths of the parts of the cut, in words.
    pub(crate) fn new(problem: &Problem, parts: &[Vec<i64>; 3], is_software_adapter: bool) -> Self {
        Self {
            workgroup: if is_software_adapter { fitting_workgroup(parts) } else { [64, 1] },
            strides: None,
            set: problem.set,
            collision: problem.collision,
            has_eddies: problem.smagorinsky.is_some(),
            has_force_field: problem.force_field.is_some(),
            sponge: problem.sponge(),
            fold_axis: problem.fold_axis(),
            fold_words: problem.fold_axis().map_or(0, |axis| problem.cut_extents()[axis]),
        }
    }

    /// Uses the strides of this rank's chunks as literals, which are faster than variables, if they
    /// are equal.
    pub(crate) fn with_strides(self, strides: &[Strides]) -> Self {
        let are_equal = strides.windows(2).all(|pair| pair[0] == pair[1]);
        Self { strides: strides.first().copied().filter(|_| are_equal), ..self }
    }

    /// Text for the neighbour in the direction of velocity `q`.
    pub(crate) fn across_fold<'t>(&self, q: usize, texts: &FoldTexts<'t>) -> &'t str {
        match self.fold_axis.map(|axis| self.set.velocity(q)[axis]) {
            None | Some(0) => texts.same_half,
            Some(1) => texts.above,
            Some(_) => texts.below,
        }
    }
}

/// Workgroup with the fewest invocations without a cell; on software adapters such invocations cost
/// as much as others.
fn fitting_workgroup(parts: &[Vec<i64>; 3]) -> [i64; 2] {
    let invocations = |workgroup: &[i64; 2]| -> i64 {
        let along = |axis: usize| {
            let size = workgroup[axis];
            parts[axis].iter().map(|n| (n + size - 1) / size * size).sum::<i64>()
        };
        along(0) * along(1)
    };
    [[64, 1], [32, 2], [16, 4], [8, 8]].into_iter().min_by_key(invocations).unwrap_or([64, 1])
}
