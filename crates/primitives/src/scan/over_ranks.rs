//! Scans and reductions over distributed vectors.
//!
//! Every rank combines its blocks. The value before its first block comes from the owner of the
//! previous cells, and the updated value goes to the owner of the next cells: one small message per
//! pair of neighbouring chunks on different ranks, sequentially, while all ranks process cells in
//! parallel.

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::World;
use zippy::collective::CellSequence;
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::{CallSite, Result};
use zippy::transport::{Payload, Tag, copied};

use super::association::{BLOCK, Item};
use super::operation::{Carry, ScanOperation};
use super::steps::ScanSteps;
use crate::heads::Heads;
use crate::vectors::{Fitted, IntoVector, Span, Vector, Vectors, fitted, in_blocks, spans};

/// Definition of segments.
pub(super) enum Segments<'a, K> {
    None,
    Flags(&'a Vector<u32>),
    Keys(&'a Vector<K>),
}

impl Vectors<'_> {
    /// Combines all cells from first to last, on every rank; `None` without cells. Collective; see
    /// [`OnRank::reduce`](crate::OnRank::reduce) for operators, and [`World::sum`] for
    /// exact sums.
    ///
    /// # Errors
    /// An operator that the element type does not support, an error in its WGSL, an invalid
    /// section, a failure of any rank.
    #[track_caller]
    pub fn reduce<T: Element>(&self, input: impl IntoVector<T>, operator: &Operator) -> Result<Option<T>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("reduce");
        let all = self.scanned::<T, u32, T>(
            "reduce",
            &ScanOperation::inclusive(operator, &T::INFO),
            &input.into(),
            None,
            Segments::None,
        )?;
        Ok(all.map(|bytes| pod_read_unaligned(&bytes)))
    }

    /// Inclusive scan: sets cell *i* of the output to the combination of cells 0 to *i* of the
    /// input, in order. Collective.
    ///
    /// The vectors have the same length and any cuts and owners; the output may be the input. If
    /// the result depends on the association (floating-point numbers, custom operators), the
    /// association depends only on indices: see [`scan`](crate::scan). Such a vector
    /// should be cut at multiples of 2,048 cells; otherwise it is copied first. Outputs should be
    /// cut like inputs.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce), and different lengths.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let x = world.array::<u32, 1>("x", &Layout::new([10]).split([Split::Auto]))?;
    /// x.fill_with(|[i]| i as u32)?;
    /// world.vectors().inclusive_scan(&x, &x, &Operator::Add)?;
    /// let ticket = world.get(x.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    #[track_caller]
    pub fn inclusive_scan<T: Element>(
        &self,
        input: impl IntoVector<T>,
        output: impl IntoVector<T>,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("inclusive_scan");
        let (input, output) = (input.into(), output.into());
        let operation = ScanOperation::inclusive(operator, &T::INFO);
        self.scanned("inclusive_scan", &operation, &input, Some(&output), Segments::<u32>::None).map(drop)
    }

    /// Exclusive scan: sets cell *i* of the output to the combination of `first` and the cells
    /// before *i* of the input, in order. Collective, as [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn exclusive_scan<T: Element>(
        &self,
        input: impl IntoVector<T>,
        output: impl IntoVector<T>,
        first: T,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("exclusive_scan");
        let (input, output) = (input.into(), output.into());
        let operation = ScanOperation { first: Some(bytes_of(&first)), ..ScanOperation::inclusive(operator, &T::INFO) };
        self.scanned("exclusive_scan", &operation, &input, Some(&output), Segments::<u32>::None).map(drop)
    }

    /// [`inclusive_scan`](Self::inclusive_scan) of each segment separately. A segment begins at
    /// each flag that is not 0, and at the first cell.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn inclusive_scan_by_flag<T: Element>(
        &self,
        flags: impl IntoVector<u32>,
        input: impl IntoVector<T>,
        output: impl IntoVector<T>,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("inclusive_scan_by_flag");
        let (flags, input, output) = (flags.into(), input.into(), output.into());
        let segments = Segments::<u32>::Flags(&flags);
        let operation = ScanOperation::inclusive(operator, &T::INFO);
        self.scanned("inclusive_scan_by_flag", &operation, &input, Some(&output), segments).map(drop)
    }

    /// [`exclusive_scan`](Self::exclusive_scan) of each segment separately, each from `first`. A
    /// segment begins at each flag that is not 0, and at the first cell.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn exclusive_scan_by_flag<T: Element>(
        &self,
        flags: impl IntoVector<u32>,
        input: impl IntoVector<T>,
        output: impl IntoVector<T>,
        first: T,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("exclusive_scan_by_flag");
        let (flags, input, output) = (flags.into(), input.into(), output.into());
        let segments = Segments::<u32>::Flags(&flags);
        let operation = ScanOperation { first: Some(bytes_of(&first)), ..ScanOperation::inclusive(operator, &T::INFO) };
        self.scanned("exclusive_scan_by_flag", &operation, &input, Some(&output), segments).map(drop)
    }

    /// [`inclusive_scan`](Self::inclusive_scan) of each run of equal keys separately. Keys are
    /// equal if all their bits are.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn inclusive_scan_by_key<K: Element, T: Element>(
        &self,
        keys: impl IntoVector<K>,
        input: impl IntoVector<T>,
        output: impl IntoVector<T>,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("inclusive_scan_by_key");
        let (keys, input, output) = (keys.into(), input.into(), output.into());
        let segments = Segments::Keys(&keys);
        let operation = ScanOperation::inclusive(operator, &T::INFO);
        self.scanned("inclusive_scan_by_key", &operation, &input, Some(&output), segments).map(drop)
    }

    /// [`exclusive_scan`](Self::exclusive_scan) of each run of equal keys separately, each from
    /// `first`. Keys are equal if all their bits are.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn exclusive_scan_by_key<K: Element, T: Element>(
        &self,
        keys: impl IntoVector<K>,
        input: impl IntoVector<T>,
        output: impl IntoVector<T>,
        first: T,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("exclusive_scan_by_key");
        let (keys, input, output) = (keys.into(), input.into(), output.into());
        let segments = Segments::Keys(&keys);
        let operation = ScanOperation { first: Some(bytes_of(&first)), ..ScanOperation::inclusive(operator, &T::INFO) };
        self.scanned("exclusive_scan_by_key", &operation, &input, Some(&output), segments).map(drop)
    }

    /// Runs a scan; returns the combination of all cells, as bytes.
    pub(super) fn scanned<I: Element, K: Element, T: Element>(
        &self,
        verb: &'static str,
        operation: &ScanOperation<'_>,
        input: &Vector<I>,
        output: Option<&Vector<T>>,
        segments: Segments<'_, K>,
    ) -> Result<Option<Vec<u8>>> {
        let world = self.world();
        operation.check(world.gpu())?;
        let mut named = vec![input.named()?];
        if let Some(output) = output {
            input.check_length(output, "the output")?;
            named.push(output.named()?);
        }
        let what = "the sequence of segment heads";
        match &segments {
            Segments::None => {}
            Segments::Flags(flags) => {
                input.check_length(flags, what)?;
                named.push(flags.named()?);
            }
            Segments::Keys(keys) => {
                input.check_length(keys, what)?;
                named.push(keys.named()?);
            }
        }
        let mut wanted = spans(input)?;
        if !operation.exact() {
            wanted = in_blocks(&wanted, BLOCK as u64);
        }
        let cells = fitted(world, "cells of a scan", input, &wanted, true)?;
        let (mut flags, mut keys) = (None, None);
        match segments {
            Segments::None => {}
            Segments::Flags(vector) => flags = Some(fitted(world, "flags of a scan", vector, &wanted, true)?),
            Segments::Keys(vector) => keys = Some(fitted(world, "keys of a scan", vector, &wanted, true)?),
        }
        let results = output.map(|output| fitted(world, "results of a scan", output, &wanted, false)).transpose()?;
        let argument = (operation.operator.to_parts(), operation.first, operation.transform.map(|(_, text)| text));
        let all = self.collective(verb, named, argument, || {
            let mut local_spans = Vec::new();
            let local_heads = match (&flags, &keys) {
                (Some(flags), _) => Some(flags.local_cells_by_span()?),
                (_, Some(keys)) => Some(keys.local_cells_by_span()?),
                _ => None,
            };
            let local_results = results.as_ref().map(|results| results.local_cells_by_span()).transpose()?;
            for (index, (number, input)) in cells.local_cells_by_span()?.into_iter().enumerate() {
                let heads = local_heads.as_ref().map(|cells| cells[index].1.clone());
                let output = local_results.as_ref().map(|cells| cells[index].1.clone());
                // The output must not overlap the inputs of other spans, either.
                let copy_if_overlapping = |cells: CellSequence, may_be_same| {
                    let others = local_results.iter().flatten().enumerate().filter(|(other, _)| *other != index);
                    if others.into_iter().any(|(_, (_, written))| written.overlaps(&cells)) {
                        cells.copied()
                    } else {
                        cells.apart_from(output.as_ref(), may_be_same)
                    }
                };
                let input = copy_if_overlapping(input, operation.transform.is_none())?;
                let heads = heads.map(|heads| copy_if_overlapping(heads, false)).transpose()?;
                local_spans.push(LocalSpan { number, input, heads, output });
            }
            let distributed_scan = DistributedScan { world, operation, keyed: keys.is_some(), spans: &wanted };
            distributed_scan.run(&local_spans)
        })?;
        results.map_or(Ok(()), |results: Fitted<T>| results.bring_back(world))?;
        Ok(all)
    }
}

/// A span of this rank.
struct LocalSpan {
    number: usize,
    input: CellSequence,
    heads: Option<CellSequence>,
    output: Option<CellSequence>,
}

/// A scan over ranks, without static types.
struct DistributedScan<'a> {
    world: &'a World,
    operation: &'a ScanOperation<'a>,
    /// True if keys define the segments.
    keyed: bool,
    spans: &'a [Span],
}

impl DistributedScan<'_> {
    fn run(&self, local_spans: &[LocalSpan]) -> Result<Option<Vec<u8>>> {
        let group = self.world.inner_group();
        let (keys, carries) = (group.next_sequence(), group.next_sequence());
        if self.keyed {
            for span in local_spans {
                let last = span.heads.as_ref().expect("keys").last()?;
                self.pass_on(span.number, keys, || copied(&last))?;
            }
        }
        let mut steps = Vec::with_capacity(local_spans.len());
        // The last key of the previous span, if it is on this rank.
        let mut last: Option<(usize, Vec<u8>)> = None;
        // True if no other rank waits for the combination of this rank's cells.
        let at_once = local_spans.len() == self.spans.len();
        for span in local_spans {
            let mut key = None;
            if let (true, Some(before)) = (self.keyed, span.number.checked_sub(1)) {
                key = match last.take().filter(|(number, _)| *number == before) {
                    Some((_, key)) => Some(key),
                    None => Some((*group.receive(self.spans[before].owner, keys)?).as_ref().to_vec()),
                };
            }
            let heads = match &span.heads {
                Some(cells) if self.keyed => Heads::Keys(cells),
                Some(cells) => Heads::Flags(cells),
                None => Heads::None,
            };
            let output = span.output.as_ref();
            let (step, key) = ScanSteps::new(self.world, self.operation, &span.input, heads, output, key, at_once)?;
            last = key.map(|key| (span.number, key));
            steps.push(step);
        }
        let (mut all, mut before): (Carry, Option<usize>) = (Carry::default(), None);
        for (span, step) in local_spans.iter().zip(&mut steps) {
            if let Some(last) = span.number.checked_sub(1).filter(|last| before != Some(*last)) {
                all = decoded((*group.receive(self.spans[last].owner, carries)?).as_ref());
            }
            all = step.carry(all)?;
            self.pass_on(span.number, carries, || encoded(&all))?;
            before = Some(span.number);
        }
        for (span, step) in local_spans.iter().zip(steps) {
            if span.output.is_some() {
                step.write()?;
            }
        }
        let Some(last) = self.spans.last() else { return Ok(None) };
        let mine = (last.owner == self.world.rank()).then(|| encoded(&all));
        let all = decoded((*group.broadcast(last.owner, mine)?).as_ref());
        Ok(all.item.map(|item| item.value))
    }

    /// Sends to the owner of the next span, if it is another rank.
    fn pass_on(&self, number: usize, tag: Tag, payload: impl FnOnce() -> Payload) -> Result<()> {
        match self.spans.get(number + 1) {
            Some(next) if next.owner != self.world.rank() => self.world.inner_group().send(next.owner, tag, payload()),
            _ => Ok(()),
        }
    }
}

/// Encodes a combination: whether it exists, whether it contains a head, its bytes.
fn encoded(carry: &Carry) -> Payload {
    let Some(Item { value, head }) = &carry.item else { return copied::<u8>(&[]) };
    let mut bytes = vec![u8::from(*head)];
    bytes.extend_from_slice(value);
    copied(&bytes)
}

fn decoded(bytes: &[u8]) -> Carry {
    let item = bytes.split_first().map(|(head, value)| Item { value: value.to_vec(), head: *head == 1 });
    Carry { item, key: None }
}
