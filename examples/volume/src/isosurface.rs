//! The isosurface in the volume.

use serde::{Deserialize, Serialize};
use zippy::{Error, GlobalArray, Result, World};
use zippy_isosurface::{DeviceMesh, Extractor, Grid, Mesh};
use zippy_render::volume::{
    Camera, ClipPlane, DeviceTriangles, Frame, Look, Material, RendererOptions, Surface, Triangles, VolumeRenderer,
};

use super::units::Value;

/// Which isosurface is shown, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Isosurface {
    /// In the numbers of the file.
    pub isovalue: f64,
    pub material: Material,
}

/// Renders a volume with an isosurface, which is extracted anew when its value has changed.
///
/// Both are drawn relative to the first voxel: vertices are numbers of 32 bits, which far from the origin of space lie
/// further apart than voxels.
pub struct Pictures<'r, 'w, T> {
    world: &'w World,
    volume: &'r GlobalArray<T, 3>,
    /// Where the first voxel stands.
    origin: [f64; 3],
    /// The grid from there.
    grid: Grid,
    renderer: VolumeRenderer<'w, T>,
    extractor: Option<Extractor<'w, T>>,
    /// What kernels make of it, or the host.
    on_device: Option<DeviceMesh>,
    by_host: Mesh,
    /// The last surface, and its value.
    surface: Option<(Surface, f32)>,
}

impl<'r, 'w, T: Value> Pictures<'r, 'w, T> {
    /// For a volume on a grid. Collective; no isosurface is prepared yet.
    ///
    /// # Errors
    /// Those of [`VolumeRenderer::new`].
    pub fn new(world: &'w World, volume: &'r GlobalArray<T, 3>, grid: Grid, options: RendererOptions) -> Result<Self> {
        let (origin, grid) = (grid.origin, Grid { origin: [0.0; 3], ..grid });
        let renderer = VolumeRenderer::new(world, volume, grid, options)?;
        Ok(Self {
            world,
            volume,
            origin,
            grid,
            renderer,
            extractor: None,
            on_device: None,
            by_host: Mesh::default(),
            surface: None,
        })
    }

    /// Renders a look, in the space of the volume's grid, and an isosurface, both at stored numbers. Collective.
    ///
    /// # Errors
    /// A look, a material or an isovalue that makes no sense; a failure of this or of another rank.
    pub fn render(&mut self, look: &Look, shown: Option<&Isosurface>) -> Result<Frame> {
        let look = &relative(look, self.origin);
        let Some(Isosurface { isovalue, material }) = shown else { return self.renderer.render(look) };
        if !(*isovalue as f32).is_finite() {
            return Err(Error::program(format!(
                "an isovalue of {isovalue}: it is beyond the numbers of 32-bit floats"
            )));
        }
        self.extract_if_new(*isovalue as f32)?;
        let surfaces: Vec<_> = self.surface.iter().map(|(surface, _)| (surface, material)).collect();
        self.renderer.render_with(look, &surfaces)
    }

    fn extract_if_new(&mut self, isovalue: f32) -> Result<()> {
        if self.surface.as_ref().is_none_or(|(_, known)| *known != isovalue) {
            let known = self.surface.take().map(|(known, _)| known);
            self.surface = Some((self.extract(isovalue, known)?, isovalue));
        }
        Ok(())
    }

    /// Extracts into a surface that there is, or a new one.
    fn extract(&mut self, isovalue: f32, known: Option<Surface>) -> Result<Surface> {
        let Self { world, volume, grid, renderer, extractor, on_device, by_host, .. } = self;
        let extractor = match extractor {
            Some(made) => made,
            None => extractor.insert(Extractor::with_normals(world, volume, *grid)?),
        };
        if extractor.by_kernels() {
            let mesh = match on_device {
                Some(made) => made,
                None => on_device
                    .insert(world.agree("making room for an isosurface", DeviceMesh::new(world, "isosurface"))?),
            };
            extractor.extract_on_device(isovalue, None, mesh)?;
            let triangles = DeviceTriangles {
                positions: mesh.positions(),
                normals: mesh.normals(),
                values: None,
                triangles: mesh.triangles(),
            };
            return match known {
                Some(mut known) => renderer.set_surface_on_device(&mut known, &triangles).map(|()| known),
                None => renderer.surface_on_device("isosurface", &triangles),
            };
        }
        extractor.extract_into(isovalue, by_host)?;
        let mesh = &*by_host;
        let triangles = Triangles {
            positions: mesh.positions(),
            normals: mesh.normals(),
            values: &[],
            triangles: mesh.triangles(),
        };
        match known {
            Some(mut known) => renderer.set_surface(&mut known, &triangles).map(|()| known),
            None => renderer.surface("isosurface", &triangles),
        }
    }
}

/// A look from another origin of space.
fn relative(look: &Look, origin: [f64; 3]) -> Look {
    let from = |point: [f64; 3]| std::array::from_fn(|row| point[row] - origin[row]);
    let camera = &look.camera;
    let camera = Camera { position: from(camera.position), focal_point: from(camera.focal_point), ..camera.clone() };
    let plane = |&ClipPlane { normal, offset }: &ClipPlane| {
        let along: f64 = (0..3).map(|row| normal[row] * origin[row]).sum();
        ClipPlane { normal, offset: offset - along }
    };
    Look { camera, clip: look.clip.iter().map(plane).collect(), ..look.clone() }
}
