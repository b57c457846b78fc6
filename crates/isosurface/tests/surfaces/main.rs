//! Surfaces of fields whose topology, area or mesh is known from elsewhere, over many cuts.

mod cuts;
mod reference;
mod special;
mod support;
