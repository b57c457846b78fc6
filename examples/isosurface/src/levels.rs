//! Levels for comparison with samples, and a mapping to 32-bit floats that keeps samples on their
//! sides of the levels.

use zippy::{Result, World};
use zippy_render::volume::Rescale;

use crate::units::{Level, Number};

impl Level {
    /// Value in a JSON report: an exact integer if `f64` would round it.
    pub(crate) fn json(self) -> serde_json::Value {
        let whole = self.whole.and_then(|whole| match u64::try_from(whole) {
            Ok(whole) => Some(serde_json::json!(whole)),
            Err(_) => i64::try_from(whole).ok().map(|whole| serde_json::json!(whole)),
        });
        // Smaller integers print the same as floats.
        whole.filter(|_| self.nearest.abs() >= 2.0_f64.powi(53)).unwrap_or(serde_json::json!(self.nearest))
    }
}

/// Name of the field in files.
pub(crate) const NAME: &str = "field";

/// Largest magnitude of a sample, so that the difference of two samples is finite.
const MAX_SAMPLE: f64 = 1e38;

/// Range of magnitudes of differences that need no unit.
const USUAL_RANGE: [f64; 2] = [1e-30, 1e30];

/// Distance, in steps of floats, that defines a coarse level: most samples within 16 times this
/// distance are within this distance.
const COARSE_STEPS: f64 = 1024.0;

/// Levels of a field, and the mapping of its numbers to floats: differences to an origin, divided
/// by a unit. Rounding never moves a number across a level.
pub(crate) struct Levels {
    /// Levels in ascending order, with their samples.
    all: Vec<(Level, f32)>,
    origin: Level,
    unit: f64,
}

impl Levels {
    pub(crate) fn new(levels: &[Level], origin: Level, unit: f64) -> Self {
        let mut sorted = levels.to_vec();
        sorted.sort_by(|a, b| a.minus(*b).total_cmp(&0.0));
        sorted.dedup_by(|a, b| a.minus(*b) == 0.0);
        let mut all: Vec<(Level, f32)> = Vec::new();
        for level in sorted {
            let nearest = float(level.minus(origin) / unit);
            // Leaves a float between two levels.
            let least = all.last().map_or(f32::MIN, |(_, last)| next_up(next_up(*last)));
            all.push((level, nearest.max(least)));
        }
        Self { all, origin, unit }
    }

    pub(crate) fn to_sample<N: Number>(&self, number: N) -> f32 {
        let mut sample = float(number.minus(self.origin) / self.unit);
        for &(level, level_sample) in &self.all {
            let difference = number.minus(level);
            if difference < 0.0 {
                sample = sample.min(-next_up(-level_sample));
            } else if difference > 0.0 {
                sample = sample.max(next_up(level_sample));
            } else if difference == 0.0 {
                sample = level_sample;
            }
        }
        sample
    }

    pub(crate) fn sample(&self, level: Level) -> f32 {
        let found = self.all.iter().find(|(other, _)| other.minus(level) == 0.0);
        found.map_or_else(|| float(level.minus(self.origin) / self.unit), |(_, sample)| *sample)
    }

    /// Number that is subtracted from samples.
    pub(crate) fn origin(&self) -> Level {
        self.origin
    }

    /// Name of the array in viewers and recordings, with origin and unit of its samples.
    pub(crate) fn name(&self) -> String {
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

    /// Mapping from samples to values.
    pub(crate) fn units(&self) -> Rescale {
        Rescale { slope: self.unit, intercept: self.origin.nearest }
    }
}

/// Nearest float that kernels preserve: subnormal numbers become 0.
fn float(number: f64) -> f32 {
    let nearest = if number.is_finite() { number.clamp(-MAX_SAMPLE, MAX_SAMPLE) as f32 } else { number as f32 };
    if nearest.is_subnormal() { 0.0 } else { nearest }
}

/// Next larger float that is not subnormal, because GPUs may flush subnormal numbers to 0.
pub(crate) fn next_up(number: f32) -> f32 {
    match number.next_up() {
        next if next.is_normal() || next == 0.0 => next.min(f32::MAX),
        next if next > 0.0 => f32::MIN_POSITIVE,
        _ if number < -f32::MIN_POSITIVE => number.next_up(),
        _ => 0.0,
    }
}

/// Statistics of the differences between numbers and levels.
#[derive(Debug, Clone)]
pub(crate) struct Differences {
    /// Smallest and largest non-zero magnitude of differences to the origin in three bands: below,
    /// within and above [`USUAL_RANGE`].
    bands: [[f64; 2]; 3],
    /// Spacing of floats at each level.
    steps: Vec<f64>,
    /// For each level, the count of numbers within [`COARSE_STEPS`] and within 16 times this
    /// distance.
    near: Vec<[u64; 2]>,
    /// For each level, the smallest and the largest difference within [`COARSE_STEPS`].
    spread: Vec<[f64; 2]>,
}

impl Differences {
    pub(crate) fn new(levels: &Levels) -> Self {
        let size = if levels.all.len() > 1 { levels.all.len() } else { 0 };
        let step = |(_, at): &(Level, f32)| f64::from(at.abs().next_up() - at.abs()) * levels.unit;
        Self {
            bands: [[f64::INFINITY, 0.0]; 3],
            steps: levels.all[..size].iter().map(step).collect(),
            near: vec![[0; 2]; size],
            spread: vec![[f64::INFINITY, f64::NEG_INFINITY]; size],
        }
    }

    pub(crate) fn add<N: Number>(&mut self, levels: &Levels, number: N) {
        let size = number.minus(levels.origin).abs();
        if size > 0.0 && size.is_finite() {
            let [least, most] = &mut self.bands[USUAL_RANGE.iter().filter(|end| size > **end).count()];
            (*least, *most) = (least.min(size), most.max(size));
        }
        for (((level, _), step), (counts, spread)) in
            levels.all.iter().zip(&self.steps).zip(self.near.iter_mut().zip(&mut self.spread))
        {
            let difference = number.minus(*level);
            let steps = difference.abs() / step;
            if steps > 0.0 && steps <= 16.0 * COARSE_STEPS {
                counts[1] += 1;
                if steps <= COARSE_STEPS {
                    counts[0] += 1;
                    *spread = [spread[0].min(difference), spread[1].max(difference)];
                }
            }
        }
    }

    /// Combines the statistics of all ranks. Collective.
    pub(crate) fn over_ranks(mut self, world: &World) -> Result<Self> {
        let mut ends = self.bands.map(|[least, most]| [least, -most]);
        world.group().all_reduce(ends.as_flattened_mut(), |a, b| *a = a.min(*b))?;
        self.bands = ends.map(|[least, most]| [least, -most]);
        world.group().all_reduce(self.near.as_flattened_mut(), |a, b| *a += b)?;
        let mut ends: Vec<f64> = self.spread.iter().flat_map(|[least, most]| [*least, -*most]).collect();
        world.group().all_reduce(&mut ends, |a, b| *a = a.min(*b))?;
        self.spread = ends.chunks(2).map(|ends| [ends[0], -ends[1]]).collect();
        Ok(self)
    }

    /// Unit in which floats distinguish these differences. A band with a single magnitude, usually
    /// a fill value, counts only if there is no other band.
    pub(crate) fn unit(&self) -> f64 {
        let [small, usual, large] = self.bands;
        let has_several = |[least, most]: [f64; 2]| least < most;
        let is_present = |[least, most]: [f64; 2]| least <= most;
        let size = if has_several(usual) {
            1.0
        } else if has_several(small) {
            small[1]
        } else if has_several(large) {
            large[1]
        } else if is_present(usual) {
            1.0
        } else if is_present(large) {
            large[1]
        } else if is_present(small) {
            small[1]
        } else {
            1.0
        };
        size.log2().floor().exp2()
    }

    /// Levels near which floats do not distinguish numbers.
    pub(crate) fn coarse(&self, levels: &Levels) -> Vec<Level> {
        let is_coarse = |index: usize| {
            let ([near, around], [least, most]) = (self.near[index], self.spread[index]);
            4 * near > around && least < most
        };
        let all = levels.all.iter().enumerate().take(self.near.len()).filter(|(index, _)| is_coarse(*index));
        all.map(|(_, (level, _))| *level).collect()
    }
}
