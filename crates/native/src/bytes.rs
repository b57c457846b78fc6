//! Loads single bytes where a kernel takes a byte out of a word.
//!
//! Arrays of bytes are words to WGSL: cell `x` is byte `x & 3` of word `x >> 2`. A load of byte `x`
//! itself says how the cells of neighbouring invocations lie next to each other.

use std::collections::HashMap;

use crate::ir::{Access, Binary, Compare, Convert, Definition, Format, Kernel, Memory, Statement, Type, Value};

/// Replaces loads of words of which one byte is taken; true where there was one.
pub fn load_bytes(kernel: &mut Kernel) -> bool {
    let mut found: HashMap<Value, Vec<Taken>> = HashMap::new();
    for number in 0..kernel.values.len() {
        if let Some((word, taken)) = find(kernel, Value(number as u32)) {
            found.entry(word).or_default().push(taken);
        }
    }
    if found.is_empty() {
        return false;
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = replace(kernel, body, &found);
    true
}

/// A byte that is taken out of a word.
struct Taken {
    /// The byte as an integer.
    value: Value,
    is_signed: bool,
    /// Number of the byte, as far as it differs between words.
    cell: Value,
    /// Terms of the word's index beside `cell >> 2`.
    terms: Vec<Value>,
}

fn constant(kernel: &Kernel, value: Value) -> Option<u64> {
    match kernel.definition(value) {
        Definition::Constant(bits) => Some(*bits),
        _ => None,
    }
}

fn operands(kernel: &Kernel, operation: Binary, value: Value) -> Option<[Value; 2]> {
    match *kernel.definition(value) {
        Definition::Binary(found, a, b) if found == operation => Some([a, b]),
        _ => None,
    }
}

/// The operand beside a constant.
fn beside(kernel: &Kernel, operation: Binary, value: Value, wanted: u64) -> Option<Value> {
    let [a, b] = operands(kernel, operation, value)?;
    let is_swapped =
        matches!(operation, Binary::And | Binary::Multiply | Binary::Add) && constant(kernel, a) == Some(wanted);
    if is_swapped {
        return Some(b);
    }
    (constant(kernel, b) == Some(wanted)).then_some(a)
}

/// The value of which bits 0 and 1 say how many bits lie below a byte.
fn cell_of(kernel: &Kernel, bits: Value) -> Option<Value> {
    let number = beside(kernel, Binary::Multiply, bits, 8).or_else(|| beside(kernel, Binary::ShiftLeft, bits, 3))?;
    beside(kernel, Binary::And, number, 3)
}

fn find(kernel: &Kernel, value: Value) -> Option<(Value, Taken)> {
    if kernel.ty(value) != Type::I32 {
        return None;
    }
    let (word, below, is_signed) = shifted(kernel, value).or_else(|| masked(kernel, value))?;
    let Definition::Load(access) = kernel.definition(word) else { return None };
    let Access { format: Format::Word, scale: 4, index: Some(index), memory: Memory::Binding(binding), .. } = *access
    else {
        return None;
    };
    is_length(kernel, access.guard?, index, Definition::Length { binding, offset: access.offset, stride: 4 })
        .then_some(())?;
    let cell = cell_of(kernel, below)?;
    let mut terms = Vec::new();
    remove_term(kernel, index, cell, &mut terms).then_some(())?;
    Some((word, Taken { value, is_signed, cell, terms }))
}

/// True for a test that an index is less than a length.
fn is_length(kernel: &Kernel, guard: Value, index: Value, length: Definition) -> bool {
    matches!(*kernel.definition(guard), Definition::Compare(Compare::UnsignedLess, a, b)
        if a == index && *kernel.definition(b) == length)
}

/// A word shifted left until the byte is its highest, and right by 24 bits: the word, and the number
/// of bits below the byte.
fn shifted(kernel: &Kernel, value: Value) -> Option<(Value, Value, bool)> {
    let unsigned = beside(kernel, Binary::UnsignedShiftRight, value, 24);
    let high = unsigned.or_else(|| beside(kernel, Binary::SignedShiftRight, value, 24))?;
    let [word, above] = operands(kernel, Binary::ShiftLeft, high)?;
    let available = beside(kernel, Binary::Subtract, above, 8)
        .or_else(|| beside(kernel, Binary::Add, above, u64::from(8_u32.wrapping_neg())))?;
    let [width, below] = operands(kernel, Binary::Subtract, available)?;
    (constant(kernel, width) == Some(32)).then_some((word, below, unsigned.is_none()))
}

/// The low byte of a word shifted right.
fn masked(kernel: &Kernel, value: Value) -> Option<(Value, Value, bool)> {
    let low = beside(kernel, Binary::And, value, 0xff)?;
    let [word, below] = operands(kernel, Binary::UnsignedShiftRight, low)?;
    Some((word, below, false))
}

/// Collects the terms of a sum but `cell >> 2`; false where that is no term.
fn remove_term(kernel: &Kernel, sum: Value, cell: Value, terms: &mut Vec<Value>) -> bool {
    let shifts = [Binary::SignedShiftRight, Binary::UnsignedShiftRight];
    if shifts.into_iter().any(|shift| beside(kernel, shift, sum, 2) == Some(cell)) {
        return true;
    }
    let Some([a, b]) = operands(kernel, Binary::Add, sum) else { return false };
    let before = terms.len();
    for (side, other) in [(a, b), (b, a)] {
        terms.push(other);
        if remove_term(kernel, side, cell, terms) {
            return true;
        }
        terms.truncate(before);
    }
    false
}

fn replace(kernel: &mut Kernel, body: Vec<Statement>, found: &HashMap<Value, Vec<Taken>>) -> Vec<Statement> {
    let mut out = Vec::with_capacity(body.len());
    for statement in body {
        if let Statement::Let(word) = statement {
            for taken in found.get(&word).into_iter().flatten() {
                load(kernel, word, taken, &mut out);
            }
        }
        out.push(match statement {
            Statement::If { condition, accept, reject, merges } => {
                let (accept, reject) = (replace(kernel, accept, found), replace(kernel, reject, found));
                Statement::If { condition, accept, reject, merges }
            }
            Statement::Block { label, body, results, ending } => {
                Statement::Block { label, body: replace(kernel, body, found), results, ending }
            }
            Statement::Loop { label, body, parameters, initial, line } => {
                Statement::Loop { label, body: replace(kernel, body, found), parameters, initial, line }
            }
            other => other,
        });
    }
    out
}

/// Loads a byte beside its word.
fn load(kernel: &mut Kernel, word: Value, taken: &Taken, out: &mut Vec<Statement>) {
    let Definition::Load(access) = *kernel.definition(word) else { return };
    let [four, bits] = [4, 24].map(|bits| kernel.add(Type::I32, Definition::Constant(bits)));
    let mut add = |definition: Definition| {
        let value = kernel.add(Type::I32, definition);
        out.push(Statement::Let(value));
        value
    };
    let mut index = taken.cell;
    if let [first, rest @ ..] = &taken.terms[..] {
        let sum = rest.iter().fold(*first, |sum, one| add(Definition::Binary(Binary::Add, sum, *one)));
        let bytes = add(Definition::Binary(Binary::Multiply, sum, four));
        index = add(Definition::Binary(Binary::Add, index, bytes));
    }
    let byte = add(Definition::Load(Access { format: Format::Byte, index: Some(index), scale: 1, ..access }));
    let result = if taken.is_signed {
        let high = add(Definition::Binary(Binary::ShiftLeft, byte, bits));
        Definition::Binary(Binary::SignedShiftRight, high, bits)
    } else {
        Definition::Convert(Convert::Bits, byte)
    };
    kernel.values[taken.value.0 as usize].1 = result;
}
