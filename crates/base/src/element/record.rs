//! Structs as elements: what `derive(Element)` is built on.

use half::f16;

use super::{Element, ElementInfo, ElementKind, Field, Scalar};

/// A type that a member of a record can have: every [`Element`] that is not packed, and 3-vectors.
///
/// ```compile_fail,E0200
/// #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Two(u32, u32);
/// impl zippy::element::private::Member for Two {
///     const MEMBER: zippy::element::ElementInfo = <u32 as zippy::element::Element>::INFO;
/// }
/// ```
///
/// # Safety
/// `MEMBER` must describe the type's memory exactly, as [`Element::INFO`] does: `derive(Element)` makes plain data of a record
/// whose members leave no padding by their sizes.
pub unsafe trait Member: bytemuck::Pod {
    /// Its WGSL side.
    const MEMBER: ElementInfo;
}

// SAFETY: what an element promises of `INFO`.
unsafe impl<T: Element> Member for T {
    const MEMBER: ElementInfo = T::INFO;
}

macro_rules! members {
    ($($rust:ty => $info:expr),*) => {$(
        // SAFETY: three scalars side by side, as WGSL has them within a struct.
        unsafe impl Member for $rust {
            const MEMBER: ElementInfo = $info;
        }
    )*};
}
members!(
    [f32; 3] => ElementInfo::vector(Scalar::F32, 3),
    [i32; 3] => ElementInfo::vector(Scalar::I32, 3),
    [u32; 3] => ElementInfo::vector(Scalar::U32, 3),
    [f16; 3] => ElementInfo::vector(Scalar::F16, 3)
);

/// The description of a record; `derive(Element)` calls it at compile time.
///
/// It fails to compile unless the Rust layout is the layout that WGSL gives the same members.
pub const fn record_info(name: &'static str, bytes: usize, fields: &'static [Field]) -> ElementInfo {
    assert!(!fields.is_empty(), "a record needs at least one field");
    let (mut at, mut largest, mut end, mut i) = (0, 1, 0, 0);
    while i < fields.len() {
        let Field { offset, info, .. } = fields[i];
        assert!(!matches!(info.kind, ElementKind::Packed(_)), "WGSL records have no 8- or 16-bit integers");
        assert!(offset == end, "a record must have no hidden padding");
        at = round_up(at, info.align);
        assert!(at == offset, "a field of the record does not lie where WGSL puts it");
        at += info.bytes;
        end = offset + info.bytes;
        if info.align > largest {
            largest = info.align;
        }
        i += 1;
    }
    assert!(end == bytes && round_up(at, largest) == bytes, "the record's size is not the size WGSL gives it");
    assert!(bytes.is_multiple_of(4), "a record's size must be a multiple of 4 bytes");
    ElementInfo { name, bytes, align: largest, kind: ElementKind::Record(fields) }
}

const fn round_up(value: usize, to: usize) -> usize {
    value.next_multiple_of(to)
}
