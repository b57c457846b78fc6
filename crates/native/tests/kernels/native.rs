use zippy_native::Vectorization;
use zippy_testing::random::fibonacci_hash;

use crate::byte_extracts::byte_kernels;
use crate::compare::{Failure, compare, compare_with};
use crate::edges::edge_kernels;
use crate::interpreter::{Buffers, Functions, Libm, LibraryFunction, Options};
use crate::machine_code::run;
use crate::random::{Extensions, count, first_seed, random_kernels_with};

/// Library of the functions that generated code uses.
struct CrateFunctions;

impl Functions for CrateFunctions {
    fn single(&self, function: LibraryFunction, x: f32, y: f32) -> f32 {
        use zippy_native::math::scalar;
        match function {
            LibraryFunction::Sin => scalar::sin(x),
            LibraryFunction::Cos => scalar::cos(x),
            LibraryFunction::Tan => scalar::tan(x),
            LibraryFunction::Asin => scalar::asin(x),
            LibraryFunction::Acos => scalar::acos(x),
            LibraryFunction::Atan => scalar::atan(x),
            LibraryFunction::Sinh => scalar::sinh(x),
            LibraryFunction::Cosh => scalar::cosh(x),
            LibraryFunction::Tanh => scalar::tanh(x),
            LibraryFunction::Asinh => scalar::asinh(x),
            LibraryFunction::Acosh => scalar::acosh(x),
            LibraryFunction::Atanh => scalar::atanh(x),
            LibraryFunction::Exp => scalar::exp(x),
            LibraryFunction::Exp2 => scalar::exp2(x),
            LibraryFunction::Log => scalar::log(x),
            LibraryFunction::Log2 => scalar::log2(x),
            LibraryFunction::Atan2 => scalar::atan2(x, y),
            LibraryFunction::Pow => scalar::pow(x, y),
        }
    }

    fn double(&self, function: LibraryFunction, x: f64, y: f64) -> f64 {
        match function {
            LibraryFunction::Acosh if x < 1.0 => f64::NAN,
            _ => Libm.double(function, x, y),
        }
    }
}

pub(crate) fn options() -> Options<'static> {
    Options { functions: &CrateFunctions, ..Options::default() }
}

#[test]
fn random_kernels_give_bits_of_interpreter() {
    for vectors in [Vectorization::Avoid, Vectorization::Use] {
        let report = random_kernels_with(
            &options(),
            Extensions::ALL,
            count(100),
            first_seed(0),
            |module, info, entry, buffers, workgroups| run(vectors, module, info, entry, buffers, workgroups),
        );
        assert!(report.failures.is_empty() && report.discarded.is_empty(), "{vectors:?}: {report}");
    }
}

#[test]
fn edge_kernels_give_bits_of_interpreter() {
    for vectors in [Vectorization::Avoid, Vectorization::Use] {
        let (count, failures) =
            edge_kernels(&options(), Extensions::ALL, |module, info, entry, buffers, workgroups| {
                run(vectors, module, info, entry, buffers, workgroups)
            });
        let text = |(text, failure): &(String, Failure)| format!("{failure}\n{text}\n");
        assert!(count > 300, "{count} kernels");
        assert!(failures.is_empty(), "{vectors:?}: {}", failures.iter().map(text).collect::<String>());
    }
}

#[test]
fn byte_extracts_give_bits_of_interpreter() {
    for vectors in [Vectorization::Avoid, Vectorization::Use] {
        let count = byte_kernels(|module, info, entry, buffers, workgroups| {
            run(vectors, module, info, entry, buffers, workgroups)
        });
        assert_eq!(count, Ok(972), "{vectors:?}");
    }
}

#[test]
fn byte_extracts_at_end_of_memory_give_bits_of_interpreter() {
    for (cell, word) in [("4 * x + c", "q >> 2u"), ("c", "x + (q >> 2u)"), ("x + c", "q >> 2u")] {
        for test in ["", "if x >= n { return; }", "if x < 1 || x >= n - 1 { return; }"] {
            let text = format!(
                "@group(0) @binding(0) var<storage> words: array<u32>;
                @group(0) @binding(1) var<storage, read_write> out: array<i32>;
                @group(0) @binding(2) var<uniform> place: vec4<i32>;
                @compute @workgroup_size(64)
                fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                    let x = i32(id.x);
                    let n = place.x;
                    let c = place.y;
                    {test}
                    let q = {cell};
                    out[id.x] = extractBits(i32(words[u32({word})]), u32(q & 3) * 8u, 8u);
                }}"
            );
            for (n, c) in [(192, 0), (192, 1), (192, -1), (190, 3), (200, 5), (64, 4)] {
                let words: Vec<u32> = (0..192u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ i).collect();
                let buffers: Buffers = [
                    ((0, 0), bytemuck::cast_slice(&words).to_vec()),
                    ((0, 1), vec![0; 4 * 192]),
                    ((0, 2), bytemuck::cast_slice(&[n, c, 0, 0_i32]).to_vec()),
                ]
                .into_iter()
                .collect();
                let same = compare(&text, &buffers, [3, 1, 1], |module, info, entry, buffers, workgroups| {
                    run(Vectorization::Use, module, info, entry, buffers, workgroups)
                });
                assert_eq!(same, Ok(()), "{n}, {c}: {text}");
            }
        }
    }
}

#[test]
fn conditional_stores_give_bits_of_interpreter() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @group(0) @binding(1) var<storage, read_write> other: array<i32>;
        @group(0) @binding(2) var<uniform> bounds: vec4<u32>;
        @compute @workgroup_size(32)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.y * 32u + id.x;
            let shared_value = sqrt(f32(i) + 0.5);
            if id.x < bounds.x { out[i] = shared_value; }
            if id.y == bounds.y { out[i + 96u] = shared_value * 2.0; other[i] = i32(i) - 7; }
            if id.x >= bounds.z && id.y != bounds.w { out[i + 192u] = shared_value + 1.0; }
            if bounds.x > 100u { other[i + 64u] = 1; }
        }";
    for bounds in [[32_u32, 1, 0, 9], [16, 0, 16, 1], [13, 2, 5, 0], [101, 1, 31, 2], [0, 7, 99, 0]] {
        for vectors in [Vectorization::Avoid, Vectorization::Use] {
            let buffers: Buffers = [
                ((0, 0), vec![0x55; 4 * 250]),
                ((0, 1), vec![0x33; 4 * 130]),
                ((0, 2), bytemuck::cast_slice(&bounds).to_vec()),
            ]
            .into_iter()
            .collect();
            let same = compare(text, &buffers, [1, 3, 1], |module, info, entry, buffers, workgroups| {
                run(vectors, module, info, entry, buffers, workgroups)
            });
            assert_eq!(same, Ok(()), "{vectors:?}, {bounds:?}");
        }
    }
}

#[test]
fn wide_variables_of_lanes_do_not_overlap_zeroed_ones() {
    let text = "
        @group(0) @binding(0) var<storage> wide: array<u64>;
        @group(0) @binding(1) var<storage, read_write> out: array<u64>;
        fn narrow(x: u32) -> u32 { var words: array<u32, 9>; words[x] = x; return words[x + 1u]; }
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) x: u32) {
            let zero = narrow(x);
            var values: array<u64, 5>;
            values[x % 5u] = wide[x];
            workgroupBarrier();
            out[x] = values[x % 5u] + values[(x + 1u) % 5u] + u64(zero);
        }";
    let wide: Vec<u64> = (0..8).map(fibonacci_hash).collect();
    let arrays = [wide, vec![0; 8]];
    let bytes = |words: &Vec<u64>| bytemuck::cast_slice(words).to_vec();
    let buffers: Buffers = (0..).zip(&arrays).map(|(number, words)| ((0, number), bytes(words))).collect();
    for vectors in [Vectorization::Avoid, Vectorization::Use] {
        let result = compare_with(&options(), text, &buffers, [1, 1, 1], |module, info, entry, buffers, groups| {
            run(vectors, module, info, entry, buffers, groups)
        });
        assert_eq!(result, Ok(()), "{vectors:?}");
    }
}
