//! Transfer functions: maps from values to colour and opacity.

use serde::{Deserialize, Serialize};

use crate::error::RenderError;

/// Maximum range of whole numbers with one table entry each.
pub(super) const MAX_EVEN: f64 = 4096.0;

/// Maximum range of labels with one table entry each.
pub(super) const MOST_LABELS: f64 = 65536.0;

/// Piecewise-linear map from voxel values to colour and opacity; constant beyond its first and last
/// point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferFunction {
    /// `[value, opacity]`, values ascending; opacity (0 to 1) is the share of light that a length
    /// of `unit_distance` absorbs.
    pub opacity: Vec<[f64; 2]>,
    /// `[value, red, green, blue]`, values ascending, components 0 to 1.
    pub colour: Vec<[f64; 4]>,
    /// Length over which opacities hold, in the volume's unit.
    pub unit_distance: f64,
}

/// Transfer function, sampled evenly for one sample distance; read with linear interpolation.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferTable {
    /// Value of the first entry.
    pub first: f32,
    /// Number of entries per unit of value.
    pub per_value: f32,
    /// Red, green, blue (not multiplied by alpha), and the alpha of one sample. At least two
    /// entries.
    pub entries: Vec<[f32; 4]>,
}

impl TransferFunction {
    /// General-purpose function for values from `low` to `high`: the lowest quarter is transparent,
    /// the rest runs from a translucent blue to an opaque warm white.
    pub fn ramp(low: f64, high: f64) -> Self {
        let at = |share: f64| low + share * (high - low);
        Self {
            opacity: vec![[at(0.0), 0.0], [at(0.22), 0.0], [at(0.4), 0.04], [at(0.7), 0.08], [at(1.0), 0.5]],
            colour: vec![
                [at(0.0), 0.2, 0.3, 0.8],
                [at(0.45), 0.6, 0.7, 0.9],
                [at(0.75), 0.9, 0.6, 0.3],
                [at(1.0), 1.0, 0.9, 0.7],
            ],
            unit_distance: 1.0,
        }
    }

    /// Checks the points.
    ///
    /// # Errors
    /// Points missing, out of order or out of range; the message names the first wrong point,
    /// counted from 0.
    pub fn check(&self) -> Result<(), RenderError> {
        if !(self.unit_distance > 0.0 && self.unit_distance.is_finite()) {
            let message = format!("a unit distance of {}; it must be positive", self.unit_distance);
            return Err(RenderError::Transfer(message));
        }
        check("opacity", &self.opacity)?;
        check("colour", &self.colour)
    }

    /// Restricts the function to values from `low` to `high`, with constants beyond. Points outside
    /// then neither coarsen its table nor exceed the range of f32.
    pub fn within(&self, low: f64, high: f64) -> Self {
        Self {
            opacity: within(&self.opacity, low, high),
            colour: within(&self.colour, low, high),
            unit_distance: self.unit_distance,
        }
    }

    /// Opacity over the unit distance.
    pub fn opacity_at(&self, value: f64) -> f64 {
        interpolate::<2, 1>(&self.opacity, value)[0]
    }

    /// Red, green and blue at a value.
    pub fn colour_at(&self, value: f64) -> [f64; 3] {
        interpolate(&self.colour, value)
    }

    /// Table for samples `step` apart: alpha(step) = 1 - (1 - opacity)^(step / unit distance).
    /// Points at whole numbers within a limited range coincide with table entries.
    ///
    /// # Errors
    /// The function is malformed, its values leave the range of f32, or the step is not positive.
    pub fn table(&self, step: f64) -> Result<TransferTable, RenderError> {
        self.table_of(step, MAX_EVEN)
    }

    /// [`table`](Self::table) with one entry per whole number up to a range of `most`.
    pub(super) fn table_of(&self, step: f64, most: f64) -> Result<TransferTable, RenderError> {
        self.check()?;
        if !(step > 0.0 && step.is_finite()) {
            return Err(RenderError::Setting(format!("a sample distance of {step}; it must be positive")));
        }
        // A jump inside of a table cell is blurred: use more cells if points do not lie at cell
        // ends.
        let (low, range, intervals) = self.cells(1024.0, most)?;
        let entry = |index: usize| {
            let value = low + range * index as f64 / intervals as f64;
            let [red, green, blue] = self.colour_at(value);
            let alpha = 1.0 - (1.0 - self.opacity_at(value)).powf(step / self.unit_distance);
            [red as f32, green as f32, blue as f32, alpha as f32]
        };
        Ok(TransferTable {
            first: low as f32,
            per_value: (intervals as f64 / range) as f32,
            entries: (0..=intervals).map(entry).collect(),
        })
    }
}

impl TransferFunction {
    /// Least value of a point, range to the greatest, and number of cells: 4096, or up to `whole`
    /// such that points at whole numbers, at most `most` apart, lie between cells.
    pub(super) fn cells(&self, whole: f64, most: f64) -> Result<(f64, f64, usize), RenderError> {
        let values = || self.opacity.iter().map(|p| p[0]).chain(self.colour.iter().map(|p| p[0]));
        let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        let range = if high > low { high - low } else { 1.0 };
        let even = range <= most && values().all(|value| value.fract() == 0.0);
        let cells = if even { range * (whole / range).floor().max(1.0) } else { 4096.0 };
        if low < -1e38 || high > 1e38 || range < 1e-34 {
            let message =
                format!("points at values from {low:e} to {high:e}, which single precision does not tell apart");
            return Err(RenderError::Transfer(message));
        }
        Ok((low, range, cells as usize))
    }
}

fn check<const N: usize>(name: &str, points: &[[f64; N]]) -> Result<(), RenderError> {
    let bad = |message: String| Err(RenderError::Transfer(message));
    if points.is_empty() {
        return bad(format!("no {name} point; at least one is needed"));
    }
    for (number, point) in points.iter().enumerate() {
        let what = format!("{name} point {number}, {point:?},");
        if !point[0].is_finite() {
            return bad(format!("{what} has a value that is not finite"));
        }
        if number > 0 && point[0] < points[number - 1][0] {
            return bad(format!("{what} lies below the point before it, {:?}; values must ascend", points[number - 1]));
        }
        if let Some(part) = point[1..].iter().find(|part| !(0.0..=1.0).contains(*part)) {
            return bad(format!(
                "{what} has {} of {part}; it must be 0 to 1",
                if N == 2 { "an opacity" } else { "a part" }
            ));
        }
    }
    Ok(())
}

/// Points of a piecewise-linear function between two values and at both.
fn within<const N: usize>(points: &[[f64; N]], low: f64, high: f64) -> Vec<[f64; N]> {
    if points.is_empty() {
        return Vec::new();
    }
    let mut kept = vec![at(points, low)];
    kept.extend(points.iter().filter(|point| low < point[0] && point[0] <= high));
    if kept[kept.len() - 1][0] < high {
        kept.push(at(points, high));
    }
    kept
}

/// Point of a piecewise-linear function at a value; the later of a double point.
fn at<const N: usize>(points: &[[f64; N]], x: f64) -> [f64; N] {
    let after = points.partition_point(|point| point[0] <= x);
    let mut found = points[after.saturating_sub(1)];
    if (1..points.len()).contains(&after) {
        let (left, right) = (&points[after - 1], &points[after]);
        // The difference of halves is finite.
        let share = (0.5 * x - 0.5 * left[0]) / (0.5 * right[0] - 0.5 * left[0]);
        found = std::array::from_fn(|component| left[component] + share * (right[component] - left[component]));
    }
    found[0] = x;
    found
}

/// Value of a piecewise-linear function; points are `[x, y..]`.
fn interpolate<const N: usize, const M: usize>(points: &[[f64; N]], x: f64) -> [f64; M] {
    let point = at(points, x);
    std::array::from_fn(|component| point[component + 1])
}

impl TransferTable {
    /// Colour and alpha of a value: same arithmetic as the shader's.
    pub fn sample(&self, value: f32) -> [f32; 4] {
        let last = self.entries.len() - 1;
        let x = ((value - self.first) * self.per_value).clamp(0.0, last as f32);
        let index = (x as usize).min(last - 1);
        let share = x - index as f32;
        let (a, b) = (self.entries[index], self.entries[index + 1]);
        std::array::from_fn(|component| a[component] + share * (b[component] - a[component]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> TransferFunction {
        TransferFunction {
            opacity: vec![[0.0, 0.0], [60.0, 0.0], [100.0, 0.05], [180.0, 0.06], [200.0, 0.4], [255.0, 0.6]],
            colour: vec![[0.0, 0.2, 0.3, 0.8], [110.0, 0.6, 0.7, 0.9], [255.0, 1.0, 0.9, 0.7]],
            unit_distance: 1.0,
        }
    }

    #[test]
    fn points_are_hit_and_opacity_is_corrected() {
        let table = engine().table(0.25).unwrap();
        for [value, opacity] in engine().opacity {
            let alpha = f64::from(table.sample(value as f32)[3]);
            assert!((alpha - (1.0 - (1.0 - opacity).powf(0.25))).abs() < 1e-6, "at {value}");
        }
        assert_eq!(table.sample(110.0)[..3], [0.6, 0.7, 0.9]);
        assert_eq!(table.sample(-50.0), table.sample(0.0));
        assert_eq!(table.sample(900.0), table.sample(255.0));
    }

    #[test]
    fn opacity_correction_is_case_a8() {
        for (step, expected) in [(0.5, 0.05131670194948623), (0.25, 0.025996253574703254), (2.0, 0.19)] {
            let constant =
                TransferFunction { opacity: vec![[3.0, 0.1]], colour: vec![[3.0, 1.0, 1.0, 1.0]], unit_distance: 1.0 };
            let alpha = f64::from(constant.table(step).unwrap().sample(3.0)[3]);
            assert!((alpha - expected).abs() < 1e-7, "{alpha} at {step}");
        }
    }

    #[test]
    fn steps_in_the_function_are_kept() {
        let stepped = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [2.0, 0.5]];
        assert_eq!(interpolate::<2, 1>(&stepped, 0.999), [0.0]);
        assert_eq!(interpolate::<2, 1>(&stepped, 1.0), [1.0]);
        assert_eq!(interpolate::<2, 1>(&stepped, 1.5), [0.75]);
    }

    #[test]
    fn malformed_functions_are_refused() {
        let mut function = engine();
        function.opacity.swap(1, 2);
        let error = function.table(1.0).unwrap_err().to_string();
        assert!(error.contains("opacity point 2, [60.0, 0.0], lies below") && error.contains("ascend"), "{error}");
        let mut function = engine();
        function.colour[1][2] = 1.5;
        let error = function.table(1.0).unwrap_err().to_string();
        assert!(error.contains("colour point 1, ") && error.contains("1.5; it must be 0 to 1"), "{error}");
        assert!(engine().table(0.0).is_err() && engine().table(f64::NAN).is_err());
        assert!(TransferFunction { opacity: vec![], ..engine() }.table(1.0).is_err());
        for value in [1e-36, 1e39] {
            let beyond =
                TransferFunction { opacity: vec![[0.0, 0.0], [value, 1.0]], colour: vec![[0.0; 4]], ..engine() };
            assert!(beyond.table(1.0).unwrap_err().to_string().contains("tell apart"), "{value}");
        }
    }

    /// Points that f32 cannot hold are errors, unless the function is restricted to a range.
    #[test]
    fn points_far_outside_of_the_values_have_no_effect() {
        let far = |low: f64, high: f64| TransferFunction {
            opacity: vec![[low, 0.0], [high, 1.0]],
            colour: vec![[0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [high, 0.0, 0.0, 0.0]],
            unit_distance: 1.0,
        };
        for (low, high) in [(-1e300, 1e300), (-f64::MAX, f64::MAX), (-1e39, 1e39)] {
            assert!(far(low, high).table(1.0).unwrap_err().to_string().contains("tell apart"));
            let table = far(low, high).within(0.0, 255.0).table(1.0).unwrap();
            assert!([0.0, 99.0, 255.0].into_iter().all(|value| (table.sample(value)[3] - 0.5).abs() < 1e-6));
        }
        assert!(far(0.0, 1e-44).within(0.0, 1e-44).integrals(1.0, false).is_err());
        // The jump at 100 of a function up to 1e9 stays exact for values up to 255.
        let stepped =
            TransferFunction { opacity: vec![[0.0, 0.0], [100.0, 0.0], [100.0, 0.75], [1e9, 0.25]], ..far(-1.0, 1e9) };
        let table = stepped.within(3.0, 255.0).table(1.0).unwrap();
        assert_eq!((table.sample(99.0)[3], table.sample(101.0)[3]), (0.0, 0.75));
        let cut = stepped.within(-5.0, 100.0);
        assert_eq!(cut.opacity, [[-5.0, 0.0], [0.0, 0.0], [100.0, 0.0], [100.0, 0.75]]);
        assert_eq!(stepped.within(7.0, 7.0).opacity, [[7.0, 0.0]]);
    }
}
