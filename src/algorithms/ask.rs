//! Queries to other ranks: one for each cell of a sequence, answered by the rank given for the
//! cell.

use super::numbers::over_numbers;
use super::permute::{gather, scatter};
use super::scan::count;
use crate::World;
use crate::array::{Cells, Sequence};
use crate::element::{Element, ElementInfo};
use crate::error::Result;
use crate::world::{Column, DeliveryTarget, Destinations};

/// Returns the answers to queries, in their order. `answer` computes the answers to queries for
/// this rank. Other queries are sent to their ranks, which call `answer` and return the results.
/// Collective.
pub fn ask(
    world: &World,
    questions: &Cells,
    ranks: &Cells,
    answers_are: &'static ElementInfo,
    answer: impl Fn(&Cells) -> Result<Cells>,
) -> Result<Cells> {
    let elsewhere = world.failing("asking other ranks", || {
        let mut elsewhere = 0;
        over_numbers(ranks, |_, some| {
            elsewhere += some.iter().filter(|&&rank| rank as usize != world.rank()).count() as u64;
            Ok(())
        })?;
        let mut most = [elsewhere];
        world.inner().all_reduce(&mut most, |most, other| *most = (*most).max(*other))?;
        Ok((elsewhere, most[0]))
    })?;
    match elsewhere {
        (_, 0) => world.failing("answering questions", || answer(questions)),
        (all, _) if all == questions.len() => ask_others(world, questions, ranks, answers_are, &answer),
        (elsewhere, _) => {
            let (own, others, of_others, their_ranks) = world.failing("asking other ranks", || {
                let [own, others] = positions(world, ranks, elsewhere)?;
                let of_others = picked(world, questions, &others)?;
                let their_ranks = picked(world, ranks, &others)?;
                Ok((own, others, of_others, their_ranks))
            })?;
            let found = ask_others(world, &of_others, &their_ranks, answers_are, &answer)?;
            world.failing("taking answers", || {
                let answers = Cells::scratch(&world.home(), "answers", answers_are, questions.len())?;
                scatter(world, &answer(&picked(world, questions, &own)?)?, &own, &answers)?;
                scatter(world, &found, &others, &answers)?;
                Ok(answers)
            })
        }
    }
}

/// [`ask`] for queries to other ranks.
fn ask_others(
    world: &World,
    questions: &Cells,
    ranks: &Cells,
    answers_are: &'static ElementInfo,
    answer: impl Fn(&Cells) -> Result<Cells>,
) -> Result<Cells> {
    let column = |name, element| Column { name, element };
    let columns = [column("questions", questions.element()), column("places", &u32::INFO)];
    let places = world.failing("asking other ranks", || count(world, questions.len()))?;
    let to = Destinations::Each(Sequence::from_cells(ranks.clone()));
    let asked = world.deliver_columns(&columns, Ok(vec![questions.clone(), places]), &to, DeliveryTarget::Memory)?;
    let answers = world.failing("answering other ranks", || answer(&asked.cells[0]))?;
    let places = asked.cells[1].clone();
    let columns = [column("answers", answers_are), column("places", &u32::INFO)];
    let back = world.deliver_columns(
        &columns,
        Ok(vec![answers, places]),
        &Destinations::Runs(asked.counts),
        DeliveryTarget::Memory,
    )?;
    world.failing("taking answers", || {
        let answers = Cells::scratch(&world.home(), "answers", answers_are, questions.len())?;
        scatter(world, &back.cells[0], &back.cells[1], &answers)?;
        Ok(answers)
    })
}

/// The cells at some positions.
fn picked(world: &World, cells: &Cells, positions: &Cells) -> Result<Cells> {
    let found = Cells::scratch(&world.home(), "picked", cells.element(), positions.len())?;
    gather(world, cells, positions, &found)?;
    Ok(found)
}

/// Positions of the entries of a list of ranks that equal this rank, and of the `elsewhere` other
/// entries.
fn positions(world: &World, ranks: &Cells, elsewhere: u64) -> Result<[Cells; 2]> {
    let room = |cells| Cells::scratch(&world.home(), "positions", &u32::INFO, cells);
    let found = [room(ranks.len() - elsewhere)?, room(elsewhere)?];
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
