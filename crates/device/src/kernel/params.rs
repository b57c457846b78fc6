//! Values of uniform variables.

use super::types::UniformSlot;
use crate::element::{Element, ElementInfo, ElementKind, Field, Scalar};

/// Value of a kernel parameter: a number (`0.2`, `3`, `7_u64`), a vector of 2 to 4 numbers (`[0.5,
/// 1.0, 2.0]`), or a matrix or array of vectors (`[[f32; 4]; 4]` is `mat4x4<f32>`, columns first,
/// or `array<vec4<f32>, 4>`). Numbers convert to the shader's type if that type can represent them.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamValue {
    scalar: Scalar,
    components: usize,
    count: Option<usize>,
    bytes: Vec<u8>,
}

/// Number, vector, matrix or array that can be passed as the value of a kernel parameter.
#[diagnostic::on_unimplemented(
    message = "a parameter cannot be `{Self}`",
    label = "not a number, a vector, a matrix or an array of vectors",
    note = "parameters are numbers (`0.2`, `3`), vectors of 2 to 4 of them (`[0.5, 1.0]`), and arrays of vectors; a `bool` is \
            a u32 in WGSL's uniform variables, and a struct goes to `params`"
)]
pub trait IntoParam: Into<ParamValue> {}

impl IntoParam for ParamValue {}

enum Number {
    Float(f64),
    Integer(i128),
    Other,
}

impl ParamValue {
    /// Returns the bytes in the layout of a uniform buffer, without padding, for direct use with
    /// wgpu.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the WGSL type of the value, for error messages.
    fn ty(&self) -> String {
        let column_type = match self.components {
            1 => ElementInfo::scalar(self.scalar),
            n => ElementInfo::vector(self.scalar, n),
        };
        match self.count {
            None => column_type.name.to_owned(),
            Some(n @ 2..=4) if self.components > 1 => {
                let scalar = ElementInfo::scalar(self.scalar).name;
                format!("mat{n}x{}<{scalar}> or array<{}, {n}>", self.components, column_type.name)
            }
            Some(n) => format!("array<{}, {n}>", column_type.name),
        }
    }

    /// Returns the WGSL type of a scalar or vector; `None` for other values.
    pub fn wgsl(&self) -> Option<&'static str> {
        let info = match self.components {
            1 => ElementInfo::scalar(self.scalar),
            n => ElementInfo::vector(self.scalar, n),
        };
        self.count.is_none().then_some(info.name)
    }

    /// Returns the single-precision WGSL type of a scalar or vector of doubles; `None` for other
    /// values.
    pub fn wgsl_without_doubles(&self) -> Option<&'static str> {
        let single = Self { scalar: Scalar::F32, ..self.clone() };
        if self.scalar == Scalar::F64 { single.wgsl() } else { None }
    }

    fn numbers(&self) -> Vec<Number> {
        let read = |bytes: &[u8]| match self.scalar {
            Scalar::F32 => Number::Float(f64::from(bytemuck::pod_read_unaligned::<f32>(bytes))),
            Scalar::F64 => Number::Float(bytemuck::pod_read_unaligned(bytes)),
            Scalar::I32 => Number::Integer(bytemuck::pod_read_unaligned::<i32>(bytes).into()),
            Scalar::U32 => Number::Integer(bytemuck::pod_read_unaligned::<u32>(bytes).into()),
            Scalar::I64 => Number::Integer(bytemuck::pod_read_unaligned::<i64>(bytes).into()),
            Scalar::U64 => Number::Integer(bytemuck::pod_read_unaligned::<u64>(bytes).into()),
            _ => Number::Other,
        };
        self.bytes.chunks_exact(self.scalar.bytes()).map(read).collect()
    }

    /// Returns the first numbers of the value, for error messages.
    fn listed(&self) -> String {
        let text = |number: &Number| match number {
            Number::Float(value) => format!("{value:?}"),
            Number::Integer(value) => value.to_string(),
            Number::Other => "?".to_owned(),
        };
        self.numbers().iter().take(4).map(text).collect::<Vec<_>>().join(", ")
    }

    /// Returns the bytes of the numbers converted to another scalar type; `None` if that type
    /// cannot represent a number. Floats are rounded, integers are exact, and floats do not convert
    /// to integers.
    fn converted(&self, to: Scalar) -> Option<Vec<u8>> {
        if to == self.scalar {
            return Some(self.bytes.clone());
        }
        let mut out = Vec::new();
        for number in self.numbers() {
            match (number, to) {
                (Number::Float(value), Scalar::F32) => {
                    let rounded = value as f32;
                    if rounded.is_infinite() && value.is_finite() {
                        return None;
                    }
                    out.extend(rounded.to_ne_bytes());
                }
                (Number::Float(value), Scalar::F64) => out.extend(value.to_ne_bytes()),
                (Number::Integer(value), Scalar::F32) if value.unsigned_abs() <= 1 << f32::MANTISSA_DIGITS => {
                    out.extend((value as f32).to_ne_bytes());
                }
                (Number::Integer(value), Scalar::F64) if value.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS => {
                    out.extend((value as f64).to_ne_bytes());
                }
                (Number::Integer(value), Scalar::I32) => out.extend(i32::try_from(value).ok()?.to_ne_bytes()),
                (Number::Integer(value), Scalar::U32) => out.extend(u32::try_from(value).ok()?.to_ne_bytes()),
                (Number::Integer(value), Scalar::I64) => out.extend(i64::try_from(value).ok()?.to_ne_bytes()),
                (Number::Integer(value), Scalar::U64) => out.extend(u64::try_from(value).ok()?.to_ne_bytes()),
                _ => return None,
            }
        }
        Some(out)
    }

    /// Writes the value to its slot of a uniform variable; returns an error text if the types
    /// differ.
    pub(super) fn write(&self, slot: &UniformSlot, bytes: &mut [u8]) -> Result<(), String> {
        let wrong = |problem: &str| Err(format!("parameter `{}` is {}, but {problem}", slot.name, slot.ty));
        let Some((scalar, components)) = slot.shape.filter(|_| slot.repeat.map(|(n, _)| n) == self.count) else {
            return wrong(&format!("{} was given", self.ty()));
        };
        if components != self.components {
            return wrong(&format!("{} was given", self.ty()));
        }
        let Some(given) = self.converted(scalar) else {
            return wrong(&format!("{}, which it cannot hold, was given as {}", self.listed(), self.ty()));
        };
        let size = scalar.bytes() * components;
        let stride = slot.repeat.map_or(size, |(_, stride)| stride);
        for (i, column) in given.chunks_exact(size).enumerate() {
            let at = slot.offset + i * stride;
            bytes[at..at + size].copy_from_slice(column);
        }
        Ok(())
    }
}

macro_rules! values {
    ($($rust:ty => $scalar:ident),*) => {$(
        impl IntoParam for $rust {}
        impl From<$rust> for ParamValue {
            fn from(value: $rust) -> Self {
                let bytes = bytemuck::bytes_of(&value).to_vec();
                Self { scalar: Scalar::$scalar, components: 1, count: None, bytes }
            }
        }
        values!(@vectors $rust => $scalar: 2 3 4);
    )*};
    (@vectors $rust:ty => $scalar:ident: $($n:literal)*) => {$(
        impl IntoParam for [$rust; $n] {}
        impl<const N: usize> IntoParam for [[$rust; $n]; N] {}
        impl IntoParam for &[[$rust; $n]] {}
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
impl IntoParam for usize {}

impl From<usize> for ParamValue {
    fn from(value: usize) -> Self {
        (value as u64).into()
    }
}

values!(f32 => F32, i32 => I32, u32 => U32, f64 => F64, i64 => I64, u64 => U64);

/// Values of all members of a WGSL uniform struct.
#[derive(Debug, Clone)]
pub(super) struct Record {
    info: ElementInfo,
    bytes: Vec<u8>,
}

impl Record {
    pub(super) fn new<T: Element>(value: &T) -> Self {
        Self { info: T::INFO, bytes: bytemuck::bytes_of(value).to_vec() }
    }

    /// Writes every member to its slot of a uniform variable; returns an error text if the struct
    /// in WGSL has other members.
    pub(super) fn write(&self, variable: &str, slots: &[UniformSlot], bytes: &mut [u8]) -> Result<(), String> {
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
                return Err(format!("{rust} has a member `{name}`, which `{variable}` does not have"));
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

/// True if the name is that of a padding member, which needs no value.
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
