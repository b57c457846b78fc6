use std::fmt::{self, Write};

use super::{Access, Definition, Kernel, Statement, Value};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, binding) in self.bindings.iter().enumerate() {
            writeln!(f, "binding {number}: {} at ({}, {})", binding.name, binding.group, binding.binding)?;
        }
        writeln!(
            f,
            "workgroup {:?}, {} bytes; frame {} bytes",
            self.workgroup_size, self.workgroup_bytes, self.frame_bytes
        )?;
        self.print(f, &self.body, 0)
    }
}

impl Kernel {
    fn print(&self, f: &mut fmt::Formatter<'_>, body: &[Statement], depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        for statement in body {
            match statement {
                Statement::Let(value) => writeln!(f, "{indent}{value} = {}", self.text(*value))?,
                Statement::Set(variable, value) => writeln!(f, "{indent}v{} = {}", variable.0, self.operand(*value))?,
                Statement::Store(access, value) => {
                    writeln!(f, "{indent}{} = {}", self.access(access), self.operand(*value))?;
                }
                Statement::Atomic(atomic) => writeln!(
                    f,
                    "{indent}{} = atomic {:?} {} {}",
                    atomic.result,
                    atomic.operation,
                    self.access(&atomic.access),
                    self.operand(atomic.operand)
                )?,
                Statement::If { condition, accept, reject, merges } => {
                    writeln!(f, "{indent}if {} {{", self.operand(*condition))?;
                    self.print(f, accept, depth + 1)?;
                    if !reject.is_empty() {
                        writeln!(f, "{indent}}} else {{")?;
                        self.print(f, reject, depth + 1)?;
                    }
                    let merges = merges.iter().map(|m| format!(" {}", m.result)).collect::<String>();
                    writeln!(f, "{indent}}}{merges}")?;
                }
                Statement::Block { label, body, results, ending } => {
                    writeln!(f, "{indent}block {} -> {} {{", label.0, self.list(results))?;
                    self.print(f, body, depth + 1)?;
                    writeln!(f, "{indent}}} {}", self.list(ending))?;
                }
                Statement::Loop { label, body, parameters, initial, .. } => {
                    writeln!(f, "{indent}loop {} {} = {} {{", label.0, self.list(parameters), self.list(initial))?;
                    self.print(f, body, depth + 1)?;
                    writeln!(f, "{indent}}}")?;
                }
                Statement::Break { label, values } => writeln!(f, "{indent}break {} {}", label.0, self.list(values))?,
                Statement::Repeat { label, values } => {
                    writeln!(f, "{indent}repeat {} {}", label.0, self.list(values))?;
                }
                Statement::Barrier => writeln!(f, "{indent}barrier")?,
            }
        }
        Ok(())
    }

    fn list(&self, values: &[Value]) -> String {
        let values: Vec<_> = values.iter().map(|value| self.operand(*value)).collect();
        format!("({})", values.join(", "))
    }

    fn operand(&self, value: Value) -> String {
        match self.definition(value) {
            Definition::Constant(bits) => format!("{:?}:{bits:#x}", self.ty(value)),
            _ => value.to_string(),
        }
    }

    fn access(&self, access: &Access) -> String {
        let mut text = format!("{:?}.{:?}[", access.memory, access.format);
        if let Some(index) = access.index {
            let _ = write!(text, "{} * {} + ", self.operand(index), access.scale);
        }
        let _ = write!(text, "{}]", access.offset);
        if let Some(guard) = access.guard {
            let _ = write!(text, " if {}", self.operand(guard));
        }
        text
    }

    fn text(&self, value: Value) -> String {
        let o = |value: &Value| self.operand(*value);
        match self.definition(value) {
            Definition::Unary(operation, a) => format!("{operation:?} {}", o(a)),
            Definition::Binary(operation, a, b) => format!("{operation:?} {} {}", o(a), o(b)),
            Definition::Compare(comparison, a, b) => format!("{comparison:?} {} {}", o(a), o(b)),
            Definition::Select { condition, accept, reject } => {
                format!("select {} {} {}", o(condition), o(accept), o(reject))
            }
            Definition::Convert(conversion, a) => format!("{conversion:?} {} to {:?}", o(a), self.ty(value)),
            Definition::Function(function, operands) => format!("{function:?}{}", self.list(operands)),
            Definition::Load(access) => self.access(access),
            other => format!("{other:?}"),
        }
    }
}
