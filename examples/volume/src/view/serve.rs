//! The ranks' side: all of them render what rank 0 was asked for.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use zippy::error::Error;
use zippy::{Result, World};
use zippy_render::volume::{Frame, Look};
use zippy_view::{Pace, colour_image};

use super::link::{Event, Link, Shown};
use crate::isosurface::Isosurface;
use crate::link::Next;
use crate::setting::Setting;

/// What rank 0 tells all ranks.
#[derive(Serialize, Deserialize)]
enum Order {
    Render(Look, Option<Isosurface>),
    Nothing,
    End,
}

/// Shows the pictures that the window asks for until it is closed. Collective; a picture that is refused alike by all
/// ranks (settings that make no sense) is told to the window, and they go on.
///
/// # Errors
/// A failure of this or of another rank; a window that could not be opened.
pub fn show(
    world: &World,
    link: &Arc<Link>,
    setting: Setting,
    mut render: impl FnMut(&Look, Option<&Isosurface>) -> Result<Frame>,
) -> Result<()> {
    if world.rank() == 0 {
        link.tell(Event::Ready(Box::new(setting)));
    }
    let mut pace = Pace::default();
    loop {
        let (mut order, mut wanted) = (None, None);
        if world.rank() == 0 {
            order = Some(match link.next(world, || false)? {
                Next::End => Order::End,
                Next::Nothing => Order::Nothing,
                Next::Wish(next) => {
                    let size = if next.moving { pace.quick(next.look.size) } else { next.look.size };
                    let look = Look { size, ..next.look.clone() };
                    let isosurface = next.isosurface.clone();
                    wanted = Some((Instant::now(), next));
                    Order::Render(look, isosurface)
                }
            });
        }
        let (look, isosurface) = match told(world, order)? {
            Order::End => return Ok(()),
            Order::Nothing => continue,
            Order::Render(look, isosurface) => (look, isosurface),
        };
        let frame = match look.check().map_err(Error::from).and_then(|()| render(&look, isosurface.as_ref())) {
            Ok(frame) => frame,
            Err(error) => {
                world.group().alive()?;
                if world.rank() == 0 {
                    link.tell(Event::Refused(error.to_string()));
                }
                continue;
            }
        };
        let Some((image, (since, wanted))) = frame.image.as_ref().zip(wanted) else { continue };
        let rendered = since.elapsed().as_secs_f64();
        pace.learn(look.size, rendered);
        let image = colour_image(image);
        let timings = vec![
            ("cast rays", frame.cast_secs),
            ("blend", frame.composite_secs),
            ("read back", frame.read_secs),
            ("whole frame", rendered),
        ];
        link.tell(Event::Picture(Box::new(Shown { image, moving: wanted.moving, secs: rendered, timings })));
    }
}

/// The order of rank 0, on every rank.
fn told(world: &World, order: Option<Order>) -> Result<Order> {
    let unreadable = |error: postcard::Error| Error::program(format!("an order of rank 0: {error}"));
    let bytes = order.map(|order| postcard::to_allocvec(&order)).transpose().map_err(unreadable)?;
    let bytes = world.group().broadcast(0, bytes.map(|bytes| Box::new(bytes) as zippy::transport::Payload))?;
    postcard::from_bytes(bytes.as_ref().as_ref()).map_err(unreadable)
}
