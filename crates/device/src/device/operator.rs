//! What composite and accumulate do where data arrives.

use std::fmt;

use super::colour;
use crate::element::{ElementInfo, ElementKind, Scalar};
use crate::error::DeviceError;

const UNDER_OPAQUE: &str = "under-opaque";

/// The cells that hold a premultiplied colour.
pub(super) const COLOURS: [ElementKind; 2] = [ElementKind::Vector(Scalar::F32, 4), ElementKind::Scalar(Scalar::U32)];

/// How an arriving cell is combined with the one that is there: `destination = operator(source, destination)`.
///
/// `Add`, `Min` and `Max` work on every scalar, componentwise on vectors, and on packed integers. Sums of `i32`, `u32`,
/// `i64` and `u64` wrap; sums of packed integers stop at the ends of their range.
///
/// `Over`, `Under` and `UnderOpaque` work on premultiplied colours: `vec4<f32>`, or `u32` with 8 bits each of red
/// (lowest), green, blue and opacity, rounded to nearest; what is more than 255 stays there.
///
/// Not numbers: `Min` and `Max` leave the destination as it is where either cell is NaN, and where both are zeros; the
/// others follow IEEE 754, so that a NaN stays one, of any payload, and 0 times infinity becomes one: an opaque colour
/// does not hide an infinite one behind it. That holds where the host combines and on devices that compute by IEEE 754,
/// as the software adapter does; WGSL lets devices assume that there are no NaNs and no infinities, and what these make
/// of them is their own affair.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// Source plus destination.
    Add,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// The source in front of the destination: `source + (1 - source.a) * destination`.
    Over,
    /// The source behind the destination: `destination + (1 - destination.a) * source`.
    Under,
    /// As `Under`, and a result whose opacity reaches a threshold becomes exactly opaque, so that whatever comes behind
    /// it later adds exactly nothing. See [`Operator::under_opaque_from`].
    UnderOpaque {
        /// The bits of the threshold.
        from_bits: u32,
    },
    /// The program's own; see [`Operator::custom`].
    Custom {
        /// What messages call it.
        name: String,
        /// WGSL that declares `fn combine(src: T, dst: T) -> T`.
        wgsl: String,
    },
}

impl Operator {
    /// An operator written in WGSL. The text declares `fn combine(src: T, dst: T) -> T`, and whatever that needs; `T`
    /// is the element type (`i32` or `u32` for packed integers, whose results are clamped to their range). Names that
    /// begin with `zippy_`, `T` and `main` are taken, and so are the few words of WGSL that the kernel around it uses
    /// (types such as `vec3`, and functions such as `clamp`): no item of the text can be called so.
    ///
    /// It is compiled when it is used, and mistakes are reported then, by line and column of this text.
    pub fn custom(name: impl Into<String>, wgsl: impl Into<String>) -> Self {
        Self::Custom { name: name.into(), wgsl: wgsl.into() }
    }

    /// [`Operator::UnderOpaque`] with this threshold, above 0 and at most 1.
    pub fn under_opaque_from(opacity: f32) -> Self {
        Self::UnderOpaque { from_bits: opacity.to_bits() }
    }

    /// The opacity from which a result counts as opaque.
    pub(super) fn opaque_from(&self) -> Option<f32> {
        match self {
            Self::UnderOpaque { from_bits } => Some(f32::from_bits(*from_bits)),
            _ => None,
        }
    }

    /// The operator's name: `add`, `min`, `max`, `over`, `under`, `under-opaque`, or that of a custom one.
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

    /// The text of a custom operator.
    pub fn wgsl(&self) -> Option<&str> {
        match self {
            Self::Custom { wgsl, .. } => Some(wgsl),
            _ => None,
        }
    }

    /// Name and WGSL text, for messages to other ranks and for the comparison of calls.
    pub fn to_parts(&self) -> (String, Option<String>) {
        let name = match self {
            Self::UnderOpaque { from_bits } => format!("{UNDER_OPAQUE}:{from_bits}"),
            _ => self.name().to_string(),
        };
        (name, self.wgsl().map(str::to_string))
    }

    /// The reverse of [`Operator::to_parts`], for operators that travelled in a message.
    ///
    /// # Errors
    /// A name without a text that is none of the built-in ones.
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

    /// The text of the built-in operators for an element type, or the custom one.
    pub fn definition(&self, element: &ElementInfo) -> String {
        let rgba8 = element.kind == ElementKind::Scalar(Scalar::U32);
        let body = match self {
            Self::Add => "src + dst".to_string(),
            // Not min and max, which may do as they like with NaN and with zeros of both signs.
            Self::Min => "select(dst, src, src < dst)".to_string(),
            Self::Max => "select(dst, src, src > dst)".to_string(),
            Self::Over if rgba8 => "over_rgba8(src, dst)".to_string(),
            Self::Under if rgba8 => "over_rgba8(dst, src)".to_string(),
            Self::UnderOpaque { from_bits } if rgba8 => {
                format!("closed_rgba8(over_rgba8(dst, src), {}u)", colour::opaque_rgba8(f32::from_bits(*from_bits)))
            }
            Self::Over => "over(src, dst)".to_string(),
            Self::Under => "over(dst, src)".to_string(),
            Self::UnderOpaque { from_bits } => format!("closed(over(dst, src), bitcast<f32>({from_bits}u))"),
            Self::Custom { wgsl, .. } => return wgsl.clone(),
        };
        let arithmetic = match self {
            Self::Over | Self::Under | Self::UnderOpaque { .. } => colour::WGSL,
            _ => "",
        };
        format!("fn combine(src: T, dst: T) -> T {{ return {body}; }}\n{arithmetic}")
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.opaque_from().map_or(Ok(()), |opacity| write!(f, " from {opacity}"))
    }
}
