//! Deliveries as the program calls them.

use super::collective::Arrived;
use super::outgoing::Destinations;
use super::sequence::{Column, Sequence};
use crate::array::Growable;
use crate::element::Element;
use crate::error::Result;
use crate::plan::Moved;
use crate::world::World;

/// What a delivery has brought to this rank.
#[derive(Debug)]
pub struct Delivered<E> {
    /// The elements: in the order of the ranks that they came from, those of one rank in its order.
    pub elements: E,
    counts: Vec<(usize, u64)>,
    moved: Moved,
}

impl<E> Delivered<E> {
    fn new(arrived: Arrived, elements: impl FnOnce(Vec<std::rc::Rc<crate::array::ArrayCore>>) -> E) -> Self {
        let Arrived { arrays, counts, moved } = arrived;
        Self { elements: elements(arrays), counts, moved }
    }

    /// The ranks that elements came from, rising, each with how many.
    pub fn counts(&self) -> &[(usize, u64)] {
        &self.counts
    }

    /// What this rank has sent.
    pub fn moved(&self) -> Moved {
        self.moved
    }
}

impl World {
    /// Brings every element to the rank that it names. The elements are this rank's own, as many as it likes, in one section
    /// or in several that are read one after the other; `to` has the rank of each (sections of `u32`, cut as they may be), or
    /// says how many lie there for each rank, one behind the other ([`Destinations::Runs`]). What arrives is a new
    /// [`Growable`] of this rank, called `name`: by source rank, and the elements of one rank in its order. Collective; on
    /// return this rank's part is done.
    ///
    /// Costs one message between each pair of ranks that have something for each other to say how much it is, then the
    /// elements, in messages of at most a quarter of `ZIPPY_MESSAGE` (64 MiB), and O(log ranks) for all to know that nobody
    /// has made a mistake. Elements of a rank for itself are in no message. The device allocates what arrives, and staging
    /// memory that does not grow with it. The host of a rank holds about one and a half `ZIPPY_MESSAGE` at the most, of
    /// elements that it has sent and others have not taken yet, or is about to send, and 8 bytes for each rank of the world.
    ///
    /// # Errors
    /// A rank that there is not, or another number of ranks than elements; a bad region; more elements than this rank has
    /// memory for, or than fit one buffer. They are found before any element moves, return this rank's error there and
    /// [`Error::Remote`](crate::Error::Remote) on all others, and leave the world as it was. Names and types that differ
    /// between ranks, and failures, end the run.
    ///
    /// ```
    /// # use zippy::{Layout, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let mut numbers = world.growable::<u64>("numbers")?;
    /// numbers.append(&[10, 11, 12, 13, 14].map(|n| n + 100 * world.rank() as u64))?;
    /// let mut ranks = world.growable::<u32>("ranks")?;
    /// ranks.append(&[1, 0, 1, 1, 0])?;
    /// let sorted = world.deliver("sorted", numbers.all(), ranks.all())?;
    /// let expected = if world.rank() == 0 { &[11, 14, 111, 114][..] } else { &[10, 12, 13, 110, 112, 113] };
    /// assert_eq!(sorted.elements.all().read()?, expected);
    /// assert_eq!(sorted.counts(), if world.rank() == 0 { [(0, 2), (1, 2)] } else { [(0, 3), (1, 3)] });
    ///
    /// // The first two to rank 1, all others to rank 0.
    /// let runs = zippy::world::Destinations::Runs(vec![(1, 2), (0, 3)]);
    /// let cut = world.deliver("cut", numbers.all(), runs)?;
    /// assert_eq!(cut.elements.len(), if world.rank() == 0 { 6 } else { 4 });
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    pub fn deliver<T: Element>(
        &self,
        name: &str,
        elements: impl Into<Sequence<T>>,
        to: impl Into<Destinations>,
    ) -> Result<Delivered<Growable<T>>> {
        let columns = [Column { name, element: &T::INFO }];
        let cells = elements.into().cells().map(|cells| vec![cells]);
        let arrived = self.deliver_columns(&columns, cells, &to.into())?;
        Ok(Delivered::new(arrived, |arrays| Growable::full(arrays[0].clone())))
    }

    /// [`deliver`](Self::deliver) of elements that are kept in two arrays, such as keys and values: the two cells of a place
    /// go to the same rank and have the same place there.
    ///
    /// # Errors
    /// As [`deliver`](Self::deliver).
    pub fn deliver_pairs<A: Element, B: Element>(
        &self,
        names: [&str; 2],
        (first, second): (impl Into<Sequence<A>>, impl Into<Sequence<B>>),
        to: impl Into<Destinations>,
    ) -> Result<Delivered<(Growable<A>, Growable<B>)>> {
        let columns = [Column { name: names[0], element: &A::INFO }, Column { name: names[1], element: &B::INFO }];
        let (first, second) = (first.into(), second.into());
        let cells = || Ok(vec![first.cells()?, second.cells()?]);
        let arrived = self.deliver_columns(&columns, cells(), &to.into())?;
        Ok(Delivered::new(arrived, |arrays| (Growable::full(arrays[0].clone()), Growable::full(arrays[1].clone()))))
    }
}
