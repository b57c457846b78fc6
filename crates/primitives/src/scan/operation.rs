//! [`ScanOperation`]: operator and element type of a scan.

use bytemuck::Pod;
use half::f16;
use zippy::device::{Device, Operator};
use zippy::element::{ElementInfo, ElementKind, Packed, Scalar};
use zippy::error::{KernelError, Result};

use super::association::{Item, RUNS_PER_BLOCK};

/// `for_number!(kind, S => expression)`: evaluates the expression with `S` as the number type of
/// this [`NumberKind`].
macro_rules! for_number {
    ($number:expr, $name:ident => $what:expr) => {
        for_number!($number, $name => $what; F32: f32, I32: i32, U32: u32, F16: half::f16, F64: f64, I64: i64, U64: u64,
            U8: u8, I8: i8, U16: u16, I16: i16)
    };
    ($number:expr, $name:ident => $what:expr; $($kind:ident: $ty:ty),*) => {
        match $number {
            $($crate::scan::operation::NumberKind::$kind => {
                type $name = $ty;
                $what
            })*
        }
    };
}
pub(super) use for_number;

/// Operator, element type and options of a scan, without its static types.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanOperation<'a> {
    pub operator: &'a Operator,
    pub element: &'static ElementInfo,
    /// Initial value of an exclusive scan, as bytes of one cell; `None` for an inclusive scan.
    pub first: Option<&'a [u8]>,
    /// Transformation of the input: type of its cells, and WGSL expression of `x`.
    pub transform: Option<(&'static ElementInfo, &'a str)>,
}

/// Combination of all earlier cells; empty before the first cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Carry {
    /// Bytes of one cell, and true if one of the combined cells is a segment head.
    pub item: Option<Item<Vec<u8>>>,
    /// Key of the last cell, if keys define the segments.
    pub key: Option<Vec<u8>>,
}

impl<'a> ScanOperation<'a> {
    pub(crate) fn inclusive(operator: &'a Operator, element: &'static ElementInfo) -> Self {
        Self { operator, element, first: None, transform: None }
    }

    /// Fails if the cells do not support the operator, or if a kernel runs the scan but does not
    /// support the operator. The result is the same on ranks with equal adapters.
    pub(crate) fn check(&self, device: &Device, is_host_scan: bool) -> Result<()> {
        self.operator.check(self.element)?;
        if is_host_scan {
            return Ok(());
        }
        let (element, kernel) = (self.element, format!("scan with {}", self.operator));
        if let ElementKind::Packed(_) = element.kind {
            let problem =
                format!("cells of {} are combined by add, min and max only; make u32 or i32 of them", element.name);
            return Err(KernelError::Limit { kernel, problem }.into());
        }
        // The tree of a workgroup must fit in workgroup memory.
        let limit = u64::from(device.limits().wgpu.max_compute_workgroup_storage_size);
        let bytes = (2 * RUNS_PER_BLOCK as u64 + 1) * (element.bytes + 4).next_multiple_of(element.align.max(4)) as u64;
        if bytes <= limit {
            return Ok(());
        }
        let problem = format!(
            "cells of {} bytes ({}) need {bytes} bytes of workgroup memory, and the adapter has {limit}; scan smaller ones, \
             such as indices of them",
            element.bytes, element.name
        );
        Err(KernelError::Limit { kernel, problem }.into())
    }

    /// Returns the scalar type and the number of scalars of a cell; `None` if the cell does not
    /// consist of equal scalars.
    pub(crate) fn scalars(&self) -> Option<(NumberKind, usize)> {
        let number = |scalar| match scalar {
            Scalar::F32 => NumberKind::F32,
            Scalar::I32 => NumberKind::I32,
            Scalar::U32 => NumberKind::U32,
            Scalar::F16 => NumberKind::F16,
            Scalar::F64 => NumberKind::F64,
            Scalar::I64 => NumberKind::I64,
            Scalar::U64 => NumberKind::U64,
        };
        match self.element.kind {
            ElementKind::Scalar(scalar) => Some((number(scalar), 1)),
            ElementKind::Vector(scalar, n) => Some((number(scalar), n)),
            ElementKind::Packed(Packed::U8) => Some((NumberKind::U8, 1)),
            ElementKind::Packed(Packed::I8) => Some((NumberKind::I8, 1)),
            ElementKind::Packed(Packed::U16) => Some((NumberKind::U16, 1)),
            ElementKind::Packed(Packed::I16) => Some((NumberKind::I16, 1)),
            ElementKind::Record(_) => None,
        }
    }

    /// True if the result does not depend on the association of the cells.
    pub(crate) fn exact(&self) -> bool {
        self.scalars().is_some_and(|(number, _)| match self.operator {
            Operator::Min | Operator::Max => for_number!(number, S => S::EXACT_EXTREMES),
            Operator::Add => for_number!(number, S => S::EXACT_SUM),
            _ => false,
        })
    }

    /// True if the host can run the scan. It cannot run custom operators in WGSL.
    pub(crate) fn fits_host(&self) -> bool {
        let is_built_in = matches!(self.operator, Operator::Add | Operator::Min | Operator::Max);
        is_built_in && self.transform.is_none() && self.scalars().is_some()
    }

    /// True if the host runs the scan even if kernels are faster: for cells of 8 and 16 bits, which
    /// kernels cannot write individually, and for 64-bit numbers, which most devices do not
    /// support.
    pub(crate) fn needs_host(&self) -> bool {
        let is_narrow_or_wide = match self.element.kind {
            ElementKind::Packed(_) => true,
            ElementKind::Scalar(scalar) | ElementKind::Vector(scalar, _) => scalar.bytes() != 4,
            ElementKind::Record(_) => false,
        };
        is_narrow_or_wide && self.fits_host()
    }
}

/// Type of the numbers of a scan on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
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

/// Arithmetic of the built-in operators on a number type.
pub(super) trait Arithmetic: Pod + PartialOrd + Send + Sync {
    /// True if minimum and maximum do not depend on the order of comparison; false for types with
    /// NaNs and two zeros.
    const EXACT_EXTREMES: bool;
    /// True if sums do not depend on the order of addition.
    const EXACT_SUM: bool;

    /// Adds two numbers: integers of 32 and 64 bits wrap, smaller ones saturate.
    fn add(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    ($($ty:ty: $add:expr, extremes: $extremes:literal, sum: $sum:literal;)*) => {$(
        impl Arithmetic for $ty {
            const EXACT_EXTREMES: bool = $extremes;
            const EXACT_SUM: bool = $sum;

            fn add(self, other: Self) -> Self {
                $add(self, other)
            }
        }
    )*};
}
// Saturating sums of numbers of both signs depend on the order.
arithmetic! {
    u8: u8::saturating_add, extremes: true, sum: true;
    u16: u16::saturating_add, extremes: true, sum: true;
    i8: i8::saturating_add, extremes: true, sum: false;
    i16: i16::saturating_add, extremes: true, sum: false;
    u32: u32::wrapping_add, extremes: true, sum: true;
    i32: i32::wrapping_add, extremes: true, sum: true;
    u64: u64::wrapping_add, extremes: true, sum: true;
    i64: i64::wrapping_add, extremes: true, sum: true;
    f16: std::ops::Add::add, extremes: false, sum: false;
    f32: std::ops::Add::add, extremes: false, sum: false;
    f64: std::ops::Add::add, extremes: false, sum: false;
}
