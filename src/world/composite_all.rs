//! Copy and composite of many pairs of sections in one exchange.

use std::collections::HashMap;
use std::rc::Rc;

use super::copy::in_terms_of_arrays;
use super::execute::Job;
use super::operation::{InTurn, Operation};
use super::plans::{Plan, Planned};
use super::transfer::Meeting;
use super::{Moved, Operator, Pending, World, hash};
use crate::array::{ArrayCore, ArrayId, GlobalSection};
use crate::element::Element;
use crate::error::Result;
use crate::plan::Pair;

/// A source and its destination.
type Sections<T, const D: usize> = (GlobalSection<T, D>, GlobalSection<T, D>);

impl World {
    /// Copies many sections onto others, each as [`copy`](Self::copy) does, in one operation: every source is read
    /// before anything is written, and where several fall on the same cells the last one of the list stays. Else as
    /// [`composite_all`](Self::composite_all).
    ///
    /// # Errors
    /// A bad region, extents that differ (the error gives the place in the list), or a failure of this or of another
    /// rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let array = world.array::<u32, 1>("array", &Layout::new([6]).split([Split::Even(3)]))?;
    /// array.fill_with(|[x]| x as u32)?;
    /// // Both ends change places, across ranks, and the middle is what the lower end was.
    /// let pairs = [(0..2, 4..6), (4..6, 0..2), (0..2, 2..4)].map(|(from, to)| (array.at(from), array.at(to)));
    /// world.copy_all(&pairs)?;
    /// let ticket = world.get(array.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [4, 5, 0, 1, 0, 1]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    pub fn copy_all<T: Element, const D: usize>(&self, pairs: &[Sections<T, D>]) -> Result<Moved> {
        let (job, operation) = self.job_of_all(pairs, None)?;
        self.collective(operation.clone(), operation.signature(), || self.execute(vec![job]))
    }

    /// Combines many sections into others, each as [`composite`](Self::composite) does, in one operation: every source
    /// is read before anything is written, then the pairs take effect as if one after the other in the order of the
    /// list, so that several may fall on the same cells. Any arrays of one element type, also the same ones at both
    /// ends; empty sections do nothing. Collective: all ranks name the same pairs; on return this rank's part is done.
    ///
    /// The bits do not depend on the decomposition. Costs one message between each pair of ranks that exchange cells,
    /// however many pairs of sections there are (cut, and waited for, as in [`copy`](Self::copy)), and as many
    /// dispatches as there are pairs on top of each other at the most. The plan of a new list costs n log n for n pairs,
    /// and is kept for all arrays of the same cuts and owners.
    ///
    /// # Errors
    /// A bad region, extents that differ (the error gives the place in the list), an operator that does not exist for
    /// the element type or does not compile, or a failure of this or of another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let layers = world.array::<i32, 2>("layers", &Layout::new([4, 3]).split([Split::Whole, Split::Even(3)]))?;
    /// layers.fill_with(|[x, layer]| (x + 10 * layer) as i32)?;
    /// let sum = world.array::<i32, 2>("sum", &Layout::new([5, 1]))?;
    /// let pairs = [(0, 0), (1, 1), (2, 0)].map(|(layer, x)| (layers.at((.., layer)), sum.at((x..x + 4, ..))));
    /// world.composite_all(&pairs, Operator::Add)?;
    /// let ticket = world.get(sum.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [20, 32, 35, 38, 13]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    pub fn composite_all<T: Element, const D: usize>(
        &self,
        pairs: &[Sections<T, D>],
        operator: Operator,
    ) -> Result<Moved> {
        let (job, operation) = self.job_of_all(pairs, Some(operator))?;
        self.collective(operation.clone(), operation.signature(), || self.execute(vec![job]))
    }

    /// Starts a [`composite_all`](Self::composite_all): on return the sources have been read and may change; the
    /// destinations must not be touched before `wait`, but by other started composites: those onto the same cells take
    /// effect as they are waited for. Collective, and so is `wait`.
    ///
    /// # Errors
    /// As [`composite_all`](Self::composite_all).
    #[track_caller]
    pub fn start_composite_all<T: Element, const D: usize>(
        &self,
        pairs: &[Sections<T, D>],
        operator: Operator,
    ) -> Result<Pending<'_>> {
        let (job, operation) = self.job_of_all(pairs, Some(operator))?;
        let moved = job.transfer.moved;
        let in_flight = self.collective(operation.clone(), operation.signature(), || self.start(job))?;
        Ok(Pending::new(self, operation, moved, move || self.finish_started(&in_flight)))
    }

    /// Lists of pairs one after the other, as [`composite_all`](Self::composite_all), or [`copy_all`](Self::copy_all) where
    /// there is no operator, with all messages under way at once. No list reads what another one writes. Collective; on
    /// return this rank's part is done.
    ///
    /// # Errors
    /// As [`composite_all`](Self::composite_all).
    pub fn combine_in_turn<T: Element, const D: usize>(
        &self,
        lists: impl IntoIterator<Item = (Vec<Sections<T, D>>, Option<Operator>)>,
    ) -> Result<Moved> {
        let lists = lists.into_iter().filter(|(pairs, _)| !pairs.is_empty());
        let jobs = lists.map(|(pairs, operator)| self.job_of_all(&pairs, operator)).collect::<Result<Vec<_>>>()?;
        let (jobs, operations): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
        if jobs.is_empty() {
            return Ok(Moved::default());
        }
        let signatures: Vec<u64> = operations.iter().map(Operation::signature).collect();
        self.collective(InTurn(operations.into()), hash(signatures), || self.execute(jobs))
    }

    /// What a [`composite_all`](Self::composite_all) of these pairs does on this rank, for `explain()`. Local; moves
    /// nothing, and keeps the plan for the operation.
    ///
    /// # Errors
    /// A bad region or extents that differ.
    pub fn plan_composite_all<T: Element, const D: usize>(&self, pairs: &[Sections<T, D>]) -> Result<Plan> {
        let (operands, numbered) = number(pairs)?;
        Ok(Plan::new(self.planned_pairs(&operands, &numbered)?, &operands))
    }

    fn planned_pairs(&self, operands: &[Rc<ArrayCore>], pairs: &[Pair]) -> Result<Planned> {
        self.planned_copies(pairs, operands).map_err(|(place, error)| {
            let pair = &pairs[place];
            let labels = || {
                let source = operands[pair.src].label(&pair.src_region);
                (format!("{source} (pair {place})"), operands[pair.dst].label(&pair.dst_region))
            };
            in_terms_of_arrays(error, labels)
        })
    }

    /// What is to be done with all pairs: combining them, or copying.
    fn job_of_all<T: Element, const D: usize>(
        &self,
        pairs: &[Sections<T, D>],
        operator: Option<Operator>,
    ) -> Result<(Job, Operation)> {
        self.alive()?;
        let (operands, numbered) = number(pairs)?;
        let Planned { transfer, .. } = self.planned_pairs(&operands, &numbered)?;
        operator.iter().try_for_each(|operator| operator.check(&T::INFO))?;
        let operation = Operation::all(&operands, &numbered, operator.clone());
        let meeting = operator.map_or(Meeting::Replace, Meeting::Combine);
        Ok((Job { transfer, operands, meeting }, operation))
    }
}

/// Every array once, and the pairs in their numbers.
fn number<T: Element, const D: usize>(pairs: &[Sections<T, D>]) -> Result<(Vec<Rc<ArrayCore>>, Vec<Pair>)> {
    let mut operands: Vec<Rc<ArrayCore>> = Vec::new();
    let mut numbers: HashMap<ArrayId, usize> = HashMap::new();
    let mut number = |section: &GlobalSection<T, D>| {
        *numbers.entry(section.core.id()).or_insert_with(|| {
            operands.push(section.core.clone());
            operands.len() - 1
        })
    };
    let one = |(source, destination): &Sections<T, D>| {
        let (src_region, dst_region) = (source.region()?, destination.region()?);
        Ok(Pair { src: number(source), src_region, dst: number(destination), dst_region })
    };
    let pairs = pairs.iter().map(one).collect::<Result<_>>()?;
    Ok((operands, pairs))
}
