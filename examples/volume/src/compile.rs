//! Compilation of the kernels before measurements begin.

use zippy::{Layout, Result, Split, World};
use zippy_render::volume::{RendererOptions, Values, VolumeRenderer};

use super::picture_setup::PictureSetup;
use super::units::Value;

/// Side in cells of a brick of the volume that is rendered to compile the kernels.
const BRICK_SIDE: i64 = 8;

/// Compiles the kernels of later pictures by rendering a small picture of a tiny volume. Creating
/// the pipelines is not sufficient, because some drivers compile a kernel only when it runs first.
/// All arrays are dropped. Collective.
///
/// # Errors
/// A kernel that the driver rejects; a failure of any rank.
pub fn compile<T: Value>(world: &World, setup: &PictureSetup, options: RendererOptions) -> Result<()> {
    let components = options.components;
    // One brick for each rank in a row: the owner of the first voxel of a brick owns the brick.
    let shape = [BRICK_SIDE + 1, BRICK_SIDE + 1, BRICK_SIDE * world.size() as i64 + 1];
    let layout = Layout::new([shape[0] * components as i64, shape[1], shape[2]]);
    let mut sizes = vec![BRICK_SIDE; world.size()];
    *sizes.last_mut().expect("a rank") += 1;
    let split = [Split::Whole, Split::Whole, Split::Sizes(sizes)];
    let volume = world.array::<T, 3>("trial", &layout.split(split))?;
    let mut chunks = volume.chunks();
    let written = chunks.try_for_each(|chunk| {
        let ones = vec![T::from_number(1.0); chunk.region().cells() as usize];
        chunk.all().write(&ones)
    });
    world.agree("filling the trial volume", written)?;
    Values::measure(world, &volume, components)?;
    let options = RendererOptions { brick: Some(BRICK_SIDE), ..options };
    VolumeRenderer::new(world, &volume, [1.0; 3], options)?.render(&setup.trial(shape))?;
    Ok(())
}
