//! The generated function for rows with an interior.
//!
//! A row is cut into parts. A part's interior runs here. Invocations before and after it run in the
//! function for rows without interior, whose address the context has.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, Function, InstBuilder, MemFlagsData, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilderContext;

use super::interior::Interval;
use super::rows::{begin, signature};
use super::{Emitter, Frames, LANES, context};
use crate::interior::Interior;
use crate::shape::Shapes;

/// Invocations of a row from which on its interior is evaluated.
const LEAST: i64 = 32;
/// Invocations that run before an interior is evaluated again.
const AGAIN: i64 = 64;
/// Invocations from the begin of a part to its anchor. Indices of the first cells' neighbours may wrap.
const ANCHOR: i64 = 16;

/// Generates the function for rows with an interior, whose groups have `shapes`.
pub fn interiors(
    interior: &Interior,
    shapes: &Shapes,
    frames: Frames,
    function: &mut Function,
    frontend: TargetFrontendConfig,
) {
    let mut reusable = FunctionBuilderContext::new();
    let scalar = Shapes::uniform(&interior.kernel);
    let (mut emitter, [x0, x1]) = begin(&interior.kernel, &scalar, function, &mut reusable);
    emitter.lanes = LANES;
    let parts = emitter.build.create_block();
    emitter.jump(parts, &[x0]);
    let frame = emitter.inputs.frame;
    let mut parts = Parts { emitter, scalar: &scalar, shapes, frames, frame, x1, parts };
    parts.part(interior);
    let Parts { mut emitter, .. } = parts;
    emitter.build.seal_all_blocks();
    emitter.build.finalize(frontend);
}

struct Parts<'a, 'f> {
    emitter: Emitter<'a, 'f>,
    scalar: &'a Shapes,
    shapes: &'a Shapes,
    frames: Frames,
    frame: code::Value,
    /// End of the row.
    x1: code::Value,
    /// Runs the row from its argument on.
    parts: code::Block,
}

impl<'a> Parts<'a, '_> {
    fn begin(&mut self, block: code::Block) {
        self.emitter.build.switch_to_block(block);
    }

    /// Runs invocations in the function for rows without interior.
    fn run_rest(&mut self, start: code::Value, end: code::Value) {
        let inputs = self.emitter.inputs.clone();
        let build = &mut self.emitter.build;
        let [some, stopped, next] = [(); 3].map(|()| build.create_block());
        let is_some = build.ins().icmp(IntCC::UnsignedLessThan, start, end);
        build.ins().brif(is_some, some, &[], next, &[]);
        build.switch_to_block(some);
        let flags = MemFlagsData::trusted();
        let rest = build.ins().load(types::I64, flags, inputs.context, context::REST);
        let signature = signature(build.func.signature.call_conv);
        let signature = build.import_signature(signature);
        let [_, y, z] = inputs.position;
        let arguments = [inputs.context, start, end, y, z, inputs.row_start];
        let call = build.ins().call_indirect(signature, rest, &arguments);
        let result = build.inst_results(call)[0];
        build.ins().brif(result, stopped, &[], next, &[]);
        build.switch_to_block(stopped);
        build.set_cold_block(stopped);
        build.ins().return_(&[result]);
        build.switch_to_block(next);
    }

    /// Goes on with the row at `start`.
    fn go_on(&mut self, start: code::Value, end: code::Value) {
        let build = &mut self.emitter.build;
        let [more, done] = [(); 2].map(|()| build.create_block());
        let is_left = build.ins().icmp(IntCC::UnsignedLessThan, start, end);
        build.ins().brif(is_left, more, &[], done, &[]);
        build.switch_to_block(done);
        let zero = build.ins().iconst(types::I32, 0);
        build.ins().return_(&[zero]);
        self.begin(more);
        self.emitter.jump(self.parts, &[start]);
    }

    /// The end of invocations from `start` after which an interior is evaluated again.
    fn again(&mut self, start: code::Value, end: code::Value) -> code::Value {
        let build = &mut self.emitter.build;
        let left = build.ins().isub(end, start);
        let few = build.ins().iconst(types::I32, AGAIN);
        let few = build.ins().umin(left, few);
        build.ins().iadd(start, few)
    }

    /// The position at a distance from an anchor.
    fn position(&mut self, anchor: code::Value, distance: code::Value) -> code::Value {
        let narrow = self.emitter.build.ins().ireduce(types::I32, distance);
        self.emitter.build.ins().iadd(anchor, narrow)
    }

    fn part(&mut self, interior: &'a Interior) {
        let x1 = self.x1;
        let [long, short, empty, other, inside] = [(); 5].map(|()| self.emitter.build.create_block());
        let start = self.emitter.build.append_block_param(self.parts, types::I32);
        self.begin(self.parts);
        let build = &mut self.emitter.build;
        let left = build.ins().isub(x1, start);
        let is_long = build.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, LEAST);
        build.ins().brif(is_long, long, &[], short, &[]);
        self.begin(short);
        self.run_rest(start, x1);
        self.go_on(x1, x1);

        self.begin(long);
        let emitter = &mut self.emitter;
        let anchor = emitter.build.ins().iadd_imm_s(start, ANCHOR);
        let left = emitter.build.ins().uextend(types::I64, left);
        let first = emitter.build.ins().iconst(types::I64, -ANCHOR);
        let end = emitter.build.ins().iadd_imm_s(left, -ANCHOR);
        let holds = emitter.build.ins().iconst(types::I8, 1);
        emitter.shapes = self.scalar;
        emitter.inputs.position[0] = anchor;
        let row = emitter.enter_row(interior);
        emitter.row = Some(row);
        let end = match &interior.tail {
            Some(tail) => {
                let begin = emitter.tail(tail, end);
                emitter.build.ins().smax(begin, first)
            }
            None => end,
        };
        let last = emitter.build.ins().iadd_imm_s(end, -1);
        let mut interval = emitter.hold_conditions(interior, Interval { first, last, holds });
        let row_end = self.position(anchor, end);
        let emitter = &mut self.emitter;
        if self.frames == Frames::OfGroups {
            let begin = emitter.build.ins().isub(emitter.inputs.row_start, anchor);
            let begin = emitter.build.ins().sextend(types::I64, begin);
            emitter.align(&mut interval, begin);
        }
        let last_group = emitter.build.ins().iadd_imm_s(interval.last, 1 - LANES as i64);
        let is_group = emitter.build.ins().icmp(IntCC::SignedLessThanOrEqual, interval.first, last_group);
        let enters = emitter.build.ins().band(is_group, interval.holds);
        let distance = emitter.build.append_block_param(inside, types::I64);
        emitter.build.ins().brif(enters, inside, &[interval.first.into()], empty, &[]);
        self.begin(empty);
        let again = self.again(start, row_end);
        let end = self.emitter.build.ins().select(interval.holds, again, row_end);
        self.run_rest(start, end);
        self.go_on(end, row_end);

        self.begin(inside);
        let x = self.position(anchor, distance);
        let emitter = &mut self.emitter;
        let rerun = emitter.build.create_block();
        emitter.shapes = self.shapes;
        emitter.inputs.position[0] = x;
        emitter.scalar_rerun = Some(rerun);
        emitter.place_frames(self.frames, self.frame, x);
        emitter.set_distance(distance);
        let after = emitter.build.append_block_param(other, types::I64);
        emitter.invocations(|this| {
            let next = this.build.ins().iadd_imm_s(distance, LANES as i64);
            let is_left = this.build.ins().icmp(IntCC::SignedLessThanOrEqual, next, last_group);
            this.build.ins().brif(is_left, inside, &[next.into()], other, &[next.into()]);
        });
        emitter.row = None;
        self.begin(other);
        let [first, after] = [interval.first, after].map(|one| self.position(anchor, one));
        let build = &mut self.emitter.build;
        let left = build.ins().isub(row_end, after);
        let is_long = build.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, AGAIN);
        let next = build.ins().select(is_long, after, row_end);
        self.run_rest(start, first);
        self.run_rest(after, next);
        self.go_on(next, row_end);

        // Assumptions of a group that are not conditions of the row.
        self.begin(rerun);
        self.emitter.build.set_cold_block(rerun);
        let first = self.position(anchor, interval.first);
        let next = self.again(x, row_end);
        self.run_rest(start, first);
        self.run_rest(x, next);
        self.go_on(next, row_end);
    }
}
