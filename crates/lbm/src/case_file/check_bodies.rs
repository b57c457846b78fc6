//! Checks the bodies of a case file.

use toml::Spanned;

use super::body_extents::body_extents;
use super::schema::{BodyTable, CaseTables};
use super::shape_entry::{ScanEntry, ShapeEntry, SurfaceEntry};
use super::side_entry::SideEntry;
use super::sides::sides_of_axis;
use super::source_text::SourceText;
use crate::error::FlowError;
use crate::units::Units;

/// Refuses numbers that are not finite or out of range, missing or duplicate sizes, and bodies
/// outside of the box.
pub(super) fn check_bodies(text: &SourceText<'_>, tables: &CaseTables, units: &Units) -> Result<(), FlowError> {
    let size = tables.lattice.get_ref().cells.map(|n| n as f64 * units.cell);
    for (index, table) in tables.bodies.iter().enumerate() {
        let check = BodyCheck { text, table, key: format!("bodies[{index}]") };
        check.check_numbers()?;
        let extents = body_extents(&table.get_ref().shape);
        // Along periodic axes an image is in the box.
        let is_periodic =
            |axis: usize| sides_of_axis(tables, axis).iter().all(|side| side.entry == SideEntry::Periodic);
        let is_outside =
            |axis: usize| !is_periodic(axis) && (extents[axis][1] <= 0.0 || extents[axis][0] >= size[axis]);
        if let Some(axis) = (0..3).find(|&axis| is_outside(axis)) {
            let ([low, high], end) = (extents[axis], size[axis]);
            let message =
                format!("it is from {low} to {high} along axis {axis}, outside of the box, which ends at {end}");
            return Err(text.error(table, &check.key, message));
        }
    }
    Ok(())
}

struct BodyCheck<'a> {
    text: &'a SourceText<'a>,
    table: &'a Spanned<BodyTable>,
    key: String,
}

impl BodyCheck<'_> {
    fn error(&self, name: &str, message: &str) -> FlowError {
        self.text.error(self.table, &format!("{}.{name}", self.key), message)
    }

    fn check_finite(&self, name: &str, values: &[f64]) -> Result<(), FlowError> {
        self.text.check_finite(self.table, &format!("{}.{name}", self.key), values)
    }

    fn check_positive(&self, name: &str, value: f64) -> Result<(), FlowError> {
        self.text.check_positive(self.table, &format!("{}.{name}", self.key), value)
    }

    fn check_numbers(&self) -> Result<(), FlowError> {
        let body = self.table.get_ref();
        self.check_finite("velocity", &body.velocity)?;
        self.check_finite("spin", &body.spin)?;
        match &body.shape {
            ShapeEntry::Sphere(sphere) => {
                self.check_finite("sphere.centre", &sphere.centre)?;
                self.check_positive("sphere.radius", sphere.radius)
            }
            ShapeEntry::Box(corners) => {
                self.check_finite("box.from", &corners.from)?;
                self.check_finite("box.to", &corners.to)?;
                if (0..3).any(|axis| corners.from[axis] >= corners.to[axis]) {
                    return Err(self.error("box", "along each axis from must be below to"));
                }
                Ok(())
            }
            ShapeEntry::Cylinder(cylinder) => {
                self.check_finite("cylinder.centre", &cylinder.centre)?;
                self.check_positive("cylinder.radius", cylinder.radius)?;
                cylinder.length.map_or(Ok(()), |length| self.check_positive("cylinder.length", length))
            }
            ShapeEntry::Scan(scan) => self.check_scan(scan),
            ShapeEntry::Surface(surface) => self.check_surface(surface),
        }
    }

    fn check_scan(&self, scan: &ScanEntry) -> Result<(), FlowError> {
        self.check_finite("scan.above", &[scan.above])?;
        self.check_finite("scan.centre", &scan.centre)?;
        self.check_size("scan", scan.size, scan.unit)?;
        if scan.below.is_some_and(|below| below.is_nan() || below <= scan.above) {
            return Err(self.error("scan.below", "it must be larger than above"));
        }
        Ok(())
    }

    fn check_surface(&self, surface: &SurfaceEntry) -> Result<(), FlowError> {
        self.check_size("surface", surface.size, surface.unit)?;
        match surface.centre {
            Some(centre) => self.check_finite("surface.centre", &centre),
            None if surface.unit.is_none() => {
                let message = "without a centre it keeps the positions of its file; then give a unit, not a size";
                Err(self.error("surface", message))
            }
            None => Ok(()),
        }
    }

    fn check_size(&self, name: &str, size: Option<f64>, unit: Option<f64>) -> Result<(), FlowError> {
        match (size, unit) {
            (Some(value), None) | (None, Some(value)) => self.check_positive(&format!("{name}.size or .unit"), value),
            _ => {
                let message =
                    "give one of size, the longest edge of its bounds, and unit, the length of one of its units";
                Err(self.error(name, message))
            }
        }
    }
}
