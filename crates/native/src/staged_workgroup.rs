use crate::emit::LANES;
use crate::ir::Label;
use crate::machine_code::{Row, RunWorker};
use crate::stages::Stage;

/// Workgroup of a kernel with barriers, executed stage by stage.
pub(crate) struct StagedWorkgroup<'a, 'w> {
    pub worker: &'a mut RunWorker<'w>,
    pub size: [u32; 3],
    pub frame_bytes: u32,
    /// Offset in the frame, in bytes, of a word that is 1 after the return of the invocation.
    pub returned: u32,
    pub index: [u32; 3],
}

/// Control flow at the end of a list of stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StageEnd {
    FallsThrough,
    Break(Label),
    Repeat(Label),
    /// All invocations have returned, or the run has stopped.
    Finished,
}

pub(crate) fn frame_bytes_of([x, y, z]: [u32; 3], frame_bytes: u32) -> usize {
    let lanes = (x as usize).next_multiple_of(LANES).saturating_mul(y as usize).saturating_mul(z as usize);
    lanes.saturating_mul(frame_bytes as usize)
}

impl StagedWorkgroup<'_, '_> {
    pub(crate) fn run(&mut self, stages: &[Stage]) {
        self.worker.clear_workgroup();
        self.worker.clear_frames();
        self.run_stages(stages);
    }

    fn run_stages(&mut self, stages: &[Stage]) -> StageEnd {
        for stage in stages {
            let end = match stage {
                Stage::Region(function) => self.run_region(*function),
                Stage::If { condition, accept, reject } => match self.first_running() {
                    Some(lane) if self.frame_word(lane, *condition) != 0 => self.run_stages(accept),
                    Some(_) => self.run_stages(reject),
                    None => StageEnd::Finished,
                },
                Stage::Block { label, body } => match self.run_stages(body) {
                    StageEnd::Break(to) if to == *label => StageEnd::FallsThrough,
                    other => other,
                },
                Stage::Loop { label, body, line } => loop {
                    match self.run_stages(body) {
                        StageEnd::Repeat(_) if self.worker.stops_at(*line) => break StageEnd::Finished,
                        StageEnd::Repeat(to) if to == *label && self.first_running().is_some() => {}
                        StageEnd::Repeat(to) if to == *label => break StageEnd::Finished,
                        other => break other,
                    }
                },
                Stage::Break(label) => StageEnd::Break(*label),
                Stage::Repeat(label) => StageEnd::Repeat(*label),
            };
            if end != StageEnd::FallsThrough {
                return end;
            }
        }
        StageEnd::FallsThrough
    }

    fn run_region(&mut self, function: usize) -> StageEnd {
        let [sx, sy, sz] = self.size;
        let [x, y, z] = [0, 1, 2].map(|axis| self.index[axis] * self.size[axis]);
        for row in 0..sy * sz {
            let invocations = Row { x: [x, x + sx], y: y + row % sy, z: z + row / sy };
            let frame = self.frame_offset(row * sx);
            if !self.worker.run_row(function, invocations, frame) {
                return StageEnd::Finished;
            }
        }
        StageEnd::FallsThrough
    }

    fn frame_offset(&self, invocation: u32) -> usize {
        let (x, row) = ((invocation % self.size[0]) as usize, (invocation / self.size[0]) as usize);
        let lanes = row * (self.size[0] as usize).next_multiple_of(LANES) + x / LANES * LANES;
        lanes * self.frame_bytes as usize
    }

    fn frame_word(&self, invocation: u32, offset: u32) -> u32 {
        let lane = (invocation % self.size[0]) as usize % LANES;
        self.worker.frame_word(self.frame_offset(invocation) + offset as usize * LANES + 4 * lane)
    }

    fn first_running(&self) -> Option<u32> {
        (0..self.size.iter().product()).find(|invocation| self.frame_word(*invocation, self.returned) == 0)
    }
}
