//! One device, without a world: memory, packing and combining, by the host and by kernels.

mod combine;
mod combine_extremes;
mod devices;
mod lending;
mod opening;
mod random_kernels;
mod transfers;
