//! [`ColourMap`]: colours of shares and of classes.

use std::sync::LazyLock;

use colorous::{Color, Gradient};
use zippy::debug::protocol::ScalarValue;

/// What a map is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MapKind {
    /// From less to more, in steps that look alike.
    Perceptual,
    /// To both sides of a middle.
    Diverging,
    /// Whole numbers as classes.
    Categorical,
}

/// Colours, red, green and blue.
#[derive(Debug, PartialEq)]
pub struct ColourMap {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub kind: MapKind,
    colours: Vec<[u8; 3]>,
}

/// The colours of what no map has a colour for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart {
    /// Of NaNs: magenta.
    pub nan: [u8; 3],
    /// Of infinities above 0: white.
    pub plus_infinity: [u8; 3],
    /// Of infinities below 0: black.
    pub minus_infinity: [u8; 3],
    /// Of finite numbers below the range: light blue.
    pub below: [u8; 3],
    /// Of those above it: light red.
    pub above: [u8; 3],
    /// Where there is no cell: grey.
    pub nothing: [u8; 3],
}

/// The colours that all pictures have for them.
pub const APART: Apart = Apart {
    nan: [255, 0, 255],
    plus_infinity: [255, 255, 255],
    minus_infinity: [0, 0, 0],
    below: [120, 200, 255],
    above: [255, 120, 110],
    nothing: [44, 46, 52],
};

/// Colours of a continuous map.
const STEPS: usize = 256;

static MAPS: LazyLock<Vec<ColourMap>> = LazyLock::new(|| {
    let rgb = |colour: Color| [colour.r, colour.g, colour.b];
    let sampled = |name, kind, gradient: Gradient, turned: bool| {
        let place = |step: usize| if turned { STEPS - 1 - step } else { step };
        let colours = (0..STEPS).map(|step| rgb(gradient.eval_rational(place(step), STEPS))).collect();
        ColourMap { name, kind, colours }
    };
    let perceptual = |name, gradient| sampled(name, MapKind::Perceptual, gradient, false);
    let diverging = |name, gradient, turned| sampled(name, MapKind::Diverging, gradient, turned);
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
        // From blue to red: the hot end is the upper one.
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
    /// All maps, those to begin with first.
    pub fn all() -> &'static [Self] {
        &MAPS
    }

    /// The first map: viridis.
    pub fn first() -> &'static Self {
        &MAPS[0]
    }

    /// The map of this name, in capitals or not, `_` for `-`, and `gray` for `grey`.
    ///
    /// # Errors
    /// There is none of this name; those that there are are told.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        let wanted = name.trim().to_lowercase().replace('_', "-").replace("gray", "grey");
        Self::all().iter().find(|map| map.name == wanted).ok_or_else(|| {
            let names: Vec<&str> = Self::all().iter().map(|map| map.name).collect();
            format!("there is no colour map `{name}`; there are {}", names.join(", "))
        })
    }

    /// The colour at a share from 0 to 1: the nearest of 256. Of a categorical map, the class that the share falls in.
    pub fn at(&self, share: f64) -> [u8; 3] {
        let last = self.colours.len() - 1;
        let place = match self.kind {
            MapKind::Categorical => (share * self.colours.len() as f64) as usize,
            _ => (share * last as f64).round() as usize,
        };
        self.colours[place.min(last)]
    }

    /// The colour of a class: of a whole number, those of others rounded, again and again in a circle.
    pub fn class(&self, value: impl Into<ScalarValue>) -> [u8; 3] {
        let place = match value.into() {
            ScalarValue::Integer(value) => value.rem_euclid(self.colours.len() as i128) as usize,
            ScalarValue::Float(value) => value.round().rem_euclid(self.colours.len() as f64) as usize,
        };
        self.colours[place.min(self.colours.len() - 1)]
    }
}
