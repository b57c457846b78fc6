//! [`ElementType`]: what a cell is made of, for those that have only bytes.

use serde::{Deserialize, Serialize};

use super::{ScalarValue, lists};

/// A type of cells.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ElementType {
    /// Its name: `f32`, `vec2<f32>`, the Rust name of a record.
    pub name: String,
    /// Bytes of a cell.
    pub bytes: u32,
    /// The numbers in it, in their order; of a record those of its members and theirs.
    #[serde(deserialize_with = "lists::list")]
    pub numbers: Vec<Numbers>,
}

/// Numbers of one type, side by side: a scalar or a vector.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Numbers {
    /// The name of the member, behind those of the records that it is in (`first.position`); empty where the cell is no
    /// record.
    pub name: String,
    /// Its first byte in the cell.
    pub offset: u32,
    /// The type of each.
    pub scalar: ScalarType,
    /// How many.
    pub components: u8,
}

impl Numbers {
    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.scalar.bytes() * usize::from(self.components)
    }
}

/// The type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
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
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Whether there are NaNs and infinities.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// A number's value, rounded where an `f64` has not as many digits; none where there are too few bytes.
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

    /// A number's value, with all of its digits; none where there are too few bytes.
    pub fn number(self, bytes: &[u8]) -> Option<ScalarValue> {
        let wide = || bytes.get(..8)?.try_into().ok();
        Some(match self {
            Self::U64 => ScalarValue::Integer(u64::from_le_bytes(wide()?).into()),
            Self::I64 => ScalarValue::Integer(i64::from_le_bytes(wide()?).into()),
            // An `f64` has every digit of the others.
            _ if !self.is_float() => ScalarValue::Integer(self.value(bytes)? as i128),
            _ => ScalarValue::Float(self.value(bytes)?),
        })
    }

    /// A number in digits that give it back exactly; none where there are too few bytes.
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
            // An `f32` has every digit of these.
            _ => format!("{}", self.value(bytes)?),
        })
    }
}
