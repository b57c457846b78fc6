//! The position of invocations outside of the domain.

/// The coordinate, on every axis, of invocations outside of the domain. No small multiple of it
/// (modulo 2³²) is small, so that coordinates computed from it are also outside.
pub const NOWHERE: i32 = 0x9E37_79B9_u32 as i32;

/// [`NOWHERE`] on every axis.
pub fn nowhere(axes: usize) -> String {
    match axes {
        1 => format!("i32({NOWHERE})"),
        2..=4 => format!("vec{axes}<i32>({NOWHERE})"),
        n => format!("array<i32, {n}>({})", vec![NOWHERE.to_string(); n].join(", ")),
    }
}
