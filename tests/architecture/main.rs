//! Rules on the sources: layers, cycles, lengths, unfinished and unsafe code, call sites,
//! variables, links of pages, dependencies. The module `planted` tests that each rule detects
//! violations.

mod call_sites;
mod cycles;
mod links;
mod planted;
mod rules;
mod source_file;

use rules::Violation;
use source_file::{SourceFile, root, sources};

fn assert_none(violations: Vec<Violation>) {
    let lines: Vec<String> = violations.iter().map(|violation| format!("  {violation}")).collect();
    assert!(violations.is_empty(), "{} violations:\n{}", violations.len(), lines.join("\n"));
}

/// Source directories of libraries with layers, and the minimum number of their files.
const LIBRARIES: [(&str, usize); 4] =
    [("src/", 80), ("crates/base/src/", 15), ("crates/device/src/", 80), ("crates/plan/src/", 20)];

/// Source directories of libraries without cycles of files.
const ACYCLIC: &[&str] = &[
    "src/",
    "crates/base/src/",
    "crates/device/src/",
    "crates/files/src/",
    "crates/io/src/",
    "crates/lbm/src/",
    "crates/primitives/src/",
    "crates/protocol/src/",
    "crates/store/src/",
    "crates/transport/src/",
    "xtask/src/",
];

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

/// Source directories of libraries that return the error of `zippy`, and the minimum number of
/// their public functions that do.
const FALLIBLE: [(&str, usize); 11] = [
    ("src/", 70),
    ("crates/device/src/", 1),
    ("crates/primitives/src/", 30),
    ("crates/transport/src/", 15),
    ("crates/files/src/", 0),
    ("crates/io/src/", 1),
    ("crates/store/src/", 20),
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

/// The variable applies to all programs, tests and benchmarks that Cargo runs.
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
