//! The numbers of a file, and how the device holds them: 32-bit floats must be able to tell them apart.

use half::f16;
use zippy::World;
use zippy_io::volume::FileScalar;
use zippy_render::volume::{self, FAR, Rescale};

/// A number of a file.
pub trait Number: FileScalar {
    /// The nearest float.
    fn real(self) -> f64;
    /// How far it is above an offset, which is whole where the type is.
    #[allow(dead_code)] // in programs that compare with levels only
    fn above(self, offset: f64) -> f64;
    /// True for exactly this whole number.
    #[allow(dead_code)] // in programs without labels
    fn is_whole(self, number: i64) -> bool;
    /// Difference to a level: rounded, but 0 for equal numbers only, and always of the right sign.
    #[allow(dead_code)] // in programs that compare on the device
    fn minus(self, level: Level) -> f64;
}

/// A number of a command line that samples are compared with, such as an isovalue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The nearest float.
    pub nearest: f64,
    /// The number itself if it is written as an integer: floats round those beyond 2^53.
    pub whole: Option<i128>,
}

#[allow(dead_code)] // in programs that compare on the device
impl Level {
    /// Reads a finite number.
    ///
    /// # Errors
    /// A message for the command line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number: Option<f64> = text.trim().parse().ok();
        let nearest = number.filter(|number| number.is_finite()).ok_or_else(|| format!("{text:?} is not a number"))?;
        Ok(Self { nearest, whole: text.trim().parse().ok() })
    }

    /// Difference to another level, 0 for equal ones only.
    pub fn minus(self, other: Self) -> f64 {
        match (self.whole, other.whole) {
            (Some(a), Some(b)) => a.saturating_sub(b) as f64,
            (None, _) => self.nearest.minus(other),
            (_, None) => -other.nearest.minus(self),
        }
    }
}

impl From<f64> for Level {
    fn from(nearest: f64) -> Self {
        Self { nearest, whole: None }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.whole {
            Some(whole) => write!(to, "{whole}"),
            None => write!(to, "{}", self.nearest),
        }
    }
}

macro_rules! whole {
    ($($type:ty),*) => { $(impl Number for $type {
        fn real(self) -> f64 { self as f64 }
        // Floats do not tell all integers of 64 bits apart.
        fn above(self, offset: f64) -> f64 { (self as i128 - offset as i128) as f64 }
        fn is_whole(self, number: i64) -> bool { self as i128 == i128::from(number) }
        fn minus(self, level: Level) -> f64 {
            let floor = level.whole.unwrap_or(level.nearest.floor() as i128);
            let fraction = if level.whole.is_some() { 0.0 } else { level.nearest - level.nearest.floor() };
            (self as i128).saturating_sub(floor) as f64 - fraction
        }
    })* };
}
whole!(u8, i8, u16, i16, u32, i32, u64, i64);

macro_rules! floating {
    ($($type:ty),*) => { $(impl Number for $type {
        fn real(self) -> f64 { self.into() }
        fn above(self, offset: f64) -> f64 { f64::from(self) - offset }
        fn is_whole(self, number: i64) -> bool { f64::from(self) == number as f64 }
        fn minus(self, level: Level) -> f64 {
            // The nearest float of a whole number may be another whole number.
            let rest = level.whole.map_or(0.0, |whole| whole.saturating_sub(level.nearest as i128) as f64);
            f64::from(self) - level.nearest - rest
        }
    })* };
}
floating!(f16, f32, f64);

/// A number of the volume on the device.
#[allow(dead_code)] // in programs that hold floats only
pub trait Value: volume::Voxel + zippy_isosurface::Sample {
    /// The nearest one.
    fn from_number(number: f64) -> Self;
}

macro_rules! values {
    ($($type:ty),*) => { $(impl Value for $type { fn from_number(number: f64) -> Self { number as $type } })* };
}
values!(u8, i8, u16, i16, u32, i32, f32);

/// The numbers that were found, in the units that the device holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The smallest and the largest useful one.
    near: [f64; 2],
    /// Those of finite ones of at most -[`FAR`], and of at least [`FAR`].
    low: [f64; 2],
    high: [f64; 2],
    /// Finite numbers between 32-bit floats.
    pub rounded: u64,
    /// All numbers, and those of them that are NaN, infinite, or finite and as far away.
    pub all: u64,
    pub nan: u64,
    pub infinite: u64,
    pub far: u64,
}

const NOTHING: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

impl Default for Found {
    fn default() -> Self {
        Self { near: NOTHING, low: NOTHING, high: NOTHING, rounded: 0, all: 0, nan: 0, infinite: 0, far: 0 }
    }
}

impl Found {
    /// One more.
    pub fn add(&mut self, number: f64) {
        self.all += 1;
        self.rounded += u64::from(number.is_finite() && f64::from(number as f32) != number);
        let range = if number.abs() < FAR {
            &mut self.near
        } else if number.is_finite() {
            self.far += 1;
            if number < 0.0 { &mut self.low } else { &mut self.high }
        } else {
            *(if number.is_nan() { &mut self.nan } else { &mut self.infinite }) += 1;
            return;
        };
        *range = [range[0].min(number), range[1].max(number)];
    }

    /// What all ranks have found. Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn over_ranks(self, world: &World) -> zippy::Result<Self> {
        let mut ends = [self.near, self.low, self.high].map(|[least, most]| [least, -most]);
        world.group().all_reduce(ends.as_flattened_mut(), |a, b| *a = a.min(*b))?;
        let [near, low, high] = ends.map(|[least, most]| [least, -most]);
        let mut counts = [self.rounded, self.all, self.nan, self.infinite, self.far];
        world.group().all_reduce(&mut counts, |a, b| *a += b)?;
        let [rounded, all, nan, infinite, far] = counts;
        Ok(Self { near, low, high, rounded, all, nan, infinite, far })
    }

    /// The smallest and the largest useful number; `None` where there is none.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.near[0] <= self.near[1]).then_some((self.near[0], self.near[1]))
    }

    /// The smallest and the largest finite number; `None` where there is none.
    #[allow(dead_code)] // in programs that leave out numbers far away
    pub fn finite(&self) -> Option<(f64, f64)> {
        let sides = [self.near, self.low, self.high];
        let [least, most] = sides.into_iter().fold(NOTHING, |all, side| [all[0].min(side[0]), all[1].max(side[1])]);
        (least <= most).then_some((least, most))
    }

    /// True for numbers that floats of 64 bits may have rounded, if they are integers.
    #[allow(dead_code)] // in programs that draw only
    pub fn is_beyond_f64(&self) -> bool {
        self.finite().is_some_and(|(least, most)| least.abs().max(most.abs()) >= 2.0_f64.powi(53))
    }

    /// Units in which 32-bit floats keep at least 2^16 levels of the numbers' range, and hold it; those the numbers
    /// have where they do. `whole`: the numbers are integers.
    pub fn units(&self, whole: bool) -> Rescale {
        // Far away a single number on either side stands for "nothing"; several are what there is to see.
        let alone = |[least, most]: [f64; 2]| least >= most;
        let nothing = self.range().is_none();
        let sides = [self.low, self.high].into_iter().filter(|side| nothing || !alone(*side));
        let [min, max] = sides.fold(self.near, |[least, most], side| [least.min(side[0]), most.max(side[1])]);
        if min > max {
            return Rescale::default();
        }
        let (size, range) = (min.abs().max(max.abs()), max - min);
        let exact = if whole { size <= f64::from(1 << 24) } else { range == 0.0 && f64::from(min as f32) == min };
        let shifted = size > 256.0 * range && !exact && size.is_finite();
        let (intercept, size) = if shifted { (min, range) } else { (0.0, size) };
        let fits = whole || size == 0.0 || (1.0 / FAR..FAR).contains(&size);
        Rescale { slope: if fits { 1.0 } else { size.log2().floor().exp2() }, intercept }
    }
}

/// A number in units, not yet rounded.
#[allow(dead_code)] // in programs that compare with levels only
pub fn held<N: Number>(number: N, units: &Rescale) -> f64 {
    number.above(units.intercept) / units.slope
}

/// The nearest useful float; `none` stands for NaN.
#[allow(dead_code)] // in programs that draw no NaN
pub fn float(number: f64, none: f64) -> f32 {
    (if number.is_nan() { none } else { number.clamp(-FAR, FAR) }) as f32
}
