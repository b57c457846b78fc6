//! Transfer functions of label maps.

use super::distribution::Distribution;
use super::transfer::{MOST_LABELS, TransferFunction};

/// Transfer function with one point per whole number from the least to the greatest value, at most
/// [`MOST_LABELS`] apart.
pub(super) fn labels(values: &Distribution, unit_distance: f64) -> TransferFunction {
    let first = values.min.floor();
    let count = (values.max.ceil() - first).clamp(0.0, MOST_LABELS) as u32;
    let all = || (0..=count).map(|number| first + f64::from(number));
    let opacity = all().map(|label| [label, if label == 0.0 { 0.0 } else { 1.0 }]).collect();
    let colour = all().map(|label| {
        let [red, green, blue] = label_colour(label);
        [label, red, green, blue]
    });
    TransferFunction { opacity, colour: colour.collect(), unit_distance }
}

/// Colour of a label. The hues of consecutive labels differ by the golden angle; saturation and
/// brightness vary with other periods.
fn label_colour(label: f64) -> [f64; 3] {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let hue = (label * GOLDEN).rem_euclid(1.0);
    let saturation = [0.75, 0.55, 0.9][label.rem_euclid(3.0) as usize % 3];
    let brightness = [0.95, 0.75, 0.85, 0.65][label.rem_euclid(4.0) as usize % 4];
    [5.0, 3.0, 1.0].map(|shift| {
        let along = (shift + 6.0 * hue).rem_euclid(6.0);
        brightness * (1.0 - saturation * along.min(4.0 - along).clamp(0.0, 1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_a_colour_each_at_their_own_entry() {
        let at = |min: f64, max: f64| Distribution { min, max, counts: vec![1; 256] };
        for (min, max) in [(0.0, 255.0), (-3.0, 9.0), (1.0, 1.0), (0.0, 14_175.0), (1000.0, 60_000.0)] {
            let transfer = labels(&at(min, max), 1.0);
            transfer.check().unwrap();
            let table = transfer.within(min, max).table_of(0.5, MOST_LABELS).unwrap();
            for label in [min, (min + 1.0).min(max), (min + max) / 2.0, max].map(f64::floor) {
                let [red, green, blue, alpha] = table.sample(label as f32);
                // The table contains rounding errors of differences.
                let wanted = label_colour(label).map(|part| part as f32);
                let far = [red, green, blue].iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(far < 1e-6, "{label} of {min}..{max}: {red} {green} {blue} for {wanted:?}");
                assert_eq!(alpha, if label == 0.0 { 0.0 } else { 1.0 }, "{label} of {min}..{max}");
            }
        }
        let bytes = |label: u16| label_colour(f64::from(label)).map(|part| (255.0 * part).round() as u8);
        let all: std::collections::BTreeSet<[u8; 3]> = (0..256).map(bytes).collect();
        assert_eq!(all.len(), 256, "labels of 8 bits have different colours");
        assert!(all.iter().all(|colour| colour.iter().max() > Some(&150)), "all are bright");
    }
}
