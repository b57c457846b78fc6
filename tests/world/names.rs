//! User-chosen names in WGSL for arrays, in expressions and in operators: each works, or is refused
//! with its name and source position.

use zippy::error::DeviceError;
use zippy::{Element, KernelSource, Layout, Operator, Result, World};

use crate::support;

/// Names that generated text uses (without its prefix), and names of built-in functions.
const AVAILABLE_NAMES: [&str; 20] = [
    "v", "at", "bit", "i", "q", "id", "axis", "size", "mask", "word", "first", "cells", "outside", "cell", "k", "min",
    "max", "distance", "load", "x_loaded",
];

fn run<T: Element + PartialEq + std::fmt::Debug>(world: &World, text: &str, name: &str, expected: &[T]) -> Result<()> {
    let array = world.local_array::<T, 1>(name, &Layout::new([expected.len()]))?;
    world.kernel(KernelSource::text("names.wgsl", text))?.call().update(name, array.all()).run()?;
    assert_eq!(array.all().read()?, expected, "{name}");
    Ok(())
}

#[test]
fn array_may_have_name_that_helpers_use() {
    support::ranks(&[1], |world| {
        for name in AVAILABLE_NAMES.into_iter().chain(["p"]) {
            let text = |cell: &str, body: &str| {
                format!(
                    "@group(0) @binding(0) var<storage, read_write> {name}: array<{cell}>;
                     @compute @workgroup_size(64)
                     fn main(@builtin(global_invocation_id) global: vec3<u32>) {{ let here = {name}_position(global); {body} }}"
                )
            };
            let step = format!("{name}_store(here, {name}_load(here) + f32({name}_global(here)) + 0.5);");
            run::<f32>(world, &text("f32", &step), name, &[0.5, 1.5, 2.5, 3.5, 4.5])?;
            let words = format!(
                "if {name}_inside_word(here) {{ {name}_store_word(here, vec4<u32>({name}_load(here) + 7u)); }}"
            );
            run::<u8>(world, &text("u32", &words), name, &[7; 9])?;
            let cells = format!("{name}_store(here, u32({name}_linear(here).x) + 3u);");
            run::<u16>(world, &text("atomic<u32>", &cells), name, &[3, 4, 5, 6, 7])?;
        }
        Ok(())
    });
}

#[test]
fn name_in_expression_works_or_is_refused() {
    support::ranks(&[1, 2], |world| {
        let layout = Layout::new([9]).split_all(zippy::Split::Even(world.size()));
        let x = world.array::<f32, 1>("x", &layout)?;
        let bytes = world.array::<u8, 1>("bytes", &layout)?;
        x.fill(3.0)?;
        for name in AVAILABLE_NAMES {
            let add = world.elementwise(format!("{name} + 2.0"));
            add.call().read(name, x.at(..)).write("y", world.array::<f32, 1>("y", &layout)?.at(..))?;
            world
                .elementwise(format!("u32({name}) + u32(x)"))
                .call()
                .param(name, 4.0_f32)
                .read("x", x.at(..))
                .write("y", bytes.at(..))?;
            world.elementwise(format!("{name} * 2u")).call().write(name, bytes.at(..))?;
            assert_eq!(world.sum(bytes.at(..))?, 9 * 14, "{name}");
        }
        for name in [
            "p",
            "fn",
            "self",
            "__a",
            "select",
            "vec2",
            "f32",
            "zippy",
            "zippy_a",
            "x_load",
            "zippy_value",
            "1a",
            "",
            "a b",
        ] {
            let sum = world.elementwise(format!("x + {name}"));
            let wrong = [
                sum.call().read("x", x.at(..)).param(name, 1.0_f32).write("y", x.at(..)),
                sum.call().read("x", x.at(..)).read(name, x.at(..)).write("y", x.at(..)),
                world.elementwise("1.0").call().write(name, x.at(..)),
            ];
            for (i, wrong) in wrong.into_iter().enumerate() {
                match wrong {
                    // The name `x_load` alone is no helper of an array `x`.
                    Ok(()) => assert_eq!((i, name), (2, "x_load")),
                    Err(error) => {
                        let text = error.to_string();
                        assert!(
                            text.starts_with("elementwise") && text.contains(name) && !text.contains("mistake"),
                            "{text}"
                        );
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn error_in_expression_has_position_in_expression() {
    support::ranks(&[1, 2], |world| {
        let a = world.array::<f32, 1>("a", &Layout::new([8]))?;
        let b = world.array::<f32, 1>("b", &Layout::new([8]))?;
        for expression in
            ["b *", "(b", "b)", "b +\n (2.0 *\n b", "/* b", "b; 1.0", "u32(b)", "vec2(b, 1.0)", "b(1)", "// b"]
        {
            let made = world.elementwise(expression);
            let text = made.call().read("b", b.at(..)).write("a", a.at(..)).unwrap_err().to_string();
            let name = format!("elementwise {expression:?}:");
            let rest = text.strip_prefix(&name).unwrap_or_else(|| panic!("{expression}: {text}"));
            let line: usize = rest.split(':').next().unwrap_or("").parse().expect("a line");
            assert!((1..=expression.lines().count()).contains(&line), "{expression}: {text}");
            assert!(!text.contains("zippy_"), "{expression}: {text}");
        }
        for (functions, line) in [
            ("fn half(x: f32) -> f32 { return x / 2.0; }\nconst b = 1;", 2),
            ("\nfn b_load(x: f32) -> f32 { return x / 2.0; }", 2),
            ("fn select(x: f32) -> f32 { return x / 2.0; }", 1),
            ("struct zippy_Params { x: f32 }", 1),
            ("fn half(x: f32) -> f32 {\n return x / 2.0;\n", 2),
        ] {
            let made = world.elementwise("b").functions(KernelSource::text("mine.wgsl", functions));
            let text = made.call().read("b", b.at(..)).write("a", a.at(..)).unwrap_err().to_string();
            assert!(text.starts_with(&format!("mine.wgsl:{line}:")), "{functions}: {text}");
        }
        Ok(())
    });
}

#[allow(dead_code, reason = "only compiled")]
mod records {
    #[derive(zippy::Element, Clone, Copy)]
    #[repr(C)]
    pub(crate) struct T {
        pub x: f32,
    }
    #[derive(zippy::Element, Clone, Copy)]
    #[repr(C)]
    pub(crate) struct Particle {
        pub x: f32,
    }
    #[derive(zippy::Element, Clone, Copy)]
    #[repr(C)]
    pub(crate) struct Edge {
        pub from: u32,
    }
}

#[test]
fn name_in_operator_works_or_is_refused() {
    let check = |before: &str, element| {
        Operator::custom("mine", format!("{before}\nfn combine(src: T, dst: T) -> T {{ return src; }}")).check(element)
    };
    for name in AVAILABLE_NAMES
        .into_iter()
        .chain(["p", "job", "slot", "lane", "shift", "old", "result", "placed", "x", "group"])
    {
        for element in [&f32::INFO, &u8::INFO, &i16::INFO, &<[f32; 4]>::INFO, &records::Particle::INFO] {
            let result = check(&format!("fn {name}(a: f32) -> f32 {{ return a; }}"), element);
            // Only names that the surrounding kernel calls are refused.
            if name != "min" {
                result.unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
    for name in ["min", "T", "main", "bitcast", "vec3", "u32", "zippy_job", "clamp", "extractBits"] {
        match check(&format!("\nconst {name} = 1;"), &u8::INFO) {
            Err(DeviceError::OperatorSource { line: 2, column: 7, message, .. }) => assert!(message.contains(name)),
            other => panic!("{name}: {other:?}"),
        }
    }
    match check("struct Particle { x: f32 }", &records::Particle::INFO) {
        Err(DeviceError::OperatorSource { line: 1, column: 8, message, .. }) => assert!(message.contains("Rust")),
        other => panic!("{other:?}"),
    }
    for (element, name) in [(&records::T::INFO, "`T`"), (&records::Edge::INFO, "`from`")] {
        match check("", element) {
            Err(DeviceError::Operator { message, .. }) => assert!(message.contains(name), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}
