//! [`Opaque`]: position and colour of the nearest opaque surface of each pixel.

use zippy::array::GlobalArray;
use zippy::device::colour;
use zippy::extents::Index;
use zippy::kernel::{Binding, Kernel, KernelSource, WgslComposer};
use zippy::region::Region;
use zippy::{ArrayOptions, Exchange, Operator, Result, World, wgsl_module};

use super::bands::BandedOutput;
use super::one_chunk_per_rank;
use super::rasteriser::{Drawing, Pass, Rasteriser};
use crate::volume::kernels::format_of_pixels;

/// Position behind all surfaces: the bits of infinity.
pub(super) const NOTHING: u32 = 0x7f80_0000;

/// Nearest opaque surfaces of an image. Each rank draws its own surfaces; strips of the image, one
/// per rank, combine those of all ranks.
pub(in crate::volume) struct Opaque<'w> {
    world: &'w World,
    size: (u32, u32),
    /// Whole image per rank: bits of the surface's position, first of the rank's own surfaces, then
    /// of all surfaces.
    nearest: GlobalArray<u32, 1>,
    front: GlobalArray<u32, 1>,
    /// Whole image per rank: two times two colour components of 16 bits.
    shown: GlobalArray<[u32; 2], 1>,
    backdrop: GlobalArray<[u32; 2], 1>,
    layer: Kernel,
}

/// The text of the kernel that writes opaque surfaces as a layer.
pub(in crate::volume) fn layer_kernel(rgba8: bool) -> WgslComposer {
    let parts = [colour::WGSL, format_of_pixels(rgba8), wgsl_module!("../../../shaders/surface/opaque.wgsl")];
    WgslComposer::new().modules(parts)
}

impl<'w> Opaque<'w> {
    pub(crate) fn new(world: &'w World, name: &str, size: (u32, u32), rgba8: bool) -> Result<Self> {
        let pixels = i64::from(size.0) * i64::from(size.1);
        let (whole, owners) = one_chunk_per_rank(world, |_| pixels)?;
        let (strips, _) = one_chunk_per_rank(world, |rank| strip(size, rank, world.size()).cells() as i64)?;
        let text = layer_kernel(rgba8).compose()?;
        let layer = world.kernel(KernelSource::text("shaders/surface/opaque.wgsl", text));
        Ok(Self {
            world,
            size,
            nearest: world.array(&format!("{name}.nearest"), ArrayOptions::new(&whole).owned_by(owners.clone()))?,
            front: world.array(&format!("{name}.front"), ArrayOptions::new(&strips).owned_by(owners.clone()))?,
            shown: world.array(&format!("{name}.shown"), ArrayOptions::new(&whole).owned_by(owners.clone()))?,
            backdrop: world.array(&format!("{name}.backdrop"), ArrayOptions::new(&strips).owned_by(owners))?,
            layer: world.agree("allocating surfaces", layer)?,
        })
    }

    /// Draws the surfaces of this rank and combines them with those of all ranks. Collective.
    pub(super) fn draw(&self, rasteriser: &Rasteriser<'_>, drawing: &Drawing<'_>) -> Result<()> {
        let cleared = self.nearest.fill(NOTHING).and_then(|()| self.front.fill(NOTHING));
        let cleared = cleared.and_then(|()| self.shown.fill([0; 2])).and_then(|()| self.backdrop.fill([0; 2]));
        if drawing.surfaces.is_empty() {
            return self.world.agree("drawing opaque surfaces", cleared);
        }
        let drawn = cleared.and_then(|()| self.pass(rasteriser, Pass::Nearest, drawing));
        self.world.agree("drawing opaque surfaces", drawn)?;
        self.combine_strips(&self.nearest, &self.front, &Operator::Min)?;
        let pixels = self.front.shape()[0];
        let every = (0..self.world.size() as i64).map(|rank| rank * pixels..(rank + 1) * pixels);
        self.world.exchange(Exchange::new().copies(every.map(|own| (self.front.at(..), self.nearest.at(own)))))?;
        let drawn = self.pass(rasteriser, Pass::Shown, drawing);
        self.world.agree("drawing opaque surfaces", drawn)?;
        self.combine_strips(&self.shown, &self.backdrop, &Operator::Max)
    }

    fn pass(&self, rasteriser: &Rasteriser<'_>, pass: Pass, drawing: &Drawing<'_>) -> Result<()> {
        let leases = (self.nearest.local()?.lease()?, self.shown.local()?.lease()?);
        let (Some(nearest), Some(shown)) = leases else { return Ok(()) };
        let row = u64::from(self.size.0);
        let nearest = BandedOutput { binding: 2, buffer: nearest.raw(), rows: &|at| 4 * row * u64::from(at) };
        let shown = BandedOutput { binding: 6, buffer: shown.raw(), rows: &|at| 8 * row * u64::from(at) };
        rasteriser.draw(pass, drawing, &[nearest, shown])?;
        self.nearest.local().map(|chunk| self.nearest.core().mark_written(chunk.id()))?;
        self.shown.local().map(|chunk| self.shown.core().mark_written(chunk.id()))
    }

    /// Combines the images of all ranks in strips.
    fn combine_strips<T: zippy::Element>(
        &self,
        source: &GlobalArray<T, 1>,
        to: &GlobalArray<T, 1>,
        by: &Operator,
    ) -> Result<()> {
        let pixels = to.shape()[0];
        let each = (0..self.world.size() as i64).map(|rank| rank * pixels..(rank + 1) * pixels);
        let pairs = each.map(|own| (source.at(own), to.at(..)));
        self.world.exchange(Exchange::new().composites(pairs, by)).map(drop)
    }

    /// Position of the nearest surface of all ranks, per pixel.
    pub(crate) fn nearest(&self) -> &GlobalArray<u32, 1> {
        &self.nearest
    }

    pub(crate) fn strip(&self, rank: usize) -> Region {
        strip(self.size, rank, self.world.size())
    }

    /// Writes this rank's strip to its layer.
    pub(crate) fn write(&self, layer: Binding) -> Result<()> {
        let columns = self.size.0 as i32;
        self.layer
            .call()
            .write("layer", layer)
            .read("backdrop", self.backdrop.local()?.all())
            .param("columns", columns)
            .run()
    }
}

/// Strip of the image of a rank, as whole rows.
fn strip((width, height): (u32, u32), rank: usize, ranks: usize) -> Region {
    let row = |rank: usize| (u64::from(height) * rank as u64 / ranks as u64) as i64;
    Region::between(Index::new(&[0, row(rank)]), Index::new(&[width.into(), row(rank + 1)]))
}
