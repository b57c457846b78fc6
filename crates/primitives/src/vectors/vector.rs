//! [`Vector`]: a 1-D global array, or a section of one.

use std::rc::Rc;

use zippy::array::{ArrayCore, GlobalArray, GlobalSection};
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::region::Region;

/// Distributed vector: a 1-D global array, or a section of one.
#[derive(Debug, Clone)]
pub struct Vector<T>(GlobalSection<T, 1>);

/// Argument that is read as a [`Vector`]: a 1-D global array, or a section of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a vector",
    label = "not a 1-D global array or a section of one",
    note = "pass `&array` for all its cells, or a section such as `array.at(3..9)`; for cells of this rank alone there is \
            `world.on_rank()`"
)]
pub trait IntoVector<T>: Into<Vector<T>> {}

impl<T: Element> IntoVector<T> for GlobalSection<T, 1> {}

impl<T: Element> From<GlobalSection<T, 1>> for Vector<T> {
    fn from(section: GlobalSection<T, 1>) -> Self {
        Self(section)
    }
}

impl<T: Element> IntoVector<T> for &GlobalSection<T, 1> {}

impl<T: Element> From<&GlobalSection<T, 1>> for Vector<T> {
    fn from(section: &GlobalSection<T, 1>) -> Self {
        Self(section.clone())
    }
}

impl<T: Element> IntoVector<T> for Vector<T> {}

impl<T: Element> IntoVector<T> for &Vector<T> {}

impl<T: Element> From<&Vector<T>> for Vector<T> {
    fn from(vector: &Vector<T>) -> Self {
        vector.clone()
    }
}

impl<T: Element> IntoVector<T> for &GlobalArray<T, 1> {}

impl<T: Element> From<&GlobalArray<T, 1>> for Vector<T> {
    fn from(array: &GlobalArray<T, 1>) -> Self {
        Self(array.at(..))
    }
}

impl<T: Element> Vector<T> {
    /// Returns the vector as a section of its array.
    pub fn section(&self) -> &GlobalSection<T, 1> {
        &self.0
    }

    pub(crate) fn region(&self) -> Result<Region> {
        self.0.region()
    }

    /// Returns the number of cells.
    ///
    /// # Errors
    /// The selection of the section is invalid.
    #[track_caller]
    pub fn cells(&self) -> Result<u64> {
        let _call = CallSite::enter();
        Ok(self.region()?.cells())
    }

    /// Fails if indices of cells do not fit in 32 bits.
    pub(crate) fn check_numbers(&self) -> Result<()> {
        let (cells, most) = (self.cells()?, u64::from(u32::MAX));
        if cells <= most {
            return Ok(());
        }
        Err(ArrayError::Other(format!("{} has {cells} cells; at most {most} have numbers", self.label()?)).into())
    }

    /// Fails if keys and values, which both move, have common cells. Handles of one array with
    /// other orders of chunks are not detected.
    pub(crate) fn check_apart<V: Element>(&self, values: &Vector<V>) -> Result<()> {
        let (a, b) = (self.0.array(), values.0.array());
        let (a, b) = (a.core(), b.core());
        if !a.is_alias_of(b) || a.id() == b.id() && self.region()?.intersect(&values.region()?).is_none() {
            return Ok(());
        }
        let text = format!("keys ({}) and values ({}) may have cells in common", self.label()?, values.label()?);
        Err(ArrayError::Other(text).into())
    }

    /// Returns the array and the region of the vector, as the argument of a collective.
    pub(crate) fn named(&self) -> Result<(Rc<ArrayCore>, Region)> {
        Ok((self.0.array().core().clone(), self.region()?))
    }

    pub(crate) fn label(&self) -> Result<String> {
        Ok(self.0.array().core().label(&self.region()?))
    }
}
