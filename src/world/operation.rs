//! Exchanges as messages and checks name them.

use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use super::exchange::Ghosts;
use super::meeting::Meeting;
use super::named::Named;
use super::{Operator, hash};
use crate::array::ArrayCore;
use crate::plan::{GhostSpec, Neighbours, Pair};
use crate::region::Region;

/// Copies or composites between sections of global arrays. Cheap to clone.
#[derive(Debug, Clone, Hash)]
pub(super) struct Operation {
    operator: Option<Operator>,
    arrays: Rc<[Named]>,
    /// Of many only the first pair is kept, as calls are remembered for a while.
    first: Pair,
    count: usize,
    /// A fingerprint of all of them.
    content: u64,
    order: Option<Vec<usize>>,
}

/// Groups of entries of one exchange.
pub(super) struct InTurn(pub Vec<Rc<dyn Display>>);

impl Display for InTurn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("exchange()");
        }
        self.0.iter().enumerate().try_for_each(|(place, one)| {
            f.write_str(if place > 0 { ", then " } else { "" })?;
            one.fmt(f)
        })
    }
}

impl Operation {
    /// Between two arrays.
    pub fn one(
        arrays: [&ArrayCore; 2],
        [src_region, dst_region]: [Region; 2],
        operator: Option<&Operator>,
        order: Option<&[usize]>,
    ) -> Self {
        let arrays = arrays.map(Named::of).into_iter().collect();
        let first = Pair { src: 0, src_region, dst: 1, dst_region };
        Self { operator: operator.cloned(), arrays, first, count: 1, content: 0, order: order.map(<[usize]>::to_vec) }
    }

    /// Between many.
    pub fn many(arrays: &[Rc<ArrayCore>], pairs: &[Pair], operator: Option<&Operator>) -> Self {
        let arrays = arrays.iter().map(|array| Named::of(array)).collect();
        let (count, content) = (pairs.len(), hash(pairs));
        Self { operator: operator.cloned(), arrays, first: pairs[0], count, content, order: None }
    }

    fn write_end(&self, f: &mut Formatter<'_>, array: usize, region: &Region) -> fmt::Result {
        self.arrays[array].fmt(f)?;
        write!(f, " {region}")
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.operator.is_some() { "composite(" } else { "copy(" })?;
        if self.count > 1 {
            write!(f, "{} pairs #{:04x}, first ", self.count, self.content as u16)?;
        }
        self.write_end(f, self.first.src, &self.first.src_region)?;
        f.write_str(" -> ")?;
        self.write_end(f, self.first.dst, &self.first.dst_region)?;
        self.operator.iter().try_for_each(|operator| write!(f, ", {operator}"))?;
        self.order.iter().try_for_each(|order| write!(f, ", axes {order:?}"))?;
        f.write_str(")")
    }
}

/// Ghost updates that share messages.
#[derive(Debug, Clone, Hash)]
pub(super) struct GhostUpdate(Rc<[(Named, GhostSpec, Meeting)]>);

impl GhostUpdate {
    pub fn new(all: &[&Ghosts]) -> Self {
        Self(all.iter().map(|one| (Named::of(&one.array), one.spec.clone(), one.meeting.clone())).collect())
    }
}

impl Display for GhostUpdate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("ghosts(")?;
        for (place, (array, spec, meeting)) in self.0.iter().enumerate() {
            f.write_str(if place > 0 { ", " } else { "" })?;
            array.fmt(f)?;
            spec.components.iter().try_for_each(|lists| write!(f, " by components #{:04x}", hash(lists) as u16))?;
            f.write_str(if spec.neighbours == Neighbours::Faces { " faces only" } else { "" })?;
            match meeting {
                Meeting::Combine(operator) => write!(f, " reverse with {operator}")?,
                Meeting::Replace => f.write_str(if spec.reverse { " reverse" } else { "" })?,
            }
        }
        f.write_str(")")
    }
}
