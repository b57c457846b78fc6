//! Evaluator of a kernel for one invocation, by the definitions in `ir`.

use std::collections::HashMap;

use crate::half::{f32_to_half, half_to_f32};

use zippy_native::ir::{
    Access, Atomic, AtomicOperation, Binary, Builtin, Compare, Convert, Definition, Format, Function, Kernel, Label,
    Memory, Statement, Type, Unary, Value,
};

pub(crate) struct Evaluator<'k> {
    kernel: &'k Kernel,
    pub bindings: Vec<Vec<u8>>,
    workgroup: Vec<u8>,
    frame: Vec<u8>,
    values: HashMap<Value, u64>,
    variables: Vec<Option<u64>>,
    pub global_id: [u32; 3],
    pub barriers: u32,
    pub loads: u32,
    steps: u64,
}

enum Jump {
    Break(Label),
    Repeat(Label),
}

impl<'k> Evaluator<'k> {
    pub(crate) fn new(kernel: &'k Kernel, bindings: Vec<Vec<u8>>) -> Self {
        assert_eq!(bindings.len(), kernel.bindings.len());
        for (bytes, binding) in bindings.iter().zip(&kernel.bindings) {
            assert!(bytes.len() >= binding.min_bytes as usize, "binding {} is too small", binding.name);
        }
        Self {
            kernel,
            bindings,
            workgroup: vec![0; kernel.workgroup_bytes as usize],
            // The initial bytes of the frame are unspecified.
            frame: vec![0xa5; kernel.frame_bytes as usize],
            values: HashMap::new(),
            variables: vec![None; kernel.variables.len()],
            global_id: [0; 3],
            barriers: 0,
            loads: 0,
            steps: 0,
        }
    }

    pub(crate) fn run(&mut self) {
        let kernel = self.kernel;
        assert!(self.body(&kernel.body).is_none(), "a jump leaves the kernel");
    }

    fn body(&mut self, body: &'k [Statement]) -> Option<Jump> {
        for statement in body {
            self.steps += 1;
            assert!(self.steps < 10_000_000, "the kernel does not end");
            let jump = self.statement(statement);
            if jump.is_some() {
                return jump;
            }
        }
        None
    }

    fn statement(&mut self, statement: &'k Statement) -> Option<Jump> {
        match statement {
            Statement::Let(value) => {
                let result = self.definition(*value);
                self.values.insert(*value, result);
            }
            Statement::Set(variable, value) => {
                assert_eq!(self.kernel.variables[variable.0 as usize], self.kernel.ty(*value));
                self.variables[variable.0 as usize] = Some(self.value(*value));
            }
            Statement::Store(access, value) => {
                let bits = self.value(*value);
                self.store(access, bits);
            }
            Statement::Atomic(atomic) => self.atomic(atomic),
            Statement::If { condition, accept, reject, merges } => {
                assert!(merges.is_empty());
                assert_eq!(self.kernel.ty(*condition), Type::Bool);
                let holds = self.value(*condition) != 0;
                return self.body(if holds { accept } else { reject });
            }
            Statement::Block { label, body, .. } => match self.body(body) {
                Some(Jump::Break(target)) if target == *label => {}
                jump => return jump,
            },
            Statement::Loop { label, body, .. } => loop {
                match self.body(body) {
                    Some(Jump::Repeat(target)) if target == *label => {}
                    Some(jump) => return Some(jump),
                    None => panic!("the body of a loop ends without a jump"),
                }
            },
            Statement::Break { label, .. } => return Some(Jump::Break(*label)),
            Statement::Repeat { label, .. } => return Some(Jump::Repeat(*label)),
            Statement::Barrier => self.barriers += 1,
        }
        None
    }

    fn value(&self, value: Value) -> u64 {
        match self.kernel.definition(value) {
            Definition::Constant(bits) => *bits,
            _ => *self.values.get(&value).unwrap_or_else(|| panic!("{value} is used before its definition")),
        }
    }

    fn definition(&mut self, value: Value) -> u64 {
        let ty = self.kernel.ty(value);
        match self.kernel.definition(value) {
            Definition::Constant(_) | Definition::Result => panic!("{value} has a Let"),
            Definition::Builtin(builtin) => u64::from(self.builtin(*builtin)),
            Definition::Unary(operation, a) => {
                assert_eq!(self.kernel.ty(*a), ty);
                unary(ty, *operation, self.value(*a))
            }
            Definition::Binary(operation, a, b) => {
                assert_eq!((self.kernel.ty(*a), self.kernel.ty(*b)), (ty, ty), "{operation:?}");
                binary(ty, *operation, self.value(*a), self.value(*b))
            }
            Definition::Compare(comparison, a, b) => {
                assert_eq!(self.kernel.ty(*a), self.kernel.ty(*b));
                u64::from(compare(self.kernel.ty(*a), *comparison, self.value(*a), self.value(*b)))
            }
            Definition::Select { condition, accept, reject } => {
                assert_eq!(self.kernel.ty(*condition), Type::Bool);
                assert_eq!((self.kernel.ty(*accept), self.kernel.ty(*reject)), (ty, ty));
                self.value(if self.value(*condition) != 0 { *accept } else { *reject })
            }
            Definition::Convert(conversion, a) => convert(self.kernel.ty(*a), ty, *conversion, self.value(*a)),
            Definition::Function(function, operands) => {
                let operands: Vec<_> = operands.iter().map(|operand| float(ty, self.value(*operand))).collect();
                float_bits(ty, call(ty, *function, &operands))
            }
            Definition::Length { binding, offset, stride } => {
                (self.bindings[*binding].len() as u64 - u64::from(*offset)) / u64::from(*stride)
            }
            Definition::Load(access) => {
                self.loads += 1;
                self.load(access)
            }
            Definition::Get(variable) => self.variables[variable.0 as usize].expect("a variable without a value"),
        }
    }

    fn builtin(&self, builtin: Builtin) -> u32 {
        let size = self.kernel.workgroup_size;
        let local = |axis: u8| self.global_id[axis as usize] % size[axis as usize];
        match builtin {
            Builtin::GlobalId(axis) => self.global_id[axis as usize],
            Builtin::LocalId(axis) => local(axis),
            Builtin::WorkgroupId(axis) => self.global_id[axis as usize] / size[axis as usize],
            Builtin::NumWorkgroups(axis) => 100 + u32::from(axis),
            Builtin::LocalIndex => local(0) + size[0] * (local(1) + size[1] * local(2)),
        }
    }

    /// Range of bytes of an access; `None` for a false guard.
    fn range(&mut self, access: &Access) -> Option<(&mut Vec<u8>, usize)> {
        if let Some(guard) = access.guard
            && self.value(guard) == 0
        {
            return None;
        }
        let index = access.index.map_or(0, |index| self.value(index));
        let begin = index * u64::from(access.scale) + u64::from(access.offset);
        let memory = match access.memory {
            Memory::Binding(binding) => &mut self.bindings[binding],
            Memory::Workgroup => &mut self.workgroup,
            Memory::Frame => &mut self.frame,
        };
        assert!(begin + u64::from(access.format.bytes()) <= memory.len() as u64, "access out of range: {access:?}");
        assert!(begin.is_multiple_of(u64::from(access.format.bytes())), "misaligned access: {access:?}");
        Some((memory, begin as usize))
    }

    fn load(&mut self, access: &Access) -> u64 {
        let Some((memory, begin)) = self.range(access) else { return 0 };
        let mut bytes = [0; 8];
        let size = access.format.bytes() as usize;
        bytes[..size].copy_from_slice(&memory[begin..begin + size]);
        let bits = u64::from_le_bytes(bytes);
        match access.format {
            Format::F16 => u64::from(half_to_f32(bits as u16).to_bits()),
            _ => bits,
        }
    }

    fn store(&mut self, access: &Access, bits: u64) {
        let Some((memory, begin)) = self.range(access) else { return };
        let bits = match access.format {
            Format::F16 => u64::from(f32_to_half(f32::from_bits(bits as u32))),
            _ => bits,
        };
        let size = access.format.bytes() as usize;
        memory[begin..begin + size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }

    fn atomic(&mut self, atomic: &Atomic) {
        let ty = self.kernel.ty(atomic.result);
        let (old, operand) = (self.load(&atomic.access), self.value(atomic.operand));
        self.values.insert(atomic.result, old);
        let operation = match atomic.operation {
            AtomicOperation::Load => return,
            AtomicOperation::Store | AtomicOperation::Exchange => return self.store(&atomic.access, operand),
            AtomicOperation::CompareExchange => {
                if Some(old) == atomic.expected.map(|expected| self.value(expected)) {
                    self.store(&atomic.access, operand);
                }
                return;
            }
            AtomicOperation::Add => Binary::Add,
            AtomicOperation::Subtract => Binary::Subtract,
            AtomicOperation::And => Binary::And,
            AtomicOperation::Or => Binary::Or,
            AtomicOperation::Xor => Binary::Xor,
            AtomicOperation::SignedMin => Binary::SignedMin,
            AtomicOperation::SignedMax => Binary::SignedMax,
            AtomicOperation::UnsignedMin => Binary::UnsignedMin,
            AtomicOperation::UnsignedMax => Binary::UnsignedMax,
            AtomicOperation::FloatAdd => Binary::FloatAdd,
        };
        self.store(&atomic.access, binary(ty, operation, old, operand));
    }
}

fn float(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::F64 => f64::from_bits(bits),
        _ => f64::from(f32::from_bits(bits as u32)),
    }
}

fn float_bits(ty: Type, value: f64) -> u64 {
    match ty {
        Type::F64 => value.to_bits(),
        _ => u64::from((value as f32).to_bits()),
    }
}

fn signed(ty: Type, bits: u64) -> i64 {
    if ty == Type::I64 { bits as i64 } else { i64::from(bits as u32 as i32) }
}

fn cut(ty: Type, bits: u64) -> u64 {
    match ty {
        Type::Bool => bits & 1,
        Type::I64 | Type::F64 => bits,
        Type::I32 | Type::F32 => u64::from(bits as u32),
    }
}

fn unary(ty: Type, operation: Unary, a: u64) -> u64 {
    let width = ty.bytes() * 8;
    let x = float(ty, a);
    match operation {
        Unary::Negate => cut(ty, a.wrapping_neg()),
        Unary::Not => cut(ty, !a),
        Unary::CountLeadingZeros => u64::from(a.leading_zeros() + width - 64),
        Unary::CountTrailingZeros => u64::from(a.trailing_zeros().min(width)),
        Unary::CountOnes => u64::from(a.count_ones()),
        Unary::ReverseBits => a.reverse_bits() >> (64 - width),
        Unary::FloatNegate => float_bits(ty, -x),
        Unary::FloatAbs => float_bits(ty, x.abs()),
        Unary::Sqrt => float_bits(ty, x.sqrt()),
        Unary::Floor => float_bits(ty, x.floor()),
        Unary::Ceil => float_bits(ty, x.ceil()),
        Unary::Trunc => float_bits(ty, x.trunc()),
        Unary::Round => float_bits(ty, x.round_ties_even()),
        Unary::RoundToF16 => float_bits(ty, f64::from(half_to_f32(f32_to_half(x as f32)))),
    }
}

fn binary(ty: Type, operation: Binary, a: u64, b: u64) -> u64 {
    assert!(ty != Type::Bool || matches!(operation, Binary::And | Binary::Or | Binary::Xor), "{operation:?} of bools");
    let (x, y, p, q) = (signed(ty, a), signed(ty, b), float(ty, a), float(ty, b));
    let shift = (b % u64::from(ty.bytes() * 8)) as u32;
    let bits = match operation {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::SignedDivide => (if y == 0 { x } else { x.wrapping_div(y) }) as u64,
        Binary::UnsignedDivide => a.checked_div(b).unwrap_or(a),
        Binary::SignedRemainder => (if y == 0 { 0 } else { x.wrapping_rem(y) }) as u64,
        Binary::UnsignedRemainder => a.checked_rem(b).unwrap_or(0),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => a << shift,
        Binary::SignedShiftRight => (x >> shift) as u64,
        Binary::UnsignedShiftRight => a >> shift,
        Binary::SignedMin => x.min(y) as u64,
        Binary::SignedMax => x.max(y) as u64,
        Binary::UnsignedMin => a.min(b),
        Binary::UnsignedMax => a.max(b),
        Binary::FloatAdd => float_bits(ty, p + q),
        Binary::FloatSubtract => float_bits(ty, p - q),
        Binary::FloatMultiply => float_bits(ty, p * q),
        Binary::FloatDivide => float_bits(ty, p / q),
        Binary::FloatMin => float_bits(ty, if q < p { q } else { p }),
        Binary::FloatMax => float_bits(ty, if p < q { q } else { p }),
    };
    cut(ty, bits)
}

fn compare(ty: Type, comparison: Compare, a: u64, b: u64) -> bool {
    let (x, y, p, q) = (signed(ty, a), signed(ty, b), float(ty, a), float(ty, b));
    match comparison {
        Compare::Equal => a == b,
        Compare::NotEqual => a != b,
        Compare::SignedLess => x < y,
        Compare::SignedLessEqual => x <= y,
        Compare::UnsignedLess => a < b,
        Compare::UnsignedLessEqual => a <= b,
        Compare::FloatEqual => p == q,
        Compare::FloatNotEqual => p != q,
        Compare::FloatLess => p < q,
        Compare::FloatLessEqual => p <= q,
    }
}

fn convert(from: Type, to: Type, conversion: Convert, bits: u64) -> u64 {
    let value = float(from, bits);
    match (conversion, to) {
        (Convert::Bits, _) => {
            assert_eq!(from.bytes(), to.bytes());
            bits
        }
        (Convert::Narrow, Type::I32) => u64::from(bits as u32),
        (Convert::SignedWiden, Type::I64) => i64::from(bits as u32 as i32) as u64,
        (Convert::UnsignedWiden, Type::I64) => bits,
        (Convert::FloatToSigned, Type::I32) => u64::from(value as i32 as u32),
        (Convert::FloatToSigned, Type::I64) => value as i64 as u64,
        (Convert::FloatToUnsigned, Type::I32) => u64::from(value as u32),
        (Convert::FloatToUnsigned, Type::I64) => value as u64,
        (Convert::SignedToFloat, Type::F32) => u64::from((signed(from, bits) as f32).to_bits()),
        (Convert::SignedToFloat, Type::F64) => (signed(from, bits) as f64).to_bits(),
        (Convert::UnsignedToFloat, Type::F32) => u64::from((bits as f32).to_bits()),
        (Convert::UnsignedToFloat, Type::F64) => (bits as f64).to_bits(),
        (Convert::FloatToFloat, Type::F32 | Type::F64) => float_bits(to, value),
        (Convert::BoolToInteger, Type::I32 | Type::I64) => bits,
        _ => panic!("{conversion:?} from {from:?} to {to:?}"),
    }
}

fn call(ty: Type, function: Function, operands: &[f64]) -> f64 {
    let a = operands[0];
    match function {
        Function::Sin => a.sin(),
        Function::Cos => a.cos(),
        Function::Tan => a.tan(),
        Function::Asin => a.asin(),
        Function::Acos => a.acos(),
        Function::Atan => a.atan(),
        Function::Atan2 => a.atan2(operands[1]),
        Function::Sinh => a.sinh(),
        Function::Cosh => a.cosh(),
        Function::Tanh => a.tanh(),
        Function::Asinh => a.asinh(),
        Function::Acosh => a.acosh(),
        Function::Atanh => a.atanh(),
        Function::Exp => a.exp(),
        Function::Exp2 => a.exp2(),
        Function::Log => a.ln(),
        Function::Log2 => a.log2(),
        Function::Pow => a.powf(operands[1]),
        Function::Fma if ty == Type::F64 => a.mul_add(operands[1], operands[2]),
        Function::Fma => f64::from((a as f32).mul_add(operands[1] as f32, operands[2] as f32)),
    }
}
