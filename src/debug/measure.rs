//! Statistics of the numbers of an array whose type is known only at run time.
use std::rc::Rc;

use zippy_protocol::{ElementType, Numbers, ScalarValue};

use crate::World;
use crate::algorithms::reduce::{
    Bins, Histogram, KeyRange, Lengths, LocalOperand, Number, PartialExtremes, Reduced, local_extremes,
    local_histogram, rounded, sum_words,
};
use crate::array::{ArrayCore, ArrayKind};
use crate::error::Result;
use crate::world::CollectiveWorld;

/// Calls a generic function with the Rust type of a [`ScalarType`](zippy_protocol::ScalarType).
macro_rules! of_type {
    ($scalar:expr, $function:ident, $($argument:expr),*) => {{
        use zippy_protocol::ScalarType;
        match $scalar {
            ScalarType::U8 => $function::<u8>($($argument),*),
            ScalarType::I8 => $function::<i8>($($argument),*),
            ScalarType::U16 => $function::<u16>($($argument),*),
            ScalarType::I16 => $function::<i16>($($argument),*),
            ScalarType::F16 => $function::<half::f16>($($argument),*),
            ScalarType::U32 => $function::<u32>($($argument),*),
            ScalarType::I32 => $function::<i32>($($argument),*),
            ScalarType::F32 => $function::<f32>($($argument),*),
            ScalarType::U64 => $function::<u64>($($argument),*),
            ScalarType::I64 => $function::<i64>($($argument),*),
            ScalarType::F64 => $function::<f64>($($argument),*),
        }
    }};
}
pub(super) use of_type;

/// Reductions of the numbers in the cells that an array's chunks own. For a global array, results
/// cover all ranks: every rank must call, inside an operation that all ranks have compared. For
/// another array, only its owner calls, and no messages are sent.
pub(super) struct Measure<'a, R> {
    world: &'a World,
    local: R,
    global: bool,
}

/// [`Measure`] of the separate components of each cell.
pub(super) type Scalars<'a, S> = Measure<'a, LocalOperand<S, 1>>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ComponentStats<S> {
    pub count: u64,
    pub nans: u64,
    pub infinities: u64,
    /// Smallest and largest value, infinities included.
    pub extremes: Option<(S, S)>,
    /// Smallest and largest finite value; with `positive`, of the values above 0 only.
    pub finite_extremes: Option<(S, S)>,
    /// Number of finite values; with `positive`, of the values above 0 only.
    pub finite_count: u64,
}

pub(super) fn exact<S: Number>(number: S) -> ScalarValue {
    let scalar = ElementType::from(&S::INFO).numbers.first().map(|numbers| numbers.scalar);
    let found = scalar.and_then(|scalar| scalar.number(bytemuck::bytes_of(&number)));
    found.unwrap_or(ScalarValue::Float(number.to_f64()))
}

impl<'a, S: Number> Scalars<'a, S> {
    /// Selects the numbers of type `S` that `numbers` describes in each cell.
    ///
    /// # Errors
    /// The cells have no such numbers.
    pub(super) fn new(world: &'a World, array: &Rc<ArrayCore>, numbers: &Numbers) -> Result<Self> {
        let local = LocalOperand::erased(array, numbers.offset as usize, numbers.components.into())?;
        Ok(Self { world, local, global: array.kind() == ArrayKind::Global })
    }

    pub(super) fn single_component(&self, component: usize) -> Self {
        Self { world: self.world, local: self.local.only_component(component), global: self.global }
    }

    pub(super) fn lengths(self) -> Measure<'a, Lengths<S>> {
        Measure { world: self.world, local: Lengths(self.local), global: self.global }
    }

    /// Sum of the numbers of all components together, rounded once.
    pub(super) fn sum(&self) -> Result<f64> {
        let words = self.all_reduce(sum_words(&self.local)?, |sum, more| *sum += more)?;
        let mut sum = vec![0; words.len() / self.local.components()];
        for words in words.chunks(sum.len()) {
            sum.iter_mut().zip(words).for_each(|(sum, word)| *sum += word);
        }
        Ok(rounded::<S>(&sum))
    }
}

impl<R: Reduced> Measure<'_, R> {
    fn all_reduce<T: bytemuck::Pod>(&self, mut values: Vec<T>, combine: impl Fn(&mut T, &T)) -> Result<Vec<T>> {
        if self.global {
            self.world.inner_group().all_reduce(&mut values, combine)?;
        }
        Ok(values)
    }

    /// Statistics of each component. `positive` restricts the finite statistics to values above 0.
    /// Reads all cells up to three times: an additional pass each for infinities, and for values up
    /// to 0 with `positive`, if this rank has any.
    pub(super) fn stats(&self, positive: bool) -> Result<Vec<ComponentStats<R::Of>>> {
        let (least, most) = (R::Of::nearest(f64::MIN), R::Of::nearest(f64::MAX));
        let all = local_extremes(&self.local, &KeyRange::ALL)?;
        let infinite = |key: u64| !R::Of::from_key(key).to_f64().is_finite();
        let finite = if all.iter().any(|found| found.numbers > 0 && (infinite(found.min) || infinite(found.max))) {
            local_extremes(&self.local, &KeyRange::of((least, most)))?
        } else {
            all.clone()
        };
        let zero = <R::Of as bytemuck::Zeroable>::zeroed().key().unwrap_or_default();
        let used = if positive && finite.iter().any(|found| found.numbers > 0 && found.min <= zero) {
            local_extremes(&self.local, &KeyRange::of((R::Of::from_key(zero + 1), most)))?
        } else {
            finite.clone()
        };
        let found = self.all_reduce([all, finite, used].concat(), PartialExtremes::merge)?;
        let (all, rest) = found.split_at(found.len() / 3);
        let (finite, used) = rest.split_at(rest.len() / 2);
        let stats_of =
            |((all, finite), used): ((&PartialExtremes, &PartialExtremes), &PartialExtremes)| ComponentStats {
                count: all.numbers + all.nans,
                nans: all.nans,
                infinities: all.numbers - finite.numbers,
                extremes: extreme_values(all),
                finite_extremes: extreme_values(used),
                finite_count: used.numbers,
            };
        Ok(all.iter().zip(finite).zip(used).map(stats_of).collect())
    }

    /// Smallest magnitude of all numbers; `None` without a number that is not a NaN. Reads all
    /// cells twice.
    pub(super) fn least_magnitude(&self) -> Result<Option<f64>> {
        let zero = <R::Of as bytemuck::Zeroable>::zeroed();
        let below = local_extremes(&self.local, &KeyRange::up_to(zero))?;
        let above = local_extremes(&self.local, &KeyRange::from(zero))?;
        let found = self.all_reduce([below, above].concat(), PartialExtremes::merge)?;
        let magnitudes = found.iter().filter_map(extreme_values::<R::Of>);
        let nearest = |(min, max): (R::Of, R::Of)| min.to_f64().abs().min(max.to_f64().abs());
        Ok(magnitudes.map(nearest).reduce(f64::min))
    }

    /// Histogram of each component. All components must have equal numbers of bins.
    pub(super) fn histograms(&self, bins: &[Bins<R::Of>]) -> Result<Vec<Histogram>> {
        let local = local_histogram(&self.local, &bins.iter().collect::<Vec<_>>())?;
        let counts = self.all_reduce(local, |sum, more| *sum += more)?;
        Ok(counts.chunks((counts.len() / bins.len()).max(1)).map(Histogram::of).collect())
    }
}

fn extreme_values<S: Number>(found: &PartialExtremes) -> Option<(S, S)> {
    (found.numbers > 0).then(|| (S::from_key(found.min), S::from_key(found.max)))
}
