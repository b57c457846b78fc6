//! Composites: every operator for every element type between any two layouts, with equal bits for
//! any number of ranks.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;

use zippy::{Element, Exchange, Layout, Operator, Result, Split, World};

use crate::support::cells::{Value, boxed, code, cuts, expect, expect_whole, fill, mix};
use crate::support::{RANKS, ranks};

zippy_testing::in_place_too!();

/// Checks composites of a box of one array with a box of another, for all pairs of layouts, against
/// `twin(source, destination)`.
fn check_composites_between_layouts<T: Element + Debug>(
    world: &World,
    operator: &Operator,
    make: impl Fn(u64) -> T,
    twin: impl Fn(T, T) -> T,
) -> Result<()> {
    let (from, onto, extents) = ([2, 1], [1, 3], [10, 7]);
    let ways = cuts([13, 9], world.size()).into_iter().zip(cuts([12, 11], world.size()).into_iter().rev());
    for (from_cut, onto_cut) in ways {
        let source = from_cut.array::<T, 2>(world, "source")?;
        let destination = onto_cut.array::<T, 2>(world, "destination")?;
        source.fill_with(|at| make(code(1, at)))?;
        destination.fill_with(|at| make(code(2, at)))?;
        let region = boxed(onto, extents);
        world.composite(source.at(boxed(from, extents)), destination.at(region), operator.clone())?;
        let label = format!("{operator} on {}: {} to {}", T::INFO.name, from_cut.name, onto_cut.name);
        expect(&destination, &label, |at| {
            let own = make(code(2, at));
            if !region.contains(&at.into()) {
                return own;
            }
            twin(make(code(1, [at[0] - onto[0] + from[0], at[1] - onto[1] + from[1]])), own)
        })?;
        expect(&source, &label, |at| make(code(1, at)))?;
    }
    Ok(())
}

/// Float whose sums are exact.
fn exact_float(code: u64) -> f32 {
    (code >> 44) as f32 - 524_288.0
}

#[test]
fn add_min_and_max_combine_every_element_type() {
    ranks(RANKS, |world| {
        let (add, min, max) = (Operator::Add, Operator::Min, Operator::Max);
        check_composites_between_layouts(world, &add, exact_float, |s, d| s + d)?;
        check_composites_between_layouts(world, &min, exact_float, f32::min)?;
        check_composites_between_layouts(world, &max, exact_float, f32::max)?;
        check_composites_between_layouts(world, &add, i32::of, i32::wrapping_add)?;
        check_composites_between_layouts(world, &min, i32::of, i32::min)?;
        check_composites_between_layouts(world, &add, u32::of, u32::wrapping_add)?;
        check_composites_between_layouts(world, &max, u32::of, u32::max)?;
        check_composites_between_layouts(world, &add, u8::of, u8::saturating_add)?;
        check_composites_between_layouts(world, &add, i8::of, i8::saturating_add)?;
        check_composites_between_layouts(world, &min, i8::of, i8::min)?;
        check_composites_between_layouts(world, &add, u16::of, u16::saturating_add)?;
        check_composites_between_layouts(world, &add, i16::of, i16::saturating_add)?;
        check_composites_between_layouts(world, &max, i16::of, i16::max)?;
        let pair = |code| [exact_float(code), exact_float(mix(code))];
        check_composites_between_layouts(world, &add, pair, |s, d| [s[0] + d[0], s[1] + d[1]])?;
        check_composites_between_layouts(world, &max, <[u32; 4]>::of, |s, d| std::array::from_fn(|i| s[i].max(d[i])))
    });
}

#[derive(Debug, Clone, Copy, Element)]
#[repr(C)]
struct Hit {
    depth: f32,
    object: u32,
}

#[test]
fn custom_operator_combines_every_element_type() {
    ranks(RANKS, |world| {
        let nearest = Operator::custom(
            "nearest",
            "fn combine(src: T, dst: T) -> T {
                if src.depth < dst.depth || (src.depth == dst.depth && src.object < dst.object) { return src; }
                return dst;
            }",
        );
        // Few different depths, so that ties occur.
        let hit = |code| Hit { depth: (code % 8) as f32, object: (code >> 32) as u32 };
        check_composites_between_layouts(world, &nearest, hit, |s, d| {
            if (s.depth, s.object) < (d.depth, d.object) { s } else { d }
        })?;
        let bits = Operator::custom("and-not", "fn combine(src: T, dst: T) -> T { return dst & ~src; }");
        check_composites_between_layouts(world, &bits, u32::of, |s, d| d & !s)?;
        let clamped = Operator::custom("difference", "fn combine(src: T, dst: T) -> T { return dst - src; }");
        check_composites_between_layouts(world, &clamped, i8::of, i8_difference)
    });
}

/// Difference of packed integers, computed in 32 bits and clamped to their range.
fn i8_difference(source: i8, destination: i8) -> i8 {
    destination.saturating_sub(source)
}

fn colour(code: u64) -> [f32; 4] {
    let part = |n: u32| ((code >> (16 * n)) % 256) as f32 / 255.0;
    let alpha = part(3);
    [part(0) * alpha, part(1) * alpha, part(2) * alpha, alpha]
}

#[test]
fn over_operator_blends_source_in_front_of_destination() {
    ranks(RANKS, |world| {
        for cut in cuts([15, 7], world.size()) {
            let front = cut.array::<[f32; 4], 2>(world, "front")?;
            let back = world.array::<[f32; 4], 2>("back", &Layout::new([15, 7]))?;
            front.fill_with(|at| colour(code(1, at)))?;
            back.fill_with(|at| colour(code(2, at)))?;
            world.composite(front.at(..), back.at(..), Operator::Over)?;
            for chunk in back.chunks() {
                for (at, pixel) in chunk.region().points().zip(chunk.all().read()?) {
                    let (s, d) = (colour(code(1, [at[0], at[1]])), colour(code(2, [at[0], at[1]])));
                    for c in 0..4 {
                        let expected = f64::from(s[c]) + (1.0 - f64::from(s[3])) * f64::from(d[c]);
                        assert!((f64::from(pixel[c]) - expected).abs() < 2e-7, "{} at {at}: {pixel:?}", cut.name);
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn composite_of_overlapping_regions_reads_all_sources_first() {
    ranks(RANKS, |world| {
        for cut in cuts([12, 10], world.size()) {
            for (shift, operator) in [([3, 2], Operator::Add), ([-1, 0], Operator::Max), ([0, -4], Operator::Min)] {
                let array = cut.array::<u32, 2>(world, "array")?;
                fill(&array, 3)?;
                let extents = [12 - i64::abs(shift[0]), 10 - i64::abs(shift[1])];
                let (from, onto) = (shift.map(|by: i64| (-by).max(0)), shift.map(|by| by.max(0)));
                world.composite(array.at(boxed(from, extents)), array.at(boxed(onto, extents)), operator.clone())?;
                expect(&array, &format!("{operator}, {} by {shift:?}", cut.name), |at| {
                    let own = u32::of(code(3, at));
                    let source = u32::of(code(3, [at[0] - shift[0], at[1] - shift[1]]));
                    match (boxed(onto, extents).contains(&at.into()), &operator) {
                        (false, _) => own,
                        (_, Operator::Add) => own.wrapping_add(source),
                        (_, Operator::Min) => own.min(source),
                        _ => own.max(source),
                    }
                })?;
            }
        }
        Ok(())
    });
}

#[test]
fn composite_has_equal_bits_on_any_number_of_ranks_and_any_cut() {
    let observed: Mutex<BTreeSet<Vec<u32>>> = Mutex::default();
    ranks(RANKS, |world| {
        let rounding = Operator::custom(
            "rounding",
            "fn combine(src: T, dst: T) -> T { return dst * 0.7 + src * src * vec4(0.3, 0.1, 0.7, 0.9) / (1.0 + dst.w); }",
        );
        for cut in cuts([14, 9], world.size()) {
            let sum = cut.array::<[f32; 4], 2>(world, "sum")?;
            let layout = Layout::new([14, 9, 6]).split([Split::Whole, Split::Even(2), Split::Even(3)]);
            let layers = world.array::<[f32; 4], 3>("layers", &layout)?;
            layers.fill_with(|at| colour(code(4, at)))?;
            let layer = cut.array::<[f32; 4], 2>(world, "layer")?;
            for z in 0..6 {
                layer.fill_with(|[x, y]| colour(code(4, [x, y, z])))?;
                let operator = if z % 2 == 0 { Operator::Over } else { rounding.clone() };
                world.composite(layer.at(..), sum.at(..), operator)?;
                world.composite(layers.at((.., .., z)), layers.at((.., .., (z + 1) % 6)), rounding.clone())?;
            }
            let tickets = (world.get(sum.at(..))?, world.get(layers.at(..))?);
            let mut fetched = world.fence()?;
            let (sum, layers) = (fetched.redeem(tickets.0)?, fetched.redeem(tickets.1)?);
            observed.lock().unwrap().insert(sum.into_iter().chain(layers).flatten().map(f32::to_bits).collect());
        }
        Ok(())
    });
    assert_eq!(observed.into_inner().unwrap().len(), 1, "results differ between cuts or numbers of ranks");
}

#[test]
fn rearranged_layers_are_blended_in_their_new_order() {
    ranks(RANKS, |world| {
        let layers = 2 * world.size();
        let layout = Layout::new([5, 3, layers as i64]).split([Split::Whole, Split::Whole, Split::Even(layers)]);
        let images = world.array::<f32, 3>("images", &layout)?;
        images.fill_with(exact_of)?;
        let order: Vec<usize> = (0..layers).map(|layer| (layer * (layers - 1) + 1) % layers).collect();
        let ordered = images.reassigned(&order)?;
        let sum = world.array::<f32, 3>("sum", &Layout::new([5, 3, 1]))?;
        // The halved destination reveals the order. Values of 4 bits and at most 16 layers are
        // exact.
        let fold = Operator::custom("fold", "fn combine(src: T, dst: T) -> T { return 0.5 * dst + src; }");
        for layer in 0..layers as i64 {
            world.composite(ordered.at((.., .., layer)), sum.at(..), fold.clone())?;
        }
        expect_whole(world, &sum, &"folded", |[x, y, _]| {
            order.iter().fold(0.0, |sum, &layer| 0.5 * sum + exact_of([x, y, layer as i64]))
        })
    });
}

fn exact_of(at: [i64; 3]) -> f32 {
    (code(5, at) % 16) as f32
}

#[test]
fn source_may_change_after_composite_has_started() {
    ranks(RANKS, |world| {
        for cut in cuts([11, 8], world.size()) {
            let source = cut.array::<i32, 2>(world, "source")?;
            let sum = world.array::<i32, 2>("sum", &Layout::new([11, 8]).split([Split::Even(2), Split::Even(2)]))?;
            fill(&source, 6)?;
            fill(&sum, 7)?;
            let pending = world.start(Exchange::new().composite(source.at(..), sum.at(..), Operator::Add))?;
            fill(&source, 8)?;
            pending.wait()?;
            world.composite(source.at((0..0, ..)), sum.at((3..3, ..)), Operator::Add)?;
            expect(&sum, &cut.name, |at| i32::of(code(6, at)).wrapping_add(i32::of(code(7, at))))?;
        }
        Ok(())
    });
}

#[test]
fn unsupported_operator_returns_same_error_on_all_ranks() {
    ranks(RANKS, |world| {
        let layout = Layout::new([4, 6]).split([Split::Whole, Split::Even(3)]);
        let (scalars, hits) = (world.array::<f32, 2>("scalars", &layout)?, world.array::<Hit, 2>("hits", &layout)?);
        let on_scalars =
            |operator| world.composite(scalars.at(..), scalars.at(..), operator).unwrap_err().kind().to_string();
        let on_hits = |operator| world.composite(hits.at(..), hits.at(..), operator).unwrap_err().kind().to_string();
        let own = |text: &str| Operator::custom("own", text);
        let messages = [
            on_scalars(Operator::Over),
            on_hits(Operator::Add),
            on_scalars(own("fn combine(src: T, dst: T) -> T {\n    return src +* dst;\n}")),
            on_scalars(own("const k = 2.0;\n\nfn combine(src: T, dst: T) -> T {\n    return missing(src, dst);\n}")),
            on_scalars(own("fn combine(src: T) -> T { return src; }")),
            on_scalars(own("fn merge(src: T, dst: T) -> T { return src; }")),
            on_hits(own("fn combine(src: T, dst: T) -> T {\n    return src.depht;\n}")),
        ];
        insta::allow_duplicates! {
            insta::assert_snapshot!(messages.join("\n"), @"
            operator over cannot combine elements of type f32: it needs red, green, blue and opacity, premultiplied: vec4<f32>, or u32 with 8 bits of each
            operator add cannot combine elements of type Hit: it works on scalars, vectors and packed integers; write an Operator::custom for records
            operator own, line 2, column 17: the operand of the `*` operator must be a pointer
            operator own, line 4, column 12: no definition in scope for identifier: `missing`
            operator own, line 1, column 1: Function [1] 'zippy_combine_cell' is invalid: Call to [0] is invalid: Requires 1 arguments, but 2 are provided (it must declare fn combine(src: T, dst: T) -> T)
            operator own, line 1, column 1: no definition in scope for identifier: `combine` (it must declare fn combine(src: T, dst: T) -> T)
            operator own, line 2, column 16: invalid field accessor `depht`
            ");
        }
        // No cell has changed, and the world is usable.
        fill(&scalars, 9)?;
        world.composite(
            scalars.at((.., 0..3)),
            scalars.at((.., 3..6)),
            own("fn combine(s: T, d: T) -> T { return s; }"),
        )?;
        expect(&scalars, &"after mistakes", |[x, y]| f32::of(code(9, [x, y % 3])))
    });
}
