//! The array viewer's program.

fn main() {}
