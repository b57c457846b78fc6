//! What the library is measured against, written by hand without it (apart from its transport, which both use).

#![allow(dead_code)] // every benchmark uses its part of this

pub mod compositing;
pub mod device;
pub mod dispatch;
pub mod exchange;
pub mod files;
pub mod halo;
pub mod lampshade;
pub mod lattice;
pub mod moves;
pub mod peer;
pub mod pixel;
pub mod stencil;
pub mod surfaces;
pub mod vtk;
