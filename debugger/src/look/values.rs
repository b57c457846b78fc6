//! [`Values`]: the numbers of a view.

use zippy::debug::protocol::{ElementType, Numbers, ScalarType, ScalarValue, View, ViewRequest};

use super::quantity::{Part, Quantity};

/// A number of each cell of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// Which cells.
    pub of: ViewRequest,
    /// At which debug point.
    pub step: u64,
    /// How many cells along each axis.
    pub extents: Vec<i64>,
    /// The numbers, axis 0 fastest, rounded where an `f64` has not as many digits.
    pub numbers: Vec<f64>,
    /// The digits that integers have.
    pub integers: Integers,
}

/// The integers among the numbers of a view.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Integers {
    /// The numbers are floating-point numbers.
    #[default]
    None,
    /// An `f64` has every digit of the numbers.
    Narrow,
    /// The numbers are these.
    Wide(Vec<i128>),
}

/// A number as it is in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Exact {
    /// Its value, rounded where an `f64` has not as many digits.
    pub value: f64,
    /// Digits that give it back exactly.
    pub text: String,
    /// Its bits: `0x3f800000`.
    pub bits: String,
}

/// A scalar or a vector of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its name in a record; empty where the cell is none.
    pub name: String,
    /// Its components.
    pub components: Vec<Exact>,
}

/// How long a cell of a view is, and where these numbers begin in it; none where the view does not have them.
fn lies(of: &ViewRequest, element: &ElementType, numbers: u16) -> Option<(usize, usize)> {
    let wanted = element.numbers.get(usize::from(numbers))?;
    match of.numbers {
        None => Some((element.bytes as usize, wanted.offset as usize)),
        Some(there) => (there == numbers).then(|| (wanted.bytes(), 0)),
    }
}

/// The place of a cell in a view; none where the view does not have it.
fn offset(of: &ViewRequest, extents: &[i64], index: &[i64]) -> Option<usize> {
    if index.len() != extents.len() {
        return None;
    }
    let (mut offset, mut along) = (0_i64, 1_i64);
    for (axis, &extent) in extents.iter().enumerate() {
        let from = index[axis].checked_sub(of.start[axis])?;
        let place = from / of.stride[axis];
        if from < 0 || from % of.stride[axis] != 0 || place >= extent {
            return None;
        }
        offset = offset.checked_add(place.checked_mul(along)?)?;
        along = along.checked_mul(extent)?;
    }
    usize::try_from(offset).ok()
}

impl Values {
    /// The numbers of a view of an array of this type.
    ///
    /// # Errors
    /// The view does not have such numbers, or has not as many bytes as cells need.
    pub fn new(view: &View, element: &ElementType, quantity: Quantity) -> Result<Self, String> {
        let name = || format!("`{}` of {}", quantity.name(element), element.name);
        let numbers = quantity.of(element).ok_or_else(|| format!("cells of {} have no such numbers", element.name))?;
        let Some((cell_bytes, first)) = lies(&view.of, element, quantity.numbers) else {
            return Err(format!("the view has other numbers than {}", name()));
        };
        let extents = view.of.extents().ok_or("the view's box makes no sense")?;
        let bytes = view.of.bytes(cell_bytes).ok_or("the view's box has more cells than can be counted")?;
        if bytes != view.cells.len() || cell_bytes == 0 {
            return Err(format!("a view of {bytes} bytes came with {}", view.cells.len()));
        }
        let value = |cell: &[u8]| quantity.value(numbers, cell.get(first..)?);
        let values: Option<Vec<f64>> = view.cells.chunks_exact(cell_bytes).map(value).collect();
        let values = values.ok_or_else(|| format!("{} reaches beyond its cell", name()))?;
        let integers = match (quantity.part, numbers.scalar) {
            (Part::Length, _) => Integers::None,
            (_, scalar) if scalar.is_float() => Integers::None,
            _ => wide(view, element, quantity).map_or(Integers::Narrow, Integers::Wide),
        };
        Ok(Self { of: view.of.clone(), step: view.step, extents, numbers: values, integers })
    }

    /// A number with all of its digits; none beyond the end of the values.
    pub fn scalar(&self, place: usize) -> Option<ScalarValue> {
        let number = self.numbers.get(place).copied();
        match &self.integers {
            Integers::None => number.map(ScalarValue::Float),
            Integers::Narrow => number.map(|number| ScalarValue::Integer(number as i128)),
            Integers::Wide(wide) => wide.get(place).copied().map(ScalarValue::Integer),
        }
    }

    /// All numbers with all of their digits, axis 0 fastest.
    pub fn scalars(&self) -> impl Iterator<Item = ScalarValue> + Clone + '_ {
        (0..self.numbers.len()).filter_map(|place| self.scalar(place))
    }

    /// The number of a cell of the array; none where the view does not have the cell.
    pub fn at(&self, index: &[i64]) -> Option<f64> {
        self.numbers.get(offset(&self.of, &self.extents, index)?).copied()
    }

    /// The number of a cell of the array with all of its digits; none where the view does not have
    /// the cell.
    pub fn scalar_at(&self, index: &[i64]) -> Option<ScalarValue> {
        self.scalar(offset(&self.of, &self.extents, index)?)
    }

    /// The number of the cell that stands for this one: itself, or of a coarse view the last one before it along each axis.
    pub fn near(&self, index: &[i64]) -> Option<f64> {
        self.at(&self.sampled(index)?)
    }

    /// The cell that stands for this one in the view; none outside of its box.
    pub fn sampled(&self, index: &[i64]) -> Option<Vec<i64>> {
        if index.len() != self.extents.len() {
            return None;
        }
        let along = |axis: usize| {
            let (start, stride) = (self.of.start[axis], self.of.stride[axis]);
            let place = index[axis].checked_sub(start)?.div_euclid(stride);
            (0..self.extents[axis]).contains(&place).then(|| start + place * stride)
        };
        (0..index.len()).map(along).collect()
    }

    /// The index in the array of the number of this place.
    pub fn index(&self, place: usize) -> Vec<i64> {
        let mut rest = place as i64;
        let along = |axis: usize| {
            let extent = self.extents[axis].max(1);
            let at = rest % extent;
            rest /= extent;
            self.of.start[axis] + at * self.of.stride[axis]
        };
        (0..self.extents.len()).map(along).collect()
    }
}

/// The whole numbers of 64 bits in a view, which an `f64` has not the digits for; none of other types.
pub(super) fn wide(view: &View, element: &ElementType, quantity: Quantity) -> Option<Vec<i128>> {
    let (Some(numbers), Part::Component(component)) = (quantity.of(element), quantity.part) else { return None };
    let (cell_bytes, first) = lies(&view.of, element, quantity.numbers)?;
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

fn exact(numbers: &Numbers, component: usize, bytes: &[u8]) -> Option<Exact> {
    let width = numbers.scalar.bytes();
    let bytes = bytes.get(component * width..(component + 1) * width)?;
    let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    let (value, text) = (numbers.scalar.value(bytes)?, numbers.scalar.text(bytes)?);
    Some(Exact { value, text, bits: format!("0x{digits}") })
}

/// All numbers of a cell, exactly; none where the view does not have this cell.
pub fn cell(view: &View, element: &ElementType, index: &[i64]) -> Option<Vec<Member>> {
    let extents = view.of.extents()?;
    let place = offset(&view.of, &extents, index)?;
    let mut members = Vec::new();
    for (number, numbers) in element.numbers.iter().enumerate() {
        let Some((cell_bytes, first)) = lies(&view.of, element, u16::try_from(number).ok()?) else { continue };
        let bytes = view.cells.get(place.checked_mul(cell_bytes)?..)?.get(..cell_bytes)?.get(first..)?;
        let components = (0..usize::from(numbers.components)).map(|component| exact(numbers, component, bytes));
        members.push(Member { name: numbers.name.clone(), components: components.collect::<Option<_>>()? });
    }
    (!members.is_empty()).then_some(members)
}
