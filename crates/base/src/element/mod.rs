//! [`Element`]: types of array cells, with their WGSL types and required features.

mod info;
mod record;

pub use info::{Capabilities, ElementInfo, ElementKind, Field, Packed, Scalar};

use half::f16;

/// Items for code that `derive(Element)` generates, so that users need no further dependency.
#[doc(hidden)]
pub mod private {
    pub use super::record::{Member, record_info};
    pub use bytemuck;
}

#[diagnostic::on_unimplemented(
    message = "cells of arrays cannot be `{Self}`",
    label = "not a type that WGSL has in memory",
    note = "cells are f32, f64, f16, u8 to u64, i8 to i64, vectors `[f32; 2]` to `[f32; 4]`, and structs with \
            `#[derive(zippy::Element)]`; a `bool` is a u8 or u32 here, a `usize` a u32 or u64"
)]
/// Type of the cells of an array.
///
/// The implementations are:
/// * `f32`, `i32`, `u32` and their vectors of 2 and 4: `[f32; 2]` is `vec2<f32>` in WGSL.
/// * `u8`, `i8`, `u16`, `i16`, packed in 32-bit words. A kernel declares `array<u32>` and reads
///   cells with the generated helpers.
/// * `f16`, its vectors of 2 and 4, `f64`, `i64` and `u64`, if the adapter supports them
///   ([`ElementInfo::supported_by`]).
/// * Structs of 32- and 64-bit scalars, `f16`, vectors of 2, 3 and 4, and such structs, with
///   `#[derive(Element)]`:
///
/// ```
/// # extern crate zippy_base as zippy;
/// use zippy::Element;
///
/// #[derive(Clone, Copy, Element)]
/// #[repr(C)]
/// struct Particle {
///     position: [f32; 2],
///     mass: f32,
///     id: u32,
/// }
/// assert_eq!(Particle::INFO.bytes, 16);
/// ```
///
/// A struct whose layouts in Rust and WGSL differ does not compile. The error names the field:
///
/// ```compile_fail,E0080
/// # extern crate zippy_base as zippy;
/// #[derive(Clone, Copy, zippy::Element)]
/// #[repr(C)]
/// struct Misplaced {
///     mass: f32,
///     position: [f32; 2], // WGSL puts it at byte 8, Rust at 4
/// }
/// ```
///
/// # Safety
/// `INFO` must describe the type's memory exactly: `size_of::<Self>() == INFO.bytes`, and the
/// memory layout is that of the WGSL type `INFO.name` in a storage buffer.
pub unsafe trait Element: bytemuck::Pod + Send + Sync {
    /// Description of the WGSL type.
    const INFO: ElementInfo;
}

macro_rules! scalars {
    ($($rust:ty => $scalar:ident),*) => {$(
        // SAFETY: the WGSL scalar of the same name has the same size and alignment.
        unsafe impl Element for $rust {
            const INFO: ElementInfo = ElementInfo::scalar(Scalar::$scalar);
        }
    )*};
}
scalars!(f32 => F32, i32 => I32, u32 => U32, f16 => F16, f64 => F64, i64 => I64, u64 => U64);

macro_rules! vectors {
    ($($rust:ty => $scalar:ident: $($n:literal)*),*) => {$($(
        // SAFETY: WGSL vectors of 2 and 4 have no padding, also as array elements.
        unsafe impl Element for [$rust; $n] {
            const INFO: ElementInfo = ElementInfo::vector(Scalar::$scalar, $n);
        }
    )*)*};
}
vectors!(f32 => F32: 2 4, i32 => I32: 2 4, u32 => U32: 2 4, f16 => F16: 2 4);

macro_rules! packed {
    ($($rust:ty => $packed:ident),*) => {$(
        // SAFETY: the generated helpers unpack little-endian cells from words.
        unsafe impl Element for $rust {
            const INFO: ElementInfo = ElementInfo::packed(Packed::$packed);
        }
    )*};
}
packed!(u8 => U8, i8 => I8, u16 => U16, i16 => I16);

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, zippy_derive::Element)]
    #[repr(C)]
    struct Particle {
        position: [f32; 3],
        mass: f32,
        r#type: u32,
        _pad: u32,
        velocity: [f32; 2],
    }

    #[derive(Clone, Copy, zippy_derive::Element)]
    #[repr(C)]
    struct Pair {
        first: Particle,
        second: Particle,
        weight: f64,
        spare: [u32; 2],
    }

    #[test]
    fn element_info_has_size_and_name_of_the_rust_type() {
        fn check<T: Element>(name: &str) {
            assert_eq!(T::INFO.bytes, size_of::<T>());
            assert_eq!(T::INFO.name, name);
        }
        check::<f32>("f32");
        check::<[i32; 2]>("vec2<i32>");
        check::<[u32; 4]>("vec4<u32>");
        check::<f16>("f16");
        check::<[f16; 4]>("vec4<f16>");
        check::<f64>("f64");
        check::<u64>("u64");
        check::<i64>("i64");
        check::<u8>("u8");
        check::<i16>("i16");
        check::<Particle>("Particle");
    }

    #[test]
    fn record_info_lists_names_and_offsets_of_fields() {
        let ElementKind::Record(fields) = Particle::INFO.kind else { panic!("{:?}", Particle::INFO) };
        let found: Vec<_> = fields.iter().map(|f| (f.name, f.offset, f.info.name)).collect();
        let expected = [
            ("position", 0, "vec3<f32>"),
            ("mass", 12, "f32"),
            ("type", 16, "u32"),
            ("_pad", 20, "u32"),
            ("velocity", 24, "vec2<f32>"),
        ];
        assert_eq!(found, expected);
        assert_eq!((Particle::INFO.bytes, Particle::INFO.align), (32, 16));
        assert_eq!(Pair::INFO.bytes, 80);
        let zeroed: Particle = bytemuck::Zeroable::zeroed();
        assert_eq!((zeroed.position, zeroed.mass, zeroed.r#type), ([0.0; 3], 0.0, 0));
        assert_eq!((zeroed._pad, zeroed.velocity), (0, [0.0; 2]));
    }

    #[test]
    fn flat_lists_members_of_nested_records() {
        use ElementKind::Vector;
        let found: Vec<_> =
            Pair::INFO.flat().into_iter().map(|(path, offset, kind)| (path.join("/"), offset, kind)).collect();
        let number = ElementKind::Scalar;
        let particle = |name: &str, at: usize| {
            [
                (format!("{name}/position"), at, Vector(Scalar::F32, 3)),
                (format!("{name}/mass"), at + 12, number(Scalar::F32)),
                (format!("{name}/type"), at + 16, number(Scalar::U32)),
                (format!("{name}/_pad"), at + 20, number(Scalar::U32)),
                (format!("{name}/velocity"), at + 24, Vector(Scalar::F32, 2)),
            ]
        };
        let last = [("weight".into(), 64, number(Scalar::F64)), ("spare".into(), 72, Vector(Scalar::U32, 2))];
        assert_eq!(found, [&particle("first", 0)[..], &particle("second", 32), &last].concat());
        assert_eq!(u8::INFO.flat(), [(vec![], 0, ElementKind::Packed(Packed::U8))]);
    }

    #[test]
    fn unsupported_element_error_names_the_missing_feature() {
        let have = Capabilities { f16: true, ..Capabilities::default() };
        assert_eq!(f16::INFO.supported_by(have, "llvmpipe"), Ok(()));
        assert_eq!(<[f32; 4]>::INFO.supported_by(have, "llvmpipe"), Ok(()));
        let error = u64::INFO.supported_by(have, "llvmpipe").unwrap_err().to_string();
        assert_eq!(
            error,
            "elements of type u64 need 64-bit integers in shaders, which the adapter \"llvmpipe\" does not offer"
        );
        let error = Pair::INFO.supported_by(have, "llvmpipe").unwrap_err().to_string();
        assert!(error.starts_with("elements of type Pair need 64-bit floats"), "{error}");
    }
}
