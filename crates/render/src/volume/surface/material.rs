//! [`Material`]: colour, opacity and shading of a surface.

use serde::{Deserialize, Serialize};

use crate::error::RenderError;
use crate::volume::look::Shading;
use crate::volume::transfer::{TransferFunction, TransferTable};

/// Colour, opacity and shading of a surface.
///
/// ```
/// use zippy_render::volume::{Colouring, Material};
///
/// let bone = Material { colour: Colouring::Plain([0.9, 0.85, 0.7]), ..Material::default() };
/// let skin = Material { opacity: 0.3, ..bone.clone() };
/// assert!(bone.is_opaque() && !skin.is_opaque());
/// # skin.check()?;
/// # Ok::<(), zippy_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Colour of the surface.
    pub colour: Colouring,
    /// Share of the background that the surface hides: 0 is invisible, 1 is opaque.
    pub opacity: f64,
    /// Light at the camera. Both sides are lit.
    pub shading: Shading,
}

/// Colour of a surface: constant, or by vertex value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Colouring {
    /// Red, green and blue, 0 to 1.
    Plain([f64; 3]),
    /// Colour map for the vertex values: `[value, red, green, blue]`, values ascending, linear
    /// between points and constant beyond. NaN has the first colour.
    Scale(Vec<[f64; 4]>),
}

impl Default for Material {
    /// Opaque light grey.
    fn default() -> Self {
        Self { colour: Colouring::Plain([0.85, 0.85, 0.85]), opacity: 1.0, shading: Shading::default() }
    }
}

impl Material {
    /// True if the surface hides its background completely.
    pub fn is_opaque(&self) -> bool {
        self.opacity >= 1.0
    }

    /// True if the surface is visible and not opaque.
    pub(in crate::volume) fn is_transparent(&self) -> bool {
        self.opacity > 0.0 && !self.is_opaque()
    }

    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// The first field that is out of range, with its value and the valid range.
    pub fn check(&self) -> Result<(), RenderError> {
        if !(0.0..=1.0).contains(&self.opacity) {
            let message = format!("a surface of opacity {}; it must be 0 to 1", self.opacity);
            return Err(RenderError::Setting(message));
        }
        self.shading.check()?;
        match &self.colour {
            Colouring::Plain(colour) if !colour.iter().all(|part| (0.0..=1.0).contains(part)) => {
                let message = format!("a surface of the colour {colour:?}; components must be 0 to 1");
                Err(RenderError::Setting(message))
            }
            Colouring::Plain(_) => Ok(()),
            Colouring::Scale(points) if points.is_empty() => {
                Err(RenderError::Setting("a surface with a scale of no colours; it needs one at least".into()))
            }
            Colouring::Scale(points) => scale(points).check(),
        }
    }

    /// Table of the colour map; `None` for a plain colour.
    pub(in crate::volume) fn table(&self) -> Result<Option<TransferTable>, RenderError> {
        match &self.colour {
            Colouring::Plain(_) => Ok(None),
            Colouring::Scale(points) => scale(points).table(1.0).map(Some),
        }
    }
}

fn scale(points: &[[f64; 4]]) -> TransferFunction {
    let opacity = points.first().map(|point| [point[0], 1.0]).into_iter().collect();
    TransferFunction { opacity, colour: points.to_vec(), unit_distance: 1.0 }
}
