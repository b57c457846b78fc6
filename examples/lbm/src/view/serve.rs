//! The ranks' side: between steps all of them do what rank 0's window wants.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use zippy::algorithms::reduce::Bins;
use zippy::{Error, Result, World};
use zippy_lbm::cases::Case;
use zippy_lbm::{Fields, Flow};
use zippy_render::volume::Distribution;
use zippy_view::{Pace, colour_image};

use super::link::{Event, Frame, Link, Setting, Wanted};
use crate::drawing::Pictures;
use crate::ending::{End, Ending};
use crate::link::Next;
use crate::options::Options;
use crate::say::complain;
use crate::scene::{Scene, Shown};
use crate::setup::Setup;

/// While it runs, the distribution of values is counted this often.
const COUNTING: Duration = Duration::from_secs(1);
const BINS: usize = 128;
/// The least part of the sides of a picture that a quick one has.
const COARSEST: f64 = 0.4;

/// What rank 0 tells all ranks.
#[derive(Serialize, Deserialize)]
struct Order {
    scene: Scene,
    speed: f64,
    /// Whether values are counted.
    counted: bool,
    /// Steps until the next order.
    steps: u64,
}

/// A window that shows a flow, as its ranks see it.
pub struct Window<'w> {
    link: Arc<Link>,
    pictures: Pictures<'w>,
    /// As it was in the beginning.
    case: Case,
    speed: f64,
    /// What the last picture showed, and when.
    drawn: Option<(u64, Scene)>,
    rank_0: Clerk,
}

/// What only rank 0 knows.
#[derive(Default)]
struct Clerk {
    wanted: Option<Wanted>,
    /// Single steps that were made, and requests for values that were answered.
    singles: u64,
    measured: u64,
    counted: Option<(Instant, Shown)>,
    pace: Pace,
    /// Whether nothing happens until somebody wants something.
    idle: bool,
    /// When the last order to run was given, and at which step.
    left: Option<(Instant, u64)>,
}

impl<'w> Window<'w> {
    /// Tells the window what there is to see. Collective.
    pub fn open(world: &'w World, link: &Arc<Link>, options: &Options, case: &Case, flow: &Flow) -> Result<Self> {
        // The box is seen whole in every window that is wider than high.
        let scene = options.showing.scene((720, 720), case, flow, options.render.unwrap_or(Shown::Vorticity));
        let cells = flow.inside().map(|axis| axis.end - axis.start);
        let axes = flow.problem().velocities().axes();
        world.agree("opening a window", scene.check(cells, axes))?;
        let pictures = Pictures::new(world, ["seen", "seen beside", "seen surface", "seen bodies"], flow)?;
        let [x, y, z] = cells;
        let mut ranges = Shown::ALL.map(|shown| shown.range(case));
        ranges[scene.shown as usize] = scene.range;
        let setting = Setting {
            about: format!("{} · {x} × {y} × {z} · {} ranks", case.name, world.size()),
            ranges,
            cells,
            in_plane: axes == 2,
            length: case.length,
            viscosity: case.speed * case.length / case.reynolds(),
            speed: case.speed,
            is_driven: case.problem.is_driven(),
            per_frame: ((case.length / case.speed / 50.0).round() as u64).clamp(1, 100),
            scene,
        };
        if world.rank() == 0 {
            link.tell(Event::Ready(Box::new(setting)));
        }
        let (link, case, speed) = (Arc::clone(link), case.clone(), case.speed);
        Ok(Self { link, pictures, case, speed, drawn: None, rank_0: Clerk::default() })
    }

    /// Draws what is wanted, and waits while the flow is not to go on; how many steps it goes on for, or why it ends. Changes
    /// flow, case and setup to the speed that is wanted. Collective; what all ranks refuse alike is told to the window, and they
    /// go on.
    ///
    /// # Errors
    /// A failure of this or of another rank; a window that could not be opened.
    pub fn turn(
        &mut self,
        world: &World,
        ending: &Ending,
        (setup, case): (&mut Setup, &mut Case),
        flow: &mut Flow,
        fields: &Fields,
    ) -> Result<ControlFlow<End, u64>> {
        loop {
            if let Some(end) = ending.now(world)? {
                return Ok(ControlFlow::Break(end));
            }
            let order = match world.rank() {
                0 => Some(self.rank_0.decide(world, &self.link, ending)?),
                _ => None,
            };
            let Some(order) = told(world, order)? else { continue };
            let since = Instant::now();
            let done = self.drive(order.speed, setup, case, flow).and_then(|()| {
                if order.counted {
                    self.count(world, flow, fields, &order.scene)?;
                }
                self.draw(flow, fields, &order.scene, since)
            });
            if let Err(error) = done {
                world.group().alive()?;
                if world.rank() == 0 {
                    self.link.tell(Event::Refused(error.to_string()));
                }
            }
            if order.steps > 0 {
                self.rank_0.left = Some((Instant::now(), flow.steps()));
                return Ok(ControlFlow::Continue(order.steps));
            }
        }
    }

    /// Shows why the flow cannot go on, with the last picture, until the window is closed or the
    /// run is ended. Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn hold(&mut self, world: &World, ending: &Ending, error: &Error) -> Result<()> {
        if world.rank() == 0 {
            complain(format_args!("{}; close the window to end the program", error.kind()));
            self.link.tell(Event::Stopped(error.kind().to_string()));
        }
        while ending.now(world)?.is_none() {
            let nothing = match world.rank() {
                0 => {
                    // Current requests are in the last picture, or lost.
                    self.link.next(world, || ending.asked())?;
                    Some(None)
                }
                _ => None,
            };
            told(world, nothing)?;
        }
        Ok(())
    }

    /// Changes what drives the flow, if that is to be another speed.
    fn drive(&mut self, speed: f64, setup: &mut Setup, case: &mut Case, flow: &mut Flow) -> Result<()> {
        if speed == self.speed {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.speed, speed);
        let driven = self.case.driven(speed);
        flow.change(&driven.problem)?;
        (setup.speed, setup.re) = (Some(speed), Some(driven.reynolds()));
        // A cell and a step stay what they are.
        if let Some(physical) = &mut setup.physical {
            physical.speed *= speed / before;
        }
        *case = driven;
        self.pictures.forget();
        self.drawn = None;
        Ok(())
    }

    /// Draws a scene if it is not what was drawn last, and tells the window.
    fn draw(&mut self, flow: &mut Flow, fields: &Fields, scene: &Scene, since: Instant) -> Result<()> {
        let now = (flow.steps(), scene.clone());
        if self.drawn.as_ref() == Some(&now) {
            return Ok(());
        }
        // Also if it is refused: it would be again.
        self.drawn = Some(now);
        // This takes as long for any size.
        self.pictures.values(flow, fields, scene.shown)?;
        let start = Instant::now();
        let Some(image) = self.pictures.draw(flow, fields, scene, false)? else { return Ok(()) };
        let (secs, clerk) = (since.elapsed().as_secs_f64(), &mut self.rank_0);
        clerk.pace.learn(scene.look.size, start.elapsed().as_secs_f64());
        let updates = |(since, from): (Instant, u64)| {
            let steps = flow.steps().saturating_sub(from) as f64;
            flow.fluid_cells() as f64 * steps / since.elapsed().as_secs_f64().max(1e-9) / 1e6
        };
        let mlups = clerk.left.take().map_or(0.0, updates);
        let quick = clerk.wanted.as_ref().is_some_and(|wanted| wanted.scene.look.size != scene.look.size);
        let frame = Frame { image: colour_image(&image), quick, secs, steps: flow.steps(), mlups };
        self.link.tell(Event::Picture(Box::new(frame)));
        Ok(())
    }

    /// Counts the values of the box over a scene's range, and tells the window.
    fn count(&mut self, world: &World, flow: &mut Flow, fields: &Fields, scene: &Scene) -> Result<()> {
        let [x, y, z] = flow.inside();
        let [min, max] = scene.range;
        let values = self.pictures.values(flow, fields, scene.shown)?;
        let inside = || values.at((x.clone(), y.clone(), z.clone()));
        let counts = world.histogram(inside(), &Bins::even(min as f32, max as f32, BINS)?)?.counts;
        let extremes = world.extremes(inside())?.map_or([0.0; 2], |found| [found.min, found.max].map(f64::from));
        if world.rank() == 0 {
            let found = Distribution { min, max, counts };
            self.link.tell(Event::Values(scene.shown, Box::new(found), extremes));
        }
        Ok(())
    }
}

impl Clerk {
    /// What all ranks do next; `None`: nothing. Waits where there is nothing to do.
    fn decide(&mut self, world: &World, link: &Link, ending: &Ending) -> Result<Option<Order>> {
        let waits = self.idle || self.wanted.is_none();
        let next = if waits { link.next(world, || ending.asked())? } else { link.next(world, || true)? };
        match next {
            Next::Wish(wanted) => self.wanted = Some(*wanted),
            Next::Nothing if waits => return Ok(None),
            // Which ends the next turn.
            Next::End => return Ok(None),
            Next::Nothing => {}
        }
        let Some(wanted) = &self.wanted else { return Ok(None) };
        let single = u64::from(!wanted.running && wanted.singles > self.singles);
        self.singles = if wanted.running { wanted.singles } else { self.singles + single };
        let steps = if wanted.running { wanted.per_frame } else { single };
        self.idle = steps == 0;
        let mut scene = wanted.scene.clone();
        if wanted.running || wanted.moving || steps > 0 {
            let (full, quick) = (scene.look.size, self.pace.quick(scene.look.size));
            let side = |full: u32, quick: u32| quick.max((f64::from(full) * COARSEST) as u32);
            scene.look.size = (side(full.0, quick.0), side(full.1, quick.1));
        }
        let fresh = |(since, shown): &(Instant, Shown)| since.elapsed() < COUNTING && *shown == scene.shown;
        let asked = std::mem::replace(&mut self.measured, wanted.measured) != wanted.measured;
        let counted = asked || (!wanted.moving && !self.counted.as_ref().is_some_and(fresh));
        if counted {
            self.counted = Some((Instant::now(), scene.shown));
        }
        Ok(Some(Order { scene, speed: wanted.speed, counted, steps }))
    }
}

/// The order of rank 0, on every rank.
fn told(world: &World, order: Option<Option<Order>>) -> Result<Option<Order>> {
    let unreadable = |error: postcard::Error| Error::program(format!("an order of rank 0: {error}"));
    let bytes = order.map(|order| postcard::to_allocvec(&order)).transpose().map_err(unreadable)?;
    let bytes = world.group().broadcast(0, bytes.map(|bytes| Box::new(bytes) as zippy::transport::Payload))?;
    postcard::from_bytes(bytes.as_ref().as_ref()).map_err(unreadable)
}
