//! [`OfStep`]: what conditions ask of a recording.

use std::sync::Arc;

use zippy::algorithms::reduce::ExactSum;
use zippy::debug::protocol::{ArrayEntry, ArrayKind, ArrayRef, ElementType, GhostState, Numbers, ScalarType};
use zippy::debug::{Facts, Values};

use super::store::Store;
use super::tally;

/// The global arrays at a debug point.
pub struct OfStep<'a> {
    store: &'a mut Store,
    at: usize,
    arrays: Arc<[ArrayEntry]>,
}

impl<'a> OfStep<'a> {
    /// Those at this place among the debug points.
    pub fn new(store: &'a mut Store, at: usize) -> Result<Self, String> {
        let arrays = store.arrays(at)?;
        Ok(Self { store, at, arrays })
    }

    fn entry(&self, array: u64) -> Result<&ArrayEntry, String> {
        let found = self.global().find(|entry| entry.array.number == array);
        found.ok_or_else(|| format!("there is no array {array}"))
    }

    fn global(&self) -> impl Iterator<Item = &ArrayEntry> {
        self.arrays.iter().filter(|entry| entry.kind == ArrayKind::Global && entry.array.rank.is_none())
    }

    /// Calls a function with a component of each cell.
    fn each(
        &mut self,
        array: u64,
        numbers: &Numbers,
        component: usize,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), String> {
        if self.entry(array)?.shape.contains(&0) {
            return Ok(());
        }
        let (entry, view) = self.store.whole(self.at, ArrayRef { rank: None, number: array })?;
        let width = numbers.scalar.bytes();
        let first = numbers.offset as usize + component * width;
        for cell in view.cells.chunks_exact((entry.element.bytes as usize).max(1)) {
            each(cell.get(first..first + width).ok_or("the recorded view makes no sense")?);
        }
        Ok(())
    }

    fn values_of(&mut self, array: u64, numbers: &Numbers, component: usize) -> Result<Values, String> {
        let mut found = Values { nans: 0, infinities: 0, extremes: None };
        self.each(array, numbers, component, |bytes| {
            let Some(value) = numbers.scalar.value(bytes) else { return };
            if value.is_nan() {
                found.nans += 1;
                return;
            }
            found.infinities += u64::from(value.is_infinite());
            let (low, high) = found.extremes.unwrap_or((value, value));
            found.extremes = Some((low.min(value), high.max(value)));
        })?;
        Ok(found)
    }
}

impl Facts for OfStep<'_> {
    type Error = String;

    fn arrays(&self) -> Vec<(u64, &str)> {
        self.global().map(|entry| (entry.array.number, entry.name.as_str())).collect()
    }

    fn element(&self, array: u64) -> Result<ElementType, String> {
        self.entry(array).map(|entry| entry.element.clone())
    }

    fn unlike(&self, pair: [u64; 2]) -> Option<String> {
        match pair.map(|array| self.entry(array)) {
            [Ok(one), Ok(other)] => tally::unlike(one, other),
            [Err(text), _] | [_, Err(text)] => Some(text),
        }
    }

    fn is_checked(&self) -> bool {
        self.store.index.program.as_ref().is_some_and(|program| program.checked)
    }

    fn values(&mut self, array: u64, numbers: &Numbers) -> Result<Vec<Values>, String> {
        (0..usize::from(numbers.components)).map(|component| self.values_of(array, numbers, component)).collect()
    }

    fn least(&mut self, array: u64, numbers: &Numbers, component: usize) -> Result<Option<f64>, String> {
        let mut least = None;
        self.each(array, numbers, component, |bytes| {
            let value = numbers.scalar.value(bytes).map(f64::abs).filter(|value| !value.is_nan());
            least = least.into_iter().chain(value).reduce(f64::min);
        })?;
        Ok(least)
    }

    fn sum(&mut self, array: u64, numbers: &Numbers, component: Option<usize>) -> Result<f64, String> {
        let (mut floats, mut whole) = (ExactSum::default(), 0_i128);
        for component in component.map_or(0..usize::from(numbers.components), |one| one..one + 1) {
            self.each(array, numbers, component, |bytes| match integer(numbers.scalar, bytes) {
                Some(number) => whole += number,
                None => floats.add(numbers.scalar.value(bytes).unwrap_or_default()),
            })?;
        }
        Ok(if numbers.scalar.is_float() { floats.into_f64() } else { whole as f64 })
    }

    fn same(&mut self, [one, other]: [u64; 2]) -> Result<bool, String> {
        if self.entry(one)?.shape.contains(&0) {
            return Ok(true);
        }
        let of = |number| ArrayRef { rank: None, number };
        let ((_, one), (_, other)) = (self.store.whole(self.at, of(one))?, self.store.whole(self.at, of(other))?);
        Ok(one.cells == other.cells)
    }

    fn sides(&mut self, array: u64, state: GhostState) -> Result<u64, String> {
        let ghosts = self.store.ghosts(self.at, ArrayRef { rank: None, number: array })?;
        Ok(ghosts.iter().filter(|ghost| ghost.state == state).count() as u64)
    }
}

/// A whole number, exactly; none of a float.
fn integer(scalar: ScalarType, bytes: &[u8]) -> Option<i128> {
    Some(match scalar {
        ScalarType::I64 => i64::from_le_bytes(bytes.try_into().ok()?).into(),
        ScalarType::U64 => u64::from_le_bytes(bytes.try_into().ok()?).into(),
        scalar if scalar.is_float() => return None,
        scalar => scalar.value(bytes)? as i128,
    })
}
