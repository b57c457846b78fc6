//! [`Ramp`]: opacity as a function of the position in a range.

use zippy_render::volume::TransferFunction;

use super::picture::Colouring;

/// Opaque part of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opaque {
    /// The upper end.
    High,
    /// The lower end.
    Low,
    /// Both ends, for a range about a centre.
    Ends,
    /// The whole range.
    All,
}

/// Opacities over a range of values. Values below the range are transparent; values above it have
/// the opacity of the upper end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// Opaque part of the range.
    pub opaque: Opaque,
    /// Transparent fraction of the distance to the opaque end, 0 to 1.
    pub clear: f64,
    /// Fraction of light that the opaque end absorbs per unit of length, 0 to 1.
    pub density: f64,
}

impl Default for Ramp {
    fn default() -> Self {
        Self { opaque: Opaque::High, clear: 0.1, density: 0.5 }
    }
}

/// Number of points of the colours and of the opacities of a transfer function.
const POINTS: usize = 256;

impl Ramp {
    /// Returns the absorbed fraction of light at a position in the range, 0 to 1.
    pub fn opacity(&self, share: f64) -> f64 {
        let distance = match self.opaque {
            Opaque::High => share,
            Opaque::Low => 1.0 - share,
            Opaque::Ends => (2.0 * share - 1.0).abs(),
            Opaque::All => 1.0,
        };
        let distance = (distance - self.clear) / (1.0 - self.clear).max(1e-6);
        // Nearly transparent values must not hide the values farther away.
        self.density.clamp(0.0, 1.0) * distance.clamp(0.0, 1.0).powi(2)
    }

    /// Returns the transfer function with these opacities and the colours of `colouring`. The
    /// opacities hold over the distance `unit`.
    pub fn transfer(&self, colouring: &Colouring, unit: f64) -> TransferFunction {
        let shares = || (0..=POINTS).map(|point| point as f64 / POINTS as f64);
        let mut opacity = vec![[0.0, 0.0]];
        opacity.extend(shares().map(|share| [share, self.opacity(share)]));
        let colour = shares().map(|share| {
            let [red, green, blue] = colouring.at(share).map(|part| f64::from(part) / 255.0);
            [share, red, green, blue]
        });
        TransferFunction { opacity, colour: colour.collect(), unit_distance: unit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imaging::{ColourMap, Norm, Scale};

    #[test]
    fn opacity_rises_towards_the_opaque_part() {
        let of = |opaque, clear| Ramp { opaque, clear, density: 0.8 };
        let at = |ramp: Ramp| [0.0, 0.25, 0.5, 1.0].map(|share| ramp.opacity(share));
        assert_eq!(at(of(Opaque::High, 0.5)), [0.0, 0.0, 0.0, 0.8]);
        assert_eq!(at(of(Opaque::Low, 0.5)), [0.8, 0.2, 0.0, 0.0]);
        assert_eq!(at(of(Opaque::Ends, 0.0)), [0.8, 0.2, 0.0, 0.8]);
        assert_eq!(at(of(Opaque::All, 0.0)), [0.8; 4]);
        assert_eq!(of(Opaque::High, 1.0).opacity(1.0), 0.0);
    }

    #[test]
    fn transfer_function_has_colours_of_slices_and_is_transparent_below_range() {
        let scale = Scale::new(Norm::Log, (1.0, 100.0)).unwrap();
        let colouring = Colouring { map: ColourMap::first(), scale };
        let function = Ramp { opaque: Opaque::All, clear: 0.0, density: 1.0 }.transfer(&colouring, 2.0);
        function.check().unwrap();
        assert_eq!((function.opacity_at(-1e-9), function.opacity_at(0.0)), (0.0, 1.0));
        assert_eq!((function.opacity_at(2.0), function.unit_distance), (1.0, 2.0));
        let wanted = colouring.of(10.0).map(|part| f64::from(part) / 255.0);
        assert_eq!(function.colour_at(0.5), wanted);
    }
}
