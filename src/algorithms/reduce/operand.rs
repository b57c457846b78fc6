//! [`LocalOperand`]: this rank's part of the operands of a reduction.

use std::marker::PhantomData;
use std::rc::Rc;

use zippy_device::kernel::WgslComposer;

use super::format::Format;
use super::number::{Number, Reducible};
use super::numbers::Numbers;
use super::reduced::Reduced;
use super::source::{Work, kernel};
use crate::World;
use crate::array::{AlignedBoxes, ArrayCore, ArrayKind, UntypedSection, align_sections};
use crate::chunks::ChunkId;
use crate::device::{BufferBox, Lease, ReductionKernel, StridedBox};
use crate::element::Element;
use crate::error::{ArrayError, Result};
use crate::extents::Index;
use crate::region::Region;
use crate::world::{ArrayIdentity, Collective, Section};

/// Selection of cells along axis 0: coordinate `first`, and all coordinates at a distance of a
/// multiple of `every`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stride {
    /// Distance between selected cells.
    pub every: i64,
    /// Coordinate of one selected cell.
    pub first: i64,
}

impl Stride {
    /// Stride that selects all cells.
    pub const ALL: Self = Self { every: 1, first: 0 };
}

/// This rank's aligned boxes of `N` sections, and the numbers of type `S` in their cells.
pub(crate) struct LocalOperand<S, const N: usize> {
    pub(super) cores: [Rc<ArrayCore>; N],
    aligned: Vec<AlignedBoxes>,
    stride: Stride,
    numbers: Numbers,
    scalar: PhantomData<S>,
}

impl<S: Number> LocalOperand<S, 1> {
    /// Selects numbers by their byte offset in each cell, for an array whose type is known at run
    /// time only. The operand has the owned cells of this rank's chunks; for a growable array, the
    /// cells in use.
    ///
    /// # Errors
    /// The cells have no such numbers.
    pub(crate) fn erased(array: &Rc<ArrayCore>, offset: usize, components: usize) -> Result<Self> {
        let (bytes, cell) = (S::INFO.bytes, array.element().bytes);
        if !offset.is_multiple_of(bytes) || !cell.is_multiple_of(bytes) || offset + components * bytes > cell {
            let (name, element, scalar) = (array.name(), array.element().name, S::INFO.name);
            let text = format!(
                "cells of array {name:?} are of type {element}, {cell} bytes each, and have no {components} numbers of \
                 type {scalar} at byte {offset}"
            );
            return Err(ArrayError::Other(text).into());
        }
        let numbers = Numbers { first: offset / bytes, components, per_cell: cell / bytes };
        let chunk = (array.kind() != ArrayKind::Global).then_some(0);
        let side = UntypedSection { core: array.clone(), region: Region::whole(array.in_use()), chunk };
        Self::of("a reduction", &[side], numbers)
    }

    /// Restricts the operand to a single component.
    pub(crate) fn only_component(&self, component: usize) -> Self {
        let numbers = Numbers { first: self.numbers.first + component, components: 1, ..self.numbers };
        Self { numbers, ..self.strided(self.stride) }
    }
}

impl<S: Number> Reduced for LocalOperand<S, 1> {
    type Of = S;

    fn components(&self) -> usize {
        self.components()
    }

    fn cells(&self) -> u64 {
        self.cells()
    }

    fn format(&self) -> Option<Format> {
        self.format()
    }

    fn fold(
        &self,
        format: Format,
        work: (&Work, &[u32]),
        component: usize,
        each: &mut dyn FnMut(&[u32]),
    ) -> Result<()> {
        self.fold(format, work, component, each)
    }

    fn fold_on_host<A: Send>(
        &self,
        least: u64,
        start: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, usize, &[S]) + Sync,
    ) -> Result<Vec<A>> {
        self.fold_on_host(least, start, |found, block| add(found, block.component, block.numbers[0]))
    }
}

impl<S: Number, const N: usize> LocalOperand<S, N> {
    fn new<T: Reducible<Scalar = S>, const D: usize>(verb: &str, sections: &[Section<T, D>; N]) -> Result<Self> {
        let sides = sections.iter().map(|section| section.to_untyped(verb)).collect::<Result<Vec<_>>>()?;
        let numbers = Numbers { first: 0, components: T::COMPONENTS, per_cell: T::COMPONENTS };
        Self::of(verb, &sides, numbers)
    }

    fn of(verb: &str, sides: &[UntypedSection], numbers: Numbers) -> Result<Self> {
        let aligned = align_sections(verb, sides)?;
        let cores = std::array::from_fn(|i| sides[i].core.clone());
        Ok(Self { cores, aligned, stride: Stride::ALL, numbers, scalar: PhantomData })
    }

    /// Restricts the operand to the cells of a stride.
    pub(crate) fn strided(&self, stride: Stride) -> Self {
        let (cores, aligned) = (self.cores.clone(), self.aligned.clone());
        Self { cores, aligned, stride, numbers: self.numbers, scalar: PhantomData }
    }

    /// Number of components, each reduced separately.
    pub(crate) fn components(&self) -> usize {
        self.numbers.components
    }

    /// Selected scalars of a cell.
    pub(crate) fn numbers(&self) -> Numbers {
        self.numbers
    }

    pub(crate) fn aligned(&self) -> &[AlignedBoxes] {
        &self.aligned
    }

    /// Restricts the operand to a part of one box of the first section.
    pub(crate) fn restricted_to(&self, chunk: ChunkId, region: Region) -> LocalOperand<S, 1> {
        LocalOperand {
            cores: [self.cores[0].clone()],
            aligned: vec![AlignedBoxes(vec![(chunk, region)])],
            stride: self.stride,
            numbers: self.numbers,
            scalar: PhantomData,
        }
    }

    /// The number of cells of one section on this rank.
    pub(crate) fn cells(&self) -> u64 {
        let views = self.aligned.iter().filter_map(|boxes| self.view(0, boxes.0[0]));
        views.map(|view| view.extents.product().unwrap_or(0)).sum()
    }

    /// Strided box of the selected cells of a box of section `which`; `None` if there are none.
    pub(crate) fn view(&self, which: usize, (chunk, region): (ChunkId, Region)) -> Option<StridedBox> {
        let mut view = self.cores[which].strided(chunk, &region);
        let Stride { every, first } = self.stride;
        let before = (first - region.start[0]).rem_euclid(every);
        view.offset += (before * view.strides[0]) as u64;
        view.extents[0] = (view.extents[0] - before + every - 1).max(0) / every;
        view.strides[0] *= every;
        (view.extents[0] > 0).then_some(view)
    }

    /// Strided box of a component of a box of section `which`, in scalars; `None` without cells.
    fn component(&self, which: usize, boxes: &AlignedBoxes, component: usize) -> Result<Option<(Lease, StridedBox)>> {
        let (Numbers { first, per_cell, .. }, (chunk, _)) = (self.numbers, boxes.0[which]);
        let Some(StridedBox { offset, extents, strides }) = self.view(which, boxes.0[which]) else { return Ok(None) };
        let strides = Index::from_fn(strides.axes(), |axis| strides[axis] * per_cell as i64);
        let view = StridedBox { offset: offset * per_cell as u64 + (first + component) as u64, extents, strides };
        Ok(self.cores[which].lease(chunk)?.map(|lease| (lease, view)))
    }

    /// Format of the numbers for kernels; `None` if the host does the reduction: for 64-bit types,
    /// and on a software adapter with mapped memory.
    pub(crate) fn format(&self) -> Option<Format> {
        S::FORMAT.filter(|_| !self.cores[0].device().is_host())
    }

    /// Runs a kernel over one component.
    pub(crate) fn fold(
        &self,
        format: Format,
        (work, constants): (&Work, &[u32]),
        component: usize,
        each: &mut dyn FnMut(&[u32]),
    ) -> Result<()> {
        let (name, source) = kernel(work, &S::INFO, format);
        self.fold_with_kernel((&name, &source), (work, constants), component, each)
    }

    /// Runs a kernel with this name and text over one component.
    pub(crate) fn fold_with_kernel(
        &self,
        (name, source): (&str, &dyn Fn() -> WgslComposer),
        (work, constants): (&Work, &[u32]),
        component: usize,
        each: &mut dyn FnMut(&[u32]),
    ) -> Result<()> {
        let mut held = Vec::with_capacity(self.aligned.len());
        for boxes in &self.aligned {
            let second = if N > 1 { self.component(1, boxes, component)? } else { None };
            if let Some(first) = self.component(0, boxes, component)? {
                held.push((first, second));
            }
        }
        fn box_of((buffer, view): &(Lease, StridedBox)) -> BufferBox<'_> {
            BufferBox { buffer, view: *view }
        }
        let pairs: Vec<_> = held.iter().map(|(first, second)| (box_of(first), second.as_ref().map(box_of))).collect();
        let kernel = ReductionKernel { name, source, words: work.words, constants };
        Ok(self.cores[0].device().reduce_boxes(&kernel, S::INFO.bytes, &pairs, each)?)
    }
}

/// Runs a reduction as a collective; `f` reduces this rank's cells and communicates. All ranks
/// return the same error for invalid global sections before any message. `argument` is a
/// fingerprint of the other arguments that must be equal on all ranks.
pub(super) fn collective<T: Reducible, const D: usize, const N: usize, R>(
    world: &World,
    verb: &'static str,
    sections: &[Section<T, D>; N],
    argument: u64,
    f: impl FnOnce(&LocalOperand<T::Scalar, N>) -> Result<R>,
) -> Result<R> {
    world.check_not_failed()?;
    let operand = LocalOperand::new(verb, sections);
    let global = sections.iter().all(|section| matches!(section, Section::Global(_)));
    let named: Vec<_> = match &operand {
        Err(error) if global => return Err(error.clone()),
        _ if global => sections.iter().filter_map(named).collect(),
        _ => Vec::new(),
    };
    let call = Collective::new(verb).also_compare((T::INFO.name, argument));
    let call = if named.is_empty() {
        call.text_after("each rank's own section")
    } else {
        named.into_iter().fold(call, |call, (array, region)| call.array(array, Some(region)))
    };
    world.collective(call.clone(), call.signature(), || f(&operand?))
}

fn named<T: Element, const D: usize>(section: &Section<T, D>) -> Option<(ArrayIdentity, Region)> {
    match section {
        Section::Global(global) => Some((ArrayIdentity::from_core(&global.core), global.region().ok()?)),
        Section::Local(_) => None,
    }
}
