use super::ast::{Block, Expression, Function, Global, Program, ScalarType, Statement, Type};
use super::rng::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KernelStyle {
    /// Very short, over runtime-sized arrays of `f32`, `i32` and `u32`, one element an invocation.
    Row,
    /// Short, over arrays of scalars with neighbours: the form that code generators vectorize.
    Stencil,
    General,
}

#[derive(Debug, Clone)]
pub(super) struct ScopeEntry {
    pub expression: Expression,
    pub is_mutable: bool,
    /// True for variables: a matrix that is a value takes no dynamic index.
    pub is_reference: bool,
    /// True for `const` arrays: a constant index into them is evaluated by the front end.
    pub is_constant: bool,
    pub weight: usize,
}

/// Array of the workgroup with an element for each invocation.
#[derive(Debug, Clone)]
pub(super) struct WorkgroupArray {
    pub name: String,
    pub base: Type,
    pub length: usize,
    pub row: Option<usize>,
}

impl WorkgroupArray {
    pub(super) fn ty(&self) -> Type {
        let base = Box::new(self.base.clone());
        match self.row {
            None => Type::Array(base, Some(self.length)),
            Some(row) => {
                let row_ty = Type::Array(base, Some(row));
                Type::Array(Box::new(row_ty), Some(self.length / row))
            }
        }
    }

    pub(super) fn element(&self, index: &str) -> Expression {
        let array = Expression::name(self.ty(), self.name.clone());
        match self.row {
            None => Expression::index(self.base.clone(), array, Expression::name(Type::U32, index)),
            Some(length) => {
                let ty = Type::Array(Box::new(self.base.clone()), Some(length));
                let (row, column) = match index {
                    "local" => (format!("local / {length}u"), "lid.x".to_string()),
                    _ => (format!("({index}) / {length}u"), format!("({index}) % {length}u")),
                };
                let row = Expression::index(ty, array, Expression::name(Type::U32, row));
                Expression::index(self.base.clone(), row, Expression::name(Type::U32, column))
            }
        }
    }
}

/// Permitted access of invocations to the arrays of the workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Closed,
    /// Each invocation reads and writes its own element.
    OwnElement,
    /// All invocations read all elements.
    Shared,
}

/// Elements of a writable array that belong to an invocation: `index · scale + 0 .. scale`.
#[derive(Debug, Clone)]
pub(super) struct Output {
    pub array: Expression,
    pub base: Type,
    pub scale: usize,
    /// Index of the invocation, unique among all.
    pub index: Expression,
}

/// An array of atomics that all invocations change by operations that commute.
#[derive(Debug, Clone)]
pub(super) struct AtomicArray {
    pub name: String,
    pub scalar: ScalarType,
    pub length: Option<usize>,
    pub operations: &'static [&'static str],
}

pub(super) struct Generator {
    pub rng: Rng,
    /// Results may be those that WGSL leaves open.
    pub unspecified_results: bool,
    /// Structs that variables can have as their type, and those that bindings can have.
    pub structs: Vec<usize>,
    pub host_structs: Vec<usize>,
    pub style: KernelStyle,
    pub program: Program,
    pub scalars: Vec<(usize, ScalarType)>,
    pub scope: Vec<ScopeEntry>,
    pub globals: Vec<ScopeEntry>,
    pub outputs: Vec<Output>,
    pub workgroup_arrays: Vec<WorkgroupArray>,
    pub phase: Phase,
    pub atomics: Vec<AtomicArray>,
    pub workgroup_atomics: Vec<AtomicArray>,
    pub checksum: Option<Output>,
    /// True in the entry point, where the indices of the invocation are in scope.
    pub in_main: bool,
    /// Expressions of the row length, and of the highest index.
    pub widths: Vec<Expression>,
    pub lasts: Vec<Expression>,
    /// Loops around the statement, and whether `break` and `continue` may end it.
    pub loops: usize,
    pub may_break: bool,
    pub may_continue: bool,
    /// True where the function may return early.
    pub may_return: bool,
    pub result: Option<Type>,
    /// Number of further calls; each multiplies the run time.
    pub calls: usize,
    pub nesting: usize,
    names: usize,
}

impl Generator {
    pub(super) fn new(rng: Rng, style: KernelStyle, scalars: Vec<(usize, ScalarType)>) -> Self {
        Self {
            rng,
            unspecified_results: true,
            structs: Vec::new(),
            host_structs: Vec::new(),
            style,
            program: Program::default(),
            scalars,
            scope: Vec::new(),
            globals: Vec::new(),
            outputs: Vec::new(),
            workgroup_arrays: Vec::new(),
            phase: Phase::Closed,
            atomics: Vec::new(),
            workgroup_atomics: Vec::new(),
            checksum: None,
            in_main: false,
            widths: Vec::new(),
            lasts: Vec::new(),
            loops: 0,
            may_break: false,
            may_continue: false,
            may_return: false,
            result: None,
            calls: 0,
            nesting: 0,
            names: 0,
        }
    }

    pub(super) fn fresh_name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub(super) fn declare(&mut self, name: &str, ty: Type, is_mutable: bool) {
        let expression = Expression::name(ty, name);
        self.scope.push(ScopeEntry { expression, is_mutable, is_reference: is_mutable, is_constant: false, weight: 4 });
    }

    pub(super) fn random_scalar(&mut self) -> ScalarType {
        self.rng.weighted(&self.scalars)
    }

    pub(super) fn random_number(&mut self) -> ScalarType {
        loop {
            let scalar = self.random_scalar();
            if scalar != ScalarType::Bool {
                return scalar;
            }
        }
    }

    pub(super) fn random_float(&mut self) -> ScalarType {
        let floats: Vec<_> = self.scalars.iter().copied().filter(|(_, scalar)| scalar.is_float()).collect();
        self.rng.weighted(&floats)
    }

    /// Vectors and composites are rare in stencils.
    pub(super) fn random_type(&mut self, depth: usize) -> Type {
        let general = if self.style == KernelStyle::General { 1 } else { 0 };
        match self.rng.weighted(&[
            (60 + 40 * (1 - general), 0),
            (10 + 25 * general, 1),
            (5 * general, 2),
            (if depth > 0 { 6 * general } else { 0 }, 3),
            (if self.structs.is_empty() { 0 } else { 6 * general }, 4),
        ]) {
            0 => Type::Scalar(self.random_scalar()),
            1 => Type::Vector(self.rng.between(2, 4), self.random_scalar()),
            2 => {
                let (columns, rows) = (self.rng.between(2, 4), self.rng.between(2, 4));
                Type::Matrix { columns, rows, scalar: self.random_float() }
            }
            3 => {
                let base = self.random_type(depth - 1);
                Type::Array(Box::new(base), Some(self.rng.between(1, 5)))
            }
            _ => Type::Struct(*self.rng.pick(&self.structs)),
        }
    }

    pub(super) fn entries(&mut self) -> Vec<ScopeEntry> {
        let mut entries = self.scope.clone();
        entries.extend(self.globals.iter().cloned());
        if self.in_main {
            for output in self.outputs.clone() {
                let expression = self.own_element(&output);
                let entry =
                    ScopeEntry { expression, is_mutable: true, is_reference: true, is_constant: false, weight: 2 };
                entries.push(entry);
            }
        }
        for array in &self.workgroup_arrays {
            let (expression, is_mutable) = match self.phase {
                Phase::Closed => continue,
                Phase::OwnElement => (array.element("local"), true),
                Phase::Shared => (Expression::name(array.ty(), array.name.clone()), false),
            };
            entries.push(ScopeEntry { expression, is_mutable, is_reference: true, is_constant: false, weight: 4 });
        }
        entries
    }

    pub(super) fn own_element(&mut self, output: &Output) -> Expression {
        let mut index = output.index.clone();
        if output.scale > 1 {
            index = Expression::infix(Type::U32, "*", index, Expression::u32(output.scale));
            let offset = self.rng.below(output.scale);
            if offset > 0 || self.rng.chance(50) {
                index = Expression::infix(Type::U32, "+", index, Expression::u32(offset));
            }
        }
        Expression::index(output.base.clone(), output.array.clone(), index)
    }

    /// Part of a readable variable; `None` if no variable has the type.
    pub(super) fn readable(&mut self, target: &Type) -> Option<Expression> {
        let entries = self.entries().into_iter().filter(|entry| self.can_reach(&entry.expression.ty, target));
        let entries: Vec<_> = entries.collect();
        self.choose(&entries, target)
    }

    /// Part of a writable variable; `None` if no variable has the type.
    pub(super) fn writable(&mut self, target: &Type) -> Option<Expression> {
        let entries = self.entries().into_iter();
        let entries = entries.filter(|entry| entry.is_mutable && self.can_reach(&entry.expression.ty, target));
        let entries: Vec<_> = entries.collect();
        self.choose(&entries, target)
    }

    fn choose(&mut self, entries: &[ScopeEntry], target: &Type) -> Option<Expression> {
        if entries.is_empty() {
            return None;
        }
        let weights: Vec<_> = entries.iter().enumerate().map(|(i, entry)| (entry.weight, i)).collect();
        let entry = &entries[self.rng.weighted(&weights)];
        Some(self.reach(entry.expression.clone(), target, entry))
    }

    pub(super) fn can_reach(&self, ty: &Type, target: &Type) -> bool {
        ty == target
            || match ty {
                Type::Vector(_, scalar) => *target == Type::Scalar(*scalar),
                Type::Matrix { rows, scalar, .. } => {
                    *target == Type::Scalar(*scalar) || *target == Type::Vector(*rows, *scalar)
                }
                Type::Array(base, _) => self.can_reach(base, target),
                Type::Struct(index) => {
                    let members = &self.program.structs[*index].members;
                    members.iter().any(|(_, member)| self.can_reach(member, target))
                }
                _ => false,
            }
    }

    pub(super) fn reach(&mut self, base: Expression, target: &Type, entry: &ScopeEntry) -> Expression {
        if base.ty == *target {
            return base;
        }
        match base.ty.clone() {
            Type::Vector(size, scalar) => {
                let ty = Type::Scalar(scalar);
                if self.rng.chance(75) {
                    let component =
                        ["x", "y", "z", "w", "r", "g", "b", "a"][self.rng.below(2) * 4 + self.rng.below(size)];
                    return Expression::member(ty, base, component);
                }
                let index = self.index(Some(size), false);
                Expression::index(ty, base, index)
            }
            Type::Matrix { columns, rows, scalar } => {
                let index = self.index(Some(columns), !entry.is_reference);
                self.reach(Expression::index(Type::Vector(rows, scalar), base, index), target, entry)
            }
            Type::Array(element, length) => {
                let mut index = self.index(length, false);
                if entry.is_constant {
                    index = self.at_run_time(index);
                    index = self.clamped(index, length);
                }
                self.reach(Expression::index(*element, base, index), target, entry)
            }
            Type::Struct(definition) => {
                let members = self.program.structs[definition].members.clone();
                let members: Vec<_> = members.into_iter().filter(|(_, ty)| self.can_reach(ty, target)).collect();
                let (name, ty) = self.rng.pick(&members).clone();
                self.reach(Expression::member(ty, base, name), target, entry)
            }
            _ => base,
        }
    }

    /// Replaces a constant by a private variable with an initial value.
    pub(super) fn at_run_time(&mut self, expression: Expression) -> Expression {
        if !expression.is_constant() {
            return expression;
        }
        let ty = expression.ty.clone();
        let existing = self.program.globals.iter();
        let existing = existing.filter(|global| global.ty == ty && global.name.starts_with('k'));
        let existing: Vec<_> = existing.map(|global| global.name.clone()).collect();
        if !existing.is_empty() && self.rng.chance(60) {
            return Expression::name(ty, self.rng.pick(&existing).clone());
        }
        let name = self.fresh_name("k");
        let declaration = "var<private>".into();
        self.program.globals.push(Global { declaration, name: name.clone(), ty: ty.clone(), value: Some(expression) });
        Expression::name(ty, name)
    }

    pub(super) fn add_function(
        &mut self,
        name: &str,
        parameters: Vec<(String, Type)>,
        result: Type,
        value: Expression,
    ) {
        if self.program.functions.iter().all(|function| function.name != name) {
            let body: Block = vec![Statement::Return(Some(value))];
            let function = Function { name: name.into(), parameters, result: Some(result), body };
            self.program.functions.insert(0, function);
        }
    }
}
