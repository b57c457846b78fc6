//! The parts of the job, and how long each took.

/// The parts of the job, in order.
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

    /// Its name in the report, and what is done in it.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Start => ("start", "starting the ranks and their devices"),
            Self::Open => ("open", "opening the volume and the scene"),
            Self::Compile => ("compile", "compiling the kernels"),
            Self::Read => ("read", "reading each rank's part"),
            Self::Prepare => ("prepare", "making bricks of the volume, tables"),
            Self::Cast => ("cast", "casting rays through the bricks"),
            Self::Composite => ("composite", "blending the layers"),
            Self::Fetch => ("fetch", "reading the picture back"),
            Self::Overhead => ("overhead", "the rest of a frame"),
            Self::Write => ("write", "writing the file"),
        }
    }

    /// What is done after it.
    pub fn next(self) -> &'static str {
        Self::ALL.get(self as usize + 1).map_or("", |next| next.names().1)
    }
}

/// Seconds.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// Of each phase; those of frames are sums over the frames that are kept.
    pub phases: [f64; Phase::COUNT],
    /// Of the first frame that was rendered, kept or not.
    pub first: f64,
    /// Of all frames after it, together.
    pub later: f64,
    /// How many those are.
    pub count: u32,
}

impl Times {
    /// One more frame.
    pub fn add_frame(&mut self, secs: f64) {
        if self.first == 0.0 {
            self.first = secs;
        } else {
            self.later += secs;
            self.count += 1;
        }
    }

    /// Of one frame after the first one, if there was any.
    pub fn later_frame(&self) -> Option<f64> {
        (self.count > 0).then(|| self.later / f64::from(self.count))
    }
}
