//! What drives a flow, as one number: the same flow, driven faster or slower.

use std::rc::Rc;

use crate::cases::Case;
use crate::problem::{Body, Place, Problem, Side};

impl Problem {
    /// The same, driven `factor` times as fast: velocities at sides, of walls and of bodies, and forces. Viscosity,
    /// densities and the beginning stay.
    #[must_use]
    pub fn driven(&self, factor: f64) -> Self {
        let times = move |u: [f64; 3]| u.map(|x| x * factor);
        let side = |side: &Side| match side {
            Side::MovingWall(velocity) => Side::MovingWall(times(*velocity)),
            Side::Velocity(velocity) => {
                let velocity = Rc::clone(velocity);
                Side::Velocity(Rc::new(move |place| times(velocity(place))))
            }
            other => other.clone(),
        };
        let body = |body: &Body| {
            let velocity = Rc::clone(&body.velocity);
            Body { velocity: Rc::new(move |place| times(velocity(place))), ..body.clone() }
        };
        let forces = self
            .forces
            .clone()
            .map(|force| -> Rc<dyn Fn(Place) -> [f64; 3]> { Rc::new(move |place| times(force(place))) });
        Self {
            forces,
            sides: self.sides.each_ref().map(|sides| sides.each_ref().map(side)),
            bodies: self.bodies.iter().map(body).collect(),
            force: times(self.force),
            ..self.clone()
        }
    }

    /// Whether a side moves the fluid, or a force. Bodies that move are not asked.
    pub fn is_driven(&self) -> bool {
        let drives = |side: &Side| matches!(side, Side::MovingWall(_) | Side::Velocity(_));
        self.sides.iter().flatten().any(drives) || self.force != [0.0; 3] || self.forces.is_some()
    }
}

impl Case {
    /// The same with another speed, in cells a step, to which everything that drives it is changed in proportion. The viscosity
    /// stays, so the Reynolds number does not; what is known of its velocities is known no more.
    #[must_use]
    pub fn driven(&self, speed: f64) -> Self {
        Self { problem: self.problem.driven(speed / self.speed), speed, exact: None, ..self.clone() }
    }
}
