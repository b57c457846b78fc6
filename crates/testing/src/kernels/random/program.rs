//! A random program: types, bindings, functions and the entry point.

use super::Extensions;
use super::ast::{Block, Expression, Function, ScalarType, Statement, Struct, Type};
use super::generator::{Generator, KernelStyle, Phase};
use super::rng::Rng;

pub(super) struct GeneratedProgram {
    pub program: super::ast::Program,
    pub workgroups: [u32; 3],
    pub pins: Vec<PinnedWord>,
}

pub(super) struct PinnedWord {
    pub name: String,
    pub offset: usize,
    pub value: u32,
}

impl GeneratedProgram {
    pub(super) fn invocations(&self) -> usize {
        self.program.workgroup_size.iter().chain(&self.workgroups).product::<u32>() as usize
    }
}

const SHAPES: [([u32; 3], [u32; 3]); 19] = [
    ([256, 1, 1], [1, 1, 1]),
    ([16, 16, 1], [1, 1, 1]),
    ([13, 1, 1], [3, 5, 1]),
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

pub(super) fn generate(mut rng: Rng, extensions: Extensions) -> GeneratedProgram {
    let style = rng.weighted(&[(25, KernelStyle::Row), (32, KernelStyle::Stencil), (43, KernelStyle::General)]);
    let scalars = scalars(&mut rng, style, extensions);
    let mut generator = Generator::new(rng, style, scalars);
    generator.unspecified_results = extensions.unspecified_results;
    let (size, workgroups) = *generator.rng.pick(&SHAPES);
    generator.program.workgroup_size = size;
    generator.program.enables_f16 = generator.scalars.iter().any(|(_, scalar)| *scalar == ScalarType::F16);

    let shape = Shape { size, workgroups };
    let barriers = match style {
        KernelStyle::Row => 0,
        KernelStyle::Stencil => 20,
        KernelStyle::General => 35,
    };
    let has_barriers = generator.rng.chance(barriers);
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
    GeneratedProgram { program: generator.program, workgroups, pins }
}

fn scalars(rng: &mut Rng, style: KernelStyle, extensions: Extensions) -> Vec<(usize, ScalarType)> {
    let mut scalars = match rng.below(4) {
        _ if !extensions.unspecified_results => {
            vec![(12, ScalarType::F32), (30, ScalarType::I32), (38, ScalarType::U32), (6, ScalarType::Bool)]
        }
        0 => vec![(20, ScalarType::F32), (25, ScalarType::I32), (35, ScalarType::U32), (6, ScalarType::Bool)],
        _ => vec![(60, ScalarType::F32), (15, ScalarType::I32), (18, ScalarType::U32), (5, ScalarType::Bool)],
    };
    let percent = match style {
        KernelStyle::Row => 0,
        KernelStyle::Stencil => 8,
        KernelStyle::General => 18,
    };
    if extensions.wide_integers && rng.chance(percent) {
        scalars.extend([(20, ScalarType::I64), (20, ScalarType::U64)]);
    }
    if extensions.double && rng.chance(percent) {
        scalars.push((25, ScalarType::F64));
    }
    if extensions.half && rng.chance(percent) {
        scalars.push((30, ScalarType::F16));
    }
    scalars
}

pub(super) struct Shape {
    pub size: [u32; 3],
    pub workgroups: [u32; 3],
}

impl Shape {
    pub(super) fn extent(&self, axis: usize) -> usize {
        (self.size[axis] * self.workgroups[axis]) as usize
    }

    pub(super) fn total(&self) -> usize {
        self.extent(0) * self.extent(1) * self.extent(2)
    }

    pub(super) fn local(&self) -> usize {
        self.size.iter().product::<u32>() as usize
    }
}

impl Generator {
    fn structs(&mut self) {
        if self.style == KernelStyle::Row || self.style == KernelStyle::Stencil && self.rng.chance(75) {
            return;
        }
        for _ in 0..self.rng.between(1, 3) {
            let mut members = Vec::new();
            for _ in 0..self.rng.between(1, 4) {
                let ty = self.host_type(1);
                members.push((format!("m{}", members.len()), ty));
            }
            self.structs.push(self.program.structs.len());
            self.host_structs.push(self.program.structs.len());
            self.program.structs.push(Struct { members });
        }
        if self.rng.chance(40) {
            let flags = Type::Vector(self.rng.between(2, 4), ScalarType::Bool);
            let members = [Type::BOOL, self.host_type(1), flags].into_iter().enumerate();
            let members = members.map(|(i, ty)| (format!("m{i}"), ty)).collect();
            self.structs.push(self.program.structs.len());
            self.program.structs.push(Struct { members });
        }
    }

    pub(super) fn host_type(&mut self, depth: usize) -> Type {
        let nested = if depth > 0 && self.style == KernelStyle::General { 1 } else { 0 };
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
            _ if self.host_structs.is_empty() => Type::F32,
            _ => Type::Struct(*self.rng.pick(&self.host_structs)),
        }
    }

    fn functions(&mut self, uses_private_pointers: bool) {
        let all = self.globals.clone();
        if uses_private_pointers {
            self.globals.retain(|entry| !entry.is_mutable);
        }
        let count = match self.style {
            KernelStyle::Row => self.rng.below(8) / 7,
            KernelStyle::Stencil => self.rng.below(5) / 3,
            KernelStyle::General => self.rng.below(4),
        };
        for _ in 0..count {
            let mut parameters = Vec::new();
            for _ in 0..self.rng.between(1, 3) {
                let ty = self.random_type(1);
                let name = self.fresh_name("a");
                self.declare(&name, ty.clone(), false);
                parameters.push((name, ty));
            }
            if self.style == KernelStyle::General && self.rng.chance(40) {
                let private = all.iter().filter(|entry| entry.is_mutable).map(|entry| entry.expression.ty.clone());
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
    }

    fn main(&mut self, shape: &Shape, has_barriers: bool) {
        let mut main = Vec::new();
        self.position(&mut main, shape);
        self.in_main = true;
        self.calls = 4;
        self.result = None;
        self.phase = if has_barriers { Phase::OwnElement } else { Phase::Closed };
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
        let length = match self.style {
            KernelStyle::Row => self.rng.below(4),
            KernelStyle::Stencil => self.rng.between(1, 6),
            KernelStyle::General => self.rng.between(3, 12),
        };
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
