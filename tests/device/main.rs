//! One device, without a world: memory, packing and combining, by the host and by kernels.

#[path = "mod.rs"]
mod device;
