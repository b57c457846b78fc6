//! A plan carried out with all pixels of its blends.

use super::Pixel;
use super::compositor::Canvases;
use super::plan::{Plan, Way};
use crate::error::Result;
use crate::plan::Moved;
use crate::world::{Operator, World};

/// Carries out a plan. Collective.
pub(super) fn execute<P: Pixel>(world: &World, plan: &Plan, on: &Canvases<P>, opaque: f32) -> Result<Moved> {
    let mut moved = Moved::default();
    for round in &plan.rounds {
        on.clear(&round.clears)?;
        let of = |way| round.blends.iter().filter(move |blend| blend.way == way).map(|blend| on.ends(blend));
        let [alone, front, behind] = [Way::Alone, Way::InFront, Way::Behind].map(|way| of(way).collect::<Vec<_>>());
        if !alone.is_empty() {
            add(&mut moved, world.copy_all(&alone)?);
        }
        // What is started is waited for at last: neither reads what the other one writes.
        let started = match front.is_empty() {
            true => None,
            false => Some(world.start_composite_all(&front, Operator::Over)?),
        };
        if !behind.is_empty() {
            add(&mut moved, world.composite_all(&behind, P::under(opaque))?);
        }
        if let Some(started) = started {
            add(&mut moved, started.wait()?);
        }
    }
    Ok(moved)
}

pub(super) fn add(sum: &mut Moved, part: Moved) {
    sum.bytes_local += part.bytes_local;
    sum.bytes_network += part.bytes_network;
    sum.messages += part.messages;
    sum.rounds += part.rounds;
}
