//! What flows, and in what: the description from which a flow is made.

use std::rc::Rc;

use crate::cell::{Cell, Open};
use crate::storage::Storage;
use crate::velocities::VelocitySet;

/// A point of the box, or a value for each: cell 0 is the first one of the fluid.
pub type Place = [i64; 3];

/// What lies beyond one side of the box.
#[derive(Clone, Default)]
pub enum Side {
    /// The other side.
    #[default]
    Periodic,
    /// A wall at rest, half a cell beyond the outermost cells.
    Wall,
    /// A wall there that moves along itself, in cells a step.
    MovingWall([f64; 3]),
    /// A plane of symmetry there, half a cell beyond the outermost cells: the flow on its other
    /// side is the mirror image, so that nothing goes through and nothing holds the fluid back.
    /// Bodies that reach the plane go on beyond it.
    FreeSlip,
    /// Fluid comes or goes with this velocity, in cells a step and below 1, at the outermost cells.
    Velocity(Rc<dyn Fn(Place) -> [f64; 3]>),
    /// Fluid comes or goes with this density (pressure × 3) at the outermost cells, straight through the side.
    Pressure(f64),
    /// Fluid leaves with its own velocity, and sound with it; the density tends to this one, within
    /// some ten times the box's length in steps. Where there is nothing to take over from, with one
    /// or two cells along the axis or a body before the side, it is a pressure.
    Outlet(f64),
}

/// How populations come near their equilibrium.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Collision {
    /// One relaxation time (Bhatnagar, Gross, Krook).
    Bgk,
    /// Two, of which the second one follows from this number (Ginzburg): with 3/16 straight walls are exactly half-way.
    Trt {
        /// (1/ω⁺ − ½)(1/ω⁻ − ½).
        magic: f64,
    },
    /// Cumulants (Geier et al. 2015), of D3Q27: for low viscosities and fast flows. Straight walls are not exact.
    Cumulant,
}

/// Part of the box that is solid.
#[derive(Clone)]
pub(crate) struct Body {
    pub inside: Rc<dyn Fn(Place) -> bool>,
    pub velocity: Rc<dyn Fn(Place) -> [f64; 3]>,
    pub centre: [f64; 3],
}

/// A flow to be: its lattice, box, sides, bodies, fluid and beginning. All numbers in units of the lattice: cells, steps,
/// and density 1.
///
/// Every rank describes the same one.
#[derive(Clone)]
pub struct Problem {
    pub(crate) name: String,
    pub(crate) set: VelocitySet,
    pub(crate) extents: [i64; 3],
    pub(crate) sides: [[Side; 2]; 3],
    pub(crate) viscosity: f64,
    pub(crate) collision: Collision,
    pub(crate) smagorinsky: Option<f64>,
    pub(crate) storage: Storage,
    pub(crate) force: [f64; 3],
    pub(crate) forces: Option<Rc<dyn Fn(Place) -> [f64; 3]>>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) density: Rc<dyn Fn(Place) -> f64>,
    pub(crate) velocity: Rc<dyn Fn(Place) -> [f64; 3]>,
}

impl Problem {
    /// A box of so many cells, periodic, at rest; in two dimensions the third extent is 1. Viscosity 1/6, two relaxation
    /// times with the magic number 3/16.
    pub fn new(set: VelocitySet, extents: [i64; 3]) -> Self {
        Self {
            name: "flow".into(),
            set,
            extents,
            sides: Default::default(),
            viscosity: 1.0 / 6.0,
            collision: Collision::Trt { magic: 3.0 / 16.0 },
            smagorinsky: None,
            storage: Storage::Single,
            force: [0.0; 3],
            forces: None,
            bodies: Vec::new(),
            density: Rc::new(|_| 1.0),
            velocity: Rc::new(|_| [0.0; 3]),
        }
    }

    /// What the flow is called: its arrays are called so, too, and a world has one of each name. Else `flow`.
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// What lies beyond both sides of an axis: below its first cells, and above its last ones.
    ///
    /// # Panics
    /// If `axis` is above 2.
    pub fn sides(mut self, axis: usize, below: Side, above: Side) -> Self {
        self.sides[axis] = [below, above];
        self
    }

    /// The kinematic viscosity, in cells² a step. Where it is below 0.02, it is raised near open
    /// sides, see [`sponge_layers`](Self::sponge_layers).
    pub fn viscosity(self, viscosity: f64) -> Self {
        Self { viscosity, ..self }
    }

    /// How populations relax.
    pub fn collision(self, collision: Collision) -> Self {
        Self { collision, ..self }
    }

    /// Adds the viscosity of eddies that the lattice does not resolve, with Smagorinsky's constant (0.1 to 0.2).
    pub fn smagorinsky(self, constant: f64) -> Self {
        Self { smagorinsky: Some(constant), ..self }
    }

    /// A force on each cell of fluid, as gravity is one.
    pub fn force(self, force: [f64; 3]) -> Self {
        Self { force, ..self }
    }

    /// A force of its own on each cell of fluid, beside that on all. It is asked once for each of these, and for no others.
    /// It costs 12 bytes a cell.
    pub fn force_field(self, force: impl Fn(Place) -> [f64; 3] + 'static) -> Self {
        Self { forces: Some(Rc::new(force)), ..self }
    }

    /// How populations are kept.
    pub fn storage(self, storage: Storage) -> Self {
        Self { storage, ..self }
    }

    /// A solid body: the cells for which `inside` is true. Its torque counts about `centre`, in cells; cell 0 has its
    /// middle at 0.
    pub fn body(self, centre: [f64; 3], inside: impl Fn(Place) -> bool + 'static) -> Self {
        self.moving_body(centre, inside, |_| [0.0; 3])
    }

    /// A solid body whose cells stay, but whose surface moves, as that of a wheel.
    pub fn moving_body(
        mut self,
        centre: [f64; 3],
        inside: impl Fn(Place) -> bool + 'static,
        velocity: impl Fn(Place) -> [f64; 3] + 'static,
    ) -> Self {
        self.bodies.push(Body { inside: Rc::new(inside), velocity: Rc::new(velocity), centre });
        self
    }

    /// Density and velocity of each cell at the beginning; else 1 and at rest.
    pub fn start(
        self,
        density: impl Fn(Place) -> f64 + 'static,
        velocity: impl Fn(Place) -> [f64; 3] + 'static,
    ) -> Self {
        Self { density: Rc::new(density), velocity: Rc::new(velocity), ..self }
    }

    /// Its velocities.
    pub fn velocities(&self) -> VelocitySet {
        self.set
    }

    /// What an array of the flow is called.
    pub(crate) fn array_name(&self, what: &str) -> String {
        format!("{} {what}", self.name)
    }

    /// Whether there is fluid in a cell of the box; beyond it there is none.
    pub fn flows(&self, place: Place) -> bool {
        (0..3).all(|axis| (0..self.extents[axis]).contains(&place[axis])) && self.cell(place).flows()
    }

    /// Part by which the velocity of an outlet changes in a step to restore the density that is
    /// wanted, over that of a sound wave with the difference of the densities: 0.2 c / L of a box
    /// of length L.
    pub(crate) fn restoring_speed(&self) -> f64 {
        let outlet = |axis: &usize| self.sides[*axis].iter().any(|side| matches!(side, Side::Outlet(_)));
        (0..3).find(outlet).map_or(0.0, |axis| 0.2 / 3.0_f64.sqrt() / self.extents[axis] as f64)
    }

    /// Whether an axis is periodic.
    pub(crate) fn periodic(&self, axis: usize) -> bool {
        matches!(self.sides[axis][0], Side::Periodic)
    }

    /// How many layers of cells stand before the fluid along an axis.
    pub(crate) fn layer(&self, axis: usize) -> i64 {
        if self.periodic(axis) { 0 } else { 1 }
    }

    /// The extents of the lattice: those of the box, and a layer of cells beyond sides that are not periodic; two behind the
    /// last side where halves need an even number.
    pub(crate) fn lattice(&self) -> [i64; 3] {
        std::array::from_fn(|axis| self.extents[axis] + 2 * self.layer(axis) + self.pad(axis))
    }

    /// ω⁺ and ω⁻.
    pub(crate) fn rates(&self) -> [f64; 2] {
        let even = 3.0 * self.viscosity;
        let uneven = match self.collision {
            Collision::Bgk | Collision::Cumulant => even,
            Collision::Trt { magic } => magic / even,
        };
        [even, uneven].map(|time| 1.0 / (time + 0.5))
    }

    /// Relaxation time τ of the stress: 3 ν + ½.
    pub fn relaxation_time(&self) -> f64 {
        3.0 * self.viscosity + 0.5
    }

    /// The cell with its image one cell beyond free-slip sides, and the steps along each axis from
    /// the image to it; elsewhere the cell itself. Wrapped around where an axis is periodic.
    pub(crate) fn reflected(&self, place: Place) -> (Place, [i64; 3]) {
        let (mut place, mut inward) = (place, [0; 3]);
        for axis in 0..3 {
            let (x, cells) = (place[axis], self.extents[axis]);
            let [below, above] = &self.sides[axis];
            inward[axis] = match (below, above) {
                (Side::Periodic, _) => x.rem_euclid(cells) - x,
                (Side::FreeSlip, _) if x == -1 => 1,
                (_, Side::FreeSlip) if x == cells => -1,
                _ => 0,
            };
            place[axis] += inward[axis];
            if self.periodic(axis) {
                inward[axis] = 0;
            }
        }
        (place, inward)
    }

    /// What the cell at a place is; up to two cells beyond the box. Wrapped around where it is periodic.
    pub(crate) fn cell(&self, place: Place) -> Cell {
        let (place, inward) = self.reflected(place);
        let cell = self.cell_itself(place);
        match cell {
            Cell::Moving(velocity) => {
                Cell::Moving(std::array::from_fn(|k| if inward[k] == 0 { velocity[k] } else { -velocity[k] }))
            }
            _ if inward != [0; 3] && cell.flows() => Cell::Mirror(inward),
            _ => cell,
        }
    }

    /// [`cell`](Self::cell) where nothing is mirrored or wrapped around.
    fn cell_itself(&self, place: Place) -> Cell {
        let beyond = |axis: usize| match place[axis] {
            x if x < 0 => Some(&self.sides[axis][0]),
            x if x >= self.extents[axis] => Some(&self.sides[axis][1]),
            _ => None,
        };
        let all = [beyond(0), beyond(1), beyond(2)];
        if all.iter().any(Option::is_some) {
            return outside(all);
        }
        for body in &self.bodies {
            if (body.inside)(place) {
                let velocity = (body.velocity)(place);
                return if velocity == [0.0; 3] { Cell::Solid } else { Cell::Moving(velocity) };
            }
        }
        for axis in 0..3 {
            for (side, end) in self.sides[axis].iter().zip([0, self.extents[axis] - 1]) {
                if place[axis] != end {
                    continue;
                }
                let open = match side {
                    Side::Velocity(velocity) => Open::Velocity(velocity(place)),
                    Side::Pressure(density) => Open::Pressure(*density),
                    Side::Outlet(density) => Open::Outlet(*density),
                    _ => continue,
                };
                let mut normal = [0; 3];
                normal[axis] = if end == 0 { 1 } else { -1 };
                // Where no fluid comes from, none can be taken over; of two cells either is at a side.
                let before = std::array::from_fn(|axis| place[axis] + normal[axis]);
                let closed = self.extents[axis] <= 2 || self.bodies.iter().any(|body| (body.inside)(before));
                let open = match open {
                    Open::Outlet(density) if closed => Open::Pressure(density),
                    open => open,
                };
                return Cell::Open { normal, open };
            }
        }
        Cell::Fluid
    }
}

/// Whether fluid comes or goes there.
pub(crate) fn is_open(side: &Side) -> bool {
    matches!(side, Side::Velocity(_) | Side::Pressure(_) | Side::Outlet(_))
}

/// The cell beyond one side or, at edges and corners, several. Walls at rest win over those that
/// move; walls that move alike are parts of one, others stop each other. Beyond open sides and
/// images there is nothing but cells at rest.
fn outside(all: [Option<&Side>; 3]) -> Cell {
    let mut moving = None;
    for side in all.into_iter().flatten() {
        match side {
            Side::MovingWall(velocity) if moving.is_none_or(|other| other == *velocity) => moving = Some(*velocity),
            _ => return Cell::Solid,
        }
    }
    moving.map_or(Cell::Solid, Cell::Moving)
}

#[cfg(test)]
mod tests {
    use super::{Cell, Problem, Side, outside};
    use crate::cell::Open;
    use crate::velocities::VelocitySet;

    #[test]
    fn corners_look_at_all_their_walls() {
        let lid = Side::MovingWall([0.1, 0.0, 0.0]);
        let other = Side::MovingWall([0.0, 0.0, 0.1]);
        let (wall, open) = (Side::Wall, Side::Pressure(1.0));
        let corner = |sides: [&Side; 3]| outside(sides.map(Some));
        for turned in 0..3 {
            let turn = |mut sides: [&Side; 3]| {
                sides.rotate_left(turned);
                corner(sides)
            };
            assert_eq!(turn([&lid, &lid, &wall]), Cell::Solid);
            assert_eq!(turn([&lid, &lid, &other]), Cell::Solid);
            assert_eq!(turn([&lid, &lid, &open]), Cell::Solid);
        }
        assert_eq!(corner([&lid; 3]), Cell::Moving([0.1, 0.0, 0.0]));
    }

    /// Beyond a free-slip side lie images of fluid, of bodies, and of walls that move.
    #[test]
    fn mirrors_show_the_cell_before_them() {
        let lid = || Side::MovingWall([0.1, 0.0, 0.2]);
        let problem = Problem::new(VelocitySet::D3Q19, [4, 5, 6])
            .sides(0, Side::FreeSlip, Side::Pressure(1.0))
            .sides(1, lid(), Side::FreeSlip)
            .sides(2, Side::FreeSlip, Side::FreeSlip)
            .moving_body([0.0; 3], |[x, y, _]| x == 0 && y == 2, |_| [0.01, 0.02, 0.03]);
        assert_eq!(problem.cell([-1, 1, 3]), Cell::Mirror([1, 0, 0]));
        assert_eq!(problem.cell([2, 5, 3]), Cell::Mirror([0, -1, 0]));
        assert_eq!(problem.cell([2, 5, -1]), Cell::Mirror([0, -1, 1]));
        assert_eq!(problem.cell([-1, 5, 6]), Cell::Mirror([1, -1, -1]));
        assert_eq!(problem.cell([3, 5, 6]), Cell::Mirror([0, -1, -1]));
        assert_eq!(problem.cell([-1, 2, 3]), Cell::Moving([-0.01, 0.02, 0.03]));
        assert_eq!(problem.cell([-1, 2, -1]), Cell::Moving([-0.01, 0.02, -0.03]));
        assert_eq!(problem.cell([-1, -1, 3]), Cell::Moving([-0.1, 0.0, 0.2]));
        assert_eq!(problem.cell([4, 5, 3]), Cell::Solid);
        assert_eq!(problem.cell([-2, 1, 3]), Cell::Solid);
        let closed = |axis| Problem::new(VelocitySet::D3Q19, [4, 5, 6]).sides(axis, Side::FreeSlip, Side::Wall);
        assert_eq!(closed(1).cell([-3, -1, 7]), Cell::Mirror([0, 1, 0]));
    }

    #[test]
    fn outlets_need_a_cell_before_them() {
        let at = |cells: i64, place: i64| {
            let problem = Problem::new(VelocitySet::D3Q19, [cells, 4, 4]);
            problem.sides(0, Side::Pressure(1.1), Side::Outlet(0.9)).cell([place, 2, 2])
        };
        assert!(matches!(at(3, 2), Cell::Open { open: Open::Outlet(_), .. }));
        assert!(matches!(at(2, 1), Cell::Open { open: Open::Pressure(density), .. } if density == 0.9));
        assert!(matches!(at(2, 0), Cell::Open { open: Open::Pressure(density), .. } if density == 1.1));
    }
}
