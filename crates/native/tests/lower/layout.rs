use crate::evaluator::Evaluator;
use crate::half::f32_to_half;
use crate::{lower, run_with};
use zippy_native::ir::Binding;

const STRUCT: &str = "enable f16;
    struct Inner { a: u32, b: vec3<f32> }
    struct Outer {
        x: f32,
        inner: array<Inner, 2>,
        m: mat3x3<f32>,
        n: mat4x2<f32>,
        h: f16,
        g: vec3<f16>,
        hm: mat2x3<f16>,
        l: i64,
        d: vec2<f64>,
        @align(64) far: u32,
        @size(20) wide: u32,
        tail: array<Inner>,
    }";

// Offsets by the rules of WGSL.
const INNER: usize = 16;
const M: usize = INNER + 2 * 32;
const N: usize = M + 48;
const H: usize = N + 32;
const G: usize = H + 8;
const HM: usize = G + 8;
const L: usize = HM + 16;
const D: usize = L + 8 + 8;
const FAR: usize = 256;
const WIDE: usize = FAR + 4;
const TAIL: usize = 288;

#[test]
fn members_have_the_offsets_of_wgsl() {
    const { assert!(D.is_multiple_of(16) && D + 16 <= FAR) };
    let source = format!(
        "{STRUCT}
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> s: Outer;
        @compute @workgroup_size(1) fn main() {{
            out[0] = u32(s.x); out[1] = s.inner[1].a; out[2] = u32(s.inner[1].b.z); out[3] = u32(s.m[2].y);
            out[4] = u32(s.n[3].y); out[5] = u32(s.h); out[6] = u32(s.g.z); out[7] = u32(s.hm[1].z);
            out[8] = u32(s.l); out[9] = u32(s.d.y); out[10] = s.far; out[11] = s.wide;
            out[12] = arrayLength(&s.tail); out[13] = s.tail[1].a; out[14] = u32(s.tail[0].b.x);
            let i = out[12]; out[15] = s.tail[i].a; s.tail[i - 1u].b.y = 3.0; s.tail[i].b.y = 5.0;
            s.hm[i - 1u] = vec3<f16>(1.0h, 2.0h, 3.0h);
        }}"
    );
    let mut bytes = vec![0_u8; TAIL + 2 * 32 + 20];
    let mut put = |offset: usize, data: &[u8]| bytes[offset..offset + data.len()].copy_from_slice(data);
    put(0, &1.0_f32.to_le_bytes());
    put(INNER + 32, &2_u32.to_le_bytes());
    put(INNER + 32 + 16 + 8, &3.0_f32.to_le_bytes());
    put(M + 2 * 16 + 4, &4.0_f32.to_le_bytes());
    put(N + 3 * 8 + 4, &5.0_f32.to_le_bytes());
    put(H, &f32_to_half(6.0).to_le_bytes());
    put(G + 4, &f32_to_half(7.0).to_le_bytes());
    put(HM + 8 + 4, &f32_to_half(8.0).to_le_bytes());
    put(L, &9_i64.to_le_bytes());
    put(D + 8, &10.0_f64.to_le_bytes());
    put(FAR, &11_u32.to_le_bytes());
    put(WIDE, &12_u32.to_le_bytes());
    put(TAIL + 32, &14_u32.to_le_bytes());
    put(TAIL + 16, &15.0_f32.to_le_bytes());
    let kernel = lower(&source);
    assert_eq!(kernel.bindings[1].min_bytes as usize, TAIL + 32);
    let mut evaluator = Evaluator::new(&kernel, vec![vec![0; 64], bytes]);
    evaluator.run();
    let out: Vec<_> =
        evaluator.bindings[0].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(out, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 2, 14, 15, 0]);
    let bytes = &evaluator.bindings[1];
    assert_eq!(bytes[TAIL + 32 + 20..TAIL + 32 + 24], 3.0_f32.to_le_bytes());
    assert!(bytes[TAIL + 64..].iter().all(|byte| *byte == 0));
    assert_eq!(bytes[HM + 8 + 2..HM + 8 + 4], f32_to_half(2.0).to_le_bytes());
}

#[test]
fn bindings_list_used_variables_with_their_access() {
    let kernel = lower(
        "struct P { a: vec4<f32>, b: mat2x2<f32> }
         @group(1) @binding(3) var<uniform> params: P;
         @group(0) @binding(7) var<storage, read> unused: array<f32>;
         @group(2) @binding(0) var<storage> source: array<vec2<f32>>;
         @group(0) @binding(1) var<storage, read_write> target_: array<f32, 10>;
         fn helper() -> f32 { return params.b[1].x; }
         @compute @workgroup_size(8, 4, 2) fn main() { target_[0] = helper() + source[0].x; }",
    );
    let binding = |group, binding, name: &str, writable, uniform, min_bytes| Binding {
        group,
        binding,
        name: name.into(),
        writable,
        uniform,
        min_bytes,
    };
    assert_eq!(
        kernel.bindings,
        [
            binding(1, 3, "params", false, true, 32),
            binding(2, 0, "source", false, false, 8),
            binding(0, 1, "target_", true, false, 40),
        ]
    );
    assert_eq!(kernel.workgroup_size, [8, 4, 2]);
}

#[test]
fn built_in_values_come_as_arguments_and_in_structs() {
    let kernel = lower(
        "struct In { @builtin(local_invocation_id) l: vec3<u32>, @builtin(workgroup_id) w: vec3<u32>,
                     @builtin(local_invocation_index) i: u32 }
         @group(0) @binding(0) var<storage, read_write> out: array<u32>;
         @compute @workgroup_size(4, 2, 3)
         fn main(a: In, @builtin(global_invocation_id) g: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {
             out[0] = g.x; out[1] = g.z; out[2] = a.l.y; out[3] = a.w.x; out[4] = a.i; out[5] = n.z; out[6] = a.l.z;
         }",
    );
    let mut evaluator = Evaluator::new(&kernel, vec![vec![0; 28]]);
    evaluator.global_id = [9, 3, 7];
    evaluator.run();
    let out: Vec<_> =
        evaluator.bindings[0].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(out, [9, 7, 1, 2, 1 + 4 * (1 + 2), 102, 1]);
}

#[test]
fn whole_structs_and_arrays_are_copied_between_layouts() {
    let source = "struct S { a: u32, m: mat3x3<f32>, v: array<vec3<u32>, 2>, b: f32 }
        @group(0) @binding(0) var<storage, read_write> out: array<S, 2>;
        @group(0) @binding(1) var<storage, read> input: array<S, 2>;
        var<workgroup> tile: array<S, 2>; var<private> local: array<S, 2>;
        @compute @workgroup_size(1) fn main() {
            tile = input; var k = tile[input[0].a]; local[input[1].a] = k; local[1] = input[1]; out = local;
        }";
    let mut input: Vec<u32> = (0..60).map(|word| word + 1000).collect();
    // Each S has 28 words: a, padding, three columns and two vectors of four words, b, padding.
    input[0] = 1;
    input[28] = 0;
    let out = run_with(source, &input[..56], 56);
    for element in 0..2 {
        for word in [0, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24] {
            assert_eq!(out[element * 28 + word], input[28 + word], "element {element}, word {word}");
        }
        assert_eq!(out[element * 28 + 7], 0, "padding stays");
    }
}
