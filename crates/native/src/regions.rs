//! [`Regions`]: a kernel in single-assignment form, cut at its barriers, with the shapes of its
//! values.

use crate::emit::FramePlacement;
use crate::interior::Interior;
use crate::ir::Kernel;
use crate::shape::Shapes;
use crate::stages::{self, Staged};
use crate::{hoist_tests, legalize, narrow_loads, prune, ssa, value_numbering, work};

/// Choice between vector and scalar machine code. Results have the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vectorization {
    /// Eight invocations at a time, by vector instructions.
    #[default]
    Use,
    /// One invocation at a time, by scalar instructions.
    Avoid,
}

/// Regions of a kernel, each a kernel without barriers.
pub(crate) struct Regions {
    pub kernels: Vec<Kernel>,
    /// For each region, the shapes of its values; `None` for scalar code.
    pub groups: Vec<Option<GroupShapes>>,
    pub frames: FramePlacement,
    /// Stages of a kernel with barriers or workgroup memory; `None` for a kernel with one region.
    pub staged: Option<Staged>,
    /// True if the code has 32-bit byte indices into bindings.
    pub loads_bytes: bool,
    /// Estimated number of statements per invocation.
    pub statements: u64,
}

/// Shapes of a kernel's values within a group of invocations.
#[derive(Debug, Clone)]
pub(crate) struct GroupShapes {
    pub shapes: Shapes,
    /// The interiors of rows, and the shapes of their values within a group.
    pub interiors: Vec<(Interior, Shapes)>,
}

impl GroupShapes {
    /// Infers the shapes of a kernel and of its interiors. `is_kept`: see `kept` of
    /// [`Shapes::infer`].
    fn infer(kernel: &Kernel, is_kept: bool) -> Self {
        let interiors = Interior::find_all(kernel).into_iter().map(|interior| {
            let shapes = Shapes::infer_with_known(&interior.kernel, is_kept, &interior.shapes);
            (interior, shapes)
        });
        Self { interiors: interiors.collect(), shapes: Shapes::infer(kernel, is_kept) }
    }
}

impl Regions {
    /// Cuts and optimizes a lowered kernel. Takes a kernel without barriers, as its only region.
    pub(crate) fn new(kernel: &mut Kernel, vectors: Vectorization) -> Self {
        legalize::legalize(kernel);
        let statements = work::count_statements(&kernel.body);
        let staged = stages::has_stages(kernel).then(|| stages::cut_at_barriers(kernel));
        let mut kernels = match &staged {
            Some(staged) => staged.regions.clone(),
            None => vec![std::mem::take(kernel)],
        };
        let mut loads_bytes = false;
        for region in &mut kernels {
            ssa::convert(region);
            prune::prune(region);
            value_numbering::number_values(region);
            if narrow_loads::narrow_loads(region) {
                loads_bytes = true;
                prune::prune(region);
                value_numbering::number_values(region);
            }
            hoist_tests::hoist_tests(region);
        }
        let is_kept = staged.is_some();
        let frames = if is_kept { FramePlacement::PerGroup } else { FramePlacement::Reused };
        let groups = kernels.iter().map(|region| match vectors {
            Vectorization::Use => Some(GroupShapes::infer(region, is_kept)),
            Vectorization::Avoid => None,
        });
        Self { groups: groups.collect(), kernels, frames, staged, loads_bytes, statements }
    }
}
