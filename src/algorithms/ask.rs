//! Questions to other ranks: one for each cell of a sequence, answered by the rank that it names.

use super::permute::scatter;
use super::scan::count;
use crate::World;
use crate::array::Cells;
use crate::element::{Element, ElementInfo};
use crate::error::Result;
use crate::world::{Column, Destinations, Destined};

/// Bytes of cells that the host has at hand at a time.
const BYTES: usize = 128 << 10;

/// Sends each question to its rank, where `answer` gives as many answers to those that come, and brings the answers back, in
/// the order of the questions. Collective.
pub fn ask(
    world: &World,
    questions: &Cells,
    ranks: &Cells,
    answers_are: &'static ElementInfo,
    answer: impl FnOnce(&Cells) -> Result<Cells>,
) -> Result<Cells> {
    let column = |name, element| Column { name, element };
    let columns = [column("questions", questions.element()), column("places", &u32::INFO)];
    let places = world.failing("asking other ranks", || count(world, questions.len()))?;
    let to = Destinations::Each(crate::array::Sequence::from_cells(ranks.clone()));
    let asked = world.deliver_columns(&columns, Ok(vec![questions.clone(), places]), &to, Destined::Memory)?;
    let answers = world.failing("answering other ranks", || answer(&asked.cells[0]))?;
    let places = asked.cells[1].clone();
    let columns = [column("answers", answers_are), column("places", &u32::INFO)];
    let back = world.deliver_columns(
        &columns,
        Ok(vec![answers, places]),
        &Destinations::Runs(asked.counts),
        Destined::Memory,
    )?;
    world.failing("taking answers", || {
        let answers = Cells::scratch(&world.home(), "answers", answers_are, questions.len())?;
        scatter(world, &back.cells[0], &back.cells[1], &answers)?;
        Ok(answers)
    })
}

/// Numbers made of others by the host, one by one.
pub fn mapped(world: &World, numbers: &Cells, f: impl Fn(u32) -> u32) -> Result<Cells> {
    let found = Cells::scratch(&world.home(), "numbers", &u32::INFO, numbers.len())?;
    for slice in numbers.slices(BYTES, 1) {
        let mut some = vec![0_u32; (slice.end - slice.start) as usize];
        numbers.read(slice.clone(), bytemuck::cast_slice_mut(&mut some))?;
        some.iter_mut().for_each(|number| *number = f(*number));
        found.write(slice, bytemuck::cast_slice(&some))?;
    }
    Ok(found)
}
