use cranelift_codegen::ir::{self as code, InstBuilder, types};
use cranelift_frontend::Variable;

use super::{Emitter, LANES};
use crate::ir::Type;

/// Mask of lanes as vectors of 32 bits a lane: all ones for an active lane.
#[derive(Debug, Clone)]
pub(crate) struct Mask(pub Vec<code::Value>);

/// Cranelift variables for a mask or a value that several blocks set.
#[derive(Debug, Clone)]
pub(crate) struct LaneVariables(pub Vec<Variable>);

impl Emitter<'_, '_> {
    pub(crate) fn new_slot(&mut self, ty: code::Type, count: usize) -> LaneVariables {
        LaneVariables((0..count).map(|_| self.build.declare_var(ty)).collect())
    }

    pub(crate) fn new_mask_slot(&mut self) -> LaneVariables {
        self.new_slot(types::I32X4, LANES / 4)
    }

    pub(crate) fn set(&mut self, slot: &LaneVariables, values: &[code::Value]) {
        for (variable, value) in slot.0.iter().zip(values) {
            self.build.def_var(*variable, *value);
        }
    }

    pub(crate) fn get(&mut self, slot: &LaneVariables) -> Vec<code::Value> {
        slot.0.iter().map(|variable| self.build.use_var(*variable)).collect()
    }

    pub(crate) fn within_active(&mut self, mask: Mask) -> Mask {
        match self.active.clone() {
            Some(active) => self.mask_and(&mask, &active),
            None => mask,
        }
    }

    pub(crate) fn mask_and(&mut self, a: &Mask, b: &Mask) -> Mask {
        Mask(a.0.iter().zip(&b.0).map(|(a, b)| self.build.ins().band(*a, *b)).collect())
    }

    pub(crate) fn mask_or(&mut self, a: &Mask, b: &Mask) -> Mask {
        Mask(a.0.iter().zip(&b.0).map(|(a, b)| self.build.ins().bor(*a, *b)).collect())
    }

    pub(crate) fn mask_and_not(&mut self, a: &Mask, b: &Mask) -> Mask {
        Mask(a.0.iter().zip(&b.0).map(|(a, b)| self.build.ins().band_not(*a, *b)).collect())
    }

    pub(crate) fn mask_not(&mut self, mask: &Mask) -> Mask {
        Mask(mask.0.iter().map(|operand| self.build.ins().bnot(*operand)).collect())
    }

    pub(crate) fn no_lanes(&mut self) -> Mask {
        let zero = self.build.ins().iconst(types::I32, 0);
        Mask(self.splat(Type::I32, zero, 0))
    }

    pub(crate) fn all_lanes(&mut self) -> Mask {
        let ones = self.build.ins().iconst(types::I32, 0xffff_ffff);
        Mask(self.splat(Type::I32, ones, 0))
    }

    pub(crate) fn active_mask(&mut self) -> Mask {
        match &self.active {
            Some(active) => active.clone(),
            None => self.all_lanes(),
        }
    }

    pub(crate) fn any(&mut self, mask: &Mask) -> code::Value {
        let mut all = mask.0[0];
        for one in &mask.0[1..] {
            all = self.build.ins().bor(all, *one);
        }
        self.build.ins().vany_true(all)
    }

    pub(crate) fn all(&mut self, mask: &Mask) -> code::Value {
        let mut all = mask.0[0];
        for one in &mask.0[1..] {
            all = self.build.ins().band(all, *one);
        }
        self.build.ins().vall_true(all)
    }

    pub(crate) fn mask_lane(&mut self, mask: &Mask, lane: usize) -> code::Value {
        self.extract(Type::Bool, &mask.0, lane)
    }
}
