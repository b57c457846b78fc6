//! Calls as messages and comparisons name them: by their arrays, with cuts and owners where those are what differs.

use std::fmt::{self, Display, Formatter};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::array::ArrayCore;
use crate::element::ElementInfo;
use crate::extents::Index;
use crate::locate::Placement;
use crate::region::Region;

/// An array by all that must agree between ranks. Displays as its name, and in full where asked to (`{:#}`).
#[derive(Debug, Clone)]
pub(crate) struct Named {
    name: String,
    element: &'static ElementInfo,
    shape: Index,
    cuts: u64,
    owners: u64,
    /// Calls are remembered for a while, so they keep no large tables alive.
    placement: Option<Placement>,
}

/// Cuts and owners of more chunks than this are only told by their fingerprints.
const KEPT_CHUNKS: usize = 1024;

impl Named {
    pub fn of(array: &ArrayCore) -> Self {
        Self::new(array.name(), array.element(), array.placement())
    }

    /// An array that is to be made.
    pub fn new(name: &str, element: &'static ElementInfo, placement: &Placement) -> Self {
        let (chunks, owners) = (placement.chunks(), placement.ownership());
        Self {
            name: name.to_string(),
            element,
            shape: chunks.shape(),
            cuts: chunks.fingerprint(),
            owners: owners.fingerprint(),
            placement: (chunks.count() <= KEPT_CHUNKS).then(|| placement.clone()),
        }
    }
}

impl Hash for Named {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, self.element.name, self.element.bytes, self.cuts, self.owners).hash(state);
    }
}

impl Display for Named {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.name)?;
        match &self.placement {
            _ if !f.alternate() => Ok(()),
            Some(placement) => {
                write!(f, " ({} of {}, owners {})", self.element.name, placement.chunks(), placement.ownership())
            }
            None => {
                let (cuts, owners) = (self.cuts as u16, self.owners as u16);
                write!(f, " ({} of {} with cuts #{cuts:04x} and owners #{owners:04x})", self.element.name, self.shape)
            }
        }
    }
}

/// A collective: its name, and its arrays with the regions that it works on. What else must agree is in a fingerprint.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Collective {
    verb: &'static str,
    before: &'static str,
    arrays: Vec<(Named, Option<Region>)>,
    rest: String,
    others: u64,
}

impl Collective {
    pub fn new(verb: &'static str) -> Self {
        Self { verb, before: "", arrays: Vec::new(), rest: String::new(), others: 0 }
    }

    /// What is to be read ahead of the arrays.
    pub fn from(self, before: &'static str) -> Self {
        Self { before, ..self }
    }

    /// Another array, as a whole or a region of it.
    pub fn of(mut self, array: Named, region: Option<Region>) -> Self {
        self.arrays.push((array, region));
        self
    }

    /// What is to be read behind the arrays.
    pub fn and(self, rest: impl Into<String>) -> Self {
        Self { rest: rest.into(), ..self }
    }

    /// What else must agree and is not to be read.
    pub fn with(self, others: impl Hash) -> Self {
        Self { others: hash(others), ..self }
    }

    pub fn signature(&self) -> u64 {
        hash(self)
    }
}

impl Display for Collective {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", self.verb, self.before)?;
        for (place, (array, region)) in self.arrays.iter().enumerate() {
            f.write_str(if place > 0 { ", " } else { "" })?;
            array.fmt(f)?;
            region.iter().try_for_each(|region| write!(f, " {region}"))?;
        }
        f.write_str(&self.rest)?;
        if f.alternate() && self.others != 0 {
            write!(f, ", with #{:04x}", self.others as u16)?;
        }
        f.write_str(")")
    }
}

/// A 64-bit hash that is the same on every rank.
pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
