//! Sums of products, and norms.

use half::f16;
use zippy::{Element, Layout, Result, Split};

use super::cells::{bits, plane, wild};
use super::fsum::fsum;
use crate::support;

#[test]
fn dot_and_norm_of_all_magnitudes_are_exact() {
    support::ranks(support::RANKS, |world| {
        for case in plane(world.size()) {
            let scaled = |p: [i64; 2], by: f32| wild(&p) * by;
            let a = case.array(world, |p| wild(&p))?;
            let b = world.array::<f32, 2>("b", &case.layout)?;
            b.fill(f32::NAN)?;
            b.fill_with(|p| scaled([p[1], p[0]], 3.7e-5))?;
            let cells = case.positions();
            // The product of two `f32` numbers is exact in `f64`.
            let products: Vec<f64> =
                cells.iter().map(|&p| f64::from(wild(&p)) * f64::from(scaled([p[1], p[0]], 3.7e-5))).collect();
            let (sa, sb) = (a.at(case.section.clone()), b.at(case.section.clone()));
            assert_eq!(world.dot(&sa, &sb)?.to_bits(), fsum(&products).to_bits());
            assert_eq!(world.dot(&sb, &sa)?.to_bits(), fsum(&products).to_bits());
            let squares: Vec<f64> = cells.iter().map(|p| f64::from(wild(p)).powi(2)).collect();
            assert_eq!(world.dot(&sa, &sa)?.to_bits(), fsum(&squares).to_bits());
            assert_eq!(world.norm(&sa)?.to_bits(), fsum(&squares).sqrt().to_bits());
            assert_eq!(world.norm(a.at((3..3, ..)))?, 0.0);
        }
        Ok(())
    });
}

#[test]
fn dot_of_special_values_follows_ieee_rules() {
    let (inf, max, tiny) = (f32::INFINITY, f32::MAX, f32::from_bits(1));
    support::ranks(&[1, 2], |world| {
        let layout = Layout::new([6]).split([Split::Even(3)]);
        let (a, b) = (world.array::<f32, 1>("a", &layout)?, world.array::<f32, 1>("b", &layout)?);
        let dot = |x: [f32; 6], y: [f32; 6]| -> Result<f64> {
            a.fill_with(|[i]| x[i as usize])?;
            b.fill_with(|[i]| y[i as usize])?;
            world.dot(a.at(..), b.at(..))
        };
        let square = f64::from(max) * f64::from(max);
        assert_eq!(dot([max; 6], [max, -max, max, max, -max, max])?, 2.0 * square);
        let small = f64::from(tiny) * f64::from(tiny);
        assert_eq!(dot([tiny, max, 0.0, -tiny, max, -0.0], [tiny, max, 5.0, tiny, -max, 7.0])?, 0.0);
        assert_eq!(dot([tiny, max, 0.0, -tiny, max, tiny], [tiny, max, 5.0, tiny, -max, -tiny])?, -small);
        assert_eq!(dot([inf, 1.0, 2.0, 3.0, 4.0, 5.0], [2.0; 6])?, f64::INFINITY);
        assert_eq!(dot([2.0; 6], [1.0, 1.0, 1.0, -inf, 1.0, 1.0])?, f64::NEG_INFINITY);
        assert!(dot([2.0, 2.0, 2.0, 2.0, inf, 2.0], [1.0, 1.0, 1.0, -inf, 1.0, 1.0])?.is_nan());
        assert!(dot([inf, 1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0, 1.0, 1.0])?.is_nan());
        assert!(dot([1.0; 6], [1.0, 1.0, 1.0, 1.0, 1.0, f32::NAN])?.is_nan());
        Ok(())
    });
}

/// Dot products of integers of type `T`.
macro_rules! integer_products {
    ($($name:ident: $ty:ty),*) => {$(
        #[test]
        fn $name() {
            support::ranks(&[1, 3], |world| {
                for case in plane(world.size()) {
                    let value = |p: [i64; 2]| bits(&p) as $ty;
                    let (a, b) = (case.array(world, value)?, world.array::<$ty, 2>("b", &case.layout)?);
                    b.fill_with(|[x, y]| value([y, x]))?;
                    let products = case.positions().into_iter().map(|[x, y]| {
                        i128::from(value([x, y])) * i128::from(value([y, x]))
                    });
                    let section = case.section.clone();
                    assert_eq!(world.dot(a.at(section.clone()), b.at(section))?, products.sum::<i128>());
                    for (p, q) in [(<$ty>::MIN, <$ty>::MIN), (<$ty>::MIN, <$ty>::MAX), (<$ty>::MAX, <$ty>::MAX)] {
                        a.fill(p)?;
                        b.fill(q)?;
                        let cells = (case.shape[0] * case.shape[1]) as i128;
                        assert_eq!(world.dot(a.at(..), b.at(..))?, i128::from(p) * i128::from(q) * cells);
                    }
                }
                Ok(())
            });
        }
    )*};
}
integer_products!(dot_u8: u8, dot_i8: i8, dot_u16: u16, dot_i16: i16, dot_u32: u32, dot_i32: i32);

#[test]
fn dot_of_other_floats_and_vectors_is_exact() {
    support::ranks(&[1, 2], |world| {
        let layout = Layout::new([500]).split([Split::Even(3)]).ghost([2]);
        let v = world.array::<[f32; 2], 1>("v", &layout)?;
        v.fill_with(|[x]| [wild(&[x]), x as f32])?;
        let squares: Vec<f64> = (0..500).map(|x| f64::from(wild(&[x])).powi(2)).collect();
        let whole: i64 = (0..500).map(|x| x * x).sum();
        assert_eq!(world.dot(v.at(..), v.at(..))?, [fsum(&squares), whole as f64]);
        assert_eq!(world.norm(v.at(..))?, [fsum(&squares).sqrt(), (whole as f64).sqrt()]);
        if f16::INFO.supported_by(world.gpu().features(), "").is_ok() {
            let h = world.array::<f16, 1>("h", &layout)?;
            let value = |x: i64| f16::from_bits((bits(&[x]) & 0xbbff) as u16);
            h.fill_with(|[x]| value(x))?;
            let squares: Vec<f64> = (0..500).map(|x| value(x).to_f64().powi(2)).collect();
            assert_eq!(world.dot(h.at(..), h.at(..))?, fsum(&squares));
        }
        if f64::INFO.supported_by(world.gpu().features(), "").is_ok() {
            let (a, b) = (world.array::<f64, 1>("a", &layout)?, world.array::<f64, 1>("b", &layout)?);
            a.fill_with(|[x]| [3e300, 1.5, -3e300, 0.25][x as usize % 4])?;
            b.fill_with(|[x]| [1e7, x as f64, 1e7, 2.0][x as usize % 4])?;
            let expected: f64 = (0..125).map(|n| 1.5 * (4 * n + 1) as f64 + 0.5).sum();
            assert_eq!(world.dot(a.at(..), b.at(..))?, expected, "huge products cancel and do not overflow");
            assert_eq!(world.norm(a.at(0..1))?, 3e300, "whose square is beyond f64");
        }
        Ok(())
    });
}

#[test]
fn dot_of_cells_on_different_ranks_is_refused() {
    support::ranks(&[1, 3], |world| {
        let a = world.array::<f32, 1>("a", &Layout::new([12]).split([Split::Even(3)]))?;
        let b = world.array::<f32, 1>("b", &Layout::new([12]).split([vec![5, 1, 6].into()]))?;
        a.fill_with(|[x]| x as f32)?;
        b.fill_with(|[x]| 10.0 + x as f32)?;
        let found = world.dot(a.at(0..8), b.at(4..12));
        if world.size() == 1 {
            // With one rank, all cells are on the same rank in any layout.
            assert_eq!(found?, (0..8).map(|x| f64::from(x * (14 + x))).sum::<f64>());
        } else {
            let error = found.unwrap_err().to_string();
            assert!(error.contains("\"a\"") && error.contains("\"b\"") && error.contains("copy one"), "{error}");
        }
        let error = world.dot(a.at(0..3), b.at(0..4)).unwrap_err().to_string();
        assert!(error.contains("must agree"), "{error}");
        // Some cells of the shifted sections are on the same rank.
        assert_eq!(world.dot(a.at(0..4), b.at(0..4))?, (0..4).map(|x| f64::from(x * (10 + x))).sum::<f64>());
        Ok(())
    });
}
