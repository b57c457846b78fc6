//! `World::get`, `put`, `accumulate` and `fence`.

use super::epoch::OneSidedAction;
use super::fetched::{Fetched, Ticket};
use crate::array::{ChunkRef, GlobalSection, Growable, IntoGlobalSection, IntoLocalSection, LocalArray, LocalSection};
use crate::device::Operator;
use crate::element::Element;
use crate::error::{ArrayError, CallSite, PlanError, Result};
use crate::world::{World, hash};

/// Source of a put or accumulate: host values, axis 0 fastest, or a section on the device of this
/// rank.
pub enum PutSource<'a, T, const D: usize> {
    /// Host values.
    Host(&'a [T]),
    /// A section of a local array or of a chunk.
    Device(LocalSection<T, D>),
}

/// Types that put and accumulate accept as a [`PutSource`]: host values, and sections, arrays and
/// chunks of this rank.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be put",
    label = "neither host values nor cells of this rank",
    note = "pass host values as a slice (`&[1.0]`, `&values`), or cells of this rank: `local.at(..)`, `&local`, `&chunk`"
)]
pub trait IntoPutSource<'a, T: 'a, const D: usize>: Into<PutSource<'a, T, D>> {}

macro_rules! sources {
    ($([$($generics:tt)*] $type:ty, $axes:tt: $source:ident => $put:expr;)*) => {$(
        impl<'a, T: Element, $($generics)*> IntoPutSource<'a, T, $axes> for $type {}

        impl<'a, T: Element, $($generics)*> From<$type> for PutSource<'a, T, $axes> {
            fn from($source: $type) -> Self {
                $put
            }
        }
    )*};
}
sources! {
    [const D: usize] &'a [T], D: values => Self::Host(values);
    [const D: usize] &'a Vec<T>, D: values => Self::Host(values);
    [const N: usize, const D: usize] &'a [T; N], D: values => Self::Host(values);
    [const D: usize] LocalSection<T, D>, D: section => Self::Device(section);
    [const D: usize] &LocalSection<T, D>, D: section => Self::Device(section.clone());
    [const D: usize] &LocalArray<T, D>, D: array => Self::Device(array.all());
    [const D: usize] &ChunkRef<T, D>, D: chunk => Self::Device(chunk.all());
    [] &Growable<T>, 1: array => Self::Device(array.all());
}

impl<'a, T: Element, const D: usize> IntoPutSource<'a, T, D> for PutSource<'a, T, D> {}

impl World {
    /// Requests the cells of a section. The data is available after the next
    /// [`fence`](Self::fence). One-sided: any rank may request any section, without a call on other
    /// ranks. Costs nothing before the fence.
    ///
    /// # Errors
    /// An invalid region.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let counts = world.array::<i32, 1>("counts", &Layout::new([10]).split([Split::Even(2)]))?;
    /// world.accumulate(&[1, 1], counts.at(4..6), Operator::Add)?;
    /// let ticket = world.get(counts.at(3..7))?;
    /// let seen = world.fence()?.redeem(ticket)?;
    /// let so_far = world.rank() as i32 + 1; // operations run in (rank, sequence) order
    /// assert_eq!(seen, [0, so_far, so_far, 0]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn get<T: Element, const D: usize>(&self, section: impl IntoGlobalSection<T, D>) -> Result<Ticket<T>> {
        let _call = CallSite::enter();
        let section = section.into();
        let number = self.epoch.next_ticket();
        let store = move |data: Vec<u8>, fetched: &mut Fetched| {
            fetched.store(number, data);
            Ok(())
        };
        let region = section.region()?;
        self.epoch.queue(&section.core, region, OneSidedAction::Get(Box::new(store)));
        Ok(Ticket::new(number, section.core.label(&region)))
    }

    /// Requests the cells of a section and writes them to a section on the device of this rank at
    /// the next [`fence`](Self::fence). One-sided.
    ///
    /// # Errors
    /// An invalid region, or different extents.
    #[track_caller]
    pub fn get_into<T: Element, const D: usize>(
        &self,
        section: impl IntoGlobalSection<T, D>,
        destination: impl IntoLocalSection<T, D>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let section = section.into();
        let action = get_action(&section, destination.into())?;
        self.epoch.queue(&section.core, section.region()?, action);
        Ok(())
    }

    /// Replaces the cells of a section at the next [`fence`](Self::fence). One-sided: any rank may
    /// write any section. The source is read in this call and may change afterwards.
    ///
    /// # Errors
    /// An invalid region; a number of values that differs from the number of cells; a device
    /// failure.
    #[track_caller]
    pub fn put<'a, T: Element, const D: usize>(
        &self,
        source: impl IntoPutSource<'a, T, D>,
        section: impl IntoGlobalSection<T, D>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let section = section.into();
        let data = read_source(source.into(), &section)?;
        self.epoch.queue(&section.core, section.region()?, OneSidedAction::Put(data));
        Ok(())
    }

    /// Combines values with the cells of a section at the next [`fence`](Self::fence):
    /// `cell = operator(value, cell)`. One-sided. The source is read in this call and may change
    /// afterwards.
    ///
    /// # Errors
    /// An invalid region; a number of values that differs from the number of cells; an operator
    /// that the element type does not support; a device failure.
    #[track_caller]
    pub fn accumulate<'a, T: Element, const D: usize>(
        &self,
        source: impl IntoPutSource<'a, T, D>,
        section: impl IntoGlobalSection<T, D>,
        operator: Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let section = section.into();
        operator.check(&T::INFO)?;
        let data = read_source(source.into(), &section)?;
        self.epoch.queue(&section.core, section.region()?, OneSidedAction::Accumulate(data, operator));
        Ok(())
    }

    /// Runs the one-sided operations that all ranks queued since the last fence, in (rank,
    /// sequence) order, and returns the requested data. Collective.
    ///
    /// Costs one message to each owner that this rank has requests for, one reply to each rank that
    /// requested data from this one, and O(log ranks) messages that detect the end of all requests.
    ///
    /// # Errors
    /// A failure of this or another rank.
    #[track_caller]
    pub fn fence(&self) -> Result<Fetched> {
        let _call = CallSite::enter();
        let queued = self.epoch.take();
        // Requests refer to arrays by id, so ids must be the same on every rank.
        let arrays = self.registry.borrow().handle_count();
        self.collective(format!("fence() with {arrays} array handles made"), hash(("fence", arrays)), || {
            self.run_epoch(queued)
        })
    }
}

/// Creates a get that writes its data to a section of this rank.
pub(super) fn get_action<T: Element, const D: usize>(
    section: &GlobalSection<T, D>,
    destination: LocalSection<T, D>,
) -> Result<OneSidedAction> {
    let (from, to) = (section.region()?, destination.one_box("get")?);
    if from.extents() != to.extents() {
        return Err(
            PlanError::extents(section.core.label(&from), from.extents(), destination.label(), to.extents()).into()
        );
    }
    Ok(OneSidedAction::Get(Box::new(move |data, _| destination.write(&bytemuck::pod_collect_to_vec::<u8, T>(&data)))))
}

/// Reads the values of a source as bytes.
pub(super) fn read_source<T: Element, const D: usize>(
    source: PutSource<'_, T, D>,
    section: &GlobalSection<T, D>,
) -> Result<Vec<u8>> {
    let region = section.region()?;
    match source {
        PutSource::Host(values) if values.len() as u64 == region.cells() => {
            Ok(bytemuck::cast_slice::<T, u8>(values).to_vec())
        }
        PutSource::Host(values) => Err(ArrayError::Length {
            what: "the slice to put".to_string(),
            given: values.len(),
            section: section.core.label(&region),
            expected: region.cells(),
        }
        .into()),
        PutSource::Device(from) => {
            let source = from.one_box("put")?;
            if source.extents() != region.extents() {
                return Err(PlanError::extents(
                    from.label(),
                    source.extents(),
                    section.core.label(&region),
                    region.extents(),
                )
                .into());
            }
            Ok(bytemuck::cast_slice::<T, u8>(&from.read()?).to_vec())
        }
    }
}
