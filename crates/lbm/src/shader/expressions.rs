//! WGSL expressions.

use crate::velocity_set::VelocitySet;

pub(super) const AXES: [char; 3] = ['x', 'y', 'z'];

/// The six different components of a symmetric tensor.
pub(super) const TENSOR_COMPONENTS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];

/// Product of a lattice velocity and a vector: `u.x - u.y`.
pub(super) fn dot_velocity(velocity: [i64; 3], vector: &str) -> String {
    let mut text = String::new();
    for (axis, c) in AXES.iter().zip(velocity) {
        let sign = match (c, text.is_empty()) {
            (0, _) => continue,
            (1, true) => "",
            (1, false) => " + ",
            (_, true) => "-",
            (_, false) => " - ",
        };
        text += &format!("{sign}{vector}.{axis}");
    }
    text
}

/// Number as a WGSL `f32` literal.
pub(super) fn literal(value: f64) -> String {
    format!("{:?}", value as f32)
}

/// Sum of the variables `prefix1`, `prefix3`, … of pairs, with coefficients -1, 0 or 1 that depend
/// on the velocity; `None` for a sum without terms.
pub(super) fn sum_over_pairs(set: VelocitySet, prefix: &str, coefficient: impl Fn([i64; 3]) -> i64) -> Option<String> {
    let terms = set.first_of_pairs().map(|q| (coefficient(set.velocity(q)), q)).filter(|&(c, _)| c != 0);
    let terms: Vec<String> = terms.map(|(c, q)| format!("{}{prefix}{q}", if c > 0 { "" } else { "-" })).collect();
    (!terms.is_empty()).then(|| terms.join(" + ").replace("+ -", "- "))
}
