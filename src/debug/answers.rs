//! Answers to requests of viewers, computed by all ranks together.
use zippy_protocol::{Answer, ArrayRef, Difference, Request, Summary, SummaryRequest};

use super::compare::compare;
use super::reports::gather_reports;
use super::summary::summary;
use super::{listing, moves, timeline, views};
use crate::World;
use crate::error::Result;
use crate::world::CollectiveWorld;

/// Computes the answer to a viewer's request, on rank 0; the other ranks return `None`. The inner
/// error is the text for an invalid request. All ranks must call it, inside a collective operation.
pub(super) fn answer(world: &World, request: &Request, step: u64) -> Result<Option<Result<Answer, String>>> {
    Ok(match request {
        Request::Arrays => listing::list_arrays(world)?.map(|found| found.map(Answer::Arrays)),
        Request::View(view) => views::extract_view(world, view, step)?.map(|found| found.map(Answer::View)),
        Request::Ghosts(array) => listing::list_ghost_states(world, *array)?.map(|found| found.map(Answer::Ghosts)),
        Request::Summary(summary_request) => {
            summarize(world, summary_request, step)?.map(|found| found.map(Answer::Summary))
        }
        Request::Compare(first, second) => {
            compare_arrays(world, [*first, *second])?.map(|found| found.map(Answer::Difference))
        }
        Request::Moves => moves::gather_moves(world)?.map(|moves| Ok(Answer::Moves(moves))),
        Request::Timeline(since) => {
            timeline::gather_timeline(world, *since, u64::MAX)?.map(|line| Ok(Answer::Timeline(line)))
        }
        // Rank 0 handles these requests alone.
        Request::Control(_) | Request::Rules(_) | Request::Alive => {
            Some(Ok(Answer::Done)).filter(|_| world.rank() == 0)
        }
    })
}

fn summarize(world: &World, request: &SummaryRequest, step: u64) -> Result<Option<Result<Summary, String>>> {
    let ArrayRef { rank, number } = request.array;
    let array = world.array_by_number(rank, number);
    let Some(rank) = rank else {
        let is_alive = is_true_on_all_ranks(world, array.is_some())?;
        return Ok(match array.filter(|_| is_alive) {
            Some(array) => only_on_rank_0(world, summary(world, &array, request, step)?),
            None => only_on_rank_0(world, Err(no_such_array())),
        });
    };
    // Only the owner has cells.
    let report = match &array {
        Some(array) => summary(world, array, request, step)?
            .and_then(|summary| postcard::to_allocvec(&summary).map_err(|error| error.to_string())),
        None if rank as usize == world.rank() => Err(no_such_array()),
        None => Ok(Vec::new()),
    };
    let read = |reports: Result<Vec<Vec<u8>>, String>| {
        let reports = reports?;
        let bytes = reports.get(rank as usize).ok_or("there is no such rank")?;
        postcard::from_bytes(bytes).map_err(|error| error.to_string())
    };
    Ok(gather_reports(world, report)?.map(read))
}

fn compare_arrays(world: &World, arrays: [ArrayRef; 2]) -> Result<Option<Result<Difference, String>>> {
    if arrays.iter().any(|array| array.rank.is_some()) {
        return Ok(only_on_rank_0(world, Err("only global arrays are compared".to_string())));
    }
    let found = arrays.map(|array| world.array_by_number(None, array.number));
    let is_alive = is_true_on_all_ranks(world, found.iter().all(Option::is_some))?;
    Ok(match &found {
        [Some(first), Some(second)] if is_alive => only_on_rank_0(world, compare(world, [first, second])?),
        _ => only_on_rank_0(world, Err(no_such_array())),
    })
}

fn no_such_array() -> String {
    "there is no such array any more".into()
}

/// Returns `answer` on rank 0 and `None` on the other ranks.
fn only_on_rank_0<T>(world: &World, answer: T) -> Option<T> {
    (world.rank() == 0).then_some(answer)
}

fn is_true_on_all_ranks(world: &World, here: bool) -> Result<bool> {
    let mut all = [u64::from(here)];
    world.inner_group().all_reduce(&mut all, |least, other| *least = (*least).min(*other))?;
    Ok(all == [1])
}
