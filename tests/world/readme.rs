//! First program of the README: the README shows `examples/readme.rs`, which this test runs.

use std::process::Command;

use crate::support::launcher;

/// Command that runs an example, which Cargo has built next to the tests.
pub(crate) fn built(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is not built; `cargo build --example {name}` does it", path.display());
    Command::new(path)
}

/// Removes white space, because example and README have different line breaks.
fn without_white_space(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn readme_contains_example() {
    let readme = include_str!("../../README.md");
    let block = readme.split("```rust").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of Rust");
    let shown = block.split_once('\n').expect("a first line").1;
    let (_, program) =
        include_str!("../../examples/readme.rs").split_once("\n\n").expect("a comment, then the program");
    assert_eq!(without_white_space(shown), without_white_space(program));
    assert!(shown.lines().count() <= 32, "it fits the first screen");
}

#[test]
fn readme_contains_kernel() {
    let readme = include_str!("../../README.md");
    let shown = readme.split("```wgsl\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of WGSL");
    assert_eq!(shown, include_str!("../../shaders/diffuse.wgsl"));
}

/// Runs the example as a process, on one rank and on more ranks than the grid has rows.
#[test]
fn readme_contains_output_of_example() {
    if launcher::size().is_some() {
        return;
    }
    let readme = include_str!("../../README.md");
    let shown = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of output");
    for ranks in ["1", "2", "3", "13"] {
        let output = built("readme").env("ZIPPY_RANKS", ranks).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), shown, "{ranks} ranks: {output:?}");
    }
}
