use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as code, ConstantData, InstBuilder, types};

use super::{Emitter, LANES};
use crate::ir::{Definition, Type, Value};
use crate::shape::Shape;

/// Registers of a value: one scalar for all lanes, or vectors.
#[derive(Debug, Clone)]
pub(crate) enum Register {
    /// Uniform value, or first lane of an affine value.
    Scalar(code::Value),
    /// 128-bit vectors with the lanes in order. Bools are masks of 32 bits.
    Lanes(Vec<code::Value>),
}

pub(super) fn scalar_type(ty: Type) -> code::Type {
    match ty {
        Type::Bool => types::I8,
        Type::I32 => types::I32,
        Type::I64 => types::I64,
        Type::F32 => types::F32,
        Type::F64 => types::F64,
    }
}

pub(super) fn vector_type(ty: Type) -> code::Type {
    match ty {
        Type::Bool | Type::I32 => types::I32X4,
        Type::I64 => types::I64X2,
        Type::F32 => types::F32X4,
        Type::F64 => types::F64X2,
    }
}

pub(super) fn lanes_per_vector(ty: Type) -> usize {
    16 / ty.bytes() as usize
}

impl Emitter<'_, '_> {
    /// Uniform value, or first lane of an affine value.
    pub(crate) fn scalar(&mut self, value: Value) -> code::Value {
        if let Definition::Constant(bits) = self.kernel.definition(value) {
            return self.constant(self.kernel.ty(value), *bits);
        }
        if let Some(scalar) = self.row_value(value) {
            return scalar;
        }
        match &self.registers[&value] {
            Register::Scalar(scalar) => *scalar,
            Register::Lanes(_) => unreachable!("a varying value as a scalar"),
        }
    }

    pub(crate) fn constant(&mut self, ty: Type, bits: u64) -> code::Value {
        match ty {
            Type::Bool => self.build.ins().iconst(types::I8, (bits & 1) as i64),
            Type::I32 => self.build.ins().iconst(types::I32, i64::from(bits as u32)),
            Type::I64 => self.build.ins().iconst(types::I64, bits as i64),
            Type::F32 => self.build.ins().f32const(f32::from_bits(bits as u32)),
            Type::F64 => self.build.ins().f64const(f64::from_bits(bits)),
        }
    }

    pub(crate) fn vectors(&mut self, value: Value) -> Vec<code::Value> {
        if let Some(Register::Lanes(lanes)) = self.registers.get(&value) {
            return lanes.clone();
        }
        let scalar = self.scalar(value);
        let step = match self.shapes.of(value) {
            Shape::Affine(step) => step,
            _ => 0,
        };
        self.splat(self.kernel.ty(value), scalar, step)
    }

    /// Vectors of an affine value with `scalar` in the first lane.
    pub(crate) fn splat(&mut self, ty: Type, scalar: code::Value, step: i32) -> Vec<code::Value> {
        let scalar = match ty {
            Type::Bool => {
                let wide = self.build.ins().uextend(types::I32, scalar);
                self.build.ins().ineg(wide)
            }
            _ => scalar,
        };
        let (vector, per_vector) = (vector_type(ty), lanes_per_vector(ty));
        let all = self.build.ins().splat(vector, scalar);
        if step == 0 {
            return vec![all; LANES / per_vector];
        }
        let steps = (0..LANES / per_vector).map(|number| {
            let lane = |k: usize| step.wrapping_mul((number * per_vector + k) as i32).to_le_bytes();
            let bytes: Vec<u8> = (0..per_vector).flat_map(lane).collect();
            let constant = self.build.func.dfg.constants.insert(ConstantData::from(bytes));
            let steps = self.build.ins().vconst(vector, constant);
            self.build.ins().iadd(all, steps)
        });
        steps.collect()
    }

    pub(crate) fn lane(&mut self, value: Value, lane: usize) -> code::Value {
        let ty = self.kernel.ty(value);
        match (self.registers.get(&value).cloned(), self.shapes.of(value)) {
            (Some(Register::Lanes(lanes)), _) => self.extract(ty, &lanes, lane),
            (_, Shape::Affine(step)) if lane > 0 => {
                let first = self.scalar(value);
                self.build.ins().iadd_imm_s(first, i64::from(step.wrapping_mul(lane as i32)))
            }
            _ => self.scalar(value),
        }
    }

    pub(crate) fn extract(&mut self, ty: Type, vectors: &[code::Value], lane: usize) -> code::Value {
        let per_vector = lanes_per_vector(ty);
        let scalar = self.build.ins().extractlane(vectors[lane / per_vector], (lane % per_vector) as u8);
        match ty {
            Type::Bool => self.build.ins().icmp_imm_s(IntCC::NotEqual, scalar, 0),
            _ => scalar,
        }
    }

    pub(crate) fn pack_lanes(&mut self, ty: Type, scalars: &[code::Value]) -> Vec<code::Value> {
        let (vector, per_vector) = (vector_type(ty), lanes_per_vector(ty));
        let gathered = scalars.chunks(per_vector).map(|scalars| {
            let mut lanes = scalars.iter().map(|scalar| match ty {
                Type::Bool => {
                    let wide = self.build.ins().uextend(types::I32, *scalar);
                    self.build.ins().ineg(wide)
                }
                _ => *scalar,
            });
            let lanes: Vec<_> = lanes.by_ref().collect();
            let mut all = self.build.ins().scalar_to_vector(vector, lanes[0]);
            for (number, lane) in lanes.iter().enumerate().skip(1) {
                all = self.build.ins().insertlane(all, *lane, number as u8);
            }
            all
        });
        gathered.collect()
    }
}
