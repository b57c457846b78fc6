use std::collections::HashMap;

use super::{Memory, check};
use zippy_plan::error::PlanError;
use zippy_plan::extents::Index;
use zippy_plan::locate::Placement;
use zippy_plan::plan::{Arrival, Move, RankPlan};

/// Array of an operation: its placement and its memory. Handles of one array have the same memory.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// Cuts and owners of the array.
    pub placement: &'a Placement,
    /// Index into the memories.
    pub memory: usize,
}

/// Merge rule: `cell = combine(arriving, cell)`. `&|arriving, _| arriving.clone()` replaces.
pub(super) type Combine<'a, T> = &'a dyn Fn(&T, &T) -> T;

/// Executes the plans of all ranks on host memory. `plans[r]` is the plan of rank `r`, and the
/// arrays of the plans are `operands`.
///
/// # Errors
/// [`PlanError::Disagree`]: the plans violate their contract, see [`check`].
pub fn execute<T: Clone>(
    plans: &[RankPlan],
    operands: &[Operand<'_>],
    memories: &mut [Memory<T>],
    combine: Combine<'_, T>,
) -> Result<(), PlanError> {
    let placements: Vec<_> = operands.iter().map(|operand| operand.placement).collect();
    check(plans, &placements)?;
    let mut run = Execution { operands, memories, combine };
    let mut mail = HashMap::new();
    for plan in plans {
        run.first_half(plan, &mut mail);
    }
    for plan in plans {
        run.second_half(plan, &mut mail);
    }
    Ok(())
}

type Mail<T> = HashMap<(usize, usize), Vec<T>>;

struct Execution<'a, T> {
    operands: &'a [Operand<'a>],
    memories: &'a mut [Memory<T>],
    combine: Combine<'a, T>,
}

impl<T: Clone> Execution<'_, T> {
    /// Runs local moves and sends. Without `overlap`, local moves run first and successively, the
    /// most unfavourable order that a plan permits.
    fn first_half(&mut self, plan: &RankPlan, mail: &mut Mail<T>) {
        let order = plan.permutation.as_deref();
        let in_waves = !plan.waves.is_empty();
        if !plan.overlap && !in_waves {
            plan.local.iter().rev().for_each(|step| self.write(step, &self.read(step, order)));
        }
        for message in &plan.sends {
            let payload = message.moves.iter().flat_map(|step| self.read(step, order)).collect();
            mail.insert((plan.rank, message.peer), payload);
        }
        if plan.overlap && !in_waves {
            let values: Vec<_> = plan.local.iter().map(|step| self.read(step, order)).collect();
            plan.local.iter().zip(&values).rev().for_each(|(step, values)| self.write(step, values));
        }
    }

    /// Runs received moves, and with waves also local moves. Moves of a wave, and plans without
    /// waves, run in reverse order.
    fn second_half(&mut self, plan: &RankPlan, mail: &mut Mail<T>) {
        let mut payloads = Vec::new();
        for message in &plan.receives {
            let payload = mail.remove(&(message.peer, plan.rank)).expect("checked: every message has its sender");
            let mut rest = payload.into_iter();
            let cut = |step: &Move| rest.by_ref().take(step.cells() as usize).collect::<Vec<T>>();
            payloads.push(message.moves.iter().map(cut).collect::<Vec<_>>());
        }
        if plan.waves.is_empty() {
            for (message, values) in plan.receives.iter().zip(&payloads).rev() {
                message.moves.iter().zip(values).rev().for_each(|(step, values)| self.write(step, values));
            }
        }
        for arrival in plan.waves.iter().flat_map(|wave| wave.iter().rev()) {
            match *arrival {
                Arrival::Local(index) => {
                    let step = &plan.local[index];
                    self.write(step, &self.read(step, plan.permutation.as_deref()));
                }
                Arrival::Received { message, index } => {
                    self.write(&plan.receives[message].moves[index], &payloads[message][index]);
                }
            }
        }
    }

    /// Reads the source cells of a move, axis 0 of the destination fastest.
    fn read(&self, step: &Move, permutation: Option<&[usize]>) -> Vec<T> {
        let Operand { placement, memory } = self.operands[step.src_array];
        let cells = step.dst.points().map(|cell| {
            let mut from = step.src.start;
            for axis in 0..cell.axes() {
                from[permutation.map_or(axis, |order| order[axis])] += cell[axis] - step.dst.start[axis];
            }
            from
        });
        let cells: Vec<Index> = cells.collect();
        self.memories[memory].read(placement, step.src_chunk, cells.into_iter()).cloned().collect()
    }

    fn write(&mut self, step: &Move, values: &[T]) {
        let Operand { placement, memory } = self.operands[step.dst_array];
        self.memories[memory].write(placement, step.dst_chunk, &step.dst, values, self.combine);
    }
}
