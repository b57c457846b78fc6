//! [`check`]: checks of the contract between the plans of all ranks.

use std::collections::{HashMap, HashSet};

use zippy_plan::error::PlanError;
use zippy_plan::extents::Index;
use zippy_plan::locate::Placement;
use zippy_plan::plan::{Arrival, Message, Move, RankPlan};

/// Checks the properties of plans that every executor needs. `plans[r]` is the plan of rank `r`,
/// `placements` are its arrays.
///
/// * Each message is in the plans of both ranks, with the same round and the same moves in the same
///   order. There is at most one message per pair and direction, and messages are in the order of
///   their rounds.
/// * Source and destination of each move are stored cells of chunks that the ranks own, with equal
///   extents.
/// * No two moves write a cell, except in different waves. A wave writes no cell twice, and the
///   waves have each move exactly once.
///
/// # Errors
/// [`PlanError::Disagree`] with the first violation.
pub fn check(plans: &[RankPlan], placements: &[&Placement]) -> Result<(), PlanError> {
    for (rank, plan) in plans.iter().enumerate() {
        ensure(plan.rank == rank, || format!("plan {rank} is for rank {}", plan.rank))?;
        for step in &plan.local {
            check_move(step, rank, rank, plan, placements)?;
        }
        check_messages(plan, plans, placements)?;
        check_writes(plan)?;
    }
    Ok(())
}

fn ensure(condition: bool, message: impl FnOnce() -> String) -> Result<(), PlanError> {
    if condition { Ok(()) } else { Err(PlanError::Disagree(message())) }
}

fn check_messages(plan: &RankPlan, plans: &[RankPlan], placements: &[&Placement]) -> Result<(), PlanError> {
    let rank = plan.rank;
    for (messages, sending) in [(&plan.sends, true), (&plan.receives, false)] {
        let verb = if sending { "sends to" } else { "receives from" };
        let order: Vec<_> = messages.iter().map(|message| message.round).collect();
        ensure(order.is_sorted(), || format!("rank {rank} {verb} others in the order of rounds {order:?}"))?;
        let mut peers = HashSet::new();
        for message in messages {
            let (peer, round) = (message.peer, message.round);
            ensure(peer != rank && peer < plans.len(), || format!("rank {rank} {verb} rank {peer}"))?;
            ensure(peers.insert(peer), || format!("rank {rank} {verb} rank {peer} twice"))?;
            ensure(!message.moves.is_empty(), || format!("rank {rank} {verb} rank {peer} nothing"))?;
            ensure(round < plan.rounds, || {
                format!("rank {rank} {verb} rank {peer} in round {round} of {}", plan.rounds)
            })?;
            let (from, to) = if sending { (rank, peer) } else { (peer, rank) };
            for step in &message.moves {
                check_move(step, from, to, plan, placements)?;
            }
            let others = if sending { &plans[peer].receives } else { &plans[peer].sends };
            let same = |other: &&Message| other.peer == rank && other.round == round && other.moves == message.moves;
            ensure(others.iter().any(|other| same(&other)), || {
                let listed = others.iter().find(|other| other.peer == rank);
                format!("rank {rank} {verb} rank {peer}: {message:?}, but there it is {listed:?}")
            })?;
        }
    }
    Ok(())
}

fn check_move(
    step: &Move,
    from: usize,
    to: usize,
    plan: &RankPlan,
    placements: &[&Placement],
) -> Result<(), PlanError> {
    let extents = step.src.extents();
    let order = |axis: usize| plan.permutation.as_ref().map_or(axis, |order| order[axis]);
    let permuted = Index::from_fn(extents.axes(), |axis| extents[order(axis)]);
    let ends = [(step.src_array, step.src_chunk, step.src, from), (step.dst_array, step.dst_chunk, step.dst, to)];
    let held = ends.iter().all(|(array, chunk, region, rank)| {
        placements.get(*array).is_some_and(|placement| {
            *chunk < placement.chunks().count()
                && placement.ownership().owner(*chunk).rank == *rank
                && placement.chunks().storage(*chunk).covers(region)
        })
    });
    let has_equal_extents = !step.dst.is_empty() && permuted == step.dst.extents();
    ensure(held && has_equal_extents, || format!("invalid move between ranks {from} and {to}: {step:?}"))
}

fn check_writes(plan: &RankPlan) -> Result<(), PlanError> {
    let received = plan.receives.iter().enumerate().flat_map(|(message, Message { moves, .. })| {
        moves.iter().enumerate().map(move |(index, this)| (Arrival::Received { message, index }, this))
    });
    let local = plan.local.iter().enumerate().map(|(index, this)| (Arrival::Local(index), this));
    let mut moves: HashMap<Arrival, &Move> = local.chain(received).collect();
    let rank = plan.rank;
    if plan.waves.is_empty() {
        return check_single_writes(moves.into_values()).map_err(|cell| written_twice(rank, cell));
    }
    for wave in &plan.waves {
        let taken: Vec<_> = wave.iter().filter_map(|arrival| moves.remove(arrival)).collect();
        ensure(taken.len() == wave.len(), || {
            format!("the waves of rank {rank} name a move twice or one that is none")
        })?;
        check_single_writes(taken.into_iter()).map_err(|cell| written_twice(rank, cell))?;
    }
    ensure(moves.is_empty(), || format!("the waves of rank {rank} leave out {:?}", moves.keys()))
}

/// A cell that a move writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct WrittenCell {
    array: usize,
    chunk: usize,
    cell: Index,
}

fn written_twice(rank: usize, written: WrittenCell) -> PlanError {
    let WrittenCell { array, chunk, cell } = written;
    PlanError::Disagree(format!("rank {rank} writes cell {cell:?} of chunk {chunk} of array {array} twice at once"))
}

/// Checks that no cell is written twice; the error is the first such cell.
fn check_single_writes<'a>(moves: impl Iterator<Item = &'a Move>) -> Result<(), WrittenCell> {
    let mut written = HashSet::new();
    for this in moves {
        for cell in this.dst.points() {
            let cell = WrittenCell { array: this.dst_array, chunk: this.dst_chunk, cell };
            if !written.insert(cell) {
                return Err(cell);
            }
        }
    }
    Ok(())
}
