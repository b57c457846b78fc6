//! Locality, asked of handles: who holds what, and the way between global and local coordinates. All of it is local.

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
    /// Cuts and owners together, the same on every rank: all that plans know of the array.
    pub fn placement(&self) -> &Placement {
        self.core().placement()
    }

    /// What a rank holds: its chunks in slot order, with the cells that each owns (possibly none). Local.
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

    /// Global → local: which chunk owns a cell, whose that is, and the cell as the chunk counts; `None` outside the shape.
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

    /// Local → global: the cell of the array that `cell` of the chunk in this place is. A ghost cell of a periodic axis
    /// gives the cell that it stands for. `None` when there is no such chunk, it does not store the cell, or the cell is a
    /// ghost beyond an axis that is not periodic. Local.
    pub fn to_global(&self, owner: Owner, cell: [i64; D]) -> Option<[i64; D]> {
        self.placement().to_global(owner, &Index::from(cell)).as_ref().map(to_array)
    }
}

impl<T: Element, const D: usize> GlobalSection<T, D> {
    /// Who holds it: every chunk with cells of the section, the part that it holds in global coordinates, and its owner;
    /// ascending chunk numbers. Local; costs what it finds.
    ///
    /// # Errors
    /// The mistake made when the section was named.
    #[track_caller]
    pub fn holders(&self) -> Result<Vec<Holder>> {
        let _call = CallSite::enter();
        Ok(self.core.placement().holders(&self.region()?))
    }
}
