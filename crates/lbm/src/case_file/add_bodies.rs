//! [`BodyBuilder`]: adds the bodies of a case file to a problem.

use zippy::{Error, Result, World};

use super::body_file::{BodyFile, LoadShape};
use super::schema::BodyTable;
use super::shape_entry::{BoxEntry, CylinderEntry, ScanEntry, ShapeEntry, SphereEntry, SurfaceEntry};
use crate::cell_index::CellIndex;
use crate::periodic_images::{nearest_offset, within_interval};
use crate::problem::Problem;
use crate::solids::{Placement, SolidMask, VoxelizationBox};
use crate::units::Units;

pub(super) struct BodyBuilder<'a> {
    world: &'a World,
    pub problem: Problem,
    units: &'a Units,
    load: &'a LoadShape<'a>,
    bodies: usize,
    pub warnings: Vec<String>,
}

/// Size and position of the shape in a file, in the units of the case file.
struct FilePlacement {
    size: Option<f64>,
    unit: Option<f64>,
    centre: Option<[f64; 3]>,
    thicken: bool,
}

impl<'a> BodyBuilder<'a> {
    pub(super) fn new(world: &'a World, problem: Problem, units: &'a Units, load: &'a LoadShape<'a>) -> Self {
        Self { world, problem, units, load, bodies: 0, warnings: Vec::new() }
    }

    /// Adds a body. Collective for a body with a file, else local.
    pub(super) fn add_body(&mut self, body: &BodyTable) -> Result<()> {
        match &body.shape {
            ShapeEntry::Sphere(sphere) => self.add_sphere(body, sphere),
            ShapeEntry::Box(corners) => self.add_box(body, corners),
            ShapeEntry::Cylinder(cylinder) => self.add_cylinder(body, cylinder),
            ShapeEntry::Scan(scan) => self.add_scan(body, scan)?,
            ShapeEntry::Surface(surface) => self.add_surface(body, surface)?,
        }
        self.bodies += 1;
        Ok(())
    }

    fn is_plane(&self) -> bool {
        self.problem.velocity_set().axes() == 2
    }

    /// Position in cells: cell 0 has its centre half a cell from the corner. In the plane, the
    /// third component is that of the only layer.
    fn in_cells(&self, position: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = position.map(|x| x / self.units.cell - 0.5);
        [x, y, if self.is_plane() { 0.0 } else { z }]
    }

    /// Adds the cells of a predicate, with the body's velocity and rotation about `centre`.
    fn push(&mut self, body: &BodyTable, centre: [f64; 3], is_inside: impl Fn(CellIndex) -> bool + 'static) {
        let velocity = body.velocity.map(|u| u / self.units.speed());
        let spin = body.spin.map(|x| x * self.units.step);
        let periods = self.problem.periods();
        let surface_velocity = move |cell: CellIndex| {
            let arm = nearest_offset(periods, cell, centre);
            let rotation = [1, 2, 0].map(|a| (a, (a + 1) % 3)).map(|(a, b)| spin[a] * arm[b] - spin[b] * arm[a]);
            [0, 1, 2].map(|axis| velocity[axis] + rotation[axis])
        };
        self.problem = self.problem.clone().moving_body(centre, is_inside, surface_velocity);
    }

    fn add_sphere(&mut self, body: &BodyTable, sphere: &SphereEntry) {
        let (centre, radius) = (self.in_cells(sphere.centre), sphere.radius / self.units.cell);
        let periods = self.problem.periods();
        self.push(body, centre, move |cell| {
            nearest_offset(periods, cell, centre).map(|x| x * x).iter().sum::<f64>() < radius * radius
        });
    }

    fn add_box(&mut self, body: &BodyTable, corners: &BoxEntry) {
        let (from, to) = (self.in_cells(corners.from), self.in_cells(corners.to));
        let centre = std::array::from_fn(|axis| 0.5 * (from[axis] + to[axis]));
        let (axes, periods) = (self.problem.velocity_set().axes(), self.problem.periods());
        self.push(body, centre, move |cell| {
            (0..axes).all(|axis| within_interval(periods[axis], cell[axis], [from[axis], to[axis]]))
        });
    }

    fn add_cylinder(&mut self, body: &BodyTable, cylinder: &CylinderEntry) {
        let (centre, radius) = (self.in_cells(cylinder.centre), cylinder.radius / self.units.cell);
        let along = cylinder.axis.index();
        let half = cylinder.length.map(|length| 0.5 * length / self.units.cell);
        let ends = half.map(|half| [centre[along] - half, centre[along] + half]);
        let periods = self.problem.periods();
        self.push(body, centre, move |cell| {
            let offset = nearest_offset(periods, cell, centre);
            let across = (0..3).filter(|&axis| axis != along);
            across.map(|axis| offset[axis] * offset[axis]).sum::<f64>() < radius * radius
                && ends.is_none_or(|ends| within_interval(periods[along], cell[along], ends))
        });
    }

    fn add_scan(&mut self, body: &BodyTable, scan: &ScanEntry) -> Result<()> {
        let ScanEntry { above, below, size, unit, centre, thicken, .. } = *scan;
        let file = BodyFile::Scan { file: scan.file.clone(), above, below, axes: scan.axes.clone() };
        let solid = self.voxelize(&file, &FilePlacement { size, unit, centre: Some(centre), thicken })?;
        self.push_mask(body, &solid);
        Ok(())
    }

    fn add_surface(&mut self, body: &BodyTable, surface: &SurfaceEntry) -> Result<()> {
        let SurfaceEntry { size, unit, centre, thicken, .. } = *surface;
        let file = BodyFile::Surface { file: surface.file.clone() };
        let solid = self.voxelize(&file, &FilePlacement { size, unit, centre, thicken })?;
        self.push_mask(body, &solid);
        Ok(())
    }

    fn push_mask(&mut self, body: &BodyTable, solid: &SolidMask) {
        let index = self.bodies;
        self.warnings.extend(solid.warnings().iter().map(|warning| format!("bodies[{index}]: {warning}")));
        self.push(body, solid.centroid(), solid.predicate());
    }

    /// Reads a file and finds its solid cells. Collective.
    fn voxelize(&self, file: &BodyFile, file_placement: &FilePlacement) -> Result<SolidMask> {
        let shape = (self.load)(self.world, file)?;
        let [low, high] = shape.bounds();
        let scale = file_placement.unit.unwrap_or(1.0) / self.units.cell;
        let centre = match file_placement.centre {
            Some(centre) => self.in_cells(centre),
            None => std::array::from_fn(|axis| 0.5 * (low[axis] + high[axis]) * scale - 0.5),
        };
        let placement = match file_placement.size {
            Some(size) => shape.fit(size / self.units.cell, centre),
            None => Placement { scale, centre },
        };
        let voxelization_box = VoxelizationBox {
            cells: self.problem.extents,
            periodic: std::array::from_fn(|axis| self.problem.is_periodic(axis)),
            is_plane: self.is_plane(),
            thicken: file_placement.thicken,
        };
        let index = self.bodies;
        let with_body = |error: Error| Error::program(format!("bodies[{index}], {}: {error}", file.path().display()));
        shape.voxelize(self.world, &placement, &voxelization_box).map_err(with_body)
    }
}
