//! Invalid arguments: shapes, regions, negative and overflowing sizes, and empty arrays.

use zippy::Exchange;
use zippy::region::Region;
use zippy::{KernelSource, Layout, Operator, Split};

use super::refused;
use crate::support::cells::{Value, boxed, code, expect, fill};
use crate::support::{RANKS, ranks};

#[test]
fn invalid_shapes_are_refused() {
    ranks(RANKS, |world| {
        let a = world.array::<f32, 2>("a", &Layout::new([6, 4]))?;
        let b = world.array::<f32, 2>("b", &Layout::new([4, 6]))?;
        fill(&b, 1)?;
        let local = world.local_array::<f32, 2>("local", &Layout::new([2, 2]))?;
        let messages = [
            refused(world, world.copy(a.at(..), b.at(..))),
            refused(world, world.start_copy(a.at((0..2, ..)), b.at((0..3, 0..4))).map(drop)),
            refused(world, world.exchange(Exchange::new().copy(a.at(..), b.at(..)).permuted([0, 1]))),
            refused(world, world.exchange(Exchange::new().copy(a.at(..), b.at(..)).permuted([1, 1]))),
            refused(world, world.composite(a.at(..), b.at(..), Operator::Add)),
            refused(world, world.copy(local.at((0..1, ..)), local.at((.., 0..1)))),
            refused(world, world.put(&[0.0; 5], b.at((0..2, 0..3)))),
            refused(world, world.put(local.all(), b.at((0..3, 0..3)))),
            refused(world, world.get_into(b.at((0..3, 0..3)), local.all())),
            refused(world, local.all().write(&[0.0; 3])),
            refused(world, world.array::<f32, 3>("c", &Layout::new([6, 4]))),
            refused(world, world.local_array::<f32, 1>("c", &Layout::new([6, 4]))),
            refused(world, world.array::<f32, 2>("c", &Layout::new([6, 4]).split([Split::Auto]))),
            refused(world, world.array::<f32, 2>("c", &Layout::new([6, 4]).ghost([1, 1, 1]))),
        ];
        insta::allow_duplicates! {
            insta::assert_snapshot!(messages.join("\n"), @r#"
            source section [0..6, 0..4] of array "a" has 6 x 4 cells but destination section [0..4, 0..6] of array "b" has 4 x 6; they must agree axis by axis
            source section [0..2, 0..4] of array "a" has 2 x 4 cells but destination section [0..3, 0..4] of array "b" has 3 x 4; they must agree axis by axis
            source section [0..6, 0..4] of array "a" has 6 x 4 cells but destination section [0..4, 0..6] of array "b" has 4 x 6 where 6 x 4 are wanted, as its axes take source axes [0, 1]; they must agree axis by axis
            [1, 1] does not re-order 2 axes; each of 0 to 1 must occur once
            source section [0..6, 0..4] of array "a" has 6 x 4 cells but destination section [0..4, 0..6] of array "b" has 4 x 6; they must agree axis by axis
            source section [0..1, 0..2] of array "local" has 1 x 2 cells but destination section [0..2, 0..1] of array "local" has 2 x 1; they must agree axis by axis
            the slice to put has 5 elements, but section [0..2, 0..3] of array "b" has 6 cells
            source section [0..2, 0..2] of array "local" has 2 x 2 cells but destination section [0..3, 0..3] of array "b" has 3 x 3; they must agree axis by axis
            source section [0..3, 0..3] of array "b" has 3 x 3 cells but destination section [0..2, 0..2] of array "local" has 2 x 2; they must agree axis by axis
            the slice to write has 3 elements, but section [0..2, 0..2] of array "local" has 4 cells
            array "c" is made with 3 axes, but its layout has 2; give Layout::new 3 extents
            array "c" is made with 1 axes, but its layout has 2; give Layout::new 1 extents
            array "c": a split was given for 1 axes, but the shape has 2
            array "c": a ghost width was given for 3 axes, but the shape has 2
            "#);
        }
        expect(&b, &"untouched", |at| f32::of(code(1, at)))
    });
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "that is one of the mistakes")]
fn regions_out_of_range_are_refused() {
    ranks(RANKS, |world| {
        let a = world.array::<u8, 2>("a", &Layout::new([6, 4]).ghost([1, 1]))?;
        fill(&a, 2)?;
        let edge = Region { start: [i64::MAX - 1, 0].into(), end: [i64::MAX, 1].into() };
        let messages = [
            refused(world, world.copy(a.at((0..7, ..)), a.at(..))),
            refused(world, world.copy(a.at((0..6, ..)), a.at((.., -1..3)))),
            refused(world, world.get(a.at((3..1, ..)))),
            refused(world, world.put(&[1], a.at((6, 0)))),
            refused(world, world.get(a.at((0..u64::MAX, ..)))),
            refused(world, world.get(a.at((0..=u64::MAX, ..)))),
            refused(world, world.get(a.at((i64::MIN..i64::MAX, ..)))),
            refused(world, world.accumulate(&[1], a.at(edge), Operator::Add)),
        ];
        insta::allow_duplicates! {
            insta::assert_snapshot!(messages.join("\n"), @r#"
            region [0..7, 0..4] leaves array "a", which is [0..6, 0..4], on axis 0
            region [0..6, -1..3] leaves array "a", which is [0..6, 0..4], on axis 1
            region [3..1, 0..4] runs backwards on axis 0; the end must not lie before the start
            region [6..7, 0..1] leaves array "a", which is [0..6, 0..4], on axis 0
            region [0..9223372036854775807, 0..4] leaves array "a", which is [0..6, 0..4], on axis 0
            region [0..9223372036854775807, 0..4] leaves array "a", which is [0..6, 0..4], on axis 0
            region [-9223372036854775808..9223372036854775807, 0..4] leaves array "a", which is [0..6, 0..4], on axis 0
            region [9223372036854775806..9223372036854775807, 0..1] leaves array "a", which is [0..6, 0..4], on axis 0
            "#);
        }
        for chunk in a.chunks() {
            let [x, y] = chunk.extents();
            let (read, write) = (chunk.at((-1..x + 1, -1..y + 2)).read(), chunk.at((-2, 0)).write(&[0]));
            if !chunk.region().is_empty() {
                let name = format!("leaves chunk {} of array \"a\"", chunk.id());
                assert!(read.unwrap_err().to_string().contains(&name));
                assert!(write.unwrap_err().to_string().contains(&name));
            }
        }
        expect(&a, &"untouched", |at| u8::of(code(2, at)))
    });
}

#[test]
fn negative_and_overflowing_sizes_are_refused() {
    ranks(RANKS, |world| {
        let array = |layout: Layout| refused(world, world.array::<f32, 2>("array", &layout));
        let plain = || Layout::new([6, 4]);
        let region = |start: [i64; 2], extents: [i64; 2]| boxed(start, extents);
        let messages = [
            array(Layout::new([-1, 4])),
            array(Layout::new([u64::MAX, 1])),
            array(Layout::new([i64::MAX, 2])),
            array(Layout::new([1_i64 << 61, 1])),
            array(plain().ghost([-1, 0])),
            array(plain().ghost([i64::MAX, 0])),
            array(plain().ghost_sides([(0, 0), (0, i64::MAX / 2)]).periodic([true, true])),
            array(plain().split([[3, -1, 4].into(), Split::Whole])),
            array(plain().split([[i64::MAX, i64::MAX, 8].into(), Split::Whole])),
            array(plain().split([[3, 2].into(), Split::Whole])),
            array(plain().split([Split::Even(0), Split::Whole])),
            array(plain().split([vec![].into(), Split::Whole])),
            array(plain().split([Split::Even(usize::MAX), Split::Even(usize::MAX)])),
            array(plain().boxes(vec![region([0, 0], [6, 3]), region([2, 2], [4, 2])])),
            array(plain().boxes(vec![region([0, 0], [6, 3])])),
            array(plain().boxes(vec![region([0, 0], [6, 5])])),
            array(plain().boxes(vec![])),
            array(plain().split_all(Split::Auto).boxes(vec![region([0, 0], [6, 4])])),
            array(Layout::from_shape(&[1; 8])),
            array(Layout::from_shape::<i64>(&[])),
        ];
        insta::allow_duplicates! {
            insta::assert_snapshot!(messages.join("\n"), @r#"
            array "array": the shape on axis 0 is -1; it must be at least 0 and fit 63 bits
            array "array": the shape on axis 0 is 18446744073709551615; it must be at least 0 and fit 63 bits
            array "array": an array of 9223372036854775807 x 2 cells of 4 bytes, or its ghost cells, overflows 63 bits
            array "array": an array of 2305843009213693952 x 1 cells of 4 bytes, or its ghost cells, overflows 63 bits
            array "array": a ghost width on axis 0 is -1; it must be at least 0 and fit 63 bits
            array "array": an array of 6 x 4 cells of 4 bytes, or its ghost cells, overflows 63 bits
            array "array": an array of 6 x 4 cells of 4 bytes, or its ghost cells, overflows 63 bits
            array "array": a chunk size on axis 0 is -1; it must be at least 0 and fit 63 bits
            array "array": the chunk sizes on axis 0 add up to 18446744073709551622, but the axis has 6 cells
            array "array": the chunk sizes on axis 0 add up to 5, but the axis has 6 cells
            array "array": axis 0 is cut into 0 chunks; at least one is needed (it may be empty)
            array "array": axis 0 is cut into 0 chunks; at least one is needed (it may be empty)
            array "array": 281475010265089 chunks; at most 16777216 are possible
            array "array": boxes 0 [0..6, 0..3] and 1 [2..6, 2..4] share cells; chunks must be disjoint
            array "array": the boxes hold 18 of the 24 cells of the shape 6 x 4; they must cover it
            array "array": box 0: region [0..6, 0..5] leaves the shape, which is [0..6, 0..4], on axis 1
            array "array": the boxes hold 0 of the 24 cells of the shape 6 x 4; they must cover it
            array "array": a layout is cut either by splits per axis or by boxes, not both
            array "array": a layout of 8 axes; 1 to 7 are possible
            array "array": a layout of 0 axes; 1 to 7 are possible
            "#);
        }
        Ok(())
    });
}

#[test]
fn chunk_over_the_limit_error_names_a_valid_layout() {
    ranks(RANKS, |world| {
        let limit = world.gpu().limits().buffer_bytes;
        // 2^20 x 2^20 cells are never allocated.
        let huge = Layout::new([1_i64 << 20, 1 << 20]).ghost([1, 1]);
        let text = refused(world, world.array::<[f32; 4], 2>("huge", &huge.clone().split_all(Split::Whole)));
        assert!(text.contains(&format!("but a chunk may have {limit}")), "{text}");
        let advice = text.split("Split::Auto or .split([").nth(1).unwrap_or_else(|| panic!("{text}"));
        let mut counts = advice.split("Split::Even(").skip(1).map(|count| count.split(')').next()?.parse().ok());
        let mut next = || Split::Even(counts.next().flatten().unwrap_or_else(|| panic!("{text}")));
        let advised = huge.clone().split([next(), next()]);
        let chunks = advised.resolve(world.size(), 16, limit)?;
        assert!(chunks.count() > 8000, "{} chunks of at most {limit} bytes", chunks.count());
        huge.resolve(world.size(), 16, limit)?;
        let narrow = Layout::new([4, 4]).ghost([1 << 20, 1 << 20]);
        let text = refused(world, world.array::<f32, 2>("narrow", &narrow));
        assert!(text.contains("use narrower ghost widths"), "{text}");
        let local = refused(world, world.local_array::<f32, 1>("local", &Layout::new([1_i64 << 40])).map(drop));
        assert!(local.contains(&format!("{limit}")), "{local}");
        Ok(())
    });
}

#[test]
fn empty_arrays_and_regions_are_accepted() {
    ranks(RANKS, |world| {
        for shape in [[0, 0, 0], [5, 0, 3], [0, 1, 1]] {
            for split in [Split::Auto, Split::Whole, Split::Even(3)] {
                let layout = Layout::new(shape).split_all(split).ghost([1, 2, 0]).periodic([true, false, true]);
                let (a, b) = (world.array::<u16, 3>("a", &layout)?, world.array::<u16, 3>("b", &layout)?);
                let nothing = zippy::Moved::default();
                assert_eq!(world.copy(a.at(..), b.at(..))?, nothing);
                assert_eq!(world.composite(a.at(..), a.at(..), Operator::Max)?, nothing);
                assert_eq!(world.ghosts(&a)?, nothing);
                assert_eq!(
                    world.exchange(Exchange::new().ghosts(&a).reverse().ghosts(&b).reverse_with(Operator::Add))?,
                    nothing
                );
                world.start_ghosts(&a)?.wait()?;
                let ticket = world.get(a.at(..))?;
                world.put(&[], b.at(..))?;
                assert!(world.fence()?.redeem(ticket)?.is_empty());
                a.fill(7)?;
                fill(&b, 3)?;
                let source = "@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
                    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                        let p = cells_position(id);
                        if cells_inside_word(p) { cells_store_word(p, vec2(1u)); }
                    }";
                let kernel = world.kernel(KernelSource::text("nothing.wgsl", source))?;
                for chunk in a.chunks() {
                    assert!(chunk.with_ghosts().read()?.is_empty());
                    kernel.call().write("cells", chunk.all()).run()?;
                }
                let order: Vec<usize> = (0..a.core().chunks().count()).rev().collect();
                assert_eq!(a.reassigned(&order).is_ok(), {
                    let chunks = a.core().chunks();
                    order.iter().enumerate().all(|(i, &j)| chunks.region(i).extents() == chunks.region(j).extents())
                });
            }
        }
        world.barrier()
    });
}
