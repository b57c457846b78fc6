//! Isosurfaces of a flow, by kernels where they can stay on the device, else by the host.

use zippy::{GlobalArray, Result, World};
use zippy_isosurface::{Attribute, DeviceMesh, Extractor, Grid, Mesh};
use zippy_lbm::Flow;
use zippy_render::volume::{Colouring, DeviceTriangles, Material, Surface, Triangles, VolumeRenderer};

/// What extracts surfaces of one array again and again.
pub struct Surfaces<'w> {
    world: &'w World,
    name: &'static str,
    extractor: Extractor<'w, f32>,
    mesh: Option<DeviceMesh>,
    /// The last one.
    surface: Option<Surface>,
}

impl<'w> Surfaces<'w> {
    /// Of an array on a grid. Collective.
    pub fn new(world: &'w World, name: &'static str, values: &GlobalArray<f32, 3>, grid: Grid) -> Result<Self> {
        let extractor = Extractor::with_normals(world, values, grid)?;
        Ok(Self { world, name, extractor, mesh: None, surface: None })
    }

    /// Takes the array as it is now. Collective.
    pub fn update(&mut self) -> Result<()> {
        self.extractor.update()
    }

    /// Makes the surface of a value, with the values of another array. Collective.
    pub fn extract(
        &mut self,
        renderer: &VolumeRenderer<'w, f32>,
        isovalue: f32,
        colours: Option<&GlobalArray<f32, 3>>,
    ) -> Result<()> {
        self.surface = Some(self.made(renderer, isovalue, colours)?);
        Ok(())
    }

    /// The last surface.
    pub fn last(&self) -> Option<&Surface> {
        self.surface.as_ref()
    }

    fn made(
        &mut self,
        renderer: &VolumeRenderer<'w, f32>,
        isovalue: f32,
        colours: Option<&GlobalArray<f32, 3>>,
    ) -> Result<Surface> {
        let (world, name, known) = (self.world, self.name, self.surface.take());
        let attribute = colours.map(|array| array as &dyn Attribute);
        if self.extractor.by_kernels() {
            let mesh = match &mut self.mesh {
                Some(mesh) => mesh,
                none => none
                    .insert(world.agree("making room for a surface", DeviceMesh::new(world, &format!("{name}.mesh")))?),
            };
            self.extractor.extract_on_device(isovalue, attribute, mesh)?;
            let triangles = DeviceTriangles {
                positions: mesh.positions(),
                normals: mesh.normals(),
                values: mesh.values(),
                triangles: mesh.triangles(),
            };
            return match known {
                Some(mut known) => renderer.set_surface_on_device(&mut known, &triangles).map(|()| known),
                None => renderer.surface_on_device(name, &triangles),
            };
        }
        let mesh: Mesh = self.extractor.extract_with(isovalue, attribute.as_slice())?;
        let values = mesh.fields().first().map_or(&[][..], |(_, values)| values);
        let triangles =
            Triangles { positions: mesh.positions(), normals: mesh.normals(), values, triangles: mesh.triangles() };
        match known {
            Some(mut known) => renderer.set_surface(&mut known, &triangles).map(|()| known),
            None => renderer.surface(name, &triangles),
        }
    }
}

/// What bodies look like.
pub fn stone() -> Material {
    Material { colour: Colouring::Plain([0.72, 0.72, 0.74]), ..Material::default() }
}

/// The surface of all solid cells in the box, half-way between these and the fluid; `None` where there are none. Collective.
pub fn bodies<'w>(
    world: &'w World,
    name: &'static str,
    flow: &Flow,
    renderer: &VolumeRenderer<'w, f32>,
) -> Result<Option<Surface>> {
    let inside = flow.inside();
    let cells: i64 = inside.iter().map(|axis| axis.end - axis.start).product();
    if flow.fluid_cells() == cells as u64 {
        return Ok(None);
    }
    let solid = flow.quantity_array(name)?;
    let filled = zippy::together((&solid, flow.cells()))?.try_for_each(|(solid, kinds)| {
        let within = |at: &zippy::extents::Index| (0..3).all(|axis| inside[axis].contains(&at[axis]));
        let points = kinds.region().points().zip(kinds.all().read()?);
        let share = |(at, kind): (zippy::extents::Index, u8)| f32::from(within(&at) && matches!(kind, 1 | 2));
        solid.all().write(&points.map(share).collect::<Vec<f32>>())
    });
    world.agree("looking for bodies", filled)?;
    let mut surfaces = Surfaces::new(world, name, &solid, flow.grid())?;
    surfaces.extract(renderer, 0.5, None)?;
    Ok(surfaces.surface)
}
