use super::{check, quadruples};

const NUMBERS: [f32; 9] = [0.0, 1.0, -1.0, 0.5, 2.25, -3.5, 0.1, 7.0, -0.3];

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).reduce(|sum, product| sum + product).unwrap()
}

#[test]
fn constructors_and_swizzles_order_components() {
    let inputs = quadruples(&NUMBERS);
    check("vec4<f32>(x.yx, x.w, x.z)", &inputs, |[a, b, c, d]| [b, a, d, c]);
    check("vec4<f32>(vec3<f32>(x.x), 2.0)", &inputs, |[a, ..]| [a, a, a, 2.0]);
    check("x.wzyx.xy", &inputs, |[_, _, c, d]| [d, c]);
    check("x.rg + x.ba", &inputs, |[a, b, c, d]| [a + c, b + d]);
    check("vec2<f32>() + x.xx", &inputs, |[a, ..]| [a, a]);
}

#[test]
fn operators_mix_scalars_and_vectors() {
    let inputs = quadruples(&NUMBERS);
    check("x * 2.0 - x.w", &inputs, |x| x.map(|a| a * 2.0 - x[3]));
    check("1.0 / x", &inputs, |x| x.map(|a| 1.0 / a));
    check("(x % vec4<f32>(2.0)).xy", &inputs, |[a, b, ..]| [a, b].map(|a| a - 2.0 * (a / 2.0).trunc()));
    check("u32(all(x < vec4<f32>(1.5))) + 2u * u32(any(x == vec4<f32>(0.1)))", &inputs, |x| {
        u32::from(x.iter().all(|a| *a < 1.5)) + 2 * u32::from(x.contains(&0.1))
    });
}

#[test]
fn dynamic_index_of_vector_is_clamped() {
    let inputs: Vec<[u32; 4]> = (0..7).chain([u32::MAX]).map(|i| [i, 11, 12, 13]).collect();
    check("x[x.x]", &inputs, |x| x[(x[0] as usize).min(3)]);
    check("x[bitcast<i32>(x.x)]", &inputs, |x| x[(x[0] as usize).min(3)]);
}

#[test]
fn geometric_functions_follow_their_formulas() {
    let inputs = quadruples(&NUMBERS);
    let length = |x: &[f32]| dot(x, x).sqrt();
    check("dot(x, x.wzyx)", &inputs, |x| dot(&x, &[x[3], x[2], x[1], x[0]]));
    check("length(x.xyz)", &inputs, |x| length(&x[..3]));
    check("length(x.x)", &inputs, |x| x[0].abs());
    check("distance(x.xy, x.zw)", &inputs, |[a, b, c, d]| length(&[a - c, b - d]));
    check("distance(x.x, x.y)", &inputs, |[a, b, ..]| (a - b).abs());
    check("normalize(x)", &inputs, |x| x.map(|a| a / length(&x)));
    check("vec4<f32>(cross(x.xyz, x.wxy), 0.0)", &inputs, |[a, b, c, d]| {
        [b * b - c * a, c * d - a * b, a * a - b * d, 0.0]
    });
}

#[test]
fn reflection_and_refraction_follow_their_formulas() {
    let inputs = quadruples(&NUMBERS);
    check(
        "faceForward(x.xy, x.zw, x.yx)",
        &inputs,
        |[a, b, c, d]| {
            if dot(&[c, d], &[b, a]) < 0.0 { [a, b] } else { [-a, -b] }
        },
    );
    check("reflect(x.xy, x.zw)", &inputs, |[a, b, c, d]| {
        let twice = 2.0 * dot(&[c, d], &[a, b]);
        [a - twice * c, b - twice * d]
    });
    check("refract(x.xy, x.zw, x.y)", &inputs, |[a, b, c, d]| {
        let product = dot(&[c, d], &[a, b]);
        let k = 1.0 - b * b * (1.0 - product * product);
        let factor = b * product + k.sqrt();
        if k < 0.0 { [0.0, 0.0] } else { [b * a - factor * c, b * b - factor * d] }
    });
}

#[test]
fn matrix_products_follow_their_formulas() {
    let inputs = quadruples(&NUMBERS);
    let m = "mat2x2<f32>(x.x, x.y, x.z, x.w)";
    check(&format!("{m} * x.xy"), &inputs, |[a, b, c, d]| [a * a + c * b, b * a + d * b]);
    check(&format!("x.xy * {m}"), &inputs, |[a, b, c, d]| [a * a + b * b, a * c + b * d]);
    check(&format!("({m} * {m})[1]"), &inputs, |[a, b, c, d]| [a * c + c * d, b * c + d * d]);
    check(&format!("({m} * x.x - {m})[0]"), &inputs, |[a, b, ..]| [a * a - a, b * a - b]);
    check(&format!("(x.x * {m} + {m})[1].x"), &inputs, |[a, _, c, _]| a * c + c);
    check("(mat3x2<f32>(x.xy, x.zw, x.yx) * x.xyz).x", &inputs, |[a, b, c, _]| a * a + c * b + b * c);
    check("(x.xyz * mat2x3<f32>(x.xyz, x.yzw)).y", &inputs, |[a, b, c, d]| a * b + b * c + c * d);
}

#[test]
fn transpose_and_determinant_follow_their_formulas() {
    let inputs = quadruples(&NUMBERS);
    check("transpose(mat3x2<f32>(x.xy, x.zw, x.yx))[1].x", &inputs, |[_, b, ..]| b);
    check("determinant(mat2x2<f32>(x.xy, x.zw))", &inputs, |[a, b, c, d]| a * d - c * b);
    check("determinant(mat3x3<f32>(x.xyz, x.wxy, x.zzw))", &inputs, |[a, b, c, d]| {
        a * (a * d - b * c) - b * (d * d - b * c) + c * (d * c - a * c)
    });
    check(
        "determinant(mat4x4<f32>(2.0, 0.0, 0.0, x.x, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, x.y, 0.0, 0.0, 7.0))",
        &[[0.0f32, 0.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0]],
        |[a, b, ..]| 2.0 * 3.0 * 5.0 * 7.0 - a * b * 15.0,
    );
}
