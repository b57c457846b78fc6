//! Velocity and density together, a record a cell, as files want them.

use zippy::error::CallSite;
use zippy::{Element, GlobalArray, Result};

use super::{Fields, Flow, on_lattice, scalars};

/// What a cell of fluid does; zeros where there is none. A file of such cells has velocities as vectors.
#[derive(Debug, Clone, Copy, PartialEq, Default, Element)]
#[repr(C)]
pub struct Motion {
    /// The velocity, in cells a step.
    pub velocity: [f32; 3],
    /// The density beyond 1.
    pub excess: f32,
}

impl Flow<'_> {
    /// An array for [`motion_into`](Self::motion_into): 16 bytes a cell.
    ///
    /// # Errors
    /// A name that is taken; no memory.
    #[track_caller]
    pub fn motion_array(&self, name: &str) -> Result<GlobalArray<Motion, 3>> {
        let _call = CallSite::enter();
        on_lattice(self.world, &self.problem, &self.parts, name, &scalars(&self.problem, &self.parts))
    }

    /// Density and velocity now, by way of the host, chunk by chunk. `fields` takes them, too.
    ///
    /// # Errors
    /// Arrays that are not of this flow; a failure of this or of another rank.
    #[track_caller]
    pub fn motion_into(&mut self, fields: &Fields, motion: &GlobalArray<Motion, 3>) -> Result<()> {
        let _call = CallSite::enter();
        let own = self.owns(motion).map_err(Into::into);
        self.world.agree("an array for the motion of a flow", own)?;
        self.fields_into(fields)?;
        let mut written = Ok(());
        for (excess, velocity, motion) in zippy::together((&fields.excess, &fields.velocity, motion))? {
            let together = || -> Result<()> {
                let (excess, u) = (excess.all().read()?, velocity.all().read()?);
                let count = excess.len();
                let cell =
                    |(i, &excess): (usize, &f32)| Motion { velocity: [0, 1, 2].map(|k| u[k * count + i]), excess };
                motion.all().write(&excess.iter().enumerate().map(cell).collect::<Vec<_>>())
            };
            written = written.and_then(|()| together());
        }
        self.world.agree("density and velocity together", written)
    }
}
