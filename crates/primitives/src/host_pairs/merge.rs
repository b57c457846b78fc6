//! Stable merge of two sorted runs by all threads of a rank.

use std::mem::take;
use std::ops::Range;

use zippy::device::HostThreads;

use super::digits::{Key, KeyForm};
use super::scatter::{block_lengths, threads_for};
use super::typed::{BytePairs, ByteSlices};
use crate::by_size::by_size;
use crate::sort_key::KeyOrder;

/// Number of merged blocks per thread, which balances the load.
const BLOCKS_PER_THREAD: usize = 4;

/// Merges two sorted runs into the output, whose length is the sum of both; equal keys of the first
/// run come first. If the runs are not sorted, the output has all pairs in some order.
pub(crate) fn merge(threads: HostThreads, order: KeyOrder, runs: [BytePairs<'_>; 2], output: BytePairs<'_>) {
    match order.words {
        1 => merge_keys::<[u32; 1]>(threads, KeyForm::new(order), runs, output),
        _ => merge_keys::<[u32; 2]>(threads, KeyForm::new(order), runs, output),
    }
}

fn merge_keys<K: Key>(threads: HostThreads, form: KeyForm, runs: [BytePairs<'_>; 2], output: BytePairs<'_>) {
    let size = output.size;
    let [first, second] = runs.map(|run| Run::<K>::new(common_slices(run), size));
    let output = common_slices::<K>(output);
    let cells = first.cells + second.cells;
    let workers = threads_for(threads, cells);
    let lengths = block_lengths(cells, if workers == 1 { 1 } else { workers * BLOCKS_PER_THREAD });
    let (mut blocks, mut end, mut ends) = (Vec::new(), 0, [0, 0]);
    let mut outputs = output.into_iter();
    let mut rest: MutableSlices<'_, K> = (&mut [], &mut []);
    for length in lengths {
        let starts = ends;
        end += length;
        ends = split(&first, &second, form, starts, end);
        let mut target = Vec::with_capacity(1);
        let mut missing = length;
        while missing > 0 {
            if rest.0.is_empty() {
                rest = outputs.next().expect("an output as long as both runs");
            }
            let cells = missing.min(rest.0.len());
            let (keys, keys_rest) = take(&mut rest.0).split_at_mut(cells);
            let (values, values_rest) = take(&mut rest.1).split_at_mut(cells * size);
            (rest, missing) = ((keys_rest, values_rest), missing - cells);
            target.push((keys, values));
        }
        let sources = [first.section(starts[0]..ends[0]), second.section(starts[1]..ends[1])];
        blocks.push((sources, target));
    }
    threads.map(blocks, |(sources, target)| by_size!(merge_block, size, form, sources, target));
}

/// Keys and the bytes of their values.
type MutableSlices<'a, K> = (&'a mut [K], &'a mut [u8]);
type SharedSlices<'a, K> = (&'a [K], &'a [u8]);

/// Returns keys and the bytes of their values in slices of the same cells.
fn common_slices<K: Key>(pairs: BytePairs<'_>) -> Vec<MutableSlices<'_, K>> {
    let BytePairs { keys, values, size } = pairs;
    let keys = keys.into_iter().map(bytemuck::cast_slice_mut::<u8, K>);
    if size == 0 {
        return keys.map(|keys| (keys, &mut [][..])).collect();
    }
    let (mut slices, mut values): (Vec<MutableSlices<'_, K>>, _) = (Vec::new(), ByteSlices::into_iter(values));
    let mut rest: &mut [u8] = &mut [];
    for mut keys in keys {
        while !keys.is_empty() {
            if rest.is_empty() {
                rest = values.next().expect("as many values as keys");
            }
            let cells = keys.len().min(rest.len() / size);
            let (now, later) = keys.split_at_mut(cells);
            let (values, values_later) = take(&mut rest).split_at_mut(cells * size);
            (keys, rest) = (later, values_later);
            slices.push((now, values));
        }
    }
    slices
}

/// Sorted run of pairs in several slices.
struct Run<'a, K> {
    slices: Vec<SharedSlices<'a, K>>,
    /// Number of cells before each slice.
    starts: Vec<usize>,
    cells: usize,
    size: usize,
}

impl<'a, K: Key> Run<'a, K> {
    fn new(slices: Vec<MutableSlices<'a, K>>, size: usize) -> Self {
        let slices: Vec<SharedSlices<'_, K>> =
            slices.into_iter().map(|(keys, values)| (&*keys, &*values)).filter(|(keys, _)| !keys.is_empty()).collect();
        let mut cells = 0;
        let starts = slices.iter().map(|(keys, _)| {
            cells += keys.len();
            cells - keys.len()
        });
        Self { starts: starts.collect(), slices, cells, size }
    }

    fn number(&self, cell: usize, form: KeyForm) -> u64 {
        let slice = self.starts.partition_point(|start| *start <= cell) - 1;
        self.slices[slice].0[cell - self.starts[slice]].number(form)
    }

    fn section(&self, cells: Range<usize>) -> Vec<SharedSlices<'a, K>> {
        let mut section = Vec::with_capacity(1);
        for ((keys, values), start) in self.slices.iter().zip(&self.starts) {
            let begin = cells.start.saturating_sub(*start).min(keys.len());
            let end = cells.end.saturating_sub(*start).min(keys.len());
            if begin < end {
                section.push((&keys[begin..end], &values[begin * self.size..end * self.size]));
            }
        }
        section
    }
}

/// Returns the number of cells of each run among the first `end` cells of the merged output, at
/// least `starts`.
fn split<K: Key>(first: &Run<'_, K>, second: &Run<'_, K>, form: KeyForm, starts: [usize; 2], end: usize) -> [usize; 2] {
    let mut low = starts[0].max(end.saturating_sub(second.cells));
    let mut high = first.cells.min(end - starts[1]);
    while low < high {
        let middle = (low + high).div_ceil(2);
        let comes_before = first.number(middle - 1, form) <= second.number(end - middle, form);
        (low, high) = if comes_before { (middle, high) } else { (low, middle - 1) };
    }
    [low, end - low]
}

/// Merges sections of both runs into a section of the output with as many cells.
#[inline(always)]
fn merge_block<K: Key>(
    size: usize,
    form: KeyForm,
    sources: [Vec<SharedSlices<'_, K>>; 2],
    target: Vec<MutableSlices<'_, K>>,
) {
    let [mut first_later, mut second_later] = sources.map(Vec::into_iter);
    let (mut first, mut second) = (SharedSlices::<K>::default(), SharedSlices::<K>::default());
    for (mut keys, mut values) in target {
        while !keys.is_empty() {
            if first.0.is_empty() {
                first = first_later.next().unwrap_or_default();
            }
            if second.0.is_empty() {
                second = second_later.next().unwrap_or_default();
            }
            let lengths = [first, second].map(|(keys, _)| keys.len());
            let taken = match lengths {
                [a, 0] => [copy(first, keys, values, a, size), 0],
                [0, b] => [0, copy(second, keys, values, b, size)],
                [a, b] => {
                    let cells = a.min(b).min(keys.len());
                    let mut taken = [0, 0];
                    for (at, key) in keys[..cells].iter_mut().enumerate() {
                        let [i, j] = taken;
                        let after = second.0[j].number(form) < first.0[i].number(form);
                        *key = if after { second.0[j] } else { first.0[i] };
                        let value = if after { &second.1[j * size..][..size] } else { &first.1[i * size..][..size] };
                        values[at * size..][..size].copy_from_slice(value);
                        taken = [i + usize::from(!after), j + usize::from(after)];
                    }
                    taken
                }
            };
            let cells = taken[0] + taken[1];
            first = (&first.0[taken[0]..], &first.1[taken[0] * size..]);
            second = (&second.0[taken[1]..], &second.1[taken[1] * size..]);
            (keys, values) = (&mut keys[cells..], &mut values[cells * size..]);
        }
    }
}

/// Copies pairs from the start of a slice, at most `most` and at most as many as the target can
/// hold; returns their number.
fn copy<K: Key>(from: SharedSlices<'_, K>, keys: &mut [K], values: &mut [u8], most: usize, size: usize) -> usize {
    let cells = most.min(keys.len());
    keys[..cells].copy_from_slice(&from.0[..cells]);
    values[..cells * size].copy_from_slice(&from.1[..cells * size]);
    cells
}
