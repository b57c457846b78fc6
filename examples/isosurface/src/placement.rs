//! Position of a field in space, and output of its meshes at these positions.

use std::path::Path;

use zippy::{Result, World};
use zippy_io::mesh::Format;
use zippy_isosurface::{Grid, Mesh, VolumeMesh, write, write_volume, write_volume_with_origin, write_with_origin};

use crate::say::complain;

/// Least number of floats between neighbouring samples. With fewer, positions of meshes are
/// relative to the first sample, and files have doubles.
const MIN_STEPS: f64 = 1024.0;

/// Grid of a field, and origin of the positions of its meshes.
pub(crate) struct Placement {
    pub grid: Grid,
    /// Position of the first sample, if positions of meshes are relative to it.
    origin: Option<[f64; 3]>,
    /// Spacing of floats at the farthest sample.
    float_spacing: f64,
}

impl Placement {
    pub(crate) fn new(grid: Grid, shape: [i64; 3]) -> Self {
        let farthest = grid.bounds(shape).as_flattened().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let finest = grid.spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length));
        let float_spacing = if farthest > 0.0 { (farthest.log2().floor() - 23.0).exp2() } else { 0.0 };
        if float_spacing * MIN_STEPS <= finest || !farthest.is_finite() {
            return Self { grid, origin: None, float_spacing };
        }
        Self { grid: Grid { origin: [0.0; 3], ..grid }, origin: Some(grid.origin), float_spacing }
    }

    /// Converts the bounding box of a mesh to space.
    pub(crate) fn bounds(&self, bounds: [[f32; 3]; 2]) -> [[f64; 3]; 2] {
        let origin = self.origin.unwrap_or_default();
        bounds.map(|corner| std::array::from_fn(|row| origin[row] + f64::from(corner[row])))
    }

    /// Converts the offset of a plane in space to the grid of the meshes.
    pub(crate) fn offset(&self, normal: [f64; 3], offset: f64) -> f64 {
        let origin = self.origin.unwrap_or_default();
        offset - (0..3).map(|row| normal[row] * origin[row]).sum::<f64>()
    }

    /// Bounding box of the samples in space.
    pub(crate) fn field_box(&self, shape: [i64; 3]) -> [[f64; 3]; 2] {
        Grid { origin: self.origin.unwrap_or(self.grid.origin), ..self.grid }.bounds(shape)
    }

    /// Writes a mesh. Collective.
    pub(crate) fn write(&self, world: &World, mesh: &Mesh, path: &Path) -> Result<()> {
        let Some(origin) = self.origin else { return write(world, mesh, path) };
        if world.rank() == 0 && Format::of(path).is_ok_and(|format| format == Format::Stl) {
            complain(format_args!(
                "note: {}: STL has positions as floats, whose spacing is {} here; the spacing of samples is {:?}. PLY, OBJ, VTP and \
                 VTU have doubles",
                path.display(),
                self.float_spacing,
                self.grid.spacing
            ));
        }
        write_with_origin(world, mesh, origin, path)
    }

    /// Writes cells. Collective.
    pub(crate) fn write_volume(&self, world: &World, mesh: &VolumeMesh, path: &Path) -> Result<()> {
        match self.origin {
            None => write_volume(world, mesh, path),
            Some(origin) => write_volume_with_origin(world, mesh, origin, path),
        }
    }
}
