//! Names of exchanges, for error messages and for the comparison of calls between ranks.

use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use super::collective::ArrayIdentity;
use super::exchange::GhostUpdate;
use super::hash;
use super::merge_rule::MergeRule;
use crate::array::ArrayCore;
use crate::device::Operator;
use crate::plan::{GhostSpec, Neighbours, Pair};
use crate::region::Region;

/// Name of copies or composites between sections of global arrays. Cheap to clone.
#[derive(Debug, Clone, Hash)]
pub(super) struct CopyName {
    operator: Option<Operator>,
    arrays: Rc<[ArrayIdentity]>,
    /// First of possibly many pairs: names stay in the history of calls, and must be small.
    first: Pair,
    count: usize,
    /// Hash of all pairs, for the comparison of calls.
    content: u64,
    order: Option<Vec<usize>>,
}

/// Name of an exchange with several groups of entries.
pub(super) struct ExchangeName(pub Vec<Rc<dyn Display>>);

impl Display for ExchangeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("exchange()");
        }
        self.0.iter().enumerate().try_for_each(|(index, operation)| {
            f.write_str(if index > 0 { ", then " } else { "" })?;
            operation.fmt(f)
        })
    }
}

impl CopyName {
    pub(super) fn pair(
        arrays: [&ArrayCore; 2],
        [src_region, dst_region]: [Region; 2],
        operator: Option<&Operator>,
        order: Option<&[usize]>,
    ) -> Self {
        let arrays = arrays.map(ArrayIdentity::from_core).into_iter().collect();
        let first = Pair { src: 0, src_region, dst: 1, dst_region };
        Self { operator: operator.cloned(), arrays, first, count: 1, content: 0, order: order.map(<[usize]>::to_vec) }
    }

    pub(super) fn pairs(arrays: &[Rc<ArrayCore>], pairs: &[Pair], operator: Option<&Operator>) -> Self {
        let arrays = arrays.iter().map(|array| ArrayIdentity::from_core(array)).collect();
        let (count, content) = (pairs.len(), hash(pairs));
        Self { operator: operator.cloned(), arrays, first: pairs[0], count, content, order: None }
    }

    fn write_section(&self, f: &mut Formatter<'_>, array: usize, region: &Region) -> fmt::Result {
        self.arrays[array].fmt(f)?;
        write!(f, " {region}")
    }
}

impl Display for CopyName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.operator.is_some() { "composite(" } else { "copy(" })?;
        if self.count > 1 {
            write!(f, "{} pairs #{:04x}, first ", self.count, self.content as u16)?;
        }
        self.write_section(f, self.first.src, &self.first.src_region)?;
        f.write_str(" -> ")?;
        self.write_section(f, self.first.dst, &self.first.dst_region)?;
        self.operator.iter().try_for_each(|operator| write!(f, ", {operator}"))?;
        self.order.iter().try_for_each(|order| write!(f, ", axes {order:?}"))?;
        f.write_str(")")
    }
}

/// Name of ghost updates that share messages.
#[derive(Debug, Clone, Hash)]
pub(super) struct GhostUpdateName(Rc<[(ArrayIdentity, GhostSpec, MergeRule)]>);

impl GhostUpdateName {
    pub(super) fn new(updates: &[&GhostUpdate]) -> Self {
        let named = |update: &&GhostUpdate| {
            (ArrayIdentity::from_core(&update.array), update.spec.clone(), update.merge_rule.clone())
        };
        Self(updates.iter().map(named).collect())
    }
}

impl Display for GhostUpdateName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("ghosts(")?;
        for (index, (array, spec, merge_rule)) in self.0.iter().enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            array.fmt(f)?;
            spec.components.iter().try_for_each(|lists| write!(f, " by components #{:04x}", hash(lists) as u16))?;
            f.write_str(if spec.neighbours == Neighbours::Faces { " faces only" } else { "" })?;
            match merge_rule {
                MergeRule::Combine(operator) => write!(f, " reverse with {operator}")?,
                MergeRule::Replace => f.write_str(if spec.reverse { " reverse" } else { "" })?,
            }
        }
        f.write_str(")")
    }
}
