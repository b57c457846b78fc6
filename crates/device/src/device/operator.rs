//! [`Operator`]: combination of arriving cells with the cells of the destination.

use std::fmt;

use super::colour;
use crate::element::{ElementInfo, ElementKind, Scalar};
use crate::error::DeviceError;
use crate::wgsl::WgslComposer;

const UNDER_OPAQUE: &str = "under-opaque";

/// Element types of premultiplied colours.
pub(super) const COLOUR_ELEMENTS: [ElementKind; 2] =
    [ElementKind::Vector(Scalar::F32, 4), ElementKind::Scalar(Scalar::U32)];

/// Combination of an arriving cell (source) with the cell of the destination:
/// `destination = operator(source, destination)`.
///
/// * `Add`, `Min` and `Max` work on all scalars, on vectors by component, and on packed integers.
///   Sums of `i32`, `u32`, `i64` and `u64` wrap; sums of packed integers saturate.
/// * `Over`, `Under` and `UnderOpaque` work on premultiplied colours: `vec4<f32>`, or `u32` with 8
///   bits each of red (lowest), green, blue and opacity. Components of 8 bits are rounded to
///   nearest and saturate at 255.
///
/// # NaN and infinity
/// `Min` and `Max` keep the destination if a cell is NaN, or if both cells are zeros. The other
/// operators follow IEEE 754: a NaN stays a NaN of unspecified payload, and 0 times infinity is
/// NaN, so an opaque colour does not hide an infinite colour. These rules hold for combinations on
/// the host and on devices that follow IEEE 754, such as the software adapter. WGSL allows other
/// devices to assume that there are no NaNs and infinities.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// Source plus destination.
    Add,
    /// Minimum of source and destination.
    Min,
    /// Maximum of source and destination.
    Max,
    /// The source in front of the destination: `source + (1 - source.a) * destination`.
    Over,
    /// The source at the back of the destination: `destination + (1 - destination.a) * source`.
    Under,
    /// [`Under`](Self::Under), with the opacity of a result set to exactly 1 if it reaches a
    /// threshold: further layers then change nothing. See [`Operator::under_opaque_from`].
    UnderOpaque {
        /// Bits of the threshold, an `f32`.
        from_bits: u32,
    },
    /// Operator that the program defines in WGSL; see [`Operator::custom`].
    Custom {
        /// Name for error messages.
        name: String,
        /// WGSL text that declares `fn combine(src: T, dst: T) -> T`.
        wgsl: String,
    },
}

impl Operator {
    /// Creates an operator in WGSL. The text declares `fn combine(src: T, dst: T) -> T`; `T` is the
    /// element type (`i32` or `u32` for packed integers, with results clamped to their range).
    ///
    /// The text cannot declare names that begin with `zippy_`, the names `T` and `main`, and the
    /// types and functions of WGSL that the kernel uses, such as `vec3` and `clamp`.
    ///
    /// The first use compiles the text, and reports errors with their line and column in the text.
    pub fn custom(name: impl Into<String>, wgsl: impl Into<String>) -> Self {
        Self::Custom { name: name.into(), wgsl: wgsl.into() }
    }

    /// Creates [`Operator::UnderOpaque`] with a threshold above 0 and at most 1.
    pub fn under_opaque_from(opacity: f32) -> Self {
        Self::UnderOpaque { from_bits: opacity.to_bits() }
    }

    /// Returns the opacity threshold of [`Operator::UnderOpaque`]; `None` for other operators.
    pub(super) fn opaque_threshold(&self) -> Option<f32> {
        match self {
            Self::UnderOpaque { from_bits } => Some(f32::from_bits(*from_bits)),
            _ => None,
        }
    }

    /// Returns the operator's name: `add`, `min`, `max`, `over`, `under`, `under-opaque`, or the
    /// name of a custom operator.
    pub fn name(&self) -> &str {
        match self {
            Self::Add => "add",
            Self::Min => "min",
            Self::Max => "max",
            Self::Over => "over",
            Self::Under => "under",
            Self::UnderOpaque { .. } => UNDER_OPAQUE,
            Self::Custom { name, .. } => name,
        }
    }

    /// Returns the WGSL text of a custom operator; `None` for a built-in one.
    pub fn wgsl(&self) -> Option<&str> {
        match self {
            Self::Custom { wgsl, .. } => Some(wgsl),
            _ => None,
        }
    }

    /// Returns the operator's name and WGSL text, for messages to other ranks and for the
    /// comparison of calls.
    pub fn to_parts(&self) -> (String, Option<String>) {
        let name = match self {
            Self::UnderOpaque { from_bits } => format!("{UNDER_OPAQUE}:{from_bits}"),
            _ => self.name().to_string(),
        };
        (name, self.wgsl().map(str::to_string))
    }

    /// Creates an operator from its name and WGSL text, the result of [`Operator::to_parts`].
    ///
    /// # Errors
    /// The WGSL text is missing, and no built-in operator has this name.
    pub fn from_parts(name: &str, wgsl: Option<&str>) -> Result<Self, DeviceError> {
        match (name, wgsl) {
            (_, Some(wgsl)) => Ok(Self::custom(name, wgsl)),
            ("add", None) => Ok(Self::Add),
            ("min", None) => Ok(Self::Min),
            ("max", None) => Ok(Self::Max),
            ("over", None) => Ok(Self::Over),
            ("under", None) => Ok(Self::Under),
            _ => match name.strip_prefix(UNDER_OPAQUE).and_then(|rest| rest.strip_prefix(':')?.parse().ok()) {
                Some(from_bits) => Ok(Self::UnderOpaque { from_bits }),
                None => Err(DeviceError::Other(format!("there is no built-in operator {name:?}"))),
            },
        }
    }

    /// Returns WGSL that declares the function `combine` for an element type. The text of a custom
    /// operator is its first part.
    pub fn definition(&self, element: &ElementInfo) -> WgslComposer {
        let is_rgba8 = element.kind == ElementKind::Scalar(Scalar::U32);
        let body = match self {
            Self::Add => "src + dst".to_string(),
            // WGSL leaves the results of min and max for NaN and for zeros of both signs
            // unspecified.
            Self::Min => "select(dst, src, src < dst)".to_string(),
            Self::Max => "select(dst, src, src > dst)".to_string(),
            Self::Over if is_rgba8 => "over_rgba8(src, dst)".to_string(),
            Self::Under if is_rgba8 => "over_rgba8(dst, src)".to_string(),
            Self::UnderOpaque { from_bits } if is_rgba8 => {
                format!(
                    "saturate_opacity_rgba8(over_rgba8(dst, src), {}u)",
                    colour::min_opaque_byte(f32::from_bits(*from_bits))
                )
            }
            Self::Over => "over(src, dst)".to_string(),
            Self::Under => "over(dst, src)".to_string(),
            Self::UnderOpaque { from_bits } => format!("saturate_opacity(over(dst, src), bitcast<f32>({from_bits}u))"),
            Self::Custom { wgsl, .. } => return WgslComposer::new().generated(wgsl),
        };
        let combine = format!("fn combine(src: T, dst: T) -> T {{ return {body}; }}\n");
        let composer = WgslComposer::new().generated(combine);
        match self {
            Self::Over | Self::Under | Self::UnderOpaque { .. } => composer.module(colour::WGSL),
            _ => composer,
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.opaque_threshold().map_or(Ok(()), |opacity| write!(f, " from {opacity}"))
    }
}
