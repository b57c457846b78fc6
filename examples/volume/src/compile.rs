//! Compiling the kernels before there is anything to measure.

use zippy::{Layout, Result, Split, World};
use zippy_render::volume::{RendererOptions, Values, VolumeRenderer};

use super::look::Setup;
use super::units::Value;

/// Cells along each side of a brick of the trial's volume.
const BRICK: i64 = 8;

/// Compiles the kernels of the pictures to come by rendering a trial: a small picture of a tiny volume. Nothing less would do,
/// as some drivers compile a kernel when it is made and others when it first runs. What the trial makes is gone
/// afterwards. Collective.
///
/// # Errors
/// A kernel that the driver refuses; a failure of this or of another rank.
pub fn compile<T: Value>(world: &World, setup: &Setup, options: RendererOptions) -> Result<()> {
    let components = options.components;
    // A brick for each rank, in a row: who has the first voxel of a brick has the brick.
    let shape = [BRICK + 1, BRICK + 1, BRICK * world.size() as i64 + 1];
    let layout = Layout::new([shape[0] * components as i64, shape[1], shape[2]]);
    let mut sizes = vec![BRICK; world.size()];
    *sizes.last_mut().expect("a rank") += 1;
    let split = [Split::Whole, Split::Whole, Split::Sizes(sizes)];
    let volume = world.array::<T, 3>("trial", &layout.split(split))?;
    let mut chunks = volume.chunks();
    let filled = chunks.try_for_each(|chunk| {
        let ones = vec![T::from_number(1.0); chunk.region().cells() as usize];
        chunk.all().write(&ones)
    });
    world.agree("filling the trial's volume", filled)?;
    Values::measure(world, &volume, components)?;
    let options = RendererOptions { brick: Some(BRICK), ..options };
    VolumeRenderer::new(world, &volume, [1.0; 3], options)?.render(&setup.trial(shape))?;
    Ok(())
}
