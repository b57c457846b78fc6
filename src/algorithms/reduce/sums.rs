//! Exact sums of numbers and of products, rounded once.

use super::exact::ExactSum;
use super::format::{Format, Order};
use super::number::{Factor, Number, Reducible};
use super::operand::{LocalOperand, collective};
use super::source::{DOT_FLOAT, DOT_INTEGER, SUM_FLOAT, SUM_INTEGER, SumWork};
use super::total::Total;
use crate::World;
use crate::error::{CallSite, Result};
use crate::world::{CollectiveWorld, IntoSection, Section};

/// Type of a sum of elements of type `T`.
pub type SumOf<T> = <T as Reducible>::Each<<<T as Reducible>::Scalar as Number>::Sum>;

impl World {
    /// Sum of a section's cells, with the same bits for every decomposition and number of ranks: it
    /// is computed without rounding, and floating-point results are rounded once to the nearest
    /// `f64` (ties to even). Integers give an `i128`, which cannot overflow. Vectors are summed
    /// component by component. Collective.
    ///
    /// Every rank passes the same global section, or a local section of its own; ghost cells are
    /// included only if a local section contains them.
    ///
    /// * The sum of no cells is 0; an exact zero is +0.
    /// * With a NaN among the cells, or infinities of both signs, the sum is a NaN.
    /// * With infinities of one sign, the sum is that infinity.
    /// * Otherwise it is infinite only if the true sum exceeds the range of `f64`.
    ///
    /// Cost: one pass over the cells on the device that holds them (on the host for 64-bit types,
    /// which are read back, and on software adapters), and one all-reduce of about 1 KiB per
    /// component. Repeated calls allocate no device memory.
    ///
    /// # Errors
    /// An invalid region, or a failure of any rank.
    ///
    /// # Examples
    /// ```
    /// # use zippy::{Layout, Split};
    /// zippy::run(|world| {
    ///     let a = world.array::<f32, 2>("a", &Layout::new([4, 3]).split([Split::Even(2), Split::Whole]))?;
    ///     a.fill_with(|[x, y]| if [x, y] == [0, 0] { 1e30 } else if [x, y] == [3, 2] { -1e30 } else { 0.25 })?;
    ///     assert_eq!(world.sum(a.at(..))?, 2.5);
    ///     assert_eq!(world.sum(a.at((1..3, ..)))?, 1.5);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn sum<T: Reducible, const D: usize>(&self, section: impl IntoSection<T, D>) -> Result<SumOf<T>> {
        let _call = CallSite::enter();
        let adding = [&SUM_INTEGER, &SUM_FLOAT];
        self.reduce_totals("sum", adding, [section.into()], |[numbers], total| T::Scalar::add_all(numbers, total))
            .map(finish::<T>)
    }

    /// Dot product: sum of the products of corresponding cells of two sections, rounded once at the
    /// end; see [`sum`](Self::sum). Vectors are processed component by component. Collective.
    ///
    /// Both sections are global and the same on every rank, or both are local. Corresponding cells
    /// must be on the same rank: no cell moves. Infinity times zero is a NaN. Cost: as
    /// [`sum`](Self::sum); for global sections, every rank visits the cuts of both arrays.
    ///
    /// # Errors
    /// An invalid region, different extents, corresponding cells on different ranks (copy one of
    /// the sections first), or a failure of any rank.
    ///
    /// # Examples
    /// ```
    /// # use zippy::{Layout, Split};
    /// zippy::run(|world| {
    ///     let a = world.array::<f32, 1>("a", &Layout::new([4]).split([Split::Even(2)]))?;
    ///     a.fill_with(|[x]| [1e20, 0.5, 1e20, 2.0][x as usize])?;
    ///     let b = world.array::<f32, 1>("b", &Layout::new([4]).split([Split::Even(2)]))?;
    ///     b.fill_with(|[x]| [1e20, 3.0, -1e20, 0.25][x as usize])?;
    ///     assert_eq!(world.dot(a.at(..), b.at(..))?, 2.0);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn dot<T: Reducible<Scalar: Factor>, const D: usize>(
        &self,
        a: impl IntoSection<T, D>,
        b: impl IntoSection<T, D>,
    ) -> Result<SumOf<T>> {
        let _call = CallSite::enter();
        self.reduce_products("dot", [a.into(), b.into()]).map(finish::<T>)
    }

    /// Euclidean norm of a section, component by component: the square root of the exact sum of
    /// squares, rounded twice (the sum and the root). The error is less than 1 ULP of `f64`, and
    /// the bits are the same for every decomposition. Intermediate results neither overflow nor
    /// lose small numbers. Collective; cost as [`sum`](Self::sum).
    ///
    /// # Errors
    /// An invalid region, or a failure of any rank.
    #[track_caller]
    pub fn norm<T: Reducible<Scalar: Number<Total = ExactSum> + Factor>, const D: usize>(
        &self,
        section: impl IntoSection<T, D>,
    ) -> Result<T::Each<f64>> {
        let _call = CallSite::enter();
        let section = section.into();
        let totals = self.reduce_products("norm", [section.clone(), section])?;
        Ok(T::each(|component| totals[component].clone().into_sqrt()))
    }

    fn reduce_products<T: Reducible<Scalar: Factor>, const D: usize>(
        &self,
        verb: &'static str,
        sections: [Section<T, D>; 2],
    ) -> Result<Vec<TotalOf<T>>> {
        let add = |[a, b]: [&[T::Scalar]; 2], total: &mut _| T::Scalar::add_products(a, b, total);
        self.reduce_totals(verb, [&DOT_INTEGER, &DOT_FLOAT], sections, add)
    }

    /// Totals of all components over all ranks, computed by one of two kernels (for integers and
    /// for floating-point numbers), or by `add` on the host.
    fn reduce_totals<T: Reducible, const D: usize, const N: usize>(
        &self,
        verb: &'static str,
        [integer, float]: [&SumWork; 2],
        sections: [Section<T, D>; N],
        add: impl Fn([&[T::Scalar]; N], &mut TotalOf<T>) + Sync,
    ) -> Result<Vec<TotalOf<T>>> {
        collective(self, verb, &sections, 0, |operand| {
            let mut words = local_total_words(operand, [integer, float], add)?;
            self.inner_group().all_reduce(&mut words, |sum, more| *sum += more)?;
            Ok(words.chunks(words.len() / T::COMPONENTS).map(Total::from_words).collect())
        })
    }
}

type TotalOf<T> = <<T as Reducible>::Scalar as Number>::Total;

fn finish<T: Reducible>(totals: Vec<TotalOf<T>>) -> SumOf<T> {
    let mut totals = totals.into_iter();
    T::each(|_| totals.next().unwrap_or_default().finish())
}

/// Words of this rank's totals, one component after another.
fn local_total_words<S: Number, const N: usize>(
    operand: &LocalOperand<S, N>,
    [integer, float]: [&SumWork; 2],
    add: impl Fn([&[S]; N], &mut S::Total) + Sync,
) -> Result<Vec<i64>> {
    let components = operand.components();
    let zeros = || -> Vec<_> { (0..components).map(|_| S::Total::default()).collect() };
    let mut totals = zeros();
    match operand.format() {
        None => {
            let found = operand.fold_on_host(0, zeros, |totals: &mut Vec<S::Total>, block| {
                add(block.numbers, &mut totals[block.component]);
            })?;
            let mut found = found.into_iter();
            totals = found.next().unwrap_or(totals);
            found.for_each(|more| totals.iter_mut().zip(&more).for_each(|(total, more)| total.merge(more)));
        }
        Some(format) => {
            let adding = if format.order == Order::Float { float } else { integer };
            for (component, total) in totals.iter_mut().enumerate() {
                add_on_device(operand, (format, adding), component, total)?;
            }
        }
    }
    Ok(totals.into_iter().flat_map(Total::into_words).collect())
}

/// Words of this rank's sums, one component after another. Element-wise sums over ranks and
/// components are the words of the total.
pub(crate) fn sum_words<S: Number>(operand: &LocalOperand<S, 1>) -> Result<Vec<i64>> {
    local_total_words(operand, [&SUM_INTEGER, &SUM_FLOAT], |[numbers], total| S::add_all(numbers, total))
}

/// Rounds the sum that these words represent.
pub(crate) fn rounded<S: Number>(words: &[i64]) -> f64 {
    S::Total::from_words(words).into_f64()
}

/// Adds this rank's result of one component from the device.
fn add_on_device<S: Number, const N: usize>(
    operand: &LocalOperand<S, N>,
    (format, adding): (Format, &SumWork),
    component: usize,
    total: &mut S::Total,
) -> Result<()> {
    let mut columns = vec![0_i64; adding.work.words];
    // All words fit in 31 bits and a sign, also unsigned digits and counts.
    let mut add = |words: &[u32]| columns.iter_mut().zip(words).for_each(|(sum, &word)| *sum += i64::from(word as i32));
    operand.fold(format, (&adding.work, &[]), component, &mut add)?;
    let (digits, specials) = columns.split_at(adding.digits);
    for (exponent, &digit) in (0..).map(|index| adding.lowest + 16 * index).zip(digits) {
        total.add_digit(digit, exponent);
    }
    if let &[nans, plus, minus] = specials {
        total.add_specials([nans, plus, minus].map(|count| count as u64));
    }
    Ok(())
}
