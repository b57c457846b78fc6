//! Transfer functions that adapt to the values of a volume.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::distribution::{Distribution, Values};
use super::labels::labels;
use super::transfer::{MOST_LABELS, TransferFunction};
use crate::error::RenderError;

/// Transfer function for a kind of volume. [`Preset::transfer`] fits it to the volume's values, in
/// Hounsfield units or other units.
///
/// ```
/// use zippy_render::volume::{Distribution, Preset};
///
/// let preset: Preset = "ct-bone".parse()?;
/// let scan = Distribution { min: 0.0, max: 255.0, counts: vec![70_000, 9_000, 20_000, 1_000] };
/// let transfer = preset.transfer(&scan, 1.0);
/// assert_eq!(transfer.opacity_at(10.0), 0.0);
/// assert!(transfer.opacity_at(250.0) > 0.3);
/// # Ok::<(), zippy_render::RenderError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Only the dense parts of a CT scan, in the colour of bone.
    CtBone,
    /// All of a CT scan except for air: soft tissue is translucent, dense tissue less so.
    CtSoft,
    /// Magnetic resonance: tissue in grey to warm tones, without the background's noise.
    Mr,
    /// Only the brightest values: vessels with a contrast agent.
    Angiography,
    /// Opacity and brightness rise linearly from the end of the background's noise to the 99th
    /// percentile of the other values.
    GreyRamp,
    /// Perceptually uniform colour map; opacity by percentiles of the values above the background.
    Perceptual,
    /// Label map: one opaque colour per whole number; 0 is transparent. Use with
    /// [`Interpolation::Nearest`](super::Interpolation::Nearest).
    Labels,
}

/// Point of a preset: position in Hounsfield units, position between the landmarks of a
/// distribution, and value.
struct Point<const N: usize>(f64, f64, [f64; N]);

/// Upper limit of air in Hounsfield units; only volumes in Hounsfield units have smaller values.
const AIR: f64 = -200.0;

/// Range of the smallest value of a volume in Hounsfield units, including the noise of air.
const LEAST: Range<f64> = -1200.0..-800.0;

impl Preset {
    /// All presets for arbitrary values; excludes labels, which are whole numbers.
    pub const ALL: [Self; 6] =
        [Self::CtBone, Self::CtSoft, Self::Mr, Self::Angiography, Self::GreyRamp, Self::Perceptual];

    /// Name that [`FromStr`](std::str::FromStr) parses.
    pub fn name(self) -> &'static str {
        match self {
            Self::CtBone => "ct-bone",
            Self::CtSoft => "ct-soft",
            Self::Mr => "mr",
            Self::Angiography => "angiography",
            Self::GreyRamp => "grey-ramp",
            Self::Perceptual => "perceptual",
            Self::Labels => "labels",
        }
    }

    /// Maximum difference of labels with different colours.
    pub const MOST_LABELS: f64 = MOST_LABELS;

    /// Transfer function of the preset for a volume with these values. Opacities hold over
    /// `unit_distance`; the distance of voxels is a suitable choice.
    ///
    /// Presets for CT treat values below -200 as a sign of Hounsfield units and use fixed points.
    /// Otherwise points lie between landmarks of the distribution: minimum, end of the background's
    /// noise ([`Distribution::noise`]), threshold between background and foreground, median and
    /// 99th percentile of the foreground, and maximum. A scanner's fill value, a single value far
    /// below air, is ignored.
    pub fn transfer(self, values: &Distribution, unit_distance: f64) -> TransferFunction {
        if self == Self::Labels {
            return labels(values, unit_distance);
        }
        let values = &measured_values(values);
        let threshold = values.threshold();
        let above = |share| values.quantile(share, &(threshold..values.max));
        let landmarks = [values.min, values.noise(threshold), threshold, above(0.5), above(0.99), values.max];
        let hounsfield = values.min < AIR && matches!(self, Self::CtBone | Self::CtSoft | Self::Angiography);
        let value = |units: f64, position: f64| {
            let landmark = (position as usize).min(landmarks.len() - 2);
            let (low, high) = (landmarks[landmark], landmarks[landmark + 1]);
            if hounsfield { units } else { low + (position - landmark as f64) * (high - low) }
        };
        let (opacity, colour) = self.points();
        let opacity = opacity.into_iter().map(|Point(units, position, [o])| [value(units, position), o]).collect();
        let colour =
            colour.into_iter().map(|Point(units, position, [r, g, b])| [value(units, position), r, g, b]).collect();
        TransferFunction { opacity, colour, unit_distance }
    }

    /// [`transfer`](Self::transfer) for voxels of several components: colours fit the values of the
    /// first component, opacities those of the last.
    pub fn fit(self, values: &Values, unit_distance: f64) -> TransferFunction {
        let opacity = self.transfer(values.opacity(), unit_distance).opacity;
        TransferFunction { opacity, ..self.transfer(values.colour(), unit_distance) }
    }

    fn points(self) -> (Vec<Point<1>>, Vec<Point<3>>) {
        match self {
            Self::CtBone => (
                vec![
                    Point(130.0, 3.15, [0.0]),
                    Point(300.0, 3.45, [0.12]),
                    Point(700.0, 3.8, [0.45]),
                    Point(1500.0, 4.6, [0.8]),
                ],
                vec![
                    Point(130.0, 3.15, [0.72, 0.42, 0.30]),
                    Point(300.0, 3.45, [0.88, 0.72, 0.55]),
                    Point(700.0, 3.8, [0.96, 0.91, 0.80]),
                    Point(1500.0, 5.0, [1.0, 1.0, 0.97]),
                ],
            ),
            Self::CtSoft => (
                vec![
                    Point(-160.0, 1.35, [0.0]),
                    Point(-60.0, 1.8, [0.02]),
                    Point(40.0, 2.3, [0.08]),
                    Point(160.0, 3.0, [0.12]),
                    Point(400.0, 4.0, [0.40]),
                    Point(1500.0, 5.0, [0.70]),
                ],
                vec![
                    Point(-160.0, 1.35, [0.55, 0.25, 0.15]),
                    Point(-60.0, 1.8, [0.88, 0.60, 0.29]),
                    Point(40.0, 2.3, [0.84, 0.47, 0.38]),
                    Point(160.0, 3.0, [0.90, 0.70, 0.60]),
                    Point(400.0, 4.0, [0.98, 0.93, 0.84]),
                    Point(1500.0, 5.0, [1.0, 1.0, 1.0]),
                ],
            ),
            Self::Mr => (
                vec![
                    Point(0.0, 1.6, [0.0]),
                    Point(0.0, 2.0, [0.04]),
                    Point(0.0, 3.0, [0.12]),
                    Point(0.0, 4.0, [0.45]),
                    Point(0.0, 5.0, [0.60]),
                ],
                vec![
                    Point(0.0, 1.6, [0.10, 0.08, 0.10]),
                    Point(0.0, 2.0, [0.36, 0.24, 0.22]),
                    Point(0.0, 3.0, [0.70, 0.56, 0.48]),
                    Point(0.0, 4.0, [0.97, 0.92, 0.86]),
                    Point(0.0, 5.0, [1.0, 1.0, 1.0]),
                ],
            ),
            Self::Angiography => (
                vec![
                    Point(180.0, 3.5, [0.0]),
                    Point(280.0, 4.0, [0.25]),
                    Point(600.0, 4.5, [0.75]),
                    Point(1200.0, 5.0, [0.90]),
                ],
                vec![
                    Point(180.0, 3.5, [0.45, 0.03, 0.02]),
                    Point(280.0, 4.0, [0.86, 0.20, 0.10]),
                    Point(600.0, 4.5, [1.0, 0.72, 0.50]),
                    Point(1200.0, 5.0, [1.0, 0.98, 0.92]),
                ],
            ),
            Self::GreyRamp => (
                vec![Point(0.0, 1.0, [0.0]), Point(0.0, 4.0, [0.5])],
                vec![Point(0.0, 1.0, [0.0; 3]), Point(0.0, 4.0, [1.0; 3])],
            ),
            Self::Perceptual => (
                vec![
                    Point(0.0, 1.8, [0.0]),
                    Point(0.0, 2.0, [0.01]),
                    Point(0.0, 3.0, [0.08]),
                    Point(0.0, 4.0, [0.50]),
                    Point(0.0, 5.0, [0.80]),
                ],
                VIRIDIS.iter().enumerate().map(|(i, &rgb)| Point(0.0, 1.8 + 0.275 * i as f64, rgb)).collect(),
            ),
            // `labels` adds their points, at whole numbers.
            Self::Labels => (Vec::new(), Vec::new()),
        }
    }
}

/// All values, without a single fill value far below those of air.
fn measured_values(values: &Distribution) -> Distribution {
    let next = values.counts.iter().skip(1).position(|&count| count > 0).map_or(0, |empty| empty + 1);
    let min = values.edge(next);
    if next < 3 || !LEAST.contains(&min) {
        return values.clone();
    }
    Distribution { min, max: values.max, counts: values.counts[next..].to_vec() }
}

/// Nine equidistant colours of the colour map viridis (S. van der Walt, N. Smith, 2015), whose
/// perceived lightness rises linearly.
const VIRIDIS: [[f64; 3]; 9] = [
    [0.267, 0.005, 0.329],
    [0.279, 0.175, 0.483],
    [0.230, 0.322, 0.546],
    [0.173, 0.449, 0.558],
    [0.128, 0.567, 0.551],
    [0.158, 0.684, 0.502],
    [0.369, 0.789, 0.383],
    [0.678, 0.864, 0.190],
    [0.993, 0.906, 0.144],
];

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = RenderError;

    /// Parses the name of a preset; `grey` is short for `grey-ramp`.
    fn from_str(name: &str) -> Result<Self, RenderError> {
        let wanted = if name == "grey" { "grey-ramp" } else { name };
        let all = || Self::ALL.into_iter().chain([Self::Labels]);
        all().find(|preset| preset.name() == wanted).ok_or_else(|| {
            let names = all().map(Self::name).collect::<Vec<_>>().join(", ");
            RenderError::Transfer(format!("no preset is called {name:?}; there are: {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Histogram with much air, tissue around 40 % of the range, and a small dense part.
    fn scan(min: f64, max: f64) -> Distribution {
        let counts = (0..256).map(|bin| match bin {
            0..6 => 40_000,
            90..120 => 4_000,
            190..250 => 60,
            _ => 5,
        });
        Distribution { min, max, counts: counts.collect() }
    }

    #[test]
    fn presets_are_found_by_name() {
        assert_eq!("labels".parse(), Ok(Preset::Labels));
        for preset in Preset::ALL {
            assert_eq!(preset.to_string().parse::<Preset>(), Ok(preset));
        }
        assert_eq!("grey".parse(), Ok(Preset::GreyRamp));
        let error = "bone".parse::<Preset>().unwrap_err().to_string();
        assert!(error.contains("\"bone\"") && error.contains("ct-bone, ct-soft, mr"), "{error}");
    }

    #[test]
    fn every_preset_suits_every_range() {
        let constant = Distribution { min: 3.0, max: 3.0, counts: vec![9] };
        let empty = Distribution { min: 0.0, max: 0.0, counts: vec![0] };
        for values in [scan(0.0, 255.0), scan(-1024.0, 3071.0), scan(0.0, 65_535.0), scan(-0.1, 0.7), constant, empty] {
            for preset in Preset::ALL {
                let transfer = preset.transfer(&values, 0.5);
                transfer.check().unwrap_or_else(|error| panic!("{preset}: {error}: {transfer:?}"));
                assert_eq!(transfer.unit_distance, 0.5);
                assert!(transfer.opacity_at(values.min) < 0.01 || values.min == values.max, "{preset}: {transfer:?}");
                assert!(transfer.opacity_at(values.max) >= 0.5 || values.min == values.max, "{preset}: {transfer:?}");
            }
        }
    }

    /// A cylinder of fill values around a scan, and a small metal part.
    #[test]
    fn fill_values_and_metal_do_not_change_presets() {
        let bins = |min: f64, max: f64, fill: u64| {
            let mut counts = vec![0; 256];
            let heaps =
                [(-1000.0, 500_000), (40.0, 90_000), (60.0, 50_000), (900.0, 4_000), (max - 1.0, 20), (min, fill)];
            for (value, count) in heaps {
                let at = |value: f64| (((value - min) / (max - min) * 256.0) as usize).min(255);
                let width = if count == fill { 0.0 } else { 30.0 };
                counts[at(value - width)] += count / 4;
                counts[at(value)] += count / 2;
                counts[at(value + width)] += count / 4;
            }
            Distribution { min, max, counts }
        };
        let plain = bins(-1090.0, 1400.0, 0);
        for values in [bins(-3024.0, 1400.0, 250_000), bins(-1090.0, 9_000.0, 0), bins(-2048.0, 6_000.0, 90_000)] {
            for preset in Preset::ALL {
                let [found, wanted] = [&values, &plain].map(|values| preset.transfer(values, 1.0));
                let air = [-3024.0, -2048.0, -1000.0].map(|value| found.opacity_at(value));
                assert!(air.iter().all(|&opacity| opacity < 0.01), "{preset}: {air:?}, {found:?}");
                // Bins are wider, so that landmarks move slightly.
                for value in [60.0, 900.0] {
                    let (found, wanted) = (found.opacity_at(value), wanted.opacity_at(value));
                    assert!(
                        (found - wanted).abs() < 0.2 && (found > 0.02) == (wanted > 0.02),
                        "{preset}, {value}: {found}, {wanted}"
                    );
                }
            }
        }
        // Without Hounsfield units, a value far below the others is ordinary background.
        let mut counts = vec![0; 256];
        (counts[0], counts[100], counts[255]) = (9_000, 700, 1_000);
        for (min, max) in [(0.0, 255.0), (-1090.0, 1400.0), (-9000.0, 9000.0)] {
            let masked = Distribution { min, max, counts: counts.clone() };
            assert_eq!(measured_values(&masked), masked);
        }
    }

    #[test]
    fn presets_separate_tissue_and_bone() {
        let (byte, hounsfield) = (scan(0.0, 255.0), scan(-1024.0, 3071.0));
        // Tissue and bone: 40 % and 85 % of 8 bits, 40 HU and 900 HU.
        for (values, tissue, bone) in [(&byte, 100.0, 220.0), (&hounsfield, 40.0, 900.0)] {
            let opacity = |preset: Preset, value| preset.transfer(values, 1.0).opacity_at(value);
            assert_eq!(opacity(Preset::CtBone, tissue), 0.0);
            assert!(opacity(Preset::CtBone, bone) > 0.3);
            assert!((0.01..0.3).contains(&opacity(Preset::CtSoft, tissue)));
            assert!(opacity(Preset::CtSoft, bone) > 0.3);
        }
        // Without Hounsfield units, the value of air is an ordinary value.
        assert!(Preset::CtBone.transfer(&byte, 1.0).opacity[0][0] < 130.0);
        assert_eq!(Preset::CtBone.transfer(&hounsfield, 1.0).opacity[0][0], 130.0);
    }

    #[test]
    fn opacity_follows_percentiles() {
        let opacity = |values: &Distribution| {
            let transfer = Preset::Perceptual.transfer(values, 1.0);
            [0.5, 0.99].map(|share| transfer.opacity_at(values.quantile(share, &(values.threshold()..values.max))))
        };
        for values in [scan(0.0, 255.0), scan(-7.0, 1e5)] {
            let [half, most] = opacity(&values);
            assert!((half - 0.08).abs() < 1e-9 && (most - 0.5).abs() < 1e-9, "{half} {most}");
        }
    }

    /// Air scattered around 30 % of the range, as stored by scanners without a fixed zero, and an
    /// object at 60 %.
    #[test]
    fn noise_of_air_is_not_seen() {
        let heap = |bin: usize, middle: f64, width: f64, height: f64| {
            (height * (-0.5 * ((bin as f64 - middle) / width).powi(2)).exp()) as u64
        };
        let air = |bin| heap(bin, 77.0, 4.0, 150_000.0);
        let counts = (0..256).map(|bin| air(bin) + heap(bin, 150.0, 8.0, 9_000.0) + 1_000).collect();
        let scan = Distribution { min: 0.0, max: 1300.0, counts };
        for preset in [Preset::CtSoft, Preset::CtBone, Preset::Mr, Preset::Angiography, Preset::Perceptual] {
            let transfer = preset.transfer(&scan, 1.0);
            let visible: u64 = (0..256).filter(|&bin| transfer.opacity_at(scan.middle(bin)) > 0.0).map(air).sum();
            assert_eq!(visible, 0, "{preset}: {transfer:?}");
        }
        assert!(Preset::CtSoft.transfer(&scan, 1.0).opacity_at(scan.middle(150)) > 0.03);
    }
}
