//! Random kernels over the whole language, without data races.
//!
//! A [`Case`] is a syntax tree with its buffers. Every invocation writes only its own elements of
//! writable arrays, or changes atomics by operations that commute, and reads only bindings that
//! nobody writes, its own elements, and memory of the workgroup across barriers. So the result does
//! not depend on the order of invocations.

mod ast;
mod builtins;
mod expressions;
mod generator;
mod index;
mod print;
mod program;
mod rng;
mod statements;
mod workgroups;

use rng::Rng;

/// Types beyond `i32`, `u32`, `f32` and `bool` that kernels may use.
#[derive(Debug, Clone, Copy)]
pub struct Extensions {
    pub half: bool,
    pub double: bool,
    pub wide_integers: bool,
}

/// A word of a binding with a fixed value.
#[derive(Debug, Clone)]
pub struct Pin {
    /// Name of the binding.
    pub name: String,
    pub offset: usize,
    pub value: u32,
}

pub fn show(seed: u64) -> String {
    let all = Extensions { half: true, double: true, wide_integers: true };
    let generated = program::generate(Rng::new(seed), all);
    format!("{}// {:?}\n", generated.program, generated.workgroups)
}
