//! Conversions of element types to the protocol's types.
use zippy_base::element::{ElementInfo, ElementKind, Packed, Scalar};

use super::{ElementType, Numbers, ScalarType};

impl From<&ElementInfo> for ElementType {
    fn from(info: &ElementInfo) -> Self {
        let numbers = info.flat().into_iter().filter_map(|(members, offset, kind)| {
            let (scalar, components) = match kind {
                ElementKind::Scalar(scalar) => (scalar.into(), 1),
                ElementKind::Vector(scalar, components) => (scalar.into(), components),
                ElementKind::Packed(packed) => (packed.into(), 1),
                ElementKind::Record(_) => return None,
            };
            Some(Numbers { name: members.join("."), offset: offset as u32, scalar, components: components as u8 })
        });
        Self { name: info.name.to_string(), bytes: info.bytes as u32, numbers: numbers.collect() }
    }
}

impl From<Scalar> for ScalarType {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::F32 => Self::F32,
            Scalar::I32 => Self::I32,
            Scalar::U32 => Self::U32,
            Scalar::F16 => Self::F16,
            Scalar::F64 => Self::F64,
            Scalar::I64 => Self::I64,
            Scalar::U64 => Self::U64,
        }
    }
}

impl From<Packed> for ScalarType {
    fn from(packed: Packed) -> Self {
        match packed {
            Packed::U8 => Self::U8,
            Packed::I8 => Self::I8,
            Packed::U16 => Self::U16,
            Packed::I16 => Self::I16,
        }
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;
    use zippy_base::Element;

    #[derive(Clone, Copy, Element)]
    #[repr(C)]
    struct Corner {
        place: [f32; 3],
        kind: u32,
        shade: [f16; 2],
        r#type: i32,
        _pad: [u32; 2],
    }

    #[derive(Clone, Copy, Element)]
    #[repr(C)]
    struct Edge {
        from: Corner,
        to: Corner,
        length: f64,
        number: u64,
    }

    fn found(info: &ElementInfo) -> Vec<(String, u32, ScalarType, u8)> {
        let numbers = ElementType::from(info).numbers;
        numbers.into_iter().map(|numbers| (numbers.name, numbers.offset, numbers.scalar, numbers.components)).collect()
    }

    #[test]
    fn scalars_and_vectors_have_one_entry_without_a_name() {
        use ScalarType as S;
        let single = |scalar, components| vec![(String::new(), 0, scalar, components)];
        assert_eq!(found(&f32::INFO), single(S::F32, 1));
        assert_eq!(found(&<[i32; 4]>::INFO), single(S::I32, 4));
        assert_eq!(found(&<[u32; 2]>::INFO), single(S::U32, 2));
        assert_eq!(found(&f16::INFO), single(S::F16, 1));
        assert_eq!(found(&<[f16; 4]>::INFO), single(S::F16, 4));
        assert_eq!([found(&f64::INFO), found(&i64::INFO)], [single(S::F64, 1), single(S::I64, 1)]);
        assert_eq!([found(&u64::INFO), found(&u8::INFO)], [single(S::U64, 1), single(S::U8, 1)]);
        assert_eq!([found(&i8::INFO), found(&u16::INFO)], [single(S::I8, 1), single(S::U16, 1)]);
        assert_eq!(found(&i16::INFO), single(S::I16, 1));
        let whole = ElementType::from(&<[f32; 4]>::INFO);
        assert_eq!((whole.name.as_str(), whole.bytes), ("vec4<f32>", 16));
    }

    #[test]
    fn records_have_an_entry_for_each_nested_member() {
        use ScalarType as S;
        let corner = |name: &str, at: u32| {
            [
                (format!("{name}.place"), at, S::F32, 3),
                (format!("{name}.kind"), at + 12, S::U32, 1),
                (format!("{name}.shade"), at + 16, S::F16, 2),
                (format!("{name}.type"), at + 20, S::I32, 1),
                (format!("{name}._pad"), at + 24, S::U32, 2),
            ]
        };
        let rest = [("length".to_string(), 64, S::F64, 1), ("number".to_string(), 72, S::U64, 1)];
        assert_eq!(found(&Edge::INFO), [&corner("from", 0)[..], &corner("to", 32), &rest].concat());
        let whole = ElementType::from(&Edge::INFO);
        assert_eq!((whole.name.as_str(), whole.bytes as usize), ("Edge", size_of::<Edge>()));
        let bytes: usize = whole.numbers.iter().map(Numbers::bytes).sum();
        assert_eq!(bytes, size_of::<Edge>(), "no byte of a record is hidden");
    }
}
