//! Queries to other ranks: one query for each cell of a sequence, with the rank that answers it.

use zippy::World;
use zippy::array::Sequence;
use zippy::collective::{CellSequence, CollectiveWorld, Column, DeliveryTarget};
use zippy::element::{Element, ElementInfo};
use zippy::error::Result;
use zippy::world::Destinations;

use super::numbers::over_numbers;
use super::permute::{gather, scatter};
use super::scan::count;

/// Returns the answers to queries, in their order. `answer` computes the answers to queries for
/// this rank. Other queries are sent to their ranks, which call `answer` and return the results.
/// Collective.
pub(crate) fn query_ranks(
    world: &World,
    queries: &CellSequence,
    ranks: &CellSequence,
    answer_type: &'static ElementInfo,
    answer: impl Fn(&CellSequence) -> Result<CellSequence>,
) -> Result<CellSequence> {
    let remote = world.failing("querying other ranks", || {
        let mut remote = 0;
        over_numbers(ranks, |_, some| {
            remote += some.iter().filter(|&&rank| rank as usize != world.rank()).count() as u64;
            Ok(())
        })?;
        let mut most = [remote];
        world.inner_group().all_reduce(&mut most, |most, other| *most = (*most).max(*other))?;
        Ok((remote, most[0]))
    })?;
    match remote {
        (_, 0) => world.failing("answering queries", || answer(queries)),
        (all, _) if all == queries.len() => query_other_ranks(world, queries, ranks, answer_type, &answer),
        (remote, _) => {
            let (local_positions, remote_positions, remote_queries, remote_ranks) =
                world.failing("querying other ranks", || {
                    let [local_positions, remote_positions] = positions_by_rank(world, ranks, remote)?;
                    let remote_queries = cells_at_positions(world, queries, &remote_positions)?;
                    let remote_ranks = cells_at_positions(world, ranks, &remote_positions)?;
                    Ok((local_positions, remote_positions, remote_queries, remote_ranks))
                })?;
            let found = query_other_ranks(world, &remote_queries, &remote_ranks, answer_type, &answer)?;
            world.failing("taking answers", || {
                let answers = world.scratch_cells("answers", answer_type, queries.len())?;
                scatter(
                    world,
                    &answer(&cells_at_positions(world, queries, &local_positions)?)?,
                    &local_positions,
                    &answers,
                )?;
                scatter(world, &found, &remote_positions, &answers)?;
                Ok(answers)
            })
        }
    }
}

/// Answers queries to other ranks, as [`query_ranks`] does for all.
fn query_other_ranks(
    world: &World,
    queries: &CellSequence,
    ranks: &CellSequence,
    answer_type: &'static ElementInfo,
    answer: impl Fn(&CellSequence) -> Result<CellSequence>,
) -> Result<CellSequence> {
    let column = |name, element| Column { name, element };
    let columns = [column("queries", queries.element()), column("places", &u32::INFO)];
    let origins = world.failing("querying other ranks", || count(world, queries.len()))?;
    let to = Destinations::Each(Sequence::from_cells(ranks.clone()));
    let received = world.deliver_columns(&columns, Ok(vec![queries.clone(), origins]), &to, DeliveryTarget::Memory)?;
    let answers = world.failing("answering other ranks", || answer(&received.cells[0]))?;
    let origins = received.cells[1].clone();
    let columns = [column("answers", answer_type), column("places", &u32::INFO)];
    let returned = world.deliver_columns(
        &columns,
        Ok(vec![answers, origins]),
        &Destinations::Runs(received.counts),
        DeliveryTarget::Memory,
    )?;
    world.failing("taking answers", || {
        let answers = world.scratch_cells("answers", answer_type, queries.len())?;
        scatter(world, &returned.cells[0], &returned.cells[1], &answers)?;
        Ok(answers)
    })
}

fn cells_at_positions(world: &World, cells: &CellSequence, positions: &CellSequence) -> Result<CellSequence> {
    let found = world.scratch_cells("gathered", cells.element(), positions.len())?;
    gather(world, cells, positions, &found)?;
    Ok(found)
}

/// Returns the positions of the entries of a list of ranks that equal this rank, and of the
/// `remote` other entries.
fn positions_by_rank(world: &World, ranks: &CellSequence, remote: u64) -> Result<[CellSequence; 2]> {
    let room = |cells| world.scratch_cells("positions", &u32::INFO, cells);
    let found = [room(ranks.len() - remote)?, room(remote)?];
    let mut begin = [0, 0];
    over_numbers(ranks, |first, some| {
        let mut positions = [Vec::new(), Vec::new()];
        for (position, &rank) in (first..).zip(some) {
            positions[usize::from(rank as usize != world.rank())].push(position as u32);
        }
        for ((found, positions), begin) in found.iter().zip(positions).zip(&mut begin) {
            let end = *begin + positions.len() as u64;
            found.write(*begin..end, bytemuck::cast_slice(&positions))?;
            *begin = end;
        }
        Ok(())
    })?;
    Ok(found)
}
