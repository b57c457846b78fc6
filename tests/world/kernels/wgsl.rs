//! Generators of WGSL text for any number of axes.

use std::fmt::Display;

/// WGSL type of a position.
pub(crate) fn position(axes: usize) -> String {
    match axes {
        1 => "i32".to_owned(),
        2..=4 => format!("vec{axes}<i32>"),
        _ => format!("array<i32, {axes}>"),
    }
}

/// WGSL component of a position along one axis.
pub(crate) fn part(name: impl Display, axes: usize, axis: usize) -> String {
    if axes == 1 { name.to_string() } else { format!("{name}[{axis}]") }
}

/// WGSL position composed of its components.
pub(crate) fn tuple(axes: usize, value: impl Fn(usize) -> String) -> String {
    format!("{}({})", position(axes), (0..axes).map(value).collect::<Vec<_>>().join(", "))
}

/// WGSL position `p + shift`, where `shift` is a parameter of type `array<vec4<i32>, 2>`.
pub(crate) fn shifted(axes: usize) -> String {
    tuple(axes, |axis| format!("{} + shift[{}][{}]", part("p", axes, axis), axis / 4, axis % 4))
}

pub(crate) fn shift(by: &[i64]) -> [[i32; 4]; 2] {
    std::array::from_fn(|v| std::array::from_fn(|c| by.get(4 * v + c).map_or(0, |&n| n as i32)))
}
