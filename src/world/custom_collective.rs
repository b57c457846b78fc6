//! Parts of collectives for crates that add operations: see
//! [`zippy::collective`](crate::collective).

use super::{Collective, World};
use crate::array::CellSequence;
use crate::element::ElementInfo;
use crate::error::{CallSite, Result};
use crate::history::{OperationName, OperationScope};
use crate::kernel::{Kernel, KernelSource};
use crate::transport::Group;

impl World {
    /// Runs `f` as a collective. Collective: every rank passes an equal `call`.
    ///
    /// The call names the operation in errors, in slow waits and in the history of chunks. Its
    /// signature travels with the next messages, and ranks with different calls fail. If `f` fails,
    /// the run ends: the other ranks receive the error. A mistake that every rank finds in the same
    /// way is no such failure, and belongs into the value of `f`.
    ///
    /// Inside `f`, [`inner_group`](Self::inner_group) sends messages without another comparison of
    /// calls. Collectives of the world, such as [`copy`](Self::copy), follow after `f` and not in
    /// `f`.
    ///
    /// # Errors
    /// The error of `f`; a failure of any rank; calls that differ between ranks.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// use zippy::collective::Collective;
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
    pub fn run_collective<R>(&self, call: Collective, f: impl FnOnce() -> Result<R>) -> Result<R> {
        let _call = CallSite::enter();
        let signature = call.signature();
        self.collective(call, signature, f)
    }

    /// Attributes reads and writes of chunks to an operation with this name, at the call site of
    /// the caller, until the result drops. Local; operations inside another operation have no
    /// effect.
    #[track_caller]
    pub fn enter_operation(&self, name: &'static str) -> OperationScope<'_> {
        let at = CallSite::here();
        self.ledger.begin_operation(|| OperationName::Local(name), at)
    }

    /// The communicator for messages inside of a collective
    /// ([`run_collective`](Self::run_collective), [`failing`](Self::failing)): the same ranks as
    /// [`group`](Self::group), without a comparison of calls.
    pub fn inner_group(&self) -> &Group {
        &self.inner
    }

    /// The kernel of a composed text: compiled on the first call, and cached by text. Local.
    ///
    /// # Errors
    /// A WGSL syntax error, with line and column.
    #[track_caller]
    pub fn cached_kernel(&self, source: &KernelSource) -> Result<Kernel> {
        let _call = CallSite::enter();
        let text = source.as_text().to_string();
        self.composed.borrow_mut().get_or_build(text, || Kernel::new(&self.device, source))
    }

    /// Allocates memory of this rank for a number of cells: one buffer, or several, cut at
    /// multiples of 2,048 cells, if one is too small. The memory is free when the last handle
    /// drops. Local.
    ///
    /// # Errors
    /// The device has too little memory or does not support the element type.
    #[track_caller]
    pub fn scratch_cells(&self, name: &str, element: &'static ElementInfo, cells: u64) -> Result<CellSequence> {
        let _call = CallSite::enter();
        CellSequence::scratch(&self.home(), name, element, cells)
    }
}
