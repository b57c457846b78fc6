//! Interpreter of straight-line code, independent of `Evaluate`.

use crate::ir::{Binary, Compare, Convert, Definition, Kernel, Statement, Type, Unary, Value};

/// Straight-line code, as a kernel with the operands as first values.
pub(super) struct Expansion {
    kernel: Kernel,
    statements: Vec<Statement>,
    result: Value,
    values: Vec<u32>,
}

impl Expansion {
    /// Expansion of a function of operands of the given types.
    pub(super) fn new(
        operands: &[Type],
        expand: impl FnOnce(&mut Kernel, &mut Vec<Statement>, &[Value]) -> Option<Value>,
    ) -> Option<Self> {
        let mut kernel = Kernel::default();
        let operands: Vec<_> = operands.iter().map(|ty| kernel.add(*ty, Definition::Result)).collect();
        let mut statements = Vec::new();
        let result = expand(&mut kernel, &mut statements, &operands)?;
        let constant = |(_, definition): &(Type, Definition)| match definition {
            Definition::Constant(bits) => u32::try_from(*bits).expect("32 bits"),
            _ => 0,
        };
        let values = kernel.values.iter().map(constant).collect();
        Some(Self { kernel, statements, result, values })
    }

    /// Number of operations, without reinterpretations of bits.
    pub(super) fn count_operations(&self) -> usize {
        let defined = self.statements.iter().map(|statement| self.kernel.definition(defined_value(statement)));
        defined.filter(|definition| !matches!(definition, Definition::Convert(Convert::Bits, _))).count()
    }

    /// Number of reinterpretations of bits.
    pub(super) fn count_bit_conversions(&self) -> usize {
        self.statements.len() - self.count_operations()
    }

    pub(super) fn result_type(&self) -> Type {
        self.kernel.ty(self.result)
    }

    pub(super) fn run(&mut self, operands: &[u32]) -> u32 {
        self.values[..operands.len()].copy_from_slice(operands);
        for statement in &self.statements {
            let value = defined_value(statement);
            let (ty, definition) = &self.kernel.values[value.0 as usize];
            self.values[value.0 as usize] = run_definition(*ty, definition, &self.values);
        }
        self.values[self.result.0 as usize]
    }
}

fn defined_value(statement: &Statement) -> Value {
    match statement {
        Statement::Let(value) => *value,
        other => panic!("an expansion contains {other:?}"),
    }
}

fn run_definition(ty: Type, definition: &Definition, values: &[u32]) -> u32 {
    let bits = |value: &Value| values[value.0 as usize];
    let float = |value: &Value| f32::from_bits(bits(value));
    let signed = |value: &Value| bits(value) as i32;
    match definition {
        Definition::Unary(operation, a) => match operation {
            Unary::FloatNegate => (-float(a)).to_bits(),
            Unary::FloatAbs => float(a).abs().to_bits(),
            Unary::Sqrt => float(a).sqrt().to_bits(),
            other => panic!("an expansion contains {other:?}"),
        },
        Definition::Binary(operation, a, b) => match operation {
            Binary::Add => signed(a).wrapping_add(signed(b)) as u32,
            Binary::Subtract => signed(a).wrapping_sub(signed(b)) as u32,
            Binary::And => bits(a) & bits(b),
            Binary::Or => bits(a) | bits(b),
            Binary::Xor => bits(a) ^ bits(b),
            Binary::ShiftLeft => bits(a).wrapping_shl(bits(b)),
            Binary::SignedShiftRight => signed(a).wrapping_shr(bits(b)) as u32,
            Binary::UnsignedShiftRight => bits(a).wrapping_shr(bits(b)),
            Binary::SignedMax => signed(a).max(signed(b)) as u32,
            Binary::FloatAdd => (float(a) + float(b)).to_bits(),
            Binary::FloatSubtract => (float(a) - float(b)).to_bits(),
            Binary::FloatMultiply => (float(a) * float(b)).to_bits(),
            Binary::FloatDivide => (float(a) / float(b)).to_bits(),
            Binary::FloatMin => (if float(b) < float(a) { float(b) } else { float(a) }).to_bits(),
            Binary::FloatMax => (if float(a) < float(b) { float(b) } else { float(a) }).to_bits(),
            other => panic!("an expansion contains {other:?}"),
        },
        Definition::Compare(comparison, a, b) => u32::from(match comparison {
            Compare::Equal => bits(a) == bits(b),
            Compare::SignedLess => signed(a) < signed(b),
            Compare::FloatEqual => float(a) == float(b),
            Compare::FloatLess => float(a) < float(b),
            other => panic!("an expansion contains {other:?}"),
        }),
        Definition::Select { condition, accept, reject } => {
            if bits(condition) == 1 {
                bits(accept)
            } else {
                bits(reject)
            }
        }
        Definition::Convert(Convert::Bits, a) => bits(a),
        Definition::Convert(Convert::SignedToFloat, a) if ty == Type::F32 => (signed(a) as f32).to_bits(),
        other => panic!("an expansion contains {other:?}"),
    }
}
