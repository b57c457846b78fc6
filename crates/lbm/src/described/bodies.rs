//! Solid bodies: simple ones, and those of files.

use zippy::{Result, World};

use super::beyond::Beyond;
use super::schema::{Body, File};
use super::shape::{Along, Scan, Shape};
use super::sides;
use super::source::{Load, Source};
use super::text::Text;
use crate::error::FlowError;
use crate::images::{nearest, within};
use crate::problem::{Place, Problem};
use crate::solids::{self, Placement, Room};
use crate::units::Units;

/// # Errors
/// Numbers that cannot be.
pub fn check(text: &Text, file: &File, units: &Units) -> std::result::Result<(), FlowError> {
    let size = file.lattice.get_ref().cells.map(|n| n as f64 * units.cell);
    for (number, table) in file.bodies.iter().enumerate() {
        let (body, own) = (table.get_ref(), format!("bodies[{number}]"));
        let key = |name: &str| format!("{own}.{name}");
        let finite = |name: &str, values: &[f64]| text.finite(table, &key(name), values);
        let positive = |name: &str, value: f64| text.positive(table, &key(name), value);
        let sized = |name: &str, size: Option<f64>, unit: Option<f64>| match (size, unit) {
            (Some(one), None) | (None, Some(one)) => positive(&format!("{name}.size or .unit"), one),
            _ => {
                let wrong =
                    "give one of size, what the longest edge of its box is to be, and unit, what one of its units is";
                Err(text.wrong(table, &key(name), wrong))
            }
        };
        finite("velocity", &body.velocity)?;
        finite("spin", &body.spin)?;
        match &body.shape {
            Shape::Sphere(sphere) => {
                finite("sphere.centre", &sphere.centre)?;
                positive("sphere.radius", sphere.radius)?;
            }
            Shape::Box(corners) => {
                finite("box.from", &corners.from)?;
                finite("box.to", &corners.to)?;
                if (0..3).any(|axis| corners.from[axis] >= corners.to[axis]) {
                    return Err(text.wrong(table, &key("box"), "along each axis from must be below to"));
                }
            }
            Shape::Cylinder(cylinder) => {
                finite("cylinder.centre", &cylinder.centre)?;
                positive("cylinder.radius", cylinder.radius)?;
                cylinder.length.map_or(Ok(()), |length| positive("cylinder.length", length))?;
            }
            Shape::Scan(scan) => {
                finite("scan.above", &[scan.above])?;
                finite("scan.centre", &scan.centre)?;
                sized("scan", scan.size, scan.unit)?;
                if scan.below.is_some_and(|below| below.is_nan() || below <= scan.above) {
                    return Err(text.wrong(table, &key("scan.below"), "it must be larger than above"));
                }
            }
            Shape::Surface(surface) => {
                sized("surface", surface.size, surface.unit)?;
                match surface.centre {
                    Some(centre) => finite("surface.centre", &centre)?,
                    None if surface.unit.is_none() => {
                        let wrong =
                            "without a centre it keeps the places that its file has; then give a unit, not a size";
                        return Err(text.wrong(table, &key("surface"), wrong));
                    }
                    None => {}
                }
            }
        }
        let bounds = bounds(&body.shape);
        // Along periodic axes an image is in the box.
        let is_periodic = |axis: usize| sides::of_axis(file, axis).iter().all(|(_, side)| *side == Beyond::Periodic);
        let is_outside = |axis: usize| !is_periodic(axis) && (bounds[axis][1] <= 0.0 || bounds[axis][0] >= size[axis]);
        if let Some(axis) = (0..3).find(|&axis| is_outside(axis)) {
            let [low, high] = bounds[axis];
            let wrong = format!(
                "it is from {low} to {high} along axis {axis}, outside of the box, which ends at {}",
                size[axis]
            );
            return Err(text.wrong(table, &own, wrong));
        }
    }
    Ok(())
}

/// From where to where a body is along each axis, as far as the text says it.
fn bounds(shape: &Shape) -> [[f64; 2]; 3] {
    let all = [f64::NEG_INFINITY, f64::INFINITY];
    let around = |centre: [f64; 3], radius: f64| centre.map(|x| [x - radius, x + radius]);
    match shape {
        Shape::Sphere(sphere) => around(sphere.centre, sphere.radius),
        Shape::Box(corners) => std::array::from_fn(|axis| [corners.from[axis], corners.to[axis]]),
        Shape::Cylinder(cylinder) => {
            let (axis, x) = (along(cylinder.axis), cylinder.centre);
            let mut bounds = around(x, cylinder.radius);
            bounds[axis] = cylinder.length.map_or(all, |length| [x[axis] - 0.5 * length, x[axis] + 0.5 * length]);
            bounds
        }
        // Their solids say it.
        Shape::Scan(_) | Shape::Surface(_) => [all; 3],
    }
}

fn along(axis: Along) -> usize {
    match axis {
        Along::X => 0,
        Along::Y => 1,
        Along::Z => 2,
    }
}

/// Whether a body may cover a part of a side: the lower one of an axis for `inward` above 0, else the upper one.
pub fn reaches(file: &File, units: &Units, axis: usize, inward: f64) -> bool {
    let end = file.lattice.get_ref().cells[axis] as f64 * units.cell;
    file.bodies.iter().any(|body| {
        let [low, high] = bounds(&body.get_ref().shape)[axis];
        if inward > 0.0 { low < units.cell } else { high > end - units.cell }
    })
}

/// Bodies that sides of the box cut off. A body with its middle in a free-slip side has its image
/// as the other half.
pub fn cut(file: &File, units: &Units, axes: usize) -> Vec<String> {
    /// Rounding errors, in cells.
    const ROUNDED: f64 = 1e-6;
    let mut warnings = Vec::new();
    for (number, table) in file.bodies.iter().enumerate() {
        let bounds = bounds(&table.get_ref().shape);
        for (axis, bounds) in bounds.iter().enumerate().take(axes).filter(|(_, bounds)| bounds[0].is_finite()) {
            let [low, high] = bounds.map(|x| x / units.cell);
            let end = file.lattice.get_ref().cells[axis] as f64;
            for (side, (key, beyond)) in sides::of_axis(file, axis).into_iter().enumerate() {
                let (at, lost) = if side == 0 { (0.0, -low) } else { (end, high - end) };
                let is_half = beyond == Beyond::FreeSlip && (0.5 * (low + high) - at).abs() < ROUNDED;
                if beyond != Beyond::Periodic && !is_half && lost > ROUNDED {
                    warnings.push(format!("bodies[{number}] reaches {lost:.2} cells beyond {key}, which cuts it off"));
                }
            }
        }
    }
    warnings
}

/// Velocities of surfaces.
pub fn speeds(file: &File) -> Vec<(String, [f64; 3])> {
    let all = file.bodies.iter().enumerate().map(|(number, table)| {
        let (body, length) = (table.get_ref(), |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt());
        let radius = match &body.shape {
            Shape::Sphere(sphere) => sphere.radius,
            Shape::Cylinder(cylinder) => cylinder.radius,
            _ => 0.0,
        };
        (format!("the surface of bodies[{number}]"), [length(body.velocity) + length(body.spin) * radius, 0.0, 0.0])
    });
    all.collect()
}

/// Bodies of which the lattice shows little.
pub fn small(file: &File, units: &Units) -> Vec<String> {
    const FEW: f64 = 8.0;
    let all = file.bodies.iter().enumerate().filter_map(|(number, table)| {
        let across = match &table.get_ref().shape {
            Shape::Sphere(sphere) => 2.0 * sphere.radius,
            Shape::Cylinder(cylinder) => 2.0 * cylinder.radius,
            Shape::Scan(scan) => scan.size?,
            Shape::Surface(surface) => surface.size?,
            Shape::Box(_) => return None,
        };
        let cells = across / units.cell;
        (cells < FEW).then(|| {
            format!("bodies[{number}] is {cells:.1} cells across: below {FEW} forces are rough; take smaller cells")
        })
    });
    all.collect()
}

/// Size and position of a file's body, as the text gives them.
struct Placed {
    size: Option<f64>,
    unit: Option<f64>,
    centre: Option<[f64; 3]>,
}

/// Puts a body into a problem, with warnings about its parts without cells. Collective where it is
/// one of a file.
///
/// # Errors
/// What the file says, and what cannot be made of it.
pub fn put(
    world: &World,
    problem: Problem,
    body: &Body,
    number: usize,
    file: &File,
    units: &Units,
    load: &Load<'_>,
) -> Result<(Problem, Vec<String>)> {
    let extents = file.lattice.get_ref().cells;
    // Cell 0 has its middle half a cell from the corner; in the plane all is at the one layer's middle.
    let plane = problem.velocities().axes() == 2;
    let cells = |place: [f64; 3]| {
        let [x, y, z] = place.map(|x| x / units.cell - 0.5);
        [x, y, if plane { 0.0 } else { z }]
    };
    let (velocity, spin) = (body.velocity.map(|u| u / units.speed()), body.spin.map(|x| x * units.step));
    // Of all images along periodic axes the nearest one counts.
    let periods = problem.periods();
    let from_centre = move |at: Place, centre: [f64; 3]| nearest(periods, at, centre);
    let surface = move |centre: [f64; 3]| {
        move |at: Place| {
            let arm = from_centre(at, centre);
            let turn = [1, 2, 0].map(|a| (a, (a + 1) % 3)).map(|(a, b)| spin[a] * arm[b] - spin[b] * arm[a]);
            [0, 1, 2].map(|axis| velocity[axis] + turn[axis])
        }
    };
    let periodic = std::array::from_fn(|axis| problem.periodic(axis));
    let room = |thicken: bool| Room { cells: extents, periodic, is_plane: plane, thicken };
    let read = |source: Source, placed: &Placed, thicken: bool| -> Result<solids::Solid> {
        let path = match &source {
            Source::Scan { file, .. } | Source::Surface { file } => file.clone(),
        };
        let wrong =
            |error: zippy::Error| zippy::Error::program(format!("bodies[{number}], {}: {error}", path.display()));
        let shape = load(world, &source)?;
        let [low, high] = shape.bounds();
        let scale = placed.unit.unwrap_or(1.0) / units.cell;
        let own: [f64; 3] = std::array::from_fn(|axis| 0.5 * (low[axis] + high[axis]) * scale - 0.5);
        let middle = placed.centre.map_or(own, cells);
        let placement = match placed.size {
            Some(size) => shape.placed(size / units.cell, middle),
            None => Placement { scale, middle },
        };
        shape.solid(world, &placement, &room(thicken)).map_err(wrong)
    };
    let solid = match &body.shape {
        Shape::Sphere(sphere) => {
            let (centre, radius) = (cells(sphere.centre), sphere.radius / units.cell);
            let inside = move |at: Place| from_centre(at, centre).map(|x| x * x).iter().sum::<f64>() < radius * radius;
            return Ok((problem.moving_body(centre, inside, surface(centre)), Vec::new()));
        }
        Shape::Box(corners) => {
            let (from, to) = (cells(corners.from), cells(corners.to));
            let centre = std::array::from_fn(|axis| 0.5 * (from[axis] + to[axis]));
            // A plane has no extent along its third axis.
            let axes = problem.velocities().axes();
            let inside = move |at: Place| (0..axes).all(|axis| within(periods[axis], at[axis], [from[axis], to[axis]]));
            return Ok((problem.moving_body(centre, inside, surface(centre)), Vec::new()));
        }
        Shape::Cylinder(cylinder) => {
            let (centre, radius) = (cells(cylinder.centre), cylinder.radius / units.cell);
            let along = along(cylinder.axis);
            let half = cylinder.length.map(|length| 0.5 * length / units.cell);
            let ends = half.map(|half| [centre[along] - half, centre[along] + half]);
            let inside = move |at: Place| {
                let far = from_centre(at, centre);
                let across = (0..3).filter(|&axis| axis != along);
                across.map(|axis| far[axis] * far[axis]).sum::<f64>() < radius * radius
                    && ends.is_none_or(|ends| within(periods[along], at[along], ends))
            };
            return Ok((problem.moving_body(centre, inside, surface(centre)), Vec::new()));
        }
        Shape::Scan(scan) => {
            let Scan { file: path, above, below, axes, .. } = scan;
            let source = Source::Scan { file: path.clone(), above: *above, below: *below, axes: axes.clone() };
            let placed = Placed { size: scan.size, unit: scan.unit, centre: Some(scan.centre) };
            read(source, &placed, scan.thicken)?
        }
        Shape::Surface(mesh) => {
            let placed = Placed { size: mesh.size, unit: mesh.unit, centre: mesh.centre };
            read(Source::Surface { file: mesh.file.clone() }, &placed, mesh.thicken)?
        }
    };
    let warnings = solid.warnings().iter().map(|warning| format!("bodies[{number}]: {warning}")).collect();
    let centre = solid.middle();
    Ok((problem.moving_body(centre, solid.inside(), surface(centre)), warnings))
}
