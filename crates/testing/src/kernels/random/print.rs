//! Conversion of a program to WGSL.

use std::fmt::{self, Display, Formatter, Write};

use super::ast::{Block, Expression, Form, Function, Program, ScalarType, Statement, Type};

const ARGUMENTS: &str = "@builtin(global_invocation_id) gid: vec3<u32>, \
     @builtin(local_invocation_id) lid: vec3<u32>, @builtin(local_invocation_index) local: u32, \
     @builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>";

impl Display for ScalarType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::F32 => "f32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F64 => "f64",
            Self::F16 => "f16",
        })
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => write!(f, "{scalar}"),
            Self::Vector(size, scalar) => write!(f, "vec{size}<{scalar}>"),
            Self::Matrix { columns, rows, scalar } => write!(f, "mat{columns}x{rows}<{scalar}>"),
            Self::Array(base, Some(length)) => write!(f, "array<{base}, {length}>"),
            Self::Array(base, None) => write!(f, "array<{base}>"),
            Self::Struct(index) => write!(f, "S{index}"),
            Self::Atomic(scalar) => write!(f, "atomic<{scalar}>"),
            Self::Pointer(space, base) => write!(f, "ptr<{space}, {base}>"),
            Self::Unnamed => f.write_str("?"),
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.form {
            Form::Literal(text) | Form::Name(text) => f.write_str(text),
            Form::Call(name) | Form::UserCall(name) => {
                write!(f, "{name}(")?;
                for (i, operand) in self.operands.iter().enumerate() {
                    write!(f, "{}{operand}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            Form::Prefix(operator) => write!(f, "({operator}{})", self.operands[0]),
            Form::Infix(operator) => write!(f, "({} {operator} {})", self.operands[0], self.operands[1]),
            Form::Index => write!(f, "{}[{}]", self.operands[0], self.operands[1]),
            Form::Member(name) => write!(f, "{}.{name}", self.operands[0]),
        }
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.enables_f16 {
            f.write_str("enable f16;\n")?;
        }
        for (i, definition) in self.structs.iter().enumerate() {
            writeln!(f, "struct S{i} {{")?;
            for (name, ty) in &definition.members {
                writeln!(f, "    {name}: {ty},")?;
            }
            f.write_str("}\n")?;
        }
        for global in &self.globals {
            write!(f, "{} {}: {}", global.declaration, global.name, global.ty)?;
            if let Some(value) = &global.value {
                write!(f, " = {value}")?;
            }
            f.write_str(";\n")?;
        }
        for function in &self.functions {
            print_function(f, function)?;
        }
        let [x, y, z] = self.workgroup_size;
        writeln!(f, "@compute @workgroup_size({x}, {y}, {z})\nfn main({ARGUMENTS}) {{")?;
        print_block(f, &self.main, 1)?;
        f.write_str("}\n")
    }
}

fn print_function(f: &mut Formatter<'_>, function: &Function) -> fmt::Result {
    write!(f, "fn {}(", function.name)?;
    for (i, (name, ty)) in function.parameters.iter().enumerate() {
        write!(f, "{}{name}: {ty}", if i == 0 { "" } else { ", " })?;
    }
    f.write_str(")")?;
    if let Some(result) = &function.result {
        write!(f, " -> {result}")?;
    }
    f.write_str(" {\n")?;
    print_block(f, &function.body, 1)?;
    f.write_str("}\n")
}

fn print_block(f: &mut Formatter<'_>, block: &Block, depth: usize) -> fmt::Result {
    block.iter().try_for_each(|statement| print_statement(f, statement, depth))
}

fn print_statement(f: &mut Formatter<'_>, statement: &Statement, depth: usize) -> fmt::Result {
    let indent = "    ".repeat(depth);
    f.write_str(&indent)?;
    match statement {
        Statement::Let { name, value } => writeln!(f, "let {name} = {value};"),
        Statement::Var { name, ty, value: None } => writeln!(f, "var {name}: {ty};"),
        Statement::Var { name, ty, value: Some(value) } => writeln!(f, "var {name}: {ty} = {value};"),
        Statement::Assign { target, operator, value } => writeln!(f, "{target} {operator} {value};"),
        Statement::Step { target, operator } => writeln!(f, "{target}{operator};"),
        Statement::Call(call) => writeln!(f, "{call};"),
        Statement::Discard(value) => writeln!(f, "_ = {value};"),
        Statement::If { condition, accept, reject } => {
            writeln!(f, "if {condition} {{")?;
            print_block(f, accept, depth + 1)?;
            if !reject.is_empty() {
                writeln!(f, "{indent}}} else {{")?;
                print_block(f, reject, depth + 1)?;
            }
            writeln!(f, "{indent}}}")
        }
        Statement::Switch { selector, cases } => {
            writeln!(f, "switch {selector} {{")?;
            for case in cases {
                writeln!(f, "{indent}    case {}: {{", case.selectors.join(", "))?;
                print_block(f, &case.body, depth + 2)?;
                writeln!(f, "{indent}    }}")?;
            }
            writeln!(f, "{indent}}}")
        }
        Statement::For { counter, ty, start, condition, update, body } => {
            writeln!(f, "for (var {counter}: {ty} = {start}; {condition}; {update}) {{")?;
            print_block(f, body, depth + 1)?;
            writeln!(f, "{indent}}}")
        }
        Statement::While { condition, body } => {
            writeln!(f, "while {condition} {{")?;
            print_block(f, body, depth + 1)?;
            writeln!(f, "{indent}}}")
        }
        Statement::Loop { body, continuing, break_if } => {
            writeln!(f, "loop {{")?;
            print_block(f, body, depth + 1)?;
            writeln!(f, "{indent}    continuing {{")?;
            print_block(f, continuing, depth + 2)?;
            if let Some(condition) = break_if {
                writeln!(f, "{indent}        break if {condition};")?;
            }
            writeln!(f, "{indent}    }}\n{indent}}}")
        }
        Statement::Block(block) => {
            f.write_str("{\n")?;
            print_block(f, block, depth + 1)?;
            writeln!(f, "{indent}}}")
        }
        Statement::Break => f.write_str("break;\n"),
        Statement::Continue => f.write_str("continue;\n"),
        Statement::Return(None) => f.write_str("return;\n"),
        Statement::Return(Some(value)) => writeln!(f, "return {value};"),
        Statement::Barrier(name) => {
            f.write_str(name)?;
            f.write_char('\n')
        }
    }
}
