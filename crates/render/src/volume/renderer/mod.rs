//! [`VolumeRenderer`]: renders a distributed volume with kernels and global-array operations.

mod surfaces;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use zippy::World;
use zippy::array::{GlobalArray, LocalArray};
use zippy::element::{Element, ElementKind, Scalar};
use zippy::error::CallSite;
use zippy::kernel::ParamValue;
use zippy::layout::{Layout, Split};
use zippy::plan::Moved;
use zippy::{Grid, Result};
use zippy_io::image::Image;

use super::bricks::{BrickBox, CellBox, Lattice, bounding_box};
use super::classes::Classes;
use super::framebuffer::{Blending, Framebuffer, framebuffer};
use super::kernels::{Features, RayCasters, direct, picture_parameters};
use super::layers::{Subvolume, max_samples, subvolumes};
use super::look::{Look, PixelFormat};
use super::options::RendererOptions;
use super::space::{Entries, Rebuilds, Space};
use super::storage::Storage;
use super::surface::{Bricks, Material, PIXEL_BYTES, Pipelines, Scene, Surface, TriangleImport};
use super::view::{MAX_SAMPLES, View};
use crate::compositing::{Algorithm, Layer};
use crate::error::RenderError;

/// Sort-last renderer of a distributed volume from any camera: each rank casts its boxes of cells
/// into layers, and the layers are blended in depth order.
pub struct VolumeRenderer<'w, T> {
    world: &'w World,
    name: String,
    grid: Grid,
    voxels: [i64; 3],
    options: RendererOptions,
    lattice: Lattice,
    /// Box of bricks of each part of the storage.
    bricks: Vec<BrickBox>,
    storage: Storage<'w, T>,
    space: Space<'w>,
    kernels: RayCasters<'w>,
    framebuffer: RefCell<Option<Box<dyn Framebuffer + 'w>>>,
    /// State that rays carry from pass to pass, for images of the framebuffer's size.
    carry: RefCell<Option<LocalArray<[f32; 4], 2>>>,
    brick_owners: Rc<Bricks>,
    /// Surfaces in images of the framebuffer's size.
    scene: RefCell<Option<Scene<'w>>>,
    pipelines: Rc<Pipelines>,
    /// Importer of surfaces on the device, from first use on.
    intake: RefCell<Option<TriangleImport>>,
}

/// Input of ray casting.
struct Cast<'a, 'w> {
    view: &'a View,
    classes: &'a Classes,
    parameters: Vec<(&'static str, ParamValue)>,
    scene: Option<&'a Scene<'w>>,
    /// Transparency at which rays end.
    ends_at: f32,
}

/// Rendered image and its cost on this rank.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The image, on rank 0; `None` on other ranks.
    pub image: Option<Image>,
    /// Seconds of ray casting with its preparation, until the device is done.
    pub cast_secs: f64,
    /// Seconds of blending.
    pub composite_secs: f64,
    /// Seconds to read the image back, on rank 0.
    pub read_secs: f64,
    /// Data moved by blending on this rank.
    pub moved: Moved,
    /// Number of layers of all ranks.
    pub layers: usize,
    /// Number of cells in the boxes that this rank has cast.
    pub cells: u64,
}

impl<'w, T: Element> VolumeRenderer<'w, T> {
    /// Creates a renderer of `volume` with the volume's current data; see
    /// [`refresh`](Self::refresh). Collective; creates arrays named after the volume, or after the
    /// name in the options, and a suffix.
    ///
    /// The volume may have any cuts, owners and ghost widths. Unless it is cut into boxes of whole
    /// bricks with ghost cells (one before, two after), the renderer keeps a copy that is. `grid`
    /// gives the positions of the voxels, in the space of camera, clip planes and surfaces; a
    /// spacing alone means the axes of space with the first voxel at 0.
    ///
    /// # Errors
    /// Cells that are not one number each, an axis of fewer than two voxels, a grid that
    /// [`Grid::check`] rejects, options out of range, a name that is taken, or no memory.
    /// [`Grid::check`] rejects, options out of range, a name that is taken, or no memory.
    #[track_caller]
    pub fn new(
        world: &'w World,
        volume: &GlobalArray<T, 3>,
        grid: impl Into<Grid>,
        options: RendererOptions,
    ) -> Result<Self> {
        let _call = CallSite::enter();
        let grid = grid.into();
        let components = options.components.max(1) as i64;
        let call = format!("VolumeRenderer::new({:?} on {grid:?})", volume.name());
        let cut = cut::<T>(volume.shape(), components, grid, &options);
        let (cell, voxels, lattice) = world.agree(&call, cut.map_err(Into::into))?;
        let name = options.name.clone().unwrap_or_else(|| volume.name().to_string());
        let storage = Storage::new(world, &name, volume, &lattice, components)?;
        let space = Space::new(world, &name, cell, options.components, &storage, &lattice);
        let space = world.agree("making a renderer", space)?;
        let bricks = storage.parts().iter().map(|part| part.bricks).collect();
        let mut ranks = vec![0; lattice.count()];
        for part in storage.parts() {
            lattice.within(&part.bricks).for_each(|brick| ranks[brick] = part.rank);
        }
        let brick_owners = Rc::new(Bricks { lattice: lattice.clone(), ranks, grid });
        let (kernels, framebuffer) = (RayCasters::new(world, cell), RefCell::default());
        let (carry, scene) = (RefCell::default(), RefCell::default());
        let made = Self {
            world,
            name,
            grid,
            voxels,
            options,
            lattice,
            bricks,
            storage,
            space,
            kernels,
            framebuffer,
            carry,
            brick_owners,
            scene,
            pipelines: Rc::default(),
            intake: RefCell::default(),
        };
        made.refresh()?;
        Ok(made)
    }

    /// Reads the volume again after a change of its cells, before the next image. Collective.
    /// Communication: a copy of voxels that are not on their brick's rank, and a ghost update.
    ///
    /// # Errors
    /// A failure of this or another rank.
    #[track_caller]
    pub fn refresh(&self) -> Result<Moved> {
        let _call = CallSite::enter();
        self.space.changed();
        self.storage.refresh()
    }

    /// Numbers of rebuilds of data that depends only on volume and transfer function. Local.
    pub fn rebuilds(&self) -> Rebuilds {
        self.space.rebuilds()
    }

    /// Renders an image on rank 0. Collective; the look must be equal on all ranks. Communication:
    /// that of [`Compositor`](crate::compositing::Compositor), and after changes of data or
    /// opacities one all-gather of the visible bricks' boxes.
    ///
    /// # Errors
    /// A look out of range, or a failure of this or another rank.
    #[track_caller]
    pub fn render(&self, look: &Look) -> Result<Frame> {
        let _call = CallSite::enter();
        self.render_with(look, &[])
    }

    /// Renders an image with surfaces in the volume, each with a material. Collective; look and
    /// materials must be equal on all ranks.
    ///
    /// In [reproducible mode](super::Mode::Reproducible), the bits depend on the triangles but not
    /// on their distribution over ranks. Coincident opaque surfaces have mixed colours.
    ///
    /// Additional communication with opaque surfaces: one image of 4 bytes per pixel from all ranks
    /// to all ranks, and one image of 8 bytes per pixel, combined in strips.
    ///
    /// # Errors
    /// As [`render`](Self::render); a material out of range; a surface of another volume; more
    /// fragments of transparent surfaces in the image than a buffer holds.
    #[track_caller]
    pub fn render_with(&self, look: &Look, surfaces: &[(&Surface, &Material)]) -> Result<Frame> {
        let _call = CallSite::enter();
        self.options.check_size(self.world, look.size)?;
        let view = View::of(look, self.voxels, self.grid)?;
        let classes = Classes::of(look, self.options.components)?;
        if !surfaces.is_empty() {
            self.options.check_bytes(self.world, look.size, PIXEL_BYTES)?;
        }
        surfaces
            .iter()
            .try_for_each(|(surface, material)| surface.check(&self.brick_owners).and_then(|()| material.check()))?;

        let brightest = surfaces.iter().map(|(_, material)| material.shading.brightest()).fold(1.0, f64::max);
        let ends_at = look.ends_at_with(brightest);
        let start = Instant::now();
        self.space.update(&self.storage, &self.lattice, &classes)?;
        let reached = |brick: usize| {
            let transparent = surfaces.iter().filter(|(_, material)| material.is_transparent());
            transparent.filter_map(|(surface, _)| surface.reached(brick)).reduce(|a, b| bounding_box(&a, &b))
        };
        let visible = |brick: usize| match (self.space.visible(brick), reached(brick)) {
            (Some(volume), Some(surface)) => Some(bounding_box(&volume, &surface)),
            (volume, surface) => volume.or(surface),
        };
        let subvolumes = subvolumes(&view, self.options.mode, &self.lattice, &self.bricks, visible)?;
        self.prepare(look.size)?;
        let framebuffer = self.framebuffer.borrow();
        let framebuffer = framebuffer.as_deref().expect("just made");
        let parameters = picture_parameters(look, &view, &classes, direct::<T>());
        if !surfaces.is_empty() {
            self.scene(look.size)?.draw(&parameters, look.clip.len(), surfaces)?;
        }
        let scene = self.scene.borrow();
        let scene = scene.as_ref().filter(|_| !surfaces.is_empty());
        let own = |subvolume: &Subvolume| self.storage.parts()[subvolume.part].rank;
        let mut bounds: Vec<_> = subvolumes.iter().map(|subvolume| (subvolume.bounds, own(subvolume))).collect();
        if let Some(scene) = scene.filter(|_| surfaces.iter().any(|(_, material)| material.is_opaque())) {
            let strips = (0..self.world.size()).map(|rank| (scene.backdrop().strip(rank), rank));
            bounds.extend(strips.filter(|(strip, _)| !strip.is_empty()));
        }
        let layers = framebuffer.allocate_layers(&bounds)?;
        let cast = self.cast(
            framebuffer,
            look,
            &Cast { view: &view, classes: &classes, parameters, scene, ends_at },
            &subvolumes,
            &layers,
        );
        let behind = layers.iter().zip(&bounds).skip(subvolumes.len());
        let cast =
            cast.and_then(|()| match (behind.into_iter().find(|(_, (_, rank))| *rank == self.world.rank()), scene) {
                (Some((layer, _)), Some(scene)) => scene.backdrop().write(framebuffer.section(layer)?),
                _ => Ok(()),
            });
        let own_boxes = subvolumes.iter().filter(|subvolume| own(subvolume) == self.world.rank());
        let cells = own_boxes.map(|subvolume| cell_count(&subvolume.cells)).sum();
        let cast = cast.and_then(|()| Ok(self.world.gpu().wait()?));
        self.world.agree("ray casting", cast)?;
        let cast_secs = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let moved = framebuffer.composite(&layers, ends_at)?;
        let composite_secs = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let image = framebuffer.read();
        let read_secs = start.elapsed().as_secs_f64();
        let image = self.world.agree("reading the picture", image)?;
        Ok(Frame { image, cast_secs, composite_secs, read_secs, moved, layers: layers.len(), cells })
    }

    /// Drawing state of surfaces for an image size. Collective.
    fn scene(&self, size: (u32, u32)) -> Result<std::cell::RefMut<'_, Scene<'w>>> {
        let mut kept = self.scene.borrow_mut();
        if kept.as_ref().is_none_or(|scene| scene.size() != size) {
            *kept = None;
            let rgba8 = self.options.pixel == PixelFormat::Rgba8;
            *kept = Some(Scene::new(self.world, &self.name, size, rgba8, &self.pipelines)?);
        }
        Ok(std::cell::RefMut::map(kept, |kept| kept.as_mut().expect("just made")))
    }

    /// Recreates the framebuffer if the image size has changed. Collective.
    fn prepare(&self, size: (u32, u32)) -> Result<()> {
        let mut kept = self.framebuffer.borrow_mut();
        if kept.as_ref().is_none_or(|framebuffer| framebuffer.size() != size) {
            (*kept, *self.carry.borrow_mut()) = (None, None);
            let RendererOptions { algorithm, encoding, pixel, .. } = self.options.clone();
            *kept = Some(framebuffer(self.world, &self.name, size, pixel, &Blending { algorithm, encoding })?);
        }
        Ok(())
    }

    /// Queues the ray casting of this rank's layers, front first.
    fn cast(
        &self,
        framebuffer: &dyn Framebuffer,
        look: &Look,
        Cast { view, classes, parameters, scene, ends_at }: &Cast<'_, 'w>,
        subvolumes: &[Subvolume],
        layers: &[Layer],
    ) -> Result<()> {
        framebuffer.prefix().all().fill(0.0)?;
        let hidden = self.hidden(*ends_at, layers.len());
        let fragments = scene.map(|scene| (scene.fragments().spans(), scene.fragments().list()));
        let table = self.space.table(classes)?;
        for (subvolume, layer) in subvolumes.iter().zip(layers) {
            let Some(chunk) = self.storage.chunk(subvolume.part) else { continue };
            let Some((occupied, blocks)) = self.space.occupied(subvolume.part) else { continue };
            let most = max_samples(view, &subvolume.cells);
            let passes = most > MAX_SAMPLES;
            let rgba8 = self.options.pixel == PixelFormat::Rgba8;
            let components = self.options.components;
            let kernel = self.kernels.get(Features::of(look, components, [rgba8, passes, fragments.is_some()]))?;
            let mut first = 0;
            while first == 0 || first < most {
                let mut call = kernel
                    .call()
                    .write("layer", framebuffer.section(layer)?)
                    .read("volume", chunk.with_ghosts())
                    .read("occupied", occupied.all())
                    .update("prefix", framebuffer.prefix().all())
                    .param("low", subvolume.cells.0)
                    .param("first", first as i32)
                    .param("high", subvolume.cells.1)
                    .param("most", MAX_SAMPLES as i32)
                    .param("origin", self.space.origin(subvolume.part))
                    .param("opaque", 1.0 - ends_at)
                    .param("blocks", blocks)
                    .param("hidden", hidden)
                    .param("at", [layer.bounds.start[0] as i32, layer.bounds.start[1] as i32])
                    .param("last", u32::from(first + MAX_SAMPLES >= most));
                call = match &table.entries {
                    Entries::Points(entries) => call.read("transfer", entries.all()),
                    Entries::Segments(entries) => call.read("transfer", entries.all()),
                };
                for (name, value) in parameters {
                    call = call.param(name, value.clone());
                }
                if let Some((spans, list)) = &fragments {
                    call = call.read("spans", spans.all()).read("fragments", list.all());
                }
                if passes {
                    call = call.update("carry", self.carry(look.size)?.all());
                }
                call.run()?;
                first += MAX_SAMPLES;
            }
        }
        Ok(())
    }

    /// Transparency limit of this rank's layers in front below which a layer need not be cast:
    /// compositing is certain to find the pixel opaque. Negative: never.
    ///
    /// Compositing and a single rank round differently: each of n steps by at most 2^-25, and the
    /// products, whose sum is at most 1, by 2^-23 of it, in both cases. Swaps blend in another
    /// order, in which a layer may count before those in front of it.
    fn hidden(&self, ends_at: f32, layers: usize) -> f32 {
        if self.options.algorithm != Algorithm::DirectSend {
            return -1.0;
        }
        if self.options.pixel == PixelFormat::Rgba8 {
            return 0.0;
        }
        // Including the surfaces behind the layers.
        let steps = (self.lattice.max_bricks_on_ray() + 1).min(layers as i64) as f32;
        let margin = ends_at - steps * 2.0_f32.powi(-24) - 2.0_f32.powi(-22);
        if margin > 0.0 { margin } else { -1.0 }
    }

    fn carry(&self, (width, height): (u32, u32)) -> Result<LocalArray<[f32; 4], 2>> {
        let mut kept = self.carry.borrow_mut();
        if let Some(carry) = kept.as_ref() {
            return Ok(carry.clone());
        }
        let layout = Layout::new([width, height]).split_all(Split::Whole);
        Ok(kept.insert(self.world.local_array(&format!("{}.carry", self.name), &layout)?).clone())
    }
}

/// Kernel type of a cell, size in voxels, and lattice of bricks; checks the arguments of `new`.
fn cut<T: Element>(
    mut voxels: [i64; 3],
    components: i64,
    grid: Grid,
    options: &RendererOptions,
) -> Result<(&'static str, [i64; 3], Lattice), RenderError> {
    let wrong = |message: String| Err(RenderError::Volume(message));
    let cell = match T::INFO.kind {
        ElementKind::Packed(_) | ElementKind::Scalar(Scalar::U32) => "u32",
        ElementKind::Scalar(Scalar::I32) => "i32",
        ElementKind::Scalar(Scalar::F32) => "f32",
        _ => return wrong(format!("cells of {} cannot be rendered; i8 to u32 and f32 can", T::INFO.name)),
    };
    if voxels[0] % components != 0 {
        let message = "which must divide axis 0";
        return wrong(format!("voxels of {components} components in an array of {voxels:?}, {message}"));
    }
    voxels[0] /= components;
    View::check_volume(voxels, grid)?;
    Ok((cell, voxels, options.lattice(voxels)?))
}

fn cell_count((low, high): &CellBox) -> u64 {
    (0..3).map(|axis| u64::from((high[axis] - low[axis]).unsigned_abs())).product()
}
