//! Error messages: mistake, source line and correction.

use zippy::world::{PutSource, Section};
use zippy::{ArrayOptions, Exchange, KernelSource, Layout, Operator, Result, Split, World};
use zippy_primitives::{Primitives, Vector};

use crate::support::ranks;

fn text<R>(result: Result<R>) -> String {
    let Err(error) = result.map(drop) else { panic!("no error") };
    error.kind().to_string()
}

fn field(world: &World, name: &str) -> Result<zippy::GlobalArray<f32, 2>> {
    world.array(name, &Layout::new([9, 5]).split([Split::Even(world.size()), Split::Whole]).ghost([1, 0]))
}

#[test]
fn elementwise_error_names_correct_expression() {
    ranks(&[1, 3], |world| {
        let (x, y) = (field(world, "x")?, field(world, "y")?);
        let of = |expression: &str, name: &str| {
            text(world.elementwise(expression).call().read(name, x.at(..)).write("out", y.at(..)))
        };
        let unknown = of("2.0 * X", "x");
        assert!(unknown.ends_with("`X` is unknown to the expression; did you mean `x`?"), "{unknown}");
        let unknown = of("2.0 * presure", "pressure");
        assert!(unknown.contains("`presure` is unknown") && unknown.contains("did you mean `pressure`?"), "{unknown}");
        let unused = of("1.0", "x");
        assert!(unused.ends_with("`x` is given, but the expression does not use it; leave it out"), "{unused}");
        let statement = of("if p.x > 3 { x } else { 0.0 }", "x");
        assert!(statement.contains("select(otherwise, value, condition)"), "{statement}");
        let target = text(world.elementwise("x + 1.0").call().read("x", x.at(..)).write("next", x.at(..)));
        assert!(target.contains("use the target's own name") && target.contains("`next`"), "{target}");
        // The correction in the message works.
        x.fill(2.0)?;
        world.elementwise("next + 1.0").call().write("next", x.at(..))?;
        assert_eq!(world.sum(x.at(..))?, 3.0 * 45.0);
        Ok(())
    });
}

const PARAMETERS: &str = "struct Params { rate: f32, steps: u32, shift: vec2<i32> }
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = a_position(id);
    if a_inside(p) { a_store(p, params.rate * f32(params.steps) + f32(params.shift.x - params.shift.y)); }
}";

#[test]
fn literal_converts_to_shader_type_if_exact() {
    ranks(&[1], |world| {
        let a = world.array::<f32, 1>("a", &Layout::new([3]))?;
        let kernel = world.kernel(KernelSource::text("rate.wgsl", PARAMETERS))?;
        for chunk in a.chunks() {
            let (call, cells) = (|| kernel.call().write("a", chunk.all()), chunk.all().read()?.len());
            call().param("rate", 0.25).param("steps", 4).param("shift", [7_u32, 9]).run()?;
            assert_eq!(chunk.all().read()?, vec![-1.0; cells]);
            call().param("rate", 3).param("steps", 4_usize).param("shift", [1_i64, 0]).run()?;
            assert_eq!(chunk.all().read()?, vec![13.0; cells]);
            let with = |rate: zippy::kernel::ParamValue, steps: zippy::kernel::ParamValue| {
                text(call().param("rate", rate).param("steps", steps).param("shift", [0, 0]).run())
            };
            for (rate, steps, wrong) in [
                (1e300.into(), 1.into(), "`rate` is f32, but 1e300, which it cannot hold, was given as f64"),
                (16_777_217.into(), 1.into(), "`rate` is f32, but 16777217, which it cannot hold"),
                (1.0.into(), (-1).into(), "`steps` is u32, but -1, which it cannot hold, was given as i32"),
                (1.0.into(), (1_u64 << 32).into(), "`steps` is u32, but 4294967296, which it cannot hold"),
                (1.0.into(), 2.0.into(), "`steps` is u32, but 2.0, which it cannot hold, was given as f64"),
                (1.0.into(), [1, 2].into(), "`steps` is u32, but vec2<i32> was given"),
            ] {
                let text = with(rate, steps);
                assert!(text.contains(wrong), "{text}");
            }
        }
        world.elementwise("rate * f32(p)").call().param("rate", 0.5).write("a", a.at(..))?;
        assert_eq!(world.sum(a.at(..))?, 1.5);
        Ok(())
    });
}

#[test]
fn layout_error_names_array() {
    ranks(&[1, 3], |world| {
        let layout = |extents: [i64; 2]| Layout::new(extents).split([Split::Even(world.size()), Split::Whole]);
        let owners = zippy::Ownership::balanced(2, world.size());
        let tall = world.array::<f32, 2>("tall", &layout([9, 5]))?;
        let wrong = |layout: &Layout| text(world.array::<f32, 2>("u", layout));
        for (text, expected) in
            [
                (
                    wrong(&Layout::new([9, 5]).ghost([1])),
                    "array \"u\": a ghost width was given for 1 axes, but the shape has 2",
                ),
                (
                    wrong(&Layout::new([10, 5]).split([[3, 4].into(), Split::Whole])),
                    "array \"u\": the chunk sizes on axis 0 add up to 7, but the axis has 10 cells",
                ),
                (
                    text(world.local_array::<f32, 1>("v", &Layout::new([-1]))),
                    "array \"v\": the shape on axis 0 is -1; it must",
                ),
                (
                    text(world.array::<f32, 2>(
                        "w",
                        ArrayOptions::new(&layout([9, 5]).split_all(Split::Whole)).owned_by(owners),
                    )),
                    "array \"w\": ",
                ),
                (text(tall.reassigned(&[7; 3])), "array \"tall\": "),
            ]
        {
            assert!(text.starts_with(expected), "{text}");
        }
        Ok(())
    });
}

#[test]
fn whole_array_is_accepted_as_section() {
    ranks(&[1, 3], |world| {
        let (x, y) = (field(world, "x")?, field(world, "y")?);
        x.fill(2.0)?;
        world.copy(&x, &y)?;
        world.elementwise("y + 1.0").call().write("y", &y)?;
        let whole = y.at(..);
        assert_eq!((world.sum(&y)?, world.max(&whole)?, world.sum(whole)?), (135.0, Some(3.0), 135.0));
        Ok(())
    });
}

#[test]
fn section_is_accepted_by_value_by_reference_and_as_whole_array() {
    ranks(&[1, 3], |world| {
        let line = |name: &str| world.array::<f32, 1>(name, &Layout::new([6]).split([Split::Even(world.size())]));
        let (a, b) = (line("a")?, line("b")?);
        let local = world.local_array::<f32, 1>("local", &Layout::new([6]))?;
        let values: Vec<f32> = (0..6).map(|x| x as f32).collect();
        a.fill_with(|[x]| x as f32)?;
        macro_rules! each {
            ($x:ident => $check:expr) => {{
                {
                    let $x = &a;
                    $check
                }
                {
                    let $x = a.at(..);
                    $check
                }
                {
                    let $x = &a.at(..);
                    $check
                }
            }};
        }
        let fetched = |section: zippy::array::GlobalSection<f32, 1>| {
            let ticket = world.get(section)?;
            world.fence()?.redeem(ticket)
        };
        each!(x => { b.fill(0.0)?; world.copy(x, &b)?; assert_eq!(fetched(b.at(..))?, values); });
        each!(x => { b.fill(0.0)?; world.start_copy(x, b.at(..))?.wait()?; assert_eq!(fetched(b.at(..))?, values); });
        each!(x => { b.fill(1.0)?; world.composite(x, &b, Operator::Max)?; assert_eq!(world.sum(&b)?, 16.0); });
        each!(x => {
            b.fill(1.0)?;
            world.exchange(Exchange::new().copy(x, &b).composite(&a, b.at(..), Operator::Add))?;
            assert_eq!(world.sum(&b)?, 30.0);
        });
        each!(x => { let ticket = world.get(x)?; assert_eq!(world.fence()?.redeem(ticket)?, values); });
        each!(x => { local.all().fill(0.0)?; world.get_into(x, &local)?; world.fence()?; assert_eq!(local.all().read()?, values); });
        each!(x => { world.put(&values, x)?; world.put(&local, &b)?; world.fence()?; assert_eq!(fetched(b.at(..))?, values); });
        each!(x => { world.accumulate(&[0.0; 6], x, Operator::Add)?; world.fence()?; assert_eq!(fetched(a.at(..))?, values); });
        each!(x => assert_eq!(world.argmax(x)?.map(|most| most.position), Some([5])));
        each!(x => assert_eq!(world.argmin(x)?.map(|least| least.position), Some([0])));
        each!(x => assert_eq!((world.sum(x)?, world.dot(&a, &b)?), (15.0, 55.0)));
        each!(x => { world.elementwise("x + 1.0").call().read("x", x).write("y", &b)?; assert_eq!(world.sum(&b)?, 21.0); });
        each!(x => { world.vectors().shift(x, &b, 1, 7.0)?; assert_eq!(world.sum(b.at(..))?, 7.0 + 10.0); });
        // Also in a generic function of the program that forwards its arguments.
        b.fill(0.0)?;
        world.copy(Section::from(&a), &b)?;
        assert_eq!(fetched(b.at(..))?, values);
        world.put(PutSource::Host(&[1.0; 6]), &b)?;
        world.fence()?;
        world.vectors().shift(Vector::from(&b), &a, 1, 7.0)?;
        assert_eq!(world.sum(&a)?, 12.0);
        world.vectors().shift(Vector::from(&b), &a, 1, 2.0)?;
        assert_eq!(world.sum(&a)?, 7.0);
        a.fill_with(|[x]| x as f32)?;
        let kernel = world.kernel(KernelSource::text("copy.wgsl", COPY))?;
        for (a, b) in zippy::zip_chunks((&a, &b))? {
            kernel.call().read("a", &a).write("b", &b).run()?;
            kernel.call().read("a", a.at(..)).write("b", b.at(..)).over(&b).run()?;
        }
        assert_eq!(fetched(b.at(..))?, values);
        Ok(())
    });
}

const COPY: &str = "@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = b_position(id);
    if b_inside(p) { b_store(p, a_load(p)); }
}";

#[test]
fn error_of_ticket_of_other_fence_names_section_and_line() {
    ranks(&[1, 3], |world| {
        let a = field(world, "a")?;
        let line = line!() + 1;
        let ticket = world.get(a.at((2..4, 1)))?;
        world.fence()?;
        let text = text(world.fence()?.redeem(ticket));
        assert!(text.contains("the ticket of section [2..4, 1..2] of array \"a\""), "{text}");
        assert!(text.contains(&format!("from the get at {}:{line}:", file!())), "{text}");
        assert!(text.ends_with("redeem each ticket with the fence that follows its get"), "{text}");
        Ok(())
    });
}
