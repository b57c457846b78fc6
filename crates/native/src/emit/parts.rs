//! Control flow of a row: parts, groups, and invocations one at a time.
//!
//! A part's interior runs first, then the invocations before it, and then the next part. Where a
//! row is short, or has no interior, all of it runs as invocations before an interior do.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, InstBuilder, types};
use cranelift_frontend::Variable;

use super::interior::Interval;
use super::pins::pins;
use super::{Emitter, Frames, LANES};
use crate::interior::Interior;
use crate::ir::Kernel;
use crate::shape::Shapes;

/// Invocations of a row from which on its interior is evaluated.
const LEAST: i64 = 32;
/// Invocations that run before an interior is evaluated again.
const AGAIN: i64 = 64;
/// Invocations from the begin of a part to its anchor. Indices of the first cells' neighbours may wrap.
const ANCHOR: i64 = 16;

/// Shapes of the groups of a row.
#[derive(Debug, Clone, Copy)]
pub struct Groups<'a> {
    pub shapes: &'a Shapes,
    /// The interior of rows, with the shapes of its groups.
    pub interior: Option<(&'a Interior, &'a Shapes)>,
}

/// Writer of a row's control flow.
pub struct Parts<'a, 'f> {
    emitter: Emitter<'a, 'f>,
    kernel: &'a Kernel,
    scalar: &'a Shapes,
    frames: Frames,
    frame: code::Value,
    /// Begin and end of the row.
    row: [code::Value; 2],
    /// Runs groups from its argument to `end`, and then the rest.
    groups: code::Block,
    /// Runs invocations one at a time from the first to the second argument, and then groups.
    singles: code::Block,
    /// Runs parts from its argument on.
    parts: code::Block,
    done: code::Block,
    /// End of the invocations that do something.
    row_end: Variable,
    /// End of the invocations that run as groups.
    end: Variable,
    /// Invocations that run as groups next; its end is where the next part begins.
    second: [Variable; 2],
}

impl<'a, 'f> Parts<'a, 'f> {
    /// Writes the row from the block that `emitter` is in. `scalar` are shapes of one invocation.
    pub fn write(
        mut emitter: Emitter<'a, 'f>,
        scalar: &'a Shapes,
        groups: Option<Groups<'a>>,
        frames: Frames,
        end: code::Value,
    ) -> Emitter<'a, 'f> {
        let row = [emitter.inputs.row_start, end];
        let blocks = [(); 4].map(|()| emitter.build.create_block());
        let [row_end, end, first, last] = [(); 4].map(|()| emitter.build.declare_var(types::I32));
        emitter.build.def_var(row_end, row[1]);
        let mut parts = Self {
            kernel: emitter.kernel,
            frame: emitter.inputs.frame,
            scalar,
            frames,
            row,
            groups: blocks[0],
            singles: blocks[1],
            parts: blocks[2],
            done: blocks[3],
            row_end,
            end,
            second: [first, last],
            emitter,
        };
        parts.row(groups);
        parts.emitter
    }

    fn row(&mut self, groups: Option<Groups<'a>>) {
        let [x0, x1] = self.row;
        let interior = groups.and_then(|groups| groups.interior);
        match (groups, interior) {
            (_, Some((interior, shapes))) => {
                self.emitter.jump(self.parts, &[x0]);
                self.part(interior, shapes);
            }
            (Some(_), None) => self.run_groups(x0, x1, [x1, x1]),
            (None, _) => {
                self.plan(x1, [x1, x1]);
                self.emitter.jump(self.singles, &[x0, x1]);
            }
        }
        self.emitter.pins = pins(self.kernel);
        if let Some(groups) = groups {
            self.group(groups.shapes);
        }
        self.single(groups.is_some(), interior.is_some());
        let emitter = &mut self.emitter;
        emitter.build.seal_all_blocks();
        emitter.build.switch_to_block(self.done);
        let zero = emitter.build.ins().iconst(types::I32, 0);
        emitter.build.ins().return_(&[zero]);
    }

    fn begin(&mut self, block: code::Block) {
        self.emitter.build.switch_to_block(block);
    }

    fn parameter(&mut self, block: code::Block) -> code::Value {
        self.emitter.build.append_block_param(block, types::I32)
    }

    fn plan(&mut self, end: code::Value, second: [code::Value; 2]) {
        self.emitter.build.def_var(self.end, end);
        for (variable, value) in self.second.into_iter().zip(second) {
            self.emitter.build.def_var(variable, value);
        }
    }

    /// Runs two intervals as groups, and the next part after them.
    fn run_groups(&mut self, start: code::Value, end: code::Value, second: [code::Value; 2]) {
        self.plan(end, second);
        self.emitter.jump(self.groups, &[start]);
    }

    /// The end of invocations from `start` after which an interior is evaluated again.
    fn again(&mut self, start: code::Value) -> code::Value {
        let build = &mut self.emitter.build;
        let end = build.use_var(self.row_end);
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

    fn part(&mut self, interior: &'a Interior, shapes: &'a Shapes) {
        let x1 = self.row[1];
        let start = self.parameter(self.parts);
        self.begin(self.parts);
        let [long, short, empty, other, inside] = [(); 5].map(|()| self.emitter.build.create_block());
        let build = &mut self.emitter.build;
        let left = build.ins().isub(x1, start);
        let is_long = build.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, LEAST);
        build.ins().brif(is_long, long, &[], short, &[]);
        self.begin(short);
        self.run_groups(start, x1, [x1, x1]);

        self.begin(long);
        let emitter = &mut self.emitter;
        let anchor = emitter.build.ins().iadd_imm_s(start, ANCHOR);
        let left = emitter.build.ins().uextend(types::I64, left);
        let first = emitter.build.ins().iconst(types::I64, -ANCHOR);
        let end = emitter.build.ins().iadd_imm_s(left, -ANCHOR);
        let holds = emitter.build.ins().iconst(types::I8, 1);
        emitter.kernel = &interior.kernel;
        emitter.pins = pins(&interior.kernel);
        emitter.shapes = self.scalar;
        emitter.lanes = LANES;
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
        let x1 = self.position(anchor, end);
        self.emitter.build.def_var(self.row_end, x1);
        let emitter = &mut self.emitter;
        if self.frames == Frames::OfGroups {
            let begin = emitter.build.ins().isub(self.row[0], anchor);
            let begin = emitter.build.ins().sextend(types::I64, begin);
            emitter.align(&mut interval, begin);
        }
        let last_group = emitter.build.ins().iadd_imm_s(interval.last, 1 - LANES as i64);
        let is_group = emitter.build.ins().icmp(IntCC::SignedLessThanOrEqual, interval.first, last_group);
        let enters = emitter.build.ins().band(is_group, interval.holds);
        let distance = emitter.build.append_block_param(inside, types::I64);
        let first = interval.first;
        emitter.build.ins().brif(enters, inside, &[first.into()], empty, &[]);
        self.begin(empty);
        let again = self.again(start);
        let end = self.emitter.build.ins().select(interval.holds, again, x1);
        self.run_groups(start, end, [end, end]);

        self.begin(inside);
        let x = self.position(anchor, distance);
        let emitter = &mut self.emitter;
        let rerun = emitter.build.create_block();
        emitter.shapes = shapes;
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
        let [first, after] = [first, after].map(|one| self.position(anchor, one));
        let build = &mut self.emitter.build;
        let left = build.ins().isub(x1, after);
        let is_long = build.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, AGAIN);
        let second_end = build.ins().select(is_long, after, x1);
        self.run_groups(start, first, [after, second_end]);

        // Assumptions of a group that are not conditions of the row.
        self.begin(rerun);
        self.emitter.build.set_cold_block(rerun);
        let first = self.position(anchor, interval.first);
        let end = self.again(x);
        self.run_groups(start, first, [x, end]);
    }

    fn group(&mut self, shapes: &'a Shapes) {
        let start = self.parameter(self.groups);
        let [whole, rest] = [(); 2].map(|()| self.emitter.build.create_block());
        self.begin(self.groups);
        let emitter = &mut self.emitter;
        let end = emitter.build.use_var(self.end);
        let left = emitter.build.ins().isub(end, start);
        let is_whole = emitter.build.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, left, LANES as i64);
        emitter.build.ins().brif(is_whole, whole, &[], rest, &[]);
        self.begin(rest);
        self.emitter.jump(self.singles, &[start, end]);

        self.begin(whole);
        let emitter = &mut self.emitter;
        let next = emitter.build.ins().iadd_imm_s(start, LANES as i64);
        let rerun = emitter.build.create_block();
        emitter.kernel = self.kernel;
        emitter.shapes = shapes;
        emitter.lanes = LANES;
        emitter.scalar_rerun = Some(rerun);
        emitter.inputs.position[0] = start;
        emitter.place_frames(self.frames, self.frame, start);
        let groups = self.groups;
        emitter.invocations(|this| this.jump(groups, &[next]));
        self.begin(rerun);
        self.emitter.build.set_cold_block(rerun);
        self.emitter.jump(self.singles, &[start, next]);
    }

    fn single(&mut self, has_groups: bool, has_parts: bool) {
        let [start, stop] = [(); 2].map(|()| self.parameter(self.singles));
        let [single, ends] = [(); 2].map(|()| self.emitter.build.create_block());
        self.begin(self.singles);
        let emitter = &mut self.emitter;
        let is_left = emitter.build.ins().icmp(IntCC::UnsignedLessThan, start, stop);
        emitter.build.ins().brif(is_left, single, &[], ends, &[]);
        self.begin(single);
        let emitter = &mut self.emitter;
        emitter.kernel = self.kernel;
        emitter.shapes = self.scalar;
        emitter.lanes = 1;
        emitter.scalar_rerun = None;
        emitter.inputs.position[0] = start;
        emitter.place_frames(self.frames, self.frame, start);
        let singles = self.singles;
        emitter.invocations(|this| {
            let next = this.build.ins().iadd_imm_s(start, 1);
            this.jump(singles, &[next, stop]);
        });
        self.begin(ends);
        if !has_groups {
            return self.emitter.jump(self.done, &[]);
        }
        let [over, second, after] = [(); 3].map(|()| self.emitter.build.create_block());
        let build = &mut self.emitter.build;
        let end = build.use_var(self.end);
        let is_left = build.ins().icmp(IntCC::UnsignedLessThan, stop, end);
        build.ins().brif(is_left, self.groups, &[stop.into()], over, &[]);
        self.begin(over);
        if !has_parts {
            return self.emitter.jump(self.done, &[]);
        }
        let build = &mut self.emitter.build;
        let [second_start, second_end] = self.second.map(|one| build.use_var(one));
        let is_left = build.ins().icmp(IntCC::UnsignedLessThan, second_start, second_end);
        build.ins().brif(is_left, second, &[], after, &[]);
        self.begin(second);
        self.run_groups(second_start, second_end, [second_end, second_end]);
        self.begin(after);
        let build = &mut self.emitter.build;
        let row_end = build.use_var(self.row_end);
        let is_left = build.ins().icmp(IntCC::UnsignedLessThan, second_end, row_end);
        build.ins().brif(is_left, self.parts, &[second_end.into()], self.done, &[]);
    }
}
