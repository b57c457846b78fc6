//! Phases of a job and their times.

/// Phase of a job, in the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Start,
    Open,
    Compile,
    Read,
    Prepare,
    Cast,
    Composite,
    Fetch,
    Overhead,
    Write,
}

impl Phase {
    pub const COUNT: usize = Self::ALL.len();
    pub const ALL: [Self; 10] = [
        Self::Start,
        Self::Open,
        Self::Compile,
        Self::Read,
        Self::Prepare,
        Self::Cast,
        Self::Composite,
        Self::Fetch,
        Self::Overhead,
        Self::Write,
    ];

    /// Short name in the report, and a description.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Start => ("start", "starting the ranks and their devices"),
            Self::Open => ("open", "opening the volume and the scene"),
            Self::Compile => ("compile", "compiling the kernels"),
            Self::Read => ("read", "reading the chunks of each rank"),
            Self::Prepare => ("prepare", "making bricks and tables"),
            Self::Cast => ("cast", "casting rays through the bricks"),
            Self::Composite => ("composite", "blending the layers"),
            Self::Fetch => ("fetch", "reading the picture back"),
            Self::Overhead => ("overhead", "the rest of a frame"),
            Self::Write => ("write", "writing the file"),
        }
    }

    /// Description of the next phase.
    pub fn next(self) -> &'static str {
        Self::ALL.get(self as usize + 1).map_or("", |next| next.names().1)
    }
}

/// Times of the phases and frames of a job, in seconds.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// Time of each phase. The phases of a frame are sums over the recorded frames.
    pub phases: [f64; Phase::COUNT],
    /// Time of the first frame, recorded or not.
    pub first_frame: f64,
    /// Total time of the frames after the first one.
    pub later_frames: f64,
    /// Number of frames after the first one.
    pub later_count: u32,
}

impl Times {
    /// Adds the time of a frame.
    pub fn add_frame(&mut self, secs: f64) {
        if self.first_frame == 0.0 {
            self.first_frame = secs;
        } else {
            self.later_frames += secs;
            self.later_count += 1;
        }
    }

    /// Mean time of the frames after the first one; `None` if there is only one frame.
    pub fn later_frame(&self) -> Option<f64> {
        (self.later_count > 0).then(|| self.later_frames / f64::from(self.later_count))
    }
}
