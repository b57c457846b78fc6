use crate::ir::{Convert, Definition, Format, Kernel, Statement, Type, Unary, Value};
use crate::math;

/// Expands mathematical functions and halves into operations that processors have.
pub(crate) fn legalize(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = legalize_body(kernel, body);
}

fn legalize_body(kernel: &mut Kernel, body: Vec<Statement>) -> Vec<Statement> {
    let mut out = Vec::with_capacity(body.len());
    for statement in body {
        match statement {
            Statement::Let(value) => legalize_value(kernel, value, &mut out),
            Statement::Store(mut access, value) if access.format == Format::F16 => {
                let bits = math::expand_f32_to_f16(kernel, &mut out, value);
                access.format = Format::Half;
                out.push(Statement::Store(access, bits));
            }
            Statement::If { condition, accept, reject, merges } => {
                let (accept, reject) = (legalize_body(kernel, accept), legalize_body(kernel, reject));
                out.push(Statement::If { condition, accept, reject, merges });
            }
            Statement::Block { label, body, results, ending } => {
                let body = legalize_body(kernel, body);
                out.push(Statement::Block { label, body, results, ending });
            }
            Statement::Loop { label, body, parameters, initial, line } => {
                let body = legalize_body(kernel, body);
                out.push(Statement::Loop { label, body, parameters, initial, line });
            }
            other => out.push(other),
        }
    }
    out
}

fn legalize_value(kernel: &mut Kernel, value: Value, out: &mut Vec<Statement>) {
    let expanded = match kernel.definition(value).clone() {
        Definition::Function(function, operands) => math::expand(kernel, out, function, &operands),
        Definition::Unary(Unary::RoundToF16, a) => Some(math::expand_round_to_f16(kernel, out, a)),
        Definition::Load(mut access) if access.format == Format::F16 => {
            access.format = Format::Half;
            let bits = kernel.add(Type::I32, Definition::Load(access));
            out.push(Statement::Let(bits));
            Some(math::expand_f16_to_f32(kernel, out, bits))
        }
        _ => None,
    };
    if let Some(result) = expanded {
        kernel.values[value.0 as usize].1 = Definition::Convert(Convert::Bits, result);
    }
    out.push(Statement::Let(value));
}
