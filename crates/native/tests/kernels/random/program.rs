//! A random program: types, bindings, functions and the entry point.

use super::ast::{Block, Expression, Function, Global, Scalar, Statement, Struct, Type};
use super::generator::{AtomicArray, Generator, Output, Phase, Root, Style, WorkgroupArray};
use super::rng::Rng;
use super::{Extensions, Pin};

/// A program with the number of workgroups to run.
pub struct Generated {
    pub program: super::ast::Program,
    pub workgroups: [u32; 3],
    pub pins: Vec<Pin>,
}

/// Workgroup sizes and numbers of workgroups.
const SHAPES: [([u32; 3], [u32; 3]); 16] = [
    ([64, 1, 1], [2, 1, 1]),
    ([64, 1, 1], [1, 1, 1]),
    ([8, 8, 1], [2, 1, 1]),
    ([8, 8, 1], [1, 2, 1]),
    ([16, 4, 1], [2, 2, 1]),
    ([32, 1, 1], [3, 1, 1]),
    ([4, 4, 2], [2, 1, 2]),
    ([3, 1, 1], [7, 1, 1]),
    ([5, 1, 1], [5, 3, 1]),
    ([8, 1, 1], [4, 4, 1]),
    ([1, 1, 1], [9, 1, 1]),
    ([1, 1, 1], [3, 2, 2]),
    ([7, 3, 1], [2, 2, 1]),
    ([1, 64, 1], [1, 1, 1]),
    ([128, 1, 1], [1, 1, 1]),
    ([2, 3, 4], [1, 2, 1]),
];

pub fn generate(mut rng: Rng, extensions: Extensions) -> Generated {
    let style = if rng.chance(55) { Style::Stencil } else { Style::General };
    let scalars = scalars(&mut rng, style, extensions);
    let mut generator = Generator::new(rng, style, scalars);
    let (size, workgroups) = *generator.rng.pick(&SHAPES);
    generator.program.workgroup_size = size;
    generator.program.enables_f16 = generator.scalars.iter().any(|(_, scalar)| *scalar == Scalar::F16);

    let shape = Shape { size, workgroups };
    let has_barriers = generator.rng.chance(if style == Style::General { 35 } else { 15 });
    generator.structs();
    let pins = generator.uniform(&shape);
    generator.inputs(&shape);
    generator.private_variables();
    let uses_private_pointers = generator.rng.chance(30);
    generator.functions(uses_private_pointers);
    generator.outputs(&shape);
    generator.atomic_arrays();
    if has_barriers {
        generator.workgroup_arrays(&shape);
        if generator.rng.chance(40) {
            generator.workgroup_atomics();
        }
    }
    generator.main(&shape, has_barriers);
    Generated { program: generator.program, workgroups, pins }
}

fn scalars(rng: &mut Rng, style: Style, extensions: Extensions) -> Vec<(usize, Scalar)> {
    let mut scalars = match rng.below(4) {
        0 => vec![(20, Scalar::F32), (25, Scalar::I32), (35, Scalar::U32), (6, Scalar::Bool)],
        _ => vec![(60, Scalar::F32), (15, Scalar::I32), (18, Scalar::U32), (5, Scalar::Bool)],
    };
    let percent = if style == Style::General { 18 } else { 6 };
    if extensions.wide_integers && rng.chance(percent) {
        scalars.extend([(20, Scalar::I64), (20, Scalar::U64)]);
    }
    if extensions.double && rng.chance(percent) {
        scalars.push((25, Scalar::F64));
    }
    if extensions.half && rng.chance(percent) {
        scalars.push((30, Scalar::F16));
    }
    scalars
}

/// Size of a workgroup and number of workgroups.
struct Shape {
    size: [u32; 3],
    workgroups: [u32; 3],
}

impl Shape {
    fn extent(&self, axis: usize) -> usize {
        (self.size[axis] * self.workgroups[axis]) as usize
    }

    fn total(&self) -> usize {
        self.extent(0) * self.extent(1) * self.extent(2)
    }

    fn local(&self) -> usize {
        self.size.iter().product::<u32>() as usize
    }
}

/// Operations on atomics; those of one line commute with each other.
const COMMUTING: [&[&str]; 6] =
    [&["atomicAdd", "atomicSub"], &["atomicAnd"], &["atomicOr"], &["atomicXor"], &["atomicMin"], &["atomicMax"]];

impl Generator {
    fn structs(&mut self) {
        if self.style == Style::Stencil && self.rng.chance(80) {
            return;
        }
        for _ in 0..self.rng.between(1, 3) {
            let mut members = Vec::new();
            for _ in 0..self.rng.between(1, 4) {
                let ty = self.host_type(1);
                members.push((format!("m{}", members.len()), ty));
            }
            self.structs.push(self.program.structs.len());
            self.program.structs.push(Struct { members });
        }
    }

    /// A type that bindings can hold.
    fn host_type(&mut self, depth: usize) -> Type {
        let nested = if depth > 0 && self.style == Style::General { 1 } else { 0 };
        match self.rng.weighted(&[(10, 0), (5, 1), (2 * nested, 2), (2 * nested, 3), (3 * nested, 4)]) {
            0 => Type::Scalar(self.random_number()),
            1 => Type::Vector(self.rng.between(2, 4), self.random_number()),
            2 => {
                let (columns, rows) = (self.rng.between(2, 4), self.rng.between(2, 4));
                Type::Matrix { columns, rows, scalar: self.random_float() }
            }
            3 => {
                let base = self.host_type(0);
                Type::Array(Box::new(base), Some(self.rng.between(1, 4)))
            }
            _ if self.structs.is_empty() => Type::F32,
            _ => Type::Struct(*self.rng.pick(&self.structs)),
        }
    }

    fn add_root(&mut self, expression: Expression, is_mutable: bool, is_constant: bool, weight: usize) {
        self.globals.push(Root { expression, is_mutable, is_reference: !is_constant, is_constant, weight });
    }

    fn add_binding(&mut self, space: &str, prefix: &str, ty: Type) -> Expression {
        let binding = self.program.globals.iter().filter(|global| global.declaration.starts_with('@')).count();
        let group = if self.rng.chance(15) { 1 } else { 0 };
        let name = self.fresh_name(prefix);
        self.program.globals.push(Global {
            declaration: format!("@group({group}) @binding({binding}) var<{space}>"),
            name: name.clone(),
            ty: ty.clone(),
            value: None,
        });
        Expression::name(ty, name)
    }

    /// A uniform whose first members are the row length and a count.
    fn uniform(&mut self, shape: &Shape) -> Vec<Pin> {
        self.widths.push(Expression::u32(shape.extent(0)));
        self.widths.push(Expression::name(Type::U32, format!("(groups.x * {}u)", shape.size[0])));
        self.lasts.push(Expression::u32(shape.total() - 1));
        if self.rng.chance(30) {
            return Vec::new();
        }
        let mut members = vec![("width".to_string(), Type::U32), ("count".to_string(), Type::U32)];
        for _ in 0..self.rng.below(5) {
            let ty = match self.host_type(0) {
                ty if self.rng.chance(15) => {
                    let scalar = if ty.scalar() == Some(Scalar::I32) { Scalar::I32 } else { Scalar::F32 };
                    Type::Array(Box::new(Type::Vector(4, scalar)), Some(3))
                }
                ty => ty,
            };
            members.push((format!("m{}", members.len()), ty));
        }
        let ty = Type::Struct(self.program.structs.len());
        self.structs.push(self.program.structs.len());
        self.program.structs.push(Struct { members });
        let uniform = self.add_binding("uniform", "params", ty);
        let name = uniform.to_string();
        let member = |member| Expression::name(Type::U32, format!("{name}.{member}"));
        self.widths.extend([member("width"), member("width")]);
        self.lasts.push(Expression::name(Type::U32, format!("({name}.count - 1u)")));
        let count = shape.total() + self.rng.below(4);
        let count = if self.rng.chance(50) { count.saturating_sub(self.rng.below(9)) } else { count };
        let pins = [(0, shape.extent(0)), (4, count)];
        let pins = pins.map(|(offset, value)| Pin { name: name.clone(), offset, value: value as u32 });
        self.add_root(uniform, false, false, 3);
        pins.into()
    }

    fn inputs(&mut self, shape: &Shape) {
        for _ in 0..self.rng.between(1, 3) {
            let base = self.host_type(if self.style == Style::General { 1 } else { 0 });
            let base = if self.style == Style::Stencil && self.rng.chance(75) {
                Type::Scalar(self.random_number())
            } else {
                base
            };
            let base = Box::new(base);
            let array = match self.rng.below(20) {
                0..=2 => {
                    let length = self.rng.between(1, shape.total() + 3);
                    self.add_binding("storage", "in", Type::Array(base, Some(length)))
                }
                3 | 4 => {
                    let header = self.host_type(1);
                    let data = Type::Array(base, None);
                    let members = vec![("head".to_string(), header), ("data".to_string(), data.clone())];
                    let index = self.program.structs.len();
                    self.program.structs.push(Struct { members });
                    let buffer = self.add_binding("storage", "in", Type::Struct(index));
                    Expression::member(data, buffer, "data")
                }
                _ => self.add_binding("storage", "in", Type::Array(base, None)),
            };
            if matches!(array.ty, Type::Array(_, None)) {
                let pointer = Expression::prefix(Type::Unnamed, "&", array.clone());
                let length = Expression::call(Type::U32, "arrayLength", vec![pointer]);
                let length = Expression { form: super::ast::Form::UserCall("arrayLength".into()), ..length };
                self.add_root(length.clone(), false, false, 1);
                self.lasts.push(Expression::infix(Type::U32, "-", length, Expression::u32(1)));
            }
            let weight = if self.style == Style::Stencil { 10 } else { 5 };
            self.add_root(array, false, false, weight);
        }
    }

    fn private_variables(&mut self) {
        if self.style == Style::Stencil {
            return;
        }
        for _ in 0..self.rng.below(3) {
            let ty = self.random_type(1);
            let name = self.fresh_name("g");
            let value = if self.rng.chance(40) { Some(Expression::zero(&ty)) } else { None };
            let declaration = "var<private>".into();
            self.program.globals.push(Global { declaration, name: name.clone(), ty: ty.clone(), value });
            self.add_root(Expression::name(ty, name), true, false, 3);
        }
        if self.rng.chance(25) {
            let scalar = self.random_number();
            let length = self.rng.between(2, 5);
            let ty = Type::Array(Box::new(Type::Scalar(scalar)), Some(length));
            let elements = (0..length).map(|_| self.literal(scalar)).collect();
            let value = Expression::call(ty.clone(), ty.to_string(), elements);
            let name = self.fresh_name("t");
            let declaration = "const".into();
            self.program.globals.push(Global { declaration, name: name.clone(), ty: ty.clone(), value: Some(value) });
            self.add_root(Expression::name(ty, name), false, true, 2);
        }
    }

    fn functions(&mut self, uses_private_pointers: bool) {
        let all = self.globals.clone();
        if uses_private_pointers {
            self.globals.retain(|root| !root.is_mutable);
        }
        let visible = self.globals.clone();
        let count = if self.style == Style::General { self.rng.below(4) } else { self.rng.below(5) / 3 };
        for _ in 0..count {
            let mut parameters = Vec::new();
            for _ in 0..self.rng.between(1, 3) {
                let ty = self.random_type(1);
                let name = self.fresh_name("a");
                self.declare(&name, ty.clone(), false);
                parameters.push((name, ty));
            }
            if self.style == Style::General && self.rng.chance(40) {
                let private = all.iter().filter(|root| root.is_mutable).map(|root| root.expression.ty.clone());
                let private: Vec<_> = private.collect();
                let (space, base) = if uses_private_pointers && !private.is_empty() && self.rng.chance(50) {
                    ("private", self.rng.pick(&private).clone())
                } else {
                    ("function", self.random_type(1))
                };
                let name = self.fresh_name("a");
                self.declare(&format!("(*{name})"), base.clone(), true);
                parameters.push((name, Type::Pointer(space, Box::new(base))));
            }
            let result = if self.rng.chance(85) { Some(self.random_type(1)) } else { None };
            self.result = result.clone();
            self.may_return = true;
            self.calls = 1;
            let mut body = Vec::new();
            for _ in 0..self.rng.between(0, 4) {
                self.statement(&mut body, 1);
            }
            if let Some(ty) = &result {
                let value = self.expression(ty, 2);
                body.push(Statement::Return(Some(value)));
            }
            self.scope.clear();
            let name = self.fresh_name("fun");
            self.program.functions.push(Function { name, parameters, result, body });
        }
        self.may_return = false;
        self.globals = all;
        debug_assert!(visible.len() <= self.globals.len());
    }

    fn outputs(&mut self, shape: &Shape) {
        for number in 0..self.rng.between(1, 3) {
            let base = if self.style == Style::Stencil && self.rng.chance(75) {
                Type::Scalar(self.random_number())
            } else {
                self.host_type(1)
            };
            let base = if number > 0 && self.style == Style::General && self.rng.chance(25) {
                Type::Atomic(if self.rng.chance(50) { Scalar::I32 } else { Scalar::U32 })
            } else {
                base
            };
            let scale = if self.rng.chance(80) { 1 } else { self.rng.between(2, 3) };
            let i = Expression::name(Type::U32, "i");
            let last = shape.total() - 1;
            let index = match self.rng.below(10) {
                0 => Expression::infix(Type::U32, "-", Expression::u32(last), i),
                1 => Expression::infix(Type::U32, "+", i, Expression::u32(self.rng.between(1, 5))),
                2 => {
                    let row = Expression::infix(Type::U32, "*", Expression::name(Type::U32, "y"), self.width());
                    Expression::infix(Type::U32, "+", row, Expression::name(Type::U32, "x"))
                }
                3 => Expression::call(Type::U32, "u32", vec![Expression::name(Type::I32, "j")]),
                _ => i,
            };
            let element = Box::new(base.clone());
            let array = match self.rng.below(10) {
                // Clamped indices of different invocations would meet at the last element.
                0 => {
                    let length = (shape.total() + 5) * scale;
                    self.add_binding("storage, read_write", "out", Type::Array(element, Some(length)))
                }
                1 => {
                    let data = Type::Array(element, None);
                    let members = vec![("head".to_string(), Type::U32), ("data".to_string(), data.clone())];
                    let index = self.program.structs.len();
                    self.program.structs.push(Struct { members });
                    let buffer = self.add_binding("storage, read_write", "out", Type::Struct(index));
                    Expression::member(data, buffer, "data")
                }
                _ => self.add_binding("storage, read_write", "out", Type::Array(element, None)),
            };
            self.outputs.push(Output { array, base, scale, index });
        }
        if self.rng.chance(50) {
            let ty = Type::Array(Box::new(Type::U32), None);
            let array = self.add_binding("storage, read_write", "sum", ty);
            let index = Expression::name(Type::U32, "i");
            self.checksum = Some(Output { array, base: Type::U32, scale: 1, index });
        }
    }

    fn atomic_arrays(&mut self) {
        if !self.rng.chance(if self.style == Style::General { 35 } else { 10 }) {
            return;
        }
        let scalar = if self.rng.chance(50) { Scalar::I32 } else { Scalar::U32 };
        let length = if self.rng.chance(50) { Some(self.rng.between(1, 9)) } else { None };
        let ty = Type::Array(Box::new(Type::Atomic(scalar)), length);
        let array = self.add_binding("storage, read_write", "counters", ty);
        let operations = *self.rng.pick(&COMMUTING);
        self.atomics.push(AtomicArray { name: array.to_string(), scalar, length, operations });
    }

    fn workgroup_arrays(&mut self, shape: &Shape) {
        for _ in 0..self.rng.between(1, 2) {
            let base = self.random_type(0);
            let name = self.fresh_name("w");
            let length = shape.local();
            let ty = Type::Array(Box::new(base.clone()), Some(length));
            let declaration = "var<workgroup>".into();
            self.program.globals.push(Global { declaration, name: name.clone(), ty, value: None });
            self.workgroup_arrays.push(WorkgroupArray { name, base, length });
        }
    }

    fn workgroup_atomics(&mut self) {
        let scalar = if self.rng.chance(50) { Scalar::I32 } else { Scalar::U32 };
        let length = self.rng.between(1, 5);
        let ty = Type::Array(Box::new(Type::Atomic(scalar)), Some(length));
        let name = self.fresh_name("w");
        let declaration = "var<workgroup>".into();
        self.program.globals.push(Global { declaration, name: name.clone(), ty, value: None });
        let operations = *self.rng.pick(&COMMUTING);
        self.workgroup_atomics.push(AtomicArray { name, scalar, length: Some(length), operations });
    }

    fn main(&mut self, shape: &Shape, has_barriers: bool) {
        let mut main = Vec::new();
        self.position(&mut main, shape);
        self.in_main = true;
        self.calls = 4;
        self.result = None;
        self.phase = if has_barriers { Phase::Own } else { Phase::Closed };
        if has_barriers {
            for _ in 0..self.rng.between(1, 3) {
                for _ in 0..self.rng.between(0, 3) {
                    self.statement(&mut main, 2);
                }
                self.uniform_statements(&mut main);
            }
            self.phase = Phase::Closed;
        }
        self.may_return = true;
        let guard = self.rng.below(5);
        let limit = self.limit(shape);
        if guard < 2 {
            let accept = vec![Statement::Return(None)];
            main.push(Statement::If { condition: limit.clone(), accept, reject: Vec::new() });
        }
        let mut body = Vec::new();
        let length = if self.style == Style::General { self.rng.between(3, 12) } else { self.rng.between(0, 5) };
        let scope = self.scope.len();
        for _ in 0..length {
            self.statement(&mut body, 2);
        }
        for _ in 0..self.rng.between(1, 3) {
            self.output_statement(&mut body);
        }
        self.add_checksum(&mut body);
        self.scope.truncate(scope);
        if guard == 2 {
            let condition = Expression::prefix(Type::BOOL, "!", limit);
            main.push(Statement::If { condition, accept: body, reject: Vec::new() });
        } else {
            main.extend(body);
        }
        self.program.main = main;
    }

    /// Declares the indices of the invocation.
    fn position(&mut self, main: &mut Block, shape: &Shape) {
        let mut declare = |name: &str, ty: Type, text: String| {
            main.push(Statement::Let { name: name.into(), value: Expression::name(ty.clone(), text) });
            self.declare(name, ty, false);
        };
        declare("x", Type::U32, "gid.x".into());
        let planes = if shape.extent(2) > 1 { format!(" + gid.z * {}u", shape.extent(1)) } else { String::new() };
        declare("y", Type::U32, format!("gid.y{planes}"));
        let is_row = shape.extent(1) * shape.extent(2) == 1;
        let width = self.width();
        let mut declare = |name: &str, ty: Type, text: String| {
            main.push(Statement::Let { name: name.into(), value: Expression::name(ty.clone(), text) });
            self.declare(name, ty, false);
        };
        declare("i", Type::U32, if is_row { "gid.x".into() } else { format!("y * {width} + x") });
        declare("j", Type::I32, "i32(i)".into());
    }

    /// A condition for the invocations without work.
    fn limit(&mut self, shape: &Shape) -> Expression {
        let total = shape.total();
        let text = match self.rng.below(4) {
            0 if shape.extent(1) > 1 => {
                format!("(x >= {}u || y >= {}u)", shape.extent(0).div_ceil(2), shape.extent(1).saturating_sub(1))
            }
            1 => {
                let lasts = self.lasts.clone();
                format!("(i > {})", self.rng.pick(&lasts))
            }
            _ => format!("(i >= {}u)", total - self.rng.below(total.min(9))),
        };
        Expression::name(Type::BOOL, text)
    }
}
