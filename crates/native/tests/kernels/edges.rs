//! Kernels with one operator or built-in function each, for numbers at the boundaries of their
//! types, scalars and vectors. [`edge_kernels`] runs them on an executor and the interpreter.

use naga::Module;
use naga::valid::ModuleInfo;

use crate::compare::{Failure, compare_with};
use crate::interpreter::{Buffers, Options};
use crate::random::Extensions;

const COUNT: usize = 130;

/// Expressions of floats of one type: `x`, `y` and `z`. `T` is the type, `I` the type of `i32` of
/// the same size, `S` the scalar type.
const FLOAT: [&str; 62] = [
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x % y",
    "-x",
    "x * y + z",
    "x * y - z",
    "abs(x)",
    "ceil(x)",
    "floor(x)",
    "fract(x)",
    "round(x)",
    "trunc(x)",
    "sign(x)",
    "saturate(x)",
    "sqrt(x)",
    "inverseSqrt(x)",
    "degrees(x)",
    "radians(x)",
    "sin(x)",
    "cos(x)",
    "tan(x)",
    "asin(x)",
    "acos(x)",
    "atan(x)",
    "sinh(x)",
    "cosh(x)",
    "tanh(x)",
    "asinh(x)",
    "acosh(x)",
    "atanh(x)",
    "exp(x)",
    "exp2(x)",
    "log(x)",
    "log2(x)",
    "min(x, y)",
    "max(x, y)",
    "min(max(x, y), z)",
    "max(T(), x)",
    "pow(x, y)",
    "atan2(x, y)",
    "step(x, y)",
    "clamp(x, y, z)",
    "smoothstep(x, y, z)",
    "mix(x, y, z)",
    "fma(x, y, z)",
    "fma(x, -y, z)",
    "modf(x).fract",
    "modf(x).whole",
    "frexp(x).fract",
    "ldexp(x, I(y))",
    "ldexp(x, I(y) - I(150))",
    "select(x, y, x < y)",
    "select(x, y, x >= y)",
    "select(x, y, z == x)",
    "select(x, y, z != x)",
    "select(x, y, x <= z)",
    "T(I(x))",
    "T(x > y)",
    "1.0 / x",
    "x * x - y",
];

/// Expressions of integers of one type; `U` is the type of `u32` of the same size.
const INTEGER: [&str; 25] = [
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x % y",
    "x & y",
    "x | y",
    "x ^ y",
    "~x",
    "x << U(y)",
    "x >> U(y)",
    "abs(x)",
    "min(x, y)",
    "max(x, y)",
    "clamp(x, y, z)",
    "select(x, y, x < z)",
    "select(x, y, x <= z)",
    "select(x, y, x == z)",
    "select(x, y, x > z)",
    "x / T(3)",
    "x % T(7)",
    "x * T(10) + y",
    "x >> U(5)",
    "T(x != y)",
    "(x / y) * y + x % y",
];

const SIGNED: [&str; 3] = ["-x", "sign(x)", "x / -T(2)"];

const WORD: [&str; 8] = [
    "countOneBits(x)",
    "countLeadingZeros(x)",
    "countTrailingZeros(x)",
    "reverseBits(x)",
    "firstLeadingBit(x)",
    "firstTrailingBit(x)",
    "extractBits(x, u32(yS), u32(zS))",
    "insertBits(x, y, u32(yS), u32(zS))",
];

const VECTOR: [&str; 6] =
    ["normalize(x)", "reflect(x, y)", "refract(x, y, z.x)", "faceForward(x, y, z)", "mix(x, y, z.x)", "x * y.x"];

const REDUCTION: [&str; 4] = ["dot(x, y)", "length(x)", "distance(x, y)", "dot(x * y, z)"];

/// Expressions with the types of their operands and of the result.
const OTHER: [(&str, &str, &str); 51] = [
    ("quantizeToF16(x)", "f32", "f32"),
    ("frexp(x).exp", "f32", "i32"),
    ("cross(x, y)", "vec3<f32>", "vec3<f32>"),
    ("pack4x8snorm(x)", "vec4<f32>", "u32"),
    ("pack4x8unorm(x)", "vec4<f32>", "u32"),
    ("pack2x16snorm(x)", "vec2<f32>", "u32"),
    ("pack2x16unorm(x)", "vec2<f32>", "u32"),
    ("pack2x16float(select(x, vec2<f32>(1.0), x != x))", "vec2<f32>", "u32"),
    ("bitcast<u32>(select(x, 1.0, x != x))", "f32", "u32"),
    ("bitcast<i32>(select(x, 1.0, x != x))", "f32", "i32"),
    ("bitcast<f32>(x)", "u32", "f32"),
    ("bitcast<i32>(x)", "u32", "i32"),
    ("unpack4x8snorm(x)", "u32", "vec4<f32>"),
    ("unpack4x8unorm(x)", "u32", "vec4<f32>"),
    ("unpack2x16snorm(x)", "u32", "vec2<f32>"),
    ("unpack2x16unorm(x)", "u32", "vec2<f32>"),
    ("unpack2x16float(x)", "u32", "vec2<f32>"),
    ("unpack4xI8(x)", "u32", "vec4<i32>"),
    ("unpack4xU8(x)", "u32", "vec4<u32>"),
    ("pack4xI8(x)", "vec4<i32>", "u32"),
    ("pack4xI8Clamp(x)", "vec4<i32>", "u32"),
    ("pack4xU8(x)", "vec4<u32>", "u32"),
    ("pack4xU8Clamp(x)", "vec4<u32>", "u32"),
    ("dot4I8Packed(x, y)", "u32", "i32"),
    ("dot4U8Packed(x, y)", "u32", "u32"),
    ("dot(x, y)", "vec3<i32>", "i32"),
    ("dot(x, y)", "vec4<u32>", "u32"),
    ("u32(x)", "f32", "u32"),
    ("i32(x)", "f32", "i32"),
    ("f32(x)", "i32", "f32"),
    ("f32(x)", "u32", "f32"),
    ("u32(all(x < y)) + 2u * u32(any(x < y))", "vec3<f32>", "u32"),
    ("u32(!(x < y) && (x > z || y != z))", "f32", "u32"),
    ("u32((x < y) & (x > z) | (y == z))", "i32", "u32"),
    ("x[u32(z.x)]", "vec4<f32>", "f32"),
    ("x[z.x]", "vec3<i32>", "i32"),
    ("mat2x2<f32>(x.xy, y.xy) * z.xy", "vec4<f32>", "vec2<f32>"),
    ("mat3x4<f32>(x, y, z) * x.xyz", "vec4<f32>", "vec4<f32>"),
    ("x * mat3x4<f32>(x, y, z)", "vec4<f32>", "vec3<f32>"),
    ("(mat2x3<f32>(x, y) * mat3x2<f32>(x.xy, y.xy, z.xy))[1]", "vec3<f32>", "vec3<f32>"),
    ("transpose(mat3x3<f32>(x, y, z))[1]", "vec3<f32>", "vec3<f32>"),
    ("(mat2x2<f32>(x, y) * z.x - mat2x2<f32>(y, z))[1]", "vec2<f32>", "vec2<f32>"),
    ("determinant(mat2x2<f32>(x, y))", "vec2<f32>", "f32"),
    ("determinant(mat3x3<f32>(x, y, z))", "vec3<f32>", "f32"),
    ("determinant(mat4x4<f32>(x, y, z, x.wxzy))", "vec4<f32>", "f32"),
    ("x.zxy.yx", "vec3<f32>", "vec2<f32>"),
    ("vec4<f32>(x.x, y, z.y)", "vec2<f32>", "vec4<f32>"),
    ("vec3<f32>(x)", "vec3<i32>", "vec3<f32>"),
    ("vec4<i32>(x)", "vec4<f32>", "vec4<i32>"),
    ("vec2<u32>(x)", "vec2<f32>", "vec2<u32>"),
    ("select(x, y, z > x)", "vec4<f32>", "vec4<f32>"),
];

struct EdgeExpression {
    expression: String,
    operand: String,
    result: String,
}

fn edges(extensions: Extensions) -> Vec<EdgeExpression> {
    let mut edges = Vec::new();
    let mut add = |expression: &str, scalar: &str, size: usize, is_scalar_result: bool| {
        let shaped = |scalar: &str| if size == 1 { scalar.to_string() } else { format!("vec{size}<{scalar}>") };
        let operand = shaped(scalar);
        let component = if size == 1 { "" } else { ".x" };
        let one = if scalar == "f16" { "1.0h" } else { "1.0" };
        let words = expression.split_inclusive(|c: char| !c.is_alphanumeric());
        let words = words.map(|word| {
            let name = word.trim_end_matches(|c: char| !c.is_alphanumeric());
            let rest = &word[name.len()..];
            let name = match name {
                "T" => operand.clone(),
                "I" => shaped("i32"),
                "U" => shaped("u32"),
                "yS" => format!("y{component}"),
                "zS" => format!("z{component}"),
                name => name.to_string(),
            };
            format!("{name}{rest}")
        });
        let expression = words.collect::<String>().replace("1.0 /", &format!("{operand}({one}) /"));
        let result = if is_scalar_result { scalar.to_string() } else { operand.clone() };
        edges.push(EdgeExpression { expression, operand, result });
    };
    let mut floats = vec!["f32"];
    floats.extend(extensions.half.then_some("f16"));
    floats.extend(extensions.double.then_some("f64"));
    for scalar in floats {
        for (i, expression) in FLOAT.into_iter().enumerate() {
            add(expression, scalar, 1, false);
            add(expression, scalar, 2 + i % 3, false);
        }
        for size in 2..=4 {
            VECTOR.into_iter().for_each(|expression| add(expression, scalar, size, false));
            REDUCTION.into_iter().for_each(|expression| add(expression, scalar, size, true));
        }
    }
    let mut integers = vec!["i32", "u32"];
    if extensions.wide_integers {
        integers.extend(["i64", "u64"]);
    }
    for scalar in integers {
        let signed = if scalar.starts_with('i') { &SIGNED[..] } else { &[] };
        let word = if scalar.ends_with("32") { &WORD[..] } else { &[] };
        for (i, expression) in INTEGER.iter().chain(signed).chain(word).enumerate() {
            add(expression, scalar, 1, false);
            add(expression, scalar, 2 + i % 3, false);
        }
    }
    for (expression, operand, result) in OTHER {
        let (expression, operand, result) = (expression.into(), operand.into(), result.into());
        edges.push(EdgeExpression { expression, operand, result });
    }
    edges
}

impl EdgeExpression {
    fn text(&self) -> String {
        let Self { expression, operand, result } = self;
        let enable = if operand.contains("f16") { "enable f16;\n" } else { "" };
        format!(
            "{enable}@group(0) @binding(0) var<storage> xs: array<{operand}>;
@group(0) @binding(1) var<storage> ys: array<{operand}>;
@group(0) @binding(2) var<storage> zs: array<{operand}>;
@group(0) @binding(3) var<storage, read_write> results: array<{result}>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = id.x;
    if i >= {COUNT}u {{ return; }}
    let x = xs[i];
    let y = ys[i];
    let z = zs[i];
    results[i] = {expression};
}}
"
        )
    }

    /// Buffers of the operands: all pairs of some numbers, with a third number.
    fn buffers(&self) -> Buffers {
        let numbers = numbers(self.operand.rsplit('<').next().unwrap_or_default().trim_end_matches('>'));
        let components = match &self.operand {
            ty if ty.starts_with("vec2") => 2,
            ty if ty.starts_with("vec3") || ty.starts_with("vec4") => 4,
            _ => 1,
        };
        let n = numbers.len();
        let operand = |index: &dyn Fn(usize) -> usize| -> Vec<u8> {
            let numbers = (0..COUNT * components).map(|i| &numbers[index(i / components + i % components * 5) % n]);
            numbers.flatten().copied().collect()
        };
        let [x, y, z] = [operand(&|i| i), operand(&|i| i / n * 3 + i), operand(&|i| i * 11 + i / n)];
        [((0, 0), x), ((0, 1), y), ((0, 2), z), ((0, 3), vec![0; COUNT * 32])].into()
    }
}

fn numbers(scalar: &str) -> Vec<Vec<u8>> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.5,
        -0.5,
        1.5,
        -2.5,
        3.0,
        0.1,
        -0.7,
        1e-40,
        -1e-45,
        f64::from(f32::MIN_POSITIVE),
        f64::from(f32::MAX),
        f64::from(f32::MIN),
        2147483648.0,
        -2147483648.0,
        4294967296.0,
        2147483520.0,
        -2147483904.0,
        16777217.0,
        8388607.5,
        88.8,
        -87.4,
        -103.9,
        127.9,
        -149.5,
        65504.0,
        65519.9,
        1e-7,
        6.1e-5,
        1e-300,
        1e300,
        9.3e18,
        33.0,
        -20.25,
        1e4,
    ];
    let integers = [
        0,
        1,
        -1,
        2,
        -2,
        3,
        7,
        -7,
        31,
        32,
        33,
        63,
        64,
        100,
        255,
        -129,
        i32::MAX.into(),
        i32::MIN.into(),
        i64::from(i32::MIN) + 1,
        u32::MAX.into(),
        0x0f0f_1234,
        0x80ff_7f01,
        65536,
        i64::MAX,
        i64::MIN,
        1 << 32,
        -(1 << 33) + 5,
    ];
    match scalar {
        "f16" => floats.map(|x| half::f16::from_f64(x).to_le_bytes().to_vec()).to_vec(),
        "f32" => floats.map(|x| (x as f32).to_le_bytes().to_vec()).to_vec(),
        "f64" => floats.map(|x| x.to_le_bytes().to_vec()).to_vec(),
        "i64" | "u64" => integers.map(|x: i64| x.to_le_bytes().to_vec()).to_vec(),
        _ => integers.map(|x: i64| (x as u32).to_le_bytes().to_vec()).to_vec(),
    }
}

/// Runs each edge kernel on an executor and the interpreter; returns the failures with their texts,
/// and the number of kernels.
pub(crate) fn edge_kernels(
    options: &Options<'_>,
    extensions: Extensions,
    executor: impl Fn(&Module, &ModuleInfo, &str, &mut Buffers, [u32; 3]) -> Result<(), String>,
) -> (usize, Vec<(String, Failure)>) {
    let edges = edges(extensions);
    let failures = edges.iter().filter_map(|edge| {
        let text = edge.text();
        let workgroups = [COUNT.div_ceil(64) as u32, 1, 1];
        let failure = compare_with(options, &text, &edge.buffers(), workgroups, &executor).err()?;
        Some((text, failure))
    });
    (edges.len(), failures.collect())
}
