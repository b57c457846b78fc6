//! [`Flow`]: arrays, kernels and operations of a running flow.
//!
//! Populations and the number of steps are the complete state of a flow, and the content of a
//! checkpoint. An outlet keeps its state in the slots towards the wall beyond it, which are
//! otherwise unused.

mod array_mismatch;
mod body_force;
mod boundary_lists;
mod cell_number;
mod change_problem;
mod check_arrays;
mod chunk_lanes;
mod compute_fields;
mod due_exchange;
mod exchange;
mod fastest_cell;
mod fields;
mod find_boundary;
mod fingerprint;
mod flow_kernels;
mod flow_sample;
mod force_field;
mod initial_flow;
mod kernel_calls;
mod lattice_arrays;
mod mass;
mod pending_checks;
mod populations;
mod quantity;
mod running_flow;
mod stability;
mod step;

pub use array_mismatch::ArrayMismatch;
pub use body_force::BodyForce;
pub use fastest_cell::FastestCell;
pub use fields::Fields;
pub use fingerprint::SolidFingerprint;
pub use flow_sample::FlowSample;
pub use populations::Populations;
pub use quantity::Quantity;
pub use running_flow::Flow;
