//! Shapes of values between the lanes of a group: uniform, affine or varying.
//!
//! A group is [`crate::emit::LANES`] consecutive invocations along x. Uniform and affine values are
//! in scalar registers, varying values in vectors. Some shapes hold only under an assumption
//! ([`Speculation`]), which fails at the edge of a domain. Generated code tests each assumption
//! before the first write of the group, and runs the group again lane by lane after a failed test.

pub(crate) mod effects;
mod integers;

use std::collections::{HashMap, HashSet};

use crate::ir::{
    Access, Builtin, Compare, Convert, Definition, Format, Kernel, Label, Memory, Merge, Statement, Type, Unary, Value,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The same value in all lanes.
    Uniform,
    /// An `i32` that grows by this step from lane to lane, wrapping.
    Affine(i32),
    Varying,
}

/// Assumption under which a value has a simpler shape. Generated code tests it for each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speculation {
    /// The comparison has the same result in all lanes.
    SameResult,
    /// The comparison holds in all lanes: all accesses that it guards are inside.
    Inside,
    /// The minimum or maximum is its first operand in all lanes.
    First,
    /// The minimum or maximum is its second operand in all lanes.
    Second,
    /// The unsigned quotient is the same in all lanes.
    SameQuotient,
    /// The shifted value does not wrap between the first and the last lane.
    NoWrap,
    /// The condition selects `accept`.
    Accept,
    /// The condition selects `reject`.
    Reject,
}

/// Shapes of a kernel's values, and the labels at which lanes diverge.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shapes {
    shapes: Vec<Option<Shape>>,
    pub speculations: HashMap<Value, Speculation>,
    /// Labels that lanes reach at different times.
    pub varying_labels: HashSet<Label>,
    /// Varying integers that never decrease from lane to lane, and grow by a few units in total.
    ordered: HashSet<Value>,
    /// Comparisons that must also hold for the word after the last lane, which byte loads read.
    next_word_tests: HashSet<Value>,
    /// Loads before the first write: the group can run again if a lane is outside the memory.
    reruns: HashSet<Value>,
}

impl Shapes {
    /// Shapes for groups of one invocation: all values are uniform.
    pub(crate) fn uniform(kernel: &Kernel) -> Self {
        Self { shapes: vec![Some(Shape::Uniform); kernel.values.len()], ..Self::default() }
    }

    /// Shapes for groups of several invocations. `kept`: frames keep their values between regions,
    /// so that a group cannot run again after a write to its frames.
    pub(crate) fn infer(kernel: &Kernel, kept: bool) -> Self {
        Self::infer_with_known(kernel, kept, &vec![None; kernel.values.len()])
    }

    pub(crate) fn infer_with_known<'k>(kernel: &'k Kernel, kept: bool, known: &'k [Option<Shape>]) -> Self {
        let mut shapes = known.to_vec();
        for (shape, (_, definition)) in shapes.iter_mut().zip(&kernel.values) {
            if let Definition::Constant(_) = definition {
                *shape = Some(Shape::Uniform);
            }
        }
        let mut pass = Inference {
            kernel,
            known,
            out: Self { shapes, ..Self::default() },
            results: HashMap::new(),
            enclosing: Vec::new(),
            kept,
            guards: effects::guards(kernel),
            is_pure: true,
            has_changed: true,
        };
        while pass.has_changed {
            pass.has_changed = false;
            pass.is_pure = true;
            pass.body(&kernel.body);
        }
        pass.out
    }

    pub(crate) fn of(&self, value: Value) -> Shape {
        self.shapes[value.0 as usize].unwrap_or(Shape::Uniform)
    }

    pub(crate) fn reruns(&self, value: Value) -> bool {
        self.reruns.contains(&value)
    }

    pub(crate) fn is_assumed_inside(&self, guard: Value) -> bool {
        self.speculations.get(&guard) == Some(&Speculation::Inside)
    }

    /// True for a varying value with its minimum in the first lane and its maximum in the last.
    pub(crate) fn is_ordered(&self, value: Value) -> bool {
        self.ordered.contains(&value)
    }

    /// True for a comparison that must also hold for the word after the last lane.
    pub(crate) fn covers_next_word(&self, guard: Value) -> bool {
        self.next_word_tests.contains(&guard)
    }

    pub(crate) fn is_varying(&self, value: Value) -> bool {
        self.of(value) == Shape::Varying
    }
}

#[derive(Debug, Clone, Copy)]
enum Enclosing {
    VaryingIf,
    Label(Label),
}

struct Inference<'k> {
    kernel: &'k Kernel,
    /// Shapes that hold without an assumption.
    known: &'k [Option<Shape>],
    out: Shapes,
    /// Results of the block or parameters of the loop with a label.
    results: HashMap<Label, &'k [Value]>,
    enclosing: Vec<Enclosing>,
    /// True if writes to frames are effects.
    kept: bool,
    guards: HashSet<Value>,
    /// True before the first write: a group can still run again.
    is_pure: bool,
    has_changed: bool,
}

impl<'k> Inference<'k> {
    fn body(&mut self, body: &'k [Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'k Statement) {
        match statement {
            Statement::Let(value) => self.define(*value),
            Statement::Set(..) => {}
            Statement::Store(access, _) => self.is_pure &= access.memory == Memory::Frame && !self.kept,
            Statement::Atomic(atomic) => {
                self.is_pure = false;
                self.join(atomic.result, Shape::Varying);
            }
            Statement::Barrier => self.is_pure = false,
            Statement::If { condition, accept, reject, merges } => {
                let is_varying = self.out.is_varying(*condition);
                if is_varying {
                    self.enclosing.push(Enclosing::VaryingIf);
                }
                let before = self.is_pure;
                self.body(accept);
                let after = self.is_pure;
                // A group runs both arms if lanes diverge.
                self.is_pure = if is_varying { after } else { before };
                self.body(reject);
                self.is_pure &= after;
                if is_varying {
                    self.enclosing.pop();
                }
                for merge in merges {
                    self.merge(merge, is_varying);
                }
            }
            Statement::Block { label, body, results, ending } => {
                self.results.insert(*label, results);
                self.enclosing.push(Enclosing::Label(*label));
                self.body(body);
                self.enclosing.pop();
                self.join_results(*label, ending);
            }
            Statement::Loop { label, body, parameters, initial, .. } => {
                self.results.insert(*label, parameters);
                self.is_pure &= !effects::writes(body, self.kept);
                for (parameter, initial) in parameters.iter().zip(initial) {
                    if let Some(shape) = self.shape(*initial) {
                        self.join(*parameter, shape);
                    }
                }
                self.enclosing.push(Enclosing::Label(*label));
                self.body(body);
                self.enclosing.pop();
            }
            Statement::Break { label, values } | Statement::Repeat { label, values } => {
                self.record_jump(*label);
                self.join_results(*label, values);
            }
        }
    }

    fn shape(&self, value: Value) -> Option<Shape> {
        self.out.shapes[value.0 as usize]
    }

    /// Joins a shape to the shape of a value: the result covers both.
    fn join(&mut self, value: Value, shape: Shape) {
        let shape = match self.kernel.ty(value) {
            Type::I32 => shape,
            _ if shape == Shape::Uniform => shape,
            _ => Shape::Varying,
        };
        let old = &mut self.out.shapes[value.0 as usize];
        let new = old.map_or(shape, |old| if old == shape { old } else { Shape::Varying });
        if *old != Some(new) {
            *old = Some(new);
            self.has_changed = true;
        }
    }

    fn merge(&mut self, merge: &Merge, is_varying: bool) {
        let values = merge.accept.into_iter().chain(merge.reject);
        let blends = is_varying && merge.accept.is_some() && merge.reject.is_some();
        for value in values {
            if let Some(shape) = self.shape(value) {
                self.join(merge.result, if blends { Shape::Varying } else { shape });
            }
        }
    }

    fn join_results(&mut self, label: Label, values: &[Value]) {
        let blends = self.out.varying_labels.contains(&label);
        for (result, value) in self.results[&label].iter().zip(values) {
            if let Some(shape) = self.shape(*value) {
                self.join(*result, if blends { Shape::Varying } else { shape });
            }
        }
    }

    /// Records a jump to a label. A jump under a varying condition makes its label varying, and all
    /// labels between the jump and its label.
    fn record_jump(&mut self, label: Label) {
        let Some(target) = self
            .enclosing
            .iter()
            .rposition(|construct| matches!(construct, Enclosing::Label(other) if *other == label))
        else {
            return;
        };
        let between = &self.enclosing[target + 1..];
        // The constructs up to a collecting label continue without these lanes.
        let parts = self.out.varying_labels.contains(&label)
            || between.iter().any(|construct| match construct {
                Enclosing::VaryingIf => true,
                Enclosing::Label(inner) => self.out.varying_labels.contains(inner),
            });
        if parts {
            let inner = between.iter().filter_map(|construct| match construct {
                Enclosing::Label(inner) => Some(*inner),
                Enclosing::VaryingIf => None,
            });
            for label in inner.chain([label]).collect::<Vec<_>>() {
                self.has_changed |= self.out.varying_labels.insert(label);
            }
        }
    }

    fn define(&mut self, value: Value) {
        let kernel = self.kernel;
        if let Definition::Load(_) = kernel.definition(value) {
            if self.is_pure {
                self.out.reruns.insert(value)
            } else {
                self.out.reruns.remove(&value)
            };
        }
        if self.known[value.0 as usize].is_some() {
            return;
        }
        if let Definition::Load(Access { format: Format::Byte, index: Some(index), guard: Some(guard), .. }) =
            kernel.definition(value)
            && self.out.of(*index) == Shape::Affine(4)
        {
            self.out.next_word_tests.insert(*guard);
        }
        let mut operands = Vec::new();
        kernel.definition(value).for_each_operand(|operand| operands.push(operand));
        if operands.iter().any(|operand| self.shape(*operand).is_none()) {
            return;
        }
        // Drop assumptions that are not needed, or follow a write.
        let old = self.out.speculations.remove(&value);
        let (shape, speculation) = self.shape_of(value);
        if let Some(speculation) = speculation {
            self.out.speculations.insert(value, speculation);
        }
        self.has_changed |= if self.is_ordered(value, shape) {
            self.out.ordered.insert(value)
        } else {
            self.out.ordered.remove(&value)
        };
        self.has_changed |= old != speculation;
        self.join(value, shape);
    }

    fn shape_of(&self, value: Value) -> (Shape, Option<Speculation>) {
        use Shape::{Affine, Uniform, Varying};
        let of = |value: Value| self.out.of(value);
        let definition = self.kernel.definition(value);
        let plain = |shape| (shape, None);
        let mut is_uniform = true;
        definition.for_each_operand(|operand| is_uniform &= of(operand) == Uniform);
        match definition {
            Definition::Builtin(Builtin::GlobalId(0) | Builtin::LocalId(0) | Builtin::LocalIndex) => plain(Affine(1)),
            Definition::Load(access) => plain(self.loaded(access)),
            Definition::Result => plain(Varying),
            _ if is_uniform => plain(Uniform),
            Definition::Unary(Unary::Negate, a) => match of(*a) {
                Affine(step) => plain(Affine(step.wrapping_neg())),
                _ => plain(Varying),
            },
            Definition::Convert(Convert::Bits, a) if self.kernel.ty(value) == self.kernel.ty(*a) => plain(of(*a)),
            Definition::Binary(operation, a, b) => self.binary(*operation, *a, *b),
            Definition::Compare(Compare::UnsignedLess, a, b)
                if self.out.is_ordered(*a) && of(*b) == Uniform && self.is_pure && self.guards.contains(&value) =>
            {
                (Uniform, Some(Speculation::Inside))
            }
            Definition::Compare(comparison, a, b) => {
                let is_exact = matches!(comparison, Compare::Equal | Compare::NotEqual);
                match (of(*a), of(*b)) {
                    (Affine(a), Affine(b)) if a == b && is_exact => plain(Uniform),
                    (Affine(_), Uniform) if self.is_pure && self.guards.contains(&value) && !is_exact => {
                        (Uniform, Some(Speculation::Inside))
                    }
                    (Affine(_), Affine(_) | Uniform) | (Uniform, Affine(_)) if self.is_pure => {
                        (Uniform, Some(Speculation::SameResult))
                    }
                    _ => plain(Varying),
                }
            }
            Definition::Select { condition, accept, reject } => match (of(*condition), of(*accept), of(*reject)) {
                (Uniform, a, b) if a == b => plain(a),
                // Two uniform values are rarely equal.
                (Uniform, Affine(_), Uniform) if self.is_pure && self.is_equality(*condition) => {
                    (Uniform, Some(Speculation::Reject))
                }
                (Uniform, Affine(a), Uniform) if self.is_pure => (Affine(a), Some(Speculation::Accept)),
                (Uniform, Uniform, Affine(b)) if self.is_pure => (Affine(b), Some(Speculation::Reject)),
                _ => plain(Varying),
            },
            _ => plain(Varying),
        }
    }

    fn is_equality(&self, condition: Value) -> bool {
        let is_constant = |value: Value| matches!(self.kernel.definition(value), Definition::Constant(_));
        match self.kernel.definition(condition) {
            Definition::Compare(Compare::Equal, a, b) => !is_constant(*a) && !is_constant(*b),
            _ => false,
        }
    }

    fn loaded(&self, access: &Access) -> Shape {
        let mut is_uniform = true;
        access.for_each_operand(|operand| is_uniform &= self.out.of(operand) == Shape::Uniform);
        // Each invocation has a separate frame.
        if is_uniform && access.memory != Memory::Frame { Shape::Uniform } else { Shape::Varying }
    }
}
