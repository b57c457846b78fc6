use half::f16;

use super::{Element, ElementInfo, ElementKind, Field, Scalar};

/// Type of a member of a record: every [`Element`] that is not packed, and 3-vectors.
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
/// `MEMBER` must describe the type's memory exactly, as [`Element::INFO`] does: `derive(Element)`
/// implements `Pod` for a record if the sizes in `MEMBER` leave no padding.
pub unsafe trait Member: bytemuck::Pod {
    /// Description of the WGSL type.
    const MEMBER: ElementInfo;
}

// SAFETY: `Element` requires of `INFO` the same as `Member` of `MEMBER`.
unsafe impl<T: Element> Member for T {
    const MEMBER: ElementInfo = T::INFO;
}

macro_rules! members {
    ($($rust:ty => $info:expr),*) => {$(
        // SAFETY: three consecutive scalars, as a WGSL 3-vector in a struct.
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

/// Description of a record of `bytes` bytes, for `derive(Element)` at compile time.
///
/// # Panics
/// If the Rust layout differs from the WGSL layout of the members: a compile error in a constant.
pub const fn record_info(name: &'static str, bytes: usize, fields: &'static [Field]) -> ElementInfo {
    assert!(!fields.is_empty(), "a record needs at least one field");
    let (mut wgsl_offset, mut max_align, mut end, mut i) = (0, 1, 0, 0);
    while i < fields.len() {
        let Field { offset, info, .. } = fields[i];
        assert!(!matches!(info.kind, ElementKind::Packed(_)), "WGSL records have no 8- or 16-bit integers");
        assert!(offset == end, "a record must have no hidden padding");
        wgsl_offset = round_up(wgsl_offset, info.align);
        assert!(wgsl_offset == offset, "a field of the record does not lie where WGSL puts it");
        wgsl_offset += info.bytes;
        end = offset + info.bytes;
        if info.align > max_align {
            max_align = info.align;
        }
        i += 1;
    }
    let wgsl_bytes = round_up(wgsl_offset, max_align);
    assert!(end == bytes && wgsl_bytes == bytes, "the record's size is not the size WGSL gives it");
    assert!(bytes.is_multiple_of(4), "a record's size must be a multiple of 4 bytes");
    ElementInfo { name, bytes, align: max_align, kind: ElementKind::Record(fields) }
}

const fn round_up(value: usize, multiple: usize) -> usize {
    value.next_multiple_of(multiple)
}
