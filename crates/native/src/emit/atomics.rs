use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, AtomicRmwOp, InstBuilder, MemFlagsData, types};
use cranelift_frontend::FuncInstBuilder;

use super::registers::scalar_type;
use super::{Emitter, Register};
use crate::ir::{Atomic, AtomicOperation, Type};

impl Emitter<'_, '_> {
    pub(crate) fn atomic(&mut self, atomic: &Atomic) {
        let ty = self.kernel.ty(atomic.result);
        let active = self.active.clone();
        let mut results = Vec::with_capacity(self.lanes);
        for lane in 0..self.lanes {
            let runs = active.as_ref().map(|active| self.mask_lane(active, lane));
            let guard = atomic.access.guard.map(|guard| self.lane(guard, lane));
            let conditions: Vec<_> = guard.into_iter().chain(runs).collect();
            let slot = self.new_slot(scalar_type(ty), 1);
            let zero = self.constant(ty, 0);
            self.set(&slot, &[zero]);
            self.where_all(&conditions, |this| {
                let index = atomic.access.index.map(|index| this.lane(index, lane));
                let address = this.address(&atomic.access, lane, index, None);
                let old = this.atomic_lane(atomic, ty, lane, address);
                this.set(&slot, &[old]);
            });
            results.push(self.get(&slot)[0]);
        }
        let register = match self.lanes {
            1 => Register::Scalar(results[0]),
            _ => Register::Lanes(self.pack_lanes(ty, &results)),
        };
        self.registers.insert(atomic.result, register);
    }

    fn atomic_lane(&mut self, atomic: &Atomic, ty: Type, lane: usize, address: code::Value) -> code::Value {
        let bits = if ty.bytes() == 8 { types::I64 } else { types::I32 };
        let scalar = scalar_type(ty);
        let flags = MemFlagsData::trusted();
        let to_bits = |this: &mut Self, value: code::Value| {
            if scalar == bits { value } else { this.build.ins().bitcast(bits, MemFlagsData::new(), value) }
        };
        let operand = self.lane(atomic.operand, lane);
        let operation = match atomic.operation {
            AtomicOperation::Load => {
                let loaded = self.build.ins().atomic_load(bits, flags, address);
                return self.value_of_bits(scalar, loaded);
            }
            AtomicOperation::Store => {
                let operand = to_bits(self, operand);
                self.build.ins().atomic_store(flags, operand, address);
                return self.constant(ty, 0);
            }
            AtomicOperation::CompareExchange => {
                let expected = atomic.expected.unwrap_or(atomic.operand);
                let expected = self.lane(expected, lane);
                let [expected, operand] = [expected, operand].map(|operand| to_bits(self, operand));
                let old = self.build.ins().atomic_cas(flags, address, expected, operand);
                return self.value_of_bits(scalar, old);
            }
            AtomicOperation::FloatAdd => return self.add_float(scalar, bits, operand, address),
            AtomicOperation::Exchange => AtomicRmwOp::Xchg,
            AtomicOperation::Add => AtomicRmwOp::Add,
            AtomicOperation::Subtract => AtomicRmwOp::Sub,
            AtomicOperation::And => AtomicRmwOp::And,
            AtomicOperation::Or => AtomicRmwOp::Or,
            AtomicOperation::Xor => AtomicRmwOp::Xor,
            AtomicOperation::SignedMin => AtomicRmwOp::Smin,
            AtomicOperation::SignedMax => AtomicRmwOp::Smax,
            AtomicOperation::UnsignedMin => AtomicRmwOp::Umin,
            AtomicOperation::UnsignedMax => AtomicRmwOp::Umax,
        };
        let operand = to_bits(self, operand);
        let old = match self.updated_value(operation, bits, operand, address) {
            Some([loaded, new]) => self.modify_if_different([loaded, new], |this| {
                this.build.ins().atomic_rmw(bits, flags, operation, address, operand)
            }),
            None => self.build.ins().atomic_rmw(bits, flags, operation, address, operand),
        };
        self.value_of_bits(scalar, old)
    }

    /// Value in memory, and the result of an operation that often leaves it unchanged.
    fn updated_value(
        &mut self,
        operation: AtomicRmwOp,
        bits: code::Type,
        operand: code::Value,
        address: code::Value,
    ) -> Option<[code::Value; 2]> {
        let combine: fn(code::Value, code::Value, FuncInstBuilder<'_, '_>) -> code::Value = match operation {
            AtomicRmwOp::And => |a, b, build| build.band(a, b),
            AtomicRmwOp::Or => |a, b, build| build.bor(a, b),
            AtomicRmwOp::Smin => |a, b, build| build.smin(a, b),
            AtomicRmwOp::Smax => |a, b, build| build.smax(a, b),
            AtomicRmwOp::Umin => |a, b, build| build.umin(a, b),
            AtomicRmwOp::Umax => |a, b, build| build.umax(a, b),
            _ => return None,
        };
        let loaded = self.build.ins().atomic_load(bits, MemFlagsData::trusted(), address);
        Some([loaded, combine(loaded, operand, self.build.ins())])
    }

    /// Generates `modify` for a changed value, and returns the old value. A write without change
    /// would take the cache line from other cores and wait for earlier stores.
    fn modify_if_different(
        &mut self,
        [loaded, new]: [code::Value; 2],
        modify: impl FnOnce(&mut Self) -> code::Value,
    ) -> code::Value {
        let [differs, done] = [(); 2].map(|()| self.build.create_block());
        let old = self.build.append_block_param(done, self.build.func.dfg.value_type(loaded));
        let is_same = self.build.ins().icmp(IntCC::Equal, loaded, new);
        self.build.ins().brif(is_same, done, &[loaded.into()], differs, &[]);
        self.build.seal_block(differs);
        self.build.switch_to_block(differs);
        let modified = modify(self);
        self.jump(done, &[modified]);
        self.build.seal_block(done);
        self.build.switch_to_block(done);
        old
    }

    fn value_of_bits(&mut self, scalar: code::Type, value: code::Value) -> code::Value {
        if scalar == self.build.func.dfg.value_type(value) {
            value
        } else {
            self.build.ins().bitcast(scalar, MemFlagsData::new(), value)
        }
    }

    /// Atomic addition of floats: a compare-exchange loop, as processors have no such instruction.
    fn add_float(
        &mut self,
        scalar: code::Type,
        bits: code::Type,
        operand: code::Value,
        address: code::Value,
    ) -> code::Value {
        let flags = MemFlagsData::trusted();
        let [again, done] = [(); 2].map(|()| self.build.create_block());
        let expected = self.build.append_block_param(again, bits);
        let first = self.build.ins().atomic_load(bits, flags, address);
        self.jump(again, &[first]);
        self.build.switch_to_block(again);
        let old = self.build.ins().bitcast(scalar, MemFlagsData::new(), expected);
        let sum = self.build.ins().fadd(old, operand);
        let sum = self.build.ins().bitcast(bits, MemFlagsData::new(), sum);
        let found = self.build.ins().atomic_cas(flags, address, expected, sum);
        let is_same = self.build.ins().icmp(IntCC::Equal, found, expected);
        self.build.ins().brif(is_same, done, &[], again, &[found.into()]);
        self.build.seal_block(again);
        self.build.seal_block(done);
        self.build.switch_to_block(done);
        old
    }
}
