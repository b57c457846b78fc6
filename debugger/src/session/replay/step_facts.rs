//! [`StepFacts`]: evaluation of conditions at a debug point of a recording.

use std::sync::Arc;

use zippy::algorithms::reduce::ExactSum;
use zippy_protocol::{ArrayEntry, ArrayKind, ArrayRef, ElementType, GhostState, Numbers, ScalarType};
use zippy_protocol::{Facts, Values};

use super::recorded_arrays::RecordedArrays;
use super::statistics;

/// Global arrays at a debug point, for conditions.
pub(super) struct StepFacts<'a> {
    store: &'a mut RecordedArrays,
    at: usize,
    arrays: Arc<[ArrayEntry]>,
}

impl<'a> StepFacts<'a> {
    /// Reads the arrays at the debug point of this index.
    pub(super) fn new(store: &'a mut RecordedArrays, at: usize) -> Result<Self, String> {
        let arrays = store.arrays(at)?;
        Ok(Self { store, at, arrays })
    }

    fn entry(&self, array: u64) -> Result<&ArrayEntry, String> {
        let found = self.global_arrays().find(|entry| entry.array.number == array);
        found.ok_or_else(|| format!("there is no array {array}"))
    }

    fn global_arrays(&self) -> impl Iterator<Item = &ArrayEntry> {
        self.arrays.iter().filter(|entry| entry.kind == ArrayKind::Global && entry.array.rank.is_none())
    }

    /// Calls a function with the bytes of a component of each cell.
    fn for_each_component(
        &mut self,
        array: u64,
        numbers: &Numbers,
        component: usize,
        mut visit: impl FnMut(&[u8]),
    ) -> Result<(), String> {
        if self.entry(array)?.shape.contains(&0) {
            return Ok(());
        }
        let (entry, view) = self.store.whole(self.at, ArrayRef { rank: None, number: array })?;
        let width = numbers.scalar.bytes();
        let first = numbers.offset as usize + component * width;
        for cell in view.cells.chunks_exact((entry.element.bytes as usize).max(1)) {
            visit(cell.get(first..first + width).ok_or("the recorded view is invalid")?);
        }
        Ok(())
    }

    fn values_of(&mut self, array: u64, numbers: &Numbers, component: usize) -> Result<Values, String> {
        let mut found = Values { nans: 0, infinities: 0, extremes: None };
        self.for_each_component(array, numbers, component, |bytes| {
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

impl Facts for StepFacts<'_> {
    type Error = String;

    fn arrays(&self) -> Vec<(u64, &str)> {
        self.global_arrays().map(|entry| (entry.array.number, entry.name.as_str())).collect()
    }

    fn element(&self, array: u64) -> Result<ElementType, String> {
        self.entry(array).map(|entry| entry.element.clone())
    }

    fn unlike(&self, pair: [u64; 2]) -> Option<String> {
        match pair.map(|array| self.entry(array)) {
            [Ok(one), Ok(other)] => statistics::incomparable(one, other),
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
        self.for_each_component(array, numbers, component, |bytes| {
            let value = numbers.scalar.value(bytes).map(f64::abs).filter(|value| !value.is_nan());
            least = least.into_iter().chain(value).reduce(f64::min);
        })?;
        Ok(least)
    }

    fn sum(&mut self, array: u64, numbers: &Numbers, component: Option<usize>) -> Result<f64, String> {
        let (mut floats, mut whole) = (ExactSum::default(), 0_i128);
        for component in component.map_or(0..usize::from(numbers.components), |component| component..component + 1) {
            self.for_each_component(array, numbers, component, |bytes| match exact_integer(numbers.scalar, bytes) {
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
        let global = |number| ArrayRef { rank: None, number };
        let ((_, one), (_, other)) =
            (self.store.whole(self.at, global(one))?, self.store.whole(self.at, global(other))?);
        Ok(one.cells == other.cells)
    }

    fn sides(&mut self, array: u64, state: GhostState) -> Result<u64, String> {
        let ghosts = self.store.ghosts(self.at, ArrayRef { rank: None, number: array })?;
        Ok(ghosts.iter().filter(|ghost| ghost.state == state).count() as u64)
    }
}

/// Returns an integer exactly, or `None` for a float.
fn exact_integer(scalar: ScalarType, bytes: &[u8]) -> Option<i128> {
    Some(match scalar {
        ScalarType::I64 => i64::from_le_bytes(bytes.try_into().ok()?).into(),
        ScalarType::U64 => u64::from_le_bytes(bytes.try_into().ok()?).into(),
        scalar if scalar.is_float() => return None,
        scalar => scalar.value(bytes)? as i128,
    })
}
