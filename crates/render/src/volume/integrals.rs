//! Pre-integrated classification: colour and opacity of all values between two samples.
//!
//! Values vary linearly along a segment of a ray. The optical depth of the segment is its length
//! times the mean density between the values at its ends. One-dimensional running sums give that
//! mean for any two values, without a two-dimensional table. Attenuation inside the segment is
//! computed between its two halves, and within each half for its mean colour.

use zippy::device::colour::over;

use super::decay::absorbed;
use super::transfer::{MAX_EVEN, TransferFunction};
use crate::error::RenderError;

/// Running integrals of a transfer function over the value, for one sample distance. Entry `i`
/// holds the integral below the value `first + i / per_value`; the function counts as constant
/// within each cell between entries. The first and the last cell lie outside of all points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct IntegralTable {
    /// Value of the first entry.
    pub first: f32,
    /// Number of entries per unit of value.
    pub per_value: f32,
    /// Optical depth of a segment per integer unit of density.
    pub depth_unit: f32,
    /// Colour times optical depth per integer unit of colour, or colour alone with `apart`.
    pub colour_unit: f32,
    /// True if colours are summed separately, without the weight of the density.
    pub apart: bool,
    /// Running sums of red, green, blue and density, as integers, so that differences are exact.
    pub entries: Vec<[u32; 4]>,
}

/// Number of cells between the first and the last point of a function.
const CELLS: f64 = 4096.0;

/// Density for an opacity of 1 over a unit distance: transmits 2^-24 of the light.
const MAX_DENSITY: f64 = 24.0 * std::f64::consts::LN_2;

/// Nodes and weights of Gauss quadrature with four points on -1..1.
const GAUSS: [(f64, f64); 4] = [
    (-0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
    (-0.339_981_043_584_856_3, 0.652_145_154_862_546_1),
    (0.339_981_043_584_856_3, 0.652_145_154_862_546_1),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
];

impl TransferFunction {
    /// Computes the integrals for segments of length `step`. With `apart`, colours are summed
    /// without the weight of the density: for volumes with separate components for colour and
    /// opacity.
    ///
    /// # Errors
    /// The function is malformed, its values leave the range of f32, or the step is not positive.
    pub(super) fn integrals(&self, step: f64, apart: bool) -> Result<IntegralTable, RenderError> {
        self.check()?;
        if !(step > 0.0 && step.is_finite()) {
            return Err(RenderError::Setting(format!("a sample distance of {step}; it must be positive")));
        }
        let (low, range, cells) = self.cells(CELLS, MAX_EVEN)?;
        let width = range / cells as f64;
        let mut knots: Vec<f64> = self.opacity.iter().map(|p| p[0]).chain(self.colour.iter().map(|p| p[0])).collect();
        knots.sort_by(f64::total_cmp);
        let mut knots = knots.into_iter().peekable();
        let (mut sum, mut sums) = ([0.0_f64; 4], vec![[0.0_f64; 4]]);
        for cell in 0..cells + 2 {
            let end = low + width * cell as f64;
            let mut from = end - width;
            // The function is smooth between its points.
            while from < end {
                let to = knots.peek().map_or(end, |knot| knot.clamp(from, end));
                if to < end {
                    knots.next();
                }
                self.add_integral((from, to), apart, width, &mut sum);
                from = to;
            }
            sums.push(sum);
        }
        let depth = f64::from(u32::MAX) / sum[3].max(f64::MIN_POSITIVE.sqrt());
        let colour = if apart { f64::from(u32::MAX) / (cells + 2) as f64 } else { depth };
        let units = [colour, colour, colour, depth];
        let in_units = |sum: [f64; 4]| std::array::from_fn(|part| (sum[part] * units[part]).round() as u32);
        Ok(IntegralTable {
            first: (low - width) as f32,
            per_value: (1.0 / width) as f32,
            depth_unit: (step / depth) as f32,
            colour_unit: (if apart { 1.0 } else { step } / colour) as f32,
            apart,
            entries: sums.into_iter().map(in_units).collect(),
        })
    }

    /// Adds the integrals over an interval between neighbouring points; lengths in cells.
    fn add_integral(&self, (from, to): (f64, f64), apart: bool, cell: f64, sum: &mut [f64; 4]) {
        for (node, weight) in GAUSS {
            let value = from + (to - from) * (node + 1.0) / 2.0;
            let density = (-(-self.opacity_at(value)).ln_1p()).min(MAX_DENSITY) / self.unit_distance;
            let share = weight / 2.0 * (to - from) / cell;
            let coloured = if apart { 1.0 } else { density };
            let [red, green, blue] = self.colour_at(value).map(|part| part * coloured);
            for (sum, part) in sum.iter_mut().zip([red, green, blue, density]) {
                *sum += share * part;
            }
        }
    }
}

impl IntegralTable {
    /// Position of a value among the entries, clamped far outside of them.
    pub(super) fn position_in(&self, value: f32) -> f32 {
        ((value - self.first) * self.per_value).clamp(-1e9, 1e9)
    }

    /// Premultiplied colour and alpha of a segment between two positions; with `apart`, `colour`
    /// gives the positions of the colours. Same arithmetic as the shader's.
    pub(super) fn segment(&self, depth: [f32; 2], colour: [f32; 2]) -> [f32; 4] {
        let half = |[a, b]: [f32; 2]| 0.5 * (a + b);
        if self.apart {
            let alpha = absorbed(self.mean(depth)[3] * self.depth_unit);
            let mean = self.mean(colour);
            return [0, 1, 2, 3].map(|part| if part == 3 { alpha } else { mean[part] * self.colour_unit * alpha });
        }
        let near = self.half_of([depth[0], half(depth)]);
        let far = self.half_of([half(depth), depth[1]]);
        over(near, far)
    }

    /// Premultiplied colour and alpha of half a segment.
    fn half_of(&self, positions: [f32; 2]) -> [f32; 4] {
        let mean = self.mean(positions).map(|part| part * (0.5 * self.depth_unit));
        let alpha = absorbed(mean[3]);
        // Without absorption there is no colour.
        let share = alpha / mean[3].max(1e-30);
        [mean[0] * share, mean[1] * share, mean[2] * share, alpha]
    }

    /// Mean between two positions, from parts of the outer cells and whole cells between them. All
    /// terms are positive, so the mean is equally exact for close and for distant positions.
    fn mean(&self, [a, b]: [f32; 2]) -> [f32; 4] {
        let (low, high) = (a.min(b), a.max(b));
        let last = self.entries.len() as i32 - 2;
        let cell = |position: f32| (position.floor() as i32).clamp(0, last);
        let (i, j) = (cell(low), cell(high));
        let entry = |index: i32| self.entries[index as usize];
        let (rest, part) = (1.0 - (low - i as f32), high - j as f32);
        let whole = j - i - 1;
        std::array::from_fn(|c| {
            let first = (entry(i + 1)[c] - entry(i)[c]) as f32;
            let end = (entry(j + 1)[c] - entry(j)[c]) as f32;
            if i == j {
                return first;
            }
            let between = (entry(j)[c] - entry(i + 1)[c]) as f32;
            (rest * first + between + part * end) / (rest + whole as f32 + part)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colour and alpha of a segment by numerical integration of the definition.
    fn brute(transfer: &TransferFunction, (front, back): (f64, f64), step: f64) -> [f64; 4] {
        let pieces = 20_000;
        let mut seen = [0.0; 4];
        for piece in 0..pieces {
            let value = front + (back - front) * (f64::from(piece) + 0.5) / f64::from(pieces);
            let through = (1.0 - transfer.opacity_at(value)).powf(step / f64::from(pieces) / transfer.unit_distance);
            let [red, green, blue] = transfer.colour_at(value);
            let left = 1.0 - seen[3];
            for (i, part) in [red, green, blue, 1.0].into_iter().enumerate() {
                seen[i] += left * (1.0 - through) * part;
            }
        }
        seen
    }

    fn check(transfer: &TransferFunction, step: f64, (front, back): (f64, f64), colour_bound: f64) {
        let table = transfer.integrals(step, false).unwrap();
        let positions = [table.position_in(front as f32), table.position_in(back as f32)];
        let (found, wanted) = (table.segment(positions, positions), brute(transfer, (front, back), step));
        assert!((f64::from(found[3]) - wanted[3]).abs() < 3e-4, "{front} to {back}: {found:?}, not {wanted:?}");
        for part in 0..3 {
            let off = (f64::from(found[part]) - wanted[part]).abs();
            assert!(off < colour_bound, "{front} to {back}: {found:?}, not {wanted:?}");
        }
    }

    const PAIRS: [(f64, f64); 12] = [
        (0.0, 255.0),
        (255.0, 0.0),
        (30.0, 30.0),
        (61.3, 61.4),
        (99.9, 100.2),
        (100.2, 99.9),
        (110.0, 245.0),
        (245.0, 110.0),
        (-40.0, 70.0),
        (180.0, 900.0),
        (300.0, 310.0),
        (-9.0, 1e4),
    ];

    #[test]
    fn segments_are_what_the_definition_says() {
        let transfer = TransferFunction {
            opacity: vec![[0.0, 0.0], [60.0, 0.0], [100.0, 0.05], [100.0, 0.3], [200.0, 0.4], [255.0, 0.6]],
            colour: vec![[0.0, 0.2, 0.3, 0.8], [110.0, 0.6, 0.7, 0.9], [190.0, 0.9, 0.6, 0.3], [255.0, 1.0, 0.9, 0.7]],
            unit_distance: 1.0,
        };
        for step in [0.25, 1.0, 2.0] {
            for pair in PAIRS {
                // The optical depth of a half is at most 0.9.
                check(&transfer, step, pair, 6e-3 * step * step);
            }
        }
    }

    /// Two halves have a quarter of the error of a single mean colour.
    #[test]
    fn attenuation_inside_a_segment_is_accounted_for() {
        let transfer = TransferFunction {
            opacity: vec![[0.0, 0.5]],
            colour: vec![[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]],
            unit_distance: 1.0,
        };
        let off = |step: f64, pair: (f64, f64)| {
            let table = transfer.integrals(step, false).unwrap();
            let positions = [table.position_in(pair.0 as f32), table.position_in(pair.1 as f32)];
            (f64::from(table.segment(positions, positions)[0]) - brute(&transfer, pair, step)[0]).abs()
        };
        for pair in [(0.0, 1.0), (1.0, 0.0)] {
            let (coarse, fine) = (off(1.0, pair), off(0.5, pair));
            // A single mean colour has an error of 0.029.
            assert!(coarse < 8e-3 && fine < coarse / 3.0, "{coarse} {fine}");
        }
        // The nearer end hides the farther one: the order of the ends matters.
        let table = transfer.integrals(4.0, false).unwrap();
        let [zero, one] = [table.position_in(0.0), table.position_in(1.0)];
        assert!(table.segment([zero, one], [0.0; 2])[0] > 1.3 * table.segment([one, zero], [0.0; 2])[0]);
    }

    #[test]
    fn spikes_are_not_missed() {
        let sigma = 500.0_f64;
        let opacity = 1.0 - (-sigma * 1e-3).exp();
        let transfer = TransferFunction {
            opacity: vec![[0.0, 0.0], [0.5, 0.0], [0.5, opacity], [0.502, opacity], [0.502, 0.0], [1.0, 0.0]],
            colour: vec![[0.0, 1.0, 1.0, 1.0]],
            unit_distance: 1e-3,
        };
        for (steps, shift) in [(64, 0.0), (64, 0.3), (37, 0.9), (1, 0.0)] {
            let step = 1.0 / f64::from(steps);
            let table = transfer.integrals(step, false).unwrap();
            let at = |k: i32| table.position_in(((f64::from(k) - shift) * step) as f32);
            let seen = (0..=steps)
                .fold(0.0, |seen: f32, k| seen + (1.0 - seen) * table.segment([at(k), at(k + 1)], [0.0; 2])[3]);
            assert!((f64::from(seen) - 0.6321205588285577).abs() < 1e-4, "{steps} steps, shift {shift}: {seen}");
        }
    }

    #[test]
    fn separate_colours_are_means() {
        let transfer = TransferFunction {
            opacity: vec![[0.0, 0.0], [10.0, 0.5]],
            colour: vec![[0.0, 0.0, 1.0, 0.5], [10.0, 1.0, 0.0, 0.5]],
            unit_distance: 2.0,
        };
        let table = transfer.integrals(2.0, true).unwrap();
        let positions = |a: f32, b: f32| [table.position_in(a), table.position_in(b)];
        let [red, green, blue, alpha] = table.segment(positions(10.0, 20.0), positions(2.0, 4.0));
        assert!((alpha - 0.5).abs() < 1e-5, "{alpha}");
        assert!((red - 0.15).abs() < 1e-5 && (green - 0.35).abs() < 1e-5 && (blue - 0.25).abs() < 1e-5);
    }
}
