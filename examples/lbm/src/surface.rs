//! Isosurfaces of a flow, extracted by kernels on the device where possible, else on the host.

use zippy::{GlobalArray, Result, World};
use zippy_isosurface::{Attribute, DeviceMesh, Extractor, Grid, Mesh};
use zippy_lbm::{CellKind, Flow};
use zippy_render::volume::{Colouring, DeviceTriangles, Material, Surface, Triangles, VolumeRenderer};

/// Extracts isosurfaces of one array.
pub(crate) struct SurfaceExtractor<'w> {
    world: &'w World,
    name: &'static str,
    extractor: Extractor<'w, f32>,
    mesh: Option<DeviceMesh>,
    /// The last surface.
    surface: Option<Surface>,
}

impl<'w> SurfaceExtractor<'w> {
    /// Creates an extractor of an array on a grid. Collective.
    pub(crate) fn new(world: &'w World, name: &'static str, values: &GlobalArray<f32, 3>, grid: Grid) -> Result<Self> {
        let extractor = Extractor::with_normals(world, values, grid)?;
        Ok(Self { world, name, extractor, mesh: None, surface: None })
    }

    /// Loads the current values of the array. Collective.
    pub(crate) fn update(&mut self) -> Result<()> {
        self.extractor.update()
    }

    /// Extracts the surface of an isovalue, with the values of another array at its vertices.
    /// Collective.
    pub(crate) fn extract(
        &mut self,
        renderer: &VolumeRenderer<'w, f32>,
        isovalue: f32,
        colours: Option<&GlobalArray<f32, 3>>,
    ) -> Result<()> {
        self.surface = Some(self.extract_surface(renderer, isovalue, colours)?);
        Ok(())
    }

    /// The last surface.
    pub(crate) fn last(&self) -> Option<&Surface> {
        self.surface.as_ref()
    }

    fn extract_surface(
        &mut self,
        renderer: &VolumeRenderer<'w, f32>,
        isovalue: f32,
        colours: Option<&GlobalArray<f32, 3>>,
    ) -> Result<Surface> {
        let (world, name, previous) = (self.world, self.name, self.surface.take());
        let attribute = colours.map(|array| array as &dyn Attribute);
        if self.extractor.by_kernels() {
            let mesh = match &mut self.mesh {
                Some(mesh) => mesh,
                empty => {
                    empty.insert(world.agree("allocating a surface", DeviceMesh::new(world, &format!("{name}.mesh")))?)
                }
            };
            self.extractor.extract_on_device(isovalue, attribute, mesh)?;
            let triangles = DeviceTriangles {
                positions: mesh.positions(),
                normals: mesh.normals(),
                values: mesh.values(),
                triangles: mesh.triangles(),
            };
            return match previous {
                Some(mut surface) => renderer.set_surface_on_device(&mut surface, &triangles).map(|()| surface),
                None => renderer.surface_on_device(name, &triangles),
            };
        }
        let mesh: Mesh = self.extractor.extract_with(isovalue, attribute.as_slice())?;
        let values = mesh.fields().first().map_or(&[][..], |(_, values)| values);
        let triangles =
            Triangles { positions: mesh.positions(), normals: mesh.normals(), values, triangles: mesh.triangles() };
        match previous {
            Some(mut surface) => renderer.set_surface(&mut surface, &triangles).map(|()| surface),
            None => renderer.surface(name, &triangles),
        }
    }
}

/// Material of the surfaces of solid bodies.
pub(crate) fn body_material() -> Material {
    Material { colour: Colouring::Plain([0.72, 0.72, 0.74]), ..Material::default() }
}

/// Extracts the surface of all solid cells, half-way between solid and fluid cell centres; `None`
/// if there are none. Collective.
pub(crate) fn extract_bodies<'w>(
    world: &'w World,
    name: &'static str,
    flow: &Flow<'_>,
    renderer: &VolumeRenderer<'w, f32>,
) -> Result<Option<Surface>> {
    let box_ranges = flow.box_ranges();
    let cells: i64 = box_ranges.iter().map(|axis| axis.end - axis.start).product();
    if flow.fluid_cells() == cells as u64 {
        return Ok(None);
    }
    let solid = flow.scalar_array(name)?;
    let filled = zippy::zip_chunks((&solid, flow.cell_kinds()))?.try_for_each(|(solid, kinds)| {
        let within = |at: &zippy::extents::Index| (0..3).all(|axis| box_ranges[axis].contains(&at[axis]));
        let points = kinds.region().points().zip(kinds.all().read()?);
        let share = |(at, kind): (zippy::extents::Index, u8)| f32::from(within(&at) && CellKind::is_solid_number(kind));
        solid.all().write(&points.map(share).collect::<Vec<f32>>())
    });
    world.agree("extracting bodies", filled)?;
    let mut extractor = SurfaceExtractor::new(world, name, &solid, flow.grid())?;
    extractor.extract(renderer, 0.5, None)?;
    Ok(extractor.surface)
}
