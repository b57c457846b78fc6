//! One device, without a world: memory, packing and combining, by the host and by kernels.

mod combine;
mod device;
mod transfers;
