//! Kernels over local sections: helpers and bindings compared with their definition, exact error
//! texts, and shaders compared with their twins.

mod arguments;
mod compiled;
mod device_counts;
mod domains;
mod drawn_by_driver;
mod errors_calls;
mod errors_wgsl;
mod helpers;
mod large;
mod native;
mod over;
mod packed;
mod recompiling;
#[cfg(debug_assertions)]
mod reload;
mod report;
mod shaders;
mod types;
mod wgsl;
mod windows;
mod workgroups;
