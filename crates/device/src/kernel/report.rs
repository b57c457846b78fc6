//! Report of a call in a checked run: loaded and stored ghost cells, and positions outside of
//! chunks.

use std::rc::Rc;

use super::binding::Binding;
use super::geometry::{OUTSIDE_ACCESS_WORDS, STOPPED_LOOP_WORDS};
use super::pipeline::BoundBuffer;
use crate::device::{BufferBox, Device, Lease, PackedBox, StridedBox};
use crate::error::{CallSite, Result};
use crate::extents::Index;
use crate::history::{Finding, MissingGhostWidth, OperationName, OutsideAccesses, Problem};
use crate::region::Region;

/// Maximum number of report bits per array. Arrays with more bits record layers without components.
const MAX_BITS_OF_ARRAY: usize = 1 << 22;

/// Numbers of layers and components of a chunk's ghost cells. A component is a position along the
/// axes without ghost cells. The report has one bit per pair of layer and component.
#[derive(Debug, Clone, Copy)]
pub(super) struct GhostLayers {
    /// Number of layers; 0 if the chunk has no ghost cells.
    count: usize,
    /// Number of components; 0 if components are not recorded.
    pub components: usize,
}

impl GhostLayers {
    pub(super) fn new(binding: &Binding) -> Self {
        if binding.storage == binding.owned {
            return Self { count: 0, components: 0 };
        }
        let many = |all: usize, one: i64| all.saturating_mul(one.max(1) as usize);
        let count = (0..binding.owned.axes()).map(|axis| layers_along_axis(binding, axis)).fold(1, many);
        let components = axes_without_ghosts(binding).map(|axis| binding.owned.extents()[axis]).fold(1, many);
        let fits = components.checked_mul(count).is_some_and(|bits| bits <= MAX_BITS_OF_ARRAY);
        Self { count, components: if fits { components } else { 0 } }
    }

    pub(super) fn are_too_many(&self) -> bool {
        self.count > MAX_BITS_OF_ARRAY
    }

    pub(super) fn bits(&self) -> usize {
        self.count * self.components.max(1)
    }

    /// Returns the number of report words for loads; as many follow for stores.
    fn words(&self) -> usize {
        self.bits().div_ceil(32)
    }
}

/// Returns the number of layers along an axis, including the one of the owned cells.
fn layers_along_axis(binding: &Binding, axis: usize) -> i64 {
    1 + binding.storage.extents()[axis] - binding.owned.extents()[axis]
}

fn axes_without_ghosts(binding: &Binding) -> impl Iterator<Item = usize> {
    (0..binding.owned.axes()).filter(move |&axis| layers_along_axis(binding, axis) == 1)
}

/// Memory of a call's report: words for positions outside of chunks, then the bits of each array.
pub(super) struct Report {
    lease: Lease,
    words: usize,
    parts: Vec<(usize, GhostLayers)>,
}

/// Memory of the last report, for reuse.
#[derive(Debug, Default)]
struct Reports(Option<Lease>);

impl Report {
    /// Creates an empty report for these arrays.
    pub(super) fn new<'b>(device: &Device, bindings: impl Iterator<Item = &'b Binding>) -> Result<Self> {
        let (mut parts, mut words) = (Vec::new(), OUTSIDE_ACCESS_WORDS + STOPPED_LOOP_WORDS);
        for binding in bindings {
            let layers = GhostLayers::new(binding);
            parts.push((words, layers));
            words += 2 * layers.words();
        }
        let bytes = 4 * words as u64;
        let known = device.with_cache(|cache: &mut Reports| cache.0.clone());
        let lease = match known.filter(|lease| lease.bytes() >= bytes) {
            Some(lease) => lease,
            None => {
                let lease = Lease::new(&device.storage_buffer(bytes, "zippy: the report of a call")?);
                device.with_cache(|cache: &mut Reports| cache.0 = Some(lease.clone()));
                lease
            }
        };
        let report = Self { lease, words, parts };
        device.fill(&[0; 4], &[BufferBox { buffer: &report.lease, view: report.view() }])?;
        Ok(report)
    }

    fn view(&self) -> StridedBox {
        StridedBox { offset: 0, extents: Index::from([self.words as i64]), strides: Index::from([1]) }
    }

    /// Returns the first word and the ghost layers of each array.
    pub(super) fn parts(&self) -> &[(usize, GhostLayers)] {
        &self.parts
    }

    /// Returns the buffer of the report, with the range to bind.
    pub(super) fn buffer(&self) -> BoundBuffer {
        let window_bytes = self.lease.bytes();
        BoundBuffer {
            raw: self.lease.raw().clone(),
            id: self.lease.id(),
            weak: Some(self.lease.downgrade()),
            offset: 0,
            end: window_bytes,
            window_bytes,
        }
    }

    /// Waits for the call and reads its report.
    pub(super) fn read(self, device: &Device) -> Result<ReportContents> {
        let pieces = [PackedBox { buffer: &self.lease, view: self.view(), payload_offset: 0 }];
        let staged = device.gather(4, &pieces, 4 * self.words as u64)?;
        Ok(ReportContents { words: bytemuck::pod_collect_to_vec(staged.as_ref()), parts: self.parts })
    }
}

pub(super) struct ReportContents {
    words: Vec<u32>,
    parts: Vec<(usize, GhostLayers)>,
}

/// First access of a call outside of a chunk; the position is relative to the start of the section.
pub(super) struct OutsideAccess {
    pub var: usize,
    is_store: bool,
    position: Vec<i64>,
    invocation: Option<[u32; 3]>,
    count: u32,
}

impl ReportContents {
    /// Returns the boxes of ghost cells that were loaded through storage variable `number`.
    pub(super) fn loaded(&self, number: usize, binding: &Binding) -> Vec<Region> {
        self.reached(number, binding, 0)
    }

    /// Returns the boxes of ghost cells that were stored through storage variable `number`.
    pub(super) fn stored(&self, number: usize, binding: &Binding) -> Vec<Region> {
        self.reached(number, binding, self.parts[number].1.words())
    }

    fn reached(&self, array: usize, binding: &Binding, offset: usize) -> Vec<Region> {
        let (at, layers) = self.parts[array];
        let words = &self.words[at + offset..][..layers.words()];
        let is_set = |bit: usize| words[bit / 32] & (1 << (bit % 32)) != 0;
        let (each, mut out) = (layers.components.max(1), Vec::new());
        if words.iter().all(|&word| word == 0) {
            return out;
        }
        for number in 0..layers.count {
            let set: Vec<bool> = (0..each).map(|component| is_set(number * each + component)).collect();
            if set.contains(&true) {
                out.extend(select_components(&layer_region(number, binding), binding, &set));
            }
        }
        out
    }

    /// Returns the number of invocations with loops stopped by the adapter, and the line of the
    /// loop in the first of them.
    pub(super) fn stopped(&self) -> Option<(u32, u32)> {
        let [invocations, line] = self.words[OUTSIDE_ACCESS_WORDS..][..STOPPED_LOOP_WORDS] else { return None };
        (invocations > 0).then_some((invocations, line))
    }

    pub(super) fn first_outside_access(&self) -> Option<OutsideAccess> {
        let [count, array, x, y, z, position @ ..] = &self.words[..OUTSIDE_ACCESS_WORDS] else { return None };
        let which = array.checked_sub(1).filter(|_| *count > 0)?;
        let invocation = (*x != u32::MAX).then_some([*x, *y, *z]);
        let position = position.iter().map(|&position| i64::from(position as i32)).collect();
        Some(OutsideAccess { var: which as usize / 2, is_store: which % 2 == 1, position, invocation, count: *count })
    }
}

impl OutsideAccess {
    pub(super) fn warn(self, binding: &Binding, kernel: &Rc<str>, at: CallSite) {
        let Some(history) = &binding.history else { return };
        let (start, Self { position, invocation, count, .. }) = (binding.section.start, &self);
        let position = Index::from_fn(start.axes(), |axis| start[axis] + position[axis]);
        let site = history.ledger.site(OperationName::Kernel(kernel.clone()), at);
        let problem = if self.is_store { Problem::StoreOutside } else { Problem::LoadOutside };
        let missing_width = MissingGhostWidth::new(&position, &binding.owned, &binding.storage);
        let problem = problem(OutsideAccesses { position, invocation: *invocation, count: *count, missing_width });
        history.ledger.add_finding(Finding { array: binding.array(), chunk: history.chunk(), site, problem });
    }
}

/// Returns the cells of a ghost layer. The digits of its number are the layers along the axes, axis
/// 0 first.
fn layer_region(number: usize, binding: &Binding) -> Region {
    let (owned, mut rest, mut region) = (binding.owned, number as i64, binding.owned);
    for axis in (0..owned.axes()).rev() {
        let (base, before) = (layers_along_axis(binding, axis), owned.start[axis] - binding.storage.start[axis]);
        let digit = rest % base;
        rest /= base;
        let first = if digit <= before { owned.start[axis] - digit } else { owned.end[axis] + digit - before - 1 };
        if digit > 0 {
            (region.start[axis], region.end[axis]) = (first, first + 1);
        }
    }
    region
}

/// Returns the part of a box of ghost cells whose components are true in `set`.
fn select_components(cells: &Region, binding: &Binding, set: &[bool]) -> Vec<Region> {
    if !set.contains(&false) {
        return vec![*cells];
    }
    let free: Vec<usize> = axes_without_ghosts(binding).collect();
    let (start, extents) = (binding.owned.start, binding.owned.extents());
    let only = |number: usize| {
        let (mut rest, mut region) = (number, *cells);
        for &axis in free.iter().rev() {
            let position = start[axis] + (rest % extents[axis] as usize) as i64;
            rest /= extents[axis] as usize;
            (region.start[axis], region.end[axis]) = (position, position + 1);
        }
        region
    };
    (0..set.len()).filter(|&number| set[number]).map(only).collect()
}
