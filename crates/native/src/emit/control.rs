//! Structured control flow. Where all lanes go one way, code jumps. Where lanes part, masks say
//! which lanes run, and each label collects the lanes that have left to it.

use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{self as code, InstBuilder, MemFlagsData, types};

use super::masks::{Mask, Slot};
use super::registers::{lanes_per_vector, scalar_type, vector_type};
use super::{Emitter, LANES, Register, context};
use crate::ir::{Label, Merge, Statement, Value, diverts};
use crate::shape::Shape;

/// Where `Break` and `Repeat` of a label go.
#[derive(Debug, Clone)]
pub enum Target {
    /// All lanes jump together, with the label's results as arguments.
    Together { block: code::Block, results: Vec<Value>, line: Option<u32> },
    /// Lanes are collected with their results.
    Collected { left: Slot, values: Vec<Slot>, results: Vec<Value> },
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Control goes on.
    Falls,
    /// All lanes have left to labels that collect them; code goes on without lanes.
    Left,
    /// Code has jumped away.
    Jumped,
}

impl Emitter<'_, '_> {
    pub fn body(&mut self, body: &[Statement]) -> Flow {
        let joined = body.iter().filter(|one| self.joins(one).is_some()).count() > 1;
        for statement in body {
            if joined && let Some((condition, arm)) = self.joins(statement) {
                self.store_where(condition, arm);
                continue;
            }
            let flow = self.statement(statement);
            if flow != Flow::Falls {
                return flow;
            }
        }
        Flow::Falls
    }

    fn statement(&mut self, statement: &Statement) -> Flow {
        match statement {
            Statement::Let(value) => self.define(*value),
            Statement::Set(..) | Statement::Barrier => unreachable!("removed before"),
            Statement::Store(access, value) => self.store(access, *value),
            Statement::Atomic(atomic) => self.atomic(atomic),
            Statement::If { condition, accept, reject, merges } => {
                return match self.shapes.of(*condition) {
                    Shape::Varying => self.masked_if(*condition, [accept, reject], merges),
                    _ => self.plain_if(*condition, [accept, reject], merges),
                };
            }
            Statement::Block { label, body, results, ending } => {
                return match self.shapes.varying_labels.contains(label) {
                    true => self.masked_block(*label, body, results, ending),
                    false => self.plain_block(*label, body, results, ending),
                };
            }
            Statement::Loop { label, body, parameters, initial, line } => {
                return match self.shapes.varying_labels.contains(label) {
                    true => self.masked_loop(*label, body, [parameters, initial], *line),
                    false => self.plain_loop(*label, body, [parameters, initial], *line),
                };
            }
            Statement::Break { label, values } | Statement::Repeat { label, values } => {
                return self.leave(*label, values);
            }
        }
        Flow::Falls
    }

    fn leave(&mut self, label: Label, values: &[Value]) -> Flow {
        match self.targets[&label].clone() {
            Target::Together { block, results, line } => {
                if let Some(line) = line {
                    self.stop_if_asked(line);
                }
                let arguments = self.arguments(&results, values);
                self.jump(block, &arguments);
                Flow::Jumped
            }
            Target::Collected { left, values: slots, results } => {
                self.collect(&left, &slots, &results, values);
                Flow::Left
            }
        }
    }

    /// Registers of a value as a result holds it.
    pub fn in_shape_of(&mut self, result: Value, value: Value) -> Vec<code::Value> {
        match self.shapes.of(result) {
            Shape::Varying => self.vectors(value),
            _ => vec![self.scalar(value)],
        }
    }

    fn arguments(&mut self, results: &[Value], values: &[Value]) -> Vec<code::Value> {
        let pairs: Vec<_> = results.iter().copied().zip(values.iter().copied()).collect();
        pairs.into_iter().flat_map(|(result, value)| self.in_shape_of(result, value)).collect()
    }

    /// Types and number of the registers of a result.
    pub fn registers_of(&self, result: Value) -> (code::Type, usize) {
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

    pub fn bind(&mut self, result: Value, values: Vec<code::Value>) {
        let register = match self.shapes.of(result) {
            Shape::Varying => Register::Lanes(values),
            _ => Register::Scalar(values[0]),
        };
        self.registers.insert(result, register);
    }

    fn plain_if(&mut self, condition: Value, arms: [&[Statement]; 2], merges: &[Merge]) -> Flow {
        let condition = self.scalar(condition);
        let outer = self.active.clone();
        // Lanes may leave from inside, to labels outside.
        let leaves = arms.iter().any(|arm| self.leaves(arm));
        let lanes = leaves.then(|| self.new_mask_slot());
        let blocks = [(); 2].map(|()| self.build.create_block());
        let next = self.build.create_block();
        match diverts(arms[1]) && !diverts(arms[0]) {
            true => self.branch_unless(condition, blocks[1], blocks[0]),
            false => {
                self.build.ins().brif(condition, blocks[0], &[], blocks[1], &[]);
            }
        }
        let slots: Vec<Slot> = merges.iter().map(|merge| self.new_result_slot(merge.result)).collect();
        let mut flows = [Flow::Falls; 2];
        for (side, arm) in arms.into_iter().enumerate() {
            self.build.seal_block(blocks[side]);
            self.build.switch_to_block(blocks[side]);
            self.active = outer.clone();
            flows[side] = self.body(arm);
            if flows[side] == Flow::Jumped {
                continue;
            }
            for (merge, slot) in merges.iter().zip(&slots) {
                let value = if side == 0 { merge.accept } else { merge.reject };
                let values = match value.filter(|_| flows[side] == Flow::Falls) {
                    Some(value) => self.in_shape_of(merge.result, value),
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
        if flows == [Flow::Jumped; 2] {
            return Flow::Jumped;
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
        if flows.contains(&Flow::Falls) { Flow::Falls } else { Flow::Left }
    }

    /// Goes to `exit` where a condition is false, else to `next`.
    ///
    /// The exit comes first: Cranelift moves values out of a loop only as long as it has not met a
    /// block outside of it, and meets the first destination last.
    pub fn branch_unless(&mut self, condition: code::Value, exit: code::Block, next: code::Block) {
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

    pub fn new_result_slot(&mut self, result: Value) -> Slot {
        let (ty, count) = self.registers_of(result);
        self.new_slot(ty, count)
    }

    pub fn zeros(&mut self, result: Value) -> Vec<code::Value> {
        let ty = self.kernel.ty(result);
        let zero = self.constant(ty, 0);
        match self.shapes.of(result) {
            Shape::Varying => self.splat(ty, zero, 0),
            _ => vec![zero],
        }
    }

    fn plain_block(&mut self, label: Label, body: &[Statement], results: &[Value], ending: &[Value]) -> Flow {
        let outer = self.active.clone();
        let next = self.build.create_block();
        let target = Target::Together { block: next, results: results.to_vec(), line: None };
        self.targets.insert(label, target);
        // Parameters come first: a block with arguments must have them.
        self.parameters(next, results);
        let flow = self.body(body);
        if flow == Flow::Falls {
            let arguments = self.arguments(results, ending);
            self.jump(next, &arguments);
        }
        self.build.seal_block(next);
        self.active = outer;
        self.build.switch_to_block(next);
        Flow::Falls
    }

    fn plain_loop(
        &mut self,
        label: Label,
        body: &[Statement],
        [parameters, initial]: [&[Value]; 2],
        line: u32,
    ) -> Flow {
        let header = self.build.create_block();
        let arguments = self.arguments(parameters, initial);
        self.parameters(header, parameters);
        self.jump(header, &arguments);
        self.build.switch_to_block(header);
        let target = Target::Together { block: header, results: parameters.to_vec(), line: Some(line) };
        self.targets.insert(label, target);
        let flow = self.body(body);
        self.build.seal_block(header);
        flow
    }

    /// Returns from the generated function where the run has to stop.
    pub fn stop_if_asked(&mut self, line: u32) {
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

    /// True where lanes may leave a body to a label outside of it that collects them.
    pub fn leaves(&self, body: &[Statement]) -> bool {
        self.leaves_to(body, &mut Vec::new())
    }

    pub fn leaves_except(&self, body: &[Statement], label: Label) -> bool {
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
