//! What was measured while pictures were made.

use zippy::{Moved, Result, World};

use super::phase::{Phase, Times};

/// What was measured: on one rank, then over all of them.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Over all ranks: of the slowest.
    pub times: Times,
    /// Frames.
    pub frames: u32,
    /// Pipelines that were made while compiling, from then to the first frame, and in frames; over all ranks: the most.
    pub pipelines: [u64; 3],
    /// What blending moved, of all frames together; over all ranks: the sum, but rounds.
    pub composite: Moved,
    /// Cells that were cast for the last frame, of each rank.
    pub cells: Vec<u64>,
}

impl Measured {
    /// The slowest rank's times and everything that was moved. Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn over_ranks(mut self, world: &World) -> Result<Self> {
        world.group().all_reduce(&mut self.times.phases, |a, b| *a = a.max(*b))?;
        let mut frames = [self.times.first, self.times.later];
        world.group().all_reduce(&mut frames, |a, b| *a = a.max(*b))?;
        [self.times.first, self.times.later] = frames;
        world.group().all_reduce(&mut self.pipelines, |a, b| *a = (*a).max(*b))?;
        let moved = self.composite;
        let mut sums = [moved.bytes_local, moved.bytes_network, moved.messages];
        world.group().all_reduce(&mut sums, |a, b| *a += b)?;
        let [bytes_local, bytes_network, messages] = sums;
        self.composite = Moved { bytes_local, bytes_network, messages, ..moved };
        let own = self.cells.iter().sum::<u64>();
        self.cells = (0..world.size()).map(|rank| if rank == world.rank() { own } else { 0 }).collect();
        world.group().all_reduce(&mut self.cells, |a, b| *a += b)?;
        Ok(self)
    }

    /// The seconds of the phases in which a picture is made, for one frame.
    pub fn frame_secs(&self) -> f64 {
        let phases = [Phase::Cast, Phase::Composite, Phase::Fetch, Phase::Overhead];
        phases.iter().map(|&phase| self.times.phases[phase as usize]).sum::<f64>() / f64::from(self.frames)
    }

    /// What blending moved for one frame.
    pub fn per_frame(&self) -> Moved {
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
