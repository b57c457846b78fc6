//! Conversion of numbers in files to numbers on the device. 32-bit floats on the device must
//! distinguish the numbers of the file.

use half::f16;
use zippy::World;
use zippy_io::volume::FileScalar;
use zippy_render::volume::{self, FAR, Rescale};

/// Number type of a file.
pub trait Number: FileScalar {
    /// The nearest `f64`.
    fn real(self) -> f64;
    /// Difference to an offset, which is an integer if the type is.
    #[allow(dead_code, reason = "unused in programs that compare with levels only")]
    fn above(self, offset: f64) -> f64;
    /// True if the number equals this integer exactly.
    #[allow(dead_code, reason = "unused in programs without labels")]
    fn is_whole(self, number: i64) -> bool;
    /// Difference to a level. The difference is rounded, but has the right sign and is 0 only for
    /// equal numbers.
    #[allow(dead_code, reason = "unused in programs that compare on the device")]
    fn minus(self, level: Level) -> f64;
}

/// Number on the command line that samples are compared with, such as an isovalue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The nearest `f64`.
    pub nearest: f64,
    /// The exact number if it is written as an integer: `f64` rounds integers beyond 2^53.
    pub whole: Option<i128>,
}

#[allow(dead_code, reason = "unused in programs that compare on the device")]
impl Level {
    /// Parses a finite number.
    ///
    /// # Errors
    /// A message for the command line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number: Option<f64> = text.trim().parse().ok();
        let nearest = number.filter(|number| number.is_finite()).ok_or_else(|| format!("{text:?} is not a number"))?;
        Ok(Self { nearest, whole: text.trim().parse().ok() })
    }

    /// Difference to another level, 0 only for equal levels.
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
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.whole {
            Some(whole) => write!(formatter, "{whole}"),
            None => write!(formatter, "{}", self.nearest),
        }
    }
}

macro_rules! whole {
    ($($type:ty),*) => { $(impl Number for $type {
        fn real(self) -> f64 { self as f64 }
        // `f64` does not distinguish all 64-bit integers.
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
            // The nearest `f64` of an integer may be another integer.
            let rest = level.whole.map_or(0.0, |whole| whole.saturating_sub(level.nearest as i128) as f64);
            f64::from(self) - level.nearest - rest
        }
    })* };
}
floating!(f16, f32, f64);

/// Number type of the volume on the device.
#[allow(dead_code, reason = "unused in programs that hold floats only")]
pub trait Value: volume::Voxel + zippy_isosurface::Sample {
    /// The nearest number of this type.
    fn from_number(number: f64) -> Self;
}

macro_rules! values {
    ($($type:ty),*) => { $(impl Value for $type { fn from_number(number: f64) -> Self { number as $type } })* };
}
values!(u8, i8, u16, i16, u32, i32, f32);

/// Statistics of numbers in the units of the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberStatistics {
    /// Smallest and largest number between -[`FAR`] and [`FAR`].
    near: [f64; 2],
    /// Smallest and largest finite number of at most -[`FAR`].
    low: [f64; 2],
    /// Smallest and largest finite number of at least [`FAR`].
    high: [f64; 2],
    /// Count of finite numbers that `f32` rounds.
    pub rounded: u64,
    /// Count of all numbers.
    pub all: u64,
    /// Count of NaNs.
    pub nan: u64,
    /// Count of infinite numbers.
    pub infinite: u64,
    /// Count of finite numbers beyond -[`FAR`] or [`FAR`].
    pub far: u64,
}

const EMPTY_RANGE: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

impl Default for NumberStatistics {
    fn default() -> Self {
        Self { near: EMPTY_RANGE, low: EMPTY_RANGE, high: EMPTY_RANGE, rounded: 0, all: 0, nan: 0, infinite: 0, far: 0 }
    }
}

impl NumberStatistics {
    /// Adds a number.
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

    /// Combines the statistics of all ranks. Collective.
    ///
    /// # Errors
    /// A failure of any rank.
    pub fn over_ranks(self, world: &World) -> zippy::Result<Self> {
        let mut ends = [self.near, self.low, self.high].map(|[least, most]| [least, -most]);
        world.group().all_reduce(ends.as_flattened_mut(), |a, b| *a = a.min(*b))?;
        let [near, low, high] = ends.map(|[least, most]| [least, -most]);
        let mut counts = [self.rounded, self.all, self.nan, self.infinite, self.far];
        world.group().all_reduce(&mut counts, |a, b| *a += b)?;
        let [rounded, all, nan, infinite, far] = counts;
        Ok(Self { near, low, high, rounded, all, nan, infinite, far })
    }

    /// Smallest and largest number between -[`FAR`] and [`FAR`]; `None` if there is none.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.near[0] <= self.near[1]).then_some((self.near[0], self.near[1]))
    }

    /// Smallest and largest finite number; `None` if there is none.
    #[allow(dead_code, reason = "unused in programs that leave out numbers far away")]
    pub fn finite(&self) -> Option<(f64, f64)> {
        let sides = [self.near, self.low, self.high];
        let [least, most] = sides.into_iter().fold(EMPTY_RANGE, |all, side| [all[0].min(side[0]), all[1].max(side[1])]);
        (least <= most).then_some((least, most))
    }

    /// True if `f64` may have rounded some of the numbers, if they are integers.
    #[allow(dead_code, reason = "unused in programs that draw only")]
    pub fn is_beyond_f64(&self) -> bool {
        self.finite().is_some_and(|(least, most)| least.abs().max(most.abs()) >= 2.0_f64.powi(53))
    }

    /// Units in which `f32` holds the range of the numbers and distinguishes at least 2^16 levels
    /// of it; the identity if the numbers already fit. `whole`: the numbers are integers.
    pub fn units(&self, whole: bool) -> Rescale {
        // A single number beyond `FAR` on a side usually marks missing data; several are data.
        let is_single = |[least, most]: [f64; 2]| least >= most;
        let has_no_near = self.range().is_none();
        let sides = [self.low, self.high].into_iter().filter(|side| has_no_near || !is_single(*side));
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

/// Converts a number to units, without rounding.
#[allow(dead_code, reason = "unused in programs that compare with levels only")]
pub fn to_units<N: Number>(number: N, units: &Rescale) -> f64 {
    number.above(units.intercept) / units.slope
}

/// The nearest `f32` between -[`FAR`] and [`FAR`]. `nan_value` replaces NaN.
#[allow(dead_code, reason = "unused in programs that draw no NaN")]
pub fn float(number: f64, nan_value: f64) -> f32 {
    (if number.is_nan() { nan_value } else { number.clamp(-FAR, FAR) }) as f32
}
