//! Loads and stores.

use cranelift_codegen::ir::{self as code, InstBuilder, MemFlagsData, types};

use super::masks::Mask;
use super::registers::{lanes_per_vector, scalar_type, vector_type};
use super::{Emitter, LANES};
use crate::ir::{Access, Format, Memory, Type, Value};
use crate::shape::Shape;

pub(super) fn type_of(format: Format) -> Type {
    match format {
        Format::Word | Format::Half | Format::Byte => Type::I32,
        Format::F16 | Format::F32 => Type::F32,
        Format::Long => Type::I64,
        Format::F64 => Type::F64,
    }
}

struct ContiguousLanes {
    address: code::Value,
    /// True if all lanes are inside the memory; `None` without a test.
    is_inside: Option<code::Value>,
}

impl Emitter<'_, '_> {
    fn base(&self, memory: Memory) -> code::Value {
        match memory {
            Memory::Binding(number) => self.inputs.bindings[number][0],
            Memory::Workgroup => self.inputs.workgroup,
            Memory::Frame => self.inputs.frame,
        }
    }

    /// Address of a lane's scalar, or the start of the memory for a false guard. Frames interleave
    /// the lanes of each scalar.
    pub(crate) fn address(
        &mut self,
        access: &Access,
        lane: usize,
        index: Option<code::Value>,
        guard: Option<code::Value>,
    ) -> code::Value {
        let memory = self.base(access.memory);
        let mut base = memory;
        if let (Memory::Frame, Some(lane)) = (access.memory, self.inputs.frame_lane) {
            let bytes = self.build.ins().imul_imm_u(lane, i64::from(access.format.bytes()));
            base = self.build.ins().iadd(base, bytes);
        }
        let (scale, mut offset) = match access.memory {
            Memory::Frame => (i64::from(access.scale) * LANES as i64, i64::from(access.offset) * LANES as i64),
            _ => (i64::from(access.scale), i64::from(access.offset)),
        };
        if access.memory == Memory::Frame {
            offset += (lane * access.format.bytes() as usize) as i64;
        }
        let mut address = base;
        if let Some(index) = index {
            let wide = self.build.ins().uextend(types::I64, index);
            let scaled = match scale.count_ones() {
                1 => self.build.ins().ishl_imm_u(wide, i64::from(scale.trailing_zeros())),
                _ => self.build.ins().imul_imm_s(wide, scale),
            };
            address = self.build.ins().iadd(base, scaled);
        }
        if offset != 0 {
            address = self.build.ins().iadd_imm_s(address, offset);
        }
        match guard {
            Some(guard) => self.build.ins().select(guard, address, memory),
            None => address,
        }
    }

    fn lane_address(&mut self, access: &Access, lane: usize, guard: Option<code::Value>) -> code::Value {
        if let Some(address) = self.row_address(access, lane).filter(|_| guard.is_none()) {
            return address;
        }
        let index = access.index.map(|index| self.lane(index, lane));
        self.address(access, lane, index, guard)
    }

    /// Flags of a load. Cranelift may hoist a load of read-only memory out of the loop over groups.
    fn flags(&self, access: &Access) -> MemFlagsData {
        let flags = MemFlagsData::trusted().with_alias_region(None);
        let flags = if self.is_aligned(access) { flags } else { MemFlagsData::new().with_notrap() };
        match access.memory {
            Memory::Binding(number) if !self.kernel.bindings[number].writable => {
                let flags = flags.with_readonly();
                if access.guard.is_none() && access.index.is_none() { flags.with_can_move() } else { flags }
            }
            _ => flags,
        }
    }

    fn is_aligned(&self, access: &Access) -> bool {
        let bytes = access.format.bytes();
        access.scale.is_multiple_of(bytes) && access.offset.is_multiple_of(bytes)
    }

    fn load_from(&mut self, format: Format, flags: MemFlagsData, address: code::Value) -> code::Value {
        match format {
            Format::Half => self.build.ins().uload16(types::I32, flags, address, 0),
            Format::Byte => self.build.ins().uload8(types::I32, flags, address, 0),
            _ => self.build.ins().load(scalar_type(type_of(format)), flags, address, 0),
        }
    }

    /// Guard of an access that no assumption of the group covers.
    fn open_guard(&self, access: &Access) -> Option<Value> {
        access.guard.filter(|guard| !self.shapes.is_assumed_inside(*guard))
    }

    pub(crate) fn load_scalar(&mut self, access: &Access, lane: usize) -> code::Value {
        let guard = self.open_guard(access).map(|guard| self.lane(guard, lane));
        let address = self.lane_address(access, lane, guard);
        let address = self.conditional_address(address);
        let flags = self.flags(access);
        let loaded = self.load_from(access.format, flags, address);
        let Some(guard) = guard else { return loaded };
        let zero = self.constant(type_of(access.format), 0);
        self.build.ins().select(guard, loaded, zero)
    }

    /// Address of the lanes' scalars if their memory is contiguous.
    fn contiguous_lanes(&mut self, access: &Access) -> Option<ContiguousLanes> {
        let bytes = access.format.bytes() as i32;
        let step = access.index.map_or(Shape::Uniform, |index| self.shapes.of(index));
        let follows = match (access.memory, step) {
            (Memory::Frame, Shape::Uniform) => true,
            (Memory::Frame, _) => false,
            (_, Shape::Affine(step)) => i64::from(step) * i64::from(access.scale) == i64::from(bytes),
            _ => false,
        };
        if !follows || matches!(access.format, Format::Half | Format::Byte) || self.lanes != LANES {
            return None;
        }
        let is_inside = self.open_guard(access).map(|guard| match self.shapes.of(guard) {
            Shape::Varying => {
                let mask = Mask(self.vectors(guard));
                self.all(&mask)
            }
            _ => self.scalar(guard),
        });
        let address = self.lane_address(access, 0, None);
        Some(ContiguousLanes { address, is_inside })
    }

    /// True for an untested load of one scalar or of contiguous memory.
    pub(crate) fn loads_at_once(&self, access: &Access) -> bool {
        let step = access.index.map_or(Shape::Uniform, |index| self.shapes.of(index));
        let bytes = access.format.bytes() as i32;
        let is_run = match (access.memory, step) {
            (_, Shape::Uniform) => true,
            (Memory::Frame, _) => false,
            (_, Shape::Affine(4)) if access.format == Format::Byte => true,
            (_, Shape::Affine(step)) => i64::from(step) * i64::from(access.scale) == i64::from(bytes),
            _ => false,
        };
        is_run && access.format != Format::Half && self.open_guard(access).is_none()
    }

    pub(crate) fn load_lanes(&mut self, value: Value, access: &Access) -> Vec<code::Value> {
        let ty = type_of(access.format);
        if let Some(bytes) = self.load_bytes(access) {
            return bytes;
        }
        let Some(run) = self.contiguous_lanes(access) else { return self.load_lane_by_lane(access) };
        let Some(is_inside) = run.is_inside else { return self.load_contiguous(access, run.address) };
        if self.shapes.reruns(value) {
            self.require(is_inside);
            return self.load_contiguous(access, run.address);
        }
        let [fast, slow, next] = [(); 3].map(|()| self.build.create_block());
        self.build.ins().brif(is_inside, fast, &[], slow, &[]);
        self.build.seal_block(fast);
        self.build.seal_block(slow);
        let count = LANES / lanes_per_vector(ty);
        let results: Vec<_> = (0..count).map(|_| self.build.append_block_param(next, vector_type(ty))).collect();
        self.build.switch_to_block(fast);
        let loaded = self.load_contiguous(access, run.address);
        self.jump(next, &loaded);
        self.build.switch_to_block(slow);
        let loaded = self.load_lane_by_lane(access);
        self.jump(next, &loaded);
        self.build.seal_block(next);
        self.build.switch_to_block(next);
        results
    }

    /// Loads contiguous bytes, or the lowest byte of each word. Needs an assumed guard: conditions
    /// of a row do not cover the word after the last lane, which vectors of words may read.
    fn load_bytes(&mut self, access: &Access) -> Option<Vec<code::Value>> {
        let (Format::Byte, Some(index)) = (access.format, access.index) else { return None };
        let Shape::Affine(step) = self.shapes.of(index) else { return None };
        let is_inside = access.guard.is_some_and(|guard| self.shapes.is_assumed_inside(guard));
        if !is_inside || !matches!(step, 1 | 4) || self.lanes != LANES {
            return None;
        }
        let index = self.scalar(index);
        let address = self.address(access, 0, Some(index), None);
        let address = self.conditional_address(address);
        let flags = MemFlagsData::new().with_notrap();
        if step == 1 {
            let halves = self.build.ins().uload8x8(flags, address, 0);
            return Some(vec![self.build.ins().uwiden_low(halves), self.build.ins().uwiden_high(halves)]);
        }
        let low = self.build.ins().iconst(types::I32, 0xff);
        let low = self.build.ins().splat(types::I32X4, low);
        let words = [0, 16].map(|offset| self.build.ins().load(types::I32X4, flags, address, offset));
        Some(words.map(|words| self.build.ins().band(words, low)).to_vec())
    }

    /// The address if the condition of stores holds, else the address of discarded memory.
    fn conditional_address(&mut self, address: code::Value) -> code::Value {
        match self.store_condition {
            Some(condition) => self.select_address(condition, address),
            None => address,
        }
    }

    fn load_contiguous(&mut self, access: &Access, address: code::Value) -> Vec<code::Value> {
        let address = self.conditional_address(address);
        let vector = vector_type(type_of(access.format));
        let flags = if self.is_row_invariant_load(access) {
            MemFlagsData::new().with_notrap().with_readonly().with_can_move()
        } else {
            MemFlagsData::new().with_notrap()
        };
        (0..LANES / lanes_per_vector(type_of(access.format)))
            .map(|number| self.build.ins().load(vector, flags, address, 16 * number as i32))
            .collect()
    }

    fn load_lane_by_lane(&mut self, access: &Access) -> Vec<code::Value> {
        let loaded: Vec<_> = (0..self.lanes).map(|lane| self.load_scalar(access, lane)).collect();
        self.pack_lanes(type_of(access.format), &loaded)
    }

    pub(crate) fn store(&mut self, access: &Access, value: Value) {
        if self.lanes == 1 {
            return self.store_lane(access, value, 0, None);
        }
        let active = self.active.clone();
        let uniform = self.open_guard(access).filter(|guard| self.shapes.of(*guard) == Shape::Uniform);
        if let Some(guard) = uniform {
            let guard = self.scalar(guard);
            return self.where_all(&[guard], |this| this.store(&Access { guard: None, ..*access }, value));
        }
        let Some(run) = self.contiguous_lanes(access) else { return self.store_lane_by_lane(access, value) };
        let all_run = active.as_ref().map(|active| self.all(active));
        let conditions: Vec<_> = run.is_inside.into_iter().chain(all_run).collect();
        let Some(first) = conditions.first() else { return self.store_contiguous(access, run.address, value) };
        let holds = conditions[1..].iter().fold(*first, |all, operand| self.build.ins().band(all, *operand));
        let [fast, slow, next] = [(); 3].map(|()| self.build.create_block());
        self.build.ins().brif(holds, fast, &[], slow, &[]);
        self.build.seal_block(fast);
        self.build.seal_block(slow);
        self.build.switch_to_block(fast);
        self.store_contiguous(access, run.address, value);
        self.jump(next, &[]);
        self.build.switch_to_block(slow);
        self.store_lane_by_lane(access, value);
        self.jump(next, &[]);
        self.build.seal_block(next);
        self.build.switch_to_block(next);
    }

    pub(crate) fn stores_at_once(&self, access: &Access) -> bool {
        let step = access.index.map_or(Shape::Uniform, |index| self.shapes.of(index));
        let bytes = access.format.bytes() as i32;
        let follows =
            matches!(step, Shape::Affine(step) if i64::from(step) * i64::from(access.scale) == i64::from(bytes));
        follows && !matches!(access.format, Format::Half | Format::Byte) && self.open_guard(access).is_none()
    }

    fn store_contiguous(&mut self, access: &Access, address: code::Value, value: Value) {
        let address = self.conditional_address(address);
        let vectors = self.stored_vectors(access, value);
        for (number, vector) in vectors.into_iter().enumerate() {
            self.build.ins().store(MemFlagsData::new().with_notrap(), vector, address, 16 * number as i32);
        }
    }

    fn stored_vectors(&mut self, access: &Access, value: Value) -> Vec<code::Value> {
        let vectors = self.vectors(value);
        match (self.kernel.ty(value), access.format) {
            (Type::Bool, _) => vectors.into_iter().map(|operand| self.build.ins().ineg(operand)).collect(),
            _ => vectors,
        }
    }

    fn store_lane_by_lane(&mut self, access: &Access, value: Value) {
        let active = self.active.clone();
        for lane in 0..self.lanes {
            let runs = active.as_ref().map(|active| self.mask_lane(active, lane));
            self.store_lane(access, value, lane, runs);
        }
    }

    fn store_lane(&mut self, access: &Access, value: Value, lane: usize, runs: Option<code::Value>) {
        let guard = self.open_guard(access).map(|guard| self.lane(guard, lane));
        let mut conditions: Vec<_> = guard.into_iter().chain(runs).collect();
        let joined = self
            .store_condition
            .map(|condition| conditions.drain(..).fold(condition, |all, operand| self.build.ins().band(all, operand)));
        self.where_all(&conditions, |this| {
            let mut address = this.lane_address(access, lane, None);
            if let Some(condition) = joined {
                address = this.select_address(condition, address);
            }
            let scalar = this.lane(value, lane);
            let flags =
                if this.is_aligned(access) { MemFlagsData::trusted() } else { MemFlagsData::new().with_notrap() };
            match (access.format, this.kernel.ty(value)) {
                (Format::Half, _) => this.build.ins().istore16(flags, scalar, address, 0),
                (_, Type::Bool) => {
                    let wide = this.build.ins().uextend(types::I32, scalar);
                    this.build.ins().store(flags, wide, address, 0)
                }
                _ => this.build.ins().store(flags, scalar, address, 0),
            };
        });
    }

    pub(crate) fn where_all(&mut self, conditions: &[code::Value], run: impl FnOnce(&mut Self)) {
        let Some(first) = conditions.first() else { return run(self) };
        let holds = conditions[1..].iter().fold(*first, |all, operand| self.build.ins().band(all, *operand));
        let [inside, next] = [(); 2].map(|()| self.build.create_block());
        self.build.ins().brif(holds, inside, &[], next, &[]);
        self.build.seal_block(inside);
        self.build.switch_to_block(inside);
        run(self);
        self.jump(next, &[]);
        self.build.seal_block(next);
        self.build.switch_to_block(next);
    }

    pub(crate) fn jump(&mut self, block: code::Block, arguments: &[code::Value]) {
        let arguments: Vec<code::BlockArg> = arguments.iter().map(|operand| (*operand).into()).collect();
        self.build.ins().jump(block, &arguments);
    }
}
