//! [`Exchange`]: description of moves between arrays.

use std::rc::Rc;

use super::merge_rule::MergeRule;
use crate::array::{ArrayCore, GlobalArray, GlobalSection, IntoGlobalSection};
use crate::device::Operator;
use crate::element::Element;
use crate::error::{ArrayError, Error, ErrorKind, Result};
use crate::plan::{Components, GhostSpec, Neighbours};
use crate::region::Region;

/// Moves between arrays in one operation: any number of copies, composites and ghost updates, of
/// any element types.
///
/// [`World::exchange`](super::World::exchange) executes an exchange,
/// [`World::start`](super::World::start) starts it, and [`World::plan`](super::World::plan) shows
/// its messages.
///
/// All sources are read before the first cell is written. The entries then take effect one after
/// the other, in the order of the method calls, so that several entries may write the same cells.
/// An invalid entry is reported by the [`World`](super::World) method that uses the exchange.
///
/// The following entries share messages, with one message between each pair of ranks that exchange
/// cells:
///
/// * consecutive copies, and consecutive composites with the same operator;
/// * consecutive ghost updates, per merge rule (replacement, or an operator).
///
/// Each copy or composite with [permuted](Self::permuted) axes, and each [prefix](Self::prefix),
/// has separate messages.
///
/// ```
/// # use zippy::{Exchange, Layout, Operator, Split, World};
/// # fn program(world: &World) -> zippy::Result<()> {
/// let layout = Layout::new([6]).split([Split::Even(2)]).ghost([1]).periodic([true]);
/// let ring = world.array::<i32, 1>("ring", &layout)?;
/// let sums = world.array::<i32, 1>("sums", &layout)?;
/// ring.fill_with(|[x]| x as i32)?;
/// // Updates the ghost cells of `ring`, then adds two shifts of `ring` in `sums`.
/// let step = Exchange::new()
///     .ghosts(&ring)
///     .copy(ring.at(0..5), sums.at(1..6))
///     .composite(ring.at(1..6), sums.at(0..5), Operator::Add);
/// world.exchange(&step)?;
/// let ticket = world.get(sums.at(..))?;
/// assert_eq!(world.fence()?.redeem(ticket)?, [1, 2, 4, 6, 8, 4]);
/// # Ok(()) }
/// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    entries: Vec<Entry>,
    /// Kind of the last method call, and the index of its first entry.
    last: Option<(EntryKind, usize)>,
    first_error: Option<ErrorKind>,
}

/// Kind of the entries that a modifying method applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Pairs,
    Ghosts,
    Prefix,
}

#[derive(Debug, Clone)]
pub(super) enum Entry {
    Pair(SectionPair),
    Prefix(SectionPair, u64),
    Ghosts(GhostUpdate),
}

/// Copy or composite of a section to another section.
#[derive(Debug, Clone)]
pub(super) struct SectionPair {
    pub source: BoundSection,
    pub destination: BoundSection,
    /// Source axis for each destination axis, if the axes are permuted.
    pub order: Option<Vec<usize>>,
    pub merge_rule: MergeRule,
}

#[derive(Debug, Clone)]
pub(super) struct BoundSection {
    pub array: Rc<ArrayCore>,
    pub region: Region,
}

#[derive(Debug, Clone)]
pub(super) struct GhostUpdate {
    pub array: Rc<ArrayCore>,
    pub spec: GhostSpec,
    pub merge_rule: MergeRule,
}

impl Exchange {
    /// Creates an exchange without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a copy between sections of the same extents.
    pub fn copy<T: Element, const D: usize>(
        self,
        source: impl IntoGlobalSection<T, D>,
        destination: impl IntoGlobalSection<T, D>,
    ) -> Self {
        self.copies([(source, destination)])
    }

    /// Adds a composite between sections of the same extents: `destination = operator(source,
    /// destination)`.
    pub fn composite<T: Element, const D: usize>(
        self,
        source: impl IntoGlobalSection<T, D>,
        destination: impl IntoGlobalSection<T, D>,
        operator: Operator,
    ) -> Self {
        self.composites([(source, destination)], &operator)
    }

    /// Adds copies that take effect one after the other.
    pub fn copies<T: Element, const D: usize>(
        self,
        pairs: impl IntoIterator<Item = (impl IntoGlobalSection<T, D>, impl IntoGlobalSection<T, D>)>,
    ) -> Self {
        self.pairs(pairs, &MergeRule::Replace)
    }

    /// Adds composites that take effect one after the other.
    pub fn composites<T: Element, const D: usize>(
        self,
        pairs: impl IntoIterator<Item = (impl IntoGlobalSection<T, D>, impl IntoGlobalSection<T, D>)>,
        operator: &Operator,
    ) -> Self {
        match operator.check(&T::INFO) {
            Ok(()) => self.pairs(pairs, &MergeRule::Combine(operator.clone())),
            Err(mistake) => self.with_mistake(mistake),
        }
    }

    /// Permutes the axes of the copies or composites of the preceding method call. Axis *i* of the
    /// destination runs along axis `order[i]` of the source and has its extent.
    pub fn permuted(mut self, order: impl AsRef<[usize]>) -> Self {
        let Some((EntryKind::Pairs, first)) = self.last else {
            return self.misplaced_modifier("permuted", "a copy or a composite");
        };
        for entry in &mut self.entries[first..] {
            if let Entry::Pair(pair) = entry {
                pair.order = Some(order.as_ref().to_vec());
            }
        }
        self
    }

    /// Adds a copy of the first `length` cells of a section to the first cells of another section.
    ///
    /// Only the rank that owns the source needs to know `length`; the argument of the other ranks
    /// is ignored. Use a prefix for data of variable length in slots of maximum length: the
    /// receivers need no lengths in advance, and only the used cells travel.
    ///
    /// Each section is nonempty and within one chunk. The element size is a multiple of 4 bytes.
    /// Cost: one message if source and destination are on different ranks. The data that this rank
    /// sends for consecutive prefixes is in staging memory at the same time, without a limit.
    pub fn prefix<T: Element>(
        mut self,
        source: impl IntoGlobalSection<T, 1>,
        destination: impl IntoGlobalSection<T, 1>,
        length: u64,
    ) -> Self {
        if !T::INFO.bytes.is_multiple_of(4) {
            let text = format!("a prefix has cells of whole words, not of {}", T::INFO.name);
            return self.with_mistake(ArrayError::Other(text));
        }
        self.last = Some((EntryKind::Prefix, self.entries.len()));
        match SectionPair::new(&source.into(), &destination.into(), &MergeRule::Replace) {
            Ok(pair) => {
                self.entries.push(Entry::Prefix(pair, length));
                self
            }
            Err(mistake) => self.with_mistake(mistake.into_kind()),
        }
    }

    /// Adds an update of the ghost cells of an array from their owners: faces, edges and corners,
    /// all components.
    ///
    /// The methods below modify the ghost update of the preceding call. Arrays of one exchange may
    /// differ in ghost widths, shapes and element types. Two consecutive updates of the same array
    /// in the same direction are an error, also through two handles.
    pub fn ghosts<T: Element, const D: usize>(mut self, array: &GlobalArray<T, D>) -> Self {
        self.last = Some((EntryKind::Ghosts, self.entries.len()));
        let (array, spec) = (array.core().clone(), GhostSpec::all());
        self.entries.push(Entry::Ghosts(GhostUpdate { array, spec, merge_rule: MergeRule::Replace }));
        self
    }

    /// Restricts the preceding ghost update to faces. Ghost cells at edges and corners keep their
    /// values.
    pub fn faces_only(self) -> Self {
        self.change_ghosts("faces_only", |ghosts| {
            ghosts.spec.neighbours = Neighbours::Faces;
            Ok(())
        })
    }

    /// Restricts the preceding ghost update to some components.
    ///
    /// `list` returns for each direction the components that take part, as indices along `axis`,
    /// which has no ghost cells. A direction has −1, 0 or 1 per axis and names the side of the
    /// chunk *with the ghost cells that take part*: `[1, 0, 0, 0]` means the ghost cells past the
    /// end of axis 0. A lattice Boltzmann step lists there the components that stream towards −x.
    /// The lists may change between calls, for example with the parity of an in-place step.
    pub fn components(self, axis: usize, list: impl Fn(&[i8]) -> Vec<usize>) -> Self {
        self.change_ghosts("components", |ghosts| {
            ghosts.spec.components = Some(Components::new(axis, ghosts.array.chunks().axes(), list)?);
            Ok(())
        })
    }

    /// Reverses the preceding ghost update: the values of ghost cells replace the cells of their
    /// owners.
    pub fn reverse(self) -> Self {
        self.change_ghosts("reverse", |ghosts| {
            ghosts.spec.reverse = true;
            ghosts.merge_rule = MergeRule::Replace;
            Ok(())
        })
    }

    /// Reverses the preceding ghost update: the values of ghost cells are combined with the cells
    /// of their owners, in a fixed order.
    pub fn reverse_with(self, operator: Operator) -> Self {
        self.change_ghosts("reverse_with", |ghosts| {
            operator.check(ghosts.array.element())?;
            ghosts.spec.reverse = true;
            ghosts.merge_rule = MergeRule::Combine(operator);
            Ok(())
        })
    }

    /// Entries of the exchange.
    ///
    /// # Errors
    /// The first invalid entry.
    pub(super) fn entries(&self) -> Result<&[Entry]> {
        self.first_error.clone().map_or(Ok(&self.entries), |mistake| Err(mistake.into()))
    }

    fn pairs<T: Element, const D: usize>(
        mut self,
        pairs: impl IntoIterator<Item = (impl IntoGlobalSection<T, D>, impl IntoGlobalSection<T, D>)>,
        merge_rule: &MergeRule,
    ) -> Self {
        self.last = Some((EntryKind::Pairs, self.entries.len()));
        for (source, destination) in pairs {
            match SectionPair::new(&source.into(), &destination.into(), merge_rule) {
                Ok(pair) => self.entries.push(Entry::Pair(pair)),
                Err(mistake) => return self.with_mistake(mistake.into_kind()),
            }
        }
        self
    }

    fn change_ghosts(mut self, method: &str, change: impl FnOnce(&mut GhostUpdate) -> Result<()>) -> Self {
        match (self.last, self.entries.last_mut()) {
            (Some((EntryKind::Ghosts, _)), Some(Entry::Ghosts(ghosts))) => match change(ghosts) {
                Ok(()) => self,
                Err(mistake) => self.with_mistake(mistake.into_kind()),
            },
            _ => self.misplaced_modifier(method, "a ghost update"),
        }
    }

    fn misplaced_modifier(self, method: &str, subject: &str) -> Self {
        self.with_mistake(ArrayError::Other(format!("{method} must directly follow {subject}")))
    }

    fn with_mistake(mut self, mistake: impl Into<ErrorKind>) -> Self {
        self.first_error = self.first_error.or_else(|| Some(mistake.into()));
        self
    }
}

impl SectionPair {
    fn new<T: Element, const D: usize>(
        source: &GlobalSection<T, D>,
        destination: &GlobalSection<T, D>,
        merge_rule: &MergeRule,
    ) -> Result<Self> {
        let bound = |section: &GlobalSection<T, D>| {
            Ok::<_, Error>(BoundSection { array: section.core.clone(), region: section.region()? })
        };
        Ok(Self {
            source: bound(source)?,
            destination: bound(destination)?,
            order: None,
            merge_rule: merge_rule.clone(),
        })
    }
}
