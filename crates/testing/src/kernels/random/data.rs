//! Random contents of bindings.

use naga::{Module, ScalarKind};

use super::super::interpreter::{Buffers, Types};
use super::Extensions;
use super::program::GeneratedProgram;
use super::rng::Rng;

/// Length of a runtime-sized array with all indices in range: multiples and offsets of
/// [`Generator::index`](super::generator::Generator::index) are smaller.
fn ample_length(invocations: usize) -> usize {
    4 * invocations + 64
}

/// Runtime-sized arrays have a few elements to somewhat more than one for each invocation, and
/// sometimes a partial element at the end.
pub(super) fn fill(
    rng: &mut Rng,
    module: &Module,
    generated: &GeneratedProgram,
    extensions: Extensions,
) -> Result<Buffers, String> {
    let invocations = generated.invocations();
    let types = Types { module, overrides: &[] };
    let mut buffers = Buffers::new();
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = &variable.binding else { continue };
        let ty = types.inner(variable.ty);
        let size = match types.runtime_sized_array(ty) {
            None => types.size(ty)?.next_multiple_of(4),
            Some((offset, stride)) => {
                let length = match rng.below(10) {
                    rest if !extensions.unspecified_results => ample_length(invocations) + rest,
                    0 => 1,
                    1 | 2 => rng.between(1, invocations + 3),
                    3 => 2 * invocations + 7,
                    _ => invocations + rng.below(4),
                };
                // Bindings have a multiple of four bytes.
                let rest = if rng.chance(30) { rng.below(stride / 4 + 1) * 4 } else { 0 };
                let size = (offset + length * stride + rest.min(stride - 1) / 4 * 4).next_multiple_of(4);
                size.max(types.least_size(ty)?)
            }
        };
        let mut bytes = vec![0; size];
        bytes.fill_with(|| rng.next() as u8);
        // Drawn in any case, so that later numbers are the same.
        let is_tame = rng.chance(75);
        let kind = if !extensions.unspecified_results {
            FloatKind::Specified
        } else if is_tame {
            FloatKind::Tame
        } else {
            FloatKind::Any
        };
        types.for_each_scalar_of_binding(ty, size, &mut |scalar, offset| {
            let width = usize::from(scalar.width);
            let value = random_bits(rng, scalar, kind);
            bytes[offset..offset + width].copy_from_slice(&value.to_le_bytes()[..width]);
            Ok(())
        })?;
        for pin in generated.pins.iter().filter(|pin| Some(&pin.name) == variable.name.as_ref()) {
            bytes[pin.offset..pin.offset + 4].copy_from_slice(&pin.value.to_le_bytes());
        }
        buffers.insert((binding.group, binding.binding), bytes);
    }
    Ok(buffers)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FloatKind {
    Any,
    /// Finite and of moderate size.
    Tame,
    /// Tame without negative zeros, whose sign WGSL leaves open.
    Specified,
}

fn random_bits(rng: &mut Rng, scalar: naga::Scalar, kind: FloatKind) -> u64 {
    let tame = kind != FloatKind::Any;
    let edge = rng.chance(if kind == FloatKind::Tame { 6 } else { 35 });
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, width) => {
            let value = match (edge, tame) {
                (true, true) => *rng.pick(&[0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 1e-3, 100.0]),
                (true, false) if rng.chance(40) => return edge_float_bits(rng, width),
                (true, false) => *rng.pick(&[
                    0.0,
                    -0.0,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    f64::NAN,
                    f64::from(f32::MAX),
                    f64::from(f32::MIN_POSITIVE),
                    2147483648.0,
                    4294967296.0,
                    -2147483648.0,
                    65504.0,
                    65520.0,
                    0.499999999,
                    1.5,
                    -2.5,
                    1e30,
                    -1e-30,
                ]),
                _ if rng.chance(40) => rng.below(17) as f64 - 8.0,
                _ => (rng.next() >> 11) as f64 / (1u64 << 53) as f64 * 8.0 - 4.0,
            };
            let value = if kind == FloatKind::Specified && value == 0.0 { 0.0 } else { value };
            match width {
                2 => half::f16::from_f64(value).to_bits().into(),
                4 => (value as f32).to_bits().into(),
                _ => value.to_bits(),
            }
        }
        (_, width) => {
            let bits = u32::from(width) * 8;
            match rng.below(if edge { 6 } else { 20 }) {
                0 => 1 << (bits - 1),
                1 => (1 << (bits - 1)) - 1,
                2 => u64::MAX,
                3 => u64::from(bits) + rng.below(3) as u64 - 1,
                4 => rng.next(),
                5 => 1 << rng.below(bits as usize),
                6..=9 => (rng.below(9) as u64).wrapping_neg(),
                _ => rng.below(40) as u64,
            }
        }
    }
}

/// Denormals, the neighbours of powers of two, and any bits.
fn edge_float_bits(rng: &mut Rng, width: u8) -> u64 {
    let sign = (rng.next() & 1) << (u32::from(width) * 8 - 1);
    let mantissa = match width {
        2 => 10,
        4 => 23,
        _ => 52,
    };
    match rng.below(4) {
        0 => sign | rng.below(4) as u64,
        1 => sign | rng.next() & ((1 << mantissa) - 1),
        2 => sign | ((rng.below(31) as u64) << mantissa).wrapping_add(rng.below(3) as u64).wrapping_sub(1) & !sign,
        _ => rng.next(),
    }
}
