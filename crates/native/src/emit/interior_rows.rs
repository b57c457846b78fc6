//! Generated function for rows with an interior: runs the interior of each part of a row, and calls
//! border functions, by addresses in the context, for the other invocations.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, Function, InstBuilder, MemFlagsData, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilderContext;

use super::row_values::DistanceInterval;
use super::rows::{begin_function, signature};
use super::{Emitter, FramePlacement, LANES, context};
use crate::interior::Interior;
use crate::shape::{Shapes, effects};

/// Minimum number of invocations for the evaluation of an interior.
const MIN_ROW: i64 = 32;
/// Number of invocations of the border function before the next evaluation of an interior.
const REEVALUATION_DISTANCE: i64 = 64;
/// Distance from the start of a part to its anchor, in invocations. Neighbour indices at the start
/// may be below 0 and wrap.
const ANCHOR_DISTANCE: i64 = 16;

/// Functions for invocations outside of the interior. Each constant is the index of an address in
/// the context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Borders {
    /// True if long runs have a function with fewer assumptions.
    pub has_outer_interior: bool,
    /// True if runs of fewer than [`LANES`] invocations have a function for one invocation.
    pub has_single: bool,
}

impl Borders {
    /// Function for rows without an interior.
    pub(crate) const ROW: usize = 0;
    /// Function for an interior with fewer assumptions.
    pub(crate) const OUTER_INTERIOR: usize = 1;
    pub(crate) const SINGLE: usize = 2;
    pub(crate) const COUNT: usize = 3;
}

pub(crate) fn emit_interior_rows(
    interior: &Interior,
    shapes: &Shapes,
    frames: FramePlacement,
    borders: Borders,
    function: &mut Function,
    frontend: TargetFrontendConfig,
) {
    let mut reusable = FunctionBuilderContext::new();
    let scalar = Shapes::uniform(&interior.kernel);
    let (mut emitter, [x0, x1]) = begin_function(&interior.kernel, &scalar, function, &mut reusable);
    emitter.lanes = LANES;
    let parts = emitter.build.create_block();
    emitter.jump(parts, &[x0]);
    let frame = emitter.inputs.frame;
    let mut parts = InteriorRows { emitter, scalar: &scalar, shapes, frames, borders, frame, x1, parts };
    parts.emit_part(interior);
    let InteriorRows { mut emitter, .. } = parts;
    emitter.build.seal_all_blocks();
    emitter.build.finalize(frontend);
}

struct InteriorRows<'a, 'f> {
    emitter: Emitter<'a, 'f>,
    scalar: &'a Shapes,
    shapes: &'a Shapes,
    frames: FramePlacement,
    borders: Borders,
    frame: code::Value,
    x1: code::Value,
    /// Block that runs the rest of the row from its argument.
    parts: code::Block,
}

impl<'a> InteriorRows<'a, '_> {
    fn switch_to(&mut self, block: code::Block) {
        self.emitter.build.switch_to_block(block);
    }

    fn run_border(&mut self, start: code::Value, end: code::Value) {
        let build = &mut self.emitter.build;
        let [some, row, next] = [(); 3].map(|()| build.create_block());
        let is_some = build.ins().icmp(IntCC::UnsignedLessThan, start, end);
        build.ins().brif(is_some, some, &[], next, &[]);
        build.switch_to_block(some);
        let length = build.ins().isub(end, start);
        if self.borders.has_single {
            let single = build.create_block();
            let x = build.append_block_param(single, types::I32);
            let is_short = build.ins().icmp_imm_u(IntCC::UnsignedLessThan, length, LANES as i64);
            build.ins().brif(is_short, single, &[start.into()], row, &[]);
            build.switch_to_block(single);
            let address = self.border_address(Borders::SINGLE);
            let after = self.emitter.build.ins().iadd_imm_s(x, 1);
            self.call_border(address, x, after);
            let build = &mut self.emitter.build;
            let is_left = build.ins().icmp(IntCC::UnsignedLessThan, after, end);
            build.ins().brif(is_left, single, &[after.into()], next, &[]);
        } else {
            build.ins().jump(row, &[]);
        }
        self.switch_to(row);
        let mut address = self.border_address(Borders::ROW);
        if self.borders.has_outer_interior {
            let outer = self.border_address(Borders::OUTER_INTERIOR);
            let build = &mut self.emitter.build;
            let is_long = build.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, length, MIN_ROW);
            address = build.ins().select(is_long, outer, address);
        }
        self.call_border(address, start, end);
        self.emitter.jump(next, &[]);
        self.switch_to(next);
    }

    fn border_address(&mut self, border: usize) -> code::Value {
        let offset = context::BORDERS + 8 * border as i32;
        self.emitter.build.ins().load(types::I64, MemFlagsData::trusted(), self.emitter.inputs.context, offset)
    }

    fn call_border(&mut self, address: code::Value, start: code::Value, end: code::Value) {
        let inputs = self.emitter.inputs.clone();
        let build = &mut self.emitter.build;
        let [stopped, next] = [(); 2].map(|()| build.create_block());
        let signature = signature(build.func.signature.call_conv);
        let signature = build.import_signature(signature);
        let [_, y, z] = inputs.position;
        let arguments = [inputs.context, start, end, y, z, inputs.row_start];
        let call = build.ins().call_indirect(signature, address, &arguments);
        let result = build.inst_results(call)[0];
        build.ins().brif(result, stopped, &[], next, &[]);
        build.switch_to_block(stopped);
        build.set_cold_block(stopped);
        build.ins().return_(&[result]);
        build.switch_to_block(next);
    }

    fn continue_row(&mut self, start: code::Value, end: code::Value) {
        let build = &mut self.emitter.build;
        let [more, done] = [(); 2].map(|()| build.create_block());
        let is_left = build.ins().icmp(IntCC::UnsignedLessThan, start, end);
        build.ins().brif(is_left, more, &[], done, &[]);
        build.switch_to_block(done);
        let zero = build.ins().iconst(types::I32, 0);
        build.ins().return_(&[zero]);
        self.switch_to(more);
        self.emitter.jump(self.parts, &[start]);
    }

    fn reevaluation_end(&mut self, start: code::Value, end: code::Value) -> code::Value {
        let build = &mut self.emitter.build;
        let left = build.ins().isub(end, start);
        let few = build.ins().iconst(types::I32, REEVALUATION_DISTANCE);
        let few = build.ins().umin(left, few);
        build.ins().iadd(start, few)
    }

    fn position(&mut self, anchor: code::Value, distance: code::Value) -> code::Value {
        let narrow = self.emitter.build.ins().ireduce(types::I32, distance);
        self.emitter.build.ins().iadd(anchor, narrow)
    }

    fn emit_part(&mut self, interior: &'a Interior) {
        let x1 = self.x1;
        let [long, short, empty, other, inside] = [(); 5].map(|()| self.emitter.build.create_block());
        let start = self.emitter.build.append_block_param(self.parts, types::I32);
        self.switch_to(self.parts);
        let build = &mut self.emitter.build;
        let left = build.ins().isub(x1, start);
        let is_long = build.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, MIN_ROW);
        build.ins().brif(is_long, long, &[], short, &[]);
        self.switch_to(short);
        self.run_border(start, x1);
        self.continue_row(x1, x1);

        self.switch_to(long);
        let emitter = &mut self.emitter;
        let anchor = emitter.build.ins().iadd_imm_s(start, ANCHOR_DISTANCE);
        let left = emitter.build.ins().uextend(types::I64, left);
        let first = emitter.build.ins().iconst(types::I64, -ANCHOR_DISTANCE);
        let end = emitter.build.ins().iadd_imm_s(left, -ANCHOR_DISTANCE);
        let holds = emitter.build.ins().iconst(types::I8, 1);
        emitter.shapes = self.scalar;
        emitter.inputs.position[0] = anchor;
        let row = emitter.enter_row(interior);
        emitter.row = Some(row);
        let end = match &interior.tail {
            Some(tail) => {
                let begin = emitter.tail_distance(tail, end);
                emitter.build.ins().smax(begin, first)
            }
            None => end,
        };
        let last = emitter.build.ins().iadd_imm_s(end, -1);
        let mut interval = emitter.clip_to_conditions(interior, DistanceInterval { first, last, holds });
        let row_end = self.position(anchor, end);
        let emitter = &mut self.emitter;
        if self.frames == FramePlacement::PerGroup {
            let begin = emitter.build.ins().isub(emitter.inputs.row_start, anchor);
            let begin = emitter.build.ins().sextend(types::I64, begin);
            emitter.align_begin(&mut interval, begin);
        }
        let last_group = emitter.build.ins().iadd_imm_s(interval.last, 1 - LANES as i64);
        let is_group = emitter.build.ins().icmp(IntCC::SignedLessThanOrEqual, interval.first, last_group);
        let enters = emitter.build.ins().band(is_group, interval.holds);
        let distance = emitter.build.append_block_param(inside, types::I64);
        emitter.build.ins().brif(enters, inside, &[interval.first.into()], empty, &[]);
        self.switch_to(empty);
        let again = self.reevaluation_end(start, row_end);
        let end = self.emitter.build.ins().select(interval.holds, again, row_end);
        self.run_border(start, end);
        self.continue_row(end, row_end);

        self.switch_to(inside);
        let x = self.position(anchor, distance);
        let emitter = &mut self.emitter;
        let rerun = emitter.build.create_block();
        emitter.shapes = self.shapes;
        emitter.inputs.position[0] = x;
        emitter.scalar_rerun = Some(rerun);
        emitter.set_frame_address(self.frames, self.frame, x);
        emitter.set_distance(distance);
        let after = emitter.build.append_block_param(other, types::I64);
        let is_repeatable = self.frames == FramePlacement::Reused && effects::is_repeatable(emitter.kernel);
        emitter.emit_invocations(|this| {
            let after = this.build.ins().iadd_imm_s(distance, LANES as i64);
            let (next, is_left) = if is_repeatable {
                // The last group ends at the end of the interval, and repeats invocations.
                let next = this.build.ins().smin(after, last_group);
                (next, this.build.ins().icmp(IntCC::SignedLessThan, distance, last_group))
            } else {
                (after, this.build.ins().icmp(IntCC::SignedLessThanOrEqual, after, last_group))
            };
            this.build.ins().brif(is_left, inside, &[next.into()], other, &[after.into()]);
        });
        emitter.row = None;
        self.switch_to(other);
        let [first, after] = [interval.first, after].map(|operand| self.position(anchor, operand));
        let build = &mut self.emitter.build;
        let left = build.ins().isub(row_end, after);
        let is_long = build.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, REEVALUATION_DISTANCE);
        let next = build.ins().select(is_long, after, row_end);
        self.run_border(start, first);
        self.run_border(after, next);
        self.continue_row(next, row_end);

        self.switch_to(rerun);
        self.emitter.build.set_cold_block(rerun);
        let first = self.position(anchor, interval.first);
        let next = self.reevaluation_end(x, row_end);
        self.run_border(start, first);
        self.run_border(x, next);
        self.continue_row(next, row_end);
    }
}
