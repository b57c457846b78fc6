//! Execution of a plan with all pixels of its blends.

use zippy::plan::Moved;
use zippy::{Exchange, Result};
use zippy::{Operator, World};

use super::canvases::Canvases;
use super::pixel::{Pixel, under};
use super::plan::{BlendPlan, BlendRule};

/// Executes a plan. Collective.
pub(super) fn execute<P: Pixel>(
    world: &World,
    plan: &BlendPlan,
    on: &Canvases<'_, P>,
    opaque: Option<f32>,
) -> Result<Moved> {
    let mut moved = Moved::default();
    for round in &plan.rounds {
        on.clear(&round.clears)?;
        let sections = |way| round.blends.iter().filter(move |blend| blend.way == way).map(|blend| on.ends(blend));
        let ways = [
            (BlendRule::Alone, None),
            (BlendRule::InFront, Some(Operator::Over)),
            (BlendRule::Behind, Some(under(opaque))),
        ];
        let all = ways.into_iter().fold(Exchange::new(), |all, (way, operator)| match operator {
            None => all.copies(sections(way)),
            Some(operator) => all.composites(sections(way), &operator),
        });
        moved += world.exchange(all)?;
    }
    Ok(moved)
}
