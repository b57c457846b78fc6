//! [`Sequence`]: a 1-D sequence of cells of this rank.

mod buffers;
mod cell_sequence;
mod lending;
mod lent;
mod sequence_part;

pub use self::cell_sequence::{AlignedParts, CellSequence, align_parts};
pub use self::lending::{Lending, LentRange};
pub use self::lent::{LentCells, lend_slices};
pub use self::sequence_part::SequencePart;

use std::marker::PhantomData;

use super::{Growable, LocalArray, LocalSection};
use crate::element::Element;
use crate::error::{CallSite, Result};

/// Cells of this rank in a linear order: a section of a 1-D array, or several sections, possibly of
/// several chunks, one after another.
///
/// Converted from a section, a slice or a vector of sections, or a reference to a local or growable
/// array.
#[derive(Debug, Clone)]
pub struct Sequence<T> {
    cells: Result<CellSequence>,
    element: PhantomData<T>,
}

/// Argument that is converted to a [`Sequence`] of cells of this rank.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sequence of cells of this rank",
    label = "not cells of this rank alone",
    note = "pass a 1-D section of a local array or of a chunk, a slice or a vector of such sections, or a whole local or \
            growable array by reference; for global arrays there is `world.vectors()` of `zippy_primitives`"
)]
pub trait IntoSequence<T>: Into<Sequence<T>> {}

impl<T: Element> Sequence<T> {
    fn concatenate<'s>(sections: impl IntoIterator<Item = &'s LocalSection<T, 1>>) -> Self
    where
        T: 's,
    {
        let mut cells = CellSequence::empty(&T::INFO);
        let mut add = |section: &LocalSection<T, 1>| {
            let region = section.one_box("a sequence")?;
            region.check_within(&section.core().chunks().storage(section.chunk()), "the chunk")?;
            cells.push(section.core(), section.chunk(), region)
        };
        let added = sections.into_iter().try_for_each(&mut add);
        Self { cells: added.map(|()| cells), element: PhantomData }
    }

    /// Adds the static element type to a sequence without one.
    ///
    /// # Panics
    /// The cells have another element type.
    pub fn from_cells(cells: CellSequence) -> Self {
        assert_eq!(cells.element().name, T::INFO.name, "the element types of both sequences must be equal");
        Self { cells: Ok(cells), element: PhantomData }
    }

    /// Sequence without its static element type, or the error of an invalid selection.
    ///
    /// # Errors
    /// An invalid selection of a section.
    #[track_caller]
    pub fn cells(&self) -> Result<&CellSequence> {
        let _call = CallSite::enter();
        self.cells.as_ref().map_err(Clone::clone)
    }
}

impl<T: Element> IntoSequence<T> for LocalSection<T, 1> {}

impl<T: Element> From<LocalSection<T, 1>> for Sequence<T> {
    fn from(section: LocalSection<T, 1>) -> Self {
        Self::concatenate([&section])
    }
}

impl<T: Element> IntoSequence<T> for &LocalSection<T, 1> {}

impl<T: Element> From<&LocalSection<T, 1>> for Sequence<T> {
    fn from(section: &LocalSection<T, 1>) -> Self {
        Self::concatenate([section])
    }
}

impl<T: Element> IntoSequence<T> for &[LocalSection<T, 1>] {}

impl<T: Element> From<&[LocalSection<T, 1>]> for Sequence<T> {
    fn from(sections: &[LocalSection<T, 1>]) -> Self {
        Self::concatenate(sections)
    }
}

impl<T: Element> IntoSequence<T> for &Vec<LocalSection<T, 1>> {}

impl<T: Element> From<&Vec<LocalSection<T, 1>>> for Sequence<T> {
    fn from(sections: &Vec<LocalSection<T, 1>>) -> Self {
        Self::concatenate(sections)
    }
}

impl<T: Element> IntoSequence<T> for Vec<LocalSection<T, 1>> {}

impl<T: Element> From<Vec<LocalSection<T, 1>>> for Sequence<T> {
    fn from(sections: Vec<LocalSection<T, 1>>) -> Self {
        Self::concatenate(&sections)
    }
}

impl<T: Element> IntoSequence<T> for &LocalArray<T, 1> {}

impl<T: Element> From<&LocalArray<T, 1>> for Sequence<T> {
    fn from(array: &LocalArray<T, 1>) -> Self {
        Self::concatenate([&array.all()])
    }
}

impl<T: Element> IntoSequence<T> for &Growable<T> {}

impl<T: Element> From<&Growable<T>> for Sequence<T> {
    fn from(array: &Growable<T>) -> Self {
        Self::concatenate([&array.all()])
    }
}

impl<T: Element> IntoSequence<T> for Sequence<T> {}

impl<T: Element> IntoSequence<T> for &Sequence<T> {}

impl<T: Element> From<&Sequence<T>> for Sequence<T> {
    fn from(sequence: &Sequence<T>) -> Self {
        sequence.clone()
    }
}
