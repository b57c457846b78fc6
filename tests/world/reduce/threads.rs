//! Reductions by several host threads over sections of several chunks, compared with plain loops.

use half::f16;
use zippy::algorithms::reduce::{Bins, Histogram, Located, Stride, strided_extremes, strided_histogram};
use zippy::{Element, Layout, Result, Split};

use super::cells::{Case, bits, case};
use super::fsum::fsum;
use crate::support;

/// Runs a test in separate processes with several numbers of threads. Returns true in these
/// processes.
fn with_threads(test: &str) -> bool {
    if support::is_alone() {
        return true;
    }
    for threads in ["1", "2", "3"] {
        support::alone(&format!("world::reduce::threads::{test}"), &[("ZIPPY_THREADS", threads)]);
    }
    false
}

/// More cells than one thread reduces, in several chunks per row with ghost cells between them.
fn large_case() -> Case<2> {
    let split = [vec![200, 3, 0, 127].into(), Split::Even(2)];
    case([330, 470], |l| l.ghost_sides([(2, 1), (1, 0)]).split(split.clone()), [3..329, 1..469])
}

/// Histogram by comparison of each number with all edges.
fn expected_histogram<T: PartialOrd + Copy>(numbers: impl Iterator<Item = T>, edges: &[T]) -> Histogram {
    let bins = edges.len() - 1;
    let mut found = Histogram { counts: vec![0; bins], ..Histogram::default() };
    for number in numbers {
        match edges.partition_point(|edge| *edge <= number) {
            _ if number.partial_cmp(&number).is_none() => found.nans += 1,
            0 => found.below += 1,
            place if place <= bins => found.counts[place - 1] += 1,
            _ if number == edges[bins] => found.counts[bins - 1] += 1,
            _ => found.above += 1,
        }
    }
    found
}

/// Defines a test of all reductions for integer types, with reference sums and products in `i128`.
macro_rules! of_integers {
    ($world:expr, $($ty:ty: $($dot:ident)?;)*) => {$({
        if <$ty as Element>::INFO.supported_by($world.gpu().features(), "").is_ok() {
            let case = large_case();
            let value = |p: [i64; 2]| bits(&p) as $ty;
            let array = case.array($world, value)?;
            let cells: Vec<([i64; 2], $ty)> = case.positions().into_iter().map(|p| (p, value(p))).collect();
            let section = || array.at(case.section.clone());
            let numbers = || cells.iter().map(|&(_, number)| number);
            assert_eq!($world.sum(section())?, numbers().map(i128::from).sum::<i128>());
            $(assert_eq!($world.$dot(section(), section())?, numbers().map(|n| i128::from(n) * i128::from(n)).sum::<i128>());)?
            let least = cells.iter().min_by_key(|(_, number)| *number).unwrap();
            let most = cells.iter().rev().max_by_key(|(_, number)| *number).unwrap();
            let located = |&(position, value): &([i64; 2], $ty)| Some(Located { position, value });
            assert_eq!($world.argmin(section())?, located(least));
            assert_eq!($world.argmax(section())?, located(most));
            let bins = Bins::even(<$ty>::MIN / 3, <$ty>::MAX / 2, 100)?;
            assert_eq!($world.histogram(section(), &bins)?, expected_histogram(numbers(), bins.as_edges()));
        }
    })*};
}

#[test]
fn integers_of_every_type() {
    if !with_threads("integers_of_every_type") {
        return;
    }
    support::ranks(&[1, 2], |world| {
        of_integers!(world, u8: dot; u16: dot; u32: dot; u64: ; i8: dot; i16: dot; i32: dot; i64: ;);
        Ok(())
    });
}

/// Defines a test of all reductions for floating-point types, with values by position.
macro_rules! of_floats {
    ($world:expr, $ty:ty, $value:expr, $wide:expr, $products:expr) => {{
        let (case, value) = (large_case(), $value);
        let array = case.array($world, value)?;
        let cells: Vec<([i64; 2], $ty)> = case.positions().into_iter().map(|p| (p, value(p))).collect();
        let section = || array.at(case.section.clone());
        let wide: Vec<f64> = cells.iter().map(|&(_, number)| $wide(number)).collect();
        let finite = wide.iter().all(|number| number.is_finite());
        if finite {
            assert_eq!($world.sum(section())?.to_bits(), fsum(&wide).to_bits());
            if $products {
                let squares = fsum(&wide.iter().map(|number| number * number).collect::<Vec<_>>());
                assert_eq!($world.dot(section(), section())?.to_bits(), squares.to_bits());
                assert_eq!($world.norm(section())?.to_bits(), squares.sqrt().to_bits());
            }
        } else {
            assert!($world.sum(section())?.is_nan() && $world.norm(section())?.is_nan());
        }
        let numbers = || cells.iter().filter(|(_, number)| !number.is_nan());
        let least = numbers().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = numbers().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        let located = |cell: &([i64; 2], $ty)| Located { position: cell.0, value: cell.1 };
        assert_eq!($world.argmin(section())?, least.map(located));
        assert_eq!($world.argmax(section())?, most.map(located));
        let found = $world.extremes(section())?.unwrap();
        let nans = (cells.len() - numbers().count()) as u64;
        assert_eq!((found.min, found.max, found.nans), (least.unwrap().1, most.unwrap().1, nans));
        let (low, high) = ($wide(least.unwrap().1).max(-5.0), $wide(most.unwrap().1).min(7.0));
        let bins = Bins::even(low as f32, high as f32, 300)?;
        let edges: Vec<f64> = bins.as_edges().iter().map(|&edge| f64::from(edge)).collect();
        let of_type = Bins::edges(bins.as_edges().iter().map(|&edge| narrow::<$ty>(edge)).collect())?;
        let of_section = $world.histogram(section(), &of_type)?;
        if of_type.as_edges().iter().zip(&edges).all(|(&edge, &wide)| $wide(edge) == wide) {
            assert_eq!(of_section, expected_histogram(wide.iter().copied(), &edges));
        }
        // Every third column, and a limited range of values.
        let stride = Stride { every: 3, first: 1 };
        let some = || cells.iter().filter(|([x, _], _)| x.rem_euclid(3) == 1).map(|&(_, number)| number);
        let range = (narrow::<$ty>(-1.0), narrow::<$ty>(2.0));
        let within = || some().filter(|number| range.0 <= *number && *number <= range.1);
        let found = strided_extremes($world, section(), stride, range)?.unwrap();
        let left_out = (some().count() - within().count()) as u64;
        let ends = [within().min_by(|a, b| a.total_cmp(b)), within().max_by(|a, b| a.total_cmp(b))];
        assert_eq!(([Some(found.min), Some(found.max)], found.nans), (ends, left_out));
        let wide_some = some().map($wide);
        let of_stride = strided_histogram($world, section(), stride, &of_type)?;
        let all = of_stride.counts.iter().sum::<u64>() + of_stride.below + of_stride.above + of_stride.nans;
        assert_eq!(all, wide_some.count() as u64);
    }};
}

/// Rounds a number to a narrower type.
fn narrow<T: FromF32>(number: f32) -> T {
    T::from_f32(number)
}

trait FromF32 {
    fn from_f32(number: f32) -> Self;
}
impl FromF32 for f32 {
    fn from_f32(number: f32) -> Self {
        number
    }
}
impl FromF32 for f64 {
    fn from_f32(number: f32) -> Self {
        number.into()
    }
}
impl FromF32 for f16 {
    fn from_f32(number: f32) -> Self {
        Self::from_f32(number)
    }
}

#[test]
fn floats_of_every_type() {
    if !with_threads("floats_of_every_type") {
        return;
    }
    support::ranks(&[1, 2], |world| {
        let even = |p: [i64; 2]| ((bits(&p) >> 40) as f32) / (1 << 22) as f32 - 1.5;
        let powers = |p: [i64; 2]| even(p) * 2_f32.powi((bits(&p) % 90) as i32 - 60);
        // Includes infinities, NaNs and zeros of both signs.
        let awkward = |p: [i64; 2]| f32::from_bits(bits(&p) as u32 & 0xff8f_ffff);
        of_floats!(world, f32, even, f64::from, true);
        of_floats!(world, f32, powers, f64::from, true);
        of_floats!(world, f32, awkward, f64::from, true);
        if f16::INFO.supported_by(world.gpu().features(), "").is_ok() {
            of_floats!(world, f16, |p: [i64; 2]| f16::from_f32(even(p)), f16::to_f64, true);
            of_floats!(world, f16, |p: [i64; 2]| f16::from_bits(bits(&p) as u16), f16::to_f64, true);
        }
        if f64::INFO.supported_by(world.gpu().features(), "").is_ok() {
            of_floats!(world, f64, |p: [i64; 2]| f64::from(even(p)) / 3.0, |number: f64| number, false);
            of_floats!(world, f64, |p: [i64; 2]| f64::from_bits(bits(&p)), |number: f64| number, false);
        }
        Ok(())
    });
}

#[test]
fn position_of_equal_extremes_has_least_index() {
    if !with_threads("position_of_equal_extremes_has_least_index") {
        return;
    }
    support::ranks(&[1, 2], |world| {
        let case = large_case();
        for (at, value) in [([3, 1], 4.0_f32), ([200, 100], -1.0), ([328, 468], 9.0)] {
            // All cells from one index on are equal, and the cells before it are larger.
            let number = |[x, y]: [i64; 2]| if (y, x) >= (at[1], at[0]) { value } else { value + 1.0 };
            let array = case.array(world, number)?;
            let found = world.argmin(array.at(case.section.clone()))?;
            assert_eq!(found, Some(Located { position: at, value }));
            let found = world.argmax(array.at(case.section.clone()))?.unwrap();
            assert_eq!(found.position, [3, 1]);
        }
        let plain = world.array::<f32, 1>("plain", &Layout::new([200_000]).split([Split::Even(3)]))?;
        plain.fill(-0.0)?;
        assert_eq!(world.argmax(plain.at(5..))?.map(|found| found.position), Some([5]));
        plain.at(150_000..150_001).fill(0.0)?;
        assert_eq!(world.argmax(plain.at(..))?.map(|found| found.position), Some([150_000]));
        Result::Ok(())
    });
}
