//! One program with all benchmarks and all tests that use an adapter: each program that links wgpu
//! has ten megabytes. `cargo xtask bundle` builds the program, and the bundle's runner starts tests
//! and benchmarks by name.

// Each benchmark is also a separate program and declares the files that benchmarks share.
#![allow(clippy::duplicate_mod, reason = "each test names its helpers")]

#[path = "../../crates/primitives/tests/algorithms/mod.rs"]
mod algorithms;
#[path = "../../tests/device/mod.rs"]
mod device;
#[path = "../../crates/lbm/tests/flow/mod.rs"]
mod flow;
#[path = "../../examples/volume/tests/picture/mod.rs"]
mod picture;
#[path = "../../crates/render/tests/ranks/mod.rs"]
mod ranks;
#[path = "../../crates/isosurface/tests/surfaces/mod.rs"]
mod surfaces;
#[path = "../../tests/world/mod.rs"]
mod world;

#[path = "../../crates/io/tests/common/counting.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod counting;

mod benchmarks;

use zippy_testing as support;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;
