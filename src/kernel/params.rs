//! Values of uniform variables.

use super::types::Slot;
use crate::element::{Element, ElementInfo, ElementKind, Field, Scalar};

/// A value for a parameter: `f32`, `i32`, `u32` (and `f64`, `i64`, `u64` where the adapter has them), vectors of 2 to 4
/// (`[f32; 3]`), and matrices or arrays of vectors (`[[f32; 4]; 4]` is `mat4x4<f32>`, columns first, or
/// `array<vec4<f32>, 4>`).
#[derive(Debug, Clone, PartialEq)]
pub struct ParamValue {
    scalar: Scalar,
    components: usize,
    count: Option<usize>,
    bytes: Vec<u8>,
}

impl ParamValue {
    /// Its bytes as they lie in a uniform buffer, without padding, for passes of one's own.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The WGSL type, for messages.
    fn ty(&self) -> String {
        let one = match self.components {
            1 => ElementInfo::scalar(self.scalar),
            n => ElementInfo::vector(self.scalar, n),
        };
        match self.count {
            None => one.name.to_owned(),
            Some(n @ 2..=4) if self.components > 1 => {
                let scalar = ElementInfo::scalar(self.scalar).name;
                format!("mat{n}x{}<{scalar}> or array<{}, {n}>", self.components, one.name)
            }
            Some(n) => format!("array<{}, {n}>", one.name),
        }
    }

    /// The WGSL type of a scalar or vector.
    pub(crate) fn wgsl(&self) -> Option<&'static str> {
        let info = match self.components {
            1 => ElementInfo::scalar(self.scalar),
            n => ElementInfo::vector(self.scalar, n),
        };
        self.count.is_none().then_some(info.name)
    }

    /// Writes the value to its place; says what differs when the types do.
    pub(super) fn write(&self, slot: &Slot, bytes: &mut [u8]) -> Result<(), String> {
        if slot.shape != Some((self.scalar, self.components)) || slot.repeat.map(|(n, _)| n) != self.count {
            return Err(format!("parameter `{}` is {}, but {} was given", slot.name, slot.ty, self.ty()));
        }
        let size = self.scalar.bytes() * self.components;
        let stride = slot.repeat.map_or(size, |(_, stride)| stride);
        for (i, one) in self.bytes.chunks_exact(size).enumerate() {
            let at = slot.offset + i * stride;
            bytes[at..at + size].copy_from_slice(one);
        }
        Ok(())
    }
}

macro_rules! values {
    ($($rust:ty => $scalar:ident),*) => {$(
        impl From<$rust> for ParamValue {
            fn from(value: $rust) -> Self {
                let bytes = bytemuck::bytes_of(&value).to_vec();
                Self { scalar: Scalar::$scalar, components: 1, count: None, bytes }
            }
        }
        values!(@vectors $rust => $scalar: 2 3 4);
    )*};
    (@vectors $rust:ty => $scalar:ident: $($n:literal)*) => {$(
        impl From<[$rust; $n]> for ParamValue {
            fn from(value: [$rust; $n]) -> Self {
                let bytes = bytemuck::bytes_of(&value).to_vec();
                Self { scalar: Scalar::$scalar, components: $n, count: None, bytes }
            }
        }
        impl<const N: usize> From<[[$rust; $n]; N]> for ParamValue {
            fn from(value: [[$rust; $n]; N]) -> Self {
                let bytes = bytemuck::cast_slice(&value[..]).to_vec();
                Self { scalar: Scalar::$scalar, components: $n, count: Some(N), bytes }
            }
        }
        impl From<&[[$rust; $n]]> for ParamValue {
            fn from(value: &[[$rust; $n]]) -> Self {
                let bytes = bytemuck::cast_slice(value).to_vec();
                Self { scalar: Scalar::$scalar, components: $n, count: Some(value.len()), bytes }
            }
        }
    )*};
}
values!(f32 => F32, i32 => I32, u32 => U32, f64 => F64, i64 => I64, u64 => U64);

/// All values of a uniform variable at once.
#[derive(Debug, Clone)]
pub(super) struct Record {
    info: ElementInfo,
    bytes: Vec<u8>,
}

impl Record {
    pub fn new<T: Element>(value: &T) -> Self {
        Self { info: T::INFO, bytes: bytemuck::bytes_of(value).to_vec() }
    }

    /// Writes every member to its place; says what differs when the struct in WGSL is another.
    pub fn write(&self, variable: &str, slots: &[Slot], bytes: &mut [u8]) -> Result<(), String> {
        let mut members = Vec::new();
        match self.info.kind {
            ElementKind::Record(fields) => flatten("", 0, fields, &mut members),
            _ => members.push((variable.to_owned(), 0, self.info)),
        }
        let rust = self.info.name;
        if let Some(slot) =
            slots.iter().find(|slot| !is_padding(&slot.name) && !members.iter().any(|(name, ..)| *name == slot.name))
        {
            return Err(format!("{rust} has no member `{}`, which `{variable}` has", slot.name));
        }
        for (name, offset, info) in members.iter().filter(|(name, ..)| !is_padding(name)) {
            let Some(slot) = slots.iter().find(|slot| slot.name == *name) else {
                return Err(format!("{rust} has a member `{name}`, which `{variable}` has not"));
            };
            let shape = match info.kind {
                ElementKind::Scalar(scalar) => Some((scalar, 1)),
                ElementKind::Vector(scalar, n) => Some((scalar, n)),
                _ => None,
            };
            if shape.is_none() || slot.shape != shape || slot.repeat.is_some() {
                return Err(format!("`{name}` is {} in {rust} and {} in `{variable}`", info.name, slot.ty));
            }
            bytes[slot.offset..slot.offset + info.bytes].copy_from_slice(&self.bytes[*offset..offset + info.bytes]);
        }
        Ok(())
    }
}

/// Members that only fill space need no value.
pub(super) fn is_padding(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.starts_with('_'))
}

fn flatten(prefix: &str, start: usize, fields: &[Field], out: &mut Vec<(String, usize, ElementInfo)>) {
    for field in fields {
        let name = format!("{prefix}{}", field.name);
        match field.info.kind {
            ElementKind::Record(inner) => flatten(&format!("{name}."), start + field.offset, inner, out),
            _ => out.push((name, start + field.offset, field.info)),
        }
    }
}
