//! Sorts: stable, by radix, over what one rank holds.

mod buckets;
mod host;
mod kernels;
mod key;
mod over_ranks;
mod splitters;

pub use self::key::SortKey;
pub(super) use self::key::{KeyOrder, check_cells};
pub(super) use self::splitters::splitters;

use super::merge::merge;
use super::on_rank::OnRank;
use crate::World;
use crate::array::{Cells, IntoSequence, stretches};
use crate::device::Lease;
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};

impl OnRank<'_> {
    /// Sorts cells. Local; stable. The host does it on a software adapter that maps chunks. Elsewhere it waits for the device once
    /// for each chunk, to see in which bits keys differ, and queues the rest: a pass over the cells for each 8 of these bits.
    ///
    /// Needs memory for the cells once more, and elsewhere for counts (a sixteenth of keys of one word, with many millions of
    /// keys a 128th) and, where cells are in several chunks, for 4 bytes for each key of the largest.
    ///
    /// # Errors
    /// A bad section, too little memory, more than 4,294,967,295 cells in several chunks by kernels, a failing device.
    ///
    /// ```
    /// # use zippy::{Layout, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let keys = world.local_array::<f32, 1>("keys", &Layout::new([5]))?;
    /// keys.all().write(&[3.0, -1.0, 4.0, -0.0, 0.0])?;
    /// world.on_rank().sort(&keys)?;
    /// assert_eq!(format!("{:?}", keys.all().read()?), "[-1.0, -0.0, 0.0, 3.0, 4.0]");
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn sort<K: SortKey>(&self, keys: impl IntoSequence<K>) -> Result<()> {
        let _call = CallSite::enter();
        let _acting = self.world().acting("sort");
        sort(self.world(), K::ORDER, keys.into().cells()?, None)
    }

    /// Sorts pairs of keys and values by their keys; pairs with equal keys stay in their order. Local, as
    /// [`sort`](Self::sort).
    ///
    /// # Errors
    /// As [`sort`](Self::sort), lengths that differ, and keys and values that have cells in common.
    #[track_caller]
    pub fn sort_pairs<K: SortKey, V: Element>(
        &self,
        keys: impl IntoSequence<K>,
        values: impl IntoSequence<V>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _acting = self.world().acting("sort_pairs");
        let (keys, values) = (keys.into(), values.into());
        let (keys, values) = (keys.cells()?, values.cells()?);
        keys.check_length(values, "the sequence of values")?;
        check_apart(keys, values)?;
        sort(self.world(), K::ORDER, keys, Some(values))
    }
}

/// Keys and values move, and cannot both be in one cell.
pub(super) fn check_apart(keys: &Cells, values: &Cells) -> Result<()> {
    if !keys.overlaps(values) {
        return Ok(());
    }
    let text = format!("keys ({}) and values ({}) have cells in common", keys.label(), values.label());
    Err(ArrayError::Other(text).into())
}

pub(super) fn sort(world: &World, order: KeyOrder, keys: &Cells, values: Option<&Cells>) -> Result<()> {
    sort_in(world, order, keys, values, None)
}

/// Memory beside keys and values for as many of both.
struct SortRoom {
    keys: Cells,
    values: Option<Cells>,
}

impl SortRoom {
    fn new(world: &World, keys: &Cells, values: Option<&Cells>) -> Result<Self> {
        let room = |cells: &Cells| Cells::scratch(&world.home(), "room for a sort", cells.element(), cells.len());
        Ok(Self { keys: room(keys)?, values: values.map(room).transpose()? })
    }

    /// Room for the first cells, where that is one buffer each.
    fn first(&self, cells: u64) -> Option<Self> {
        let first = |all: &Cells| Some(all.only(0..cells)).filter(|first| first.parts().len() == 1);
        let values = self.values.as_ref().map(first);
        Some(Self { keys: first(&self.keys)?, values: values.map_or(Some(None), |first| first.map(Some))? })
    }
}

/// A sort with room that is there already, where there is some.
fn sort_in(
    world: &World,
    order: KeyOrder,
    keys: &Cells,
    values: Option<&Cells>,
    room: Option<&SortRoom>,
) -> Result<()> {
    check_cells(world, keys)?;
    let all: Vec<&Cells> = std::iter::once(keys).chain(values).collect();
    let mut runs = Vec::new();
    for piece in stretches(&all) {
        let cells = piece.first..piece.first + piece.cells();
        runs.push((keys.only(cells.clone()), values.map(|values| values.only(cells))));
    }
    for (keys, values) in &runs {
        sort_run(world, order, keys, values.as_ref(), room.and_then(|room| room.first(keys.len())))?;
    }
    if runs.len() < 2 {
        return Ok(());
    }
    let made;
    let room = match room {
        Some(room) => room,
        None => {
            made = SortRoom::new(world, keys, values)?;
            &made
        }
    };
    merge(world, order, &runs, &room.keys, room.values.as_ref())?;
    room.keys.copy_to(keys)?;
    room.values.as_ref().zip(values).map_or(Ok(()), |(from, to)| from.copy_to(to))
}

/// Sorts cells of one chunk, with values of one chunk.
fn sort_run(
    world: &World,
    order: KeyOrder,
    keys: &Cells,
    values: Option<&Cells>,
    room: Option<SortRoom>,
) -> Result<()> {
    if !world.gpu().is_host() {
        let room = room.map_or_else(|| SortRoom::new(world, keys, values), Ok)?;
        return kernels::sort(world, order, [keys, &room.keys], values.zip(room.values.as_ref()));
    }
    let mut sorted = Ok(());
    if let Some(room) = room {
        lent(world, &room.keys, room.values.as_ref(), |keys_room, values_room| {
            sorted = sort_lent(world, order, (keys, values), keys_room, values_room);
        })?;
        return sorted;
    }
    let size = values.map_or(0, |values| values.element().bytes);
    let rooms = [keys.element().bytes, size].map(|bytes| bytes * keys.len() as usize);
    world.gpu().check_room((rooms[0] + rooms[1]) as u64, "room for a sort")?;
    // Memory of the host's needs no zeros.
    world.gpu().payload(rooms[0] + rooms[1], |room| {
        let (keys_room, values_room) = room.split_at_mut(rooms[0]);
        sorted = sort_lent(world, order, (keys, values), keys_room, values_room);
    })?;
    sorted
}

/// Sorts by the host, in this room.
fn sort_lent(
    world: &World,
    order: KeyOrder,
    (keys, values): (&Cells, Option<&Cells>),
    keys_room: &mut [u8],
    values_room: &mut [u8],
) -> Result<()> {
    let size = values.map_or(0, |values| values.element().bytes);
    lent(world, keys, values, |keys, values| {
        host::sort(order, [keys, keys_room], [values, values_room], size);
    })
}

/// Lends the host cells of one chunk, and values of one chunk, where there are any.
fn lent(world: &World, keys: &Cells, values: Option<&Cells>, mut f: impl FnMut(&mut [u8], &mut [u8])) -> Result<()> {
    let device = world.gpu();
    [Some(keys), values].into_iter().flatten().for_each(|cells| cells.were_written(0..cells.len()));
    let (keys, values) = (lease(keys)?, values.map(lease).transpose()?);
    match values {
        None => device.lend([&keys.0], |[all]| f(&mut all[keys.1], &mut []))?,
        Some(values) if values.0.same_as(&keys.0) => device.lend([&keys.0], |[all]| {
            let [keys, values] = all.get_disjoint_mut([keys.1, values.1]).expect("checked to be apart");
            f(keys, values);
        })?,
        Some(values) => device.lend([&keys.0, &values.0], |[a, b]| f(&mut a[keys.1], &mut b[values.1]))?,
    }
    Ok(())
}

/// The memory of cells of one chunk, and their bytes in it.
fn lease(cells: &Cells) -> Result<(Lease, std::ops::Range<usize>)> {
    let part = &cells.parts()[0];
    let lease = part.core.lease(part.chunk)?.expect("a part has cells");
    let view = part.core.strided(part.chunk, &part.region);
    let size = cells.element().bytes;
    let begin = view.offset as usize * size;
    Ok((lease, begin..begin + cells.len() as usize * size))
}
