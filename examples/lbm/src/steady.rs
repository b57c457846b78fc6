//! Detection of steady flows.

use zippy::{Result, World};
use zippy_lbm::cases::Case;
use zippy_lbm::{Fields, Flow};

/// Threshold of a steady flow: the largest change of a velocity, relative to the speed of the case,
/// during the time in which the fluid moves one length of the case.
const STEADY_CHANGE: f64 = 1e-5;

/// Compares the velocities of a flow at intervals.
pub(crate) struct SteadyCheck {
    /// Number of time steps between two comparisons.
    pub interval: u64,
    previous: Option<Vec<f32>>,
}

impl SteadyCheck {
    pub(crate) fn new(case: &Case) -> Self {
        Self { interval: ((case.length / case.speed).round() as u64).max(2), previous: None }
    }

    /// Compares with the previous call. Returns true if the flow is steady. Collective.
    pub(crate) fn is_steady(
        &mut self,
        world: &World,
        case: &Case,
        flow: &mut Flow<'_>,
        fields: &Fields,
    ) -> Result<bool> {
        flow.update_fields(fields)?;
        let mut now = Vec::new();
        for chunk in fields.velocity.chunks() {
            now.append(&mut chunk.all().read()?);
        }
        let largest_change =
            |previous: &Vec<f32>| previous.iter().zip(&now).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        let mut change = [self.previous.as_ref().map_or(f32::INFINITY, largest_change)];
        world.group().all_reduce(&mut change, |a, b| *a = a.max(*b))?;
        self.previous = Some(now);
        Ok(f64::from(change[0]) < STEADY_CHANGE * case.speed)
    }
}
