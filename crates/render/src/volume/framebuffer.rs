//! Storage and compositing of the layers of images of one size.

use std::cell::RefCell;

use zippy::World;
use zippy::array::{GlobalArray, LocalArray};
use zippy::extents::Index;
use zippy::kernel::Binding;
use zippy::layout::{Layout, Split};
use zippy::ownership::Ownership;
use zippy::plan::Moved;
use zippy::region::Region;
use zippy::{ArrayOptions, Result};
use zippy_io::image::Image;

use super::layers::Atlas;
use super::look::PixelFormat;
use crate::compositing::{Algorithm, Compositor, Layer, Pixel, Settings};

/// Arrays of images of one size, for any pixel format.
pub(super) trait Framebuffer {
    fn size(&self) -> (u32, u32);

    /// Allocates layers with these bounds and owner ranks. Collective.
    fn allocate_layers(&self, layers: &[(Region, usize)]) -> Result<Vec<Layer>>;

    /// Pixels of a layer of this rank within its bounds.
    fn section(&self, layer: &Layer) -> Result<Binding>;

    /// Accumulated opacity of this rank's layers, per pixel.
    fn prefix(&self) -> &LocalArray<f32, 2>;

    /// Blends layers, front first, into the image. Collective.
    fn composite(&self, layers: &[Layer], termination: f32) -> Result<Moved>;

    /// Reads the image, on rank 0. Local.
    fn read(&self) -> Result<Option<Image>>;
}

/// Settings of compositing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Blending {
    pub algorithm: Algorithm,
    pub encoding: crate::compositing::Encoding,
}

struct Arrays<'w, P> {
    world: &'w World,
    name: String,
    size: (u32, u32),
    blending: Blending,
    prefix: LocalArray<f32, 2>,
    finished: GlobalArray<P, 2>,
    /// Array of all layers, and its pages.
    pixels: RefCell<Option<(Atlas, GlobalArray<P, 2>)>>,
    /// Compositor, and its termination.
    compositor: RefCell<Option<(f32, Compositor<'w, P>)>>,
}

/// Creates the framebuffer for images of a size; its arrays are named `name` and a suffix.
/// Collective.
pub(super) fn framebuffer<'w>(
    world: &'w World,
    name: &str,
    size: (u32, u32),
    format: PixelFormat,
    blending: &Blending,
) -> Result<Box<dyn Framebuffer + 'w>> {
    Ok(match format {
        PixelFormat::F32 => Box::new(Arrays::<[f32; 4]>::new(world, name, size, blending)?),
        PixelFormat::Rgba8 => Box::new(Arrays::<u32>::new(world, name, size, blending)?),
    })
}

impl<'w, P: Pixel> Arrays<'w, P> {
    fn new(world: &'w World, name: &str, size: (u32, u32), blending: &Blending) -> Result<Self> {
        let layout = Layout::new([size.0, size.1]).split_all(Split::Whole);
        let prefix = world.local_array(&format!("{name}.prefix"), &layout);
        let prefix = world.agree("allocating a picture", prefix)?;
        let finished = world.array(&format!("{name}.picture"), &layout)?;
        let (name, blending) = (name.to_string(), blending.clone());
        let (pixels, compositor) = (RefCell::default(), RefCell::default());
        Ok(Self { world, name, size, blending, prefix, finished, pixels, compositor })
    }

    /// Reallocates the array of layers if it is too small.
    fn grow(&self, needed: Atlas) -> Result<()> {
        let mut kept = self.pixels.borrow_mut();
        let atlas = match kept.as_ref() {
            Some((atlas, _)) if atlas.covers(&needed) => return Ok(()),
            Some((atlas, _)) => atlas.join(&needed),
            None => needed,
        };
        *kept = None;
        let rows: Vec<i64> = atlas.pages.concat();
        let owners = atlas.pages.iter().enumerate().flat_map(|(rank, pages)| pages.iter().map(move |_| rank));
        let owners = Ownership::table(owners.collect(), self.world.size())?;
        let shape = [i64::from(self.size.0), rows.iter().sum()];
        let layout = Layout::new(shape).split([Split::Whole, Split::Sizes(rows)]);
        let pixels = self.world.array(&format!("{}.layers", self.name), ArrayOptions::new(&layout).owned_by(owners))?;
        *kept = Some((atlas, pixels));
        Ok(())
    }
}

impl<P: Pixel> Framebuffer for Arrays<'_, P> {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn allocate_layers(&self, layers: &[(Region, usize)]) -> Result<Vec<Layer>> {
        let (width, height) = (i64::from(self.size.0), i64::from(self.size.1));
        let whole = Region::whole(Index::new(&[width, height]));
        // Swaps need layers of the whole image.
        let placed_region = |bounds: &Region| match self.blending.algorithm {
            Algorithm::DirectSend => *bounds,
            Algorithm::BinarySwap | Algorithm::Radix(_) => whole,
        };
        let extents = |bounds: &Region| [placed_region(bounds).extents()[0], placed_region(bounds).extents()[1]];
        let boxes: Vec<_> = layers.iter().map(|(bounds, rank)| (*rank, extents(bounds))).collect();
        let row_bytes = (width as u64) * P::INFO.bytes as u64;
        let rows = (self.world.limits().binding_bytes / row_bytes) as i64;
        let (atlas, spots) = Atlas::pack(&boxes, self.world.size(), width, rows);
        self.grow(atlas)?;
        let kept = self.pixels.borrow();
        let first = kept.as_ref().map(|(atlas, _)| atlas.first_rows()).unwrap_or_default();
        let layer = |(&(bounds, rank), spot): (&(Region, usize), &super::layers::LayerPosition)| {
            let at = [spot.corner[0], first[rank][spot.page] + spot.corner[1]];
            Layer { at, place: placed_region(&bounds), bounds }
        };
        Ok(layers.iter().zip(&spots).map(layer).collect())
    }

    fn section(&self, layer: &Layer) -> Result<Binding> {
        let kept = self.pixels.borrow();
        let part = kept.as_ref().map(|(_, pixels)| pixels.at(layer.locate(&layer.bounds)).local_parts());
        let part = part.transpose()?.and_then(|parts| parts.into_iter().next());
        Ok(part.expect("the layer belongs to this rank and lies on one page").into())
    }

    fn prefix(&self) -> &LocalArray<f32, 2> {
        &self.prefix
    }

    fn composite(&self, layers: &[Layer], termination: f32) -> Result<Moved> {
        let mut compositor = self.compositor.borrow_mut();
        if compositor.as_ref().is_none_or(|(known, _)| *known != termination) {
            *compositor = None;
            let Blending { algorithm, encoding } = self.blending.clone();
            let made = Compositor::new(self.world, &self.name, Settings { algorithm, encoding, termination })?;
            *compositor = Some((termination, made));
        }
        match (compositor.as_ref(), self.pixels.borrow().as_ref()) {
            (Some((_, compositor)), Some((_, pixels))) => compositor.composite(pixels, layers, &self.finished),
            _ => Ok(Moved::default()),
        }
    }

    fn read(&self) -> Result<Option<Image>> {
        if self.world.rank() != 0 {
            return Ok(None);
        }
        let pixels = self.finished.local()?.all().read()?.into_iter().map(P::to_floats).collect();
        Ok(Some(Image { width: self.size.0 as usize, height: self.size.1 as usize, pixels }))
    }
}
