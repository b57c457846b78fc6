//! The first program of the README: the README shows `examples/readme.rs`, which runs.

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
fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../README.md");
    let block = readme.split("```rust").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of Rust");
    let shown = block.split_once('\n').expect("a first line").1;
    let (_, program) =
        include_str!("../../examples/readme.rs").split_once("\n\n").expect("a comment, then the program");
    assert_eq!(dense(shown), dense(program));
    assert!(shown.lines().count() <= 32, "it fits the first screen");
}

#[test]
fn the_readme_shows_the_kernel() {
    let readme = include_str!("../../README.md");
    let shown = readme.split("```wgsl\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of WGSL");
    assert_eq!(shown, include_str!("../../shaders/diffuse.wgsl"));
}

/// Runs the example as a process, on one rank and on more ranks than the grid has rows.
#[test]
fn the_readme_shows_what_the_example_prints() {
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
