//! Pictures of a flow as it is: volumes and surfaces are drawn where the chunks are, of slices the cells are fetched.

use zippy::{GlobalArray, Result, World};
use zippy_io::image::Image;
use zippy_lbm::{Fields, Flow, Quantity};
use zippy_render::volume::{Colouring, Look, Material, RendererOptions, Surface, TransferFunction, VolumeRenderer};

use crate::flat;
use crate::legend::{self, Legend, short};
use crate::outline;
use crate::scene::{AXES, Scene, Shown, Way, scale};
use crate::surface::{Surfaces, bodies, stone};

/// Of what values are: after so many steps of the flow.
type Known = Option<(u64, Shown)>;

/// Draws a flow again and again.
pub struct Pictures<'w> {
    world: &'w World,
    names: [&'static str; 4],
    values: GlobalArray<f32, 3>,
    known: Known,
    space: Option<Space<'w>>,
}

/// What flows in space need.
struct Space<'w> {
    renderer: VolumeRenderer<'w, f32>,
    /// What the renderer has taken in.
    taken: Known,
    bodies: Option<Surface>,
    surfaces: Option<Extracted<'w>>,
}

/// Surfaces, and what they show.
struct Extracted<'w> {
    surfaces: Surfaces<'w>,
    colours: GlobalArray<f32, 3>,
    /// What they have taken in, and the last isovalue.
    taken: Known,
    at: Option<f32>,
}

impl<'w> Pictures<'w> {
    /// With arrays of these names: of the values, of what colours surfaces, of surfaces, and of bodies. Collective.
    pub fn new(world: &'w World, names: [&'static str; 4], flow: &Flow) -> Result<Self> {
        Ok(Self { world, names, values: flow.quantity_array(names[0])?, known: None, space: None })
    }

    /// The flow is not what it was, at the same step.
    #[cfg_attr(not(feature = "view"), allow(dead_code))]
    pub fn forget(&mut self) {
        self.known = None;
        if let Some(space) = &mut self.space {
            space.taken = None;
            space.surfaces.iter_mut().for_each(|extracted| extracted.taken = None);
        }
    }

    /// The values that a scene shows, in the coordinates of the flow's arrays. Collective.
    pub fn values(&mut self, flow: &mut Flow, fields: &Fields, shown: Shown) -> Result<&GlobalArray<f32, 3>> {
        if self.known != Some((flow.steps(), shown)) {
            fill(self.world, flow, fields, shown, &self.values)?;
            self.known = Some((flow.steps(), shown));
        }
        Ok(&self.values)
    }

    /// The picture of a scene, with a legend where that is `told` and there is room for one; on rank 0. Collective.
    ///
    /// # Errors
    /// A scene that makes no sense, the same on every rank; a failure of this or of another rank.
    pub fn draw(&mut self, flow: &mut Flow, fields: &Fields, scene: &Scene, told: bool) -> Result<Option<Image>> {
        let cells = flow.inside().map(|axis| axis.end - axis.start);
        self.world.agree("looking at a scene", scene.check(cells, flow.problem().velocities().axes()))?;
        self.values(flow, fields, scene.shown)?;
        let (width, height) = scene.look.size;
        let rows = legend::rows(width as usize) as u32;
        let told = told && (scene.way == Way::Slice || height > 3 * rows);
        let size = (width, if told && height > rows { height - rows } else { height });
        let drawn = Scene { look: Look { size, ..scene.look.clone() }, ..scene.clone() };
        let (image, name, range) = match scene.way {
            Way::Slice => {
                let mut name = scene.shown.name().to_owned();
                if cells[scene.slice.axis] > 1 {
                    name += &format!(" {}={}", AXES[scene.slice.axis], scene.slice.layer(cells));
                }
                (flat::layer(self.world, flow, &self.values, &drawn)?, name, scene.range)
            }
            Way::Volume => (self.volume(flow, &drawn)?, scene.shown.name().to_owned(), scene.range),
            Way::Surface => {
                let (image, isovalue) = self.surface(flow, fields, &drawn)?;
                let (on, of) = (scene.shown.beside().name(), scene.shown.name());
                (image, format!("{on} on {of}={}", short(isovalue)), scene.beside)
            }
        };
        let colours = match scene.way {
            Way::Surface => TransferFunction { colour: scale(range), ..scene.look.transfer.clone() },
            _ => scene.look.transfer.clone(),
        };
        let colour = |share: f64| colours.colour_at(range[0] + (range[1] - range[0]) * share);
        let legend = Legend { name, range, colour: &colour, steps: flow.steps() };
        Ok(image.map(|mut image| {
            if scene.way != Way::Slice {
                outline::draw(&mut image, &drawn.look, &flow.grid());
            }
            if told { legend.below(image) } else { image }
        }))
    }

    /// What is needed in space, made when it is first.
    fn space(&mut self, flow: &Flow) -> Result<&mut Space<'w>> {
        if self.space.is_none() {
            let renderer = VolumeRenderer::new(self.world, &self.values, flow.grid(), RendererOptions::default())?;
            let bodies = bodies(self.world, self.names[3], flow, &renderer)?;
            self.space = Some(Space { renderer, taken: self.known, bodies, surfaces: None });
        }
        Ok(self.space.as_mut().expect("just made"))
    }

    fn volume(&mut self, flow: &Flow, scene: &Scene) -> Result<Option<Image>> {
        let known = self.known;
        let space = self.space(flow)?;
        if space.taken != known {
            space.renderer.refresh()?;
            space.taken = known;
        }
        let stone = stone();
        let bodies: Vec<_> = space.bodies.iter().map(|surface| (surface, &stone)).collect();
        Ok(space.renderer.render_with(&scene.look, &bodies)?.image)
    }

    /// With the value of the surface.
    fn surface(&mut self, flow: &mut Flow, fields: &Fields, scene: &Scene) -> Result<(Option<Image>, f64)> {
        let isovalue = match scene.iso {
            Some(isovalue) => isovalue,
            None => self.suggested(flow, scene)?,
        };
        let [_, colours, name, _] = self.names;
        let (world, known, values) = (self.world, self.known, self.values.clone());
        let Space { renderer, bodies, surfaces, .. } = self.space(flow)?;
        let extracted = match surfaces {
            Some(extracted) => extracted,
            none => {
                let (surfaces, colours) =
                    (Surfaces::new(world, name, &values, flow.grid())?, flow.quantity_array(colours)?);
                none.insert(Extracted { surfaces, colours, taken: None, at: None })
            }
        };
        if extracted.taken != known {
            extracted.surfaces.update()?;
            fill(world, flow, fields, scene.shown.beside(), &extracted.colours)?;
            (extracted.taken, extracted.at) = (known, None);
        }
        if extracted.at != Some(isovalue as f32) {
            extracted.surfaces.extract(renderer, isovalue as f32, Some(&extracted.colours))?;
            extracted.at = Some(isovalue as f32);
        }
        let surface = extracted.surfaces.last();
        let (coloured, stone) =
            (Material { colour: Colouring::Scale(scale(scene.beside)), ..Material::default() }, stone());
        let mut all: Vec<_> = surface.iter().map(|surface| (*surface, &coloured)).collect();
        all.extend(bodies.iter().map(|bodies| (bodies, &stone)));
        let nothing = TransferFunction { opacity: vec![[0.0; 2]], colour: vec![[0.0; 4]], unit_distance: 1.0 };
        let look = Look { transfer: nothing, ..scene.look.clone() };
        Ok((renderer.render_with(&look, &all)?.image, isovalue))
    }

    /// An isovalue where there is something: that of the scene, or half of the largest value where that is less.
    fn suggested(&self, flow: &Flow, scene: &Scene) -> Result<f64> {
        let [x, y, z] = flow.inside();
        let wanted = scene.suggested();
        let largest = self.world.extremes(self.values.at((x, y, z)))?.map_or(0.0, |found| f64::from(found.max));
        Ok(if largest > 0.0 { wanted.min(largest / 2.0) } else { wanted })
    }
}

/// Fills an array with what is shown. Collective.
fn fill(world: &World, flow: &mut Flow, fields: &Fields, shown: Shown, values: &GlobalArray<f32, 3>) -> Result<()> {
    match shown {
        Shown::Speed => flow.quantity_into(Quantity::Speed, fields, values),
        Shown::Vorticity => flow.quantity_into(Quantity::Vorticity, fields, values),
        Shown::Q => flow.quantity_into(Quantity::QCriterion, fields, values),
        Shown::Density => {
            flow.fields_into(fields)?;
            world.copy(fields.excess.at(..), values.at(..)).map(drop)
        }
    }
}
