//! Position of invocations outside of the domain.

/// Coordinate, on every axis, of invocations outside of the domain. Small multiples of it (modulo
/// 2³²) are large, so that positions computed from it are also outside.
pub(super) const OUTSIDE_COORDINATE: i32 = 0x9E37_79B9_u32 as i32;

/// Returns a WGSL position with [`OUTSIDE_COORDINATE`] on every axis.
pub(super) fn outside_position(axes: usize) -> String {
    match axes {
        1 => format!("i32({OUTSIDE_COORDINATE})"),
        2..=4 => format!("vec{axes}<i32>({OUTSIDE_COORDINATE})"),
        n => format!("array<i32, {n}>({})", vec![OUTSIDE_COORDINATE.to_string(); n].join(", ")),
    }
}
