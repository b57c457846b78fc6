//! Random bindings and module variables.

use super::ast::{Expression, Form, Global, ScalarType, Struct, Type};
use super::generator::{AtomicArray, Generator, KernelStyle, Output, ScopeEntry, WorkgroupArray};
use super::program::{PinnedWord, Shape};

/// Atomic operations; those of one line commute.
const COMMUTING: [&[&str]; 6] =
    [&["atomicAdd", "atomicSub"], &["atomicAnd"], &["atomicOr"], &["atomicXor"], &["atomicMin"], &["atomicMax"]];

impl Generator {
    fn add_entry(&mut self, expression: Expression, is_mutable: bool, is_constant: bool, weight: usize) {
        self.globals.push(ScopeEntry { expression, is_mutable, is_reference: !is_constant, is_constant, weight });
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

    pub(super) fn uniform(&mut self, shape: &Shape) -> Vec<PinnedWord> {
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
                    let scalar = if ty.scalar() == Some(ScalarType::I32) { ScalarType::I32 } else { ScalarType::F32 };
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
        let pins = pins.map(|(offset, value)| PinnedWord { name: name.clone(), offset, value: value as u32 });
        self.add_entry(uniform, false, false, 3);
        pins.into()
    }

    /// Makes the length of a runtime-sized array readable.
    fn add_length(&mut self, array: &Expression) {
        if matches!(array.ty, Type::Array(_, None)) {
            let pointer = Expression::prefix(Type::Unnamed, "&", array.clone());
            let form = Form::UserCall("arrayLength".into());
            let length = Expression { ty: Type::U32, form, operands: vec![pointer] };
            self.add_entry(length.clone(), false, false, 1);
            self.lasts.push(Expression::infix(Type::U32, "-", length, Expression::u32(1)));
        }
    }

    pub(super) fn inputs(&mut self, shape: &Shape) {
        for _ in 0..self.rng.between(1, 3) {
            let base = self.host_type(if self.style == KernelStyle::General { 1 } else { 0 });
            let scalars = match self.style {
                KernelStyle::Row => 100,
                KernelStyle::Stencil => 70,
                KernelStyle::General => 0,
            };
            let base = if self.rng.chance(scalars) { Type::Scalar(self.random_number()) } else { base };
            let base = Box::new(base);
            let form = if self.style == KernelStyle::Row { 19 } else { self.rng.below(20) };
            let array = match form {
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
            self.add_length(&array);
            let weight = if self.style != KernelStyle::General { 10 } else { 5 };
            self.add_entry(array, false, false, weight);
        }
    }

    pub(super) fn private_variables(&mut self) {
        if self.style != KernelStyle::General {
            return;
        }
        for _ in 0..self.rng.below(3) {
            let ty = self.random_type(1);
            let name = self.fresh_name("g");
            let value = if self.rng.chance(40) { Some(Expression::zero(&ty)) } else { None };
            let declaration = "var<private>".into();
            self.program.globals.push(Global { declaration, name: name.clone(), ty: ty.clone(), value });
            self.add_entry(Expression::name(ty, name), true, false, 3);
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
            self.add_entry(Expression::name(ty, name), false, true, 2);
        }
    }

    pub(super) fn outputs(&mut self, shape: &Shape) {
        for number in 0..self.rng.between(1, 3) {
            let scalars = match self.style {
                KernelStyle::Row => 100,
                KernelStyle::Stencil => 70,
                KernelStyle::General => 0,
            };
            let base = if self.rng.chance(scalars) { Type::Scalar(self.random_number()) } else { self.host_type(1) };
            let base = if number > 0 && self.style == KernelStyle::General && self.rng.chance(25) {
                Type::Atomic(if self.rng.chance(50) { ScalarType::I32 } else { ScalarType::U32 })
            } else {
                base
            };
            let is_row = self.style == KernelStyle::Row;
            let scale = if is_row || self.rng.chance(80) { 1 } else { self.rng.between(2, 3) };
            let i = Expression::name(Type::U32, "i");
            let last = shape.total() - 1;
            let index = match self.rng.below(10) {
                0..=2 if is_row => i,
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
            let array = match if is_row { 9 } else { self.rng.below(10) } {
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
            self.add_length(&array);
            self.outputs.push(Output { array, base, scale, index });
        }
        if self.rng.chance(if self.style == KernelStyle::Row { 15 } else { 70 }) {
            let ty = Type::Array(Box::new(Type::U32), None);
            let array = self.add_binding("storage, read_write", "sum", ty);
            let index = Expression::name(Type::U32, "i");
            self.checksum = Some(Output { array, base: Type::U32, scale: 1, index });
        }
    }

    pub(super) fn atomic_arrays(&mut self) {
        let percent = match self.style {
            KernelStyle::Row => 3,
            KernelStyle::Stencil => 12,
            KernelStyle::General => 35,
        };
        if !self.rng.chance(percent) {
            return;
        }
        let scalar = if self.rng.chance(50) { ScalarType::I32 } else { ScalarType::U32 };
        let length = if self.rng.chance(50) { Some(self.rng.between(1, 9)) } else { None };
        let ty = Type::Array(Box::new(Type::Atomic(scalar)), length);
        let operations = *self.rng.pick(&COMMUTING);
        let array = if self.rng.chance(30) {
            // No invocation reads the atomic member.
            let members = vec![("head".to_string(), Type::Atomic(scalar)), ("cells".to_string(), ty.clone())];
            let index = self.program.structs.len();
            self.program.structs.push(Struct { members });
            let buffer = self.add_binding("storage, read_write", "counters", Type::Struct(index));
            Expression::member(ty, buffer, "cells")
        } else {
            self.add_binding("storage, read_write", "counters", ty)
        };
        self.atomics.push(AtomicArray { name: array.to_string(), scalar, length, operations });
    }

    pub(super) fn workgroup_arrays(&mut self, shape: &Shape) {
        for _ in 0..self.rng.between(1, 2) {
            let base = self.random_type(0);
            let name = self.fresh_name("w");
            let length = shape.local();
            let width = shape.size[0] as usize;
            let row = (width > 1 && self.rng.chance(30)).then_some(width);
            let array = WorkgroupArray { name: name.clone(), base, length, row };
            let declaration = "var<workgroup>".into();
            self.program.globals.push(Global { declaration, name, ty: array.ty(), value: None });
            self.workgroup_arrays.push(array);
        }
    }

    pub(super) fn workgroup_atomics(&mut self) {
        let scalar = if self.rng.chance(50) { ScalarType::I32 } else { ScalarType::U32 };
        let length = self.rng.between(1, 5);
        let ty = Type::Array(Box::new(Type::Atomic(scalar)), Some(length));
        let name = self.fresh_name("w");
        let declaration = "var<workgroup>".into();
        self.program.globals.push(Global { declaration, name: name.clone(), ty, value: None });
        let operations = *self.rng.pick(&COMMUTING);
        self.workgroup_atomics.push(AtomicArray { name, scalar, length: Some(length), operations });
    }
}
