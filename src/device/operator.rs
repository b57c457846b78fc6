//! What composite and accumulate do where data arrives.

use std::fmt;

use super::combine_source::{check_custom, combine_source};
use crate::element::{ElementInfo, ElementKind, Scalar};
use crate::error::DeviceError;

/// How an arriving cell is combined with the one that is there: `destination = operator(source, destination)`.
///
/// `Add`, `Min` and `Max` work on every scalar, componentwise on vectors, and on packed integers. Sums of `i32`, `u32`,
/// `i64` and `u64` wrap; sums of packed integers stop at the ends of their range.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// Source plus destination.
    Add,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// The source in front of the destination, colours premultiplied by opacity:
    /// `source + (1 - source.a) * destination`. On `vec4<f32>` only.
    Over,
    /// The program's own; see [`Operator::custom`].
    Custom {
        /// What messages call it.
        name: String,
        /// WGSL that declares `fn combine(src: T, dst: T) -> T`.
        wgsl: String,
    },
}

impl Operator {
    /// An operator written in WGSL. The text declares `fn combine(src: T, dst: T) -> T`, and whatever that needs; `T` is
    /// the element type (`i32` or `u32` for packed integers, whose results are clamped to their range). Names that begin
    /// with `zippy_` are taken.
    ///
    /// It is compiled when it is used, and mistakes are reported then, by line and column of this text.
    pub fn custom(name: impl Into<String>, wgsl: impl Into<String>) -> Self {
        Self::Custom { name: name.into(), wgsl: wgsl.into() }
    }

    /// The operator's name: `add`, `min`, `max`, `over`, or that of a custom one.
    pub fn name(&self) -> &str {
        match self {
            Self::Add => "add",
            Self::Min => "min",
            Self::Max => "max",
            Self::Over => "over",
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

    /// Name and text, for messages to other ranks.
    pub fn to_parts(&self) -> (String, Option<String>) {
        (self.name().to_string(), self.wgsl().map(str::to_string))
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
            _ => Err(DeviceError::Other(format!("there is no built-in operator {name:?}"))),
        }
    }

    /// Whether the operator exists for an element type and, if it is the program's own, compiles. Needs no device, so
    /// that all ranks get the same answer.
    ///
    /// # Errors
    /// [`DeviceError::Operator`], or [`DeviceError::OperatorSource`] with line and column of the operator's text.
    pub fn check(&self, element: &ElementInfo) -> Result<(), DeviceError> {
        let refuse = |message: &str| {
            Err(DeviceError::Operator {
                operator: self.name().to_string(),
                element: element.name.to_string(),
                message: message.to_string(),
            })
        };
        match self {
            Self::Over if element.kind != ElementKind::Vector(Scalar::F32, 4) => {
                refuse("it needs vec4<f32>, red, green, blue and opacity, premultiplied")
            }
            Self::Add | Self::Min | Self::Max if matches!(element.kind, ElementKind::Record(_)) => {
                refuse("it works on scalars, vectors and packed integers; write an Operator::custom for records")
            }
            Self::Custom { name, wgsl } => check_custom(name, wgsl, &combine_source(element, self)),
            _ => Ok(()),
        }
    }

    /// The body of the built-in operators, or the custom text.
    pub(super) fn definition(&self) -> String {
        let body = match self {
            Self::Add => "src + dst",
            Self::Min => "min(src, dst)",
            Self::Max => "max(src, dst)",
            Self::Over => "src + (1.0 - src.w) * dst",
            Self::Custom { wgsl, .. } => return wgsl.clone(),
        };
        format!("fn combine(src: T, dst: T) -> T {{ return {body}; }}")
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
