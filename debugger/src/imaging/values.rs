//! [`Values`]: one number of each cell of a view.

use zippy_protocol::{ElementType, Numbers, ScalarType, ScalarValue, View, ViewRequest};

use super::quantity::{Quantity, VectorPart};

/// One number of each cell of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// Request that describes the cells.
    pub of: ViewRequest,
    /// Debug point of the cells.
    pub step: u64,
    /// Number of cells along each axis.
    pub extents: Vec<i64>,
    /// Numbers with axis 0 fastest, rounded to `f64`.
    pub numbers: Vec<f64>,
    pub integers: Integers,
}

/// Exact integers of a view.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Integers {
    /// The numbers are floats.
    #[default]
    None,
    /// The numbers are integers that `f64` represents exactly.
    Narrow,
    /// Exact values of 64-bit integers.
    Wide(Vec<i128>),
}

/// A number with its exact digits and bits.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactNumber {
    /// Value, rounded to `f64`.
    pub value: f64,
    /// Digits that parse to exactly this number.
    pub text: String,
    /// Bits, such as `0x3f800000`.
    pub bits: String,
}

/// A scalar or vector member of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Name in a record; empty outside of records.
    pub name: String,
    pub components: Vec<ExactNumber>,
}

/// Returns the bytes per cell of a view, and the offset in a cell of the member with index
/// `numbers`. `None` if the view does not contain the member.
fn cell_layout(of: &ViewRequest, element: &ElementType, numbers: u16) -> Option<(usize, usize)> {
    let wanted = element.numbers.get(usize::from(numbers))?;
    match of.numbers {
        None => Some((element.bytes as usize, wanted.offset as usize)),
        Some(included) => (included == numbers).then(|| (wanted.bytes(), 0)),
    }
}

/// Returns the position of a cell in a view, or `None` if the view does not contain it.
fn position_of(of: &ViewRequest, extents: &[i64], index: &[i64]) -> Option<usize> {
    if index.len() != extents.len() {
        return None;
    }
    let (mut position_in_view, mut axis_stride) = (0_i64, 1_i64);
    for (axis, &extent) in extents.iter().enumerate() {
        let from = index[axis].checked_sub(of.start[axis])?;
        let position = from / of.stride[axis];
        if from < 0 || from % of.stride[axis] != 0 || position >= extent {
            return None;
        }
        position_in_view = position_in_view.checked_add(position.checked_mul(axis_stride)?)?;
        axis_stride = axis_stride.checked_mul(extent)?;
    }
    usize::try_from(position_in_view).ok()
}

impl Values {
    /// Extracts the values of a quantity from a view of an array of this type.
    ///
    /// # Errors
    /// The view does not contain the quantity, or has a wrong number of bytes.
    pub fn new(view: &View, element: &ElementType, quantity: Quantity) -> Result<Self, String> {
        let name = || format!("`{}` of {}", quantity.name(element), element.name);
        let numbers = quantity.of(element).ok_or_else(|| format!("cells of {} have no such numbers", element.name))?;
        let Some((cell_bytes, first)) = cell_layout(&view.of, element, quantity.numbers) else {
            return Err(format!("the view has other numbers than {}", name()));
        };
        let extents = view.of.extents().ok_or("the view's box is invalid")?;
        let bytes = view.of.bytes(cell_bytes).ok_or("the view's box has more cells than can be counted")?;
        if bytes != view.cells.len() || cell_bytes == 0 {
            return Err(format!("a view of {bytes} bytes came with {}", view.cells.len()));
        }
        let value = |cell: &[u8]| quantity.value(numbers, cell.get(first..)?);
        let values: Option<Vec<f64>> = view.cells.chunks_exact(cell_bytes).map(value).collect();
        let values = values.ok_or_else(|| format!("{} reaches beyond its cell", name()))?;
        let integers = match (quantity.part, numbers.scalar) {
            (VectorPart::Length, _) => Integers::None,
            (_, scalar) if scalar.is_float() => Integers::None,
            _ => wide(view, element, quantity).map_or(Integers::Narrow, Integers::Wide),
        };
        Ok(Self { of: view.of.clone(), step: view.step, extents, numbers: values, integers })
    }

    /// Returns a number with all digits, or `None` beyond the end.
    pub fn scalar(&self, position: usize) -> Option<ScalarValue> {
        let number = self.numbers.get(position).copied();
        match &self.integers {
            Integers::None => number.map(ScalarValue::Float),
            Integers::Narrow => number.map(|number| ScalarValue::Integer(number as i128)),
            Integers::Wide(wide) => wide.get(position).copied().map(ScalarValue::Integer),
        }
    }

    /// Returns all numbers with all digits, with axis 0 fastest.
    pub fn scalars(&self) -> impl Iterator<Item = ScalarValue> + Clone + '_ {
        (0..self.numbers.len()).filter_map(|position| self.scalar(position))
    }

    /// Returns the number at an array index, or `None` if the view does not contain the cell.
    pub fn at(&self, index: &[i64]) -> Option<f64> {
        self.numbers.get(position_of(&self.of, &self.extents, index)?).copied()
    }

    /// Returns the number at an array index with all digits, or `None` if the view does not contain
    /// the cell.
    pub fn scalar_at(&self, index: &[i64]) -> Option<ScalarValue> {
        self.scalar(position_of(&self.of, &self.extents, index)?)
    }

    /// Returns the number of the sampled cell that represents an array index: in a coarse view, the
    /// last sampled cell at or before it along each axis.
    pub fn near(&self, index: &[i64]) -> Option<f64> {
        self.at(&self.sampled(index)?)
    }

    /// Returns the sampled cell that represents an array index, or `None` outside of the view's
    /// box.
    pub fn sampled(&self, index: &[i64]) -> Option<Vec<i64>> {
        if index.len() != self.extents.len() {
            return None;
        }
        let along = |axis: usize| {
            let (start, stride) = (self.of.start[axis], self.of.stride[axis]);
            let position = index[axis].checked_sub(start)?.div_euclid(stride);
            (0..self.extents[axis]).contains(&position).then(|| start + position * stride)
        };
        (0..index.len()).map(along).collect()
    }

    /// Returns the array index of the number at a position.
    pub fn index(&self, position: usize) -> Vec<i64> {
        cell_index(&self.of, &self.extents, position)
    }
}

/// Returns the array index of the cell at a position in the cells of a view. `extents` are the
/// numbers of cells along each axis.
pub(super) fn cell_index(of: &ViewRequest, extents: &[i64], position: usize) -> Vec<i64> {
    let mut rest = position as i64;
    let along = |axis: usize| {
        let extent = extents[axis].max(1);
        let at = rest % extent;
        rest /= extent;
        of.start[axis] + at * of.stride[axis]
    };
    (0..extents.len()).map(along).collect()
}

/// Returns the exact 64-bit integers of a quantity in a view, or `None` for other number types.
pub(super) fn wide(view: &View, element: &ElementType, quantity: Quantity) -> Option<Vec<i128>> {
    let (Some(numbers), VectorPart::Component(component)) = (quantity.of(element), quantity.part) else { return None };
    let (cell_bytes, first) = cell_layout(&view.of, element, quantity.numbers)?;
    let first = first + usize::from(component) * 8;
    let number = |cell: &[u8]| -> Option<i128> {
        let bytes = cell.get(first..)?.first_chunk()?;
        match numbers.scalar {
            ScalarType::I64 => Some(i64::from_le_bytes(*bytes).into()),
            ScalarType::U64 => Some(u64::from_le_bytes(*bytes).into()),
            _ => None,
        }
    };
    view.cells.chunks_exact(cell_bytes.max(1)).map(number).collect()
}

fn exact_number(numbers: &Numbers, component: usize, bytes: &[u8]) -> Option<ExactNumber> {
    let width = numbers.scalar.bytes();
    let bytes = bytes.get(component * width..(component + 1) * width)?;
    let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    let (value, text) = (numbers.scalar.value(bytes)?, numbers.scalar.text(bytes)?);
    Some(ExactNumber { value, text, bits: format!("0x{digits}") })
}

/// Returns all numbers of a cell exactly, or `None` if the view does not contain the cell.
pub fn cell(view: &View, element: &ElementType, index: &[i64]) -> Option<Vec<Member>> {
    let extents = view.of.extents()?;
    let position = position_of(&view.of, &extents, index)?;
    let mut members = Vec::new();
    for (number, numbers) in element.numbers.iter().enumerate() {
        let Some((cell_bytes, first)) = cell_layout(&view.of, element, u16::try_from(number).ok()?) else { continue };
        let bytes = view.cells.get(position.checked_mul(cell_bytes)?..)?.get(..cell_bytes)?.get(first..)?;
        let components = (0..usize::from(numbers.components)).map(|component| exact_number(numbers, component, bytes));
        members.push(Member { name: numbers.name.clone(), components: components.collect::<Option<_>>()? });
    }
    (!members.is_empty()).then_some(members)
}
