//! Memory layouts of structs, matrices and arrays, with expected bytes by hand.

use super::{bytes, run_text, values};

/// Runs a kernel with `body` on `input`; returns `output`.
fn transform(declarations: &str, ty: &str, body: &str, input: Vec<u8>) -> Vec<u8> {
    let text = format!(
        "{declarations}
        @group(0) @binding(0) var<storage> input: {ty};
        @group(0) @binding(1) var<storage, read_write> output: {ty};
        @compute @workgroup_size(1) fn main() {{ {body} }}"
    );
    let output = vec![0xaa; input.len()];
    run_text(&text, &[input, output], [1, 1, 1]).unwrap().remove(1)
}

#[test]
fn struct_members_are_aligned_and_padding_is_untouched() {
    let words: Vec<u32> = (1..=12).collect();
    let output = transform(
        "struct S { a: u32, b: vec3<u32>, c: u32, d: vec2<u32> }",
        "S",
        "output = input; output.c = input.b.z + input.d.y;",
        bytes(&words),
    );
    let padding = 0xaaaa_aaaa;
    let expected = [1, padding, padding, padding, 5, 6, 7, 17, 9, 10, padding, padding];
    assert_eq!(values::<u32>(&output), expected);
}

#[test]
fn arrays_of_three_component_vectors_have_a_stride_of_16_bytes() {
    let words: Vec<u32> = (0..12).collect();
    let output = transform(
        "",
        "array<vec3<u32>>",
        "for (var i = 0u; i < arrayLength(&input); i++) { output[i] = input[i].zyx; output[i][1] += 100u; }",
        bytes(&words),
    );
    let padding = 0xaaaa_aaaa;
    assert_eq!(values::<u32>(&output), [2, 101, 0, padding, 6, 105, 4, padding, 10, 109, 8, padding]);
}

#[test]
fn matrices_lie_by_columns() {
    let numbers: Vec<f32> = (0..16).map(|x| x as f32).collect();
    let output = transform("", "mat3x3<f32>", "output = transpose(input); output[2][0] = -1.0;", bytes(&numbers[..12]));
    let output: Vec<f32> = values(&output);
    assert_eq!([&output[..3], &output[4..7], &output[8..11]], [[0.0, 4.0, 8.0], [1.0, 5.0, 9.0], [-1.0, 6.0, 10.0]]);
    let output = transform("", "mat4x2<f32>", "output = input; output[3] = input[0].yx;", bytes(&numbers[..8]));
    assert_eq!(values::<f32>(&output), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 0.0]);
    let output = transform("", "mat2x4<f32>", "output = input * 2.0;", bytes(&numbers[..8]));
    assert_eq!(values::<f32>(&output), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]);
}

#[test]
fn nested_structs_and_arrays_have_aligned_members() {
    let words: Vec<u32> = (0..13).collect();
    let output = transform(
        "struct Inner { a: u32, b: vec2<u32> } struct Outer { head: u32, parts: array<Inner, 2>, tail: array<u32> }",
        "Outer",
        "output.head = input.parts[1].b.y; output.parts = input.parts; output.parts[0].b = vec2<u32>(input.tail[1]);
        for (var i = 0u; i < arrayLength(&input.tail); i++) { output.tail[i] = input.tail[i] + arrayLength(&output.tail); }",
        bytes(&words),
    );
    let padding = 0xaaaa_aaaa;
    let expected = [9, padding, 2, padding, 11, 11, 6, padding, 8, 9, 13, 14, 15];
    assert_eq!(values::<u32>(&output), expected);
}

#[test]
fn attributes_set_size_and_alignment() {
    let words: Vec<u32> = (0..12).collect();
    let output = transform(
        "struct S { @size(16) a: u32, @align(32) b: u32, c: u32 }",
        "S",
        "output = input;",
        bytes(&[words.clone(), vec![0; 4]].concat()),
    );
    let output: Vec<u32> = values(&output);
    assert_eq!([output[0], output[8], output[9]], [0, 8, 9]);
    assert_eq!(output[4], 0xaaaa_aaaa);
}

#[test]
fn halves_have_two_bytes() {
    let halves = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0].map(|x| half::f16::from_f32(x).to_bits());
    let output = transform(
        "enable f16; struct S { a: f16, b: vec2<f16>, c: vec3<f16> }",
        "S",
        "output.a = input.b.y; output.b = input.b + input.b; output.c = input.c.zyx;",
        bytes(&[halves.to_vec(), halves.to_vec()].concat()),
    );
    let output: Vec<f32> = values::<u16>(&output).into_iter().map(|x| half::f16::from_bits(x).to_f32()).collect();
    assert_eq!([output[0], output[2], output[3]], [4.0, 6.0, 8.0]);
    assert_eq!(output[4..7], [7.0, 6.0, 5.0]);
}

#[test]
fn uniforms_are_read() {
    let text = "
        struct Parameters { scale: f32, offset: vec3<f32>, table: array<vec4<f32>, 2> }
        @group(0) @binding(0) var<uniform> parameters: Parameters;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() {
            var i = 1u;
            out[0] = parameters.scale; out[1] = parameters.offset.z; out[2] = parameters.table[i].y;
            out[3] = parameters.table[i + 5u].w;
        }";
    let numbers: Vec<f32> = (0..16).map(|x| x as f32).collect();
    let buffers = run_text(text, &[bytes(&numbers), bytes(&[0f32; 4])], [1, 1, 1]).unwrap();
    assert_eq!(values::<f32>(&buffers[1]), [0.0, 6.0, 13.0, 15.0]);
}

#[test]
fn missing_or_short_buffer_is_an_error() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32, 4>;
        @compute @workgroup_size(1) fn main() { out[3] = 1u; }";
    assert!(run_text(text, &[], [1, 1, 1]).is_err());
    assert!(run_text(text, &[bytes(&[0u32; 3])], [1, 1, 1]).is_err());
}
