//! Records of boundary cells for kernels.

use zippy::Element;

/// Record of a cell that does not collide like other cells, for kernels; [`BOUNDARY_CELL_WGSL`] in
/// WGSL.
#[derive(Debug, Clone, Copy, PartialEq, Default, Element)]
#[repr(C)]
pub(crate) struct BoundaryCell {
    /// Index in the chunk, and number of the [`CellKind`](crate::CellKind).
    pub cell: [i32; 4],
    /// Velocity and density.
    pub flow: [f32; 4],
    /// By kind:
    ///
    /// * open side: normal into the fluid, and the density of an outlet;
    /// * mirror: steps to the fluid cell;
    /// * body: position relative to the centre of the body.
    pub normal: [f32; 4],
    /// Bits of the populations that arrive from fluid.
    pub links: u32,
    /// Bits of the populations that would arrive from outside of the lattice.
    pub outside: u32,
    /// Bits of the axes across which the cell is an image.
    pub mirrored_axes: u32,
    pub _pad: u32,
}

/// [`BoundaryCell`] in WGSL.
pub(crate) const BOUNDARY_CELL_WGSL: &str = "struct BoundaryCell { cell: vec4<i32>, flow: vec4<f32>, normal: vec4<f32>,
    links: u32, outside: u32, mirrored_axes: u32, _pad: u32 }
";
