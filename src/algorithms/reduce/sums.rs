//! Sums: exact, rounded once.

use super::number::{Number, Order, Reducible};
use super::operand::{Operand, collective};
use super::source::{SUM_FLOAT, SUM_INTEGER};
use super::total::Total;
use super::{Format, World};
use crate::error::Result;
use crate::world::Section;

/// The sums that `T` has.
pub type SumOf<T> = <T as Reducible>::Each<<<T as Reducible>::Scalar as Number>::Sum>;

impl World {
    /// The sum of a section's cells, the same bits for every decomposition and number of ranks: it is computed without
    /// rounding and, of floating-point numbers, rounded once to the nearest `f64` (ties to even). Integers give an `i128`,
    /// which cannot overflow. Vectors are summed component by component. Collective.
    ///
    /// Every rank names the same global section, or a local section of its own; ghost cells count only where a local
    /// section names them. The sum of no cells is 0; an exact zero is +0. With a NaN among the cells, or infinities of
    /// both signs, it is a NaN; with infinities of one sign it is that infinity; else it is infinite only where the true
    /// sum is beyond the range of `f64`.
    ///
    /// Cost: one look at every cell on the device that holds it (64-bit types: by the host, which reads them back), one
    /// all-reduce of about 1 KiB a component. A warm repeat allocates nothing on the device.
    ///
    /// # Errors
    /// A bad region, or a failure of this or of another rank.
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
    pub fn sum<T: Reducible, const D: usize>(&self, section: impl Into<Section<T, D>>) -> Result<SumOf<T>> {
        collective(self, "sum", &section.into(), |operand| {
            let mut words = Vec::new();
            for component in 0..T::COMPONENTS {
                words.extend(device_sum::<T>(operand, component)?.map(Total::to_words).unwrap_or_default());
            }
            if words.is_empty() {
                words = host_sums::<T>(operand)?;
            }
            self.inner().all_reduce(&mut words, |sum, more| *sum += more)?;
            let each = words.len() / T::COMPONENTS;
            Ok(T::each(|component| TotalOf::<T>::from_words(&words[component * each..][..each]).finish()))
        })
    }
}

type TotalOf<T> = <<T as Reducible>::Scalar as Number>::Total;

/// This rank's sum of one component, by its device; `None` where the host has to do it.
fn device_sum<T: Reducible>(operand: &Operand, component: usize) -> Result<Option<TotalOf<T>>> {
    let (work, lowest) = match T::Scalar::FORMAT {
        Format::Device(_, Order::Float) => (&SUM_FLOAT, -149),
        _ => (&SUM_INTEGER, 0),
    };
    let mut columns = vec![0_i64; work.words];
    // Digits are signed; the high half of a u32 adds up to less than 2^31 in a workgroup.
    let add = |words: &[u32]| columns.iter_mut().zip(words).for_each(|(sum, &word)| *sum += i64::from(word as i32));
    if !operand.fold::<T>(work, component, add)? {
        return Ok(None);
    }
    let mut total = TotalOf::<T>::default();
    let digits = if lowest == 0 { 2 } else { 18 };
    for (exponent, &digit) in (0..).map(|place| lowest + 16 * place).zip(&columns[..digits]) {
        total.add_digit(digit, exponent);
    }
    if let [nans, plus, minus] = columns[digits..] {
        total.add_specials([nans, plus, minus].map(|count| count as u64));
    }
    Ok(Some(total))
}

/// This rank's sums of all components, by the host, as words.
fn host_sums<T: Reducible>(operand: &Operand) -> Result<Vec<i64>> {
    let mut totals: Vec<_> = (0..T::COMPONENTS).map(|_| TotalOf::<T>::default()).collect();
    operand.read::<T>(|component, number| number.add_to(&mut totals[component]))?;
    Ok(totals.into_iter().flat_map(Total::to_words).collect())
}
