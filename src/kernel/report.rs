//! What a call tells of itself in a checked run: which ghost cells it has loaded, and positions that are no cells.

use std::panic::Location;
use std::rc::Rc;

use super::binding::Binding;
use super::geometry::STRAY_WORDS;
use super::pipeline::BoundBuffer;
use crate::device::{BoxOf, Device, Lease, Piece, Strided};
use crate::error::Result;
use crate::extents::Index;
use crate::history::{Finding, Problem, Stray, What};
use crate::region::Region;

/// The most words for the sides and components of one array; else components are not told apart.
const MOST_WORDS: usize = 1 << 14;

/// The part of one array in a report: words for loads and for stores outside, then bits for components, side by side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Its first word.
    pub at: usize,
    /// Words a side; 0 where there is one bit a side.
    pub words: usize,
    sides: usize,
}

impl Part {
    fn of(binding: &Binding, at: usize) -> Self {
        let sides = if binding.storage == binding.owned { 0 } else { 3_usize.pow(binding.owned.axes() as u32) };
        let components: usize = free_axes(binding).map(|axis| binding.owned.extents()[axis] as usize).product();
        let words = components.div_ceil(32);
        let fits = words.checked_mul(sides).is_some_and(|all| all <= MOST_WORDS);
        Self { at, words: if fits { words } else { 0 }, sides }
    }

    fn end(&self) -> usize {
        self.at + 2 * STRAY_WORDS + self.sides * self.words.max(1)
    }
}

/// The axes along which a chunk has no ghost cells.
fn free_axes(binding: &Binding) -> impl Iterator<Item = usize> {
    let (storage, owned) = (binding.storage.extents(), binding.owned.extents());
    (0..owned.axes()).filter(move |&axis| storage[axis] == owned[axis])
}

/// The report of a call.
pub(super) struct Report {
    lease: Lease,
    words: usize,
    parts: Vec<Part>,
}

/// The memory of reports.
#[derive(Debug, Default)]
struct Reports(Option<Lease>);

impl Report {
    /// An empty report for these arrays.
    pub fn new<'b>(device: &Device, bindings: impl Iterator<Item = &'b Binding>) -> Result<Self> {
        let (mut parts, mut words) = (Vec::new(), 0);
        for binding in bindings {
            let part = Part::of(binding, words);
            words = part.end();
            parts.push(part);
        }
        let bytes = 4 * words.max(1) as u64;
        let known = device.with_cache(|cache: &mut Reports| cache.0.clone());
        let lease = match known.filter(|lease| lease.bytes() >= bytes) {
            Some(lease) => lease,
            None => {
                let lease = Lease::of(&device.storage_buffer(bytes, "zippy: the report of a call")?);
                device.with_cache(|cache: &mut Reports| cache.0 = Some(lease.clone()));
                lease
            }
        };
        let report = Self { lease, words, parts };
        device.fill(&[0; 4], &[BoxOf { buffer: &report.lease, view: report.view() }])?;
        Ok(report)
    }

    fn view(&self) -> Strided {
        Strided { offset: 0, extents: Index::from([self.words as i64]), strides: Index::from([1]) }
    }

    /// The parts, one for each array.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// As it is bound.
    pub fn buffer(&self) -> BoundBuffer {
        let window_bytes = self.lease.bytes();
        BoundBuffer {
            raw: self.lease.raw().clone(),
            id: self.lease.id(),
            weak: Some(self.lease.downgrade()),
            window_bytes,
        }
    }

    /// Waits for the call and reads what it has told of each array.
    pub fn read(&self, device: &Device) -> Result<Vec<Told>> {
        let pieces = [Piece { buffer: &self.lease, view: self.view(), payload_offset: 0 }];
        let staged = device.gather(4, &pieces, 4 * self.words as u64)?;
        let all: Vec<u32> = bytemuck::pod_collect_to_vec(staged.as_ref());
        Ok(self.parts.iter().map(|part| Told { part: *part, words: all[part.at..part.end()].to_vec() }).collect())
    }
}

/// What a call has told of one array.
pub(super) struct Told {
    part: Part,
    words: Vec<u32>,
}

impl Told {
    /// The boxes of ghost cells that were loaded.
    pub fn loaded(&self, binding: &Binding) -> Vec<Region> {
        let Some(history) = &binding.history else { return Vec::new() };
        let Some(ghosts) = history.ghosts() else { return Vec::new() };
        let of_side = self.words[2 * STRAY_WORDS..].chunks(self.part.words.max(1)).enumerate();
        let mut out = Vec::new();
        for (number, bits) in of_side.filter(|(_, bits)| bits.iter().any(|&word| word != 0)) {
            let components = |cells: &Region| match self.part.words {
                0 => vec![*cells],
                _ => of_components(cells, binding, bits),
            };
            out.extend(ghosts.cells_on(history.chunk(), &side(number, binding.owned.axes()), components));
        }
        out
    }

    /// Tells of loads and stores outside.
    pub fn strays(&self, binding: &Binding, kernel: &Rc<str>, at: &'static Location<'static>) {
        let Some(history) = &binding.history else { return };
        let problems: [fn(Stray) -> Problem; 2] = [Problem::LoadOutside, Problem::StoreOutside];
        for (words, problem) in self.words.chunks(STRAY_WORDS).zip(problems) {
            let [count, x, y, z, position @ ..] = words else { continue };
            if *count == 0 {
                continue;
            }
            let start = binding.section.start;
            let position = Index::from_fn(start.axes(), |axis| start[axis] + i64::from(position[axis] as i32));
            let invocation = (*x != u32::MAX).then_some([*x, *y, *z]);
            let site = history.ledger.site(What::Kernel(kernel.clone()), at);
            let problem = problem(Stray { position, invocation, count: *count });
            history.ledger.found(Finding { array: binding.array(), chunk: history.chunk(), site, problem });
        }
    }
}

/// A side from its number: 0, 1 and 2 for none, the low and the high one, axis 0 first.
fn side(number: usize, axes: usize) -> Vec<i8> {
    let digit = |axis: usize| number / 3_usize.pow((axes - 1 - axis) as u32) % 3;
    (0..axes).map(|axis| [0, -1, 1][digit(axis)]).collect()
}

/// Of a box of ghost cells those of the components whose bits are set.
fn of_components(cells: &Region, binding: &Binding, bits: &[u32]) -> Vec<Region> {
    let free: Vec<usize> = free_axes(binding).collect();
    let (start, extents) = (binding.owned.start, binding.owned.extents());
    let count: usize = free.iter().map(|&axis| extents[axis] as usize).product();
    let is_set = |number: usize| bits[number / 32] & (1 << (number % 32)) != 0;
    if (0..count).all(is_set) {
        return vec![*cells];
    }
    let only = |number: usize| {
        let (mut rest, mut region) = (number, *cells);
        for &axis in free.iter().rev() {
            let place = start[axis] + (rest % extents[axis] as usize) as i64;
            rest /= extents[axis] as usize;
            (region.start[axis], region.end[axis]) = (place, place + 1);
        }
        region
    };
    (0..count).filter(|&number| is_set(number)).map(only).collect()
}
