//! [`Dependence`]: the inputs from which a value is computed.

use std::collections::BTreeMap;
use std::ops::BitOr;

/// Set of inputs from which a value is computed. The default is a value computed only from
/// constants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Dependence {
    /// True if computed from a uniform at a constant index.
    pub on_uniform: bool,
    /// True if computed from the counter of the innermost loop around the value.
    pub on_counter: bool,
    /// True if computed from a value that differs between invocations or comes from memory.
    pub on_varying: bool,
}

pub(super) const COUNTER: Dependence = Dependence { on_uniform: false, on_counter: true, on_varying: false };
pub(super) const UNIFORM: Dependence = Dependence { on_uniform: true, on_counter: false, on_varying: false };
pub(super) const VARYING: Dependence = Dependence { on_uniform: false, on_counter: false, on_varying: true };

impl BitOr for Dependence {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self {
            on_uniform: self.on_uniform | other.on_uniform,
            on_counter: self.on_counter | other.on_counter,
            on_varying: self.on_varying | other.on_varying,
        }
    }
}

/// Joins the dependences of variables at the ends of two branches. A variable that differs between
/// the branches also depends on `differs`.
pub(super) fn join_dependences<K: Ord + Copy>(
    into: &mut BTreeMap<K, Dependence>,
    other: &BTreeMap<K, Dependence>,
    differs: Dependence,
) {
    for (&key, &value) in other {
        let here = into.entry(key).or_default();
        if *here != value {
            *here = *here | value | differs;
        }
    }
}
