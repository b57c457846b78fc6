//! Levels that samples are compared with, and 32-bit floats that keep samples on their sides.

use zippy::{Result, World};
use zippy_render::volume::Rescale;

use crate::units::{Level, Number};

impl Level {
    /// A number of a report.
    pub fn json(self) -> serde_json::Value {
        let whole = self.whole.and_then(|whole| match u64::try_from(whole) {
            Ok(whole) => Some(serde_json::json!(whole)),
            Err(_) => i64::try_from(whole).ok().map(|whole| serde_json::json!(whole)),
        });
        // Numbers that floats have look as these do.
        whole.filter(|_| self.nearest.abs() >= 2.0_f64.powi(53)).unwrap_or(serde_json::json!(self.nearest))
    }
}

/// Name of the field in files.
pub const NAME: &str = "field";

/// Samples go no further, so that differences of two stay finite.
const MOST: f64 = 1e38;

/// Differences between these, in magnitude, need no unit of their own.
const USUAL: [f64; 2] = [1e-30, 1e30];

/// A level is coarse if most of the samples within 16 times this number of steps of floats are
/// within this number of steps.
const STEPS: f64 = 1024.0;

/// The levels of a field, and the floats that stand for its numbers.
///
/// The float of a number is its difference to the origin in a unit. Rounding never moves a number
/// across a level: floats on both sides of the float of each level belong to numbers on these
/// sides.
pub struct Levels {
    /// In ascending order, with their samples.
    all: Vec<(Level, f32)>,
    origin: Level,
    unit: f64,
}

impl Levels {
    /// Levels of samples as differences to an origin.
    pub fn new(levels: &[Level], origin: Level, unit: f64) -> Self {
        let mut sorted = levels.to_vec();
        sorted.sort_by(|a, b| a.minus(*b).total_cmp(&0.0));
        sorted.dedup_by(|a, b| a.minus(*b) == 0.0);
        let mut all: Vec<(Level, f32)> = Vec::new();
        for level in sorted {
            let nearest = float(level.minus(origin) / unit);
            // With a float between two levels.
            let least = all.last().map_or(f32::MIN, |(_, last)| next_up(next_up(*last)));
            all.push((level, nearest.max(least)));
        }
        Self { all, origin, unit }
    }

    /// The sample of a number.
    pub fn hold<N: Number>(&self, number: N) -> f32 {
        let mut sample = float(number.minus(self.origin) / self.unit);
        for &(level, at) in &self.all {
            let difference = number.minus(level);
            if difference < 0.0 {
                sample = sample.min(-next_up(-at));
            } else if difference > 0.0 {
                sample = sample.max(next_up(at));
            } else if difference == 0.0 {
                sample = at;
            }
        }
        sample
    }

    /// The sample of a level.
    pub fn sample(&self, level: Level) -> f32 {
        let found = self.all.iter().find(|(other, _)| other.minus(level) == 0.0);
        found.map_or_else(|| float(level.minus(self.origin) / self.unit), |(_, sample)| *sample)
    }

    /// The number from which samples count.
    pub fn origin(&self) -> Level {
        self.origin
    }

    /// Name of the array in viewers and recordings, which show its samples.
    pub fn name(&self) -> String {
        let is_zero = self.origin.minus(Level::from(0.0)) == 0.0;
        let mut name = NAME.to_owned();
        if !is_zero {
            name += &format!(" less {}", self.origin);
        }
        if self.unit != 1.0 {
            name += &format!(" in {:e}", self.unit);
        }
        name
    }

    /// From samples to values.
    pub fn units(&self) -> Rescale {
        Rescale { slope: self.unit, intercept: self.origin.nearest }
    }
}

/// The nearest float that kernels keep: none is subnormal.
fn float(number: f64) -> f32 {
    let nearest = if number.is_finite() { number.clamp(-MOST, MOST) as f32 } else { number as f32 };
    if nearest.is_subnormal() { 0.0 } else { nearest }
}

/// The next larger float, without subnormal ones: GPUs may take these for 0.
pub fn next_up(number: f32) -> f32 {
    match number.next_up() {
        next if next.is_normal() || next == 0.0 => next.min(f32::MAX),
        next if next > 0.0 => f32::MIN_POSITIVE,
        _ if number < -f32::MIN_POSITIVE => number.next_up(),
        _ => 0.0,
    }
}

/// Differences of numbers to levels.
#[derive(Debug, Clone)]
pub struct Differences {
    /// Magnitudes of those to the origin, but 0, below, within and above the [usual](USUAL) ones:
    /// the least and the greatest of each.
    bands: [[f64; 2]; 3],
    /// For each level the distance of floats there.
    steps: Vec<f64>,
    /// For each level how many numbers are within [`STEPS`], and within 16 times as many.
    near: Vec<[u64; 2]>,
    /// The least and the greatest difference of those within [`STEPS`].
    spread: Vec<[f64; 2]>,
}

impl Differences {
    pub fn new(levels: &Levels) -> Self {
        let size = if levels.all.len() > 1 { levels.all.len() } else { 0 };
        let step = |(_, at): &(Level, f32)| f64::from(at.abs().next_up() - at.abs()) * levels.unit;
        Self {
            bands: [[f64::INFINITY, 0.0]; 3],
            steps: levels.all[..size].iter().map(step).collect(),
            near: vec![[0; 2]; size],
            spread: vec![[f64::INFINITY, f64::NEG_INFINITY]; size],
        }
    }

    /// One number more.
    pub fn add<N: Number>(&mut self, levels: &Levels, number: N) {
        let size = number.minus(levels.origin).abs();
        if size > 0.0 && size.is_finite() {
            let [least, most] = &mut self.bands[USUAL.iter().filter(|end| size > **end).count()];
            (*least, *most) = (least.min(size), most.max(size));
        }
        for (((level, _), step), (counts, spread)) in
            levels.all.iter().zip(&self.steps).zip(self.near.iter_mut().zip(&mut self.spread))
        {
            let difference = number.minus(*level);
            let steps = difference.abs() / step;
            if steps > 0.0 && steps <= 16.0 * STEPS {
                counts[1] += 1;
                if steps <= STEPS {
                    counts[0] += 1;
                    *spread = [spread[0].min(difference), spread[1].max(difference)];
                }
            }
        }
    }

    /// The differences that all ranks have found. Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn over_ranks(mut self, world: &World) -> Result<Self> {
        let mut ends = self.bands.map(|[least, most]| [least, -most]);
        world.group().all_reduce(ends.as_flattened_mut(), |a, b| *a = a.min(*b))?;
        self.bands = ends.map(|[least, most]| [least, -most]);
        world.group().all_reduce(self.near.as_flattened_mut(), |a, b| *a += b)?;
        let mut ends: Vec<f64> = self.spread.iter().flat_map(|[least, most]| [*least, -*most]).collect();
        world.group().all_reduce(&mut ends, |a, b| *a = a.min(*b))?;
        self.spread = ends.chunks(2).map(|ends| [ends[0], -ends[1]]).collect();
        Ok(self)
    }

    /// The unit in which floats tell these differences apart.
    ///
    /// A single size is a value that stands for nothing, such as that of a background, unless there
    /// is no other.
    pub fn unit(&self) -> f64 {
        let [small, usual, large] = self.bands;
        let several = |[least, most]: [f64; 2]| least < most;
        let exists = |[least, most]: [f64; 2]| least <= most;
        let size = if several(usual) {
            1.0
        } else if several(small) {
            small[1]
        } else if several(large) {
            large[1]
        } else if exists(usual) {
            1.0
        } else if exists(large) {
            large[1]
        } else if exists(small) {
            small[1]
        } else {
            1.0
        };
        size.log2().floor().exp2()
    }

    /// Levels near which floats do not tell several numbers apart.
    pub fn coarse(&self, levels: &Levels) -> Vec<Level> {
        let is_coarse = |number: usize| {
            let ([near, around], [least, most]) = (self.near[number], self.spread[number]);
            4 * near > around && least < most
        };
        let all = levels.all.iter().enumerate().take(self.near.len()).filter(|(number, _)| is_coarse(*number));
        all.map(|(_, (level, _))| *level).collect()
    }
}
