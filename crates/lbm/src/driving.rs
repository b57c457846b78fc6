//! Scaling of the velocities and forces that drive a flow.

use std::rc::Rc;

use crate::problem::{Body, Problem, VectorField};
use crate::side::Side;

impl Problem {
    /// Problem with all velocities of sides and bodies, and all forces, multiplied by a factor.
    /// Viscosity, densities and the initial flow stay.
    #[must_use]
    pub fn scale_driving(&self, factor: f64) -> Self {
        let scale = move |u: [f64; 3]| u.map(|x| x * factor);
        let scale_field = |field: &VectorField| -> VectorField {
            let field = Rc::clone(field);
            Rc::new(move |cell| scale(field(cell)))
        };
        let scale_side = |side: &Side| match side {
            Side::MovingWall(velocity) => Side::MovingWall(scale(*velocity)),
            Side::Velocity(velocity) => Side::Velocity(scale_field(velocity)),
            other => other.clone(),
        };
        let scale_body = |body: &Body| Body { velocity: scale_field(&body.velocity), ..body.clone() };
        Self {
            force_field: self.force_field.as_ref().map(scale_field),
            sides: self.sides.each_ref().map(|sides| sides.each_ref().map(scale_side)),
            bodies: self.bodies.iter().map(scale_body).collect(),
            force: scale(self.force),
            ..self.clone()
        }
    }

    /// True if a side with a velocity or a force drives the flow. Bodies do not count.
    pub fn is_driven(&self) -> bool {
        let has_velocity = |side: &Side| matches!(side, Side::MovingWall(_) | Side::Velocity(_));
        self.sides.iter().flatten().any(has_velocity) || self.force != [0.0; 3] || self.force_field.is_some()
    }
}
