//! A plan carried out with all pixels of its blends.

use zippy::Result;
use zippy::plan::Moved;
use zippy::world::{Operator, World};

use super::canvases::Canvases;
use super::pixel::{Pixel, under};
use super::plan::{Plan, Way};

/// Carries out a plan. Collective.
pub(super) fn execute<P: Pixel>(world: &World, plan: &Plan, on: &Canvases<P>, opaque: Option<f32>) -> Result<Moved> {
    let mut moved = Moved::default();
    for round in &plan.rounds {
        on.clear(&round.clears)?;
        let of = |way| round.blends.iter().filter(move |blend| blend.way == way).map(|blend| on.ends(blend)).collect();
        let ways = [(Way::Alone, None), (Way::InFront, Some(Operator::Over)), (Way::Behind, Some(under(opaque)))];
        // No blend of a round reads what another one writes.
        moved += world.combine_in_turn(ways.map(|(way, operator)| (of(way), operator)))?;
    }
    Ok(moved)
}
