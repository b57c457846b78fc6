//! [`Exchange`]: what moves, as a value.

use std::rc::Rc;

use super::Operator;
use super::meeting::Meeting;
use crate::array::{ArrayCore, GlobalArray, GlobalSection, IntoGlobalSection};
use crate::element::Element;
use crate::error::{ArrayError, Error, ErrorKind, Result};
use crate::plan::{Components, GhostSpec, Neighbours};
use crate::region::Region;

/// What moves between arrays in one operation: copies, composites and ghost updates, in any number and of any element
/// types. [`World::exchange`](super::World::exchange) does it, [`World::start`](super::World::start) starts it, and
/// [`World::plan`](super::World::plan) shows what it will do.
///
/// Every source is read before anything is written. Then the entries take effect as if one after the other, in the order
/// in which they were named, so that several may fall on the same cells. A mistake in an entry is kept, and reported by the verb that uses
/// the exchange.
///
/// Copies and composites that follow one another with the same operator share their messages, and so do ghost updates
/// that treat what arrives alike (replacing, or one operator): one message between each pair of ranks that exchange
/// cells. What has [permuted](Self::permuted) axes, and each [prefix](Self::prefix), has its own.
///
/// ```
/// # use zippy::{Exchange, Layout, Operator, Split, World};
/// # fn program(world: &World) -> zippy::Result<()> {
/// let layout = Layout::new([6]).split([Split::Even(2)]).ghost([1]).periodic([true]);
/// let (ring, sums) = (world.array::<i32, 1>("ring", &layout)?, world.array::<i32, 1>("sums", &layout)?);
/// ring.fill_with(|[x]| x as i32)?;
/// // Ghosts of one array, and onto the cells of the other what a shift of the first one brings.
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
    /// What the last method named, and the first entry of it.
    last: Option<(Subject, usize)>,
    /// The first mistake in the description.
    mistake: Option<ErrorKind>,
}

/// What methods that say more are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Pairs,
    Ghosts,
    Prefix,
}

/// One thing that moves.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    Pair(SectionPair),
    Prefix(SectionPair, u64),
    Ghosts(Ghosts),
}

/// A section onto another one.
#[derive(Debug, Clone)]
pub(super) struct SectionPair {
    pub source: Bound,
    pub destination: Bound,
    /// The order of the axes, where they are permuted.
    pub order: Option<Vec<usize>>,
    pub meeting: Meeting,
}

/// A region of an array.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub array: Rc<ArrayCore>,
    pub region: Region,
}

/// The ghost cells of an array.
#[derive(Debug, Clone)]
pub(super) struct Ghosts {
    pub array: Rc<ArrayCore>,
    pub spec: GhostSpec,
    pub meeting: Meeting,
}

impl Exchange {
    /// Nothing moves yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A section onto another one of the same extents.
    pub fn copy<T: Element, const D: usize>(
        self,
        source: impl IntoGlobalSection<T, D>,
        destination: impl IntoGlobalSection<T, D>,
    ) -> Self {
        self.copies([(source, destination)])
    }

    /// A section combined with another one of the same extents: `destination = operator(source, destination)`.
    pub fn composite<T: Element, const D: usize>(
        self,
        source: impl IntoGlobalSection<T, D>,
        destination: impl IntoGlobalSection<T, D>,
        operator: Operator,
    ) -> Self {
        self.composites([(source, destination)], &operator)
    }

    /// Many copies, one after the other.
    pub fn copies<T: Element, const D: usize>(
        self,
        pairs: impl IntoIterator<Item = (impl IntoGlobalSection<T, D>, impl IntoGlobalSection<T, D>)>,
    ) -> Self {
        self.pairs(pairs, &Meeting::Replace)
    }

    /// Many composites, one after the other.
    pub fn composites<T: Element, const D: usize>(
        self,
        pairs: impl IntoIterator<Item = (impl IntoGlobalSection<T, D>, impl IntoGlobalSection<T, D>)>,
        operator: &Operator,
    ) -> Self {
        match operator.check(&T::INFO) {
            Ok(()) => self.pairs(pairs, &Meeting::Combine(operator.clone())),
            Err(mistake) => self.but(mistake),
        }
    }

    /// Permutes the axes of the copies or composites that the method before has named: axis *i* of the destination runs along axis `order[i]` of
    /// the source, and has its extent.
    pub fn permuted(mut self, order: impl AsRef<[usize]>) -> Self {
        let Some((Subject::Pairs, first)) = self.last else {
            return self.out_of_place("permuted", "a copy or a composite");
        };
        for entry in &mut self.entries[first..] {
            if let Entry::Pair(pair) = entry {
                pair.order = Some(order.as_ref().to_vec());
            }
        }
        self
    }

    /// The first `length` cells of a section onto the first ones of another. Only the rank that owns the source need know
    /// how many; what the others name as `length` is not looked at. For data that is as long as it turns out to be, in
    /// slots that are as long as it can be: nobody has to be told the lengths beforehand, and only the data travels.
    ///
    /// Each section lies in one chunk and has cells, of 4 bytes or a multiple. Costs a message of its own where the ends
    /// are on two ranks. What this rank sends of prefixes that follow one another is staged at once, however much it is.
    pub fn prefix<T: Element>(
        mut self,
        source: impl IntoGlobalSection<T, 1>,
        destination: impl IntoGlobalSection<T, 1>,
        length: u64,
    ) -> Self {
        if !T::INFO.bytes.is_multiple_of(4) {
            let text = format!("a prefix has cells of whole words, not of {}", T::INFO.name);
            return self.but(ArrayError::Other(text));
        }
        self.last = Some((Subject::Prefix, self.entries.len()));
        match SectionPair::new(&source.into(), &destination.into(), &Meeting::Replace) {
            Ok(pair) => {
                self.entries.push(Entry::Prefix(pair, length));
                self
            }
            Err(mistake) => self.but(mistake.into_kind()),
        }
    }

    /// The ghost cells of an array from their owners: faces, edges and corners, all components. Several arrays may have
    /// other ghost widths, shapes and element types. The methods below say otherwise of the array named last. Of ghost
    /// updates that follow one another, two of one array the same way, be it by two handles, are a mistake.
    pub fn ghosts<T: Element, const D: usize>(mut self, array: &GlobalArray<T, D>) -> Self {
        self.last = Some((Subject::Ghosts, self.entries.len()));
        let (array, spec) = (array.core().clone(), GhostSpec::all());
        self.entries.push(Entry::Ghosts(Ghosts { array, spec, meeting: Meeting::Replace }));
        self
    }

    /// Of the ghost update named last only faces: edge and corner ghost cells keep what they have.
    pub fn faces_only(self) -> Self {
        self.of_ghosts("faces_only", |ghosts| {
            ghosts.spec.neighbours = Neighbours::Faces;
            Ok(())
        })
    }

    /// Of the ghost update named last only some components: those that `list` names for a direction, as positions
    /// along `axis`, which has no ghosts.
    ///
    /// A direction has −1, 0 or 1 an axis and names the side of the chunk *whose ghost cells take part*: `[1, 0, 0, 0]`
    /// are the ghost cells past the end of axis 0, and a lattice Boltzmann step lists there what streams towards −x. Lists
    /// may change from call to call, as with the parity of an in-place step.
    pub fn components(self, axis: usize, list: impl Fn(&[i8]) -> Vec<usize>) -> Self {
        self.of_ghosts("components", |ghosts| {
            ghosts.spec.components = Some(Components::new(axis, ghosts.array.chunks().axes(), list)?);
            Ok(())
        })
    }

    /// The ghost update named last goes the reverse way: what lies in ghost cells replaces the owner's cells.
    pub fn reverse(self) -> Self {
        self.of_ghosts("reverse", |ghosts| {
            ghosts.spec.reverse = true;
            ghosts.meeting = Meeting::Replace;
            Ok(())
        })
    }

    /// The ghost update named last goes the reverse way: what lies in ghost cells is combined with the owner's cells, in a
    /// fixed order.
    pub fn reverse_with(self, operator: Operator) -> Self {
        self.of_ghosts("reverse_with", |ghosts| {
            operator.check(ghosts.array.element())?;
            ghosts.spec.reverse = true;
            ghosts.meeting = Meeting::Combine(operator);
            Ok(())
        })
    }

    /// What moves.
    ///
    /// # Errors
    /// The first mistake in the description.
    pub(super) fn entries(&self) -> Result<&[Entry]> {
        self.mistake.clone().map_or(Ok(&self.entries), |mistake| Err(mistake.into()))
    }

    fn pairs<T: Element, const D: usize>(
        mut self,
        pairs: impl IntoIterator<Item = (impl IntoGlobalSection<T, D>, impl IntoGlobalSection<T, D>)>,
        meeting: &Meeting,
    ) -> Self {
        self.last = Some((Subject::Pairs, self.entries.len()));
        for (source, destination) in pairs {
            match SectionPair::new(&source.into(), &destination.into(), meeting) {
                Ok(pair) => self.entries.push(Entry::Pair(pair)),
                Err(mistake) => return self.but(mistake.into_kind()),
            }
        }
        self
    }

    fn of_ghosts(mut self, method: &str, change: impl FnOnce(&mut Ghosts) -> Result<()>) -> Self {
        match (self.last, self.entries.last_mut()) {
            (Some((Subject::Ghosts, _)), Some(Entry::Ghosts(ghosts))) => match change(ghosts) {
                Ok(()) => self,
                Err(mistake) => self.but(mistake.into_kind()),
            },
            _ => self.out_of_place(method, "a ghost update"),
        }
    }

    fn out_of_place(self, method: &str, what: &str) -> Self {
        self.but(ArrayError::Other(format!("{method} says something of {what}, and there is none right before it")))
    }

    fn but(mut self, mistake: impl Into<ErrorKind>) -> Self {
        self.mistake = self.mistake.or_else(|| Some(mistake.into()));
        self
    }
}

impl SectionPair {
    fn new<T: Element, const D: usize>(
        source: &GlobalSection<T, D>,
        destination: &GlobalSection<T, D>,
        meeting: &Meeting,
    ) -> Result<Self> {
        let bound = |of: &GlobalSection<T, D>| Ok::<_, Error>(Bound { array: of.core.clone(), region: of.region()? });
        Ok(Self { source: bound(source)?, destination: bound(destination)?, order: None, meeting: meeting.clone() })
    }
}
