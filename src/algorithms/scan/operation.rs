//! What is scanned, and how.

use bytemuck::Pod;
use half::f16;

use super::association::Item;
use crate::device::{Device, Operator};
use crate::element::{ElementInfo, ElementKind, Packed, Scalar};
use crate::error::Result;

/// A scan without its types.
#[derive(Debug, Clone, Copy)]
pub struct Operation<'a> {
    pub operator: &'a Operator,
    pub element: &'static ElementInfo,
    /// What an exclusive scan begins with, as bytes of one cell; `None` for an inclusive one.
    pub first: Option<&'a [u8]>,
    /// What a cell of the input is made first: its type, and an expression of `x` in WGSL.
    pub transform: Option<(&'static ElementInfo, &'a str)>,
}

/// What has been combined of the cells before: nothing before the first cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Carry {
    /// The bytes of one cell, and whether there is a head among what has been combined.
    pub item: Option<Item<Vec<u8>>>,
    /// The last key, where keys say where segments begin.
    pub key: Option<Vec<u8>>,
}

impl<'a> Operation<'a> {
    /// An inclusive scan.
    pub fn of(operator: &'a Operator, element: &'static ElementInfo) -> Self {
        Self { operator, element, first: None, transform: None }
    }

    pub fn check(&self) -> Result<()> {
        Ok(self.operator.check(self.element)?)
    }

    /// The scalars that a cell consists of, where it does, and how many.
    pub fn scalars(&self) -> Option<(Number, usize)> {
        let number = |scalar| match scalar {
            Scalar::F32 => Number::F32,
            Scalar::I32 => Number::I32,
            Scalar::U32 => Number::U32,
            Scalar::F16 => Number::F16,
            Scalar::F64 => Number::F64,
            Scalar::I64 => Number::I64,
            Scalar::U64 => Number::U64,
        };
        match self.element.kind {
            ElementKind::Scalar(scalar) => Some((number(scalar), 1)),
            ElementKind::Vector(scalar, n) => Some((number(scalar), n)),
            ElementKind::Packed(Packed::U8) => Some((Number::U8, 1)),
            ElementKind::Packed(Packed::I8) => Some((Number::I8, 1)),
            ElementKind::Packed(Packed::U16) => Some((Number::U16, 1)),
            ElementKind::Packed(Packed::I16) => Some((Number::I16, 1)),
            ElementKind::Record(_) => None,
        }
    }

    /// Whether the result is the same in whatever order cells are combined, as long as theirs is kept.
    pub fn exact(&self) -> bool {
        let built_in = matches!(self.operator, Operator::Add | Operator::Min | Operator::Max);
        let float = |number| matches!(number, Number::F32 | Number::F16 | Number::F64);
        // Sums of packed integers stop at both ends of their range.
        let stops = |number| *self.operator == Operator::Add && matches!(number, Number::I8 | Number::I16);
        built_in && self.scalars().is_some_and(|(number, _)| !float(number) && !stops(number))
    }

    /// Whether the host does it: it cannot run an operator in WGSL, and kernels do not write 8- and 16-bit cells one by one
    /// nor compute with 64 bits on most devices. On a software adapter it is several times as fast as the kernels.
    pub fn by_host(&self, device: &Device) -> bool {
        let built_in = matches!(self.operator, Operator::Add | Operator::Min | Operator::Max);
        let built_in = built_in && self.transform.is_none();
        let narrow_or_wide = match self.element.kind {
            ElementKind::Packed(_) => true,
            ElementKind::Scalar(scalar) | ElementKind::Vector(scalar, _) => scalar.bytes() != 4,
            ElementKind::Record(_) => false,
        };
        built_in && (narrow_or_wide || device.is_host() && self.scalars().is_some())
    }
}

/// A kind of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    F32,
    I32,
    U32,
    F16,
    F64,
    I64,
    U64,
    U8,
    I8,
    U16,
    I16,
}

/// Numbers as the operators see them.
pub trait Arithmetic: Pod + PartialOrd {
    /// Their sum: integers of 32 and 64 bits wrap, those of fewer stop at the ends of their range.
    fn add(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    ($($ty:ty: $add:expr;)*) => {$(
        impl Arithmetic for $ty {
            fn add(self, other: Self) -> Self {
                $add(self, other)
            }
        }
    )*};
}
arithmetic! {
    u8: u8::saturating_add; i8: i8::saturating_add; u16: u16::saturating_add; i16: i16::saturating_add;
    u32: u32::wrapping_add; i32: i32::wrapping_add; u64: u64::wrapping_add; i64: i64::wrapping_add;
    f16: std::ops::Add::add; f32: std::ops::Add::add; f64: std::ops::Add::add;
}
