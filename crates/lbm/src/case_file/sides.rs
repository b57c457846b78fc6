//! Access to the sides in a case file.

use toml::Spanned;

use super::schema::{AxisTable, CaseTables};
use super::side_entry::SideEntry;

const AXIS_NAMES: [&str; 3] = ["x", "y", "z"];

/// Sides of an axis that the file mentions.
pub(super) struct AxisSides<'t> {
    pub axis: usize,
    pub table: &'t Spanned<AxisTable>,
}

pub(super) struct KeyedSide {
    pub key: String,
    pub entry: SideEntry,
}

impl AxisSides<'_> {
    pub(super) fn key(&self) -> String {
        format!("sides.{}", AXIS_NAMES[self.axis])
    }

    pub(super) fn both(&self) -> [KeyedSide; 2] {
        keyed_sides(self.axis, self.table.get_ref())
    }
}

fn keyed_sides(axis: usize, table: &AxisTable) -> [KeyedSide; 2] {
    [("below", table.below), ("above", table.above)]
        .map(|(name, entry)| KeyedSide { key: format!("sides.{}.{name}", AXIS_NAMES[axis]), entry })
}

/// Axes that the file mentions.
pub(super) fn axes(tables: &CaseTables) -> impl Iterator<Item = AxisSides<'_>> {
    let all = [&tables.sides.x, &tables.sides.y, &tables.sides.z];
    all.into_iter().enumerate().filter_map(|(axis, table)| table.as_ref().map(|table| AxisSides { axis, table }))
}

/// Both sides of an axis. An axis that the file does not mention is periodic.
pub(super) fn sides_of_axis(tables: &CaseTables, axis: usize) -> [KeyedSide; 2] {
    let mentioned = axes(tables).find(|sides| sides.axis == axis);
    mentioned.map_or_else(|| keyed_sides(axis, &AxisTable::PERIODIC), |sides| sides.both())
}

pub(super) fn axes_between_walls(tables: &CaseTables) -> [bool; 3] {
    [0, 1, 2].map(|axis| sides_of_axis(tables, axis).iter().all(|side| side.entry == SideEntry::Wall))
}

pub(super) fn side_velocities(tables: &CaseTables) -> Vec<(String, [f64; 3])> {
    let moving = |side: KeyedSide| match side.entry {
        SideEntry::MovingWall(u) | SideEntry::Velocity(u) | SideEntry::Parabola(u) => Some((side.key, u)),
        _ => None,
    };
    axes(tables).flat_map(|sides| sides.both()).filter_map(moving).collect()
}
