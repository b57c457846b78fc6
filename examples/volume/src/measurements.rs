//! Measurements of the rendering.

use zippy::{Moved, Result, World};

use super::phase::{Phase, Times};

/// Measurements of one rank; after [`over_ranks`](Self::over_ranks), of all ranks.
#[derive(Debug, Clone)]
pub struct Measurements {
    /// Times; over all ranks, the maximum.
    pub times: Times,
    /// Number of rendered frames.
    pub frames: u32,
    /// Numbers of pipelines that were created for compilation, between compilation and the first
    /// frame, and in frames. Over all ranks: the maximum.
    pub pipelines: [u64; 3],
    /// Compositing traffic of all frames. Over all ranks: the sum, except the number of rounds.
    pub composite: Moved,
    /// Number of cells that the rank cast for the last frame. Over all ranks: one entry for each
    /// rank, in ascending order of ranks.
    pub cells: Vec<u64>,
}

impl Measurements {
    /// Reduces the measurements over all ranks: maximum of times, sum of traffic. Collective.
    ///
    /// # Errors
    /// A failure of any rank.
    pub fn over_ranks(mut self, world: &World) -> Result<Self> {
        world.group().all_reduce(&mut self.times.phases, |a, b| *a = a.max(*b))?;
        let mut frame_times = [self.times.first_frame, self.times.later_frames];
        world.group().all_reduce(&mut frame_times, |a, b| *a = a.max(*b))?;
        [self.times.first_frame, self.times.later_frames] = frame_times;
        world.group().all_reduce(&mut self.pipelines, |a, b| *a = (*a).max(*b))?;
        let moved = self.composite;
        let mut sums = [moved.bytes_local, moved.bytes_network, moved.messages];
        world.group().all_reduce(&mut sums, |a, b| *a += b)?;
        let [bytes_local, bytes_network, messages] = sums;
        self.composite = Moved { bytes_local, bytes_network, messages, ..moved };
        let local_cells = self.cells.iter().sum::<u64>();
        self.cells = (0..world.size()).map(|rank| if rank == world.rank() { local_cells } else { 0 }).collect();
        world.group().all_reduce(&mut self.cells, |a, b| *a += b)?;
        Ok(self)
    }

    /// Seconds of one frame: the sum of its phases.
    pub fn frame_secs(&self) -> f64 {
        let phases = [Phase::Cast, Phase::Composite, Phase::Fetch, Phase::Overhead];
        phases.iter().map(|&phase| self.times.phases[phase as usize]).sum::<f64>() / f64::from(self.frames)
    }

    /// Compositing traffic of one frame.
    pub fn traffic_per_frame(&self) -> Moved {
        let share = |sum: u64| sum / u64::from(self.frames);
        let Moved { bytes_local, bytes_network, messages, rounds } = self.composite;
        Moved {
            bytes_local: share(bytes_local),
            bytes_network: share(bytes_network),
            messages: share(messages),
            rounds,
        }
    }
}
