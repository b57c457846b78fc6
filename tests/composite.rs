//! Composite on 1, 2, 3, 5 and 8 ranks: integers against a plain array, floats the same bits as on one rank.

mod support;

use support::RANKS;
use zippy::{Layout, Operator, Result, Split, World};

fn value(n: i64) -> i32 {
    ((n * 7919) % 1000 - 500) as i32
}

#[test]
fn integer_operators_match_the_definition() {
    support::ranks(RANKS, |world: &World| {
        let cases: [(Operator, fn(i32, i32) -> i32); 3] =
            [(Operator::Add, |s, d| s + d), (Operator::Min, i32::min), (Operator::Max, i32::max)];
        for (operator, apply) in cases {
            let slabs = Layout::new([12, 9]).split([Split::Whole, Split::Even(world.size())]);
            let blocks = Layout::new([12, 9]).split([Split::Even(3), Split::Even(2)]).ghost([1, 1]);
            let source = world.array::<i32, 2>("source", &slabs)?;
            let destination = world.array::<i32, 2>("destination", &blocks)?;
            source.fill_with(|[x, y]| value(x + 12 * y))?;
            destination.fill_with(|[x, y]| value(x * 31 + y))?;
            world.composite(source.at((2..11, 1..8)), destination.at((0..9, 2..9)), operator.clone())?;
            for chunk in destination.chunks() {
                for (p, cell) in chunk.region().points().zip(chunk.all().read()?) {
                    let (x, y) = (p[0], p[1]);
                    let own = value(x * 31 + y);
                    let inside = x < 9 && y >= 2;
                    let expected = if inside { apply(value(x + 2 + 12 * (y - 1)), own) } else { own };
                    assert_eq!(cell, expected, "{operator:?} at {p:?}");
                }
            }
        }
        Ok(())
    });
}

/// What the composite of two float arrays is, cell by cell, on this decomposition.
fn blended(world: &World, split: [Split; 2], operator: Operator) -> Result<Vec<u32>> {
    let layout = Layout::new([19, 11]).split(split);
    let front = world.array::<[f32; 4], 2>("front", &layout)?;
    let back = world.array::<[f32; 4], 2>("back", &Layout::new([19, 11]).split([Split::Even(world.size()), Split::Whole]))?;
    let pixel = |n: i64| {
        let alpha = ((n * 37) % 101) as f32 / 101.0;
        [0.3 * alpha, (n as f32).sin().abs() * alpha, 0.77 * alpha, alpha]
    };
    front.fill_with(|[x, y]| pixel(x + 19 * y))?;
    back.fill_with(|[x, y]| pixel(1000 + x * 11 + y))?;
    world.composite(front.at((.., 0..10)), back.at((.., 1..11)), operator)?;
    let ticket = world.get(back.at(..))?;
    let cells = world.fence()?.redeem(ticket)?;
    Ok(cells.into_iter().flatten().map(f32::to_bits).collect())
}

#[test]
fn floats_are_the_same_bits_for_every_decomposition() {
    let own = Operator::custom("screen", "fn combine(src: T, dst: T) -> T { return src + dst - src * dst * 0.7; }");
    for operator in [Operator::Over, Operator::Add, own.clone()] {
        let single = zippy::run_with(zippy::Config::apart(1), |world| {
            blended(world, [Split::Whole, Split::Whole], operator.clone())
        });
        support::ranks(RANKS, |world: &World| {
            let many = blended(world, [Split::Even(2), Split::Even(world.size())], operator.clone())?;
            let again = blended(world, [[5, 0, 14].into(), Split::Even(3)], operator.clone())?;
            assert_eq!(many, again, "{operator:?}");
            if let Ok(single) = &single {
                assert_eq!(many, single[0], "{operator:?}");
            }
            Ok(())
        });
    }
}

#[test]
fn overlapping_composites_read_before_they_write() {
    support::ranks(RANKS, |world: &World| {
        let array = world.array::<i32, 1>("array", &Layout::new([50]).split([Split::Even(2 * world.size())]))?;
        array.fill_with(|[x]| value(x))?;
        world.composite(array.at([0..45]), array.at([5..50]), Operator::Add)?;
        let ticket = world.get(array.at(..))?;
        let cells = world.fence()?.redeem(ticket)?;
        for (x, cell) in cells.into_iter().enumerate() {
            let x = x as i64;
            assert_eq!(cell, if x < 5 { value(x) } else { value(x) + value(x - 5) }, "at {x}");
        }
        Ok(())
    });
}

#[test]
fn packed_elements_saturate() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([21, 4]).split([Split::Even(world.size()), Split::Even(2)]);
        let a = world.array::<u8, 2>("a", &layout)?;
        let b = world.array::<u8, 2>("b", &layout)?;
        a.fill_with(|[x, y]| (x * 11 + y) as u8)?;
        b.fill_with(|[x, y]| (y * 50 + x) as u8)?;
        world.composite(a.at((1..20, ..)), b.at((2..21, ..)), Operator::Add)?;
        for chunk in b.chunks() {
            for (p, cell) in chunk.region().points().zip(chunk.all().read()?) {
                let (x, y) = (p[0], p[1]);
                let own = (y * 50 + x) as u8;
                let expected = if x >= 2 { own.saturating_add(((x - 1) * 11 + y) as u8) } else { own };
                assert_eq!(cell, expected, "at {p:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn operators_that_do_not_fit_are_refused_alike() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([8]).split([Split::Even(world.size())]);
        let array = world.array::<f32, 1>("array", &layout)?;
        let wrong = world.composite(array.at([0..4]), array.at([4..8]), Operator::Over).unwrap_err();
        assert!(wrong.to_string().contains("vec4<f32>"), "{wrong}");
        let broken = Operator::custom("broken", "fn combine(src: T, dst: T) -> T { return src + ; }");
        let wrong = world.composite(array.at([0..4]), array.at([4..8]), broken).unwrap_err();
        assert!(wrong.to_string().contains("broken"), "{wrong}");
        world.composite(array.at([0..4]), array.at([4..8]), Operator::Add)?;
        Ok(())
    });
}

support::under_mpi!();
