//! Positions of extremes.

use zippy::algorithms::reduce::Located;
use zippy::{Layout, Result, Split};

use super::cells::{bits, plane, wild};
use crate::support;

#[test]
fn position_of_extreme_is_first_of_equal_cells() {
    support::ranks(support::RANKS, |world| {
        for case in plane(world.size()) {
            let section = case.section.clone();
            // Few different numbers, so that each occurs often; then different numbers only.
            for few in [true, false] {
                let value = |p: [i64; 2]| if few { (bits(&p) % 7) as f32 - 3.0 } else { wild(&p) };
                let array = case.array(world, value)?;
                let positions = case.positions();
                let first = |better: &dyn Fn(f32, f32) -> bool| {
                    let mut best = positions[0];
                    positions.iter().for_each(|&p| best = if better(value(p), value(best)) { p } else { best });
                    Some(Located { position: best, value: value(best) })
                };
                assert_eq!(world.argmin(array.at(section.clone()))?, first(&|a, b| a < b));
                assert_eq!(world.argmax(array.at(section.clone()))?, first(&|a, b| a > b));
                drop(array);
            }
        }
        Ok(())
    });
}

#[test]
fn positions_of_extremes_ignore_nans_and_empty_sections() {
    support::ranks(&[1, 3], |world| {
        let layout = Layout::new([6, 5, 4]).split([Split::Even(2), Split::Even(2), Split::Even(3)]).ghost([1, 1, 1]);
        let array = world.array::<[f32; 2], 3>("a", &layout)?;
        array.fill([9.0, f32::NAN])?;
        assert_eq!(world.argmin(array.at(..))?[1], None);
        array.fill_with(|p| match p {
            [4, 2, 3] => [-5.0, 2.0],
            [2, 4, 1] | [1, 1, 2] | [5, 0, 2] => [f32::NAN, 2.0],
            _ => [0.0, f32::NAN],
        })?;
        let [first, second] = world.argmin(array.at(..))?;
        assert_eq!(first, Some(Located { position: [4, 2, 3], value: -5.0 }));
        assert_eq!(second, Some(Located { position: [2, 4, 1], value: 2.0 }));
        let [_, second] = world.argmax(array.at((.., .., 2)))?;
        assert_eq!(second, Some(Located { position: [5, 0, 2], value: 2.0 }), "(1, 1, 2) comes later");
        assert_eq!(world.argmax(array.at((.., 3..3, ..)))?, [None, None]);
        let error: Result<_> = world.argmax(array.at((.., 3..9, ..)));
        assert!(error.unwrap_err().to_string().contains("array \"a\""));
        Ok(())
    });
}

#[test]
fn positions_of_integer_extremes_equal_plain_loop() {
    support::ranks(&[1, 2], |world| {
        let array = world.array::<u8, 1>("a", &Layout::new([1003]).split([Split::Even(4)]))?;
        array.fill_with(|[x]| if x == 777 || x == 900 { 255 } else { (x % 200) as u8 + 1 })?;
        assert_eq!(world.argmax(array.at(..))?, Some(Located { position: [777], value: 255 }));
        assert_eq!(world.argmin(array.at(5..))?, Some(Located { position: [200], value: 1 }));
        Ok(())
    });
}
