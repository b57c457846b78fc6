//! Pictures of the current flow. Volumes and surfaces are rendered on the ranks that own the
//! chunks; the cells of slices are sent to rank 0.

use zippy::{GlobalArray, Result, World};
use zippy_io::image::Image;
use zippy_lbm::{Fields, Flow, Quantity};
use zippy_render::volume::{Colouring, Look, Material, RendererOptions, Surface, TransferFunction, VolumeRenderer};

use crate::legend::{self, Legend, format_short};
use crate::outline;
use crate::scene::{AXES, DrawMode, Scene, ShownQuantity, scale};
use crate::slice_picture;
use crate::surface::{SurfaceExtractor, body_material, extract_bodies};

/// Quantity and step of the values in an array.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ValuesState {
    step: u64,
    quantity: ShownQuantity,
}

/// Names of the arrays of a renderer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrayNames {
    pub values: &'static str,
    /// Name of the array with the values that colour isosurfaces.
    pub colours: &'static str,
    pub surface: &'static str,
    pub bodies: &'static str,
}

/// Renders pictures of a running flow.
pub(crate) struct FlowRenderer<'w> {
    world: &'w World,
    names: ArrayNames,
    values: GlobalArray<f32, 3>,
    state: Option<ValuesState>,
    space: Option<SpaceRenderer<'w>>,
}

/// Renderers of volumes and isosurfaces of three-dimensional flows.
struct SpaceRenderer<'w> {
    renderer: VolumeRenderer<'w, f32>,
    /// State of the values that the renderer has loaded.
    loaded: Option<ValuesState>,
    bodies: Option<Surface>,
    surfaces: Option<SurfaceState<'w>>,
}

/// Isosurfaces and the values of their colours.
struct SurfaceState<'w> {
    surfaces: SurfaceExtractor<'w>,
    colours: GlobalArray<f32, 3>,
    /// State of the values that the extractor has loaded.
    loaded: Option<ValuesState>,
    /// Isovalue of the last surface.
    isovalue: Option<f32>,
}

impl<'w> FlowRenderer<'w> {
    /// Creates a renderer. Collective.
    pub(crate) fn new(world: &'w World, names: ArrayNames, flow: &Flow<'_>) -> Result<Self> {
        Ok(Self { world, names, values: flow.scalar_array(names.values)?, state: None, space: None })
    }

    /// Discards cached values after a change of the flow at the same step.
    #[cfg_attr(not(feature = "view"), allow(dead_code, reason = "for the window"))]
    pub(crate) fn discard_cache(&mut self) {
        self.state = None;
        if let Some(space) = &mut self.space {
            space.loaded = None;
            space.surfaces.iter_mut().for_each(|extracted| extracted.loaded = None);
        }
    }

    /// Values of a quantity, in the coordinates of the flow's arrays; computed once for each step.
    /// Collective.
    pub(crate) fn values(
        &mut self,
        flow: &mut Flow<'_>,
        fields: &Fields,
        quantity: ShownQuantity,
    ) -> Result<&GlobalArray<f32, 3>> {
        let state = ValuesState { step: flow.steps(), quantity };
        if self.state != Some(state) {
            compute_values(self.world, flow, fields, quantity, &self.values)?;
            self.state = Some(state);
        }
        Ok(&self.values)
    }

    /// Renders a scene and returns the picture on rank 0. `with_legend` appends a legend if the
    /// picture is high enough. Collective.
    ///
    /// # Errors
    /// An invalid scene (the same error on every rank); a failure of any rank.
    pub(crate) fn draw(
        &mut self,
        flow: &mut Flow<'_>,
        fields: &Fields,
        scene: &Scene,
        with_legend: bool,
    ) -> Result<Option<Image>> {
        let cells = flow.box_ranges().map(|axis| axis.end - axis.start);
        self.world.agree("checking a scene", scene.check(cells, flow.problem().velocity_set().axes()))?;
        self.values(flow, fields, scene.quantity)?;
        let (width, height) = scene.look.size;
        let rows = legend::legend_height(width as usize) as u32;
        let with_legend = with_legend && (scene.mode == DrawMode::Slice || height > 3 * rows);
        let size = (width, if with_legend && height > rows { height - rows } else { height });
        let sized_scene = Scene { look: Look { size, ..scene.look.clone() }, ..scene.clone() };
        let (image, name, range) = match scene.mode {
            DrawMode::Slice => {
                let mut name = scene.quantity.name().to_owned();
                if cells[scene.slice.axis] > 1 {
                    name += &format!(" {}={}", AXES[scene.slice.axis], scene.slice.layer(cells));
                }
                (slice_picture::draw(self.world, flow, &self.values, &sized_scene)?, name, scene.range)
            }
            DrawMode::Volume => {
                (self.render_volume(flow, &sized_scene)?, scene.quantity.name().to_owned(), scene.range)
            }
            DrawMode::Surface => {
                let (image, isovalue) = self.render_surface(flow, fields, &sized_scene)?;
                let (colour_name, value_name) = (scene.quantity.surface_quantity().name(), scene.quantity.name());
                (image, format!("{colour_name} on {value_name}={}", format_short(isovalue)), scene.surface_range)
            }
        };
        let colours = match scene.mode {
            DrawMode::Surface => TransferFunction { colour: scale(range), ..scene.look.transfer.clone() },
            _ => scene.look.transfer.clone(),
        };
        let colour = |share: f64| colours.colour_at(range[0] + (range[1] - range[0]) * share);
        let legend = Legend { name, range, colour: &colour, steps: flow.steps() };
        Ok(image.map(|mut image| {
            if scene.mode != DrawMode::Slice {
                outline::draw(&mut image, &sized_scene.look, &flow.grid());
            }
            if with_legend { legend.append_to(image) } else { image }
        }))
    }

    /// The renderer of three-dimensional flows, created at the first use.
    fn space_renderer(&mut self, flow: &Flow<'_>) -> Result<&mut SpaceRenderer<'w>> {
        if self.space.is_none() {
            let renderer = VolumeRenderer::new(self.world, &self.values, flow.grid(), RendererOptions::default())?;
            let bodies = extract_bodies(self.world, self.names.bodies, flow, &renderer)?;
            self.space = Some(SpaceRenderer { renderer, loaded: self.state, bodies, surfaces: None });
        }
        Ok(self.space.as_mut().expect("just created"))
    }

    fn render_volume(&mut self, flow: &Flow<'_>, scene: &Scene) -> Result<Option<Image>> {
        let state = self.state;
        let space = self.space_renderer(flow)?;
        if space.loaded != state {
            space.renderer.refresh()?;
            space.loaded = state;
        }
        let stone = body_material();
        let bodies: Vec<_> = space.bodies.iter().map(|surface| (surface, &stone)).collect();
        Ok(space.renderer.render_with(&scene.look, &bodies)?.image)
    }

    /// Renders an isosurface; returns its isovalue too.
    fn render_surface(&mut self, flow: &mut Flow<'_>, fields: &Fields, scene: &Scene) -> Result<(Option<Image>, f64)> {
        let isovalue = match scene.iso {
            Some(isovalue) => isovalue,
            None => self.suggested_isovalue(flow, scene)?,
        };
        let names = self.names;
        let (world, state, values) = (self.world, self.state, self.values.clone());
        let SpaceRenderer { renderer, bodies, surfaces, .. } = self.space_renderer(flow)?;
        let extracted = match surfaces {
            Some(extracted) => extracted,
            empty => {
                let (surfaces, colours) = (
                    SurfaceExtractor::new(world, names.surface, &values, flow.grid())?,
                    flow.scalar_array(names.colours)?,
                );
                empty.insert(SurfaceState { surfaces, colours, loaded: None, isovalue: None })
            }
        };
        if extracted.loaded != state {
            extracted.surfaces.update()?;
            compute_values(world, flow, fields, scene.quantity.surface_quantity(), &extracted.colours)?;
            (extracted.loaded, extracted.isovalue) = (state, None);
        }
        if extracted.isovalue != Some(isovalue as f32) {
            extracted.surfaces.extract(renderer, isovalue as f32, Some(&extracted.colours))?;
            extracted.isovalue = Some(isovalue as f32);
        }
        let surface = extracted.surfaces.last();
        let (coloured, stone) =
            (Material { colour: Colouring::Scale(scale(scene.surface_range)), ..Material::default() }, body_material());
        let mut all: Vec<_> = surface.iter().map(|surface| (*surface, &coloured)).collect();
        all.extend(bodies.iter().map(|bodies| (bodies, &stone)));
        let transparent = TransferFunction { opacity: vec![[0.0; 2]], colour: vec![[0.0; 4]], unit_distance: 1.0 };
        let look = Look { transfer: transparent, ..scene.look.clone() };
        Ok((renderer.render_with(&look, &all)?.image, isovalue))
    }

    /// An isovalue that gives a visible surface: the suggestion of the scene, or half of the
    /// largest value if that is smaller.
    fn suggested_isovalue(&self, flow: &Flow<'_>, scene: &Scene) -> Result<f64> {
        let [x, y, z] = flow.box_ranges();
        let wanted = scene.suggested_isovalue();
        let largest = self.world.extremes(self.values.at((x, y, z)))?.map_or(0.0, |found| f64::from(found.max));
        Ok(if largest > 0.0 { wanted.min(largest / 2.0) } else { wanted })
    }
}

/// Writes the values of a quantity to an array. Collective.
fn compute_values(
    world: &World,
    flow: &mut Flow<'_>,
    fields: &Fields,
    quantity: ShownQuantity,
    values: &GlobalArray<f32, 3>,
) -> Result<()> {
    match quantity {
        ShownQuantity::Speed => flow.compute_quantity(Quantity::Speed, fields, values),
        ShownQuantity::Vorticity => flow.compute_quantity(Quantity::Vorticity, fields, values),
        ShownQuantity::Q => flow.compute_quantity(Quantity::QCriterion, fields, values),
        ShownQuantity::Density => {
            flow.update_fields(fields)?;
            world.copy(fields.excess.at(..), values.at(..)).map(drop)
        }
    }
}
