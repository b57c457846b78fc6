//! [`Vectors`]: data-parallel primitives over 1-D global arrays.

mod arrange;
mod cut;

pub(super) use self::cut::{Fitted, Span, array, fitted, in_blocks, in_order_of_ranks, own_cells, spans};

use crate::World;
use crate::array::{GlobalArray, GlobalSection};
use crate::element::Element;
use crate::error::{ArrayError, Result};
use crate::region::Region;
use crate::world::{Collective, Named};

/// Data-parallel primitives over distributed vectors, which are 1-D global arrays of any cut and any owners, or sections of
/// them. From [`World::vectors`].
///
/// All are collective: every rank names the same vectors. Results have the same bits for every number of ranks and every
/// cut.
#[derive(Clone, Copy)]
pub struct Vectors<'w> {
    world: &'w World,
}

/// A distributed vector: a 1-D global array, or a section of one.
#[derive(Debug, Clone)]
pub struct Vector<T>(GlobalSection<T, 1>);

impl<T: Element> From<GlobalSection<T, 1>> for Vector<T> {
    fn from(section: GlobalSection<T, 1>) -> Self {
        Self(section)
    }
}

impl<T: Element> From<&GlobalSection<T, 1>> for Vector<T> {
    fn from(section: &GlobalSection<T, 1>) -> Self {
        Self(section.clone())
    }
}

impl<T: Element> From<&Vector<T>> for Vector<T> {
    fn from(vector: &Vector<T>) -> Self {
        vector.clone()
    }
}

impl<T: Element> From<&GlobalArray<T, 1>> for Vector<T> {
    fn from(array: &GlobalArray<T, 1>) -> Self {
        Self(array.at(..))
    }
}

impl<T: Element> Vector<T> {
    /// The section.
    pub fn section(&self) -> &GlobalSection<T, 1> {
        &self.0
    }

    pub(super) fn region(&self) -> Result<Region> {
        self.0.region()
    }

    /// How many cells it has.
    ///
    /// # Errors
    /// The mistake made when the section was named.
    pub fn cells(&self) -> Result<u64> {
        Ok(self.region()?.cells())
    }

    /// That both have as many cells, `what` being the role of the other.
    pub(super) fn check_length<U: Element>(&self, other: &Vector<U>, what: &str) -> Result<()> {
        let (expected, given) = (self.cells()?, other.cells()?);
        if expected == given {
            return Ok(());
        }
        let (of, label) = (self.label()?, other.label()?);
        Err(ArrayError::Other(format!("{what} has {given} cells ({label}), but {of} has {expected}")).into())
    }

    pub(super) fn named(&self) -> Result<(Named, Option<Region>)> {
        Ok((Named::of(&self.0.core), Some(self.region()?)))
    }

    pub(super) fn label(&self) -> Result<String> {
        Ok(self.0.core.label(&self.region()?))
    }
}

impl World {
    /// Data-parallel primitives over distributed vectors: scans, sorts and the like. Local itself.
    pub fn vectors(&self) -> Vectors<'_> {
        Vectors { world: self }
    }
}

impl<'w> Vectors<'w> {
    pub(super) fn world(&self) -> &'w World {
        self.world
    }

    /// Runs a primitive as a collective of its own name over these vectors. `argument` is what else must agree.
    pub(super) fn collective<R>(
        &self,
        verb: &'static str,
        vectors: Vec<(Named, Option<Region>)>,
        argument: impl std::hash::Hash,
        f: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let call = Collective::new(verb).with(argument);
        let call = vectors.into_iter().fold(call, |call, (array, region)| call.of(array, region));
        self.world.collective(call.clone(), call.signature(), f)
    }
}
