//! Picture of the surfaces and, if requested, of the volume (`--render`).

use std::path::Path;

use zippy::{GlobalArray, Result, World};
use zippy_io::png::{self, Behind, Depth, Style};
use zippy_isosurface::{Attribute, DeviceMesh, Extractor, Grid, Mesh};
use zippy_render::volume::{
    Camera, Colouring, DeviceTriangles, Look, Material, Preset, RendererOptions, Shading, Surface, TransferFunction,
    Triangles, Values, VolumeRenderer,
};

use crate::options::PictureOptions;
use crate::source::FieldSample;

/// Colours of surfaces, in the order of the isovalues.
const COLOURS: [[f64; 3]; 6] = [
    [0.93, 0.86, 0.70],
    [0.35, 0.62, 0.85],
    [0.85, 0.40, 0.33],
    [0.45, 0.72, 0.42],
    [0.70, 0.50, 0.80],
    [0.95, 0.75, 0.30],
];

/// Colour scale from dark blue over green to yellow; brightness increases with the value.
const SCALE: [[f64; 3]; 5] =
    [[0.267, 0.005, 0.329], [0.230, 0.322, 0.546], [0.128, 0.567, 0.551], [0.369, 0.789, 0.383], [0.993, 0.906, 0.144]];

/// Renderer of surfaces and, if requested, the volume. Positions are relative to the first sample:
/// far from the origin of space, floats are coarser than the spacing of samples.
pub(crate) struct SurfacePicture<'w, T> {
    world: &'w World,
    extractor: Extractor<'w, T>,
    renderer: VolumeRenderer<'w, T>,
    look: Look,
    colours: Option<(GlobalArray<f32, 3>, [f64; 2])>,
    opacity: &'w [f64],
}

impl<'w, T: FieldSample> SurfacePicture<'w, T> {
    /// Prepares pictures of a field; `colours` is a field of the same shape for the colours of
    /// surfaces. Collective.
    pub(crate) fn new(
        world: &'w World,
        field: &GlobalArray<T, 3>,
        grid: Grid,
        options: &'w PictureOptions,
        colours: Option<GlobalArray<f32, 3>>,
    ) -> Result<Self> {
        let grid = Grid { origin: [0.0; 3], ..grid };
        let spacing = grid.spacing;
        let finest = spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length));
        let transfer = if options.with_volume {
            Preset::Perceptual.fit(&Values::measure(world, field, 1)?, spacing.iter().sum::<f64>() / 3.0)
        } else {
            TransferFunction { opacity: vec![[0.0; 2]], colour: vec![[0.0; 4]], unit_distance: 1.0 }
        };
        let look = Look {
            size: options.size,
            step: finest / 2.0,
            shading: options.with_volume.then(Shading::default),
            ..Look::new(Camera::overview(field.shape(), grid), transfer)
        };
        let colours = match colours {
            Some(array) => {
                let range =
                    world.extremes(array.at(..))?.map_or([0.0, 1.0], |found| [found.min, found.max].map(f64::from));
                Some((array, range))
            }
            None => None,
        };
        let extractor = Extractor::with_normals(world, field, grid)?;
        let renderer = VolumeRenderer::new(world, field, grid, RendererOptions::default())?;
        Ok(Self { world, extractor, renderer, look, colours, opacity: &options.opacity })
    }

    /// Renders the surfaces of these isovalues into a file. Collective.
    pub(crate) fn write(&self, isovalues: &[f32], path: &Path) -> Result<()> {
        let surfaces = if self.extractor.by_kernels() {
            self.extract_on_device(isovalues)?
        } else {
            self.extract_on_host(isovalues)?
        };
        let materials: Vec<Material> = (0..surfaces.len()).map(|index| self.material(index)).collect();
        let surfaces: Vec<_> = surfaces.iter().zip(&materials).collect();
        let frame = self.renderer.render_with(&self.look, &surfaces)?;
        let style = Style { depth: Depth::Eight, behind: Behind::Colour([0.0; 3]) };
        let written = frame.image.map_or(Ok(()), |image| png::write(path, &image, style));
        self.world.agree("writing the picture", written.map_err(Into::into))
    }

    fn extract_on_host(&self, isovalues: &[f32]) -> Result<Vec<Surface>> {
        let attributes: Vec<&dyn Attribute> = self.colours.iter().map(|(array, _)| array as &dyn Attribute).collect();
        let meshes = self.extractor.extract_several_with(isovalues, &attributes)?;
        let surface = |(index, mesh)| self.renderer.surface(&surface_name(index), &triangles(mesh));
        meshes.iter().enumerate().map(surface).collect()
    }

    /// Extracts one surface after the other into the same arrays.
    fn extract_on_device(&self, isovalues: &[f32]) -> Result<Vec<Surface>> {
        let mesh = DeviceMesh::new(self.world, "extracted");
        let mut mesh = self.world.agree("allocating surfaces", mesh)?;
        let colours = self.colours.as_ref().map(|(array, _)| array as &dyn Attribute);
        let surface = |(index, &isovalue): (usize, &f32)| {
            self.extractor.extract_on_device(isovalue, colours, &mut mesh)?;
            let triangles = DeviceTriangles {
                positions: mesh.positions(),
                normals: mesh.normals(),
                values: mesh.values(),
                triangles: mesh.triangles(),
            };
            self.renderer.surface_on_device(&surface_name(index), &triangles)
        };
        isovalues.iter().enumerate().map(surface).collect()
    }

    fn material(&self, index: usize) -> Material {
        let colour = match &self.colours {
            Some((_, range)) => Colouring::Scale(scale(*range)),
            None => Colouring::Plain(COLOURS[index % COLOURS.len()]),
        };
        let opacity = self.opacity.get(index).or(self.opacity.last()).copied().unwrap_or(1.0);
        Material { colour, opacity, ..Material::default() }
    }
}

fn surface_name(index: usize) -> String {
    format!("surface {index}")
}

fn triangles(mesh: &Mesh) -> Triangles<'_> {
    let values = mesh.fields().first().map_or(&[][..], |(_, values)| values);
    Triangles { positions: mesh.positions(), normals: mesh.normals(), values, triangles: mesh.triangles() }
}

/// Colour points of the scale over a range of values.
fn scale([low, high]: [f64; 2]) -> Vec<[f64; 4]> {
    let value = |index: usize| low + (high - low) * index as f64 / (SCALE.len() - 1) as f64;
    SCALE.iter().enumerate().map(|(index, &[red, green, blue])| [value(index), red, green, blue]).collect()
}
