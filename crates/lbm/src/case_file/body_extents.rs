//! Extents of bodies in a case file.

use super::schema::CaseTables;
use super::shape_entry::ShapeEntry;
use crate::units::Units;

/// Lower and upper end of a body along each axis, in the units of the case file; infinite if only a
/// scan or a surface defines them.
pub(super) fn body_extents(shape: &ShapeEntry) -> [[f64; 2]; 3] {
    let unbounded = [f64::NEG_INFINITY, f64::INFINITY];
    let around = |centre: [f64; 3], radius: f64| centre.map(|x| [x - radius, x + radius]);
    match shape {
        ShapeEntry::Sphere(sphere) => around(sphere.centre, sphere.radius),
        ShapeEntry::Box(corners) => std::array::from_fn(|axis| [corners.from[axis], corners.to[axis]]),
        ShapeEntry::Cylinder(cylinder) => {
            let (axis, centre) = (cylinder.axis.index(), cylinder.centre);
            let mut extents = around(centre, cylinder.radius);
            extents[axis] =
                cylinder.length.map_or(unbounded, |length| [centre[axis] - 0.5 * length, centre[axis] + 0.5 * length]);
            extents
        }
        ShapeEntry::Scan(_) | ShapeEntry::Surface(_) => [unbounded; 3],
    }
}

/// True if a body may cover a part of a side: the lower side of an axis for a positive `inward`
/// direction, else the upper side.
pub(super) fn may_cover_side(tables: &CaseTables, units: &Units, axis: usize, inward: f64) -> bool {
    let end = tables.lattice.get_ref().cells[axis] as f64 * units.cell;
    tables.bodies.iter().any(|body| {
        let [low, high] = body_extents(&body.get_ref().shape)[axis];
        if inward > 0.0 { low < units.cell } else { high > end - units.cell }
    })
}
