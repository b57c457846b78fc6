//! Kernels with comparisons of positions that hold in an interval of a row, and bounds at its ends.

use zippy_native::Vectorization;

use crate::compare::compare_with;
use crate::interpreter::Buffers;
use crate::machine_code::run;
use crate::native::options;

/// Names and bodies of kernels. A body uses the position `x`, its signed form `s`, the bounds `a`
/// to `d`, the array `source`, the constant-length array `fixed`, and the writable arrays `out` and
/// `other`.
const BODIES: [(&str, &str); 18] = [
    ("domain", "if x >= a { return; } out[x] = source[x + b] ^ source[x + b - 1u] ^ source[x + c];"),
    ("strict domain", "if x < a { out[x + b] = source[x] + 1u; other[x] = source[x + 1u]; }"),
    ("signed", "let y = s + i32(b); if y > 0 && y < i32(a) { out[x] = source[y - 1]; } else { out[x] = 7u; }"),
    ("reversed", "out[x] = source[a - x]; if i32(a) - s >= 0 { other[a - x] = x; }"),
    ("clamp", "out[x] = source[min(x + b, a)] + source[max(x, c)] + source[clamp(i32(a) - s, 0, i32(b))];"),
    ("quotient", "let y = x + b; out[x] = y / a * 31u + source[y % a] + y / 7u; other[y % a] = 1u;"),
    ("equality", "if x == a { return; } out[x] = select(source[x], 9u, x + b != c) + u32(x * 4u == d);"),
    ("stride", "out[x] = source[x * 2u + a] + source[b - 4u * x] + source[(x << 3u) - c] + source[3u * x + d];"),
    (
        "condition of the row",
        "if a > 9u { out[x + b] = source[x] + x; } if c == 0u { return; } other[x] = source[x + d] + out[x + b];",
    ),
    ("selected", "let y = select(x + b, a, a > 40u); out[x] = source[y]; other[x] = select(d, y, y < c);"),
    ("loop", "var n = 0u; for (var k = 0u; k < min(a, 9u); k++) { if x + k < b { n += source[x + k]; } } out[x] = n;"),
    (
        "early return",
        "if source[x] % 3u == 0u { return; } if x + 1u < a { out[x] = source[x + 1u]; } other[x] = reach(x, b);",
    ),
    ("ghost", "let y = select(x + b, 0x9e3779b9u, a <= x || c <= 3u); if y < d { out[y] = source[y - 1u]; }"),
    ("joined", "if c > 40u { out[x] = source[x + d] + 1u; } if b > 8u { other[x] = source[x + d + 1u]; }"),
    (
        "branch in a loop",
        "var n = 0u; for (var k = 0u; k < min(a, 9u); k++) { if c > 40u { n += source[x + d] ^ k; } n = n * 3u + k; }
        out[x] = n; other[x] = 1u;",
    ),
    (
        "remainder in the domain",
        "let y = x % a; if any(vec2(y, x / a) >= vec2(a, b)) { return; } out[x] = y + 1u; other[x] = source[y];",
    ),
    (
        "clamped twice",
        "let y = min(max(x + d, 16u), 31u) - min(x, 15u); out[x] = fixed[y]; other[x] = fixed[min(x, 15u)] + source[y];",
    ),
    ("in place", "if x + 1u < a { out[x] = out[x] * 3u + source[x + b]; out[x] += 1u; } other[x] = out[x];"),
];

fn text(body: &str) -> String {
    format!(
        "struct Bounds {{ a: u32, b: u32, c: u32, d: u32 }}
        @group(0) @binding(0) var<uniform> bounds: Bounds;
        @group(0) @binding(1) var<storage> source: array<u32>;
        @group(0) @binding(2) var<storage, read_write> out: array<u32>;
        @group(0) @binding(3) var<storage, read_write> other: array<u32>;
        @group(0) @binding(4) var<storage> fixed: array<u32, 32>;
        fn reach(x: u32, b: u32) -> u32 {{ if x >= b {{ return 5u; }} return source[x]; }}
        @compute @workgroup_size(16)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let x = id.x;
            let s = i32(x);
            let a = bounds.a;
            let b = bounds.b;
            let c = bounds.c;
            let d = bounds.d;
            {body}
        }}"
    )
}

const ROW: u32 = 176;

const BOUNDS: [u32; 26] = [
    0,
    1,
    2,
    3,
    7,
    8,
    9,
    15,
    16,
    17,
    41,
    64,
    100,
    ROW - 9,
    ROW - 8,
    ROW - 1,
    ROW,
    ROW + 1,
    1 << 30,
    0x7000_0000,
    1 << 31,
    (1 << 31) - 60,
    u32::MAX,
    u32::MAX - 1,
    u32::MAX - 16,
    u32::MAX - 70,
];

#[test]
fn interiors_of_rows_give_bits_of_interpreter() {
    let mut state = 0x1234_5678_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let count = std::env::var("ZIPPY_RANDOM_KERNELS").map_or(12, |text| text.parse().unwrap());
    for (name, body) in BODIES {
        let text = text(body);
        for _ in 0..count {
            let bounds: Vec<u32> = (0..4).map(|_| BOUNDS[random(BOUNDS.len())]).collect();
            let length = [ROW as usize + 20, ROW as usize, 90][random(3)];
            let source: Vec<u32> = (0..length as u32).map(|number| number.wrapping_mul(2_654_435_761)).collect();
            let fixed = (100..132).collect();
            let arrays = [bounds.clone(), source, vec![3; ROW as usize + 5], vec![4; ROW as usize - 30], fixed];
            let bytes = |words: &Vec<u32>| bytemuck::cast_slice(words).to_vec();
            let buffers: Buffers = (0..).zip(&arrays).map(|(number, words)| ((0, number), bytes(words))).collect();
            let result =
                compare_with(&options(), &text, &buffers, [ROW / 16, 1, 1], |module, info, entry, buffers, groups| {
                    run(Vectorization::Use, module, info, entry, buffers, groups)
                });
            assert_eq!(result, Ok(()), "{name} with bounds {bounds:?} and {length} words");
        }
    }
}

/// A kernel that records accesses outside of a box, as in checked runs.
const RECORDED: &str = "
    struct Bounds { domain: vec4<i32>, low: vec4<i32>, extent: vec4<i32>, storage: vec4<i32> }
    @group(0) @binding(0) var<uniform> bounds: Bounds;
    @group(0) @binding(1) var<storage> source: array<u32>;
    @group(0) @binding(2) var<storage, read_write> out: array<u32>;
    @group(0) @binding(3) var<storage, read_write> report: array<atomic<u32>>;
    var<private> low: vec3<i32>;
    var<private> extent: vec3<i32>;
    var<private> strays: u32;
    var<private> first: vec3<i32>;
    var<private> layers: u32;
    fn record(p: vec3<i32>) {
        if all(vec3<u32>(p - low) < vec3<u32>(extent)) & (arrayLength(&source) > 0u) { return; }
        if !all(vec3<u32>(p + vec3(2)) < vec3<u32>(bounds.storage.xyz)) {
            if strays == 0u { first = p; }
            strays += 1u;
            return;
        }
        var c = 0u;
        let q = p - low;
        c = select(c, c * u32(extent.x) + u32(q.x), bounds.storage.x == extent.x);
        c = c * 3u + u32(select(select(0, 1, q.y >= extent.y), 2, q.y < 0));
        c = c * 3u + u32(select(select(0, 1, q.x >= extent.x), 2, q.x < 0));
        layers |= 1u << c;
    }
    fn load(p: vec3<i32>) -> u32 { record(p); return source[u32(p.x + p.y * 60 + p.z * 300 + 400)]; }
    fn body(id: vec3<u32>) {
        let p = vec3<i32>(id);
        if !all(id < vec3<u32>(bounds.domain.xyz)) { return; }
        let x = load(p - vec3(1, 0, 0)) ^ load(p + vec3(1, 0, 0));
        let y = load(p - vec3(0, 1, 0)) + load(p + vec3(0, 1, 0));
        out[id.x + 180u * (id.y + 4u * id.z)] = x * 3u + y + load(p - vec3(0, 0, 1));
    }
    @compute @workgroup_size(16)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        low = bounds.low.xyz;
        extent = bounds.extent.xyz;
        body(id);
        var words = 0u;
        if strays > 0u {
            if atomicAdd(&report[0], strays) < 0xffffffffu { words = min(strays, 2u); }
        }
        for (var k = 0u; k < words; k++) { atomicMax(&report[1u + k], u32(first.x * 64 + first.y * 8 + first.z)); }
        if layers != 0u {
            atomicOr(&report[4], layers);
            atomicAnd(&report[5], layers);
            atomicMin(&report[6], layers);
        }
    }";

#[test]
fn recorded_accesses_of_rows_give_bits_of_interpreter() {
    let mut state = 0x8765_4321_u32;
    let mut random = |values: &[i32]| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        values[(state >> 8) as usize % values.len()]
    };
    let count = std::env::var("ZIPPY_RANDOM_KERNELS").map_or(12, |text| text.parse().unwrap());
    for _ in 0..count {
        let domain = [random(&[40, 61, 100, 160, 176]), random(&[1, 3, 4]), random(&[1, 2]), 0];
        let low = [random(&[0, 0, -1, 1]), random(&[0, 0, -1]), random(&[0, 0, -1]), 0];
        let extent = [domain[0] + random(&[0, 0, 1, -9]), domain[1] + random(&[0, 0, 2]), domain[2] + 1, 0];
        let storage = [random(&[300, extent[0], extent[0] + 4]), random(&[8, 5]), random(&[8, 3]), 0];
        let bounds: Vec<u32> = [domain, low, extent, storage].concat().into_iter().map(|one| one as u32).collect();
        let source = (0..2000_u32).map(|number| number.wrapping_mul(2_654_435_761)).collect();
        let arrays = [bounds, source, vec![7; 180 * 8], vec![0, 0, 0, 0, 0, u32::MAX, u32::MAX]];
        let bytes = |words: &Vec<u32>| bytemuck::cast_slice(words).to_vec();
        let buffers: Buffers = (0..).zip(&arrays).map(|(number, words)| ((0, number), bytes(words))).collect();
        let result =
            compare_with(&options(), RECORDED, &buffers, [11, 4, 2], |module, info, entry, buffers, groups| {
                run(Vectorization::Use, module, info, entry, buffers, groups)
            });
        assert_eq!(result, Ok(()), "{:?}", arrays[0]);
    }
}
