//! [`CollectiveWorld`]: methods for crates that add collective operations. See
//! [`zippy::collective`](crate::collective).

use std::fmt::Display;
use std::rc::Rc;

use super::deliver::{Column, DeliveredCells, DeliveryTarget, Destinations};
use super::{Collective, World};
use crate::array::CellSequence;
use crate::element::ElementInfo;
use crate::error::{CallSite, Error, ErrorKind, Result};
use crate::history::{OperationName, OperationScope};
use crate::kernel::{Kernel, KernelSource};
use crate::transport::{Group, copied, decoded, encoded};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::World {}
}

/// Methods of a [`World`] for crates that add collective operations. No other type implements it.
pub trait CollectiveWorld: sealed::Sealed {
    /// Runs `f` as a collective. Collective: every rank passes an equal `call`.
    ///
    /// The call names the operation in errors, in slow waits and in the history of chunks. Its
    /// signature travels with the next messages, and ranks with different calls fail. If `f` fails,
    /// the run ends: the other ranks receive the error. A mistake that every rank finds in the same
    /// way is no such failure, and belongs into the value of `f`.
    ///
    /// Inside `f`, [`inner_group`](Self::inner_group) sends messages without another comparison of
    /// calls. Collectives of the world, such as [`copy`](World::copy), follow after `f` and not in
    /// `f`.
    ///
    /// # Errors
    /// The error of `f`; a failure of any rank; calls that differ between ranks.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// use zippy::collective::{Collective, CollectiveWorld};
    ///
    /// /// The largest cell of any rank.
    /// fn largest(world: &World, array: &zippy::GlobalArray<u32, 1>) -> zippy::Result<u32> {
    ///     let call = Collective::new("largest").section(array.core(), array.at(..).region()?);
    ///     world.run_collective(call, || {
    ///         let mut largest = [array.local()?.all().read()?.into_iter().max().unwrap_or(0)];
    ///         world.inner_group().all_reduce(&mut largest, |most, other| *most = (*most).max(*other))?;
    ///         Ok(largest[0])
    ///     })
    /// }
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let array = world.array::<u32, 1>("array", &Layout::new([8]).split([Split::Even(2)]))?;
    /// array.fill_with(|[i]| i as u32)?;
    /// assert_eq!(largest(world, &array)?, 7);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    fn run_collective<R>(&self, call: Collective, f: impl FnOnce() -> Result<R>) -> Result<R>;

    /// Runs a local step between the collectives of an operation, and sends its error to the other
    /// ranks. `operation` names the step in errors and in slow waits. Local.
    ///
    /// # Errors
    /// The error of `f`.
    #[track_caller]
    fn failing<R>(&self, operation: impl Display + 'static, f: impl FnOnce() -> Result<R>) -> Result<R>;

    /// Agrees like [`World::agree`], inside of a collective
    /// ([`run_collective`](Self::run_collective)). The inner result is the decision, with the same
    /// variant on every rank. Collective.
    ///
    /// # Errors
    /// A failure of any rank, which ends the run.
    #[track_caller]
    fn agree_within<R>(&self, operation: &str, result: Result<R>) -> Result<Result<R>>;

    /// Attributes reads and writes of chunks to an operation with this name, at the call site of
    /// the caller, until the result drops. Local; operations inside another operation have no
    /// effect.
    #[track_caller]
    fn enter_operation(&self, name: &'static str) -> OperationScope<'_>;

    /// Communicator for messages inside of a collective ([`run_collective`](Self::run_collective),
    /// [`failing`](Self::failing)): the same ranks as [`World::group`], without a comparison of
    /// calls.
    fn inner_group(&self) -> &Group;

    /// Creates the kernel of a composed text: compiled on the first call, and cached by text.
    /// Local.
    ///
    /// # Errors
    /// A WGSL syntax error, with line and column.
    #[track_caller]
    fn cached_kernel(&self, source: &KernelSource) -> Result<Kernel>;

    /// Allocates memory of this rank for a number of cells: one buffer, or several, cut at
    /// multiples of 2,048 cells, if one is too small. The memory is free when the last handle
    /// drops. Local.
    ///
    /// # Errors
    /// The device has too little memory or does not support the element type.
    #[track_caller]
    fn scratch_cells(&self, name: &str, element: &'static ElementInfo, cells: u64) -> Result<CellSequence>;

    /// Sends the cells of columns to destination ranks, like [`World::deliver`] without element
    /// types. Collective.
    ///
    /// Columns are the same on every rank. `cells` has the sequence of each column on this rank,
    /// all of one length, or an error of this rank, which becomes that of the delivery. `target` is
    /// the destination of the cells that arrive here. Cost and memory are those of a delivery.
    ///
    /// # Errors
    /// As for [`World::deliver`].
    #[track_caller]
    fn deliver_columns(
        &self,
        columns: &[Column<'_>],
        cells: Result<Vec<CellSequence>>,
        to: &Destinations,
        target: DeliveryTarget<'_>,
    ) -> Result<DeliveredCells>;
}

impl CollectiveWorld for World {
    #[track_caller]
    fn run_collective<R>(&self, call: Collective, f: impl FnOnce() -> Result<R>) -> Result<R> {
        let _call = CallSite::enter();
        let signature = call.signature();
        self.collective(call, signature, f)
    }

    #[track_caller]
    fn failing<R>(&self, operation: impl Display + 'static, f: impl FnOnce() -> Result<R>) -> Result<R> {
        let _call = CallSite::enter();
        let _entered = self.group.entering_shared(Rc::new(operation));
        f().map_err(|error| self.group.fail(error))
    }

    #[track_caller]
    fn agree_within<R>(&self, operation: &str, result: Result<R>) -> Result<Result<R>> {
        let _call = CallSite::enter();
        // Empty bytes mean success.
        let failure = match &result {
            Ok(_) => copied::<u8>(&[]),
            Err(error) => encoded(&(error.kind().to_string(), error.call_site()))?,
        };
        // Without errors, only a flag travels.
        let mut failed = [u64::from(result.is_err())];
        self.inner.all_reduce(&mut failed, |sum, count| *sum += count)?;
        let failures = if failed == [0] { Vec::new() } else { self.inner.all_gather_v(failure)? };
        let value = match result {
            Err(error) => return Ok(Err(error)),
            Ok(value) => value,
        };
        let mut failed = failures.iter().enumerate().filter(|(_, failure)| !(***failure).as_ref().is_empty());
        let Some((rank, failure)) = failed.next() else { return Ok(Ok(value)) };
        let (message, call_site) = decoded(failure)?;
        let kind = ErrorKind::Remote { rank, operation: operation.to_string(), message };
        Ok(Err(Error::new(kind, call_site)))
    }

    #[track_caller]
    fn enter_operation(&self, name: &'static str) -> OperationScope<'_> {
        let at = CallSite::here();
        self.ledger.begin_operation(|| OperationName::Local(name), at)
    }

    fn inner_group(&self) -> &Group {
        &self.inner
    }

    #[track_caller]
    fn cached_kernel(&self, source: &KernelSource) -> Result<Kernel> {
        let _call = CallSite::enter();
        let text = source.as_text().to_string();
        self.composed_kernels.borrow_mut().get_or_build(text, || Kernel::new(&self.device, source))
    }

    #[track_caller]
    fn scratch_cells(&self, name: &str, element: &'static ElementInfo, cells: u64) -> Result<CellSequence> {
        let _call = CallSite::enter();
        CellSequence::scratch(&self.array_context(), name, element, cells)
    }

    #[track_caller]
    fn deliver_columns(
        &self,
        columns: &[Column<'_>],
        cells: Result<Vec<CellSequence>>,
        to: &Destinations,
        target: DeliveryTarget<'_>,
    ) -> Result<DeliveredCells> {
        let _call = CallSite::enter();
        self.run_delivery(columns, cells, to, target)
    }
}
