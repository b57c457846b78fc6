//! Deliveries as the program calls them.

use std::rc::Rc;

use super::collective::Landed;
use super::columns::Column;
use super::departing::IntoDestinations;
use super::landing::Destined;
use crate::array::IntoSequence;
use crate::array::{ArrayCore, Growable};
use crate::element::Element;
use crate::error::{CallSite, Result};
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
    fn new(landed: Landed, elements: impl FnOnce(&[Rc<ArrayCore>]) -> E) -> Self {
        let Landed { arrays, counts, moved, .. } = landed;
        Self { elements: elements(&arrays), counts, moved }
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
    /// Brings every element to the rank that it names. Collective; on return this rank's part is done.
    ///
    /// `elements` are this rank's own, as many as it has: a section, or several (a slice or a vector of them) that are read
    /// one after the other. `to` has the rank of each, in sections of `u32` that may be cut otherwise; or it says how many
    /// there are for each rank where they lie one behind the other ([`Destinations::Runs`](crate::world::Destinations::Runs)). What arrives is a new array of
    /// this rank, called `name`: by the rank that it comes from, and what comes from one rank in its order there.
    ///
    /// Costs two small messages for each rank that this one has something for, so that it knows how much, O(log ranks) so
    /// that all know of no mistake, and the elements: read twice by the host where each names its rank, and sent in messages
    /// of at most a quarter of `ZIPPY_MESSAGE` (64 MiB). A rank's elements for itself are in no message; in runs they do not
    /// leave its device.
    ///
    /// Memory: on the device what arrives, once, and staging memory that does not grow with it. On the host, whatever the
    /// number of elements, what has been sent and not yet taken, at most `ZIPPY_MESSAGE`, half as much for what is read
    /// next, and a few bytes for each rank of the world. MPI also holds what it has fetched ahead, at most 64 MiB.
    ///
    /// # Errors
    /// A rank that there is not, another number of destinations than elements, a bad region, or more elements than this rank
    /// has memory for or than fit one buffer: all ranks know before anything moves and have an error, this rank its own and
    /// the others [`ErrorKind::Remote`](crate::error::ErrorKind::Remote); the world goes on. Names and types that differ between ranks, and
    /// failures of this or of another rank, end the run.
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
    /// let expected = if world.rank() == 0 { &[11, 14, 111, 114][..] } else { &[10, 12, 13, 110, 112, 113] };
    /// assert_eq!(sorted.elements.all().read()?, expected);
    /// assert_eq!(sorted.counts(), if world.rank() == 0 { [(0, 2), (1, 2)] } else { [(0, 3), (1, 3)] });
    ///
    /// // The first two to rank 1, all others to rank 0.
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
        let landed = self.deliver_columns(&columns, cells, &to.into(), Destined::Arrays)?;
        Ok(Delivered::new(landed, |arrays| Growable::full(arrays[0].clone())))
    }

    /// [`deliver`](Self::deliver) of elements that are kept in two arrays, such as keys and values: the two cells of a place
    /// go to the same rank and have the same place there.
    ///
    /// # Errors
    /// As [`deliver`](Self::deliver).
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
        let landed = self.deliver_columns(&columns, cells, &to.into(), Destined::Arrays)?;
        Ok(Delivered::new(landed, |arrays| (Growable::full(arrays[0].clone()), Growable::full(arrays[1].clone()))))
    }
}
