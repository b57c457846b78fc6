//! Initial state of the window of `--view`.

use zippy_render::volume::{Distribution, Look, TransferFunction};

use super::isosurface::Isosurface;

/// Description of the volume and initial settings of the window.
#[derive(Debug, Clone)]
pub struct ViewerSetup {
    /// Name and shape of the volume and number of ranks, for the status line.
    pub title: String,
    /// Extent of the volume along each axis, in the unit of the spacing.
    pub size: [f64; 3],
    /// Corners of the bounding box of the voxels in space.
    pub bounds: [[f64; 3]; 2],
    /// Smallest voxel spacing of the three axes.
    pub finest_spacing: f64,
    /// Look of the first picture.
    pub look: Look,
    pub background: [f32; 3],
    /// Isosurface that the window can show, and true if it is shown at first. `None` for volumes of
    /// several components.
    pub isosurface: Option<(Isosurface, bool)>,
    /// Distribution of the values of the whole volume.
    pub values: Distribution,
    /// Names and transfer functions of the presets.
    pub presets: Vec<(&'static str, TransferFunction)>,
}
