//! Tests of the interpreter: kernels with expected values from plain Rust.

mod conversions;
mod floats;
mod generator;
mod harness;
mod integers;
mod layouts;
mod shared;
mod statements;
mod vectors;

use std::fmt::Debug;

use bytemuck::Pod;

use crate::compare::compile;
use crate::interpreter::{Buffers, run};

pub(crate) trait Element: Pod + Debug {
    const NAME: &'static str;

    /// True for equal bits, or two NaN.
    fn agrees(self, other: Self) -> bool;
}

macro_rules! element {
    ($ty:ty, $name:literal, $agrees:expr) => {
        impl Element for $ty {
            const NAME: &'static str = $name;

            fn agrees(self, other: Self) -> bool {
                let agrees: fn(Self, Self) -> bool = $agrees;
                agrees(self, other)
            }
        }
    };
}

fn same_float(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

element!(u32, "u32", |a, b| a == b);
element!(i32, "i32", |a, b| a == b);
element!(u64, "u64", |a, b| a == b);
element!(i64, "i64", |a, b| a == b);
element!(f32, "f32", same_float);
element!(f64, "f64", |a, b| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
element!(u16, "f16", |a, b| {
    let [x, y] = [a, b].map(half::f16::from_bits);
    a == b || x.is_nan() && y.is_nan()
});
element!([u16; 2], "vec2<f16>", |a, b| a[0].agrees(b[0]) && a[1].agrees(b[1]));
element!([f32; 2], "vec2<f32>", |a, b| a.iter().zip(b).all(|(a, b)| same_float(*a, b)));
element!([f32; 4], "vec4<f32>", |a, b| a.iter().zip(b).all(|(a, b)| same_float(*a, b)));
element!([u32; 2], "vec2<u32>", |a, b| a == b);
element!([i32; 2], "vec2<i32>", |a, b| a == b);
element!([u32; 4], "vec4<u32>", |a, b| a == b);
element!([i32; 4], "vec4<i32>", |a, b| a == b);
element!([i64; 2], "vec2<i64>", |a, b| a == b);
element!([f64; 2], "vec2<f64>", |a, b| a.iter().zip(b).all(|(a, b)| a.agrees(b)));

pub(crate) fn bytes<T: Pod>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

pub(crate) fn values<T: Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// Runs the entry point `main` of a text over the bindings 0, 1, … of group 0; returns them.
pub(crate) fn run_text(text: &str, bindings: &[Vec<u8>], workgroups: [u32; 3]) -> Result<Vec<Vec<u8>>, String> {
    let (module, info) = compile(text)?;
    let mut buffers: Buffers = bindings.iter().enumerate().map(|(i, bytes)| ((0, i as u32), bytes.clone())).collect();
    run(&module, &info, "main", &mut buffers, workgroups)?;
    Ok(buffers.into_values().collect())
}

/// Runs a kernel with one writable array of `u32`, binding 0; returns the array.
pub(crate) fn run_words(text: &str, length: usize, workgroups: [u32; 3]) -> Vec<u32> {
    let buffers = run_text(text, &[bytes(&vec![0u32; length])], workgroups).unwrap();
    values(&buffers[0])
}

/// Asserts that an expression of `x` has the expected value for each input.
#[track_caller]
pub(crate) fn check<A: Element, B: Element>(expression: &str, inputs: &[A], expected: impl Fn(A) -> B) {
    let (from, to) = (A::NAME, B::NAME);
    let enable = if from.contains("f16") || to.contains("f16") { "enable f16;" } else { "" };
    let text = format!(
        "{enable}
        @group(0) @binding(0) var<storage> inputs: array<{from}>;
        @group(0) @binding(1) var<storage, read_write> outputs: array<{to}>;
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) id: vec3<u32>) {{
            let x = inputs[id.x];
            outputs[id.x] = {expression};
        }}"
    );
    let outputs = bytes(&vec![B::zeroed(); inputs.len()]);
    let buffers = run_text(&text, &[bytes(inputs), outputs], [inputs.len() as u32, 1, 1]);
    let buffers = buffers.unwrap_or_else(|error| panic!("{expression}: {error}"));
    for (&input, output) in inputs.iter().zip(values::<B>(&buffers[1])) {
        let expected = expected(input);
        assert!(output.agrees(expected), "{expression} of {input:?} is {output:?}, expected {expected:?}");
    }
}

pub(crate) const FLOATS: [f32; 25] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.3,
    -7.75,
    100.25,
    1e-40,
    -1e-45,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    2147483648.0,
    -2147483648.0,
    4294967296.0,
    65504.0,
    16777217.0,
];

pub(crate) const SIGNED: [i32; 12] = [0, 1, -1, 2, -7, 31, 32, 33, i32::MAX, i32::MIN, i32::MIN + 1, 0x0f0f_1234];

pub(crate) const UNSIGNED: [u32; 12] =
    [0, 1, 2, 7, 31, 32, 33, u32::MAX, 1 << 31, (1 << 31) - 1, 0x0f0f_1234, 0x80ff_7f01];

pub(crate) fn pairs<T: Copy>(numbers: &[T]) -> Vec<[T; 2]> {
    numbers.iter().flat_map(|&a| numbers.iter().map(move |&b| [a, b])).collect()
}

pub(crate) fn quadruples<T: Copy>(numbers: &[T]) -> Vec<[T; 4]> {
    let n = numbers.len();
    (0..n * n).map(|i| [i, i / n, i * 7 + i / 3, i * 5 + 3].map(|k| numbers[k % n])).collect()
}
