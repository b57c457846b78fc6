//! Merges of distributed vectors: the ranks compute the destination of each cell, send every cell
//! once, and merge the received cells.

use std::ops::Range;

use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld, Column, DeliveryTarget};
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::transport::{copied, values};
use zippy::world::Destinations;

use super::merge;
use crate::sort_key::{KeyOrder, SortKey, SortedRun};
use crate::splitters::splitters;
use crate::vectors::{Fitted, IntoVector, Span, Vector, Vectors, fitted, local_cells, ordered, spans};

impl Vectors<'_> {
    /// Merges two vectors of sorted keys into a third; equal keys of the first vector come first.
    /// Collective.
    ///
    /// Each cell is read once to check the order of the keys, and moves once, to the rank that owns
    /// its position in the output. Vectors whose chunks are not in rank order are copied first. The
    /// output may have any cuts and owners.
    ///
    /// # Errors
    /// An output with another length than both inputs together, keys that are not sorted, too
    /// little memory, an invalid section, a failure of any rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let vector = |name, cells| world.array::<u32, 1>(name, &Layout::new([cells]).split([Split::Auto]));
    /// let (x, y, merged) = (vector("x", 4)?, vector("y", 3)?, vector("merged", 7)?);
    /// x.fill_with(|[i]| [1, 3, 5, 9][i as usize])?;
    /// y.fill_with(|[i]| [2, 3, 4][i as usize])?;
    /// world.vectors().merge(&x, &y, &merged)?;
    /// let ticket = world.get(merged.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [1, 2, 3, 3, 4, 5, 9]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    #[track_caller]
    pub fn merge<K: SortKey>(
        &self,
        first: impl IntoVector<K>,
        second: impl IntoVector<K>,
        output: impl IntoVector<K>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("merge");
        let values: Option<[Vector<u32>; 3]> = None;
        self.merged("merge", [first.into(), second.into(), output.into()], values)
    }

    /// Merges two vectors of sorted keys with values, as [`merge`](Self::merge) does for keys.
    /// Values that are cut differently from their keys are copied first.
    ///
    /// # Errors
    /// As [`merge`](Self::merge), and different lengths of keys and values.
    #[track_caller]
    pub fn merge_pairs<K: SortKey, V: Element>(
        &self,
        first: (impl IntoVector<K>, impl IntoVector<V>),
        second: (impl IntoVector<K>, impl IntoVector<V>),
        output: (impl IntoVector<K>, impl IntoVector<V>),
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("merge_pairs");
        let keys = [first.0.into(), second.0.into(), output.0.into()];
        let values = [first.1.into(), second.1.into(), output.1.into()];
        for (keys, values) in keys.iter().zip(&values) {
            keys.check_length(values, "the vector of values")?;
        }
        keys[2].check_apart(&values[2])?;
        self.merged("merge_pairs", keys, Some(values))
    }

    fn merged<K: SortKey, V: Element>(
        &self,
        verb: &'static str,
        keys: [Vector<K>; 3],
        values: Option<[Vector<V>; 3]>,
    ) -> Result<()> {
        let world = self.world();
        let [first, second, output] = [keys[0].cells()?, keys[1].cells()?, keys[2].cells()?];
        if output != first + second {
            let label = keys[2].label()?;
            let text = format!("{} keys are merged, but {label} has {output} cells", first + second);
            return Err(ArrayError::Other(text).into());
        }
        let mut named = keys.iter().map(Vector::named).collect::<Result<Vec<_>>>()?;
        for values in values.iter().flatten() {
            named.push(values.named()?);
        }
        self.collective(verb, named, (), || Ok(()))?;
        let [first, second, output] = [0, 1, 2].map(|which| MergeSide::new(world, which, &keys, values.as_ref()));
        let (first, second, output) = (first?, second?, output?);
        let local = world.failing(verb, || Ok([first.local_run()?, second.local_run()?]))?;
        for (which, side) in [&first, &second].into_iter().enumerate() {
            let unsorted = world.failing(verb, || first_unsorted(world, K::ORDER, &side.cut, &local[which].0))?;
            if let Some(cell) = unsorted {
                let label = keys[which].label()?;
                let text = format!(
                    "the keys of {label} are not sorted, cell {cell} is smaller than its predecessor; sort them first"
                );
                return Err(ArrayError::Other(text).into());
            }
        }
        let cuts = [&first.cut[..], &second.cut[..], &output.cut[..]];
        let runs = fetch_runs(world, verb, K::ORDER, cuts, &local)?;
        world.failing(verb, || {
            let (keys, values) = output.local_run()?;
            merge(world, K::ORDER, &runs, &keys, values.as_ref())
        })?;
        output.copy_back(world)
    }
}

/// Keys and values of one vector of a merge (an input or the output), in the order of ranks.
struct MergeSide<K, V> {
    cut: Vec<Span>,
    keys: Fitted<K>,
    values: Option<Fitted<V>>,
}

impl<K: Element, V: Element> MergeSide<K, V> {
    fn new(world: &World, which: usize, keys: &[Vector<K>; 3], values: Option<&[Vector<V>; 3]>) -> Result<Self> {
        let (name, filled) =
            [("first of a merge", true), ("second of a merge", true), ("what is merged", false)][which];
        let cut = ordered(world, &spans(&keys[which])?);
        let fitted_keys = fitted(world, &format!("keys, {name}"), &keys[which], &cut, filled)?;
        let fit = |values: &[Vector<V>; 3]| fitted(world, &format!("values, {name}"), &values[which], &cut, filled);
        Ok(Self { keys: fitted_keys, values: values.map(fit).transpose()?, cut })
    }

    fn local_run(&self) -> Result<SortedRun> {
        let values = self.values.as_ref().map(|values| local_cells(&values.vector)).transpose()?;
        Ok((local_cells(&self.keys.vector)?, values))
    }

    fn copy_back(self, world: &World) -> Result<()> {
        self.keys.copy_back(world)?;
        self.values.map_or(Ok(()), |values| values.copy_back(world))
    }
}

/// Size, in bytes, of the portion of keys that the host reads at a time.
const KEY_PORTION_BYTES: usize = 1 << 20;

/// Summary of a rank's keys of one input: their number, the first and the last key, and 1 + the
/// position of the first key that is smaller than its predecessor.
#[derive(Default)]
struct KeysOfRank {
    cells: u64,
    first: u64,
    last: u64,
    unsorted: u64,
}

/// Returns the index of the first key of an input that is smaller than its predecessor, the same on
/// every rank. Collective; one all-gather of 32 bytes.
fn first_unsorted(world: &World, order: KeyOrder, cut: &[Span], keys: &CellSequence) -> Result<Option<u64>> {
    let mut local = KeysOfRank::default();
    let mut words = Vec::new();
    for slice in keys.slices(KEY_PORTION_BYTES, 1) {
        words.resize((slice.end - slice.start) as usize * order.words, 0_u32);
        keys.read(slice, bytemuck::cast_slice_mut(&mut words))?;
        for key in words.chunks_exact(order.words).map(|key| order.number(key)) {
            local.first = if local.cells == 0 { key } else { local.first };
            local.cells += 1;
            if local.cells > 1 && key < local.last && local.unsorted == 0 {
                local.unsorted = local.cells;
            }
            local.last = key;
        }
    }
    let all = world.inner_group().all_gather_v(copied(&[local.cells, local.first, local.last, local.unsorted]))?;
    let mut before = None;
    for (rank, one) in all.iter().enumerate() {
        let &[cells, first, last, unsorted] = &values::<u64>(one)?[..] else { continue };
        let Some(span) = cut.iter().find(|span| span.owner == rank).filter(|_| cells > 0) else { continue };
        if before.is_some_and(|before| first < before) {
            return Ok(Some(span.cells.start));
        }
        if unsorted > 0 {
            return Ok(Some(span.cells.start + unsorted - 1));
        }
        before = Some(last);
    }
    Ok(None)
}

/// Fetches the cells of both inputs that this rank merges. Collective.
fn fetch_runs(
    world: &World,
    verb: &'static str,
    order: KeyOrder,
    [first, second, output]: [&[Span]; 3],
    local: &[SortedRun; 2],
) -> Result<[SortedRun; 2]> {
    let mut owners: Vec<(usize, u64)> = Vec::new();
    for span in output {
        match owners.last_mut() {
            Some((owner, end)) if *owner == span.owner => *end = span.cells.end,
            _ => owners.push((span.owner, span.cells.end)),
        }
    }
    let all = [first, second].map(|spans| spans.last().map_or(0, |span| span.cells.end));
    let ends = world.failing(verb, || run_ends(world, order, &owners, local, all))??;
    let bring = |which: usize, spans: &[Span]| -> Result<SortedRun> {
        let mine = |span: &&Span| span.owner == world.rank();
        let begin = spans.iter().find(mine).map_or(0, |span| span.cells.start);
        let (keys, values) = &local[which];
        let (mut runs, mut start) = (Vec::new(), 0);
        for ((owner, _), end) in owners.iter().zip(&ends) {
            let part = intersect_ranges(start..end[which], begin..begin + keys.len());
            runs.push((*owner, part.end - part.start));
            start = end[which];
        }
        let columns: Vec<Column<'_>> = (std::iter::once(keys).chain(values))
            .map(|cells| Column { name: "merged", element: cells.element() })
            .collect();
        let cells = std::iter::once(keys).chain(values).cloned().collect();
        let landed = world.deliver_columns(&columns, Ok(cells), &Destinations::Runs(runs), DeliveryTarget::Memory)?;
        let mut landed = landed.cells.into_iter();
        Ok((landed.next().expect("a column of keys"), landed.next()))
    };
    Ok([bring(0, first)?, bring(1, second)?])
}

/// Returns, for each owner, the number of cells of each input before the end of the owner's part of
/// the output; or an error that is the same on every rank and leaves the world usable. Collective.
fn run_ends(
    world: &World,
    order: KeyOrder,
    owners: &[(usize, u64)],
    local: &[SortedRun; 2],
    all: [u64; 2],
) -> Result<Result<Vec<[u64; 2]>>> {
    let mut both = local[0].0.clone();
    both.append(&local[1].0);
    let positions: Vec<u64> = owners.iter().rev().skip(1).rev().map(|(_, end)| *end).collect();
    let splitters = splitters(world.inner_group(), order, &both, &positions)?;
    let mut found = Vec::with_capacity(3 * positions.len());
    for splitter in splitters {
        let before = |which: usize, equal: bool| {
            order.before(&local[which].0, |key| key < splitter.key || equal && key == splitter.key)
        };
        found.extend([before(0, false)?, before(0, true)?, before(1, false)?]);
    }
    world.inner_group().all_reduce(&mut found, |sum, more| *sum += more)?;
    let mut ends = Vec::with_capacity(owners.len());
    let mut last = [0, 0];
    for (position, counts) in positions.iter().zip(found.chunks_exact(3)) {
        // Among keys equal to the splitter, those of the first input come first.
        let rest = position.saturating_sub(counts[0] + counts[2]);
        let of_first = counts[0] + rest.min(counts[1].saturating_sub(counts[0]));
        let end = [of_first, position.saturating_sub(of_first)];
        if end[0] < last[0] || end[1] < last[1] || end[0] > all[0] || end[1] > all[1] || end[0] + end[1] != *position {
            let text = "keys are merged that are not sorted; sort them first";
            return Ok(Err(ArrayError::Other(text.into()).into()));
        }
        ends.push(end);
        last = end;
    }
    ends.extend(owners.last().map(|_| all));
    Ok(Ok(ends))
}

fn intersect_ranges(a: Range<u64>, b: Range<u64>) -> Range<u64> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}
