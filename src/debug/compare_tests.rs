//! Comparisons of arrays against what was changed in them.

use super::compare::compare;
use super::measure_tests::on_ranks;
use super::protocol::Difference;
use crate::error::Result;
use crate::world::hash;
use crate::{Element, GlobalArray, Layout, Split, World};

fn compared<T: Element, const D: usize>(
    world: &World,
    one: &GlobalArray<T, D>,
    other: &GlobalArray<T, D>,
) -> Result<Result<Difference, String>> {
    world.collective("compare", hash("compare"), || compare(world, [one.core(), other.core()]))
}

#[test]
fn differences_are_those_of_a_plain_loop() {
    on_ranks(|world| {
        let split = |layout: Layout| layout.split([Split::Even(2), Split::Even(world.size())]);
        // More cells than are read at a time; ghost widths may differ.
        let layout = split(Layout::new([701, 403]));
        let value = |[x, y]: [i64; 2]| (x * 7 + y * 3) as u8;
        let one = world.array::<u8, 2>("one", &layout)?;
        let other = world.array::<u8, 2>("other", &layout.clone().ghost([1, 2]))?;
        one.fill_with(value)?;
        other.fill(255)?;
        other.fill_with(value)?;
        assert_eq!(compared(world, &one, &other)?, Ok(Difference { cells: 0, first: None }));
        assert_eq!(compared(world, &one, &one)?, Ok(Difference { cells: 0, first: None }));
        // The first one lies in another chunk than the lowest along axis 0.
        let spots = [[2, 390], [700, 0], [350, 201], [699, 402]];
        other.fill_with(|at| if spots.contains(&at) { value(at) ^ 0x80 } else { value(at) })?;
        assert_eq!(compared(world, &one, &other)?, Ok(Difference { cells: 4, first: Some(vec![700, 0]) }));
        other.fill_with(|[x, y]| value([x, y]) ^ u8::from(y > 200))?;
        let right = Difference { cells: 701 * 202, first: Some(vec![0, 201]) };
        assert_eq!(compared(world, &other, &one)?, Ok(right));

        // Cells of two bytes, and of four words, more than a window of a binding holds.
        let named = |name: &str, which: usize| format!("{name} {which}");
        let [one, other] = [0, 1].map(|which: usize| {
            let array = world.array::<u16, 2>(&named("halves", which), &split(Layout::new([55, 31])))?;
            array.fill_with(|[x, y]| (x * 100 + y) as u16 ^ u16::from(which == 1 && x == 7 && y > 28)).map(|()| array)
        });
        let right = Difference { cells: 2, first: Some(vec![7, 29]) };
        assert_eq!(compared(world, &one?, &other?)?, Ok(right));
        let layouts = [Layout::new([203, 211]), Layout::new([203, 211]).ghost([2, 0])].map(split);
        let [one, other] = [0, 1].map(|which: usize| {
            let array = world.array::<[u32; 4], 2>(&named("fours", which), &layouts[which])?;
            let other = |[x, y]: [i64; 2]| u32::from(which == 1 && (y * 203 + x) % 1000 == 999);
            array.fill_with(|at| [at[0] as u32, at[1] as u32 ^ other(at), 7, 9 + other(at)]).map(|()| array)
        });
        let right = Difference { cells: 42, first: Some(vec![999 % 203, 999 / 203]) };
        assert_eq!(compared(world, &one?, &other?)?, Ok(right));

        // By bits: a NaN is itself, and zeros differ.
        let [one, other] = [[f32::NAN, 0.0], [f32::NAN, -0.0]];
        let [a, b] = [("a", one), ("b", other)].map(|(name, value)| {
            let array = world.array::<[f32; 2], 2>(name, &split(Layout::new([5, 7])))?;
            array.fill_with(|at| if at == [3, 6] { value } else { [f32::NAN, 1.0] }).map(|()| array)
        });
        assert_eq!(compared(world, &a?, &b?)?, Ok(Difference { cells: 1, first: Some(vec![3, 6]) }));
        let none = Layout::new([0, 3]);
        let [a, b] = ["none", "as little"].map(|name| world.array::<[u32; 4], 2>(name, &none));
        assert_eq!(compared(world, &a?, &b?)?, Ok(Difference { cells: 0, first: None }));
        Ok(())
    });
}

#[test]
fn arrays_that_cannot_be_compared() {
    on_ranks(|world| {
        let layout = Layout::new([6, 4]).split([Split::Whole, Split::Even(world.size())]);
        let one = world.array::<f32, 2>("one", &layout)?;
        let across =
            world.array::<f32, 2>("across", &Layout::new([6, 4]).split([Split::Even(world.size()), Split::Whole]))?;
        let found = compared(world, &one, &across)?;
        match world.size() {
            1 => assert_eq!(found, Ok(Difference { cells: 0, first: None })),
            _ => {
                let text = found.unwrap_err();
                assert!(
                    text.starts_with("a comparison moves no data, but cell") && text.contains("copy one"),
                    "{text}"
                );
            }
        }
        let smaller = world.array::<f32, 2>("smaller", &Layout::new([6, 3]))?;
        let text = compared(world, &one, &smaller)?.unwrap_err();
        assert!(
            text.starts_with("array \"one\" has ") && text.ends_with("only arrays of one shape are compared"),
            "{text}"
        );
        let whole = world.array::<u32, 2>("whole", &layout)?;
        let refuse = |other| -> Result<String> {
            let found = world.collective("compare", hash("compare"), || compare(world, [one.core(), other]))?;
            Ok(found.unwrap_err())
        };
        assert_eq!(
            refuse(whole.core())?,
            "array \"one\" is of f32 and array \"whole\" is of u32; only arrays of one type are compared"
        );
        let local = world.local_array::<f32, 2>("local", &Layout::new([6, 4]))?;
        assert_eq!(refuse(local.core())?, "array \"local\" is a local one; only global arrays are compared");
        Ok(())
    });
}
