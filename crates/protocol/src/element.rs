//! [`ElementType`]: layout of a cell, for readers of its bytes.

use serde::{Deserialize, Serialize};

use super::{ScalarValue, lists};

/// Type of cells.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ElementType {
    /// Name: `f32`, `vec2<f32>`, or the Rust name of a record.
    pub name: String,
    /// Size of a cell in bytes.
    pub bytes: u32,
    /// Numbers of a cell in ascending order of offset; for a record, those of all nested members.
    #[serde(deserialize_with = "lists::list")]
    pub numbers: Vec<Numbers>,
}

/// Adjacent numbers of one type: a scalar or a vector.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Numbers {
    /// Name of the member after the names of the enclosing records (`first.position`); empty unless
    /// the cell is a record.
    pub name: String,
    /// Byte offset in the cell.
    pub offset: u32,
    /// Type of each number.
    pub scalar: ScalarType,
    /// Number of components.
    pub components: u8,
}

impl Numbers {
    /// Size of all components in bytes.
    pub fn bytes(&self) -> usize {
        self.scalar.bytes() * usize::from(self.components)
    }
}

/// Type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say all")]
pub enum ScalarType {
    U8,
    I8,
    U16,
    I16,
    F16,
    U32,
    I32,
    F32,
    U64,
    I64,
    F64,
}

impl ScalarType {
    /// Size of a number in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// True for floating-point types.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// Value of a number as `f64`, rounded if necessary; `None` if `bytes` is too short.
    pub fn value(self, bytes: &[u8]) -> Option<f64> {
        macro_rules! read {
            ($ty:ty) => {
                <$ty>::from_le_bytes(bytes.get(..size_of::<$ty>())?.try_into().ok()?)
            };
        }
        Some(match self {
            Self::U8 => f64::from(read!(u8)),
            Self::I8 => f64::from(read!(i8)),
            Self::U16 => f64::from(read!(u16)),
            Self::I16 => f64::from(read!(i16)),
            Self::F16 => read!(half::f16).to_f64(),
            Self::U32 => f64::from(read!(u32)),
            Self::I32 => f64::from(read!(i32)),
            Self::F32 => f64::from(read!(f32)),
            Self::U64 => read!(u64) as f64,
            Self::I64 => read!(i64) as f64,
            Self::F64 => read!(f64),
        })
    }

    /// Exact value of a number; `None` if `bytes` is too short.
    pub fn number(self, bytes: &[u8]) -> Option<ScalarValue> {
        let wide = || bytes.get(..8)?.try_into().ok();
        Some(match self {
            Self::U64 => ScalarValue::Integer(u64::from_le_bytes(wide()?).into()),
            Self::I64 => ScalarValue::Integer(i64::from_le_bytes(wide()?).into()),
            // An `f64` represents all values of the other types.
            _ if !self.is_float() => ScalarValue::Integer(self.value(bytes)? as i128),
            _ => ScalarValue::Float(self.value(bytes)?),
        })
    }

    /// Text of a number that parses to the same value; `None` if `bytes` is too short.
    pub fn text(self, bytes: &[u8]) -> Option<String> {
        macro_rules! digits {
            ($ty:ty) => {
                format!("{:?}", <$ty>::from_le_bytes(bytes.get(..size_of::<$ty>())?.try_into().ok()?))
            };
        }
        Some(match self {
            Self::F32 => digits!(f32),
            Self::F64 => digits!(f64),
            Self::U64 => digits!(u64),
            Self::I64 => digits!(i64),
            // An `f32` represents all values of these types.
            _ => format!("{}", self.value(bytes)?),
        })
    }
}
