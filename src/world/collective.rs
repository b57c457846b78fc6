//! [`Collective`]: name and signature of a collective, for error messages and for the comparison of
//! calls between ranks.

use std::fmt::{self, Display, Formatter};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::array::ArrayCore;
use crate::element::ElementInfo;
use crate::extents::Index;
use crate::locate::Placement;
use crate::region::Region;

/// Properties of an array that must agree between ranks. Displays as the name, and with `{:#}` in
/// full.
#[derive(Debug, Clone)]
pub(crate) struct ArrayIdentity {
    name: String,
    element: &'static ElementInfo,
    shape: Index,
    cuts: u64,
    owners: u64,
    /// `None` for large tables, because identities stay in the history of calls for a while.
    placement: Option<Placement>,
}

/// Maximum number of chunks for which cuts and owners are displayed. Larger arrays display hashes
/// of them.
const MAX_DISPLAYED_CHUNKS: usize = 1024;

impl ArrayIdentity {
    pub(crate) fn from_core(array: &ArrayCore) -> Self {
        Self::new(array.name(), array.element(), array.placement())
    }

    /// Identity of an array that is about to be created.
    pub(crate) fn new(name: &str, element: &'static ElementInfo, placement: &Placement) -> Self {
        let (chunks, owners) = (placement.chunks(), placement.ownership());
        Self {
            name: name.to_string(),
            element,
            shape: chunks.shape(),
            cuts: chunks.fingerprint(),
            owners: owners.fingerprint(),
            placement: (chunks.count() <= MAX_DISPLAYED_CHUNKS).then(|| placement.clone()),
        }
    }
}

impl Hash for ArrayIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, self.element.name, self.element.bytes, self.cuts, self.owners).hash(state);
    }
}

impl Display for ArrayIdentity {
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

/// Call of a collective: its name, its arrays with the regions of the operation, and a hash of its
/// other arguments; for [`run_collective`](crate::collective::CollectiveWorld::run_collective).
#[derive(Debug, Clone, Hash)]
pub struct Collective {
    verb: &'static str,
    text_before: &'static str,
    arrays: Vec<(ArrayIdentity, Option<Region>)>,
    text_after: String,
    hidden_hash: u64,
}

impl Collective {
    /// Creates a call with this name, without arguments.
    pub fn new(verb: &'static str) -> Self {
        Self { verb, text_before: "", arrays: Vec::new(), text_after: String::new(), hidden_hash: 0 }
    }

    /// Sets the displayed text before the arrays.
    pub(crate) fn text_before(self, text_before: &'static str) -> Self {
        Self { text_before, ..self }
    }

    /// Adds a section of a global array: the ranks compare name, element type, cuts and owners of
    /// the array, and the region.
    pub fn section(self, array: &ArrayCore, region: Region) -> Self {
        self.array(ArrayIdentity::from_core(array), Some(region))
    }

    /// Adds an array, or a region of an array.
    pub(crate) fn array(mut self, array: ArrayIdentity, region: Option<Region>) -> Self {
        self.arrays.push((array, region));
        self
    }

    /// Sets the displayed text after the arrays.
    pub(crate) fn text_after(self, text_after: impl Into<String>) -> Self {
        Self { text_after: text_after.into(), ..self }
    }

    /// Sets the other arguments that must agree between ranks. Errors display only their hash.
    pub fn also_compare(self, hidden: impl Hash) -> Self {
        Self { hidden_hash: hash(hidden), ..self }
    }

    pub(crate) fn signature(&self) -> u64 {
        hash(self)
    }
}

impl Display for Collective {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", self.verb, self.text_before)?;
        for (index, (array, region)) in self.arrays.iter().enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            array.fmt(f)?;
            region.iter().try_for_each(|region| write!(f, " {region}"))?;
        }
        f.write_str(&self.text_after)?;
        if f.alternate() && self.hidden_hash != 0 {
            write!(f, ", with #{:04x}", self.hidden_hash as u16)?;
        }
        f.write_str(")")
    }
}

/// 64-bit hash with the same value on every rank.
pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
