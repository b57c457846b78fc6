//! Description of a flow.

use std::rc::Rc;

use crate::cell_index::CellIndex;
use crate::collision::Collision;
use crate::precision::Precision;
use crate::side::Side;
use crate::velocity_set::VelocitySet;

/// Velocity or force for each cell.
pub(crate) type VectorField = Rc<dyn Fn(CellIndex) -> [f64; 3]>;

/// Solid body with its velocity and the centre of its torque.
#[derive(Clone)]
pub(crate) struct Body {
    pub is_inside: Rc<dyn Fn(CellIndex) -> bool>,
    pub velocity: VectorField,
    /// Reference point of the torque.
    pub centre: [f64; 3],
}

/// Description of a flow: velocity set, box, sides, bodies, fluid and initial flow, equal on every
/// rank. All numbers are in lattice units: cells, steps, and density 1.
#[derive(Clone)]
pub struct Problem {
    pub(crate) name: String,
    pub(crate) set: VelocitySet,
    pub(crate) extents: [i64; 3],
    pub(crate) sides: [[Side; 2]; 3],
    pub(crate) viscosity: f64,
    pub(crate) collision: Collision,
    pub(crate) smagorinsky: Option<f64>,
    pub(crate) precision: Precision,
    pub(crate) force: [f64; 3],
    pub(crate) force_field: Option<VectorField>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) initial_density: Rc<dyn Fn(CellIndex) -> f64>,
    pub(crate) initial_velocity: VectorField,
}

pub(crate) struct RelaxationRates {
    /// ω⁺, of the symmetric part of each pair of populations.
    pub symmetric: f64,
    /// ω⁻, of the antisymmetric part.
    pub antisymmetric: f64,
}

/// Rate at which an outlet restores its density, in units of the speed of sound per length of the
/// box.
const OUTLET_RESTORING_RATE: f64 = 0.2;

impl Problem {
    /// Creates a periodic box of fluid at rest, with two relaxation times
    /// ([`Collision::EXACT_WALL_MAGIC`]) and the viscosity 1/6. `extents` are the cells along each
    /// axis; the third is 1 in two dimensions.
    pub fn new(set: VelocitySet, extents: [i64; 3]) -> Self {
        Self {
            name: "flow".into(),
            set,
            extents,
            sides: Default::default(),
            viscosity: 1.0 / 6.0,
            collision: Collision::Trt { magic: Collision::EXACT_WALL_MAGIC },
            smagorinsky: None,
            precision: Precision::Single,
            force: [0.0; 3],
            force_field: None,
            bodies: Vec::new(),
            initial_density: Rc::new(|_| 1.0),
            initial_velocity: Rc::new(|_| [0.0; 3]),
        }
    }

    /// Name of the flow, and prefix of the names of its arrays, which must be unique in a world.
    /// Default: `flow`.
    pub fn name(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Sides of an axis: before its first cells, and after its last cells.
    ///
    /// # Panics
    /// If `axis` is above 2.
    pub fn sides(mut self, axis: usize, below: Side, above: Side) -> Self {
        self.sides[axis] = [below, above];
        self
    }

    /// Kinematic viscosity, in cells² per step. A viscosity below 0.02 is raised near open sides:
    /// see [`sponge_layers`](Self::sponge_layers).
    pub fn viscosity(self, viscosity: f64) -> Self {
        Self { viscosity, ..self }
    }

    /// Collision operator.
    pub fn collision(self, collision: Collision) -> Self {
        Self { collision, ..self }
    }

    /// Adds the viscosity of turbulence below the cell size, with a Smagorinsky constant of 0.1 to
    /// 0.2.
    pub fn smagorinsky(self, constant: f64) -> Self {
        Self { smagorinsky: Some(constant), ..self }
    }

    /// Uniform force on all cells with fluid, such as gravity.
    pub fn force(self, force: [f64; 3]) -> Self {
        Self { force, ..self }
    }

    /// Force for each cell with fluid, in addition to the uniform force; `force` is called once per
    /// cell. Cost: 12 bytes per cell.
    pub fn force_field(self, force: impl Fn(CellIndex) -> [f64; 3] + 'static) -> Self {
        Self { force_field: Some(Rc::new(force)), ..self }
    }

    /// Precision of the stored populations.
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Solid body of the cells for which `is_inside` is true. Torque is relative to `centre`, in
    /// cells; cell 0 has its centre at 0.
    pub fn body(self, centre: [f64; 3], is_inside: impl Fn(CellIndex) -> bool + 'static) -> Self {
        self.moving_body(centre, is_inside, |_| [0.0; 3])
    }

    /// Solid body with a moving surface and fixed cells, such as a wheel.
    pub fn moving_body(
        mut self,
        centre: [f64; 3],
        is_inside: impl Fn(CellIndex) -> bool + 'static,
        velocity: impl Fn(CellIndex) -> [f64; 3] + 'static,
    ) -> Self {
        self.bodies.push(Body { is_inside: Rc::new(is_inside), velocity: Rc::new(velocity), centre });
        self
    }

    /// Initial density and velocity of each cell. Default: density 1, at rest.
    pub fn initial_flow(
        self,
        density: impl Fn(CellIndex) -> f64 + 'static,
        velocity: impl Fn(CellIndex) -> [f64; 3] + 'static,
    ) -> Self {
        Self { initial_density: Rc::new(density), initial_velocity: Rc::new(velocity), ..self }
    }

    /// Velocity set of the lattice.
    pub fn velocity_set(&self) -> VelocitySet {
        self.set
    }

    pub(crate) fn array_name(&self, suffix: &str) -> String {
        format!("{} {suffix}", self.name)
    }

    /// True for cells of the box.
    pub(crate) fn contains(&self, cell: CellIndex) -> bool {
        (0..3).all(|axis| (0..self.extents[axis]).contains(&cell[axis]))
    }

    /// Factor from the velocity of a sound wave to the velocity that an outlet adds in a step to
    /// restore its density.
    pub(crate) fn outlet_restoring_factor(&self) -> f64 {
        let has_outlet = |axis: &usize| self.sides[*axis].iter().any(|side| matches!(side, Side::Outlet(_)));
        let axis = (0..3).find(has_outlet);
        axis.map_or(0.0, |axis| OUTLET_RESTORING_RATE / 3.0_f64.sqrt() / self.extents[axis] as f64)
    }

    pub(crate) fn is_periodic(&self, axis: usize) -> bool {
        matches!(self.sides[axis][0], Side::Periodic)
    }

    pub(crate) fn has_open_sides(&self) -> bool {
        self.sides.iter().flatten().any(Side::is_open)
    }

    /// Layers of cells before the box in the lattice: 1 along axes with sides, 0 along periodic
    /// axes.
    pub(crate) fn side_layers(&self, axis: usize) -> i64 {
        if self.is_periodic(axis) { 0 } else { 1 }
    }

    pub(crate) fn box_cell(&self, at: [i64; 3]) -> CellIndex {
        std::array::from_fn(|axis| at[axis] - self.side_layers(axis))
    }

    /// Cells of the lattice along each axis: the box, a layer at each side that is not periodic,
    /// and padding for pairs of 16-bit populations.
    pub(crate) fn lattice_extents(&self) -> [i64; 3] {
        std::array::from_fn(|axis| self.extents[axis] + 2 * self.side_layers(axis) + self.padding_layers(axis))
    }

    pub(crate) fn relaxation_rates(&self) -> RelaxationRates {
        let symmetric = 3.0 * self.viscosity;
        let antisymmetric = match self.collision {
            Collision::Bgk | Collision::Cumulant => symmetric,
            Collision::Trt { magic } => magic / symmetric,
        };
        let [symmetric, antisymmetric] = [symmetric, antisymmetric].map(|time| 1.0 / (time + 0.5));
        RelaxationRates { symmetric, antisymmetric }
    }

    /// Relaxation time τ of the stress: 3 ν + ½.
    pub fn relaxation_time(&self) -> f64 {
        3.0 * self.viscosity + 0.5
    }
}
