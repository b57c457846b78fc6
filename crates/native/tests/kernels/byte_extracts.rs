//! Kernels that extract bytes of words, with several steps between cells.

use naga::Module;
use naga::valid::ModuleInfo;

use crate::compare::compare;
use crate::interpreter::Buffers;

/// Expressions of a cell `q` and the `word` that holds it.
const EXPRESSIONS: [&str; 9] = [
    "i32(extractBits(word, u32(q & 3) * 8u, 8u))",
    "extractBits(i32(word), u32(q & 3) * 8u, 8u)",
    "i32((word >> (u32(q & 3) * 8u)) & 0xffu)",
    "i32((word >> (u32(q & 3) << 3u)) & 0xffu) + i32(word)",
    "i32(insertBits(word, u32(q), u32(q & 3) * 8u, 8u))",
    "(q & -4) + (q | 3) * 8 + (q & 7) * 64",
    "(q >> 1u) ^ (q & 12)",
    "i32(u32(q) >> 3u) + (q >> 4u)",
    "select(q, i32(word), (q & 1) == 0)",
];

const STEPS: [i32; 6] = [1, 4, 2, 12, -1, -4];

const STARTS: [i32; 9] = [0, 3, -1, -6, 20, 250, i32::MAX - 20, i32::MIN + 3, -256];

/// Compares all kernels on an executor and the interpreter; returns the number of kernels, or the
/// first difference.
pub(crate) fn byte_kernels(
    executor: impl Fn(&Module, &ModuleInfo, &str, &mut Buffers, [u32; 3]) -> Result<(), String>,
) -> Result<usize, String> {
    let words: Vec<u32> = (0..80u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ i).collect();
    let mut count = 0;
    for expression in EXPRESSIONS {
        for step in STEPS {
            for before in ["", "out[id.y * 64u + id.x] = 7;"] {
                let text = format!(
                    "@group(0) @binding(0) var<storage> words: array<u32>;
                    @group(0) @binding(1) var<storage, read_write> out: array<i32>;
                    @group(0) @binding(2) var<uniform> place: vec4<i32>;
                    @compute @workgroup_size(64)
                    fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                        {before}
                        let q = i32(id.x) * {step} + place.x;
                        let word = words[u32((q >> 2u) + i32(id.y) * place.y + place.z)];
                        out[id.y * 64u + id.x] = {expression};
                    }}"
                );
                for start in STARTS {
                    let place = [start, 20, -(start >> 2) * i32::from(start.unsigned_abs() > 1000), 0];
                    let buffers: Buffers = [
                        ((0, 0), bytemuck::cast_slice(&words).to_vec()),
                        ((0, 1), vec![0; 4 * 64 * 3]),
                        ((0, 2), bytemuck::cast_slice(&place).to_vec()),
                    ]
                    .into_iter()
                    .collect();
                    compare(&text, &buffers, [1, 3, 1], &executor)
                        .map_err(|failure| format!("{failure}, from {start}\n{text}"))?;
                    count += 1;
                }
            }
        }
    }
    Ok(count)
}
