//! [`ColourMap`]: maps values to colours.

use std::sync::LazyLock;

use colorous::{Color, Gradient};
use zippy_protocol::ScalarValue;

/// Purpose of a colour map, which determines its kind of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MapKind {
    /// Values from low to high, in perceptually uniform steps.
    Perceptual,
    /// Values on both sides of a centre.
    Diverging,
    /// Integers as classes.
    Categorical,
}

/// Map from values to RGB colours.
#[derive(Debug, PartialEq)]
pub struct ColourMap {
    pub name: &'static str,
    pub kind: MapKind,
    colours: Vec<[u8; 3]>,
}

/// Colours of values that a colour map does not cover, and of areas without cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpecialColours {
    /// NaN: magenta.
    pub nan: [u8; 3],
    /// Positive infinity: white.
    pub plus_infinity: [u8; 3],
    /// Negative infinity: black.
    pub minus_infinity: [u8; 3],
    /// Finite values below the range: light blue.
    pub below: [u8; 3],
    /// Finite values above the range: light red.
    pub above: [u8; 3],
    /// Area without cells: grey.
    pub nothing: [u8; 3],
}

/// Colours of values that a colour map does not cover, the same in all pictures.
pub const SPECIAL_COLOURS: SpecialColours = SpecialColours {
    nan: [255, 0, 255],
    plus_infinity: [255, 255, 255],
    minus_infinity: [0, 0, 0],
    below: [120, 200, 255],
    above: [255, 120, 110],
    nothing: [44, 46, 52],
};

/// Number of colours of a continuous colour map.
const CONTINUOUS_COLOURS: usize = 256;

static MAPS: LazyLock<Vec<ColourMap>> = LazyLock::new(|| {
    let rgb = |colour: Color| [colour.r, colour.g, colour.b];
    let sampled = |name, kind, gradient: Gradient, reversed: bool| {
        let source = |step: usize| if reversed { CONTINUOUS_COLOURS - 1 - step } else { step };
        let colours =
            (0..CONTINUOUS_COLOURS).map(|step| rgb(gradient.eval_rational(source(step), CONTINUOUS_COLOURS))).collect();
        ColourMap { name, kind, colours }
    };
    let perceptual = |name, gradient| sampled(name, MapKind::Perceptual, gradient, false);
    let diverging = |name, gradient, reversed| sampled(name, MapKind::Diverging, gradient, reversed);
    let classes = |name, colours: &[Color]| {
        let colours = colours.iter().copied().map(rgb).collect();
        ColourMap { name, kind: MapKind::Categorical, colours }
    };
    vec![
        perceptual("viridis", colorous::VIRIDIS),
        perceptual("magma", colorous::MAGMA),
        perceptual("inferno", colorous::INFERNO),
        perceptual("plasma", colorous::PLASMA),
        perceptual("cividis", colorous::CIVIDIS),
        perceptual("turbo", colorous::TURBO),
        perceptual("cubehelix", colorous::CUBEHELIX),
        sampled("grey", MapKind::Perceptual, colorous::GREYS, true),
        // Reversed, so that the high end is red.
        diverging("blue-red", colorous::RED_BLUE, true),
        diverging("blue-yellow-red", colorous::RED_YELLOW_BLUE, true),
        diverging("purple-green", colorous::PURPLE_GREEN, false),
        diverging("spectral", colorous::SPECTRAL, true),
        classes("tableau10", &colorous::TABLEAU10),
        classes("set3", &colorous::SET3),
        classes("paired", &colorous::PAIRED),
    ]
});

impl ColourMap {
    /// Returns all maps, with the default map first.
    pub fn all() -> &'static [Self] {
        &MAPS
    }

    /// Returns the first map: viridis.
    pub fn first() -> &'static Self {
        &MAPS[0]
    }

    /// Returns the map of a name. Letter case does not matter; `_` and `-` are equal, and so are
    /// `gray` and `grey`.
    ///
    /// # Errors
    /// No map has this name. The error lists all names.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        let wanted = name.trim().to_lowercase().replace('_', "-").replace("gray", "grey");
        Self::all().iter().find(|map| map.name == wanted).ok_or_else(|| {
            let names: Vec<&str> = Self::all().iter().map(|map| map.name).collect();
            format!("there is no colour map `{name}`; there are {}", names.join(", "))
        })
    }

    /// Returns the colour at a fraction between 0 and 1: the nearest of 256. A categorical map
    /// returns the class of the fraction.
    pub fn at(&self, share: f64) -> [u8; 3] {
        let last = self.colours.len() - 1;
        let index = match self.kind {
            MapKind::Categorical => (share * self.colours.len() as f64) as usize,
            _ => (share * last as f64).round() as usize,
        };
        self.colours[index.min(last)]
    }

    /// Returns the colour of a class. Floats are rounded; the colours repeat.
    pub fn class(&self, value: impl Into<ScalarValue>) -> [u8; 3] {
        let index = match value.into() {
            ScalarValue::Integer(value) => value.rem_euclid(self.colours.len() as i128) as usize,
            ScalarValue::Float(value) => value.round().rem_euclid(self.colours.len() as f64) as usize,
        };
        self.colours[index.min(self.colours.len() - 1)]
    }
}
