//! [`Ramp`]: how opaque which part of a range is.

use zippy_render::volume::TransferFunction;

use super::picture::Colouring;

/// Where the opaque values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opaque {
    /// At the upper end.
    High,
    /// At the lower end.
    Low,
    /// At both ends: of a range about a middle.
    Ends,
    /// Everywhere.
    All,
}

/// Opacities over a range of values. What lies below the range is transparent, what lies above it is as its upper end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// Where it is opaque.
    pub opaque: Opaque,
    /// How much of the way there is transparent, 0 to 1.
    pub clear: f64,
    /// How much is absorbed at the opaque end over the unit of length, 0 to 1.
    pub density: f64,
}

impl Default for Ramp {
    fn default() -> Self {
        Self { opaque: Opaque::High, clear: 0.1, density: 0.5 }
    }
}

/// Points of the functions.
const POINTS: usize = 256;

impl Ramp {
    /// How much is absorbed at a share of the range, 0 to 1.
    pub fn opacity(&self, share: f64) -> f64 {
        let way = match self.opaque {
            Opaque::High => share,
            Opaque::Low => 1.0 - share,
            Opaque::Ends => (2.0 * share - 1.0).abs(),
            Opaque::All => 1.0,
        };
        let way = (way - self.clear) / (1.0 - self.clear).max(1e-6);
        // What is nearly transparent shall not hide what is behind it.
        self.density.clamp(0.0, 1.0) * way.clamp(0.0, 1.0).powi(2)
    }

    /// With these colours, as a function of what of the range a value is. Opacities hold over `unit`.
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
    use crate::look::{ColourMap, Norm, Scale};

    #[test]
    fn ramps_go_where_they_say() {
        let of = |opaque, clear| Ramp { opaque, clear, density: 0.8 };
        let at = |ramp: Ramp| [0.0, 0.25, 0.5, 1.0].map(|share| ramp.opacity(share));
        assert_eq!(at(of(Opaque::High, 0.5)), [0.0, 0.0, 0.0, 0.8]);
        assert_eq!(at(of(Opaque::Low, 0.5)), [0.8, 0.2, 0.0, 0.0]);
        assert_eq!(at(of(Opaque::Ends, 0.0)), [0.8, 0.2, 0.0, 0.8]);
        assert_eq!(at(of(Opaque::All, 0.0)), [0.8; 4]);
        assert_eq!(of(Opaque::High, 1.0).opacity(1.0), 0.0);
    }

    #[test]
    fn colours_are_those_of_slices_and_nothing_is_seen_below_the_range() {
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
