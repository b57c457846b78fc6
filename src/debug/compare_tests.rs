//! Comparisons of arrays that differ in known cells.
use zippy_protocol::Difference;

use super::compare::compare;
use super::measure_tests::on_ranks;
use crate::error::Result;
use crate::world::hash;
use crate::{Element, GlobalArray, Layout, Split, World};

fn compare_arrays<T: Element, const D: usize>(
    world: &World,
    first: &GlobalArray<T, D>,
    second: &GlobalArray<T, D>,
) -> Result<Result<Difference, String>> {
    world.collective("compare", hash("compare"), || compare(world, [first.core(), second.core()]))
}

#[test]
fn differences_agree_with_a_plain_loop() {
    on_ranks(|world| {
        let split = |layout: Layout| layout.split([Split::Even(2), Split::Even(world.size())]);
        // More cells than one block has. Ghost widths may differ.
        let layout = split(Layout::new([701, 403]));
        let value = |[x, y]: [i64; 2]| (x * 7 + y * 3) as u8;
        let first = world.array::<u8, 2>("one", &layout)?;
        let second = world.array::<u8, 2>("other", &layout.clone().ghost([1, 2]))?;
        first.fill_with(value)?;
        second.fill(255)?;
        second.fill_with(value)?;
        assert_eq!(compare_arrays(world, &first, &second)?, Ok(Difference { cells: 0, first: None }));
        assert_eq!(compare_arrays(world, &first, &first)?, Ok(Difference { cells: 0, first: None }));
        // The first differing cell in array order is not in the first chunk.
        let differing_positions = [[2, 390], [700, 0], [350, 201], [699, 402]];
        second.fill_with(|at| if differing_positions.contains(&at) { value(at) ^ 0x80 } else { value(at) })?;
        assert_eq!(compare_arrays(world, &first, &second)?, Ok(Difference { cells: 4, first: Some(vec![700, 0]) }));
        second.fill_with(|[x, y]| value([x, y]) ^ u8::from(y > 200))?;
        let right = Difference { cells: 701 * 202, first: Some(vec![0, 201]) };
        assert_eq!(compare_arrays(world, &second, &first)?, Ok(right));

        // Cells of two bytes, and cells of four words in arrays larger than a binding's limit.
        let named = |name: &str, index: usize| format!("{name} {index}");
        let [first, second] = [0, 1].map(|index: usize| {
            let array = world.array::<u16, 2>(&named("halves", index), &split(Layout::new([55, 31])))?;
            array.fill_with(|[x, y]| (x * 100 + y) as u16 ^ u16::from(index == 1 && x == 7 && y > 28)).map(|()| array)
        });
        let right = Difference { cells: 2, first: Some(vec![7, 29]) };
        assert_eq!(compare_arrays(world, &first?, &second?)?, Ok(right));
        let layouts = [Layout::new([203, 211]), Layout::new([203, 211]).ghost([2, 0])].map(split);
        let [first, second] = [0, 1].map(|index: usize| {
            let array = world.array::<[u32; 4], 2>(&named("fours", index), &layouts[index])?;
            let second = |[x, y]: [i64; 2]| u32::from(index == 1 && (y * 203 + x) % 1000 == 999);
            array.fill_with(|at| [at[0] as u32, at[1] as u32 ^ second(at), 7, 9 + second(at)]).map(|()| array)
        });
        let right = Difference { cells: 42, first: Some(vec![999 % 203, 999 / 203]) };
        assert_eq!(compare_arrays(world, &first?, &second?)?, Ok(right));

        // Cells are compared by bits: a NaN equals itself, and 0.0 differs from -0.0.
        let [first, second] = [[f32::NAN, 0.0], [f32::NAN, -0.0]];
        let [a, b] = [("a", first), ("b", second)].map(|(name, value)| {
            let array = world.array::<[f32; 2], 2>(name, &split(Layout::new([5, 7])))?;
            array.fill_with(|at| if at == [3, 6] { value } else { [f32::NAN, 1.0] }).map(|()| array)
        });
        assert_eq!(compare_arrays(world, &a?, &b?)?, Ok(Difference { cells: 1, first: Some(vec![3, 6]) }));
        let none = Layout::new([0, 3]);
        let [a, b] = ["none", "as little"].map(|name| world.array::<[u32; 4], 2>(name, &none));
        assert_eq!(compare_arrays(world, &a?, &b?)?, Ok(Difference { cells: 0, first: None }));
        Ok(())
    });
}

#[test]
fn incomparable_arrays_are_refused() {
    on_ranks(|world| {
        let layout = Layout::new([6, 4]).split([Split::Whole, Split::Even(world.size())]);
        let first = world.array::<f32, 2>("one", &layout)?;
        let across =
            world.array::<f32, 2>("across", &Layout::new([6, 4]).split([Split::Even(world.size()), Split::Whole]))?;
        let found = compare_arrays(world, &first, &across)?;
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
        let text = compare_arrays(world, &first, &smaller)?.unwrap_err();
        assert!(
            text.starts_with("array \"one\" has ") && text.ends_with("only arrays of one shape are compared"),
            "{text}"
        );
        let whole = world.array::<u32, 2>("whole", &layout)?;
        let refuse = |second| -> Result<String> {
            let found = world.collective("compare", hash("compare"), || compare(world, [first.core(), second]))?;
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
