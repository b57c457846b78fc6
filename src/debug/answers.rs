//! What is answered to a viewer, found by all ranks together.

use super::compare::compare;
use super::protocol::{Answer, ArrayRef, Difference, Request, Summary, SummaryRequest};
use super::summary::summary;
use super::told::told;
use super::{listing, moves, timeline, views};
use crate::World;
use crate::error::Result;

/// The answer to a request, on rank 0; or what is wrong with the request. Called by all ranks, inside of an operation.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn answer(world: &World, request: &Request, step: u64) -> Result<Option<Result<Answer, String>>> {
    Ok(match request {
        Request::Arrays => listing::arrays(world)?.map(|told| told.map(Answer::Arrays)),
        Request::View(view) => views::view(world, view, step)?.map(|told| told.map(Answer::View)),
        Request::Ghosts(array) => listing::ghosts(world, *array)?.map(|told| told.map(Answer::Ghosts)),
        Request::Summary(wanted) => summarised(world, wanted, step)?.map(|told| told.map(Answer::Summary)),
        Request::Compare(one, other) => compared(world, [*one, *other])?.map(|told| told.map(Answer::Difference)),
        Request::Moves => moves::moves(world)?.map(|moves| Ok(Answer::Moves(moves))),
        Request::Timeline(since) => timeline::timeline(world, *since, u64::MAX)?.map(|line| Ok(Answer::Timeline(line))),
        // What rank 0 decides alone.
        Request::Control(_) | Request::Rules(_) | Request::Alive => {
            Some(Ok(Answer::Done)).filter(|_| world.rank() == 0)
        }
    })
}

fn summarised(world: &World, request: &SummaryRequest, step: u64) -> Result<Option<Result<Summary, String>>> {
    let ArrayRef { rank, number } = request.array;
    let array = world.numbered(rank, number);
    let Some(rank) = rank else {
        let all = everywhere(world, array.is_some())?;
        return Ok(match array.filter(|_| all) {
            Some(array) => of_first(world, summary(world, &array, request, step)?),
            None => of_first(world, Err(gone())),
        });
    };
    // Of this rank alone: the others have nothing to say.
    let own = match &array {
        Some(array) => summary(world, array, request, step)?
            .and_then(|summary| postcard::to_allocvec(&summary).map_err(|error| error.to_string())),
        None if rank as usize == world.rank() => Err(gone()),
        None => Ok(Vec::new()),
    };
    let read = |told: Result<Vec<Vec<u8>>, String>| {
        let told = told?;
        let bytes = told.get(rank as usize).ok_or("there is no such rank")?;
        postcard::from_bytes(bytes).map_err(|error| error.to_string())
    };
    Ok(told(world, own)?.map(read))
}

fn compared(world: &World, arrays: [ArrayRef; 2]) -> Result<Option<Result<Difference, String>>> {
    if arrays.iter().any(|array| array.rank.is_some()) {
        return Ok(of_first(world, Err("only global arrays are compared".to_string())));
    }
    let found = arrays.map(|array| world.numbered(None, array.number));
    let all = everywhere(world, found.iter().all(Option::is_some))?;
    Ok(match &found {
        [Some(one), Some(other)] if all => of_first(world, compare(world, [one, other])?),
        _ => of_first(world, Err(gone())),
    })
}

fn gone() -> String {
    "there is no such array any more".into()
}

/// What all ranks know, said by the first.
fn of_first<T>(world: &World, answer: T) -> Option<T> {
    (world.rank() == 0).then_some(answer)
}

/// Whether something is so on every rank.
fn everywhere(world: &World, here: bool) -> Result<bool> {
    let mut all = [u64::from(here)];
    world.inner().all_reduce(&mut all, |least, other| *least = (*least).min(*other))?;
    Ok(all == [1])
}
