//! Rendering of the window's requests on all ranks.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use zippy::error::Error;
use zippy::{Result, World};
use zippy_render::volume::{Frame, Look};
use zippy_view::{FramePacing, colour_image};

use super::link::{Event, FinishedPicture, Link};
use crate::isosurface::Isosurface;
use crate::link::Next;
use crate::viewer_setup::ViewerSetup;

/// Command from rank 0 to all ranks.
#[derive(Serialize, Deserialize)]
enum Command {
    Render(Look, Option<Isosurface>),
    Nothing,
    End,
}

/// Renders the requests of the window until it is closed. Collective.
///
/// If all ranks reject a request for the same reason (invalid settings), the window shows the
/// message and the ranks continue.
///
/// # Errors
/// A failure of any rank; a window that cannot be opened.
pub fn show(
    world: &World,
    link: &Arc<Link>,
    setup: ViewerSetup,
    mut render: impl FnMut(&Look, Option<&Isosurface>) -> Result<Frame>,
) -> Result<()> {
    if world.rank() == 0 {
        link.send_event(Event::Ready(Box::new(setup)));
    }
    let mut pace = FramePacing::default();
    loop {
        let (mut command, mut request_start) = (None, None);
        if world.rank() == 0 {
            command = Some(match link.next(world, || false)? {
                Next::End => Command::End,
                Next::Nothing => Command::Nothing,
                Next::Request(request) => {
                    let size = if request.moving { pace.quick(request.look.size) } else { request.look.size };
                    let look = Look { size, ..request.look.clone() };
                    let isosurface = request.isosurface.clone();
                    request_start = Some((Instant::now(), request));
                    Command::Render(look, isosurface)
                }
            });
        }
        let (look, isosurface) = match broadcast_command(world, command)? {
            Command::End => return Ok(()),
            Command::Nothing => continue,
            Command::Render(look, isosurface) => (look, isosurface),
        };
        let frame = match look.check().map_err(Error::from).and_then(|()| render(&look, isosurface.as_ref())) {
            Ok(frame) => frame,
            Err(error) => {
                world.group().alive()?;
                if world.rank() == 0 {
                    link.send_event(Event::Refused(error.to_string()));
                }
                continue;
            }
        };
        let Some((image, (since, request))) = frame.image.as_ref().zip(request_start) else { continue };
        let rendered = since.elapsed().as_secs_f64();
        pace.learn(look.size, rendered);
        let image = colour_image(image);
        let timings = vec![
            ("cast rays", frame.cast_secs),
            ("blend", frame.composite_secs),
            ("read back", frame.read_secs),
            ("whole frame", rendered),
        ];
        link.send_event(Event::Picture(Box::new(FinishedPicture {
            image,
            moving: request.moving,
            secs: rendered,
            timings,
        })));
    }
}

/// Broadcasts the command of rank 0 to every rank.
fn broadcast_command(world: &World, command: Option<Command>) -> Result<Command> {
    let unreadable = |error: postcard::Error| Error::program(format!("a command of rank 0: {error}"));
    let bytes = command.map(|command| postcard::to_allocvec(&command)).transpose().map_err(unreadable)?;
    let bytes = world.group().broadcast(0, bytes.map(|bytes| Box::new(bytes) as zippy::transport::Payload))?;
    postcard::from_bytes(bytes.as_ref().as_ref()).map_err(unreadable)
}
