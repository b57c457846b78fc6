//! Reductions of any shape, layout, section, type and number of ranks, with special floating-point
//! values, compared with plain loops on the host.

mod cells;
mod extreme_positions;
mod fsum;
mod histogram;
mod products;
mod threads;

use half::f16;
use zippy::algorithms::reduce::Extremes;
use zippy::{Element, Layout, Result, Split, World};

use crate::support;
use cells::{Case, bits, case, plane, wild};
use fsum::fsum;

#[test]
fn f32_sum_is_exact_for_all_cells_and_cuts() {
    support::ranks(support::RANKS, |world| {
        for case in plane(world.size()) {
            let array = case.array(world, |p| wild(&p))?;
            let cells: Vec<f64> = case.positions().iter().map(|p| f64::from(wild(p))).collect();
            assert_eq!(world.sum(array.at(case.section.clone()))?.to_bits(), fsum(&cells).to_bits());
            assert_eq!(world.sum(array.at((0..0, ..)))?.to_bits(), 0);
            let one = world.sum(array.at((5, 7)))?;
            assert_eq!(one, f64::from(wild(&[5, 7])));
        }
        Ok(())
    });
}

#[test]
fn sum_is_exact_for_any_number_of_axes() {
    fn check<const D: usize>(world: &World, case: Case<D>) -> Result<()> {
        let array = case.array(world, |p| wild(&p))?;
        let cells: Vec<f64> = case.positions().iter().map(|p| f64::from(wild(p))).collect();
        assert_eq!(world.sum(array.at(case.section))?.to_bits(), fsum(&cells).to_bits());
        Ok(())
    }
    support::ranks(&[1, 3], |world| {
        check(world, case([5000], |l| l.ghost([3]).split([Split::Even(4)]), std::array::from_fn(|_| 17..4990)))?;
        check(world, case([9, 8, 7], |l| l.split_all(Split::Even(2)).ghost([1, 1, 1]), [1..9, 0..8, 2..6]))?;
        check(
            world,
            case([3, 4, 5, 6], |l| l.split_all(Split::Even(2)).ghost([1, 0, 1, 2]), [0..3, 1..4, 0..5, 1..6]),
        )?;
        let split = |l: Layout| l.split_all(Split::Even(2)).ghost([0, 0, 1, 0, 0, 0, 1]);
        check(world, case([4, 3, 2, 3, 2, 2, 3], split, [1..4, 0..3, 0..2, 1..3, 0..2, 0..1, 0..3]))
    });
}

#[test]
fn sum_of_many_full_digits_does_not_overflow() {
    // Each number uses all its digits, and there are more numbers than a workgroup can sum.
    let largest = f32::from_bits(0x00ff_ffff);
    support::ranks(&[1, 2], |world| {
        let n = 2_100_001;
        let array = world.array::<f32, 1>("a", &Layout::new([n]).split([Split::Sizes(vec![n - 1, 1])]))?;
        for value in [largest, -largest, f32::MAX, -f32::MAX, -f32::from_bits(1)] {
            array.fill(value)?;
            assert_eq!(world.sum(array.at(..))?, f64::from(value) * n as f64, "{value:e}");
        }
        let array = world.array::<u32, 1>("u", &Layout::new([n]))?;
        array.fill(u32::MAX)?;
        assert_eq!(world.sum(array.at(..))?, i128::from(u32::MAX) * i128::from(n));
        let array = world.array::<i32, 1>("i", &Layout::new([n]))?;
        array.fill(i32::MIN)?;
        assert_eq!(world.sum(array.at(..))?, i128::from(i32::MIN) * i128::from(n));
        Ok(())
    });
}

#[test]
fn sum_of_infinities_nans_and_zeros_follows_ieee_rules() {
    let (inf, nan) = (f32::INFINITY, f32::from_bits(0xffc0_0123));
    support::ranks(&[1, 3], |world| {
        let array = world.array::<f32, 1>("a", &Layout::new([1000]).split([Split::Even(6)]))?;
        let with = |specials: &[(i64, f32)]| -> Result<(f64, Option<f32>, Option<f32>)> {
            let value = |x| specials.iter().find(|(at, _)| *at == x).map_or(x as f32 - 500.0, |(_, value)| *value);
            array.fill_with(|[x]| value(x))?;
            Ok((world.sum(array.at(..))?, world.min(array.at(..))?, world.max(array.at(..))?))
        };
        assert_eq!(with(&[])?, (-500.0, Some(-500.0), Some(499.0)));
        assert_eq!(with(&[(999, inf)])?, (f64::INFINITY, Some(-500.0), Some(inf)));
        assert_eq!(with(&[(0, -inf), (3, -inf)])?, (f64::NEG_INFINITY, Some(-inf), Some(499.0)));
        let (sum, min, max) = with(&[(0, inf), (999, -inf)])?;
        assert!(sum.is_nan() && min == Some(-inf) && max == Some(inf));
        let (sum, min, max) = with(&[(700, nan)])?;
        assert!(sum.is_nan() && min.unwrap().is_nan() && max.unwrap().is_nan());
        let found = world.extremes(array.at(..))?.unwrap();
        assert_eq!((found.min, found.max, found.nans), (-500.0, 499.0, 1));

        array.fill(-0.0)?;
        assert_eq!(world.sum(array.at(..))?.to_bits(), 0, "an exact zero is +0");
        array.at(400..401).fill(0.0)?;
        let found = world.extremes(array.at(..))?.unwrap();
        assert_eq!((found.min.to_bits(), found.max.to_bits()), ((-0.0_f32).to_bits(), 0));
        array.fill(nan)?;
        assert_eq!(world.extremes(array.at(..))?, None);
        assert!(world.min(array.at(..))?.unwrap().is_nan());
        assert_eq!(world.max(array.at(7..7))?, None);
        Ok(())
    });
}

/// Sums and extremes of integers of type `T`.
macro_rules! integers {
    ($($name:ident: $ty:ty),*) => {$(
        #[test]
        fn $name() {
            support::ranks(&[1, 3], |world| {
                if <$ty as Element>::INFO.supported_by(world.gpu().features(), "").is_err() {
                    return Ok(());
                }
                for case in plane(world.size()) {
                    let value = |p: [i64; 2]| bits(&p) as $ty;
                    let array = case.array(world, value)?;
                    let cells: Vec<$ty> = case.positions().into_iter().map(value).collect();
                    let section = array.at(case.section.clone());
                    assert_eq!(world.sum(&section)?, cells.iter().map(|&v| i128::from(v)).sum::<i128>());
                    assert_eq!(world.min(&section)?, cells.iter().copied().min());
                    assert_eq!(world.max(&section)?, cells.iter().copied().max());
                    array.fill(<$ty>::MIN)?;
                    let found = world.extremes(&section)?;
                    assert_eq!(found, Some(Extremes { min: <$ty>::MIN, max: <$ty>::MIN, nans: 0 }));
                    array.fill(<$ty>::MAX)?;
                    assert_eq!((world.min(&section)?, world.max(&section)?), (Some(<$ty>::MAX), Some(<$ty>::MAX)));
                }
                Ok(())
            });
        }
    )*};
}
integers!(of_u8: u8, of_i8: i8, of_u16: u16, of_i16: i16, of_u32: u32, of_i32: i32, of_u64: u64, of_i64: i64);

#[test]
fn f64_reductions_by_host_are_exact() {
    let value = |p: [i64; 2]| {
        let value = f64::from_bits(bits(&p));
        if value.is_finite() { value * 1e-3 } else { 5e-324 }
    };
    support::ranks(&[1, 2, 3], |world| {
        if f64::INFO.supported_by(world.gpu().features(), "").is_err() {
            return Ok(());
        }
        for case in plane(world.size()) {
            let array = case.array(world, value)?;
            let cells: Vec<f64> = case.positions().into_iter().map(value).collect();
            let section = array.at(case.section.clone());
            assert_eq!(world.sum(&section)?.to_bits(), fsum(&cells).to_bits());
            assert_eq!(world.min(&section)?, cells.iter().copied().min_by(f64::total_cmp));
            assert_eq!(world.max(&section)?, cells.iter().copied().max_by(f64::total_cmp));
        }
        Ok(())
    });
}

#[test]
fn f16_reductions_of_all_numbers_are_exact() {
    support::ranks(&[1, 3], |world| {
        if f16::INFO.supported_by(world.gpu().features(), "").is_err() {
            return Ok(());
        }
        let array = world.array::<f16, 1>("a", &Layout::new([65536]).split([Split::Even(5)]))?;
        let value = |x: i64| Some(f16::from_bits(x as u16)).filter(|v| v.is_finite()).unwrap_or(f16::ONE);
        array.fill_with(|[x]| value(x))?;
        for range in [0..65536, 3..100, 0x8001..0x8400, 1000..0x7c00] {
            let cells: Vec<f16> = range.clone().map(value).collect();
            let exact = fsum(&cells.iter().map(|v| v.to_f64()).collect::<Vec<_>>());
            assert_eq!(world.sum(array.at(range.clone()))?, exact, "{range:?}");
            assert_eq!(world.min(array.at(range.clone()))?, cells.iter().copied().min_by(f16::total_cmp));
            assert_eq!(world.max(array.at(range.clone()))?, cells.iter().copied().max_by(f16::total_cmp));
        }
        array.fill_with(|[x]| f16::from_bits(x as u16))?;
        let found = world.extremes(array.at(..))?.unwrap();
        assert_eq!((found.min, found.max, found.nans), (f16::NEG_INFINITY, f16::INFINITY, 2 * 1023));
        assert_eq!(world.sum(array.at(0x7000..0x7c01))?, f64::INFINITY);
        Ok(())
    });
}

#[test]
fn vectors_are_reduced_component_by_component() {
    support::ranks(&[1, 3], |world| {
        let value = |p: [i64; 2]| std::array::from_fn::<f32, 4, _>(|c| wild(&[p[0], p[1], c as i64]));
        for case in plane(world.size()) {
            let array = case.array(world, value)?;
            let section = array.at(case.section.clone());
            let (sums, mins, maxs) = (world.sum(&section)?, world.min(&section)?, world.max(&section)?);
            for c in 0..4 {
                let cells: Vec<f32> = case.positions().into_iter().map(|p| value(p)[c]).collect();
                assert_eq!(sums[c], fsum(&cells.iter().map(|&v| v.into()).collect::<Vec<_>>()));
                assert_eq!(mins[c], cells.iter().copied().min_by(f32::total_cmp));
                assert_eq!(maxs[c], cells.iter().copied().max_by(f32::total_cmp));
            }
        }
        let pairs = world.array::<[i32; 2], 1>("pairs", &Layout::new([77]).split([Split::Even(4)]).ghost([1]))?;
        pairs.fill_with(|[x]| [x as i32, -3 * x as i32])?;
        assert_eq!(world.sum(pairs.at(10..20))?, [145, -435]);
        assert_eq!(world.max(pairs.at(10..20))?, [Some(19), Some(-30)]);
        Ok(())
    });
}

#[test]
fn each_rank_reduces_its_own_local_section() {
    support::ranks(support::RANKS, |world| {
        let (rank, ranks) = (world.rank() as i64, world.size() as i64);
        let mine = world.local_array::<f32, 2>("mine", &Layout::new([4 + rank, 3]).ghost([1, 1]))?;
        mine.with_ghosts().fill(1e30)?;
        mine.all().fill_with(|[x, y]| (x + 10 * y + 100 * rank) as f32)?;
        // The last rank has an empty section.
        let rows = if rank + 1 == ranks { 0..0 } else { 0..2 };
        let expected: i64 = (0..ranks - 1)
            .flat_map(|rank| (0..2).flat_map(move |y| (0..4 + rank).map(move |x| x + 10 * y + 100 * rank)))
            .sum();
        assert_eq!(world.sum(mine.at((.., rows.clone())))?, expected as f64);
        let largest = world.max(mine.at((.., rows)))?;
        assert_eq!(largest, (ranks > 1).then(|| (3 + ranks - 2 + 10 + 100 * (ranks - 2)) as f32));
        Ok(())
    });
}

#[test]
fn repeated_reduction_allocates_nothing() {
    support::ranks(&[1, 2], |world| {
        let layout = Layout::new([40, 30]).split([Split::Even(2), Split::Even(3)]).ghost([1, 1]);
        let array = world.array::<[f32; 2], 2>("a", &layout)?;
        let round = || -> Result<_> {
            array.fill([1.5, -2.0])?;
            Ok((world.sum(array.at((1.., ..)))?, world.extremes(array.at(..))?))
        };
        let (sums, _) = round()?;
        assert_eq!(sums, [1.5 * 39.0 * 30.0, -2.0 * 39.0 * 30.0]);
        let before = world.gpu().counters();
        for _ in 0..3 {
            round()?;
        }
        let after = world.gpu().counters();
        let made = |c: zippy::device::Counters| (c.buffers_made, c.pipelines_made, c.host_made, c.bytes_now);
        assert_eq!(made(before), made(after));
        Ok(())
    });
}

#[test]
fn invalid_region_is_refused_by_all_ranks() {
    support::ranks(&[1, 3], |world| {
        let array = world.array::<f32, 1>("a", &Layout::new([10]).split([Split::Even(3)]))?;
        array.fill(2.0)?;
        let error = world.sum(array.at(3..12)).unwrap_err().to_string();
        assert!(error.contains("array \"a\"") && error.contains("12"), "{error}");
        assert!(world.extremes(array.at(3..12)).is_err());
        assert!(array.at(3..12).fill(1.0).is_err());
        assert_eq!(world.sum(array.at(3..10))?, 14.0);
        Ok(())
    });
}

#[test]
fn reductions_by_native_kernels_have_the_cells_of_their_definition() {
    support::rerun_by_native_kernels(&["reduce::"]);
}
