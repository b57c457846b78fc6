//! The program on the first screen of the README: it is `examples/readme.rs`, and it runs.

use std::process::Command;

use crate::support::{RANKS, launcher, ranks};

/// The example itself; its `main` is not called here.
mod example {
    #![allow(dead_code)]
    include!("../../examples/readme.rs");

    pub fn run(world: &World) -> zippy::Result<()> {
        program(world)
    }
}

/// An example, as Cargo has built it beside the tests.
pub fn built(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is not built; `cargo build --example {name}` does it", path.display());
    Command::new(path)
}

/// Without white space, which rustfmt arranges in the example and a screen in the README.
fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../README.md");
    let block = readme.split("```rust").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of Rust");
    let shown = block.split_once('\n').expect("a first line").1;
    assert_eq!(dense(shown), dense(include_str!("../../examples/readme.rs")));
    assert!(shown.lines().count() <= 32, "it fits the first screen");
}

#[test]
fn the_readme_shows_the_kernel() {
    let readme = include_str!("../../README.md");
    let shown = readme.split("```wgsl\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of WGSL");
    assert_eq!(shown, include_str!("../../shaders/diffuse.wgsl"));
}

#[test]
fn the_example_runs() {
    ranks(RANKS, example::run);
}

/// As a process, on one rank and on more than a grid has places for.
#[test]
fn the_readme_shows_what_the_example_prints() {
    if launcher::size().is_some() {
        return;
    }
    let readme = include_str!("../../README.md");
    let shown = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of output");
    for ranks in ["1", "13"] {
        let output = built("readme").env("ZIPPY_RANKS", ranks).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), shown, "{ranks} ranks: {output:?}");
    }
}
