//! Sorts: stable, by radix, over what one rank holds.

mod host;
mod kernels;
mod key;
mod over_ranks;
mod splitters;

pub(super) use self::key::KeyOrder;
pub use self::key::SortKey;

use super::merge::merge;
use super::on_rank::OnRank;
use crate::World;
use crate::array::{Cells, Sequence, stretches};
use crate::device::Lease;
use crate::element::Element;
use crate::error::Result;

impl OnRank<'_> {
    /// Sorts cells. Local; stable; queues the work, or does it where chunks are mapped.
    ///
    /// Needs memory for the cells once more.
    ///
    /// # Errors
    /// A bad section, too little memory, a failing device.
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
    pub fn sort<K: SortKey>(&self, keys: impl Into<Sequence<K>>) -> Result<()> {
        sort(self.world(), K::ORDER, keys.into().cells()?, None)
    }

    /// Sorts pairs of keys and values by their keys; pairs with equal keys stay in their order. Local, as
    /// [`sort`](Self::sort).
    ///
    /// # Errors
    /// As [`sort`](Self::sort), and lengths that differ.
    pub fn sort_pairs<K: SortKey, V: Element>(
        &self,
        keys: impl Into<Sequence<K>>,
        values: impl Into<Sequence<V>>,
    ) -> Result<()> {
        let (keys, values) = (keys.into(), values.into());
        let (keys, values) = (keys.cells()?, values.cells()?);
        keys.check_length(values, "the sequence of values")?;
        sort(self.world(), K::ORDER, keys, Some(values))
    }
}

pub(super) fn sort(world: &World, order: KeyOrder, keys: &Cells, values: Option<&Cells>) -> Result<()> {
    let all: Vec<&Cells> = std::iter::once(keys).chain(values).collect();
    let mut runs = Vec::new();
    for piece in stretches(&all) {
        let cells = piece.first..piece.first + piece.cells();
        runs.push((keys.only(cells.clone()), values.map(|values| values.only(cells))));
    }
    for (keys, values) in &runs {
        sort_run(world, order, keys, values.as_ref())?;
    }
    if runs.len() < 2 {
        return Ok(());
    }
    let scratch = |cells: &Cells| Cells::scratch(&world.home(), "merged", cells.element(), cells.len());
    let (merged, beside) = (scratch(keys)?, values.map(scratch).transpose()?);
    merge(world, order, &runs, &merged, beside.as_ref())?;
    merged.copy_to(keys)?;
    if let (Some(values), Some(beside)) = (values, beside) {
        beside.copy_to(values)?;
    }
    Ok(())
}

/// Sorts cells of one chunk, with values of one chunk.
fn sort_run(world: &World, order: KeyOrder, keys: &Cells, values: Option<&Cells>) -> Result<()> {
    let room = |cells: &Cells| Cells::scratch(&world.home(), "room for a sort", cells.element(), cells.len());
    let (keys_room, values_room) = (room(keys)?, values.map(room).transpose()?);
    if !world.gpu().is_host() {
        return kernels::sort(world, order, [keys, &keys_room], values.zip(values_room.as_ref()));
    }
    let size = values.map_or(0, |values| values.element().bytes);
    let (keys, keys_room) = (lease(keys)?, lease(&keys_room)?);
    let device = world.gpu();
    let Some((values, values_room)) = values.zip(values_room.as_ref()) else {
        device.lend([&keys.0, &keys_room.0], |[a, b]| {
            host::sort(order, [&mut a[keys.1], &mut b[keys_room.1]], [&mut [], &mut []], 0);
        })?;
        return Ok(());
    };
    let (values, values_room) = (lease(values)?, lease(values_room)?);
    device.lend([&keys.0, &keys_room.0, &values.0, &values_room.0], |[a, b, c, d]| {
        let values = [&mut c[values.1], &mut d[values_room.1]];
        host::sort(order, [&mut a[keys.1], &mut b[keys_room.1]], values, size);
    })?;
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
