//! Stable radix sorts on one rank.

mod buckets;
mod kernels;
mod over_ranks;
mod room;

pub(super) use self::buckets::{group_by_kernels, group_on_host};
pub(super) use self::room::{GroupedKeys, SortRoom};
pub use super::sort_key::SortKey;

use zippy::World;
use zippy::array::IntoSequence;
use zippy::collective::{CellSequence, CollectiveWorld, align_parts};
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};

use super::backend::HasBackend;
use super::host_pairs::{self, BytePairs, lend_pairs};
use super::merge::merge;
use super::on_rank::OnRank;
use super::sort_key::KeyOrder;

impl OnRank<'_> {
    /// Sorts cells. Local; stable.
    ///
    /// On a software adapter that maps chunks, the host sorts all chunks at once, with this rank's
    /// share of the cores. On other adapters, the call waits for the device once per chunk to find
    /// the bits in which keys differ, and queues the rest: one pass over the cells per 8 of these
    /// bits.
    ///
    /// Memory: the size of the cells once more. In addition, on the host 16 bytes per value of more
    /// than 16 bytes; on other adapters counts (a sixteenth of keys of one word, a 128th for many
    /// millions of keys) and, for cells in several chunks, 4 bytes per key of the largest chunk.
    ///
    /// # Errors
    /// * An invalid section, or a cell that is in the sequence twice (on the host).
    /// * Too little memory.
    /// * More than 4,294,967,295 cells in several chunks, with kernels.
    /// * A device failure.
    ///
    /// ```
    /// # use zippy::{Layout, World};
    /// # use zippy_primitives::Primitives;
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
        let _operation = self.world().enter_operation("sort");
        sort(self.world(), K::ORDER, keys.into().cells()?, None)
    }

    /// Sorts pairs of keys and values by their keys; pairs with equal keys keep their order. Local,
    /// as [`sort`](Self::sort).
    ///
    /// # Errors
    /// As [`sort`](Self::sort), different lengths, and keys and values with common cells.
    #[track_caller]
    pub fn sort_pairs<K: SortKey, V: Element>(
        &self,
        keys: impl IntoSequence<K>,
        values: impl IntoSequence<V>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("sort_pairs");
        let (keys, values) = (keys.into(), values.into());
        let (keys, values) = (keys.cells()?, values.cells()?);
        keys.check_length(values, "the sequence of values")?;
        check_apart(keys, values)?;
        sort(self.world(), K::ORDER, keys, Some(values))
    }
}

/// Fails if keys and values have common cells.
pub(super) fn check_apart(keys: &CellSequence, values: &CellSequence) -> Result<()> {
    if !keys.overlaps(values) {
        return Ok(());
    }
    let text = format!("keys ({}) and values ({}) have cells in common", keys.label(), values.label());
    Err(ArrayError::Other(text).into())
}

pub(super) fn sort(world: &World, order: KeyOrder, keys: &CellSequence, values: Option<&CellSequence>) -> Result<()> {
    sort_in(world, order, keys, values, None)
}

/// Sorts keys with optional values, in the temporary memory `room` if present.
fn sort_in(
    world: &World,
    order: KeyOrder,
    keys: &CellSequence,
    values: Option<&CellSequence>,
    room: Option<&SortRoom>,
) -> Result<()> {
    world.backend().check_cells(keys)?;
    world.backend().sort(world, order, keys, values, room)
}

/// Sorts the keys of each chunk by kernels, and merges the sorted chunks.
pub(super) fn sort_by_kernels(
    world: &World,
    order: KeyOrder,
    keys: &CellSequence,
    values: Option<&CellSequence>,
    room: Option<&SortRoom>,
) -> Result<()> {
    let all: Vec<&CellSequence> = std::iter::once(keys).chain(values).collect();
    let mut runs = Vec::new();
    for piece in align_parts(&all) {
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

/// Sorts the keys of all chunks at once on the host.
pub(super) fn sort_on_host(
    world: &World,
    order: KeyOrder,
    keys: &CellSequence,
    values: Option<&CellSequence>,
    room: Option<&SortRoom>,
) -> Result<()> {
    let (device, pairs) = (world.gpu(), (keys, values));
    let threads = device.host_threads();
    // If the cells could not be lent, nothing is written.
    let were_written = || std::iter::once(keys).chain(values).for_each(|cells| cells.were_written(0..cells.len()));
    if let Some(room) = room {
        let room = room.first(keys.len());
        let lists = [pairs, (&room.keys, room.values.as_ref())];
        return lend_pairs(world, lists, |[pairs, room]| host_pairs::sort(threads, order, pairs, room))
            .map(|()| were_written());
    }
    let size = values.map_or(0, |values| values.element().bytes);
    let rooms = [keys.element().bytes, size].map(|bytes| bytes * keys.len() as usize);
    device.check_memory_limits((rooms[0] + rooms[1]) as u64, "room for a sort")?;
    let mut sorted = Ok(());
    // Host memory needs no zeros.
    device.payload(rooms[0] + rooms[1], |room| {
        let (keys_room, values_room) = room.split_at_mut(rooms[0]);
        let room = BytePairs { keys: vec![keys_room], values: vec![values_room], size };
        sorted = lend_pairs(world, [pairs], |[pairs]| host_pairs::sort(threads, order, pairs, room));
    })?;
    sorted.map(|()| were_written())
}
