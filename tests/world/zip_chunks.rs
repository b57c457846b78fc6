//! Simultaneous iteration over the chunks of several arrays, or an error with the difference of the
//! arrays.

use zippy::region::Region;
use zippy::{ArrayOptions, Layout, Ownership, Result, Split, World, zip_chunks};

use crate::support;

/// Text of an error that must be equal on all ranks.
fn common_error_text<R>(world: &World, result: Result<R>) -> Result<String> {
    let text = result.err().expect("the arrays differ").to_string();
    let texts = world.group().all_gather_v(Box::new(text.clone().into_bytes()))?;
    assert!(texts.iter().all(|other| (**other).as_ref() == text.as_bytes()), "the same on every rank: {text}");
    Ok(text)
}

#[test]
fn zipped_chunks_have_same_cells() {
    support::ranks(support::RANKS, |world| {
        let cuts = [
            Layout::new([13, 7]).split([Split::Even(3), Split::Even(2)]),
            Layout::new([13, 7]).split([Split::Even(world.size()), Split::Whole]),
            Layout::new([13, 7]).split_all(Split::Auto),
            Layout::new([13, 7]).split([Split::Even(20), Split::Whole]),
        ];
        for layout in cuts {
            let a = world.array::<f32, 2>("a", &layout)?;
            let b = world.array::<u32, 2>("b", &layout.clone().ghost([1, 2]))?;
            let c = world.array::<[f32; 4], 2>("c", &layout.clone().periodic([true, false]))?;
            let mut regions = Vec::new();
            for (a, b, c) in zip_chunks((&a, &b, &c))? {
                assert!(a.id() == b.id() && b.id() == c.id());
                assert!(a.region() == b.region() && b.region() == c.region());
                regions.push(a.region());
            }
            assert_eq!(regions, a.chunks().map(|chunk| chunk.region()).collect::<Vec<_>>());
            let three: usize = zip_chunks([&a, &a, &a])?.map(|[x, y, z]| x.id() + y.id() + z.id()).sum();
            assert_eq!(three, a.chunks().map(|chunk| 3 * chunk.id()).sum::<usize>());
            let six = zip_chunks((&a, &b, &c, &a, &b, &c))?;
            assert_eq!(six.count(), regions.len());
        }
        Ok(())
    });
}

/// For example a density, and velocities with three components per cell.
#[test]
fn array_with_additional_uncut_axes_is_zipped() {
    support::ranks(support::RANKS, |world| {
        let splits = [Split::Even(3), Split::Even(2), Split::Whole];
        let plane = Layout::new([13, 7]).split([splits[0].clone(), splits[1].clone()]);
        let density = world.array::<f32, 2>("density", &plane)?;
        let velocity =
            world.array::<f32, 3>("velocity", &Layout::new([13, 7, 3]).split(splits.clone()).ghost([1, 1, 0]))?;
        let populations = world.array::<f32, 3>("populations", &Layout::new([13, 7, 9]).split(splits))?;
        // The order of the arrays does not matter.
        let [one, other] = [
            zip_chunks((&velocity, &density, &populations))?.map(|(_, _, chunk)| chunk.id()).collect::<Vec<_>>(),
            zip_chunks((&density, &populations, &velocity))?.map(|(_, chunk, _)| chunk.id()).collect::<Vec<_>>(),
        ];
        assert_eq!((&one, one.len()), (&other, density.chunks().count()));
        let steps = zip_chunks((&velocity, &density, &velocity))?.map(|(velocity, density, again)| {
            let (all, plane) = (velocity.region(), density.region());
            assert_eq!((&all.start[..2], &all.end[..2]), (&plane.start[..], &plane.end[..]));
            assert_eq!((all.start[2], all.end[2], again.region()), (0, 3, all));
            (velocity.id(), density.id())
        });
        let own: Vec<_> = density.chunks().map(|chunk| (chunk.id(), chunk.id())).collect();
        assert_eq!(steps.collect::<Vec<_>>(), own);
        // Cut along the additional axis, or differently along a common axis.
        for (splits, problem) in [
            (
                [Split::Even(3), Split::Even(2), Split::Even(3)],
                "chunk 0 of \"density\" is [0..5, 0..4], of \"cut\" [0..5, 0..4, 0..1]",
            ),
            (
                [Split::Even(2), Split::Even(3), Split::Whole],
                "chunk 0 of \"density\" is [0..5, 0..4], of \"cut\" [0..7, 0..3, 0..3]",
            ),
        ] {
            let cut = world.array::<f32, 3>("cut", &Layout::new([13, 7, 3]).split(splits))?;
            let text = common_error_text(world, zip_chunks((&density, &cut)))?;
            assert!(text.contains(problem), "{text}, not {problem}");
        }
        Ok(())
    });
}

#[test]
fn layouts_with_the_same_boxes_are_compatible() {
    support::ranks(&[1, 3], |world| {
        let sizes = world.array::<f32, 1>("sizes", &Layout::new([7]).split([vec![3, 2, 2].into()]))?;
        let even = world.array::<f32, 1>("even", &Layout::new([7]).split([Split::Even(3)]))?;
        let boxes =
            [0..3, 3..5, 5..7].map(|r| Region::new(&[r.start], &[r.end])).into_iter().collect::<Result<_, _>>()?;
        let boxes = world.array::<f32, 1>("boxes", &Layout::new([7]).boxes(boxes))?;
        assert_eq!(zip_chunks((&sizes, &even, &boxes))?.count(), sizes.chunks().count());
        Ok(())
    });
}

#[test]
fn different_cuts_or_owners_return_same_error_on_all_ranks() {
    support::ranks(support::RANKS, |world| {
        let array = |name: &str, shape: [i64; 1], chunks: usize| {
            world.array::<f32, 1>(name, &Layout::new(shape).split([Split::Even(chunks)]))
        };
        let (a, fewer, longer) = (array("a", [12], 4)?, array("fewer", [12], 3)?, array("longer", [13], 4)?);
        let text = common_error_text(world, zip_chunks((&a, &fewer)))?;
        assert!(
            text.contains("\"a\" and \"fewer\"") && text.contains("chunk 0 of \"a\" is [0..3], of \"fewer\" [0..4]"),
            "{text}"
        );
        let text = common_error_text(world, zip_chunks((&a, &a, &longer)))?;
        assert!(text.contains("chunk 0 of \"a\" is [0..3], of \"longer\" [0..4]"), "{text}");

        // Additional chunks without cells after the same chunks.
        let (three, five) = (array("three", [3], 3)?, array("five", [3], 5)?);
        let text = common_error_text(world, zip_chunks((&three, &five)))?;
        assert!(text.contains("\"three\" has 3 chunks, \"five\" has 5"), "{text}");

        let turned = a.reassigned(&[1, 2, 3, 0])?;
        let owners: Vec<usize> = (0..4).map(|chunk| (3 - chunk) % world.size()).collect();
        let other = world.array::<f32, 1>(
            "other",
            ArrayOptions::new(&Layout::new([12]).split([Split::Even(4)]))
                .owned_by(Ownership::table(owners, world.size())?),
        )?;
        if world.size() == 1 {
            assert_eq!(zip_chunks((&a, &turned, &other))?.count(), 4);
            return Ok(());
        }
        for array in [&turned, &other] {
            let text = common_error_text(world, zip_chunks([&a, array]))?;
            assert!(text.contains("chunk") && text.contains("on rank"), "{text}");
        }
        Ok(())
    });
}
