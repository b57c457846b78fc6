//! A plan carried out with all pixels of its blends.

use super::Pixel;
use super::compositor::Canvases;
use super::plan::{Plan, Way};
use crate::error::Result;
use crate::plan::Moved;
use crate::world::{Operator, Pending, World};

/// Carries out a plan. Collective.
pub(super) fn execute<P: Pixel>(world: &World, plan: &Plan, on: &Canvases<P>, opaque: f32) -> Result<Moved> {
    let mut moved = Moved::default();
    for round in &plan.rounds {
        on.clear(&round.clears)?;
        let of = |way| round.blends.iter().filter(move |blend| blend.way == way).map(|blend| on.ends(blend));
        // What is started is waited for at last: none reads what another one writes.
        let mut started: Vec<Pending> = Vec::new();
        for (from, to) in of(Way::Alone) {
            started.push(world.start_copy(from, to)?);
        }
        let [front, behind] = [Way::InFront, Way::Behind].map(|way| of(way).collect::<Vec<_>>());
        if !front.is_empty() {
            started.push(world.start_composite_all(&front, Operator::Over)?);
        }
        if !behind.is_empty() {
            add(&mut moved, world.composite_all(&behind, P::under(opaque))?);
        }
        for pending in started {
            add(&mut moved, pending.wait()?);
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
