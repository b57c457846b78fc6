use crate::{bits, run_body};

/// Runs `body`, which stores floats to `result`, with the floats `input` in `a`.
fn floats(body: &str, input: &[f32], count: usize) -> Vec<f32> {
    let elements = input.len();
    let body = format!(
        "var a: array<f32, {elements}>;
         for (var i = 0; i < {elements}; i++) {{ a[i] = bitcast<f32>(input[i]); }}
         var result: array<f32, {count}>;
         {body}
         for (var i = 0; i < {count}; i++) {{ out[i] = bitcast<u32>(result[i]); }}"
    );
    run_body("", &body, &bits(input), count).into_iter().map(f32::from_bits).collect()
}

const A: [f32; 3] = [1.5, -2.25, 3.1];
const B: [f32; 3] = [0.7, 0.3, -0.9];

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).reduce(|sum, product| sum + product).unwrap_or(0.0)
}

#[test]
fn geometric_functions_follow_their_definitions() {
    let body = "let u = vec3(a[0], a[1], a[2]); let v = vec3(a[3], a[4], a[5]);
        let c = cross(u, v); result[0] = c.x; result[1] = c.y; result[2] = c.z;
        result[3] = dot(u, v); result[4] = length(u); result[5] = distance(u, v);
        let n = normalize(u); result[6] = n.x; result[7] = n.z;
        let f = faceForward(u, u, v); result[8] = f.x;
        let r = reflect(u, v); result[9] = r.x; result[10] = r.y;
        let g = faceForward(u, v, v); result[11] = g.y;
        result[12] = length(a[1]); result[13] = distance(a[1], a[0]);";
    let input: Vec<_> = A.into_iter().chain(B).collect();
    let result = floats(body, &input, 14);
    let cross = [A[1] * B[2] - A[2] * B[1], A[2] * B[0] - A[0] * B[2], A[0] * B[1] - A[1] * B[0]];
    assert_eq!(result[..3], cross);
    let d = dot(&A, &B);
    assert_eq!(result[3], d);
    let length = dot(&A, &A).sqrt();
    assert_eq!(result[4], length);
    let difference: Vec<_> = A.iter().zip(B).map(|(a, b)| a - b).collect();
    assert_eq!(result[5], dot(&difference, &difference).sqrt());
    assert_eq!(result[6..8], [A[0] / length, A[2] / length]);
    assert_eq!(result[8], if d < 0.0 { A[0] } else { -A[0] });
    assert_eq!(result[9..11], [A[0] - 2.0 * d * B[0], A[1] - 2.0 * d * B[1]]);
    assert_eq!(result[11], -A[1]);
    assert_eq!(result[12..], [2.25, (A[1] - A[0]).abs()]);
}

#[test]
fn refract_bends_or_reflects_totally() {
    let body = "let i = vec2(a[0], a[1]); let n = vec2(0.0, 1.0);
        let r = refract(i, n, a[2]); result[0] = r.x; result[1] = r.y;
        let t = refract(i, n, a[3]); result[2] = t.x; result[3] = t.y;";
    let (x, y) = (0.8_f32, -0.6_f32);
    let result = floats(body, &[x, y, 0.9, 3.0], 4);
    let eta = 0.9_f32;
    let d = 0.0 * x + 1.0 * y;
    let k = 1.0 - eta * eta * (1.0 - d * d);
    let factor = eta * d + k.sqrt();
    assert_eq!(result, [eta * x - factor * 0.0, eta * y - factor, 0.0, 0.0]);
}

#[test]
fn products_of_matrices_and_vectors_sum_in_order() {
    let body = "let m = mat2x3(a[0], a[1], a[2], a[3], a[4], a[5]);
        let n = mat3x2(a[6], a[7], a[8], a[9], a[10], a[11]);
        let p = m * n;
        for (var c = 0; c < 3; c++) { let q = p; var k = q; for (var r = 0; r < 3; r++) { result[c * 3 + r] = k[c][r]; } }
        let v = m * vec2(a[0], a[1]); result[9] = v.x; result[10] = v.z;
        let w = vec3(a[0], a[1], a[2]) * m; result[11] = w.x; result[12] = w.y;
        let s = (2.0 * m + m * a[1]) - m; result[13] = s[1].z;";
    let a: Vec<f32> = (0..12).map(|i| (i as f32 * 0.37 - 1.3) * 1.1).collect();
    let result = floats(body, &a, 14);
    let m = |c: usize, r: usize| a[c * 3 + r];
    let n = |c: usize, r: usize| a[6 + c * 2 + r];
    for c in 0..3 {
        for r in 0..3 {
            assert_eq!(result[c * 3 + r], m(0, r) * n(c, 0) + m(1, r) * n(c, 1), "column {c}, row {r}");
        }
    }
    assert_eq!(result[9], m(0, 0) * a[0] + m(1, 0) * a[1]);
    assert_eq!(result[10], m(0, 2) * a[0] + m(1, 2) * a[1]);
    assert_eq!(result[11], a[0] * m(0, 0) + a[1] * m(0, 1) + a[2] * m(0, 2));
    assert_eq!(result[12], a[0] * m(1, 0) + a[1] * m(1, 1) + a[2] * m(1, 2));
    assert_eq!(result[13], (2.0 * m(1, 2) + m(1, 2) * a[1]) - m(1, 2));
}

#[test]
fn transpose_and_determinant_follow_their_definitions() {
    let body = "let t = transpose(mat2x3(a[0], a[1], a[2], a[3], a[4], a[5]));
        result[0] = t[0].x; result[1] = t[0].y; result[2] = t[1].x; result[3] = t[2].y;
        result[4] = determinant(mat2x2(a[0], a[1], a[2], a[3]));
        result[5] = determinant(mat3x3(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]));
        result[6] = determinant(mat4x4(2.0, a[1], 0.0, 0.0, 0.0, 3.0, a[2], 0.0, 0.0, 0.0, 4.0, a[0], 0.0, 0.0, 0.0, 5.0));";
    let a = [1.0, 2.0, 3.0, 5.0, -7.0, 11.0, 4.0, 6.0, -2.0];
    let result = floats(body, &a, 7);
    assert_eq!(result[..4], [1.0, 5.0, 2.0, 11.0]);
    assert_eq!(result[4], 5.0 - 6.0);
    let determinant = 1.0 * (-7.0 * -2.0 - 11.0 * 6.0) - 2.0 * (5.0 * -2.0 - 11.0 * 4.0) + 3.0 * (5.0 * 6.0 + 28.0);
    assert_eq!(result[5], determinant);
    assert_eq!(result[6], 120.0);
}

#[test]
fn all_and_any_and_select_work_on_vectors() {
    let body = "let v = vec3(input[0], input[1], input[2]);
        let less = v < vec3(5u);
        out[0] = u32(all(less)); out[1] = u32(any(less)); out[2] = u32(all(less[0]));
        let s = select(v, vec3(9u), less); out[3] = s.x; out[4] = s.y; out[5] = s.z;
        let t = select(v, vec3(9u), input[0] < input[1]); out[6] = t.z;
        let b = (less == vec3(true, false, true)); out[7] = u32(b.x) + 2u * u32(b.y) + 4u * u32(b.z);
        let w = v.zxy; out[8] = w.x; out[9] = w.y; let x = v.yyzz; out[10] = x.w;
        out[11] = u32(!less.x) + 2u * u32(less.x | less.y) + 4u * u32(less.x & less.y) + 8u * u32(less.x != less.y);";
    let out = run_body("", body, &[1, 7, 3], 12);
    assert_eq!(out, [0, 1, 1, 9, 7, 9, 9, 7, 3, 1, 3, 10]);
}
