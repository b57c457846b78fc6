//! Builds the case of a case file.

use zippy::error::CallSite;
use zippy::{Result, World};

use super::add_bodies::BodyBuilder;
use super::add_sides::add_sides;
use super::body_file::LoadShape;
use super::parse::{CaseFile, velocity_set};
use super::schema::CollisionName;
use crate::cases::Case;
use crate::collision::Collision;
use crate::problem::Problem;

impl CaseFile {
    /// Builds the case with its bodies; `load` reads the files of bodies. Collective.
    ///
    /// # Errors
    /// The errors of `load`; a shape that cannot become solid cells. The same on every rank.
    #[track_caller]
    pub fn build_case(&self, world: &World, load: &LoadShape<'_>) -> Result<Case> {
        let _call = CallSite::enter();
        let (tables, units) = (&self.tables, &self.units);
        let (lattice, fluid) = (tables.lattice.get_ref(), tables.fluid.get_ref());
        let reference = tables.reference.get_ref();
        let set = velocity_set(lattice);
        let magic = lattice.magic.unwrap_or(Collision::EXACT_WALL_MAGIC);
        let velocity = fluid.velocity.map(|u| u / units.speed());
        let mut problem = Problem::new(set, lattice.cells)
            .viscosity(fluid.viscosity / units.viscosity())
            .force(fluid.acceleration.map(|a| a / units.acceleration()))
            .collision(match lattice.collision {
                None | Some(CollisionName::Trt) => Collision::Trt { magic },
                Some(CollisionName::Bgk) => Collision::Bgk,
                Some(CollisionName::Cumulant) => Collision::Cumulant,
            })
            .initial_flow(|_| 1.0, move |_| velocity);
        if let Some(constant) = lattice.smagorinsky {
            problem = problem.smagorinsky(constant);
        }
        let problem = add_sides(problem, tables, units);
        let mut builder = BodyBuilder::new(world, problem, units, load);
        for table in &tables.bodies {
            builder.add_body(table.get_ref())?;
        }
        Ok(Case {
            name: "described",
            problem: builder.problem,
            length: reference.length / units.cell,
            speed: reference.speed / units.speed(),
            steps: tables.steps,
            exact_velocity: None,
            area: reference.area.map(|area| area / units.cell.powi(set.axes() as i32 - 1)),
            body_warnings: builder.warnings,
        })
    }
}
