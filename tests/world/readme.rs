//! The program on the first screen of the README: it is `examples/readme.rs`, and it runs.

use crate::support::{RANKS, ranks};

/// The example itself; its `main` is not called here.
mod example {
    #![allow(dead_code)]
    include!("../../examples/readme.rs");

    pub fn run(world: &World) -> zippy::Result<()> {
        program(world)
    }
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
fn the_example_runs() {
    ranks(RANKS, example::run);
}
