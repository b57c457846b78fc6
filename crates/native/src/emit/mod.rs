//! Generation of machine code for rows of invocations.
//!
//! The generated function runs the invocations `x0..x1` of one row along x. Vector code runs a
//! group of [`LANES`] invocations at a time, by the [`Shapes`] of their values. Scalar code runs
//! the last invocations of the row, and groups with a failed assumption of their shapes.

mod access;
mod atomics;
mod conditional_stores;
mod control;
mod interior_rows;
mod masked;
mod masks;
mod registers;
mod row_values;
mod rows;
mod scalar;
mod speculate;
mod vector;

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, InstBuilder, MemFlagsData, types};
use cranelift_frontend::FunctionBuilder;

use crate::ir::{Builtin, Definition, Kernel, Label, Type, Value};
use crate::shape::{Shape, Shapes};
pub(crate) use interior_rows::{Borders, emit_interior_rows};
use masks::Mask;
pub(crate) use registers::Register;
pub(crate) use rows::{FramePlacement, context, emit_invocation, emit_rows, signature};

pub(crate) const LANES: usize = 8;

/// Code generator of a kernel's body, for groups with given shapes.
pub(crate) struct Emitter<'a, 'f> {
    kernel: &'a Kernel,
    shapes: &'a Shapes,
    build: FunctionBuilder<'f>,
    /// Invocations at a time: [`LANES`] or 1.
    lanes: usize,
    registers: HashMap<Value, Register>,
    /// First and last lane of ordered varying values.
    ends: HashMap<Value, [code::Value; 2]>,
    targets: HashMap<Label, control::LabelTarget>,
    active: Option<Mask>,
    /// Block that runs the group lane by lane after a failed assumption.
    scalar_rerun: Option<code::Block>,
    /// Condition of the stores of the current arm: see `conditional_stores`.
    store_condition: Option<code::Value>,
    discard_slot: Option<code::StackSlot>,
    inputs: Inputs,
    row: Option<row_values::RowState<'a>>,
}

/// Arguments of the generated function, and context values from its entry block.
#[derive(Debug, Clone)]
pub(crate) struct Inputs {
    pub context: code::Value,
    pub position: [code::Value; 3],
    pub row_start: code::Value,
    /// Address and size in bytes of each binding.
    pub bindings: Vec<[code::Value; 2]>,
    pub frame: code::Value,
    /// Lane of the invocation in its group, in scalar code with frames per group.
    pub frame_lane: Option<code::Value>,
    pub workgroup: code::Value,
}

impl Emitter<'_, '_> {
    fn define(&mut self, value: Value) {
        if self.is_row_value(value) {
            return;
        }
        if self.shapes.is_ordered(value) {
            self.define_ends(value);
        }
        let register = match self.shapes.of(value) {
            Shape::Varying => self.define_lanes(value),
            Shape::Uniform | Shape::Affine(_) => Register::Scalar(self.define_scalar(value)),
        };
        self.registers.insert(value, register);
    }

    /// Generates a uniform value, or the first lane of an affine value.
    fn define_scalar(&mut self, value: Value) -> code::Value {
        if let Some(speculation) = self.shapes.speculations.get(&value) {
            return self.speculate(value, *speculation);
        }
        let ty = self.kernel.ty(value);
        match self.kernel.definition(value).clone() {
            Definition::Builtin(builtin) => self.builtin(builtin),
            Definition::Length { binding, offset, stride } => {
                let bytes = self.inputs.bindings[binding][1];
                let rest = self.build.ins().iadd_imm_s(bytes, -i64::from(offset));
                let count = if stride.is_power_of_two() {
                    self.build.ins().ushr_imm_u(rest, i64::from(stride.trailing_zeros()))
                } else {
                    self.build.ins().udiv_imm_u(rest, i64::from(stride))
                };
                self.build.ins().ireduce(types::I32, count)
            }
            Definition::Load(access) => {
                let loaded = self.load_scalar(&access, 0);
                match ty {
                    Type::Bool => self.build.ins().icmp_imm_s(IntCC::NotEqual, loaded, 0),
                    _ => loaded,
                }
            }
            definition => {
                let mut operands = Vec::new();
                definition.for_each_operand(|operand| operands.push(operand));
                let from = operands.first().map_or(ty, |operand| self.operand_type(&definition, *operand));
                let operands: Vec<_> = operands.into_iter().map(|operand| self.scalar(operand)).collect();
                self.operate(&definition, [ty, from], &operands)
            }
        }
    }

    fn operand_type(&self, definition: &Definition, first: Value) -> Type {
        match definition {
            Definition::Select { accept, .. } => self.kernel.ty(*accept),
            _ => self.kernel.ty(first),
        }
    }

    fn builtin(&mut self, builtin: Builtin) -> code::Value {
        let size = self.kernel.workgroup_size;
        let position = self.inputs.position;
        match builtin {
            Builtin::GlobalId(axis) => position[axis as usize],
            // Rows of kernels with workgroup indices end at the end of each workgroup.
            Builtin::WorkgroupId(0) => self.build.ins().udiv_imm_u(self.inputs.row_start, i64::from(size[0])),
            Builtin::WorkgroupId(axis) => {
                self.build.ins().udiv_imm_u(position[axis as usize], i64::from(size[axis as usize]))
            }
            Builtin::LocalId(0) => {
                let within = self.build.ins().urem_imm_u(self.inputs.row_start, i64::from(size[0]));
                let from_start = self.build.ins().isub(position[0], self.inputs.row_start);
                self.build.ins().iadd(within, from_start)
            }
            Builtin::LocalId(axis) => {
                self.build.ins().urem_imm_u(position[axis as usize], i64::from(size[axis as usize]))
            }
            Builtin::LocalIndex => {
                let [x, y, z] = [0, 1, 2].map(|axis| self.builtin(Builtin::LocalId(axis)));
                let planes = self.build.ins().imul_imm_s(z, i64::from(size[1]));
                let rows = self.build.ins().iadd(planes, y);
                let rows = self.build.ins().imul_imm_s(rows, i64::from(size[0]));
                self.build.ins().iadd(rows, x)
            }
            Builtin::NumWorkgroups(axis) => {
                let offset = context::WORKGROUPS + 4 * i32::from(axis);
                let flags = MemFlagsData::trusted().with_readonly().with_can_move();
                self.build.ins().load(types::I32, flags, self.inputs.context, offset)
            }
        }
    }
}
