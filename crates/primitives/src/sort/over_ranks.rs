//! Sorts of distributed vectors: the ranks count keys to compute the destination of each key, send
//! every key once, and sort the received keys.
//!
//! Each key moves once. Sorting first and merging later would read and write each key once more.
//! Kernels sort before the move all the same: this brings together the keys of one rank without
//! another kind of pass. Of equal keys, splitters give those of lower ranks to the lower part; this
//! is why chunks must follow one another in the order of ranks.

use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld, Column, DeliveryTarget};
use zippy::element::Element;
use zippy::error::{CallSite, Result};
use zippy::world::Destinations;

use super::{SortRoom, sort_in};
use crate::backend::HasBackend;
use crate::sort_key::{KeyOrder, SortKey};
use crate::vectors::{IntoVector, Span, Vectors, fitted, local_cells, ordered, spans};

impl Vectors<'_> {
    /// Sorts the cells of a vector in place: its cuts and owners do not change. Collective.
    ///
    /// Keys are in the order of [`SortKey`]. However many keys are equal, every rank gets as many
    /// as its chunks hold.
    ///
    /// Cost: two passes over the keys to count them in bins, two all-reduces, another pass over the
    /// keys in bins that a rank boundary splits, messages between the ranks that exchange keys, one
    /// move of each key, and the local sorts: one on a software adapter, two with kernels. Needs
    /// memory for the keys once more, and for messages in flight (see [`World::deliver`]). If the
    /// chunks of the ranks are not in rank order, the vector is copied first.
    ///
    /// # Errors
    /// An invalid section, too little memory, a failure of any rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let x = world.array::<u32, 1>("x", &Layout::new([8]).split([Split::Auto]))?;
    /// x.fill_with(|[i]| [3, 1, 4, 1, 5, 9, 2, 6][i as usize])?;
    /// world.vectors().sort(&x)?;
    /// let ticket = world.get(x.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [1, 1, 2, 3, 4, 5, 6, 9]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    #[track_caller]
    pub fn sort<K: SortKey>(&self, keys: impl IntoVector<K>) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("sort");
        let (world, keys) = (self.world(), keys.into());
        self.collective("sort", vec![keys.named()?], (), || Ok(()))?;
        let wanted = ordered(world, &spans(&keys)?);
        let fitted_keys = fitted(world, "keys of a sort", &keys, &wanted, true)?;
        let local = world.failing("sort", || local_cells(&fitted_keys.vector))?;
        sorted(world, "sort", K::ORDER, &wanted, (&local, None))?;
        fitted_keys.copy_back(world)
    }

    /// Sorts pairs of keys and values by their keys; pairs with equal keys stay in the order of
    /// their indices. Collective, as [`sort`](Self::sort).
    ///
    /// If the values are cut differently from the keys, or the chunks of the ranks are not in rank
    /// order, the vectors are copied first.
    ///
    /// # Errors
    /// As [`sort`](Self::sort), different lengths, and keys and values with common cells.
    #[track_caller]
    pub fn sort_pairs<K: SortKey, V: Element>(
        &self,
        keys: impl IntoVector<K>,
        values: impl IntoVector<V>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("sort_pairs");
        let (world, keys, values) = (self.world(), keys.into(), values.into());
        keys.check_length(&values, "the vector of values")?;
        keys.check_apart(&values)?;
        let named = vec![keys.named()?, values.named()?];
        self.collective("sort_pairs", named, (), || Ok(()))?;
        let wanted = ordered(world, &spans(&keys)?);
        let fitted_keys = fitted(world, "keys of a sort", &keys, &wanted, true)?;
        let fitted_values = fitted(world, "values of a sort", &values, &wanted, true)?;
        let local = world
            .failing("sort_pairs", || Ok((local_cells(&fitted_keys.vector)?, local_cells(&fitted_values.vector)?)))?;
        sorted(world, "sort_pairs", K::ORDER, &wanted, (&local.0, Some(&local.1)))?;
        fitted_keys.copy_back(world)?;
        fitted_values.copy_back(world)
    }
}

/// Sorts the cells of a vector with these spans over all ranks; each rank passes its own cells.
fn sorted(
    world: &World,
    verb: &'static str,
    order: KeyOrder,
    spans: &[Span],
    (keys, values): (&CellSequence, Option<&CellSequence>),
) -> Result<()> {
    let several = spans.iter().any(|span| span.owner != spans[0].owner);
    // A rank with too little memory reports it before anything moves.
    let room = world.failing(verb, || {
        let room = || if several { SortRoom::new(world, keys, values).map(Some) } else { Ok(None) };
        world.agree_within(verb, world.backend().check_cells(keys).and_then(|()| room()))
    })??;
    if let Some(room) = &room {
        exchange_keys(world, verb, order, spans, (keys, values), room)?;
    }
    world.failing(verb, || sort_in(world, order, keys, values, room.as_ref()))
}

/// Sends each key, with its value, to its destination rank.
fn exchange_keys(
    world: &World,
    verb: &'static str,
    order: KeyOrder,
    spans: &[Span],
    (keys, values): (&CellSequence, Option<&CellSequence>),
    room: &SortRoom,
) -> Result<()> {
    let mut boundaries = Vec::new();
    let mut ranks = vec![spans[0].owner];
    for pair in spans.windows(2).filter(|pair| pair[0].owner != pair[1].owner) {
        boundaries.push(pair[1].cells.start);
        ranks.push(pair[1].owner);
    }
    let cells = |keys: &CellSequence, values: Option<&CellSequence>| {
        std::iter::once(keys).chain(values).cloned().collect::<Vec<_>>()
    };
    let (cells_in_place, room_cells) = (cells(keys, values), cells(&room.keys, room.values.as_ref()));
    let columns: Vec<Column<'_>> =
        cells_in_place.iter().map(|cells| Column { name: "sorted", element: cells.element() }).collect();
    let grouped =
        world.failing(verb, || world.backend().group_by_rank(world, order, (keys, values), room, &boundaries))?;
    let to = Destinations::Runs(ranks.into_iter().zip(grouped.runs).collect());
    if grouped.in_room {
        world.deliver_columns(&columns, Ok(room_cells), &to, DeliveryTarget::Cells(&cells_in_place))?;
        return Ok(());
    }
    world.deliver_columns(&columns, Ok(cells_in_place.clone()), &to, DeliveryTarget::Cells(&room_cells))?;
    world.failing(verb, || room_cells.iter().zip(&cells_in_place).try_for_each(|(from, to)| from.copy_to(to)))
}
