//! Tests of the rules on planted violations.

use super::*;

fn layer_violations(files: &[(&str, &str)]) -> Vec<String> {
    let lib = ("src/lib.rs", "pub mod error;\npub use error::{Error, Result};\npub use region::Region as Box;\n");
    let all = files.iter().chain([&lib]);
    let sources: Vec<SourceFile> = all.map(|(name, text)| SourceFile::new(name, text)).collect();
    rules::layers(&sources).iter().map(Violation::to_string).collect()
}

#[test]
fn use_of_a_lower_layer_is_found_in_every_syntax() {
    for text in [
        "use crate::world::World;",
        "pub(crate) use crate::{error::Error, world::{self, World}};",
        "fn f() {\n    let w: crate::world::World;\n}",
        "#[cfg(test)]\nmod tests { use crate::world; }",
        "use super::world::World;",
        "macro_rules! m { () => { $crate::world::f() } }",
        "use crate::\n    world::World;",
    ] {
        let found = layer_violations(&[("src/region.rs", text)]);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].starts_with("src/region.rs:") && found[0].contains("`world`"), "{}", found[0]);
    }
    let nested = layer_violations(&[("src/plan/copy.rs", "\n\nuse super::super::device::Device;")]);
    assert!(nested[0].starts_with("src/plan/copy.rs:3:"), "{nested:?}");
}

#[test]
fn permitted_uses_are_not_found() {
    let files = [
        ("src/world/mod.rs", "use crate::{array::Array, Error, Result, Box};\nuse crate::world::transfer::go;"),
        ("src/plan/copy.rs", "use super::Move; use crate::plan::x; /* crate::world */\n//! [`crate::world::World`]"),
        ("src/region.rs", "const A: &str = \"crate::world\"; const B: char = '\"'; use crate::error::E; // \""),
        ("src/layout.rs", "use crate::chunks::Chunks;"),
        ("src/algorithms/mod.rs", "use std::io; use crate::world::World;"),
    ];
    assert_eq!(layer_violations(&files), Vec::<String>::new());
}

#[test]
fn cycle_in_one_layer_is_found() {
    let cycle = [("src/layout.rs", "use crate::chunks::C;"), ("src/chunks.rs", "\nuse crate::layout::L;")];
    let found = layer_violations(&cycle);
    assert!(found.len() == 1 && found[0].contains("cycle"), "{found:?}");
    let tests = [("src/layout/mod.rs", "use crate::chunks::C;"), ("src/chunks/tests.rs", "use crate::layout::L;")];
    assert_eq!(layer_violations(&tests), Vec::<String>::new());
    let upwards = layer_violations(&[("src/chunks/tests.rs", "use crate::world::World;")]);
    assert_eq!(upwards.len(), 1, "{upwards:?}");
}

#[test]
fn public_function_without_call_site_is_found() {
    let lib = "pub mod shown;\nmod hidden;\npub use hidden::{Reached, reached as other};";
    let guarded = "\n    #[track_caller]\n    pub fn right(&self) -> Result<u8> {\n        let _call = CallSite::enter();\n        f()?;\n        g()\n    }";
    let shown = format!(
        "pub struct A;\nimpl<T: Fn() -> u8> A {{{guarded}\n    pub fn a(&self) -> Result<()> {{\n        f()\n    }}\n}}"
    );
    let hidden = "pub use super::deep::Reached;\npub fn reached<F>(f: F) -> crate::Result<()>\nwhere\n    F: Fn() -> u8,\n{\n    f()\n}\npub fn not() -> Result<()> {\n    f()\n}";
    let deep = "pub struct Reached;\nimpl Reached {\n    #[track_caller]\n    pub fn b(&self) -> Result<(u8, u8)> {\n        f()?;\n        g()\n    }\n    #[track_caller]\n    pub fn to_another(&self) -> Result<()> {\n        self.c()\n    }\n    pub fn other_error(&self) -> Result<(), String> {\n        f()\n    }\n    pub(crate) fn own(&self) -> Result<()> {\n        f()\n    }\n}\nstruct A;\nimpl A {\n    pub fn of_a_private_type() -> Result<()> {\n        f()\n    }\n}";
    let files = [("lib.rs", lib), ("shown.rs", &shown), ("hidden.rs", hidden), ("deep.rs", deep)];
    let sources: Vec<SourceFile> =
        files.iter().map(|(name, text)| SourceFile::new(&format!("src/{name}"), text)).collect();
    let (count, violations) = call_sites::check(&sources);
    let found: Vec<String> = violations.iter().map(Violation::to_string).collect();
    let named = |name: &str| found.iter().filter(|line| line.contains(&format!("`{name}` is public"))).count();
    assert_eq!((count, found.len(), named("a"), named("reached"), named("b")), (5, 3, 1, 1, 1), "{found:#?}");
}

#[test]
fn crate_that_does_not_forbid_unused_unsafe_code_is_found() {
    let found = |root: &str, other: &str| {
        let sources = [("a/src/lib.rs", root), ("a/src/b.rs", other), ("c/src/d.rs", "unsafe fn e() {}")];
        let sources: Vec<SourceFile> = sources.iter().map(|(name, text)| SourceFile::new(name, text)).collect();
        rules::unsafe_not_forbidden(&sources).len()
    };
    assert_eq!(found("mod b;", "// unsafe {}\nconst A: &str = \"unsafe\";"), 1);
    assert_eq!(found("#![forbid(unsafe_code)]\nmod b;", ""), 0);
    for code in ["unsafe impl Send for A {}", "fn f() { unsafe{ g() } }", "unsafe\nfn f() {}"] {
        assert_eq!(found("mod b;", code), 0, "{code}");
    }
}

/// Cycles of some files, each in the form `a.rs b.rs`.
fn cycles_of(files: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<SourceFile> = files.iter().map(|(name, text)| SourceFile::new(name, text)).collect();
    cycles::cycles(&sources).iter().map(|cycle| cycle.join(" ").replace("src/", "")).collect()
}

#[test]
fn cycle_of_files_is_found_in_every_syntax() {
    for back in [
        "use crate::a::one::One;",
        "use super::one::{self, One as Other};",
        "use super::One;",
        "use crate::{\n    b::Three,\n    a::{One, two},\n};",
        "fn f() -> super::One { super::one::make() }",
        "use super::*;\nfn f() { super::one::make(); }",
        "use crate::Short;",
    ] {
        let files = [
            ("src/lib.rs", "mod a;\npub use a::One as Short;"),
            ("src/a/mod.rs", "mod one;\nmod two;\npub use one::One;"),
            ("src/a/one.rs", "use super::two::Two;\npub struct One(Two);"),
            ("src/a/two.rs", back),
        ];
        assert_eq!(cycles_of(&files), ["a/one.rs a/two.rs"], "{back}");
    }
    let child = ("src/a/two.rs", "use super::One;");
    for parent in ["mod two;\nuse two::Two;\nstruct One;", "mod two;\npub use two::Two;\nstruct One(Two);"] {
        assert_eq!(cycles_of(&[("src/a/mod.rs", parent), child]), ["a/mod.rs a/two.rs"], "{parent}");
    }
}

#[test]
fn uses_in_one_direction_are_no_cycle() {
    let files = [
        ("src/lib.rs", "mod a;\npub use a::{One, Two};"),
        ("src/a/mod.rs", "mod one;\nmod two;\npub use one::One;\npub use two::Two;"),
        (
            "src/a/one.rs",
            "// use super::two::Two;\npub struct One;\n\n#[cfg(test)]\nmod tests {\n    use crate::Two;\n}",
        ),
        ("src/a/two.rs", "use super::One;\nuse std::fmt::{self, Display};\nuse wgpu::util as one;"),
    ];
    assert_eq!(cycles_of(&files), [""; 0]);
}

#[test]
fn unknown_modules_and_reexports_are_found() {
    let unknown = layer_violations(&[("src/region.rs", "use crate::novelty::X;")]);
    assert!(unknown[0].contains("`novelty`") && unknown[0].contains("table"), "{unknown:?}");
    let reexport = layer_violations(&[("src/error/mod.rs", "use crate::Box;")]);
    assert!(reexport[0].contains("`region`"), "{reexport:?}");
    assert!(!layer_violations(&[("src/novelty.rs", "use crate::error::E;")]).is_empty());
}

#[test]
fn long_file_without_reason_is_found() {
    let long = "x\n".repeat(401);
    assert!(rules::length(&SourceFile::new("src/a.rs", &long), 400).is_some());
    assert!(rules::length(&SourceFile::new("src/a.rs", &"x\n".repeat(400)), 400).is_none());
    let with_reason = format!("//! A table.\n//! Long because it is one table.\n{long}");
    assert!(rules::length(&SourceFile::new("src/a.rs", &with_reason), 400).is_none());
    let late = format!("use a;\n// Long because of nothing.\n{long}");
    assert!(rules::length(&SourceFile::new("src/a.rs", &late), 400).is_some());
}

#[test]
fn median_is_the_lower_middle_number() {
    assert_eq!(rules::median(vec![9, 1, 5]), 5);
    assert_eq!(rules::median(vec![4, 1, 2, 3]), 2);
    assert_eq!(rules::median(vec![]), 0);
}

#[test]
fn outdated_table_of_layers_is_found() {
    let row = |number: usize, modules: &str| format!("| {number} | {modules} | what lives there |");
    let table = |changed: Option<(usize, &str)>| {
        let quoted = |row: &[&str]| row.iter().map(|module| format!("`{module}`")).collect::<Vec<_>>().join(", ");
        let rows = rules::LAYERS.iter().enumerate().map(|(number, modules)| match changed {
            Some((other, text)) if other == number => row(number, text),
            _ => row(number, &quoted(modules)),
        });
        rules::design_table(&format!("| layer | modules |\n{}\n", rows.collect::<Vec<_>>().join("\n")))
    };
    assert_eq!(table(None).len(), 0);
    assert!(table(Some((2, "`layout`")))[0].to_string().contains("layer 2"));
    assert!(!rules::design_table("no table").is_empty());
}

#[test]
fn unfinished_code_is_found() {
    let planted = [
        concat!("// TO", "DO: later"),
        concat!("/* FIX", "ME */"),
        concat!("fn f() { to", "do!() }"),
        concat!("fn f() { unimple", "mented!(\"x\") }"),
        concat!("let x = d", "bg!(y);"),
        concat!("#[test]\n#[ig", "nore]\nfn f() {}"),
        concat!("#[ig", "nore = \"slow\"]"),
    ];
    for text in planted {
        assert_eq!(rules::unfinished(&SourceFile::new("src/a.rs", text)).len(), 1, "{text}");
    }
    let finished = "fn ignored() { let mastodon = \"to-do!\"; }";
    assert_eq!(rules::unfinished(&SourceFile::new("src/a.rs", finished)).len(), 0);
}

#[test]
fn unsafe_without_a_reason_is_found() {
    let count = |text: &str| rules::unsafe_without_reason(&SourceFile::new("src/a.rs", text)).len();
    assert_eq!(count("fn f() { unsafe { g() } }"), 1);
    assert_eq!(count("// SAFETY: g has no preconditions.\nfn f() { unsafe { g() } }"), 0);
    assert_eq!(count("/// # Safety\n/// The pointer is valid.\npub unsafe fn f() {}"), 0);
    assert_eq!(count("const A: &str = \"unsafe\"; // unsafe\n#![forbid(unsafe_code)]"), 0);
}

#[test]
fn unlisted_variable_is_found() {
    // Concatenated, because this file must not violate the rule itself.
    let name = |rest: &str| format!("\"{}_{rest}\"", "ZIPPY");
    let list = format!("documented({}); // {}\n#[cfg(test)]\n{}", name("A"), name("B2"), name("C"));
    let unlisted = |text: &str| {
        let sources = [SourceFile::new("list.rs", &list), SourceFile::new("xtask/src/a.rs", text)];
        rules::unlisted_variables(&sources, "list.rs", &[name("MISSPELLED").trim_matches('"')]).len()
    };
    assert_eq!(unlisted(&[name("A"), name("B2"), name("MISSPELLED"), name("a text")].join(",\n")), 0);
    assert_eq!(unlisted(&format!("env({}).or({})", name("C"), name("B"))), 2);
}

#[test]
fn second_version_of_dependency_is_found() {
    let lock = "[[package]]\nname = \"wgpu\"\nversion = \"30.0.1\"\n\n[[package]]\nname = \"wgpu-core\"\n";
    assert_eq!(rules::duplicate_dependencies(lock).len(), 0);
    assert_eq!(
        rules::duplicate_dependencies(&format!("{lock}\n[[package]]\nname = \"wgpu\"\nversion = \"29.0.0\"\n")).len(),
        1
    );
}
