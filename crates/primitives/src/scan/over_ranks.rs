//! Scans and reductions over distributed vectors.
//!
//! Every rank combines its blocks. The value before its first block comes from the owner of the
//! previous cells, and the updated value goes to the owner of the next cells: one small message per
//! pair of neighbouring chunks on different ranks, sequentially, while all ranks process cells in
//! parallel.

use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::error::Result;
use zippy::transport::{Payload, Tag, copied};

use super::association::{CELLS_PER_BLOCK, Item};
use super::operation::{Carry, ScanOperation};
use super::segmentation::Segmentation;
use super::steps::ScanSteps;
use crate::backend::HasBackend;
use crate::heads::Heads;
use crate::vectors::{Span, VectorCells, Vectors, check_lengths, spans_of_whole_blocks};

/// Scan of distributed vectors, without static types.
pub(super) struct VectorScan<'a> {
    /// Name of the collective operation.
    pub verb: &'static str,
    pub operation: &'a ScanOperation<'a>,
    pub input: &'a dyn VectorCells,
    pub segments: Segmentation<&'a dyn VectorCells>,
    pub output: Option<&'a dyn VectorCells>,
}

impl VectorScan<'_> {
    /// Runs the scan; returns the combination of all cells, as bytes. Collective.
    pub(super) fn run(&self, vectors: &Vectors<'_>) -> Result<Option<Vec<u8>>> {
        let (world, operation) = (vectors.world(), self.operation);
        operation.check(world.gpu(), world.backend().is_host_scan(operation))?;
        let mut named = vec![self.input.named()?];
        if let Some(output) = self.output {
            check_lengths(self.input, output, "the output")?;
            named.push(output.named()?);
        }
        if let Some(heads) = self.segments.cells() {
            check_lengths(self.input, *heads, "the sequence of segment heads")?;
            named.push(heads.named()?);
        }
        let mut wanted = self.input.spans()?;
        if !operation.exact() {
            wanted = spans_of_whole_blocks(&wanted, CELLS_PER_BLOCK as u64);
        }
        let cells = self.input.fitted(world, "cells of a scan", &wanted, true)?;
        let heads = match self.segments {
            Segmentation::Whole => None,
            Segmentation::Flags(flags) => Some(flags.fitted(world, "flags of a scan", &wanted, true)?),
            Segmentation::Keys(keys) => Some(keys.fitted(world, "keys of a scan", &wanted, true)?),
        };
        let results =
            self.output.map(|output| output.fitted(world, "results of a scan", &wanted, false)).transpose()?;
        let argument = (operation.operator.to_parts(), operation.first, operation.transform.map(|(_, text)| text));
        let all = vectors.collective(self.verb, named, argument, || {
            let mut local_spans = Vec::new();
            let local_heads = heads.as_ref().map(|heads| heads.local_cells_by_span()).transpose()?;
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
            let keyed = matches!(self.segments, Segmentation::Keys(_));
            DistributedScan { world, operation, keyed, spans: &wanted }.run(&local_spans)
        })?;
        results.map_or(Ok(()), |results| results.copy_back(world))?;
        Ok(all)
    }
}

/// Span of a vector on this rank, with its cells.
struct LocalSpan {
    number: usize,
    input: CellSequence,
    heads: Option<CellSequence>,
    output: Option<CellSequence>,
}

/// Scan in progress over the spans of all ranks, without static types.
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
                self.send_to_next_span(span.number, keys, || copied(&last))?;
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
                all = decode_carry((*group.receive(self.spans[last].owner, carries)?).as_ref());
            }
            all = step.carry(all)?;
            self.send_to_next_span(span.number, carries, || encode_carry(&all))?;
            before = Some(span.number);
        }
        for (span, step) in local_spans.iter().zip(steps) {
            if span.output.is_some() {
                step.write()?;
            }
        }
        let Some(last) = self.spans.last() else { return Ok(None) };
        let mine = (last.owner == self.world.rank()).then(|| encode_carry(&all));
        let all = decode_carry((*group.broadcast(last.owner, mine)?).as_ref());
        Ok(all.item.map(|item| item.value))
    }

    /// Sends a payload to the owner of the next span, if it is another rank.
    fn send_to_next_span(&self, number: usize, tag: Tag, payload: impl FnOnce() -> Payload) -> Result<()> {
        match self.spans.get(number + 1) {
            Some(next) if next.owner != self.world.rank() => self.world.inner_group().send(next.owner, tag, payload()),
            _ => Ok(()),
        }
    }
}

/// Encodes a combination as a message: whether it exists, whether it contains a head, its bytes.
fn encode_carry(carry: &Carry) -> Payload {
    let Some(Item { value, head }) = &carry.item else { return copied::<u8>(&[]) };
    let mut bytes = vec![u8::from(*head)];
    bytes.extend_from_slice(value);
    copied(&bytes)
}

fn decode_carry(bytes: &[u8]) -> Carry {
    let item = bytes.split_first().map(|(head, value)| Item { value: value.to_vec(), head: *head == 1 });
    Carry { item, key: None }
}
