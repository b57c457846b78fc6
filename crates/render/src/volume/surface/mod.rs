//! Surfaces in volumes, opaque or transparent, drawn from arrays on the device together with the
//! volume.
//!
//! The rasteriser finds the pixels of a triangle. All ranks agree on the nearest opaque surface of
//! each pixel: rays end there, and its colour is a layer behind all others. Fragments of
//! transparent surfaces are stored per pixel, sorted, and blended by the ray caster between its
//! samples.

mod bands;
mod device_triangles;
mod distribute;
mod fragments;
mod material;
mod opaque;
mod rasteriser;
#[expect(clippy::module_inception, reason = "the type has the name of what it is")]
mod surface;
mod triangle_import;
mod triangles;

use std::rc::Rc;

#[cfg(test)]
use zippy::kernel::WgslComposer;
use zippy::ownership::Ownership;
use zippy::{Layout, Result, Split, World};

pub use self::device_triangles::DeviceTriangles;
pub use self::material::{Colouring, Material};
pub use self::surface::Surface;
pub use self::triangles::Triangles;

pub(super) use self::distribute::Bricks;
use self::fragments::Fragments;
use self::opaque::Opaque;
pub(super) use self::rasteriser::Pipelines;
#[cfg(test)]
pub(super) use self::rasteriser::drawing_shader;
use self::rasteriser::{Drawing, Rasteriser};
pub(super) use self::triangle_import::TriangleImport;
use super::kernels::ViewParameters;

/// Maximum number of bytes per pixel in one buffer.
pub(super) const PIXEL_BYTES: u64 = 16;

/// The texts of the kernels of surfaces, with names. The rasteriser is not a kernel:
/// [`drawing_shader`].
#[cfg(test)]
pub(super) fn kernel_texts() -> Vec<(String, WgslComposer)> {
    let named = |name: &str, composer| (name.to_owned(), composer);
    vec![
        named("fragments", fragments::sorting_kernel()),
        named("corner", triangle_import::corner_kernel()),
        named("reached", triangle_import::reached_kernel()),
        named("opaque, f32", opaque::layer_kernel(false)),
        named("opaque, rgba8", opaque::layer_kernel(true)),
    ]
}

/// Surfaces in images of one size.
pub(super) struct Scene<'w> {
    world: &'w World,
    size: (u32, u32),
    rasteriser: Rasteriser<'w>,
    opaque: Opaque<'w>,
    fragments: Fragments<'w>,
}

impl<'w> Scene<'w> {
    /// Creates the arrays, named `name` and a suffix. Collective.
    pub(super) fn new(
        world: &'w World,
        name: &str,
        size: (u32, u32),
        rgba8: bool,
        pipelines: &Rc<Pipelines>,
    ) -> Result<Self> {
        let rasteriser = world.agree("allocating surfaces", Rasteriser::new(world, size, pipelines))?;
        let opaque = Opaque::new(world, name, size, rgba8)?;
        let fragments = world.agree("allocating surfaces", Fragments::new(world, name, size))?;
        Ok(Self { world, size, rasteriser, opaque, fragments })
    }

    pub(super) fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Draws the fragments of surfaces in a view. Collective; materials must be equal on all ranks.
    pub(super) fn draw(&self, view: &ViewParameters, planes: usize, surfaces: &[(&Surface, &Material)]) -> Result<()> {
        let some = |is_one: fn(&Material) -> bool| {
            let kept = surfaces.iter().filter(|(_, material)| is_one(material));
            Drawing { surfaces: kept.copied().collect(), view, planes }
        };
        let (opaque, transparent) = (some(Material::is_opaque), some(Material::is_transparent));
        self.opaque.draw(&self.rasteriser, &opaque)?;
        let found = self.fragments.draw(&self.rasteriser, &transparent, &self.opaque);
        self.world.agree("drawing surfaces", found)
    }

    /// Per pixel: position of the nearest opaque surface, and the pixel's fragments.
    pub(super) fn fragments(&self) -> &Fragments<'w> {
        &self.fragments
    }

    /// Opaque surfaces as layers: one strip of the image per rank with a strip.
    pub(super) fn backdrop(&self) -> &Opaque<'w> {
        &self.opaque
    }
}

/// 1-D layout with one chunk per rank, of `cells(rank)` cells.
fn one_chunk_per_rank(world: &World, cells: impl Fn(usize) -> i64) -> Result<(Layout, Ownership)> {
    let sizes: Vec<i64> = (0..world.size()).map(cells).collect();
    let layout = Layout::new([sizes.iter().sum::<i64>()]).split([Split::Sizes(sizes)]);
    Ok((layout, Ownership::table((0..world.size()).collect(), world.size())?))
}
