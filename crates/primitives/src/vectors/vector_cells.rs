//! [`VectorCells`]: a vector without its static element type.

use std::rc::Rc;

use zippy::World;
use zippy::array::ArrayCore;
use zippy::collective::CellSequence;
use zippy::element::Element;
use zippy::error::{ArrayError, Result};
use zippy::region::Region;

use super::spans::{Fitted, Span, fitted, local_cells, spans};
use super::vector::Vector;

/// Vector without its static element type. The methods are those of [`Vector`], [`spans`] and
/// [`fitted`].
pub(crate) trait VectorCells {
    fn cells(&self) -> Result<u64>;
    fn label(&self) -> Result<String>;
    fn named(&self) -> Result<(Rc<ArrayCore>, Region)>;
    fn spans(&self) -> Result<Vec<Span>>;
    fn fitted(&self, world: &World, name: &str, wanted: &[Span], filled: bool) -> Result<Box<dyn FittedCells>>;
}

/// [`Fitted`] vector without its static element type.
pub(crate) trait FittedCells {
    fn vector(&self) -> Rc<dyn VectorCells>;
    fn local_cells(&self) -> Result<CellSequence>;
    fn local_cells_by_span(&self) -> Result<Vec<(usize, CellSequence)>>;
    fn copy_back(self: Box<Self>, world: &World) -> Result<()>;
}

impl<T: Element> VectorCells for Vector<T> {
    fn cells(&self) -> Result<u64> {
        self.cells()
    }

    fn label(&self) -> Result<String> {
        self.label()
    }

    fn named(&self) -> Result<(Rc<ArrayCore>, Region)> {
        self.named()
    }

    fn spans(&self) -> Result<Vec<Span>> {
        spans(self)
    }

    fn fitted(&self, world: &World, name: &str, wanted: &[Span], filled: bool) -> Result<Box<dyn FittedCells>> {
        Ok(Box::new(fitted(world, name, self, wanted, filled)?))
    }
}

impl<T: Element> FittedCells for Fitted<T> {
    fn vector(&self) -> Rc<dyn VectorCells> {
        Rc::new(self.vector.clone())
    }

    fn local_cells(&self) -> Result<CellSequence> {
        local_cells(&self.vector)
    }

    fn local_cells_by_span(&self) -> Result<Vec<(usize, CellSequence)>> {
        self.local_cells_by_span()
    }

    fn copy_back(self: Box<Self>, world: &World) -> Result<()> {
        (*self).copy_back(world)
    }
}

/// Fails if the lengths differ; `what` is the role of the other vector in the error message.
pub(crate) fn check_lengths(of: &dyn VectorCells, other: &dyn VectorCells, what: &str) -> Result<()> {
    let (expected, given) = (of.cells()?, other.cells()?);
    if expected == given {
        return Ok(());
    }
    let (of, label) = (of.label()?, other.label()?);
    Err(ArrayError::Other(format!("{what} has {given} cells ({label}), but {of} has {expected}")).into())
}

impl<T: Element> Vector<T> {
    /// Fails if the length of another vector differs; see [`check_lengths`].
    pub(crate) fn check_length<U: Element>(&self, other: &Vector<U>, what: &str) -> Result<()> {
        check_lengths(self, other, what)
    }
}
