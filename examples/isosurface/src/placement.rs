//! Where a field lies in space, and its meshes in files.

use std::path::Path;

use zippy::{Result, World};
use zippy_io::mesh::Format;
use zippy_isosurface::{Grid, Mesh, VolumeMesh, write, write_volume, write_volume_with_origin, write_with_origin};

use crate::say::complain;

/// Floats must have so many numbers between neighbouring samples; else meshes count from the first
/// sample, and files have doubles.
const STEPS: f64 = 1024.0;

/// The grid of a field, and the point from which positions of its meshes count.
pub struct Placement {
    /// The grid that meshes are made on.
    pub grid: Grid,
    /// Where its first sample stands, if the positions of meshes count from there.
    origin: Option<[f64; 3]>,
    /// Distance of neighbouring floats at the farthest sample.
    coarse: f64,
}

impl Placement {
    pub fn new(grid: Grid, shape: [i64; 3]) -> Self {
        let farthest = grid.bounds(shape).as_flattened().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let finest = grid.spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length));
        let coarse = if farthest > 0.0 { (farthest.log2().floor() - 23.0).exp2() } else { 0.0 };
        if coarse * STEPS <= finest || !farthest.is_finite() {
            return Self { grid, origin: None, coarse };
        }
        Self { grid: Grid { origin: [0.0; 3], ..grid }, origin: Some(grid.origin), coarse }
    }

    /// A box of a mesh in space.
    pub fn bounds(&self, bounds: [[f32; 3]; 2]) -> [[f64; 3]; 2] {
        let origin = self.origin.unwrap_or_default();
        bounds.map(|corner| std::array::from_fn(|row| origin[row] + f64::from(corner[row])))
    }

    /// The offset of a plane in space, on the grid that meshes are made on.
    pub fn offset(&self, normal: [f64; 3], offset: f64) -> f64 {
        let origin = self.origin.unwrap_or_default();
        offset - (0..3).map(|row| normal[row] * origin[row]).sum::<f64>()
    }

    /// The box of the samples in space.
    pub fn field_box(&self, shape: [i64; 3]) -> [[f64; 3]; 2] {
        Grid { origin: self.origin.unwrap_or(self.grid.origin), ..self.grid }.bounds(shape)
    }

    /// Writes a mesh. Collective.
    ///
    /// # Errors
    /// As [`write`](write()).
    pub fn write(&self, world: &World, mesh: &Mesh, path: &Path) -> Result<()> {
        let Some(origin) = self.origin else { return write(world, mesh, path) };
        if world.rank() == 0 && Format::of(path).is_ok_and(|format| format == Format::Stl) {
            complain(format_args!(
                "note: {}: STL has positions as floats, which are {} apart there, and samples {:?}; PLY, OBJ, VTP and VTU get \
                 doubles",
                path.display(),
                self.coarse,
                self.grid.spacing
            ));
        }
        write_with_origin(world, mesh, origin, path)
    }

    /// Writes cells. Collective.
    ///
    /// # Errors
    /// As [`write_volume`].
    pub fn write_volume(&self, world: &World, mesh: &VolumeMesh, path: &Path) -> Result<()> {
        match self.origin {
            None => write_volume(world, mesh, path),
            Some(origin) => write_volume_with_origin(world, mesh, origin, path),
        }
    }
}
