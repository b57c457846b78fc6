use crate::ir::{Binary, Convert, Definition, Kernel, Type, Value};

/// Maximum number of operations between a value and its bounds.
const MAX_DEPTH: u32 = 6;

/// Minimum and maximum possible value of a 32-bit integer, unsigned.
pub(super) fn unsigned_bounds(kernel: &Kernel, value: Value) -> [u64; 2] {
    within(kernel, value, MAX_DEPTH)
}

fn within(kernel: &Kernel, value: Value, depth: u32) -> [u64; 2] {
    const ALL: [u64; 2] = [0, u32::MAX as u64];
    if depth == 0 || kernel.ty(value) != Type::I32 {
        return ALL;
    }
    let of = |value: Value| within(kernel, value, depth - 1);
    match *kernel.definition(value) {
        Definition::Constant(bits) => [bits, bits],
        Definition::Convert(Convert::BoolToInteger, _) => [0, 1],
        Definition::Select { accept, reject, .. } => {
            let [a, b] = [of(accept), of(reject)];
            [a[0].min(b[0]), a[1].max(b[1])]
        }
        Definition::Binary(operation, a, b) => {
            let [a, b] = [of(a), of(b)];
            match operation {
                Binary::And => [0, a[1].min(b[1])],
                Binary::UnsignedMin => [a[0].min(b[0]), a[1].min(b[1])],
                Binary::UnsignedMax => [a[0].max(b[0]), a[1].max(b[1])],
                Binary::Add if a[1] + b[1] <= ALL[1] => [a[0] + b[0], a[1] + b[1]],
                Binary::Multiply if a[1] * b[1] <= ALL[1] => [a[0] * b[0], a[1] * b[1]],
                Binary::Subtract if a[0] >= b[1] => [a[0] - b[1], a[1] - b[0]],
                Binary::UnsignedShiftRight if b[0] == b[1] => a.map(|end| end >> (b[0] % 32)),
                Binary::UnsignedRemainder if b[0] > 0 => [0, a[1].min(b[1] - 1)],
                _ => ALL,
            }
        }
        _ => ALL,
    }
}
