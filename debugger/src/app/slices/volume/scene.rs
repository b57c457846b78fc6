//! The rank that renders: boxes of cells become volumes, volumes pictures.

use std::time::Instant;

use zippy::error::Error;
use zippy::{GlobalArray, Layout, Result, Split, World};
use zippy_render::volume::{Look, RendererOptions, VolumeRenderer};
use zippy_view::{Pace, colour_image};

use super::painter::{Mailbox, Teller, Told, Wish};
use crate::look::Voxels;

/// A volume that is rendered again and again.
struct Scene<'w> {
    of: Box<Wish>,
    spacing: [f64; 3],
    cells: GlobalArray<f32, 3>,
    renderer: VolumeRenderer<'w, f32>,
}

/// Renders what is wanted until nothing will be.
///
/// # Errors
/// What ends the rank. A wish that makes no sense is told, and the next one is waited for.
pub fn serve(world: &World, mailbox: &Mailbox, teller: &Teller) -> Result<()> {
    let (mut scene, mut pace) = (None, Pace::default());
    while let Some(wish) = mailbox.next() {
        let size = if wish.moving { pace.quick(wish.look.size) } else { wish.look.size };
        let look = Look { size, ..wish.look.clone() };
        let drawn = ready(world, scene.take(), &wish).and_then(|made| {
            let since = Instant::now();
            let frame = made.renderer.render(&look)?;
            pace.learn(size, since.elapsed().as_secs_f64());
            scene = Some(made);
            Ok(frame)
        });
        match drawn.map(|frame| frame.image) {
            Ok(Some(image)) => teller.tell(Told::Picture { image: colour_image(&image), wish }),
            Ok(None) => {}
            Err(error) => {
                world.group().alive()?;
                teller.tell(Told::Refused(error.to_string()));
            }
        }
    }
    Ok(())
}

/// The scene of a wish: the last one with its cells, if they are as many, or another one.
fn ready<'w>(world: &'w World, last: Option<Scene<'w>>, wish: &Wish) -> Result<Scene<'w>> {
    let last = match last {
        Some(scene) if scene.of.volume_is(wish) => return Ok(scene),
        last => last,
    };
    let voxels = Voxels::new(&wish.cells, &wish.subvolume, &wish.scale).map_err(Error::program)?;
    let of = Box::new(wish.clone());
    if let Some(scene) = last.filter(|scene| scene.cells.shape() == voxels.shape && scene.spacing == voxels.spacing) {
        write(&scene.cells, &voxels)?;
        scene.renderer.refresh()?;
        return Ok(Scene { of, ..scene });
    }
    let cells = world.array::<f32, 3>("volume", &Layout::new(voxels.shape).split_all(Split::Whole))?;
    write(&cells, &voxels)?;
    let renderer = VolumeRenderer::new(world, &cells, voxels.spacing, RendererOptions::default())?;
    Ok(Scene { of, spacing: voxels.spacing, cells, renderer })
}

fn write(cells: &GlobalArray<f32, 3>, voxels: &Voxels) -> Result<()> {
    cells.chunks().try_for_each(|chunk| chunk.all().write(&voxels.places))
}
