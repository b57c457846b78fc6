//! What a window has to know before it can ask for pictures.

use zippy_render::volume::{Distribution, Look, TransferFunction};

use super::isosurface::Isosurface;

/// The volume and the first look at it.
#[derive(Debug, Clone)]
pub struct Setting {
    /// What is seen and by whom, for the title line.
    pub about: String,
    /// Lengths of the volume along its axes.
    pub size: [f64; 3],
    /// Least and greatest coordinates of its voxels in space.
    pub bounds: [[f64; 3]; 2],
    /// The smallest distance of voxels.
    pub voxel: f64,
    /// How it is looked at first.
    pub look: Look,
    pub background: [f32; 3],
    /// An isosurface that can be shown in it, and whether it is shown first; `None` where the volume has none.
    pub isosurface: Option<(Isosurface, bool)>,
    /// Of the whole volume.
    pub values: Distribution,
    pub presets: Vec<(&'static str, TransferFunction)>,
}
