//! Tests of rules on the source files of the workspace: layers of modules, cycles of files, lengths
//! of files, unfinished code, unsafe code, call sites of errors, environment variables and
//! dependencies. The module `planted` tests that each rule detects violations.

mod call_sites;
mod cycles;
mod rules;
mod source_file;

use std::path::{Path, PathBuf};

use rules::Violation;
use source_file::SourceFile;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Files below a directory whose names end in `ending`, sorted; without hidden directories and
/// build directories.
fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                open.push(path);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Files of the workspace with names that end in `ending`, without the directory `shared`.
fn sources(ending: &str) -> Vec<SourceFile> {
    let root = root();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(&path).unwrap();
        SourceFile::new(&name, &text)
    };
    files(&root, ending).into_iter().map(read).filter(|source| !source.name.starts_with("shared/")).collect()
}

fn assert_none(violations: Vec<Violation>) {
    let lines: Vec<String> = violations.iter().map(|violation| format!("  {violation}")).collect();
    assert!(violations.is_empty(), "{} violations:\n{}", violations.len(), lines.join("\n"));
}

/// Source directories of libraries with layers, and a lower bound of the number of their files.
const LIBRARIES: [(&str, usize); 3] = [("src/", 100), ("crates/base/src/", 15), ("crates/plan/src/", 20)];

/// Source directories of libraries without cycles of files.
const ACYCLIC: [&str; 3] = ["src/", "crates/base/src/", "crates/transport/src/"];

#[test]
fn modules_use_only_layers_above_their_own() {
    let all = sources(".rs");
    for (directory, min_files) in LIBRARIES {
        let library: Vec<SourceFile> =
            all.iter().filter(|source| source.name.starts_with(directory)).cloned().collect();
        assert!(library.len() > min_files, "the sources of {directory} were not found");
        assert_none(rules::layers(&library));
    }
    let exists = |module: &str| {
        let paths = |(library, _): &(&str, _)| [format!("{library}{module}.rs"), format!("{library}{module}/mod.rs")];
        let mut paths = LIBRARIES.iter().flat_map(paths).chain([format!("crates/{module}/src/lib.rs")]);
        paths.any(|name| all.iter().any(|source| source.name == name))
    };
    let missing: Vec<_> = rules::LAYERS.concat().into_iter().filter(|module| !exists(module)).collect();
    assert!(missing.is_empty(), "the table of layers names modules that do not exist: {missing:?}");
}

#[test]
fn files_of_a_library_use_each_other_without_cycles() {
    let all = sources(".rs");
    for directory in ACYCLIC {
        let library = all.iter().filter(|source| source.name.starts_with(directory)).cloned().collect::<Vec<_>>();
        let found = cycles::cycles(&library);
        assert!(found.is_empty(), "files use each other in cycles; move common items to a separate file: {found:#?}");
    }
}

#[test]
fn files_stay_short() {
    assert_none(sources(".rs").iter().flat_map(|source| rules::length(source, 400)).collect());
    assert_none(sources(".wgsl").iter().flat_map(|source| rules::length(source, 150)).collect());
}

#[test]
fn median_length_of_library_files_is_moderate() {
    let is_in_library = |source: &SourceFile| LIBRARIES.iter().any(|(library, _)| source.name.starts_with(library));
    let lengths = sources(".rs").iter().filter(|source| is_in_library(source)).map(SourceFile::lines).collect();
    let median = rules::median(lengths);
    assert!(
        (100..=200).contains(&median),
        "the median file of the libraries has {median} lines; it must have 100 to 200"
    );
}

#[test]
fn design_page_shows_the_layers() {
    let page = std::fs::read_to_string(root().join("DESIGN.md")).unwrap();
    assert_none(rules::design_table(&page));
}

#[test]
fn sources_have_no_unfinished_code() {
    let all = sources(".rs").into_iter().chain(sources(".wgsl"));
    assert_none(all.flat_map(|source| rules::unfinished(&source)).collect());
}

#[test]
fn unsafe_code_has_a_safety_comment() {
    assert_none(sources(".rs").iter().flat_map(rules::unsafe_without_reason).collect());
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    assert_none(rules::unsafe_not_forbidden(&sources(".rs")));
}

/// Source directories of libraries that return the error of `zippy`, and a lower bound of the
/// number of their public functions that do.
const FALLIBLE: [(&str, usize); 7] = [
    ("src/", 130),
    ("crates/transport/src/", 15),
    ("crates/io/src/", 10),
    ("crates/isosurface/src/", 10),
    ("crates/lbm/src/", 10),
    ("crates/render/src/", 10),
    ("crates/plan/src/", 0),
];

#[test]
fn fallible_public_functions_record_their_call_site() {
    let all = sources(".rs");
    for (directory, min_functions) in FALLIBLE {
        let library: Vec<SourceFile> =
            all.iter().filter(|source| source.name.starts_with(directory)).cloned().collect();
        let (found, violations) = call_sites::check(&library);
        assert!(found >= min_functions, "{found} public functions of {directory} were found");
        assert_none(violations);
    }
}

/// Cargo sets the variable for all programs, tests and benchmarks of the project.
#[test]
fn cargo_configuration_checks_kernels_for_parameter_branches() {
    let configuration = std::fs::read_to_string(root().join(".cargo/config.toml")).unwrap();
    assert!(configuration.contains("\nZIPPY_REFUSE_PARAMETER_BRANCHES = \"1\"\n"), "{configuration}");
}

#[test]
fn environment_variables_are_listed() {
    // A test of misspelled variables uses the last two names.
    assert_none(rules::unlisted_variables(
        &sources(".rs"),
        "crates/transport/src/variables.rs",
        &["ZIPPY_CHEK", "ZIPPY_RANK"],
    ));
}

#[test]
fn main_dependencies_have_one_version() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    assert!(lock.contains("name = \"wgpu\""), "this is not the lock file of the project");
    assert_none(rules::duplicate_dependencies(&lock));
}

mod planted {
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
            (
                "src/plan/copy.rs",
                "use super::Move; use crate::plan::x; /* crate::world */\n//! [`crate::world::World`]",
            ),
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
        assert!(table(Some((3, "`plan`")))[0].to_string().contains("layer 3"));
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
        // Concatenated, as this file must not violate the rule itself.
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
            rules::duplicate_dependencies(&format!("{lock}\n[[package]]\nname = \"wgpu\"\nversion = \"29.0.0\"\n"))
                .len(),
            1
        );
    }
}
