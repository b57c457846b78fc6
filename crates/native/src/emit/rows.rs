//! The generated function: a row of invocations.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{self as code, AbiParam, Function, InstBuilder, MemFlagsData, Signature, types};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use super::control::Flow;
use super::parts::{Groups, Parts};
use super::{Emitter, Inputs, LANES};
use crate::ir::Kernel;
use crate::shape::Shapes;

/// Layout of the memory that the generated function gets everything but its position from.
pub mod context {
    /// Address of a byte that is not zero when the run has to stop.
    pub const STOP: i32 = 0;
    /// Address of the frames of a group.
    pub const FRAME: i32 = 8;
    /// Address of the workgroup's memory.
    pub const WORKGROUP: i32 = 16;
    /// Workgroups along x, y and z, `u32` each.
    pub const WORKGROUPS: i32 = 24;
    /// Address and bytes of each binding, `u64` each.
    pub const BINDINGS: i32 = 40;
}

/// Where invocations have their frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// All groups use the same frames, one after the other.
    Reused,
    /// Each group of a row has frames of its own.
    OfGroups,
}

/// The generated function's parameters: context, `x0`, `x1`, `y`, `z`. It returns 0, or the line of
/// the loop in which it was stopped plus 1.
pub fn signature(call: CallConv) -> Signature {
    let mut signature = Signature::new(call);
    signature.params.push(AbiParam::new(types::I64));
    signature.params.extend([AbiParam::new(types::I32); 4]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Generates the function for rows. Without shapes of groups all invocations run one at a time.
pub fn rows(
    kernel: &Kernel,
    groups: Option<Groups<'_>>,
    frames: Frames,
    function: &mut Function,
    frontend: TargetFrontendConfig,
) {
    let mut reusable = FunctionBuilderContext::new();
    let mut build = FunctionBuilder::new(function, &mut reusable);
    let entry = build.create_block();
    build.append_block_params_for_function_params(entry);
    build.switch_to_block(entry);
    build.seal_block(entry);
    let [context, x0, x1, y, z] = build.block_params(entry).try_into().expect("five parameters");
    let flags = MemFlagsData::trusted().with_readonly().with_can_move();
    let mut field = |offset: i32| build.ins().load(types::I64, flags, context, offset);
    let (frame, workgroup) = (field(context::FRAME), field(context::WORKGROUP));
    let bindings = (0..kernel.bindings.len() as i32)
        .map(|number| [0, 8].map(|part| field(context::BINDINGS + 16 * number + part)))
        .collect();
    let inputs = Inputs { context, position: [x0, y, z], row_start: x0, bindings, frame, frame_lane: None, workgroup };
    let interior = groups.and_then(|groups| groups.interior);
    let scalar = Shapes::uniform(interior.map_or(kernel, |(interior, _)| &interior.kernel));
    let emitter = Emitter {
        kernel,
        shapes: &scalar,
        build,
        lanes: 1,
        registers: HashMap::new(),
        ends: HashMap::new(),
        targets: HashMap::new(),
        active: None,
        scalar_rerun: None,
        inputs,
        row: None,
        pins: HashSet::new(),
        pin_slot: None,
        stores_where: None,
        unread: None,
    };
    let emitter = Parts::write(emitter, &scalar, groups, frames, x1);
    emitter.build.finalize(frontend);
}

impl Emitter<'_, '_> {
    /// Finds the frames of the group that begins, or has an invocation, at `x`.
    pub fn place_frames(&mut self, frames: Frames, row: code::Value, x: code::Value) {
        self.inputs.frame = row;
        self.inputs.frame_lane = None;
        if frames == Frames::Reused {
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

    /// Generates the kernel's body, and `next` after it.
    pub fn invocations(&mut self, next: impl FnOnce(&mut Self)) {
        self.registers.clear();
        self.ends.clear();
        self.targets.clear();
        self.active = None;
        let kernel = self.kernel;
        if self.body(&kernel.body) != Flow::Jumped {
            next(self);
        }
    }
}
