//! Surfaces of fields whose topology, area or mesh is known from elsewhere, over many cuts.

#[path = "../../../../tests/support/mod.rs"]
mod support;

mod by_kernels;
mod clips;
mod cuts;
mod fields;
mod files;
mod on_device;

mod reference;
mod sections;
mod several;
mod solid;
mod solids;
mod special;
mod values;
mod volumes;

under_mpi!(3; without by_kernels, on_device, reference, special);
