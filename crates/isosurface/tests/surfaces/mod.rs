//! Surfaces of fields whose topology, area or mesh is known independently, over many cuts.

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

use crate::support;
