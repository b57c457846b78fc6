//! Ghost updates: what is wrong with them, and the short forms.

use super::exchange::{Entry, Exchange, Ghosts};
use super::{Moved, Pending, World};
use crate::array::GlobalArray;
use crate::element::Element;
use crate::error::{CallSite, Result};
use crate::trace;

impl World {
    /// Brings the ghost cells of an array up to date: faces, edges and corners. Collective; on return this rank's ghost
    /// cells are valid. Those beyond an end that is not periodic keep what they have.
    ///
    /// Costs one message to each rank that owns a neighbouring chunk, whatever the number of ranks. An array that has no
    /// ghost cells is left as it is; people are warned of that, once for each place in the program.
    ///
    /// # Errors
    /// A failure of this or of another rank.
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

    /// Starts bringing the ghost cells of an array up to date: on return the owners' cells have been read; the ghost
    /// cells must not be touched before `wait`. Compute the [`interior`](crate::array::ChunkRef::interior) meanwhile.
    /// Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn start_ghosts<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<Pending<'_>> {
        let _call = CallSite::enter();
        self.start(Exchange::new().ghosts(array))
    }
}

/// Two updates of one array with ghost cells the same way, be it by two handles.
pub(super) fn named_twice<'a>(all: &[&'a Ghosts]) -> Option<(&'a Ghosts, &'a Ghosts)> {
    let twice = |one: &Ghosts, other: &Ghosts| {
        one.array.is_alias_of(&other.array) && one.spec.reverse == other.spec.reverse && one.array.chunks().has_ghosts()
    };
    let again = |(place, &again): (usize, &&'a Ghosts)| {
        all[..place].iter().find(|first| twice(first, again)).map(|&first| (first, again))
    };
    all.iter().enumerate().find_map(again)
}

/// Whether some array is updated one way and the other.
pub(super) fn named_both_ways(all: &[&Ghosts]) -> bool {
    let again = |(place, one): (usize, &&Ghosts)| all[..place].iter().any(|first| first.array.is_alias_of(&one.array));
    all.iter().enumerate().any(again)
}

/// Tells people of arrays in a ghost update that have no ghost cells, once for each place in the program.
pub(super) fn warn_of_none(entries: &[Entry], at: CallSite) {
    let array = entries.iter().find_map(|entry| match entry {
        Entry::Ghosts(ghosts) => Some(&ghosts.array).filter(|array| !array.chunks().has_ghosts()),
        Entry::Pair(_) | Entry::Prefix(..) => None,
    });
    let Some(array) = array else { return };
    trace::warn_once(at, || {
        let name = array.name();
        format!(
            "the ghost update does nothing for array {name:?}, which has no ghost cells; give its layout some with \
             Layout::ghost"
        )
    });
}
