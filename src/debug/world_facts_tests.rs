//! Conditions on arrays, compared with plain loops.
use zippy_protocol::Condition;

use super::world_facts;
use crate::error::Result;
use crate::world::hash;
use crate::{Config, Element, Layout, Split, World, run_with};

#[derive(Clone, Copy, zippy_derive::Element)]
#[repr(C)]
struct Inner {
    speed: [f32; 2],
    kind: u32,
    _pad: u32,
}

#[derive(Clone, Copy, zippy_derive::Element)]
#[repr(C)]
struct Particle {
    place: [f32; 3],
    mass: f32,
    inner: Inner,
}

fn evaluate(world: &World, text: &str) -> Result<Result<bool, String>> {
    let condition: Condition = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    world.collective("condition", hash(text), || world_facts::evaluate_condition(&condition, world))
}

fn holds(world: &World, text: &str) -> Result<bool> {
    Ok(evaluate(world, text)?.unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn on_ranks(check: bool, program: impl Fn(&World) -> Result<()> + Send + Sync) {
    for ranks in [1, 2, 3] {
        let config = Config::apart(ranks).check(check);
        run_with(config, &program).unwrap_or_else(|error| panic!("on {ranks} ranks: {error}"));
    }
}

fn layout(ranks: usize) -> Layout {
    Layout::new([11, 6]).ghost([1, 1]).split([Split::Sizes(vec![4, 0, 7]), Split::Even(ranks)])
}

/// Checks that each function equals a plain loop exactly: `==` holds for the loop's result, and for
/// neither neighbour of it.
#[test]
fn functions_agree_with_a_plain_loop() {
    let number = |[x, y]: [i64; 2]| match x + 11 * y {
        17 | 40 => f32::NAN,
        23 => f32::NEG_INFINITY,
        at => (at * 37 % 101) as f32 / 4.0 - 9.0,
    };
    let particle = |[x, y]: [i64; 2]| Particle {
        place: [number([x, y]), x as f32 + 0.5, if x == 3 && y == 4 { f32::INFINITY } else { -2.0 - y as f32 }],
        mass: if y == 5 { f32::NAN } else { 1.0 + x as f32 },
        inner: Inner { speed: [-0.25 * x as f32, 7.5], kind: (x * y) as u32, _pad: 0 },
    };
    on_ranks(false, |world| {
        let layout = &layout(world.size());
        let f = world.array::<f32, 2>("f", layout)?;
        f.fill(f32::NAN)?;
        f.fill_with(number)?;
        let particles = world.array::<Particle, 2>("my particles", layout)?;
        particles.fill_with(particle)?;
        let bytes = world.array::<u8, 2>("bytes", layout)?;
        bytes.fill_with(|[x, y]| (200 + x - 9 * y) as u8)?;
        let all: Vec<[i64; 2]> = (0..6).flat_map(|y| (0..11).map(move |x| [x, y])).collect();
        let none_is_nan = |value: &f64| !value.is_nan();
        let check = |numbers: &str, values: Vec<f64>| -> Result<()> {
            let nans = values.iter().filter(|value| value.is_nan()).count() as f64;
            let infinities = values.iter().filter(|value| value.is_infinite()).count() as f64;
            let min = values.iter().copied().filter(none_is_nan).reduce(f64::min).unwrap();
            let max = values.iter().copied().filter(none_is_nan).reduce(f64::max).unwrap();
            let magnitudes = || values.iter().copied().filter(none_is_nan).map(f64::abs);
            let (least, most) = (magnitudes().reduce(f64::min).unwrap(), magnitudes().reduce(f64::max).unwrap());
            let mut found = vec![
                (format!("nan({numbers})"), nans),
                (format!("nan(abs({numbers}))"), nans),
                (format!("inf({numbers})"), infinities),
                (format!("min({numbers})"), min),
                (format!("max({numbers})"), max),
                (format!("min(abs({numbers}))"), least),
                (format!("max(abs({numbers}))"), most),
            ];
            let sum: f64 = values.iter().sum();
            if sum.is_finite() {
                // The sum of quarters and halves is exact in every order.
                found.push((format!("sum({numbers})"), sum));
            }
            for (call, value) in found {
                assert!(holds(world, &format!("{call} == {value:?}"))?, "{call} is not {value}");
                for (relation, right) in [("!=", false), (">=", true), ("<=", true), (">", false), ("<", false)] {
                    assert_eq!(
                        holds(world, &format!("{call} {relation} {value:?}"))?,
                        right,
                        "{call} {relation} {value}"
                    );
                }
                let (more, less) = (format!("{call} > {:?}", value - 0.125), format!("{call} < {:?}", value + 0.125));
                assert_eq!([holds(world, &more)?, holds(world, &less)?], [value.is_finite(); 2], "{more}, {less}");
            }
            Ok(())
        };
        let each = |select: &dyn Fn(Particle) -> Vec<f32>| -> Vec<f64> {
            all.iter().flat_map(|&at| select(particle(at))).map(f64::from).collect()
        };
        check("f", all.iter().map(|&at| number(at).into()).collect())?;
        check("bytes", all.iter().map(|[x, y]| (200 + x - 9 * y) as f64).collect())?;
        check("\"my particles\".place", each(&|particle| particle.place.to_vec()))?;
        check("\"my particles\".place.x", each(&|particle| vec![particle.place[0]]))?;
        check("\"my particles\".place.1", each(&|particle| vec![particle.place[1]]))?;
        check("\"my particles\".place.z", each(&|particle| vec![particle.place[2]]))?;
        check("\"my particles\".mass", each(&|particle| vec![particle.mass]))?;
        check("\"my particles\".inner.speed", each(&|particle| particle.inner.speed.to_vec()))?;
        check("\"my particles\".inner.kind", each(&|particle| vec![particle.inner.kind as f32]))?;
        check("\"my particles\".\"inner.speed\".y", each(&|particle| vec![particle.inner.speed[1]]))?;
        // All members together.
        assert!(holds(world, "nan(\"my particles\") == 13 and inf(\"my particles\") == 2")?);
        assert!(holds(world, "nan(\"my particles\".inner) == 0")?);
        Ok(())
    });
}

#[test]
fn conditions_with_and_or_are_evaluated() {
    on_ranks(false, |world| {
        let layout = &layout(world.size());
        let [a, b] = ["a", "b"].map(|name| world.array::<[f32; 2], 2>(name, layout));
        let (a, b) = (a?, b?);
        a.fill([1.0, -3.0])?;
        b.fill([1.0, -3.0])?;
        let (yes, no) = ("max(abs(a)) > 2.5", "max(a) > 2.5");
        for (text, right) in [
            ("a == b".to_string(), true),
            ("a != b".to_string(), false),
            (format!("{yes} and {no}"), false),
            (format!("{no} or {yes}"), true),
            (format!("{yes} or {yes} and {no}"), true),
            (format!("{no} and {yes} or {no}"), false),
            (format!("{no} and {no} or {yes} and {yes}"), true),
        ] {
            assert_eq!(holds(world, &text)?, right, "{text}");
        }
        // Changes one bit of one cell.
        b.at((10, 5)).fill([1.0, -3.0000002])?;
        assert!(holds(world, "a != b and max(abs(b.x)) == 1")?);
        assert!(!holds(world, "b == a or a != a")?);
        // Without a smallest number, every comparison is false.
        let _none = world.array::<f32, 2>("none", &Layout::new([0, 3]))?;
        a.fill([f32::NAN; 2])?;
        for numbers in ["none", "a", "abs(a)"] {
            for relation in [">", "<=", "!="] {
                assert!(!holds(world, &format!("min({numbers}) {relation} 0"))?);
                assert!(!holds(world, &format!("max({numbers}) {relation} 0"))?);
            }
        }
        assert!(holds(world, "nan(a) == 132 and nan(none) == 0 and sum(none) == 0")?);
        Ok(())
    });
}

#[test]
fn large_integers_are_compared_with_their_rounded_value() {
    on_ranks(false, |world| {
        if u64::INFO.supported_by(world.gpu().features(), "").is_err() {
            return Ok(());
        }
        let ids = world.array::<u64, 2>("ids", &layout(world.size()))?;
        ids.fill_with(|[x, y]| (1 << 62) + (x + 11 * y) as u64)?;
        assert!(holds(world, "min(ids) == 4611686018427387904 and max(ids) < 4.7e18")?);
        let change = world.array::<i64, 2>("change", &layout(world.size()))?;
        change.fill_with(|[x, y]| if x == 4 { i64::MIN } else { x - y })?;
        assert!(holds(world, "max(abs(change)) == 9223372036854775808 and min(abs(change)) == 0")?);
        // Column 4 has six times the smallest number.
        let sum = (6 * i128::from(i64::MIN)
            + (0..6)
                .flat_map(|y| (0..11).map(move |x| (x, y)))
                .filter(|(x, _)| *x != 4)
                .map(|(x, y)| i128::from(x - y))
                .sum::<i128>()) as f64;
        assert!(holds(world, &format!("sum(change) == {sum:?}"))?);
        Ok(())
    });
}

#[test]
fn unresolvable_conditions_are_refused() {
    on_ranks(false, |world| {
        let layout = layout(world.size());
        let f = world.array::<f32, 2>("f", &layout)?;
        let _u = world.array::<[f32; 2], 2>("u", &layout)?;
        let _particles = world.array::<Particle, 1>("p", &Layout::new([8]))?;
        let cases = [
            ("nan(g) > 0", "there is no global array \"g\" at this point; there are \"f\", \"p\", \"u\""),
            ("f != g", "there is no global array \"g\" at this point; there are \"f\", \"p\", \"u\""),
            // Although the result would not depend on `g`.
            (
                "nan(f) == 0 or nan(g) > 0",
                "there is no global array \"g\" at this point; there are \"f\", \"p\", \"u\"",
            ),
            ("f != u", "array \"f\" is of f32 and array \"u\" is of vec2<f32>; only arrays of one type are compared"),
            ("nan(f.x) > 0", "array \"f\" is of f32, which has neither members nor components: use the name alone"),
            ("nan(u.z) > 0", "array \"u\" is of vec2<f32>, which has the components \"x\", \"y\""),
            ("nan(u.2) > 0", "array \"u\" is of vec2<f32>, which has the components \"x\", \"y\""),
            (
                "nan(p.speed) > 0",
                "array \"p\" is of Particle, which has no \"speed\"; it has \"place\", \"mass\", \"inner.speed\", \
                 \"inner.kind\", \"inner._pad\", and vectors have components, as in place.x",
            ),
            (
                "nan(p.mass.y) > 0",
                "array \"p\" is of Particle, which has no \"mass.y\"; it has \"place\", \"mass\", \
                 \"inner.speed\", \"inner.kind\", \"inner._pad\", and vectors have components, as in place.x",
            ),
            (
                "max(p.inner) > 0",
                "max(p.inner) needs one of the members of its records: \"inner.speed\", \"inner.kind\", \"inner._pad\"",
            ),
            ("stale(f) > 0", "stale(f) is known in checked runs only: set ZIPPY_CHECK=1"),
        ];
        for (text, error) in cases {
            assert_eq!(evaluate(world, text)?, Err(error.to_string()), "{text}");
        }
        if world.size() > 1 {
            let _across = world
                .array::<f32, 2>("across", &Layout::new([11, 6]).split([Split::Even(world.size()), Split::Whole]))?;
            let error = evaluate(world, "f == across")?.unwrap_err();
            assert!(error.contains("copy one of the sections"), "{error}");
        }
        // One rank keeps the array: all ranks report the error.
        let kept = (world.rank() == 0).then(|| f.clone());
        drop(f);
        let error = evaluate(world, "nan(f) > 0")?;
        if world.size() > 1 {
            let right = "`nan(f) > 0.0` names an array that is alive on some ranks only: let go of it on all of them";
            assert_eq!(error, Err(right.to_string()));
        }
        drop(kept);
        assert!(evaluate(world, "nan(f) > 0")?.unwrap_err().contains("no global array \"f\""));
        Ok(())
    });
}

#[test]
fn stale_and_unfilled_conditions_count_chunk_sides() {
    on_ranks(true, |world| {
        let layout = Layout::new([8]).split([Split::Even(4)]).ghost([1]);
        let line = world.array::<f32, 1>("line", &layout)?;
        let _plain = world.array::<f32, 1>("plain", &Layout::new([8]))?;
        line.fill(1.0)?;
        // A row of four chunks has six sides with a neighbour.
        let expect = |stale: u64, unfilled: u64| -> Result<()> {
            let text = format!("stale(line) == {stale} and unfilled(line) == {unfilled}");
            assert!(holds(world, &text)?, "{text}");
            Ok(())
        };
        world.barrier()?;
        assert!(holds(world, "stale(plain) == 0 and unfilled(plain) == 0")?);
        world.ghosts(&line)?;
        expect(0, 0)?;
        for chunk in line.chunks().filter(|chunk| chunk.id() == 2) {
            chunk.at(0..1).fill(2.0)?;
        }
        world.barrier()?;
        expect(1, 0)?;
        for chunk in line.chunks() {
            chunk.at(..).fill(3.0)?;
        }
        world.barrier()?;
        expect(6, 0)?;
        world.ghosts(&line)?;
        expect(0, 0)?;
        let fresh = world.array::<f32, 1>("fresh", &layout)?;
        assert!(holds(world, "unfilled(fresh) == 6 and stale(fresh) == 0")?);
        // A handle with other neighbours makes the states unknown.
        let _reversed = fresh.reassigned(&[3, 2, 1, 0])?;
        let error = evaluate(world, "unfilled(line) == 0 and stale(fresh) > 0")?.unwrap_err();
        assert!(error.contains("other neighbours in another handle"), "{error}");
        Ok(())
    });
}
