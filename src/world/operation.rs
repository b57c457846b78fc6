//! Collectives between sections as messages and checks name them.

use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use super::named::Named;
use super::{Operator, hash};
use crate::array::ArrayCore;
use crate::plan::Pair;
use crate::region::Region;

/// A collective between sections of global arrays. Cheap to clone.
#[derive(Debug, Clone, Hash)]
pub(super) struct Operation {
    verb: Verb,
    arrays: Rc<[Named]>,
    /// Of a list only the first pair is kept, as calls are remembered for a while.
    first: Option<Pair>,
    count: usize,
    /// A fingerprint of the whole list.
    content: u64,
    order: Option<Vec<usize>>,
}

#[derive(Debug, Clone, Hash)]
enum Verb {
    Copy,
    CopyAll,
    Composite(Operator),
    CompositeAll(Operator),
}

/// Several of them as one collective.
#[derive(Debug, Clone)]
pub(super) struct InTurn(pub Rc<[Operation]>);

impl Display for InTurn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(place, one)| {
            f.write_str(if place > 0 { ", then " } else { "" })?;
            one.fmt(f)
        })
    }
}

impl Operation {
    /// A copy between two arrays.
    pub fn copy(arrays: [&ArrayCore; 2], [src_region, dst_region]: [Region; 2], order: Option<&[usize]>) -> Self {
        let arrays = arrays.map(Named::of).into_iter().collect();
        let first = Some(Pair { src: 0, src_region, dst: 1, dst_region });
        Self { verb: Verb::Copy, arrays, first, count: 1, content: 0, order: order.map(<[usize]>::to_vec) }
    }

    /// The same as a composite.
    pub fn with(self, operator: Operator) -> Self {
        Self { verb: Verb::Composite(operator), ..self }
    }

    /// Many copies in one, or many composites.
    pub fn all(arrays: &[Rc<ArrayCore>], pairs: &[Pair], operator: Option<Operator>) -> Self {
        let arrays = arrays.iter().map(|array| Named::of(array)).collect();
        let verb = operator.map_or(Verb::CopyAll, Verb::CompositeAll);
        Self { verb, arrays, first: pairs.first().cloned(), count: pairs.len(), content: hash(pairs), order: None }
    }

    pub fn signature(&self) -> u64 {
        hash(self)
    }

    fn write_end(&self, f: &mut Formatter<'_>, array: usize, region: &Region) -> fmt::Result {
        self.arrays[array].fmt(f)?;
        write!(f, " {region}")
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.verb {
            Verb::Copy => "copy(",
            Verb::CopyAll => "copy_all(",
            Verb::Composite(_) => "composite(",
            Verb::CompositeAll(_) => "composite_all(",
        })?;
        if let Verb::CopyAll | Verb::CompositeAll(_) = self.verb {
            let (count, content) = (self.count, self.content as u16);
            write!(f, "{count} pairs #{content:04x}{}", if count > 0 { ", first " } else { "" })?;
        }
        if let Some(pair) = &self.first {
            self.write_end(f, pair.src, &pair.src_region)?;
            f.write_str(" -> ")?;
            self.write_end(f, pair.dst, &pair.dst_region)?;
        }
        if let Verb::Composite(operator) | Verb::CompositeAll(operator) = &self.verb {
            write!(f, ", {operator}")?;
        }
        self.order.iter().try_for_each(|order| write!(f, ", axes {order:?}"))?;
        f.write_str(")")
    }
}
