//! Narrowing of word loads to byte loads if a kernel extracts one byte of a word.
//!
//! WGSL has no bytes, so kernels read an array of bytes as words: cell `x` is byte `x & 3` of word
//! `x >> 2`. The index of a byte load shows that neighbouring invocations read neighbouring bytes.

use std::collections::HashMap;

use crate::ir::{Access, Binary, Compare, Convert, Definition, Format, Kernel, Memory, Statement, Type, Value};

/// Replaces extractions of a byte from a loaded word by byte loads; returns true if there is one.
pub(crate) fn narrow_loads(kernel: &mut Kernel) -> bool {
    let mut found: HashMap<Value, Vec<ByteExtract>> = HashMap::new();
    for number in 0..kernel.values.len() {
        if let Some((word, extract)) = find_extract(kernel, Value(number as u32)) {
            found.entry(word).or_default().push(extract);
        }
    }
    if found.is_empty() {
        return false;
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = replace(kernel, body, &found);
    true
}

struct ByteExtract {
    /// The byte as an integer.
    value: Value,
    is_signed: bool,
    /// Index of the cell: bits 0 and 1 select the byte, the other bits are a term of the word's
    /// index.
    cell: Value,
    /// Terms of the word's index other than `cell >> 2`.
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

fn operand_next_to(kernel: &Kernel, operation: Binary, value: Value, wanted: u64) -> Option<Value> {
    let [a, b] = operands(kernel, operation, value)?;
    let is_swapped =
        matches!(operation, Binary::And | Binary::Multiply | Binary::Add) && constant(kernel, a) == Some(wanted);
    if is_swapped {
        return Some(b);
    }
    (constant(kernel, b) == Some(wanted)).then_some(a)
}

/// Matches the shift amount `8 * (cell & 3)`; returns the cell.
fn cell_of_shift(kernel: &Kernel, bits: Value) -> Option<Value> {
    let number = operand_next_to(kernel, Binary::Multiply, bits, 8)
        .or_else(|| operand_next_to(kernel, Binary::ShiftLeft, bits, 3))?;
    operand_next_to(kernel, Binary::And, number, 3)
}

fn find_extract(kernel: &Kernel, value: Value) -> Option<(Value, ByteExtract)> {
    if kernel.ty(value) != Type::I32 {
        return None;
    }
    let (word, below, is_signed) = match_shifts(kernel, value).or_else(|| match_mask(kernel, value))?;
    let Definition::Load(access) = kernel.definition(word) else { return None };
    let Access { format: Format::Word, scale: 4, index: Some(index), memory: Memory::Binding(binding), .. } = *access
    else {
        return None;
    };
    is_bounds_test(kernel, access.guard?, index, Definition::Length { binding, offset: access.offset, stride: 4 })
        .then_some(())?;
    let cell = cell_of_shift(kernel, below)?;
    let mut terms = Vec::new();
    collect_other_terms(kernel, index, cell, &mut terms).then_some(())?;
    Some((word, ByteExtract { value, is_signed, cell, terms }))
}

fn is_bounds_test(kernel: &Kernel, guard: Value, index: Value, length: Definition) -> bool {
    matches!(*kernel.definition(guard), Definition::Compare(Compare::UnsignedLess, a, b)
        if a == index && *kernel.definition(b) == length)
}

/// Matches `(word << (24 - below)) >> 24`; returns the word, the number of bits below the byte, and
/// true for a signed shift.
fn match_shifts(kernel: &Kernel, value: Value) -> Option<(Value, Value, bool)> {
    let unsigned = operand_next_to(kernel, Binary::UnsignedShiftRight, value, 24);
    let high = unsigned.or_else(|| operand_next_to(kernel, Binary::SignedShiftRight, value, 24))?;
    let [word, above] = operands(kernel, Binary::ShiftLeft, high)?;
    let available = operand_next_to(kernel, Binary::Subtract, above, 8)
        .or_else(|| operand_next_to(kernel, Binary::Add, above, u64::from(8_u32.wrapping_neg())))?;
    let [width, below] = operands(kernel, Binary::Subtract, available)?;
    (constant(kernel, width) == Some(32)).then_some((word, below, unsigned.is_none()))
}

/// Matches `(word >> below) & 0xff`; returns the word, the number of bits below the byte, and
/// false.
fn match_mask(kernel: &Kernel, value: Value) -> Option<(Value, Value, bool)> {
    let low = operand_next_to(kernel, Binary::And, value, 0xff)?;
    let [word, below] = operands(kernel, Binary::UnsignedShiftRight, low)?;
    Some((word, below, false))
}

/// Collects the terms of a sum except `cell >> 2`; returns false for a sum without this term.
fn collect_other_terms(kernel: &Kernel, sum: Value, cell: Value, terms: &mut Vec<Value>) -> bool {
    let shifts = [Binary::SignedShiftRight, Binary::UnsignedShiftRight];
    if shifts.into_iter().any(|shift| operand_next_to(kernel, shift, sum, 2) == Some(cell)) {
        return true;
    }
    let Some([a, b]) = operands(kernel, Binary::Add, sum) else { return false };
    let before = terms.len();
    for (side, other) in [(a, b), (b, a)] {
        terms.push(other);
        if collect_other_terms(kernel, side, cell, terms) {
            return true;
        }
        terms.truncate(before);
    }
    false
}

fn replace(kernel: &mut Kernel, body: Vec<Statement>, found: &HashMap<Value, Vec<ByteExtract>>) -> Vec<Statement> {
    let mut out = Vec::with_capacity(body.len());
    for statement in body {
        if let Statement::Let(word) = statement {
            for extract in found.get(&word).into_iter().flatten() {
                load_byte(kernel, word, extract, &mut out);
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

fn load_byte(kernel: &mut Kernel, word: Value, extract: &ByteExtract, out: &mut Vec<Statement>) {
    let Definition::Load(access) = *kernel.definition(word) else { return };
    let [four, bits] = [4, 24].map(|bits| kernel.add(Type::I32, Definition::Constant(bits)));
    let mut add = |definition: Definition| {
        let value = kernel.add(Type::I32, definition);
        out.push(Statement::Let(value));
        value
    };
    let mut index = extract.cell;
    if let [first, rest @ ..] = &extract.terms[..] {
        let sum = rest.iter().fold(*first, |sum, one| add(Definition::Binary(Binary::Add, sum, *one)));
        let bytes = add(Definition::Binary(Binary::Multiply, sum, four));
        index = add(Definition::Binary(Binary::Add, index, bytes));
    }
    let byte = add(Definition::Load(Access { format: Format::Byte, index: Some(index), scale: 1, ..access }));
    let result = if extract.is_signed {
        let high = add(Definition::Binary(Binary::ShiftLeft, byte, bits));
        Definition::Binary(Binary::SignedShiftRight, high, bits)
    } else {
        Definition::Convert(Convert::Bits, byte)
    };
    kernel.values[extract.value.0 as usize].1 = result;
}
