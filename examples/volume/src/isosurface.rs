//! Rendering of a volume with an isosurface.

use serde::{Deserialize, Serialize};
use zippy::{Error, GlobalArray, Result, World};
use zippy_isosurface::{DeviceMesh, Extractor, Grid, Mesh};
use zippy_render::volume::{
    Camera, ClipPlane, DeviceTriangles, Frame, Look, Material, RendererOptions, Surface, Triangles, VolumeRenderer,
};

use super::units::Value;

/// Isosurface of one value with a material.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Isosurface {
    /// Value in the numbers that the context uses: values of the volume, or stored numbers.
    pub isovalue: f64,
    pub material: Material,
}

/// Renders a volume with an isosurface. The surface is extracted again only when its value changes.
///
/// Both are drawn relative to the first voxel: far from the origin of space, the spacing of 32-bit
/// floats exceeds the voxel spacing.
pub struct VolumeAndSurfaceRenderer<'r, 'w, T> {
    world: &'w World,
    volume: &'r GlobalArray<T, 3>,
    /// Position of the first voxel in space.
    origin: [f64; 3],
    /// Grid with its origin at the first voxel.
    grid: Grid,
    renderer: VolumeRenderer<'w, T>,
    extractor: Option<Extractor<'w, T>>,
    /// Mesh from the extraction kernels.
    device_mesh: Option<DeviceMesh>,
    /// Mesh from the extraction on the host, if kernels cannot extract.
    host_mesh: Mesh,
    /// Surface of the last picture and its isovalue.
    surface: Option<(Surface, f32)>,
}

impl<'r, 'w, T: Value> VolumeAndSurfaceRenderer<'r, 'w, T> {
    /// Creates a renderer for a volume on a grid, without an isosurface. Collective.
    ///
    /// # Errors
    /// Errors of [`VolumeRenderer::new`].
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
            device_mesh: None,
            host_mesh: Mesh::default(),
            surface: None,
        })
    }

    /// Renders `look`, whose camera and planes are in the space of the grid, with an isosurface.
    /// The transfer function and the isovalue are in stored numbers. Collective.
    ///
    /// # Errors
    /// An invalid look, material or isovalue; a failure of any rank.
    pub fn render(&mut self, look: &Look, shown: Option<&Isosurface>) -> Result<Frame> {
        let look = &translate(look, self.origin);
        let Some(Isosurface { isovalue, material }) = shown else { return self.renderer.render(look) };
        if !(*isovalue as f32).is_finite() {
            return Err(Error::program(format!("isovalue {isovalue}: it is beyond the range of 32-bit floats")));
        }
        self.update_surface(*isovalue as f32)?;
        let surfaces: Vec<_> = self.surface.iter().map(|(surface, _)| (surface, material)).collect();
        self.renderer.render_with(look, &surfaces)
    }

    fn update_surface(&mut self, isovalue: f32) -> Result<()> {
        if self.surface.as_ref().is_none_or(|(_, extracted)| *extracted != isovalue) {
            let previous = self.surface.take().map(|(surface, _)| surface);
            self.surface = Some((self.extract_surface(isovalue, previous)?, isovalue));
        }
        Ok(())
    }

    /// Extracts the isosurface into `previous`, if there is a previous surface, to reuse its
    /// memory.
    fn extract_surface(&mut self, isovalue: f32, previous: Option<Surface>) -> Result<Surface> {
        let Self { world, volume, grid, renderer, extractor, device_mesh, host_mesh, .. } = self;
        let extractor = match extractor {
            Some(existing) => existing,
            None => extractor.insert(Extractor::with_normals(world, volume, *grid)?),
        };
        if extractor.by_kernels() {
            let mesh = match device_mesh {
                Some(existing) => existing,
                None => {
                    device_mesh.insert(world.agree("allocating an isosurface", DeviceMesh::new(world, "isosurface"))?)
                }
            };
            extractor.extract_on_device(isovalue, None, mesh)?;
            let triangles = DeviceTriangles {
                positions: mesh.positions(),
                normals: mesh.normals(),
                values: None,
                triangles: mesh.triangles(),
            };
            return match previous {
                Some(mut surface) => renderer.set_surface_on_device(&mut surface, &triangles).map(|()| surface),
                None => renderer.surface_on_device("isosurface", &triangles),
            };
        }
        extractor.extract_into(isovalue, host_mesh)?;
        let mesh = &*host_mesh;
        let triangles = Triangles {
            positions: mesh.positions(),
            normals: mesh.normals(),
            values: &[],
            triangles: mesh.triangles(),
        };
        match previous {
            Some(mut surface) => renderer.set_surface(&mut surface, &triangles).map(|()| surface),
            None => renderer.surface("isosurface", &triangles),
        }
    }
}

/// Translates a look so that `origin` becomes the origin of space.
fn translate(look: &Look, origin: [f64; 3]) -> Look {
    let from = |point: [f64; 3]| std::array::from_fn(|row| point[row] - origin[row]);
    let camera = &look.camera;
    let camera = Camera { position: from(camera.position), focal_point: from(camera.focal_point), ..camera.clone() };
    let plane = |&ClipPlane { normal, offset }: &ClipPlane| {
        let along: f64 = (0..3).map(|row| normal[row] * origin[row]).sum();
        ClipPlane { normal, offset: offset - along }
    };
    Look { camera, clip: look.clip.iter().map(plane).collect(), ..look.clone() }
}
