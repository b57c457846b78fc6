//! Compute kernels as machine code for the host's processors.
//!
//! A kernel is a compute entry point of a validated naga module. [`CompiledKernel::new`] compiles a
//! kernel in these steps:
//!
//! * [`lower`]: entry point to scalar operations in structured control flow ([`ir`]).
//! * `legalize`: functions ([`math`]) and halves to operations that processors have.
//! * `stages`: kernels with barriers to regions.
//! * `ssa`: variables to values.
//! * `value_numbering`: evaluation of equal values once; `prune`: removal of unused values.
//! * `narrow_loads`: loads of single bytes instead of words.
//! * `hoist_tests`: tests of accesses before the first write.
//! * `shape`: uniform, affine or varying differences between neighbouring invocations.
//! * `interior`: the part of a row in which comparisons of positions have known results.
//! * `emit` and `generate`: machine code for rows, eight invocations at a time.
//!
//! [`CompiledKernel::run`] runs the code on the threads of the host:
//!
//! ```
//! use naga::valid::{Capabilities, ValidationFlags, Validator};
//! use zippy_native::{BindingBytes, CompiledKernel, OneThread, StopRequest, Vectorization};
//!
//! let source = "
//!     @group(0) @binding(0) var<storage, read_write> cells: array<u32>;
//!     @compute @workgroup_size(4)
//!     fn main(@builtin(global_invocation_id) id: vec3<u32>) { cells[id.x] = 2u * id.x; }";
//! let module = naga::front::wgsl::parse_str(source)?;
//! let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module)?;
//! let kernel = CompiledKernel::new(&module, &info, "main", source, Vectorization::Use)?;
//!
//! // Words of 8 bytes, for the alignment of bindings.
//! let mut words = [0_u64; 4];
//! let cells = BindingBytes::written(bytemuck::cast_slice_mut(&mut words));
//! kernel.run(&[cells], [2, 1, 1], &OneThread, &StopRequest::default())?;
//! assert_eq!(bytemuck::cast_slice::<u64, u32>(&words), [0, 2, 4, 6, 8, 10, 12, 14]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compiled_kernel;
mod emit;
mod error;
mod generate;
mod hoist_tests;
mod interior;
#[allow(missing_docs, reason = "names of operations and operands")]
pub mod ir;
mod legalize;
pub mod lower;
mod machine_code;
pub mod math;
mod narrow_loads;
mod prune;
mod regions;
mod shape;
mod ssa;
mod staged_workgroup;
mod stages;
mod value_numbering;
mod work;

pub use compiled_kernel::{
    CompiledKernel, OneThread, SMALL_STACK_BYTES, STACK_RESERVE_BYTES, TaskRunner, generate_for_target,
};
pub use error::Error;
pub use generate::MAX_STACK_BYTES;
pub use machine_code::{BindingBytes, StopRequest};
pub use regions::Vectorization;
