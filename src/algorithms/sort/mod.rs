//! Sorts: stable, by radix, over what one rank holds.

mod buckets;
mod host;
mod kernels;
mod key;
mod lent;
mod over_ranks;
mod splitters;

pub(super) use self::host::merge as merge_lent;
pub use self::key::SortKey;
pub(super) use self::key::{KeyOrder, check_cells};
pub(super) use self::lent::lend_pairs;
pub(super) use self::splitters::splitters;

use self::host::BytePairs;
use super::merge::merge;
use super::on_rank::OnRank;
use crate::World;
use crate::array::{Cells, IntoSequence, stretches};
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};

impl OnRank<'_> {
    /// Sorts cells. Local; stable. The host does it on a software adapter that maps chunks, by this
    /// rank's share of the cores and over all chunks at once. Elsewhere it waits for the device
    /// once for each chunk, to see in which bits keys differ, and queues the rest: a pass over the
    /// cells for each 8 of these bits.
    ///
    /// Needs memory for the cells once more, on the host also for 16 bytes for each value of more
    /// than 16 bytes, and elsewhere for counts (a sixteenth of keys of one word, with many millions
    /// of keys a 128th) and, where cells are in several chunks, for 4 bytes for each key of the
    /// largest.
    ///
    /// # Errors
    /// A bad section, a cell that is in the sequence twice (by the host), too little memory, more
    /// than 4,294,967,295 cells in several chunks by kernels, a failing device.
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

/// Memory for as many keys and values as are sorted.
struct SortRoom {
    keys: Cells,
    values: Option<Cells>,
}

impl SortRoom {
    fn new(world: &World, keys: &Cells, values: Option<&Cells>) -> Result<Self> {
        let room = |cells: &Cells| Cells::scratch(&world.home(), "room for a sort", cells.element(), cells.len());
        Ok(Self { keys: room(keys)?, values: values.map(room).transpose()? })
    }

    /// Room for the first cells.
    fn first(&self, cells: u64) -> Self {
        let first = |all: &Cells| all.only(0..cells);
        Self { keys: first(&self.keys), values: self.values.as_ref().map(first) }
    }

    fn is_one_chunk(&self) -> bool {
        std::iter::once(&self.keys).chain(&self.values).all(|cells| cells.parts().len() == 1)
    }
}

/// Sorts in room that exists, where there is some.
fn sort_in(
    world: &World,
    order: KeyOrder,
    keys: &Cells,
    values: Option<&Cells>,
    room: Option<&SortRoom>,
) -> Result<()> {
    check_cells(world, keys)?;
    if world.gpu().is_host() {
        return sort_on_host(world, order, keys, values, room);
    }
    let all: Vec<&Cells> = std::iter::once(keys).chain(values).collect();
    let mut runs = Vec::new();
    for piece in stretches(&all) {
        let cells = piece.first..piece.first + piece.cells();
        runs.push((keys.only(cells.clone()), values.map(|values| values.only(cells))));
    }
    for (keys, values) in &runs {
        let free = room.map(|room| room.first(keys.len())).filter(SortRoom::is_one_chunk);
        let free = free.map_or_else(|| SortRoom::new(world, keys, values.as_ref()), Ok)?;
        kernels::sort(world, order, [keys, &free.keys], values.as_ref().zip(free.values.as_ref()))?;
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

/// Sorts by the host: all chunks at once.
fn sort_on_host(
    world: &World,
    order: KeyOrder,
    keys: &Cells,
    values: Option<&Cells>,
    room: Option<&SortRoom>,
) -> Result<()> {
    let (device, pairs) = (world.gpu(), (keys, values));
    let threads = device.host_threads();
    // Cells that could not be lent are not written.
    let were_written = || std::iter::once(keys).chain(values).for_each(|cells| cells.were_written(0..cells.len()));
    if let Some(room) = room {
        let room = room.first(keys.len());
        let lists = [pairs, (&room.keys, room.values.as_ref())];
        return lend_pairs(world, lists, |[pairs, room]| host::sort(threads, order, pairs, room))
            .map(|()| were_written());
    }
    let size = values.map_or(0, |values| values.element().bytes);
    let rooms = [keys.element().bytes, size].map(|bytes| bytes * keys.len() as usize);
    device.check_room((rooms[0] + rooms[1]) as u64, "room for a sort")?;
    let mut sorted = Ok(());
    // Memory of the host's needs no zeros.
    device.payload(rooms[0] + rooms[1], |room| {
        let (keys_room, values_room) = room.split_at_mut(rooms[0]);
        let room = BytePairs { keys: vec![keys_room], values: vec![values_room], size };
        sorted = lend_pairs(world, [pairs], |[pairs]| host::sort(threads, order, pairs, room));
    })?;
    sorted.map(|()| were_written())
}
