//! Warnings about bodies of a case file.

use super::body_extents::body_extents;
use super::schema::CaseTables;
use super::shape_entry::ShapeEntry;
use super::side_entry::SideEntry;
use super::sides::sides_of_axis;
use crate::units::Units;

/// Warnings about bodies cut off by sides of the box, except at a free-slip side through the
/// centre: the image is the other half.
pub(super) fn cut_off_warnings(tables: &CaseTables, units: &Units, axes: usize) -> Vec<String> {
    const ROUNDING: f64 = 1e-6;
    let mut warnings = Vec::new();
    for (index, table) in tables.bodies.iter().enumerate() {
        let extents = body_extents(&table.get_ref().shape);
        for (axis, ends) in extents.iter().enumerate().take(axes).filter(|(_, ends)| ends[0].is_finite()) {
            let [low, high] = ends.map(|x| x / units.cell);
            let end = tables.lattice.get_ref().cells[axis] as f64;
            let [below, above] = sides_of_axis(tables, axis);
            for (side, position, lost) in [(below, 0.0, -low), (above, end, high - end)] {
                let is_half = side.entry == SideEntry::FreeSlip && (0.5 * (low + high) - position).abs() < ROUNDING;
                if side.entry != SideEntry::Periodic && !is_half && lost > ROUNDING {
                    let key = side.key;
                    warnings.push(format!("bodies[{index}] reaches {lost:.2} cells beyond {key}, which cuts it off"));
                }
            }
        }
    }
    warnings
}

pub(super) fn small_body_warnings(tables: &CaseTables, units: &Units) -> Vec<String> {
    const MIN_CELLS: f64 = 8.0;
    let warning = |(index, shape): (usize, &ShapeEntry)| {
        let width = match shape {
            ShapeEntry::Sphere(sphere) => 2.0 * sphere.radius,
            ShapeEntry::Cylinder(cylinder) => 2.0 * cylinder.radius,
            ShapeEntry::Scan(scan) => scan.size?,
            ShapeEntry::Surface(surface) => surface.size?,
            ShapeEntry::Box(_) => return None,
        };
        let cells = width / units.cell;
        (cells < MIN_CELLS).then(|| {
            format!(
                "bodies[{index}] is {cells:.1} cells across: below {MIN_CELLS} forces are rough; take smaller cells"
            )
        })
    };
    tables.bodies.iter().map(|table| &table.get_ref().shape).enumerate().filter_map(warning).collect()
}

/// Largest speeds of the surfaces of bodies, as first components of velocities.
pub(super) fn surface_velocities(tables: &CaseTables) -> Vec<(String, [f64; 3])> {
    let length = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let all = tables.bodies.iter().enumerate().map(|(index, table)| {
        let body = table.get_ref();
        let radius = match &body.shape {
            ShapeEntry::Sphere(sphere) => sphere.radius,
            ShapeEntry::Cylinder(cylinder) => cylinder.radius,
            _ => 0.0,
        };
        let speed = length(body.velocity) + length(body.spin) * radius;
        (format!("the surface of bodies[{index}]"), [speed, 0.0, 0.0])
    });
    all.collect()
}
