//! The rank that turns boxes of cells into volumes, and volumes into pictures.

use std::time::Instant;

use zippy::error::Error;
use zippy::{GlobalArray, Layout, Result, Split, World};
use zippy_render::volume::{Look, RendererOptions, VolumeRenderer};
use zippy_view::{FramePacing, colour_image};

use super::painter::{EventSender, Mailbox, RenderEvent, RenderRequest};
use crate::imaging::Voxels;

/// A volume with its renderer, for many pictures.
struct Scene<'w> {
    request: Box<RenderRequest>,
    spacing: [f64; 3],
    cells: GlobalArray<f32, 3>,
    renderer: VolumeRenderer<'w, f32>,
}

/// Renders requested pictures until the mailbox is closed.
///
/// # Errors
/// Errors that end the rank. An invalid request is reported to the window, and the loop continues.
pub(super) fn serve(world: &World, mailbox: &Mailbox, event_sender: &EventSender) -> Result<()> {
    let (mut scene, mut pace) = (None, FramePacing::default());
    while let Some(request) = mailbox.next() {
        let size = if request.is_moving { pace.quick(request.look.size) } else { request.look.size };
        let look = Look { size, ..request.look.clone() };
        let frame = prepare_scene(world, scene.take(), &request).and_then(|prepared| {
            let since = Instant::now();
            let frame = prepared.renderer.render(&look)?;
            pace.learn(size, since.elapsed().as_secs_f64());
            scene = Some(prepared);
            Ok(frame)
        });
        match frame.map(|frame| frame.image) {
            Ok(Some(image)) => event_sender.send(RenderEvent::Picture { image: colour_image(&image), request }),
            Ok(None) => {}
            Err(error) => {
                world.group().alive()?;
                event_sender.send(RenderEvent::Refused(error.to_string()));
            }
        }
    }
    Ok(())
}

/// Returns the volume and the renderer of a request. Uses the last ones again if the cells have the
/// same shape and spacing.
fn prepare_scene<'w>(world: &'w World, last: Option<Scene<'w>>, request: &RenderRequest) -> Result<Scene<'w>> {
    let last = match last {
        Some(scene) if scene.request.is_same_volume(request) => return Ok(scene),
        last => last,
    };
    let voxels = Voxels::new(&request.cells, &request.subvolume, &request.scale).map_err(Error::program)?;
    let boxed = Box::new(request.clone());
    if let Some(scene) = last.filter(|scene| scene.cells.shape() == voxels.shape && scene.spacing == voxels.spacing) {
        write_voxels(&scene.cells, &voxels)?;
        scene.renderer.refresh()?;
        return Ok(Scene { request: boxed, ..scene });
    }
    let cells = world.array::<f32, 3>("volume", &Layout::new(voxels.shape).split_all(Split::Whole))?;
    write_voxels(&cells, &voxels)?;
    let renderer = VolumeRenderer::new(world, &cells, voxels.spacing, RendererOptions::default())?;
    Ok(Scene { request: boxed, spacing: voxels.spacing, cells, renderer })
}

fn write_voxels(cells: &GlobalArray<f32, 3>, voxels: &Voxels) -> Result<()> {
    cells.chunks().try_for_each(|chunk| chunk.all().write(&voxels.positions))
}
