//! What a rank has of a section that is reduced.

use std::rc::Rc;

use super::number::Reducible;
use super::source::{Work, kernel};
use crate::World;
use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::{BoxOf, FoldKernel, Piece, Strided};
use crate::element::Element;
use crate::error::{RegionError, Result};
use crate::extents::Index;
use crate::region::Region;
use crate::world::{Section, hash};

/// Cells that the host reads at a time, in bytes.
const HOST_BYTES: u64 = 8 << 20;

/// This rank's boxes of a section.
pub struct Operand {
    core: Rc<ArrayCore>,
    boxes: Vec<(ChunkId, Region)>,
}

impl Operand {
    /// The boxes that this rank holds.
    pub fn new<T: Element, const D: usize>(section: &Section<T, D>, verb: &str) -> Result<Self> {
        let (core, mut boxes) = match section {
            Section::Local(local) => (local.core().clone(), vec![(local.chunk(), local.one_box(verb)?)]),
            Section::Global(global) => {
                let region = global.region()?;
                let chunks = global.core.chunks();
                let held =
                    global.core.owned().filter_map(|chunk| Some((chunk, chunks.region(chunk).intersect(&region)?)));
                (global.core.clone(), held.collect())
            }
        };
        boxes.retain(|(_, region)| !region.is_empty());
        Ok(Self { core, boxes })
    }

    /// Cells of all boxes.
    pub fn cells(&self) -> u64 {
        self.boxes.iter().map(|(_, region)| region.cells()).sum()
    }

    /// One component of every box, in scalars.
    fn component<T: Reducible>(&self, component: usize) -> impl Iterator<Item = BoxOf<'_>> {
        let n = T::COMPONENTS;
        self.boxes.iter().filter_map(move |(chunk, region)| {
            let Strided { offset, extents, strides } = self.core.strided(*chunk, region);
            let strides = Index::from_fn(strides.axes(), |axis| strides[axis] * n as i64);
            let view = Strided { offset: offset * n as u64 + component as u64, extents, strides };
            Some(BoxOf { buffer: self.core.buffer(*chunk)?, view })
        })
    }

    /// Runs a kernel over one component; `false` where the host has to do the work.
    pub fn fold<T: Reducible>(&self, work: &Work, component: usize, each: impl FnMut(&[u32])) -> Result<bool> {
        let Some((name, source)) = kernel::<T::Scalar>(work) else { return Ok(false) };
        let pairs: Vec<_> = self.component::<T>(component).map(|one| (one, None)).collect();
        let kernel = FoldKernel { name: &name, source: &source, words: work.words };
        self.core.device().fold(&kernel, T::Scalar::INFO.bytes, &pairs, each)?;
        Ok(true)
    }

    /// Reads all cells to the host, some at a time, and calls `each` with every number and its component.
    pub fn read<T: Reducible>(&self, mut each: impl FnMut(usize, T::Scalar)) -> Result<()> {
        for (chunk, region) in &self.boxes {
            let Some(buffer) = self.core.buffer(*chunk) else { continue };
            let most = (HOST_BYTES / T::INFO.bytes as u64).max(1);
            for part in cut(*region, most) {
                let view = self.core.strided(*chunk, &part);
                let bytes = part.cells() * T::INFO.bytes as u64;
                let piece = Piece { buffer, view, payload_offset: 0 };
                let staged = self.core.device().gather(T::INFO.bytes, &[piece], bytes.next_multiple_of(4))?;
                let numbers = staged.as_ref()[..bytes as usize].chunks_exact(T::Scalar::INFO.bytes);
                for (at, number) in numbers.enumerate() {
                    each(at % T::COMPONENTS, bytemuck::pod_read_unaligned(number));
                }
            }
        }
        Ok(())
    }
}

/// Parts of at most `most` cells, cut along the slowest axes.
fn cut(region: Region, most: u64) -> Vec<Region> {
    let long = (0..region.axes()).rev().find(|&axis| region.end[axis] - region.start[axis] > 1);
    let (true, Some(axis)) = (region.cells() > most, long) else { return vec![region] };
    let middle = region.start[axis] + (region.end[axis] - region.start[axis]) / 2;
    let (mut low, mut high) = (region, region);
    (low.end[axis], high.start[axis]) = (middle, middle);
    [cut(low, most), cut(high, most)].concat()
}

/// Runs a reduction as a collective of its own name: `local` finds what this rank has and `combine` talks to the others.
/// A mistake in the name of a global section is returned before anything is sent, by all ranks alike.
pub fn collective<T: Element, const D: usize, R>(
    world: &World,
    verb: &'static str,
    section: &Section<T, D>,
    f: impl FnOnce(&Operand) -> Result<R>,
) -> Result<R> {
    world.alive()?;
    let named: Result<Option<(String, Region)>, RegionError> = match section {
        Section::Global(global) => global.region.clone().map(|region| Some((global.core.name().to_string(), region))),
        Section::Local(_) => Ok(None),
    };
    let named = named?;
    let signature = hash((verb, T::INFO.name, &named));
    let describe = match named {
        Some((name, region)) => format!("{verb}(\"{name}\" [{}, {}))", region.start, region.end),
        None => format!("{verb}(each rank's own section)"),
    };
    world.collective(describe, signature, || f(&Operand::new(section, verb)?))
}
