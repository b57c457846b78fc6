//! The rules of the house, checked: the direction of the layers, the length of files, one version of the big
//! dependencies, no rings of files, nothing unfinished. Reads the sources only; each rule is itself shown to fail on a
//! planted violation.

mod calls;
mod rings;
mod rules;
mod source;

use std::path::{Path, PathBuf};

use rules::Broken;
use source::Source;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a directory that ends in `ending`, sorted; hidden and build directories are left out.
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

/// The workspace's own Rust files with their paths relative to its root. `shared` is material from elsewhere.
fn sources(ending: &str) -> Vec<Source> {
    let root = root();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(&path).unwrap();
        Source::new(&name, &text)
    };
    files(&root, ending).into_iter().map(read).filter(|source| !source.name.starts_with("shared/")).collect()
}

fn hold(broken: Vec<Broken>) {
    let lines: Vec<String> = broken.iter().map(|broken| format!("  {broken}")).collect();
    assert!(broken.is_empty(), "{} broken:\n{}", broken.len(), lines.join("\n"));
}

/// The libraries whose modules lie in layers, and fewer files than each has.
const LIBRARIES: [(&str, usize); 2] = [("src/", 100), ("crates/plan/src/", 20)];

#[test]
fn modules_use_only_layers_above_their_own() {
    let all = sources(".rs");
    for (library, files) in LIBRARIES {
        let of_library = all.iter().filter(|source| source.name.starts_with(library)).cloned();
        let of_library: Vec<Source> = of_library.collect();
        assert!(of_library.len() > files, "the sources of {library} were not found");
        hold(rules::layers(&of_library));
    }
    let is_there = |module: &str| {
        let starts = |(library, _): &(&str, _)| [format!("{library}{module}.rs"), format!("{library}{module}/mod.rs")];
        LIBRARIES.iter().flat_map(starts).any(|name| all.iter().any(|source| source.name == name))
    };
    let missing: Vec<_> = rules::LAYERS.concat().into_iter().filter(|module| !is_there(module)).collect();
    assert!(missing.is_empty(), "the table of layers names modules that do not exist: {missing:?}");
}

#[test]
fn no_files_use_each_other_in_a_ring() {
    let library: Vec<Source> = sources(".rs").into_iter().filter(|source| source.name.starts_with("src/")).collect();
    let found = rings::rings(&library);
    assert!(found.is_empty(), "files use each other in rings; move what they share to a file of its own: {found:#?}");
}

#[test]
fn files_stay_short() {
    hold(sources(".rs").iter().flat_map(|source| rules::length(source, 400)).collect());
    hold(sources(".wgsl").iter().flat_map(|source| rules::length(source, 150)).collect());
}

#[test]
fn the_median_file_is_of_moderate_length() {
    let ours = |source: &Source| LIBRARIES.iter().any(|(library, _)| source.name.starts_with(library));
    let median = rules::median(sources(".rs").iter().filter(|source| ours(source)).map(Source::lines).collect());
    assert!((100..=200).contains(&median), "the median file of the libraries has {median} lines; 100 to 200 read well");
}

#[test]
fn the_design_page_shows_the_layers() {
    let page = std::fs::read_to_string(root().join("DESIGN.md")).unwrap();
    hold(rules::design_table(&page));
}

#[test]
fn nothing_is_left_unfinished() {
    let all = sources(".rs").into_iter().chain(sources(".wgsl"));
    hold(all.flat_map(|source| rules::unfinished(&source)).collect());
}

#[test]
fn unsafe_code_says_why_it_is_sound() {
    hold(sources(".rs").iter().flat_map(rules::unsafe_without_reason).collect());
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    hold(rules::unsafe_allowed_for_nothing(&sources(".rs")));
}

/// Libraries that return the error of `zippy`, and fewer public functions than each has that do.
const FALLIBLE: [(&str, usize); 6] = [
    ("src/", 150),
    ("crates/io/src/", 10),
    ("crates/isosurface/src/", 10),
    ("crates/lbm/src/", 10),
    ("crates/render/src/", 10),
    ("crates/plan/src/", 0),
];

#[test]
fn public_functions_that_can_fail_name_the_line_that_called_them() {
    let all = sources(".rs");
    for (library, functions) in FALLIBLE {
        let of_library: Vec<Source> = all.iter().filter(|source| source.name.starts_with(library)).cloned().collect();
        let (found, broken) = calls::unguarded(&of_library);
        assert!(found >= functions, "{found} public functions of {library} were found");
        hold(broken);
    }
}

/// Cargo sets the variable for every program, test and benchmark of the project.
#[test]
fn cargo_configuration_checks_kernels_for_parameter_branches() {
    let configuration = std::fs::read_to_string(root().join(".cargo/config.toml")).unwrap();
    assert!(configuration.contains("\nZIPPY_REFUSE_PARAMETER_BRANCHES = \"1\"\n"), "{configuration}");
}

#[test]
fn environment_variables_are_in_the_list_of_all() {
    // Those of a test that misspells them.
    hold(rules::unlisted_variables(&sources(".rs"), "src/transport/variables.rs", &["ZIPPY_CHEK", "ZIPPY_RANK"]));
}

#[test]
fn one_version_of_the_big_dependencies() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    assert!(lock.contains("name = \"wgpu\""), "this is not the lock file of the project");
    hold(rules::doubled(&lock));
}

mod planted {
    use super::*;

    fn broken_layers(files: &[(&str, &str)]) -> Vec<String> {
        let lib = ("src/lib.rs", "pub mod error;\npub use error::{Error, Result};\npub use region::Region as Box;\n");
        let all = files.iter().chain([&lib]);
        let sources: Vec<Source> = all.map(|(name, text)| Source::new(name, text)).collect();
        rules::layers(&sources).iter().map(Broken::to_string).collect()
    }

    #[test]
    fn a_use_from_below_is_found_in_every_spelling() {
        for text in [
            "use crate::world::World;",
            "pub(crate) use crate::{error::Error, world::{self, World}};",
            "fn f() {\n    let w: crate::world::World;\n}",
            "#[cfg(test)]\nmod tests { use crate::world; }",
            "use super::world::World;",
            "macro_rules! m { () => { $crate::world::f() } }",
            "use crate::\n    world::World;",
        ] {
            let broken = broken_layers(&[("src/region.rs", text)]);
            assert_eq!(broken.len(), 1, "{text}: {broken:?}");
            assert!(broken[0].starts_with("src/region.rs:") && broken[0].contains("`world`"), "{}", broken[0]);
        }
        let nested = broken_layers(&[("src/plan/copy.rs", "\n\nuse super::super::device::Device;")]);
        assert!(nested[0].starts_with("src/plan/copy.rs:3:"), "{nested:?}");
    }

    #[test]
    fn what_is_allowed_is_not_found() {
        let fine = [
            ("src/world/mod.rs", "use crate::{array::Array, Error, Result, Box};\nuse crate::world::transfer::go;"),
            (
                "src/plan/copy.rs",
                "use super::Move; use crate::plan::x; /* crate::world */\n//! [`crate::world::World`]",
            ),
            ("src/region.rs", "const A: &str = \"crate::world\"; const B: char = '\"'; use crate::error::E; // \""),
            ("src/layout.rs", "use crate::chunks::Chunks;"),
            ("src/algorithms/mod.rs", "use std::io; use crate::world::World;"),
        ];
        assert_eq!(broken_layers(&fine), Vec::<String>::new());
    }

    #[test]
    fn a_row_must_not_turn_in_circles() {
        let circle = [("src/layout.rs", "use crate::chunks::C;"), ("src/chunks.rs", "\nuse crate::layout::L;")];
        let broken = broken_layers(&circle);
        assert!(broken.len() == 1 && broken[0].contains("circle"), "{broken:?}");
        let tests = [("src/layout/mod.rs", "use crate::chunks::C;"), ("src/chunks/tests.rs", "use crate::layout::L;")];
        assert_eq!(broken_layers(&tests), Vec::<String>::new());
        let upwards = broken_layers(&[("src/chunks/tests.rs", "use crate::world::World;")]);
        assert_eq!(upwards.len(), 1, "{upwards:?}");
    }

    #[test]
    fn public_function_that_hides_its_caller_is_found() {
        let lib = "pub mod shown;\nmod hidden;\npub use hidden::{Reached, reached as other};";
        let guarded = "\n    #[track_caller]\n    pub fn right(&self) -> Result<u8> {\n        let _call = CallSite::enter();\n        f()?;\n        g()\n    }";
        let shown = format!(
            "pub struct A;\nimpl<T: Fn() -> u8> A {{{guarded}\n    pub fn a(&self) -> Result<()> {{\n        f()\n    }}\n}}"
        );
        let hidden = "pub use super::deep::Reached;\npub fn reached<F>(f: F) -> crate::Result<()>\nwhere\n    F: Fn() -> u8,\n{\n    f()\n}\npub fn not() -> Result<()> {\n    f()\n}";
        let deep = "pub struct Reached;\nimpl Reached {\n    #[track_caller]\n    pub fn b(&self) -> Result<(u8, u8)> {\n        f()?;\n        g()\n    }\n    #[track_caller]\n    pub fn to_another(&self) -> Result<()> {\n        self.c()\n    }\n    pub fn other_error(&self) -> Result<(), String> {\n        f()\n    }\n    pub(crate) fn own(&self) -> Result<()> {\n        f()\n    }\n}\nstruct A;\nimpl A {\n    pub fn of_a_private_type() -> Result<()> {\n        f()\n    }\n}";
        let files = [("lib.rs", lib), ("shown.rs", &shown), ("hidden.rs", hidden), ("deep.rs", deep)];
        let sources: Vec<Source> = files.iter().map(|(name, text)| Source::new(&format!("src/{name}"), text)).collect();
        let (count, broken) = calls::unguarded(&sources);
        let found: Vec<String> = broken.iter().map(Broken::to_string).collect();
        let named = |of: &str| found.iter().filter(|line| line.contains(&format!("`{of}` is public"))).count();
        assert_eq!((count, found.len(), named("a"), named("reached"), named("b")), (5, 3, 1, 1, 1), "{found:#?}");
    }

    #[test]
    fn crate_that_only_does_not_use_unsafe_code_is_found() {
        let found = |root: &str, other: &str| {
            let sources = [("a/src/lib.rs", root), ("a/src/b.rs", other), ("c/src/d.rs", "unsafe fn e() {}")];
            let sources: Vec<Source> = sources.iter().map(|(name, text)| Source::new(name, text)).collect();
            rules::unsafe_allowed_for_nothing(&sources).len()
        };
        assert_eq!(found("mod b;", "// unsafe {}\nconst A: &str = \"unsafe\";"), 1);
        assert_eq!(found("#![forbid(unsafe_code)]\nmod b;", ""), 0);
        for code in ["unsafe impl Send for A {}", "fn f() { unsafe{ g() } }", "unsafe\nfn f() {}"] {
            assert_eq!(found("mod b;", code), 0, "{code}");
        }
    }

    /// The rings of some files, each written as `a.rs b.rs`.
    fn rings_of(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files.iter().map(|(name, text)| Source::new(name, text)).collect();
        rings::rings(&sources).iter().map(|ring| ring.join(" ").replace("src/", "")).collect()
    }

    #[test]
    fn a_ring_of_files_is_found_in_every_spelling() {
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
            assert_eq!(rings_of(&files), ["a/one.rs a/two.rs"], "{back}");
        }
        let child = ("src/a/two.rs", "use super::One;");
        for parent in ["mod two;\nuse two::Two;\nstruct One;", "mod two;\npub use two::Two;\nstruct One(Two);"] {
            assert_eq!(rings_of(&[("src/a/mod.rs", parent), child]), ["a/mod.rs a/two.rs"], "{parent}");
        }
    }

    #[test]
    fn what_flows_one_way_is_no_ring() {
        let files = [
            ("src/lib.rs", "mod a;\npub use a::{One, Two};"),
            ("src/a/mod.rs", "mod one;\nmod two;\npub use one::One;\npub use two::Two;"),
            (
                "src/a/one.rs",
                "// use super::two::Two;\npub struct One;\n\n#[cfg(test)]\nmod tests {\n    use crate::Two;\n}",
            ),
            ("src/a/two.rs", "use super::One;\nuse std::fmt::{self, Display};\nuse wgpu::util as one;"),
        ];
        assert_eq!(rings_of(&files), [""; 0]);
    }

    #[test]
    fn unknown_modules_and_reexports_are_found() {
        let unknown = broken_layers(&[("src/region.rs", "use crate::novelty::X;")]);
        assert!(unknown[0].contains("`novelty`") && unknown[0].contains("table"), "{unknown:?}");
        let reexport = broken_layers(&[("src/error/mod.rs", "use crate::Box;")]);
        assert!(reexport[0].contains("`region`"), "{reexport:?}");
        assert!(!broken_layers(&[("src/novelty.rs", "use crate::error::E;")]).is_empty());
    }

    #[test]
    fn long_files_need_a_reason() {
        let long = "x\n".repeat(401);
        assert!(rules::length(&Source::new("src/a.rs", &long), 400).is_some());
        assert!(rules::length(&Source::new("src/a.rs", &"x\n".repeat(400)), 400).is_none());
        let excused = format!("//! A table.\n//! Long because it is one table.\n{long}");
        assert!(rules::length(&Source::new("src/a.rs", &excused), 400).is_none());
        let late = format!("use a;\n// Long because of nothing.\n{long}");
        assert!(rules::length(&Source::new("src/a.rs", &late), 400).is_some());
    }

    #[test]
    fn medians() {
        assert_eq!(rules::median(vec![9, 1, 5]), 5);
        assert_eq!(rules::median(vec![4, 1, 2, 3]), 2);
        assert_eq!(rules::median(vec![]), 0);
    }

    #[test]
    fn a_stale_table_of_layers_is_found() {
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
            assert_eq!(rules::unfinished(&Source::new("src/a.rs", text)).len(), 1, "{text}");
        }
        let fine = "fn ignored() { let mastodon = \"to-do!\"; }";
        assert_eq!(rules::unfinished(&Source::new("src/a.rs", fine)).len(), 0);
    }

    #[test]
    fn unsafe_without_a_reason_is_found() {
        let count = |text: &str| rules::unsafe_without_reason(&Source::new("src/a.rs", text)).len();
        assert_eq!(count("fn f() { unsafe { g() } }"), 1);
        assert_eq!(count("// SAFETY: g has no preconditions.\nfn f() { unsafe { g() } }"), 0);
        assert_eq!(count("/// # Safety\n/// The pointer is valid.\npub unsafe fn f() {}"), 0);
        assert_eq!(count("const A: &str = \"unsafe\"; // unsafe\n#![forbid(unsafe_code)]"), 0);
    }

    #[test]
    fn unlisted_variable_is_found() {
        // Not a string of this file that the rule would find itself.
        let name = |rest: &str| format!("\"{}_{rest}\"", "ZIPPY");
        let list = format!("documented({}); // {}\n#[cfg(test)]\n{}", name("A"), name("B2"), name("C"));
        let unlisted = |text: &str| {
            let sources = [Source::new("list.rs", &list), Source::new("xtask/src/a.rs", text)];
            rules::unlisted_variables(&sources, "list.rs", &[name("MISSPELLED").trim_matches('"')]).len()
        };
        assert_eq!(unlisted(&[name("A"), name("B2"), name("MISSPELLED"), name("a text")].join(",\n")), 0);
        assert_eq!(unlisted(&format!("env({}).or({})", name("C"), name("B"))), 2);
    }

    #[test]
    fn a_second_version_is_found() {
        let lock = "[[package]]\nname = \"wgpu\"\nversion = \"30.0.1\"\n\n[[package]]\nname = \"wgpu-core\"\n";
        assert_eq!(rules::doubled(lock).len(), 0);
        assert_eq!(rules::doubled(&format!("{lock}\n[[package]]\nname = \"wgpu\"\nversion = \"29.0.0\"\n")).len(), 1);
    }
}
