//! `World::deliver` and `World::deliver_pairs`.

use std::rc::Rc;

use super::column::Column;
use super::incoming_cells::{DeliveredCells, DeliveryTarget};
use super::outgoing_cells::IntoDestinations;
use crate::array::IntoSequence;
use crate::array::{ArrayCore, Growable};
use crate::element::Element;
use crate::error::{CallSite, Result};
use crate::plan::Moved;
use crate::world::World;

/// Elements that a delivery has brought to this rank.
#[derive(Debug)]
pub struct Delivered<E> {
    /// Elements, sorted by sending rank. Elements from the same rank keep their order.
    pub elements: E,
    counts: Vec<(usize, u64)>,
    moved: Moved,
}

impl<E> Delivered<E> {
    fn new(delivered: DeliveredCells, elements: impl FnOnce(&[Rc<ArrayCore>]) -> E) -> Self {
        let DeliveredCells { arrays, counts, moved, .. } = delivered;
        Self { elements: elements(&arrays), counts, moved }
    }

    /// Ranks that have sent elements, in ascending order, each with its number of elements.
    pub fn counts(&self) -> &[(usize, u64)] {
        &self.counts
    }

    /// Bytes and messages that this rank sent.
    pub fn moved(&self) -> Moved {
        self.moved
    }
}

impl World {
    /// Sends every element to its destination rank. Collective; on return, the part of this rank is
    /// complete.
    ///
    /// * `elements`: the elements of this rank, in any number: a section, or several sections (a
    ///   slice or a vector) that are read in order.
    /// * `to`: the destination rank of each element, in sections of `u32` with arbitrary cuts; or
    ///   run lengths, if elements with the same destination are adjacent
    ///   ([`Destinations::Runs`](crate::world::Destinations::Runs)).
    /// * `name`: the name of the result, a new array of this rank. The result is sorted by sending
    ///   rank, and elements from the same rank keep their order.
    ///
    /// Cost:
    ///
    /// * two small messages to announce the number of elements to each destination rank;
    /// * O(log ranks) messages in which the ranks agree that no rank found an error;
    /// * the elements. With a rank per element, the host reads them twice. Messages have at most a
    ///   quarter of `ZIPPY_MESSAGE` (64 MiB). Elements that stay on this rank are in no message;
    ///   given as runs, they do not leave the device.
    ///
    /// Memory, independent of the number of elements except for the result:
    ///
    /// * on the device, the result and bounded staging memory;
    /// * on the host, at most `ZIPPY_MESSAGE` for data that has been sent and not yet received,
    ///   half of it for the data to be read next, and a few bytes for each rank of the world. MPI
    ///   may hold another 64 MiB of data that it received early.
    ///
    /// # Errors
    /// * A rank that does not exist; different numbers of destinations and elements; an invalid
    ///   region; more elements than the memory of this rank or a buffer holds. All ranks find out
    ///   before any element moves and return an error: this rank its own error, the others
    ///   [`ErrorKind::Remote`](crate::error::ErrorKind::Remote). The world stays usable.
    /// * Names or types that differ between ranks, and failures of this or another rank, end the
    ///   run.
    ///
    /// ```
    /// # use zippy::World;
    /// # use zippy::world::Destinations;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let mut numbers = world.growable::<u32>("numbers")?;
    /// numbers.append(&[10, 11, 12, 13, 14].map(|n| n + 100 * world.rank() as u32))?;
    /// let mut ranks = world.growable::<u32>("ranks")?;
    /// ranks.append(&[1, 0, 1, 1, 0])?;
    /// let sorted = world.deliver("sorted", numbers.all(), ranks.all())?;
    /// let expected: [&[u32]; 2] = [&[11, 14, 111, 114], &[10, 12, 13, 110, 112, 113]];
    /// assert_eq!(sorted.elements.all().read()?, expected[world.rank()]);
    /// let counts = [[(0, 2), (1, 2)], [(0, 3), (1, 3)]];
    /// assert_eq!(sorted.counts(), counts[world.rank()]);
    ///
    /// // The first two elements go to rank 1, the others to rank 0.
    /// let cut = world.deliver("cut", numbers.all(), Destinations::Runs(vec![(1, 2), (0, 3)]))?;
    /// assert_eq!(cut.elements.len(), if world.rank() == 0 { 6 } else { 4 });
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn deliver<T: Element>(
        &self,
        name: &str,
        elements: impl IntoSequence<T>,
        to: impl IntoDestinations,
    ) -> Result<Delivered<Growable<T>>> {
        let _call = CallSite::enter();
        let columns = [Column { name, element: &T::INFO }];
        let cells = elements.into().cells().map(|cells| vec![cells.clone()]);
        let delivered = self.run_delivery(&columns, cells, &to.into(), DeliveryTarget::Arrays)?;
        Ok(Delivered::new(delivered, |arrays| Growable::full(arrays[0].clone())))
    }

    /// Delivers elements that consist of two arrays, such as keys and values, like
    /// [`deliver`](Self::deliver). The two cells of an index go to the same rank and have the same
    /// index there.
    ///
    /// # Errors
    /// As for [`deliver`](Self::deliver).
    #[track_caller]
    pub fn deliver_pairs<A: Element, B: Element>(
        &self,
        names: [&str; 2],
        (first, second): (impl IntoSequence<A>, impl IntoSequence<B>),
        to: impl IntoDestinations,
    ) -> Result<Delivered<(Growable<A>, Growable<B>)>> {
        let _call = CallSite::enter();
        let columns = [Column { name: names[0], element: &A::INFO }, Column { name: names[1], element: &B::INFO }];
        let (first, second) = (first.into(), second.into());
        let cells = first.cells().and_then(|first| Ok(vec![first.clone(), second.cells()?.clone()]));
        let delivered = self.run_delivery(&columns, cells, &to.into(), DeliveryTarget::Arrays)?;
        Ok(Delivered::new(delivered, |arrays| (Growable::full(arrays[0].clone()), Growable::full(arrays[1].clone()))))
    }
}
