//! Workgroups whose invocations run together, stage by stage.

use crate::code::{Row, Worker};
use crate::emit::LANES;
use crate::ir::Label;
use crate::stages::Stage;

/// One workgroup's way through the stages.
pub struct Group<'a, 'w> {
    pub worker: &'a mut Worker<'w>,
    pub size: [u32; 3],
    pub frame_bytes: u32,
    /// Offset in the frame of a word that is 1 where the invocation has returned.
    pub returned: u32,
    /// Index of the workgroup.
    pub index: [u32; 3],
}

/// How stages end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Falls,
    Break(Label),
    Repeat(Label),
    /// All invocations have returned, or the run stops.
    Over,
}

/// Bytes of the frames of a workgroup.
pub fn frames_bytes([x, y, z]: [u32; 3], frame_bytes: u32) -> usize {
    let lanes = (x as usize).next_multiple_of(LANES).saturating_mul(y as usize).saturating_mul(z as usize);
    lanes.saturating_mul(frame_bytes as usize)
}

impl Group<'_, '_> {
    /// Runs all stages of the workgroup.
    pub fn run(&mut self, stages: &[Stage]) {
        self.worker.clear_workgroup();
        self.worker.clear_frames();
        self.stages(stages);
    }

    fn stages(&mut self, stages: &[Stage]) -> End {
        for stage in stages {
            let end = match stage {
                Stage::Region(function) => self.region(*function),
                Stage::If { condition, accept, reject } => match self.first_running() {
                    Some(lane) if self.word(lane, *condition) != 0 => self.stages(accept),
                    Some(_) => self.stages(reject),
                    None => End::Over,
                },
                Stage::Block { label, body } => match self.stages(body) {
                    End::Break(to) if to == *label => End::Falls,
                    other => other,
                },
                Stage::Loop { label, body, line } => loop {
                    match self.stages(body) {
                        End::Repeat(_) if self.worker.stops_at(*line) => break End::Over,
                        End::Repeat(to) if to == *label && self.first_running().is_some() => {}
                        End::Repeat(to) if to == *label => break End::Over,
                        other => break other,
                    }
                },
                Stage::Break(label) => End::Break(*label),
                Stage::Repeat(label) => End::Repeat(*label),
            };
            if end != End::Falls {
                return end;
            }
        }
        End::Falls
    }

    fn region(&mut self, function: usize) -> End {
        let [sx, sy, sz] = self.size;
        let [x, y, z] = [0, 1, 2].map(|axis| self.index[axis] * self.size[axis]);
        for row in 0..sy * sz {
            let place = Row { x: [x, x + sx], y: y + row % sy, z: z + row / sy };
            let frame = self.frame_of(row * sx);
            if !self.worker.row(function, place, frame) {
                return End::Over;
            }
        }
        End::Falls
    }

    /// Byte at which the frames of an invocation's group begin.
    fn frame_of(&self, invocation: u32) -> usize {
        let (x, row) = ((invocation % self.size[0]) as usize, (invocation / self.size[0]) as usize);
        let lanes = row * (self.size[0] as usize).next_multiple_of(LANES) + x / LANES * LANES;
        lanes * self.frame_bytes as usize
    }

    fn word(&self, invocation: u32, offset: u32) -> u32 {
        let lane = (invocation % self.size[0]) as usize % LANES;
        self.worker.frame_word(self.frame_of(invocation) + offset as usize * LANES + 4 * lane)
    }

    fn first_running(&self) -> Option<u32> {
        (0..self.size.iter().product()).find(|invocation| self.word(*invocation, self.returned) == 0)
    }
}
