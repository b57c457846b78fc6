//! What the numbers of an array are like whose type is known only at run time.

use std::rc::Rc;

use super::protocol::{ElementType, Numbers, ScalarValue};
use crate::World;
use crate::algorithms::reduce::{
    Bins, Found, Histogram, Lengths, LocalOperand, Number, Reduced, Within, local_extremes, local_histogram, rounded,
    sum_words,
};
use crate::array::{ArrayCore, ArrayKind};
use crate::error::Result;

/// Calls a function with the Rust type of numbers of a [`ScalarType`](super::protocol::ScalarType).
macro_rules! of_type {
    ($scalar:expr, $function:ident, $($argument:expr),*) => {{
        use $crate::debug::protocol::ScalarType;
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

/// Numbers in the cells that an array's chunks own. Of a global array the results are those of all ranks, and every rank must
/// call, inside an operation that was compared; of another one its rank alone does, and nothing is sent.
pub(super) struct Measure<'a, R> {
    world: &'a World,
    own: R,
    global: bool,
}

/// Numbers as they are.
pub(super) type Scalars<'a, S> = Measure<'a, LocalOperand<S, 1>>;

/// The numbers of one component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread<S> {
    /// How many there are.
    pub count: u64,
    /// NaNs among them.
    pub nans: u64,
    /// Infinities among them.
    pub infinities: u64,
    /// The smallest and the largest that is no NaN.
    pub extremes: Option<(S, S)>,
    /// The smallest and the largest finite one; above 0 where only those count.
    pub used: Option<(S, S)>,
    /// The number of those.
    pub numbers: u64,
}

/// A number with all of its digits.
pub(super) fn exact<S: Number>(number: S) -> ScalarValue {
    let scalar = ElementType::from(&S::INFO).numbers.first().map(|numbers| numbers.scalar);
    let found = scalar.and_then(|scalar| scalar.number(bytemuck::bytes_of(&number)));
    found.unwrap_or(ScalarValue::Float(number.to_f64()))
}

impl<'a, S: Number> Scalars<'a, S> {
    /// Those of type `S` that stand at `numbers` in each cell.
    ///
    /// # Errors
    /// They are not.
    pub fn new(world: &'a World, array: &Rc<ArrayCore>, numbers: &Numbers) -> Result<Self> {
        let own = LocalOperand::erased(array, numbers.offset as usize, numbers.components.into())?;
        Ok(Self { world, own, global: array.kind() == ArrayKind::Global })
    }

    /// One component alone.
    pub fn only(&self, component: usize) -> Self {
        Self { world: self.world, own: self.own.only_component(component), global: self.global }
    }

    /// The vectors of all components, by their lengths.
    pub fn lengths(self) -> Measure<'a, Lengths<S>> {
        Measure { world: self.world, own: Lengths(self.own), global: self.global }
    }

    /// The sum of the numbers of all components together, rounded once.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn sum(&self) -> Result<f64> {
        let words = self.together(sum_words(&self.own)?, |sum, more| *sum += more)?;
        let mut sum = vec![0; words.len() / self.own.components()];
        for words in words.chunks(sum.len()) {
            sum.iter_mut().zip(words).for_each(|(sum, word)| *sum += word);
        }
        Ok(rounded::<S>(&sum))
    }
}

impl<R: Reduced> Measure<'_, R> {
    fn together<T: bytemuck::Pod>(&self, mut own: Vec<T>, combine: impl Fn(&mut T, &T)) -> Result<Vec<T>> {
        if self.global {
            self.world.inner().all_reduce(&mut own, combine)?;
        }
        Ok(own)
    }

    /// The counts and extremes of each component. Reads all cells once, once more where there are
    /// infinities on this rank, and once more for the extremes of numbers above 0 (`positive`)
    /// where there are others on this rank.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn spreads(&self, positive: bool) -> Result<Vec<Spread<R::Of>>> {
        let (least, most) = (R::Of::nearest(f64::MIN), R::Of::nearest(f64::MAX));
        let all = local_extremes(&self.own, &Within::ALL)?;
        let infinite = |key: u64| !R::Of::from_key(key).to_f64().is_finite();
        let finite = match all.iter().any(|one| one.numbers > 0 && (infinite(one.min) || infinite(one.max))) {
            true => local_extremes(&self.own, &Within::of((least, most)))?,
            false => all.clone(),
        };
        let zero = <R::Of as bytemuck::Zeroable>::zeroed().key().unwrap_or_default();
        let used = match positive && finite.iter().any(|one| one.numbers > 0 && one.min <= zero) {
            true => local_extremes(&self.own, &Within::of((R::Of::from_key(zero + 1), most)))?,
            false => finite.clone(),
        };
        let found = self.together([all, finite, used].concat(), Found::merge)?;
        let (all, rest) = found.split_at(found.len() / 3);
        let (finite, used) = rest.split_at(rest.len() / 2);
        let spread = |((all, finite), used): ((&Found, &Found), &Found)| Spread {
            count: all.numbers + all.nans,
            nans: all.nans,
            infinities: all.numbers - finite.numbers,
            extremes: ends(all),
            used: ends(used),
            numbers: used.numbers,
        };
        Ok(all.iter().zip(finite).zip(used).map(spread).collect())
    }

    /// The smallest magnitude of a number that is no NaN; none where there is no number. Looks at all cells twice.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn least_magnitude(&self) -> Result<Option<f64>> {
        let zero = <R::Of as bytemuck::Zeroable>::zeroed();
        let below = local_extremes(&self.own, &Within::up_to(zero))?;
        let above = local_extremes(&self.own, &Within::from(zero))?;
        let found = self.together([below, above].concat(), Found::merge)?;
        let magnitudes = found.iter().filter_map(ends::<R::Of>);
        let nearest = |(min, max): (R::Of, R::Of)| min.to_f64().abs().min(max.to_f64().abs());
        Ok(magnitudes.map(nearest).reduce(f64::min))
    }

    /// How many numbers of each component are in its bins; they have as many bins each.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn histograms(&self, bins: &[Bins<R::Of>]) -> Result<Vec<Histogram>> {
        let own = local_histogram(&self.own, &bins.iter().collect::<Vec<_>>())?;
        let counts = self.together(own, |sum, more| *sum += more)?;
        Ok(counts.chunks((counts.len() / bins.len()).max(1)).map(Histogram::of).collect())
    }
}

fn ends<S: Number>(found: &Found) -> Option<(S, S)> {
    (found.numbers > 0).then(|| (S::from_key(found.min), S::from_key(found.max)))
}
