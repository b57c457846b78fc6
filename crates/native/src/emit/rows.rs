use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, AbiParam, Function, InstBuilder, MemFlagsData, Signature, types};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use super::control::BodyEnd;
use super::{Emitter, Inputs, LANES};
use crate::ir::Kernel;
use crate::shape::Shapes;

/// Layout of the context, the memory with all arguments of a generated function except positions.
/// Offsets are in bytes.
pub(crate) mod context {
    /// Address of a byte that is nonzero after a stop request.
    pub(crate) const STOP: i32 = 0;
    pub(crate) const FRAME: i32 = 8;
    pub(crate) const WORKGROUP: i32 = 16;
    pub(crate) const BORDERS: i32 = 24;
    /// Numbers of workgroups along x, y and z, `u32` each.
    pub(crate) const WORKGROUPS: i32 = 48;
    /// Address, and size in bytes, of each binding, `u64` each.
    pub(crate) const BINDINGS: i32 = 64;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FramePlacement {
    /// All groups of a thread share the frames of one group.
    Reused,
    /// Each group of a row has separate frames.
    PerGroup,
}

/// Signature of a generated function.
///
/// * Parameters: context, `x0`, `x1`, `y`, `z`, and the start of the row along x.
/// * Result: 0, or 1 plus the line of the loop in which the function stopped.
pub(crate) fn signature(call: CallConv) -> Signature {
    let mut signature = Signature::new(call);
    signature.params.push(AbiParam::new(types::I64));
    signature.params.extend([AbiParam::new(types::I32); 5]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Generates the function for rows, with the shapes of groups, or without shapes one invocation at
/// a time.
pub(crate) fn emit_rows(
    kernel: &Kernel,
    shapes: Option<&Shapes>,
    frames: FramePlacement,
    function: &mut Function,
    frontend: TargetFrontendConfig,
) {
    let mut reusable = FunctionBuilderContext::new();
    let scalar = Shapes::uniform(kernel);
    let (mut emitter, [x0, x1]) = begin_function(kernel, &scalar, function, &mut reusable);
    let (frame, y, z) = (emitter.inputs.frame, emitter.inputs.position[1], emitter.inputs.position[2]);
    let build = &mut emitter.build;

    let [groups, group, singles, single, ends, done] = [(); 6].map(|()| build.create_block());
    let group_start = build.append_block_param(groups, types::I32);
    let [start, end] = [(); 2].map(|()| build.append_block_param(singles, types::I32));
    build.ins().jump(groups, &[x0.into()]);

    build.switch_to_block(groups);
    let left = build.ins().isub(x1, group_start);
    let is_whole = match shapes {
        Some(_) => build.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, left, LANES as i64),
        None => build.ins().iconst(types::I8, 0),
    };
    build.ins().brif(is_whole, group, &[], singles, &[group_start.into(), x1.into()]);
    build.seal_block(group);
    build.switch_to_block(group);
    let group_end = build.ins().iadd_imm_s(group_start, LANES as i64);
    emitter.shapes = shapes.unwrap_or(&scalar);
    emitter.lanes = LANES;
    emitter.inputs.position = [group_start, y, z];
    match shapes {
        Some(_) => {
            let rerun = emitter.build.create_block();
            emitter.scalar_rerun = Some(rerun);
            emitter.set_frame_address(frames, frame, group_start);
            emitter.emit_invocations(|this| this.jump(groups, &[group_end]));
            emitter.build.seal_block(rerun);
            emitter.build.switch_to_block(rerun);
            emitter.build.set_cold_block(rerun);
            emitter.jump(singles, &[group_start, group_end]);
        }
        None => emitter.jump(done, &[]),
    }

    emitter.shapes = &scalar;
    emitter.lanes = 1;
    emitter.scalar_rerun = None;
    emitter.inputs.position[0] = start;
    emitter.build.switch_to_block(singles);
    let is_left = emitter.build.ins().icmp(IntCC::UnsignedLessThan, start, end);
    emitter.build.ins().brif(is_left, single, &[], ends, &[]);
    emitter.build.seal_block(single);
    emitter.build.switch_to_block(single);
    emitter.set_frame_address(frames, frame, start);
    emitter.emit_invocations(|this| {
        let next = this.build.ins().iadd_imm_s(start, 1);
        this.jump(singles, &[next, end]);
    });
    emitter.build.seal_block(singles);
    emitter.build.seal_block(ends);
    emitter.build.switch_to_block(ends);
    let is_left = emitter.build.ins().icmp(IntCC::UnsignedLessThan, end, x1);
    let arguments: [code::BlockArg; 1] = [end.into()];
    emitter.build.ins().brif(is_left, groups, &arguments, done, &[]);
    emitter.build.seal_block(groups);
    emitter.build.seal_block(done);
    emitter.build.switch_to_block(done);
    let zero = emitter.build.ins().iconst(types::I32, 0);
    emitter.build.ins().return_(&[zero]);
    emitter.build.finalize(frontend);
}

/// Generates the function for one invocation, the first of a row.
///
/// Cranelift hoists values out of loops. Without a loop, the function evaluates only the values of
/// the invocation.
pub(crate) fn emit_invocation(
    kernel: &Kernel,
    frames: FramePlacement,
    function: &mut Function,
    frontend: TargetFrontendConfig,
) {
    let mut reusable = FunctionBuilderContext::new();
    let scalar = Shapes::uniform(kernel);
    let (mut emitter, [x0, _]) = begin_function(kernel, &scalar, function, &mut reusable);
    let frame = emitter.inputs.frame;
    emitter.set_frame_address(frames, frame, x0);
    emitter.emit_invocations(|this| {
        let zero = this.build.ins().iconst(types::I32, 0);
        this.build.ins().return_(&[zero]);
    });
    emitter.build.seal_all_blocks();
    emitter.build.finalize(frontend);
}

/// Generates the entry block of a function; returns the start and the end of the row.
pub(super) fn begin_function<'a, 'f>(
    kernel: &'a Kernel,
    shapes: &'a Shapes,
    function: &'f mut Function,
    reusable: &'f mut FunctionBuilderContext,
) -> (Emitter<'a, 'f>, [code::Value; 2]) {
    let mut build = FunctionBuilder::new(function, reusable);
    let entry = build.create_block();
    build.append_block_params_for_function_params(entry);
    build.switch_to_block(entry);
    build.seal_block(entry);
    let [context, x0, x1, y, z, row_start] = build.block_params(entry).try_into().expect("six parameters");
    let flags = MemFlagsData::trusted().with_readonly().with_can_move();
    let mut field = |offset: i32| build.ins().load(types::I64, flags, context, offset);
    let (frame, workgroup) = (field(context::FRAME), field(context::WORKGROUP));
    let bindings = (0..kernel.bindings.len() as i32)
        .map(|number| [0, 8].map(|part| field(context::BINDINGS + 16 * number + part)))
        .collect();
    let inputs = Inputs { context, position: [x0, y, z], row_start, bindings, frame, frame_lane: None, workgroup };
    let emitter = Emitter {
        kernel,
        shapes,
        build,
        lanes: 1,
        registers: HashMap::new(),
        ends: HashMap::new(),
        targets: HashMap::new(),
        active: None,
        scalar_rerun: None,
        inputs,
        row: None,
        store_condition: None,
        discard_slot: None,
    };
    (emitter, [x0, x1])
}

impl Emitter<'_, '_> {
    pub(crate) fn set_frame_address(&mut self, frames: FramePlacement, row: code::Value, x: code::Value) {
        self.inputs.frame = row;
        self.inputs.frame_lane = None;
        if frames == FramePlacement::Reused {
            return;
        }
        let within = self.build.ins().isub(x, self.inputs.row_start);
        let within = self.build.ins().uextend(types::I64, within);
        let group = self.build.ins().band_imm_s(within, -(LANES as i64));
        let bytes = self.build.ins().imul_imm_u(group, i64::from(self.kernel.frame_bytes));
        self.inputs.frame = self.build.ins().iadd(row, bytes);
        if self.lanes == 1 {
            self.inputs.frame_lane = Some(self.build.ins().band_imm_u(within, LANES as i64 - 1));
        }
    }

    /// Generates the kernel's body for the current group, then the code of `next`.
    pub(crate) fn emit_invocations(&mut self, next: impl FnOnce(&mut Self)) {
        self.registers.clear();
        self.ends.clear();
        self.targets.clear();
        self.active = None;
        let kernel = self.kernel;
        if self.body(&kernel.body) != BodyEnd::Jumped {
            next(self);
        }
    }
}
