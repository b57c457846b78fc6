//! Partial pictures into one by swapping parts of them, over global-array operations (the paper's section 5.1).

use crate::array::{GlobalArray, GlobalSection};
use crate::error::{RenderError, Result};
use crate::plan::Moved;
use crate::plan::patterns::Swap;
use crate::world::{Operator, Pending, World};
use std::ops::Range;

/// Group sizes of binary swap.
pub const BINARY: &[usize] = &[2];

/// Blends partial pictures by swap: binary swap with `radices` = [`BINARY`], radix-k with others. Collective.
///
/// `pictures` is `[width, height, n]`, cut into `n` chunks of one picture each, premultiplied; `order[i]` is the chunk at
/// depth `i`, front first. `finished` is `[width, height, 1]`, any layout. The chunks are re-arranged by depth, which moves
/// no data; where `n` is no product of radices, neighbours are blended whole; then in each round every group of pictures
/// divides the rows that its members hold, and each member blends its own part. Last the parts are copied to `finished`.
/// On return `finished` holds the picture and `pictures` is used up.
///
/// Cost of binary swap: each chunk's owner sends and receives about one picture for it, whatever `n` is.
///
/// # Errors
/// Shapes that do not fit, an order that is no permutation of the chunks, a radix below 2, or a failure of this or of
/// another rank.
pub fn swap(
    world: &World,
    pictures: &GlobalArray<[f32; 4], 3>,
    order: &[usize],
    finished: &GlobalArray<[f32; 4], 3>,
    radices: &[usize],
) -> Result<Moved> {
    let [width, height, layers] = pictures.shape();
    let count = pictures.core().chunks().count();
    if finished.shape() != [width, height, 1] || count as i64 != layers || order.len() != count {
        let message = format!(
            "swap needs pictures of [w, h, n] in n chunks, an order of n and a result of [w, h, 1]; given are {:?} in {count} \
             chunks, an order of {} and a result of {:?}",
            pictures.shape(),
            order.len(),
            finished.shape()
        );
        return Err(RenderError::Setting(message).into());
    }
    let pattern = Swap::new(count, radices, height as u64)?;
    let by_depth = pictures.reassigned(order)?;
    let part = |picture: usize, rows: &Range<u64>| -> GlobalSection<[f32; 4], 3> {
        by_depth.at((.., rows.start..rows.end, picture))
    };
    let mut moved = Moved::default();
    for fold in pattern.folds() {
        for &member in &fold.members[1..] {
            let all = 0..height as u64;
            add(&mut moved, world.composite(part(member, &all), part(fold.root(), &all), Operator::Under)?);
        }
    }
    for round in 0..pattern.rounds() {
        let steps: Vec<_> =
            pattern.active().iter().filter_map(|&picture| Some((picture, pattern.step(round, picture)?))).collect();
        let largest = steps.iter().map(|(_, step)| step.members.len()).max().unwrap_or(1);
        // The nearest in depth first. All of one distance are started before the first is waited for: nobody reads the
        // part that another one keeps.
        for distance in 1..largest {
            let mut started = Vec::new();
            for (picture, step) in &steps {
                let rows = step.keep();
                let mut blend = |from: Option<&usize>, operator| -> Result<()> {
                    if let Some(&from) = from.filter(|_| !rows.is_empty()) {
                        started.push(world.start_composite(part(from, &rows), part(*picture, &rows), operator)?);
                    }
                    Ok(())
                };
                blend(step.place.checked_sub(distance).map(|place| &step.members[place]), Operator::Over)?;
                blend(step.members.get(step.place + distance), Operator::Under)?;
            }
            wait(started, &mut moved)?;
        }
    }
    for &picture in pattern.active() {
        let rows = pattern.result(picture);
        if !rows.is_empty() {
            add(&mut moved, world.copy(part(picture, &rows), finished.at((.., rows, ..)))?);
        }
    }
    Ok(moved)
}

fn wait(started: Vec<Pending<'_>>, moved: &mut Moved) -> Result<()> {
    for pending in started {
        add(moved, pending.wait()?);
    }
    Ok(())
}

fn add(sum: &mut Moved, part: Moved) {
    sum.bytes_local += part.bytes_local;
    sum.bytes_network += part.bytes_network;
    sum.messages += part.messages;
    sum.rounds += part.rounds;
}
