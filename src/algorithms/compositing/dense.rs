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
        let under = P::under(opaque);
        if front.is_empty() || behind.is_empty() {
            for (blends, operator) in [(front, Operator::Over), (behind, under)] {
                if !blends.is_empty() {
                    add(&mut moved, world.composite_all(&blends, operator)?);
                }
            }
        } else {
            // Both are under way at once and take effect as they are waited for.
            let front = world.start_composite_all(&front, Operator::Over)?;
            let behind = world.start_composite_all(&behind, under)?;
            add(&mut moved, front.wait()?);
            add(&mut moved, behind.wait()?);
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
