//! Locality queries of array handles: owners of cells, and conversion between global and local
//! coordinates. All queries are local.

use super::global::{GlobalArray, GlobalSection};
use super::select::to_array;
use crate::chunks::ChunkId;
use crate::element::Element;
use crate::error::{CallSite, Result};
use crate::extents::Index;
use crate::locate::{Holder, LocalCell, Placement};
use crate::ownership::Owner;
use crate::region::Region;

impl<T: Element, const D: usize> GlobalArray<T, D> {
    /// Cuts and owners of the array, the same on every rank. Plans need no other information about
    /// the array.
    pub fn placement(&self) -> &Placement {
        self.core().placement()
    }

    /// Chunks of a rank in slot order, each with its owned cells (possibly none). Local.
    ///
    /// ```
    /// # fn program(world: &zippy::World) -> zippy::Result<()> {
    /// let array = world.array::<f32, 2>("array", &zippy::Layout::new([6, 4]))?;
    /// let cells: u64 = (0..world.size()).flat_map(|rank| array.held_by(rank)).map(|(_, cells)| cells.cells()).sum();
    /// assert_eq!(cells, 24);
    /// # Ok(()) }
    /// # zippy::run(program).unwrap();
    /// ```
    pub fn held_by(&self, rank: usize) -> impl ExactSizeIterator<Item = (ChunkId, Region)> + use<'_, T, D> {
        self.placement().held_by(rank)
    }

    /// Converts a global cell to its chunk, owner and chunk coordinates; `None` outside the shape.
    /// Local.
    ///
    /// ```
    /// # use zippy::{Layout, Split};
    /// # fn program(world: &zippy::World) -> zippy::Result<()> {
    /// let layout = Layout::new([6]).split([Split::Even(2)]).ghost([1]);
    /// let array = world.array::<f32, 1>("array", &layout)?;
    /// let local = array.to_local([4]).unwrap();
    /// assert_eq!((local.chunk, local.cell[0]), (1, 1));
    /// assert_eq!(array.to_global(local.owner, [1]), Some([4]));
    /// assert_eq!(array.to_global(local.owner, [-1]), Some([2]), "a ghost cell");
    /// assert_eq!(array.to_local([6]), None);
    /// # Ok(()) }
    /// # zippy::run(program).unwrap();
    /// ```
    pub fn to_local(&self, cell: [i64; D]) -> Option<LocalCell> {
        self.placement().to_local(&Index::from(cell))
    }

    /// Converts `cell` of the chunk at `owner` to global coordinates. Local.
    ///
    /// A ghost cell of a periodic axis gives the cell that it copies. The result is `None` if
    ///
    /// * the chunk does not exist,
    /// * the chunk does not store the cell, or
    /// * the cell is a ghost cell outside an axis that is not periodic.
    pub fn to_global(&self, owner: Owner, cell: [i64; D]) -> Option<[i64; D]> {
        self.placement().to_global(owner, &Index::from(cell)).as_ref().map(to_array)
    }
}

impl<T: Element, const D: usize> GlobalSection<T, D> {
    /// Chunks with cells of the section, each with its owner and its part of the section in global
    /// coordinates, in ascending order of chunks. Local; the cost is proportional to the result.
    ///
    /// # Errors
    /// The selection of the section is invalid.
    #[track_caller]
    pub fn holders(&self) -> Result<Vec<Holder>> {
        let _call = CallSite::enter();
        Ok(self.core.placement().holders(&self.region()?))
    }
}
