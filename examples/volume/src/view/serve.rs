//! Rendering of the window's requests on all ranks.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use zippy::error::Error;
use zippy::{Result, World};
use zippy_render::volume::{Frame, Look};
use zippy_view::live::{FinishedPicture, Next, command_of_rank_0};
use zippy_view::{FramePacing, colour_image};

use super::{Link, PictureSettings};
use crate::isosurface::Isosurface;
use crate::viewer_setup::ViewerSetup;

/// Command that rank 0 broadcasts to all ranks of the window.
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
    link: &Link,
    setup: ViewerSetup,
    mut render: impl FnMut(&Look, Option<&Isosurface>) -> Result<Frame>,
) -> Result<()> {
    link.send_setup(world, setup);
    let mut pace = FramePacing::default();
    loop {
        // On rank 0: start of the request, and true if the window is moving.
        let mut request_start = None;
        let command = command_of_rank_0(world, || {
            Ok(match link.next(world, || false)? {
                Next::End => Command::End,
                Next::Nothing => Command::Nothing,
                Next::Request(request) => {
                    request_start = Some((Instant::now(), request.moving));
                    let PictureSettings { look, isosurface } = request.settings;
                    let size = if request.moving { pace.quick(look.size) } else { look.size };
                    Command::Render(Look { size, ..look }, isosurface)
                }
            })
        })?;
        let (look, isosurface) = match command {
            Command::End => return Ok(()),
            Command::Nothing => continue,
            Command::Render(look, isosurface) => (look, isosurface),
        };
        let frame = match look.check().map_err(Error::from).and_then(|()| render(&look, isosurface.as_ref())) {
            Ok(frame) => frame,
            Err(error) => {
                link.refuse(world, &error)?;
                continue;
            }
        };
        let Some((image, (since, moving))) = frame.image.as_ref().zip(request_start) else { continue };
        let secs = since.elapsed().as_secs_f64();
        pace.learn(look.size, secs);
        let image = colour_image(image);
        let details = vec![
            ("cast rays", frame.cast_secs),
            ("blend", frame.composite_secs),
            ("read back", frame.read_secs),
            ("whole frame", secs),
        ];
        link.send_picture(FinishedPicture { image, quick: moving, secs, restarts_rate: !moving, details });
    }
}
