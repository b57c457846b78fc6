//! [`Look`]: parameters of an image, except for the volume.

use serde::{Deserialize, Serialize};

use super::camera::Camera;
use super::transfer::TransferFunction;
use crate::error::RenderError;

/// Parameters of an image of a volume. Lengths are in the unit of the volume's grid; camera and
/// clip planes are in its space.
///
/// ```
/// use zippy_render::volume::{Camera, Look, Shading, TransferFunction};
///
/// let camera = Camera::overview([64, 64, 64], [1.0; 3]);
/// let transfer = TransferFunction::ramp(0.0, 255.0);
/// let look = Look { shading: Some(Shading::default()), ..Look::new(camera, transfer) };
/// look.check()?;
/// # Ok::<(), zippy_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Position, direction and projection of the camera.
    pub camera: Camera,
    /// Map from values to colour and opacity.
    pub transfer: TransferFunction,
    /// Distance between samples along a ray.
    #[serde(default = "Look::default_step")]
    pub step: f64,
    /// Width and height of the image in pixels.
    #[serde(default = "Look::default_size")]
    pub size: (u32, u32),
    /// Lighting by the gradient of the values; `None` shows unlit colours.
    #[serde(default)]
    pub shading: Option<Shading>,
    /// True for pre-integrated classification: the transfer function is integrated over the values
    /// between two samples, not evaluated at samples.
    #[serde(default)]
    pub preintegrated: bool,
    /// Interpolation between voxels.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Clip planes; a point is visible if all planes keep it.
    #[serde(default)]
    pub clip: Vec<ClipPlane>,
    /// Crop box; only points inside are visible.
    #[serde(default)]
    pub crop: Option<Crop>,
    /// True to shift samples along each ray by a fixed function of the pixel, which turns ring
    /// artefacts into noise.
    #[serde(default)]
    pub jitter: bool,
    /// Early ray termination: a ray ends if the remaining light changes every component of the
    /// pixel by at most this amount; the pixel's alpha then becomes exactly 1. 0 ends rays only if
    /// no light remains.
    ///
    /// The threshold is this share of the light, or less if shading can make colours brighter than
    /// 1; see [`ends_at`](Self::ends_at).
    #[serde(default = "Look::default_termination")]
    pub termination: f32,
}

/// Interpolation of the value at a sample from the voxels around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Trilinear interpolation between the eight corners of a cell.
    #[default]
    Linear,
    /// Value of the nearest voxel, for labels. Shading uses the trilinear gradient.
    Nearest,
}

/// Light at the camera position; surfaces are lit from both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shading {
    /// Share of the colour that does not depend on the light.
    pub ambient: f64,
    /// Share of the colour that is added where the gradient points to the light.
    pub diffuse: f64,
    /// White that is added where the surface mirrors the light.
    pub specular: f64,
    /// Exponent of the mirrored light's cosine; larger values give smaller highlights.
    pub shininess: f64,
}

impl Default for Shading {
    fn default() -> Self {
        Self { ambient: 0.1, diffuse: 0.7, specular: 0.2, shininess: 10.0 }
    }
}

impl Shading {
    pub(super) fn brightest(&self) -> f64 {
        self.ambient + self.diffuse + self.specular
    }

    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// The first field that is out of range.
    pub(super) fn check(&self) -> Result<(), RenderError> {
        let wrong = |message: String| Err(RenderError::Setting(message));
        let Self { ambient, diffuse, specular, shininess } = *self;
        for (name, part) in [("ambient", ambient), ("diffuse", diffuse), ("specular", specular)] {
            if !(0.0..=1.0).contains(&part) {
                return wrong(format!("{name} light of {part}; it must be 0 to 1"));
            }
        }
        if !(1.0..=1000.0).contains(&shininess) {
            return wrong(format!("a shininess of {shininess}; it must be 1 to 1000"));
        }
        Ok(())
    }
}

/// Clip plane: keeps the points `p`, in the space of the volume's grid, with `dot(normal, p) >=
/// offset`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipPlane {
    /// Normal that points to the kept side; any non-zero length.
    pub normal: [f64; 3],
    /// `dot(normal, p)` of the points in the plane.
    pub offset: f64,
}

/// Box along the axes of the volume, in lengths from its first voxel: index times spacing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crop {
    /// Lower corner.
    pub low: [f64; 3],
    /// Upper corner.
    pub high: [f64; 3],
}

/// Guarantee about images of different decompositions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Bit-identical images for every number of ranks and every decomposition: rays are cut at the
    /// bricks of a lattice that depends on the volume only.
    #[default]
    Reproducible,
    /// Fewer layers to blend; images differ by at most 4e-6, or by the sum of [`Look::termination`]
    /// and 2e-6 if that is more. Rays are cut at the boxes of bricks of a rank.
    Fast,
}

/// Pixel format during compositing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PixelFormat {
    /// Four components of 32 bits.
    #[default]
    F32,
    /// Four components of 8 bits, a quarter of the bytes.
    Rgba8,
}

/// Maximum number of clip planes of an image.
pub(super) const MAX_CLIP_PLANES: usize = 6;

impl Look {
    /// Look with a sample distance of 1, 512 x 512 pixels and all optional features off.
    pub fn new(camera: Camera, transfer: TransferFunction) -> Self {
        Self {
            camera,
            transfer,
            step: Self::default_step(),
            size: Self::default_size(),
            shading: None,
            preintegrated: false,
            interpolation: Interpolation::Linear,
            clip: Vec::new(),
            crop: None,
            jitter: false,
            termination: Self::default_termination(),
        }
    }

    fn default_step() -> f64 {
        1.0
    }

    fn default_size() -> (u32, u32) {
        (512, 512)
    }

    fn default_termination() -> f32 {
        2.0_f32.powi(-19)
    }

    /// Share of light at which rays end: [`termination`](Self::termination), divided by the maximum
    /// brightness of the light if that exceeds 1.
    pub fn ends_at(&self) -> f32 {
        self.ends_at_with(1.0)
    }

    /// [`ends_at`](Self::ends_at) with surfaces in a light whose parts sum to `brightest`.
    pub(super) fn ends_at_with(&self, brightest: f64) -> f32 {
        let own = self.shading.as_ref().map_or(1.0, Shading::brightest);
        (f64::from(self.termination) / own.max(brightest).max(1.0)) as f32
    }

    /// Checks all fields that do not depend on the volume.
    ///
    /// # Errors
    /// The first field that is out of range, with its value and the valid range.
    pub fn check(&self) -> Result<(), RenderError> {
        let wrong = |message: String| Err(RenderError::Setting(message));
        let (width, height) = self.size;
        if !(1..=16384).contains(&width) || !(1..=16384).contains(&height) {
            return wrong(format!("a picture of {width} x {height} pixels; each side must be 1 to 16384"));
        }
        if !(self.step > 0.0 && self.step.is_finite()) {
            return wrong(format!("a sample distance of {}; it must be positive", self.step));
        }
        if !(0.0..=0.1).contains(&self.termination) {
            return wrong(format!("rays that end at a transparency of {}; it must be 0 to 0.1", self.termination));
        }
        self.camera.frame()?;
        self.camera.half_height()?;
        self.transfer.check()?;
        self.shading.as_ref().map_or(Ok(()), Shading::check)?;
        if self.preintegrated && self.interpolation == Interpolation::Nearest {
            return wrong("pre-integration of nearest voxels: there are no values between two samples".into());
        }
        if self.clip.len() > MAX_CLIP_PLANES {
            return wrong(format!("{} clip planes; at most {MAX_CLIP_PLANES} are possible", self.clip.len()));
        }
        for (number, ClipPlane { normal, offset }) in self.clip.iter().enumerate() {
            let length = normal.iter().fold(0.0_f64, |most, part| most.max(part.abs()));
            if !normal.iter().all(|part| part.is_finite()) || !(1e-150..=1e150).contains(&length) || !offset.is_finite()
            {
                return wrong(format!(
                    "clip plane {number} has the normal {normal:?} and the offset {offset}; they must be finite, the \
                     normal from 1e-150 to 1e150 long"
                ));
            }
        }
        if let Some(Crop { low, high }) = self.crop
            && (0..3).any(|axis| !(low[axis].is_finite() && high[axis].is_finite() && low[axis] <= high[axis]))
        {
            return wrong(format!("a crop box from {low:?} to {high:?}; it must be finite and not run backwards"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::Projection;

    /// Numbers that formatting and parsing keep to the last bit.
    fn good() -> Look {
        let camera = Camera {
            position: [40.5, -20.25, 8.0],
            focal_point: [4.0, 4.5, 5.0],
            view_up: [0.0, 0.0, 1.0],
            projection: Projection::Perspective { vertical_fov_degrees: 30.0 },
        };
        let transfer = TransferFunction {
            opacity: vec![[0.0, 0.0], [200.0, 0.75]],
            colour: vec![[0.0, 1.0, 0.5, 0.25]],
            unit_distance: 2.0,
        };
        Look::new(camera, transfer)
    }

    #[test]
    fn look_round_trips_through_json() {
        let look = Look {
            shading: Some(Shading { ambient: 0.25, diffuse: 0.5, specular: 0.125, shininess: 8.0 }),
            clip: vec![ClipPlane { normal: [1.0, 0.0, -0.5], offset: 3.25 }],
            crop: Some(Crop { low: [0.0; 3], high: [5.0, 6.0, 7.0] }),
            jitter: true,
            ..good()
        };
        let text = serde_json::to_string(&look).unwrap();
        assert_eq!(serde_json::from_str::<Look>(&text).unwrap(), look);
        let mut short: serde_json::Value = serde_json::from_str(&serde_json::to_string(&good()).unwrap()).unwrap();
        let parts = short.as_object_mut().unwrap();
        parts.retain(|name, _| ["camera", "transfer"].contains(&name.as_str()));
        assert_eq!(serde_json::from_value::<Look>(short.clone()).unwrap(), good());
        short["camara"] = 1.into();
        assert!(serde_json::from_value::<Look>(short).unwrap_err().to_string().contains("camara"));
    }

    #[test]
    fn invalid_looks_are_errors() {
        assert_eq!(good().check(), Ok(()));
        let light = Shading::default();
        let plane = ClipPlane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
        let cases = [
            (Look { size: (0, 5), ..good() }, "0 x 5"),
            (
                Look { preintegrated: true, interpolation: Interpolation::Nearest, ..good() },
                "no values between two samples",
            ),
            (Look { size: (5, 16385), ..good() }, "5 x 16385"),
            (Look { step: -0.5, ..good() }, "sample distance of -0.5"),
            (Look { step: f64::INFINITY, ..good() }, "sample distance of inf"),
            (Look { termination: 0.5, ..good() }, "transparency of 0.5"),
            (Look { termination: f32::NAN, ..good() }, "transparency of NaN"),
            (Look { camera: Camera { view_up: [0.0; 3], ..good().camera }, ..good() }, "view-up"),
            (Look { transfer: TransferFunction { unit_distance: 0.0, ..good().transfer }, ..good() }, "unit distance"),
            (Look { shading: Some(Shading { diffuse: 1.5, ..light }), ..good() }, "diffuse light of 1.5"),
            (Look { shading: Some(Shading { shininess: 0.0, ..light }), ..good() }, "shininess of 0"),
            (Look { clip: vec![plane; 7], ..good() }, "7 clip planes"),
            (Look { clip: vec![plane, ClipPlane { normal: [0.0; 3], offset: 1.0 }], ..good() }, "clip plane 1"),
            (Look { crop: Some(Crop { low: [1.0; 3], high: [2.0, 0.5, 2.0] }), ..good() }, "crop box"),
        ];
        for (look, wanted) in cases {
            let error = look.check().unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
