//! Whether a flow still changes.

use zippy::{Result, World};
use zippy_lbm::cases::Case;
use zippy_lbm::{Fields, Flow};

/// A flow is steady when its velocities change by less than this part of its speed while the fluid goes its length.
const STEADY: f64 = 1e-5;

/// Looks at a flow from time to time.
pub struct Watch {
    /// Steps from look to look.
    pub every: u64,
    before: Option<Vec<f32>>,
}

impl Watch {
    pub fn new(case: &Case) -> Self {
        Self { every: ((case.length / case.speed).round() as u64).max(2), before: None }
    }

    /// Whether it has not changed since the last look. Collective.
    pub fn look(&mut self, world: &World, case: &Case, flow: &mut Flow, fields: &Fields) -> Result<bool> {
        flow.fields_into(fields)?;
        let mut now = Vec::new();
        for chunk in fields.velocity.chunks() {
            now.append(&mut chunk.all().read()?);
        }
        let far = |before: &Vec<f32>| before.iter().zip(&now).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        let mut change = [self.before.as_ref().map_or(f32::INFINITY, far)];
        world.group().all_reduce(&mut change, |one, other| *one = one.max(*other))?;
        self.before = Some(now);
        Ok(f64::from(change[0]) < STEADY * case.speed)
    }
}
