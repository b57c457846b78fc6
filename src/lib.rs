//! Global arrays for GPU clusters: one program over n-dimensional arrays that are cut over the GPUs
//! of a cluster. The program determines the owner of all data, and data moves between GPUs only in
//! calls for that purpose.
//!
//! A program is a function of a [`World`], one rank's view of the run. [`run`] calls the program on
//! every rank: on one rank, on `ZIPPY_RANKS=n` threads, or on the processes of an MPI launcher
//! (feature `mpi`). A [`Layout`] describes how an array is cut into chunks. Each chunk is a buffer
//! on the GPU of the rank that owns it. Functions that move data and functions that compute are
//! separate:
//!
//! * Methods of [`World`] **move data** between ranks. They take sections in global coordinates
//!   ([`GlobalArray::at`]). All ranks call them in the same order, except for methods that are
//!   documented as local.
//! * A [`Kernel`] **computes** on the GPU of one rank. It takes sections of chunks that this rank
//!   owns ([`GlobalArray::chunks`]). A rank calls it once per chunk, so perhaps never.
//!
//! The heat equation on a torus, with a ghost update before every step and a reduction at the end:
//!
//! ```
//! use zippy::{KernelSource, Layout, Split, World};
//!
//! // Arrays are bound by variable names. Each array has helpers such as `next_position`.
//! const STEP: &str = "
//! @group(0) @binding(0) var<storage, read> now: array<f32>;
//! @group(0) @binding(1) var<storage, read_write> next: array<f32>;
//! @group(0) @binding(2) var<uniform> rate: f32;
//! @compute @workgroup_size(64)
//! fn main(@builtin(global_invocation_id) id: vec3<u32>) {
//!     let p = next_position(id);
//!     if !next_inside(p) { return; }
//!     let x = vec2<i32>(1, 0);
//!     let y = vec2<i32>(0, 1);
//!     let around = now_load(p - x) + now_load(p + x) + now_load(p - y) + now_load(p + y);
//!     next_store(p, now_load(p) + rate * (around - 4.0 * now_load(p)));
//! }";
//!
//! fn program(world: &World) -> zippy::Result<()> {
//!     // 32 x 24 cells, cut along axis 0, with one ghost cell around each chunk and periodic axes.
//!     let layout = Layout::new([32, 24]).split([Split::Even(world.size()), Split::Whole]);
//!     let layout = layout.ghost([1, 1]).periodic([true, true]);
//!     let mut now = world.array::<f32, 2>("now", &layout)?;
//!     let mut next = world.array::<f32, 2>("next", &layout)?;
//!     now.fill(0.0)?;
//!     now.at((31, 0)).fill_with(|_| 1024.0)?;
//!
//!     let step = world.kernel(KernelSource::text("step.wgsl", STEP))?;
//!     for _ in 0..5 {
//!         world.ghosts(&now)?;
//!         for (a, b) in zippy::zip_chunks((&now, &next))? {
//!             step.call().read("now", a.all()).write("next", b.all())
//!                 .param("rate", 0.125_f32).run()?;
//!         }
//!         std::mem::swap(&mut now, &mut next);
//!     }
//!     // The heat is conserved and has spread over the edge, equally for any number of ranks.
//!     assert_eq!(world.sum(now.at(..))?, 1024.0);
//!     assert!(world.sum(now.at((0..5, ..)))? > 0.0);
//!     Ok(())
//! }
//!
//! fn main() -> zippy::Result<()> {
//! #   zippy::run_with(zippy::Config::threads(3), program)?;
//!     zippy::run(program)
//! }
//! ```
//!
//! Where to read on: [`layout`] for cuts and ghost cells, [`World`] for all operations that move
//! data, [`kernel`] for the features of shaders, [`algorithms`] for reductions and elementwise
//! expressions, [`collective`] for own operations, [`error`] for errors. Scans, sorts and other
//! primitives are in the crate `zippy-primitives`. The guides in `docs/guides` have a program for
//! each task, and DESIGN.md gives the reasons of the design.

// Generated code refers to `::zippy`, also inside of this crate.
extern crate self as zippy;

/// Warnings, and profiles of the time that a program takes.
pub mod trace {
    pub(crate) use zippy_base::trace::*;
    pub use zippy_base::trace::{Profile, SpanKind, has_warned, warn, warn_once};
}

/// Messages and collectives between ranks.
pub mod transport {
    #[cfg(feature = "mpi")]
    pub use zippy_transport::run_on;
    pub use zippy_transport::{Config, Group, Payload, Tag, TransportKind, copied, launch, values};
    pub(crate) use zippy_transport::{Entered, decoded, encoded, report_uncaught};
}

/// One GPU as seen by one rank: its adapter, its memory, and transfers of boxes of cells.
pub mod device {
    pub use zippy_device::device::{
        AdapterSummary, BufferBox, ChunkBuffer, Counters, Device, DeviceOptions, HostThreads, KernelBackend, Lease,
        Limits, Operator, PackedBox, StagedBytes, StridedBox, colour, has_wide_vectors,
    };
    pub(crate) use zippy_device::device::{
        CoreClaim, ReductionKernel, buffer_bytes, cache_capacity, estimate_compiled_bytes, set_runtime_directory,
    };
}

/// Records of operations on chunks: the last writers and, in checked runs, stale ghost cells.
pub mod history {
    pub use zippy_base::GhostState;
    pub use zippy_device::history::{Finding, MissingGhostWidth, OperationScope, OutsideAccesses, Problem, Site};
    pub(crate) use zippy_device::history::{Ghosts, History, Ledger, Moment, OperationName, WriteRecord};
}

pub mod array;

pub mod world;

/// Parts for crates that add operations on arrays, such as `zippy-primitives`.
///
/// An operation of another crate has the properties of an operation of this one: ranks with
/// different calls fail, errors reach all ranks and name the line of the program, chunks know their
/// last writer, and kernels are compiled once. The trait
/// [`CollectiveWorld`](crate::collective::CollectiveWorld) adds methods for such operations to
/// [`World`]:
///
/// * **A collective** runs in
///   [`run_collective`](crate::collective::CollectiveWorld::run_collective), with a
///   [`Collective`](crate::collective::Collective) as its name and signature. Its messages use
///   [`inner_group`](crate::collective::CollectiveWorld::inner_group).
///   [`agree_within`](crate::collective::CollectiveWorld::agree_within) turns the mistake of one
///   rank into a result of all ranks. An operation of several collectives runs its local steps in
///   [`failing`](crate::collective::CollectiveWorld::failing).
/// * **A public function** is `#[track_caller]`, begins with
///   [`CallSite::enter`](crate::error::CallSite::enter), and enters
///   [`enter_operation`](crate::collective::CollectiveWorld::enter_operation).
/// * **Cells without a static type** are a
///   [`CellSequence`](crate::collective::CellSequence): code for them is compiled once and not for
///   each element type. [`scratch_cells`](crate::collective::CollectiveWorld::scratch_cells)
///   allocates them, [`align_parts`](crate::collective::align_parts) cuts them for kernels,
///   [`Lending`](crate::collective::Lending) and
///   [`lend_slices`](crate::collective::lend_slices) give them to the host, and
///   [`deliver_columns`](crate::collective::CollectiveWorld::deliver_columns) sends them to ranks.
/// * **A composed kernel** comes from
///   [`cached_kernel`](crate::collective::CollectiveWorld::cached_kernel).
pub mod collective {
    pub use crate::array::sequence::{
        AlignedParts, CellSequence, Lending, LentCells, LentRange, SequencePart, align_parts, lend_slices,
    };
    pub use crate::world::collective::Collective;
    pub use crate::world::collective_world::CollectiveWorld;
    pub use crate::world::deliver::{Column, DeliveredCells, DeliveryTarget};
}

pub mod algorithms;

pub mod debug;

mod start;

// Items that most programs use.
#[doc(inline)]
pub use array::{GlobalArray, LocalArray, zip_chunks};
#[doc(inline)]
pub use device::Operator;
#[doc(inline)]
pub use element::Element;
#[doc(inline)]
pub use error::{Error, Result};
#[doc(inline)]
pub use kernel::{Kernel, KernelSource};
#[doc(inline)]
pub use layout::{Layout, Split};
#[doc(inline)]
pub use ownership::Ownership;
#[doc(inline)]
pub use plan::Moved;
#[cfg(feature = "mpi")]
#[doc(inline)]
pub use start::run_on;
#[doc(inline)]
pub use start::{prepare_process, run, run_with};
#[doc(inline)]
pub use transport::Config;
#[doc(inline)]
pub use world::World;
#[doc(inline)]
pub use world::array_options::ArrayOptions;
#[doc(inline)]
pub use world::exchange::Exchange;
#[doc(inline)]
pub use world::plan::Plan;
pub use zippy_derive::Element;
#[doc(inline)]
pub use zippy_plan::Grid;

#[doc(inline)]
pub use zippy_base::{element, error};
#[doc(inline)]
pub use zippy_device::{include_wgsl, kernel, wgsl_module};
// Descriptions of arrays and their moves, without a GPU.
pub use zippy_plan::{chunks, extents, layout, locate, ownership, plan, region};

/// The `wgpu` crate that Zippy uses, for direct use of [`World::gpu`].
pub use wgpu;
