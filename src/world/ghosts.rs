//! `World::ghosts` and `World::start_ghosts`, and validation of ghost updates.

use super::exchange::{Entry, Exchange, GhostUpdate};
use super::{Pending, World};
use crate::array::GlobalArray;
use crate::element::Element;
use crate::error::{CallSite, Result};
use crate::plan::Moved;
use crate::trace;

impl World {
    /// Updates the ghost cells of an array: faces, edges and corners. Collective; on return, the
    /// ghost cells of this rank are valid. Ghost cells past a boundary that is not periodic keep
    /// their values.
    ///
    /// Costs one message to each rank that owns a neighbouring chunk, independent of the number of
    /// ranks. An array without ghost cells is not changed; a warning is printed once per call site.
    ///
    /// # Errors
    /// A failure of this or another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let layout = Layout::new([8]).split([Split::Even(2)]).ghost([1]).periodic([true]);
    /// let ring = world.array::<i32, 1>("ring", &layout)?;
    /// ring.fill_with(|[x]| x as i32)?;
    /// world.ghosts(&ring)?;
    /// let expected = if world.rank() == 0 { [7, 0, 1, 2, 3, 4] } else { [3, 4, 5, 6, 7, 0] };
    /// assert_eq!(ring.local()?.with_ghosts().read()?, expected);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn ghosts<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<Moved> {
        let _call = CallSite::enter();
        self.exchange(Exchange::new().ghosts(array))
    }

    /// Starts an update of the ghost cells of an array. Collective.
    ///
    /// On return, the cells of the owners have been read. The ghost cells must not be accessed
    /// before `wait` returns. Compute the [`interior`](crate::array::ChunkRef::interior) meanwhile.
    ///
    /// # Errors
    /// A failure of this or another rank.
    #[track_caller]
    pub fn start_ghosts<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<Pending<'_>> {
        let _call = CallSite::enter();
        self.start(Exchange::new().ghosts(array))
    }
}

/// Finds the first two updates of the same array with ghost cells in the same direction, also
/// through different handles.
pub(super) fn find_duplicate<'a>(updates: &[&'a GhostUpdate]) -> Option<(&'a GhostUpdate, &'a GhostUpdate)> {
    let repeats = |first: &GhostUpdate, second: &GhostUpdate| {
        first.array.is_alias_of(&second.array)
            && first.spec.reverse == second.spec.reverse
            && first.array.chunks().has_ghosts()
    };
    let duplicate = |(index, &second): (usize, &&'a GhostUpdate)| {
        updates[..index].iter().find(|first| repeats(first, second)).map(|&first| (first, second))
    };
    updates.iter().enumerate().find_map(duplicate)
}

/// True if an array is updated in both directions.
pub(super) fn has_both_directions(updates: &[&GhostUpdate]) -> bool {
    let repeats = |(index, second): (usize, &&GhostUpdate)| {
        updates[..index].iter().any(|first| first.array.is_alias_of(&second.array))
    };
    updates.iter().enumerate().any(repeats)
}

/// Warns once per call site when a ghost update names an array without ghost cells.
pub(super) fn warn_without_ghost_cells(entries: &[Entry], call_site: CallSite) {
    let array = entries.iter().find_map(|entry| match entry {
        Entry::Ghosts(ghosts) => Some(&ghosts.array).filter(|array| !array.chunks().has_ghosts()),
        Entry::Pair(_) | Entry::Prefix(..) => None,
    });
    let Some(array) = array else { return };
    trace::warn_once(call_site, || {
        let name = array.name();
        format!(
            "the ghost update does nothing for array {name:?}, which has no ghost cells; give its layout some with \
             Layout::ghost"
        )
    });
}
