//! Structured control flow: jumps if all lanes take the same branch, otherwise a mask of active
//! lanes. Each label collects the lanes that have jumped to it.

use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{self as code, InstBuilder, MemFlagsData, types};

use super::masks::{LaneVariables, Mask};
use super::registers::{lanes_per_vector, scalar_type, vector_type};
use super::{Emitter, LANES, Register, context};
use crate::ir::{Label, Merge, Statement, Value, diverts};
use crate::shape::Shape;

#[derive(Debug, Clone)]
pub(super) enum LabelTarget {
    /// All lanes jump together, with the label's results as block arguments.
    Uniform { block: code::Block, results: Vec<Value>, line: Option<u32> },
    /// The mask `left` collects lanes, and `values` their results.
    Collected { left: LaneVariables, values: Vec<LaneVariables>, results: Vec<Value> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyEnd {
    FallsThrough,
    /// All lanes have jumped to collecting labels; code continues without active lanes.
    Left,
    /// Generated code ends in a jump.
    Jumped,
}

impl Emitter<'_, '_> {
    pub(crate) fn body(&mut self, body: &[Statement]) -> BodyEnd {
        let joined = body.iter().filter(|statement| self.as_conditional_stores(statement).is_some()).count() > 1;
        for statement in body {
            if joined && let Some((condition, arm)) = self.as_conditional_stores(statement) {
                self.store_if(condition, arm);
                continue;
            }
            let flow = self.statement(statement);
            if flow != BodyEnd::FallsThrough {
                return flow;
            }
        }
        BodyEnd::FallsThrough
    }

    fn statement(&mut self, statement: &Statement) -> BodyEnd {
        match statement {
            Statement::Let(value) => self.define(*value),
            Statement::Set(..) | Statement::Barrier => unreachable!("removed before"),
            Statement::Store(access, value) => self.store(access, *value),
            Statement::Atomic(atomic) => self.atomic(atomic),
            Statement::If { condition, accept, reject, merges } => {
                return match self.shapes.of(*condition) {
                    Shape::Varying => self.masked_if(*condition, [accept, reject], merges),
                    _ => self.uniform_if(*condition, [accept, reject], merges),
                };
            }
            Statement::Block { label, body, results, ending } => {
                return if self.shapes.varying_labels.contains(label) {
                    self.masked_block(*label, body, results, ending)
                } else {
                    self.uniform_block(*label, body, results, ending)
                };
            }
            Statement::Loop { label, body, parameters, initial, line } => {
                return if self.shapes.varying_labels.contains(label) {
                    self.masked_loop(*label, body, [parameters, initial], *line)
                } else {
                    self.uniform_loop(*label, body, [parameters, initial], *line)
                };
            }
            Statement::Break { label, values } | Statement::Repeat { label, values } => {
                return self.jump_to_label(*label, values);
            }
        }
        BodyEnd::FallsThrough
    }

    fn jump_to_label(&mut self, label: Label, values: &[Value]) -> BodyEnd {
        match self.targets[&label].clone() {
            LabelTarget::Uniform { block, results, line } => {
                if let Some(line) = line {
                    self.return_if_stopped(line);
                }
                let arguments = self.arguments(&results, values);
                self.jump(block, &arguments);
                BodyEnd::Jumped
            }
            LabelTarget::Collected { left, values: slots, results } => {
                self.collect(&left, &slots, &results, values);
                BodyEnd::Left
            }
        }
    }

    pub(crate) fn registers_like(&mut self, result: Value, value: Value) -> Vec<code::Value> {
        match self.shapes.of(result) {
            Shape::Varying => self.vectors(value),
            _ => vec![self.scalar(value)],
        }
    }

    fn arguments(&mut self, results: &[Value], values: &[Value]) -> Vec<code::Value> {
        let pairs: Vec<_> = results.iter().copied().zip(values.iter().copied()).collect();
        pairs.into_iter().flat_map(|(result, value)| self.registers_like(result, value)).collect()
    }

    pub(crate) fn registers_of(&self, result: Value) -> (code::Type, usize) {
        let ty = self.kernel.ty(result);
        match self.shapes.of(result) {
            Shape::Varying => (vector_type(ty), LANES / lanes_per_vector(ty)),
            _ => (scalar_type(ty), 1),
        }
    }

    fn parameters(&mut self, block: code::Block, results: &[Value]) {
        for result in results {
            let (ty, count) = self.registers_of(*result);
            let values: Vec<_> = (0..count).map(|_| self.build.append_block_param(block, ty)).collect();
            self.bind(*result, values);
        }
    }

    pub(crate) fn bind(&mut self, result: Value, values: Vec<code::Value>) {
        let register = match self.shapes.of(result) {
            Shape::Varying => Register::Lanes(values),
            _ => Register::Scalar(values[0]),
        };
        self.registers.insert(result, register);
    }

    fn uniform_if(&mut self, condition: Value, arms: [&[Statement]; 2], merges: &[Merge]) -> BodyEnd {
        let condition = self.scalar(condition);
        let outer = self.active.clone();
        // Lanes may jump from an arm to labels outside of the `if`.
        let leaves = arms.iter().any(|arm| self.leaves(arm));
        let lanes = leaves.then(|| self.new_mask_slot());
        let blocks = [(); 2].map(|()| self.build.create_block());
        let next = self.build.create_block();
        if diverts(arms[1]) && !diverts(arms[0]) {
            self.branch_unless(condition, blocks[1], blocks[0])
        } else {
            self.build.ins().brif(condition, blocks[0], &[], blocks[1], &[]);
        }
        let slots: Vec<LaneVariables> = merges.iter().map(|merge| self.new_result_slot(merge.result)).collect();
        let mut flows = [BodyEnd::FallsThrough; 2];
        for (side, arm) in arms.into_iter().enumerate() {
            self.build.seal_block(blocks[side]);
            self.build.switch_to_block(blocks[side]);
            self.active = outer.clone();
            flows[side] = self.body(arm);
            if flows[side] == BodyEnd::Jumped {
                continue;
            }
            for (merge, slot) in merges.iter().zip(&slots) {
                let value = if side == 0 { merge.accept } else { merge.reject };
                let values = match value.filter(|_| flows[side] == BodyEnd::FallsThrough) {
                    Some(value) => self.registers_like(merge.result, value),
                    None => self.zeros(merge.result),
                };
                self.set(slot, &values);
            }
            if let Some(lanes) = &lanes {
                let active = self.active_mask();
                self.set(lanes, &active.0);
            }
            self.jump(next, &[]);
        }
        self.build.seal_block(next);
        if flows == [BodyEnd::Jumped; 2] {
            return BodyEnd::Jumped;
        }
        self.build.switch_to_block(next);
        for (merge, slot) in merges.iter().zip(&slots) {
            let values = self.get(slot);
            self.bind(merge.result, values);
        }
        self.active = match lanes {
            Some(lanes) => Some(Mask(self.get(&lanes))),
            None => outer,
        };
        if flows.contains(&BodyEnd::FallsThrough) { BodyEnd::FallsThrough } else { BodyEnd::Left }
    }

    /// Branches to `exit` for a false condition, else to `next`.
    ///
    /// `exit` is the first destination, which Cranelift visits last: it hoists values out of a loop
    /// only until it visits a block outside of the loop.
    pub(crate) fn branch_unless(&mut self, condition: code::Value, exit: code::Block, next: code::Block) {
        let dfg = &self.build.func.dfg;
        let compared = dfg.value_def(condition).inst().map(|inst| dfg.insts[inst]);
        let inverse = match compared {
            Some(code::InstructionData::IntCompare { cond, args: [a, b], .. }) => {
                self.build.ins().icmp(cond.complement(), a, b)
            }
            _ => self.build.ins().icmp_imm_s(IntCC::Equal, condition, 0),
        };
        self.build.ins().brif(inverse, exit, &[], next, &[]);
    }

    pub(crate) fn new_result_slot(&mut self, result: Value) -> LaneVariables {
        let (ty, count) = self.registers_of(result);
        self.new_slot(ty, count)
    }

    pub(crate) fn zeros(&mut self, result: Value) -> Vec<code::Value> {
        let ty = self.kernel.ty(result);
        let zero = self.constant(ty, 0);
        match self.shapes.of(result) {
            Shape::Varying => self.splat(ty, zero, 0),
            _ => vec![zero],
        }
    }

    fn uniform_block(&mut self, label: Label, body: &[Statement], results: &[Value], ending: &[Value]) -> BodyEnd {
        let outer = self.active.clone();
        let next = self.build.create_block();
        let target = LabelTarget::Uniform { block: next, results: results.to_vec(), line: None };
        self.targets.insert(label, target);
        self.parameters(next, results);
        let flow = self.body(body);
        if flow == BodyEnd::FallsThrough {
            let arguments = self.arguments(results, ending);
            self.jump(next, &arguments);
        }
        self.build.seal_block(next);
        self.active = outer;
        self.build.switch_to_block(next);
        BodyEnd::FallsThrough
    }

    fn uniform_loop(
        &mut self,
        label: Label,
        body: &[Statement],
        [parameters, initial]: [&[Value]; 2],
        line: u32,
    ) -> BodyEnd {
        let header = self.build.create_block();
        let arguments = self.arguments(parameters, initial);
        self.parameters(header, parameters);
        self.jump(header, &arguments);
        self.build.switch_to_block(header);
        let target = LabelTarget::Uniform { block: header, results: parameters.to_vec(), line: Some(line) };
        self.targets.insert(label, target);
        let flow = self.body(body);
        self.build.seal_block(header);
        flow
    }

    pub(crate) fn return_if_stopped(&mut self, line: u32) {
        let pointer_flags = MemFlagsData::trusted().with_readonly().with_can_move();
        let flag = self.build.ins().load(types::I64, pointer_flags, self.inputs.context, context::STOP);
        let asked = self.build.ins().load(types::I8, MemFlagsData::trusted(), flag, 0);
        let [stop, next] = [(); 2].map(|()| self.build.create_block());
        self.build.set_cold_block(stop);
        self.build.ins().brif(asked, stop, &[], next, &[]);
        self.build.seal_block(stop);
        self.build.seal_block(next);
        self.build.switch_to_block(stop);
        let line = self.build.ins().iconst(types::I32, i64::from(line) + 1);
        self.build.ins().return_(&[line]);
        self.build.switch_to_block(next);
    }

    /// True if lanes may jump from a body to an outer collecting label.
    pub(crate) fn leaves(&self, body: &[Statement]) -> bool {
        self.leaves_to(body, &mut Vec::new())
    }

    pub(crate) fn leaves_except(&self, body: &[Statement], label: Label) -> bool {
        self.leaves_to(body, &mut vec![label])
    }

    fn leaves_to(&self, body: &[Statement], inside: &mut Vec<Label>) -> bool {
        body.iter().any(|statement| match statement {
            Statement::If { accept, reject, .. } => self.leaves_to(accept, inside) || self.leaves_to(reject, inside),
            Statement::Block { label, body, .. } | Statement::Loop { label, body, .. } => {
                inside.push(*label);
                let leaves = self.leaves_to(body, inside);
                inside.pop();
                leaves
            }
            Statement::Break { label, .. } | Statement::Repeat { label, .. } => {
                self.shapes.varying_labels.contains(label) && !inside.contains(label)
            }
            _ => false,
        })
    }
}
