//! Fills and elementwise expressions, compared with plain loops on the host.

use std::ops::Range;

use zippy::{Element, GlobalArray, KernelSource, Layout, Result, Split, World};

use crate::support;

/// Value of a position that is exact in every element type.
fn position_code(p: &[i64]) -> i64 {
    p.iter().rev().fold(0, |n, &x| n * 7 + x) % 101
}

/// Gathers all cells of an array with their positions, on every rank.
fn gather_cells<T: Element, const D: usize>(world: &World, array: &GlobalArray<T, D>) -> Result<Vec<([i64; D], T)>> {
    let ticket = world.get(array.at(..))?;
    let values = world.fence()?.redeem(ticket)?;
    let points = zippy::region::Region::new(&[0; D], &array.shape())?;
    Ok(points.points().map(|p| std::array::from_fn(|axis| p[axis])).zip(values).collect())
}

fn is_inside<const D: usize>(p: &[i64; D], section: &[Range<i64>; D]) -> bool {
    p.iter().zip(section).all(|(x, range)| range.contains(x))
}

/// Layouts of a plane; the last one has as many chunks as ranks.
fn layouts(shape: [i64; 2], ranks: usize) -> Vec<Layout> {
    vec![
        Layout::new(shape),
        Layout::new(shape).split([Split::Even(3), Split::Even(2)]).ghost([1, 2]),
        Layout::new(shape).split([Split::Whole, Split::Even(ranks)]).ghost_sides([(0, 1), (3, 0)]),
    ]
}

#[test]
fn fill_changes_only_cells_of_its_section() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(world: &World, [a, b]: [T; 2]) -> Result<()> {
        if T::INFO.supported_by(world.gpu().features(), "").is_err() {
            return Ok(());
        }
        for layout in layouts([29, 11], world.size()) {
            let array = world.array::<T, 2>("a", &layout)?;
            array.fill(a)?;
            for chunk in array.chunks() {
                let all = chunk.with_ghosts().read()?;
                assert!(all.iter().all(|v| *v == a), "ghost cells are filled too");
            }
            let section = [3..22, 1..10];
            array.at(section.clone()).fill(b)?;
            array.at((5..5, ..)).fill(b)?;
            for (p, value) in gather_cells(world, &array)? {
                assert_eq!(value, if is_inside(&p, &section) { b } else { a }, "{} at {p:?}", T::INFO.name);
            }
            for chunk in array.chunks() {
                let ghosts = chunk.with_ghosts();
                let owned = chunk.region();
                for (p, value) in ghosts.region()?.points().zip(ghosts.read()?) {
                    assert!(owned.contains(&p) || value == a, "a section has no ghost cells");
                }
            }
        }
        Ok(())
    }
    support::ranks(support::RANKS, |world| {
        check(world, [1.5_f32, -0.25])?;
        check(world, [0x17_u8, 0xfe])?;
        check(world, [-3_i16, 0x1234])?;
        check(world, [[1_u32, 2, 3, 4], [5, 6, 7, 8]])?;
        check(world, [1.0e300_f64, -2.0])
    });
}

#[test]
fn expression_of_position_is_evaluated_in_any_number_of_axes() {
    fn check<const D: usize>(world: &World, shape: [i64; D], expression: &str) -> Result<()> {
        let section: [Range<i64>; D] = std::array::from_fn(|axis| i64::from(axis % 2 == 0)..shape[axis]);
        let split = if D > 4 { 1 } else { 2 };
        let layout = Layout::new(shape).split_all(Split::Even(split)).ghost([1; D]);
        let array = world.array::<i32, D>("a", &layout)?;
        array.fill(-1)?;
        world.elementwise(expression).call().write("a", array.at(section.clone()))?;
        for (p, value) in gather_cells(world, &array)? {
            assert_eq!(
                i64::from(value),
                if is_inside(&p, &section) { position_code(&p) } else { -1 },
                "{p:?} of {shape:?}"
            );
        }
        Ok(())
    }
    support::ranks(&[1, 3], |world| {
        check(world, [500], "p % 101")?;
        check(world, [40, 9], "(p.x + 7 * p.y) % 101")?;
        check(world, [9, 8, 7], "(p.x + 7 * (p.y + 7 * p.z)) % 101")?;
        check(world, [5, 4, 3, 4], "(p.x + 7 * (p.y + 7 * (p.z + 7 * p.w))) % 101")?;
        check(world, [3, 4, 3, 2, 3], "(p[0] + 7 * (p[1] + 7 * (p[2] + 7 * (p[3] + 7 * p[4])))) % 101")?;
        let seven = "(p[0] + 7 * (p[1] + 7 * (p[2] + 7 * (p[3] + 7 * (p[4] + 7 * (p[5] + 7 * p[6])))))) % 101";
        check(world, [3, 2, 3, 2, 2, 3, 2], seven)
    });
}

#[test]
fn expression_of_shifted_sections_equals_plain_loop() {
    support::ranks(support::RANKS, |world| {
        for layout in layouts([33, 14], world.size()) {
            let (x, y) = (world.array::<f32, 2>("x", &layout)?, world.array::<f32, 2>("y", &layout)?);
            x.fill_with(|p| position_code(&p) as f32)?;
            y.fill_with(|p| 1000.0 + position_code(&[p[1], p[0]]) as f32)?;
            let axpy = world.elementwise("a * x + y");
            let section = [2..31, 3..14];
            for a in [0.5_f32, -3.0] {
                let call = axpy.call().read("x", x.at(section.clone())).param("a", a);
                call.write("y", y.at(section.clone()))?;
            }
            for (p, value) in gather_cells(world, &y)? {
                let x = if is_inside(&p, &section) { position_code(&p) as f32 } else { 0.0 };
                assert_eq!(value, 1000.0 + position_code(&[p[1], p[0]]) as f32 - 2.5 * x, "{p:?}");
            }
            // On one rank, corresponding cells may have different offsets in their chunks.
            if world.size() == 1 {
                let call = world.elementwise("x + 0.5");
                call.call().read("x", x.at((0..20, 0..9))).write("y", y.at((13..33, 5..14)))?;
                for (p, value) in gather_cells(world, &y)?.into_iter().filter(|(p, _)| p[0] >= 13 && p[1] >= 5) {
                    assert_eq!(value, position_code(&[p[0] - 13, p[1] - 5]) as f32 + 0.5, "{p:?}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn expression_of_different_types_keeps_neighbouring_small_cells() {
    support::ranks(&[1, 2, 3], |world| {
        for layout in layouts([30, 9], world.size()) {
            let bytes = world.array::<u8, 2>("bytes", &layout)?;
            let shorts = world.array::<i16, 2>("shorts", &layout)?;
            let pairs = world.array::<[f32; 2], 2>("pairs", &layout)?;
            bytes.fill_with(|p| 100 + position_code(&p) as u8)?;
            shorts.fill_with(|p| -(position_code(&p) as i16) * 300)?;
            let section = [3..28, 1..8];
            let both = world.elementwise("vec2<f32>(f32(b) * 0.5, f32(s))");
            let call = both.call().read("b", bytes.at(section.clone())).read("s", shorts.at(section.clone()));
            call.write("q", pairs.at(section.clone()))?;
            for (p, value) in gather_cells(world, &pairs)? {
                let n = position_code(&p) as f32;
                assert_eq!(
                    value,
                    if is_inside(&p, &section) { [50.0 + n * 0.5, n * -300.0] } else { [0.0; 2] },
                    "{p:?}"
                );
            }
            // Written bytes and shorts share words at the ends of the section with other cells.
            let odd = [5..26, 0..9];
            world.elementwise("b + u32(i32(n) - p.x)").call().param("n", 40.0_f32).write("b", bytes.at(odd.clone()))?;
            world.elementwise("-s / 2").call().write("s", shorts.at(odd.clone()))?;
            for (p, value) in gather_cells(world, &bytes)? {
                let before = 100 + position_code(&p);
                assert_eq!(
                    i64::from(value),
                    if is_inside(&p, &odd) { (before + 40 - p[0]) & 255 } else { before },
                    "{p:?}"
                );
            }
            for (p, value) in gather_cells(world, &shorts)? {
                let n = position_code(&p) * 300;
                assert_eq!(i64::from(value), if is_inside(&p, &odd) { n / 2 } else { -n }, "{p:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn expression_writes_local_sections_and_ghost_cells() {
    support::ranks(&[1, 3], |world| {
        let rank = world.rank() as i32;
        let mine = world.local_array::<i32, 1>("mine", &Layout::new([5 + i64::from(rank)]).ghost([2]))?;
        let twice = world.local_array::<i32, 1>("twice", &Layout::new([9 + i64::from(rank)]))?;
        mine.with_ghosts().fill_with(|[x]| x as i32 + 100 * rank)?;
        world.elementwise("2 * m").call().read("m", mine.with_ghosts()).write("t", twice.all())?;
        let expected: Vec<i32> = (-2..7 + rank).map(|x| 2 * (x + 100 * rank)).collect();
        assert_eq!(twice.all().read()?, expected);
        let array = world.array::<i32, 1>("a", &Layout::new([9]).split([Split::Even(3)]).ghost([1]))?;
        for chunk in array.chunks() {
            world.elementwise("10 * p").call().write("a", chunk.with_ghosts())?;
            let start = chunk.region().start[0] as i32;
            let all: Vec<i32> = (start - 1..start + 4).map(|x| 10 * x).collect();
            assert_eq!(chunk.with_ghosts().read()?, all);
        }
        Ok(())
    });
}

#[test]
fn invalid_expression_error_has_name_and_position() {
    support::ranks(&[1, 2], |world| {
        let layout = Layout::new([8]).split([Split::Even(2)]);
        let (a, b) = (world.array::<f32, 1>("a", &layout)?, world.array::<f32, 1>("b", &layout)?);
        let text = |result: Result<()>| result.unwrap_err().to_string();
        let with =
            |expression: &str| text(world.elementwise(expression).call().read("b", b.at(..)).write("a", a.at(..)));
        let error = with("b +\n 2.0 * bb");
        assert!(
            error.starts_with("elementwise \"b +\\n 2.0 * bb\":2:8:") && error.contains("2 |  2.0 * bb"),
            "{error}"
        );
        assert!(with("b + 1u").contains(":1:"), "{}", with("b + 1u"));
        assert!(with("1.0").contains("`b` is given, but the expression does not use it"));
        assert!(text(world.elementwise("b").call().write("a", a.at(..))).contains('b'));
        let twice = world.elementwise("a").call().read("a", b.at(..)).write("a", a.at(..));
        assert!(text(twice).contains("given twice"));
        let taken = world.elementwise("p").call().read("p", b.at(..)).write("a", a.at(..));
        assert!(text(taken).contains("is taken"));
        assert!(text(world.elementwise("1.0").call().write("a b", a.at(..))).contains("is not a name in WGSL"));
        let short = world.elementwise("b").call().read("b", b.at(0..3)).write("a", a.at(..));
        assert!(text(short).contains("must agree"));
        let outside = world.elementwise("b").call().read("b", b.at(3..9)).write("a", a.at(..));
        assert!(text(outside).contains("array \"b\""));
        let functions = "fn twice(x: f32) -> f32 {\n  return 2.0 * x;\n}\nfn broken() -> f32 { return 1u; }\n";
        let source = KernelSource::text("mine.wgsl", functions);
        let broken = world.elementwise("twice(b)").functions(&source);
        let error = text(broken.call().read("b", b.at(..)).write("a", a.at(..)));
        assert!(error.starts_with("mine.wgsl:4:"), "{error}");
        let error = text(
            world
                .elementwise("twice(c)")
                .functions(KernelSource::text("mine.wgsl", &functions[..functions.len() / 2]))
                .call()
                .write("a", a.at(..)),
        );
        assert!(!error.is_empty());

        // Sections of one chunk with two names, one of them written.
        let same = world.elementwise("b").call().read("b", a.at(..)).write("a", a.at(..));
        if a.chunks().next().is_some() {
            assert!(text(same).contains("use the target's own name"));
        }
        let cut = world.array::<f32, 1>("cut", &Layout::new([8]).split([vec![1, 7].into()]))?;
        cut.fill_with(|[x]| x as f32)?;
        let apart = world.elementwise("c").call().read("c", cut.at(..)).write("a", a.at(..));
        if world.size() == 1 {
            apart?;
            assert_eq!(
                gather_cells(world, &a)?.iter().map(|(_, v)| *v).collect::<Vec<_>>(),
                (0..8).map(|x| x as f32).collect::<Vec<_>>()
            );
        } else {
            assert!(text(apart).contains("copy one of the sections"));
        }
        Ok(())
    });
}

#[test]
fn expression_calls_custom_function() {
    let functions = "const HALF = 0.5;\nfn wave(p: vec2<i32>) -> f32 {\n  return HALF * f32(p.x * p.y);\n}\n";
    support::ranks(&[1, 2], |world| {
        let array = world.array::<f32, 2>("a", &Layout::new([12, 10]).split([Split::Whole, Split::Even(3)]))?;
        let wave = world.elementwise("wave(p) + shift.y").functions(KernelSource::text("wave.wgsl", functions));
        wave.call().param("shift", [1.0_f32, 0.25]).write("a", array.at(..))?;
        for ([x, y], value) in gather_cells(world, &array)? {
            assert_eq!(value, 0.5 * (x * y) as f32 + 0.25);
        }
        Ok(())
    });
}

#[test]
fn repeated_expression_allocates_nothing() {
    support::ranks(&[1, 2], |world| {
        let layout = Layout::new([64, 9]).split([Split::Even(2), Split::Even(2)]).ghost([1, 1]);
        let (x, y) = (world.array::<f32, 2>("x", &layout)?, world.array::<f32, 2>("y", &layout)?);
        let axpy = world.elementwise("a * x + y");
        let round = || -> Result<f64> {
            x.fill(1.5)?;
            y.at((1.., ..)).fill(2.0)?;
            axpy.call().read("x", x.at(..)).param("a", 2.0_f32).write("y", y.at(..))?;
            world.sum(y.at((1.., ..)))
        };
        assert_eq!(round()?, 5.0 * 63.0 * 9.0);
        round()?;
        let before = world.gpu().counters();
        for _ in 0..3 {
            assert_eq!(round()?, 5.0 * 63.0 * 9.0);
        }
        let after = world.gpu().counters();
        let made = |c: zippy::device::Counters| (c.buffers_made, c.pipelines_made, c.host_made, c.bytes_now);
        assert_eq!(made(before), made(after));
        Ok(())
    });
}

/// The first array of each kind has the same number, 1.
#[test]
fn local_array_is_distinct_from_global_array_with_its_number() {
    support::ranks(&[1], |world| {
        let global = world.array::<f32, 1>("u", &Layout::new([12]).split_all(Split::Auto))?;
        global.at(..).fill_with(|[x]| x as f32)?;
        for chunk in global.chunks() {
            let extent = chunk.region().extents()[0];
            let local = world.local_array::<f32, 1>("t", &Layout::new([extent]))?;
            world.elementwise("x * 2.0").call().read("x", chunk.all()).write("y", local.all())?;
            let start = chunk.region().start[0];
            let expected: Vec<f32> = (start..start + extent).map(|x| 2.0 * x as f32).collect();
            assert_eq!(local.all().read()?, expected);
        }
        Ok(())
    });
}
