//! Kernels of a flow as WGSL, generated for a velocity set and a precision.
//!
//! **Shifted populations.** The variable `g3` is population 3 minus its weight. A fluid at rest is
//! zero everywhere, and slow flows keep their digits.
//!
//! **Streaming in place (Esoteric-Pull, Lehmann 2022).** Populations have one copy. Slots *q* and
//! *q* + 1 hold the pair of populations *q* (odd) and *q* + 1. A step of a cell reads one slot of
//! each pair at the cell itself (`own3`) and one at the neighbour in the direction of velocity *q*
//! (`remote3`), and writes the leaving populations to the same two slots, exchanged. The parity of
//! the step selects the slots. So no cell overwrites a slot that another cell reads in this step.
//!
//! **Lists.** Cells that move, mirror or are open are in lists, each with its own kernel: on
//! software adapters, one kernel for all cells would cost the work of all branches.
//!
//! **Indices.** Kernels compute indices of `f` themselves, because a helper would handle four axes
//! for each slot. A chunk must therefore fit one binding, and checked runs do not see these
//! accesses.
//!
//! **Straight-line code.** The text has a statement for each population, because loops over
//! populations are slow on software adapters.

mod body_force_kernel;
mod collision;
mod cumulant;
mod eddy_viscosity;
mod expressions;
mod fastest_kernels;
mod field_kernels;
mod half_words;
mod kernel_form;
mod kernel_text;
mod moments;
mod open_sides;
mod outlet;
mod slots;
mod step_kernels;
mod walls;

pub(crate) use body_force_kernel::body_force_kernel;
pub(crate) use fastest_kernels::{RUN_CELLS, UNSTABLE_KEY, run_fastest_kernel, run_index_kernel};
pub(crate) use field_kernels::{fields_kernel, mass_kernel, open_fields_kernel, open_mass_kernel};
pub(crate) use kernel_form::{KernelForm, Strides};
pub(crate) use step_kernels::{
    initial_kernel, mirror_kernel, moving_wall_kernel, open_side_kernel, outlet_input_kernel, step_kernel,
};
