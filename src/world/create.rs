//! Creation of arrays.

use std::rc::Rc;
use std::sync::Arc;

use super::array_options::{ArrayCells, ArrayOptions};
use super::{ArrayIdentity, Collective, CollectiveWorld, World, hash};
use crate::array::{ArrayContext, ArrayCore, GlobalArray, Growable, LocalArray, check_usages};
use crate::chunks::Chunks;
use crate::element::{Element, ElementInfo};
use crate::error::{ArrayError, CallSite, LayoutError, Result};
use crate::layout::{Layout, Split};
use crate::locate::Placement;
use crate::transport::{copied, values};

impl World {
    /// Creates a global array of zeros (paper: zCreateGlobalArray). `options` are a `&Layout`, or
    /// [`ArrayOptions`] for other owners, lengths by rank, or buffers for drawing. Collective;
    /// sends no messages, except for lengths by rank.
    ///
    /// The ranks get contiguous runs of chunks of balanced length: rank *i* gets chunk *i* if there
    /// are as many chunks as ranks. If the layout leaves the cuts to the library, a chunk fits one
    /// binding of a shader.
    ///
    /// # Errors
    /// * The layout is malformed, or a chunk exceeds the buffer size of the device.
    /// * The name is in use.
    /// * The ranks have too little memory, if it is memory of their machines or limited by
    ///   `ZIPPY_MEMORY_LIMIT`. All ranks return the same error with a shape that fits.
    /// * A device has too little memory or does not support the element type.
    /// * [Options](ArrayOptions) with an ownership of another number of chunks or ranks, or with
    ///   other usages than [`ArrayOptions::with_usages`] lists.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let cuts = [[3, 2, 3].into(), Split::Even(2)];
    /// let layout = Layout::new([8, 6]).split(cuts).ghost([1, 1]).periodic([true, false]);
    /// let field = world.array::<f32, 2>("field", &layout)?;
    /// assert_eq!(field.shape(), [8, 6]);
    /// assert_eq!(field.chunks().count(), 3, "six chunks, three a rank");
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn array<'a, T: Element, const D: usize>(
        &self,
        name: &str,
        options: impl Into<ArrayOptions<'a>>,
    ) -> Result<GlobalArray<T, D>> {
        let _call = CallSite::enter();
        let ArrayOptions { cells, ownership, usages } = options.into();
        let layout = match cells {
            ArrayCells::Layout(layout) => layout,
            ArrayCells::Length(length) => &self.layout_of_lengths(name, length)?,
        };
        let chunks = self.resolve(name, &T::INFO, D, layout)?;
        let placement = match ownership {
            None => Placement::balanced(chunks, self.size()),
            Some(ownership) if ownership.ranks() != self.size() => {
                let (given, expected) = (ownership.ranks(), self.size());
                return Err(ArrayError::Ranks { array: name.to_owned(), given, expected }.into());
            }
            Some(ownership) => {
                Placement::new(Arc::new(chunks), Arc::new(ownership)).map_err(ArrayError::of_layout(name))?
            }
        };
        let core = self.create(name, &T::INFO, placement, usages)?;
        Ok(GlobalArray::from_core(core))
    }

    /// Creates an array of this rank with a single chunk. Local: other ranks need not call it and
    /// may pass other shapes. The cuts of the layout are ignored.
    ///
    /// # Errors
    /// The layout is malformed or exceeds a buffer; options name owners or other usages than
    /// [`ArrayOptions::with_usages`] lists; the device has too little memory or does not support
    /// the element type.
    #[track_caller]
    pub fn local_array<'a, T: Element, const D: usize>(
        &self,
        name: &str,
        options: impl Into<ArrayOptions<'a>>,
    ) -> Result<LocalArray<T, D>> {
        let _call = CallSite::enter();
        let ArrayOptions { cells, ownership, usages } = options.into();
        let layout = match cells {
            ArrayCells::Layout(layout) => layout,
            ArrayCells::Length(length) => &Layout::new([saturate_to_i64(length)]),
        };
        check_axes(name, D, layout)?;
        if ownership.is_some() {
            let text = format!("local array \"{name}\" belongs to this rank: create it without owners");
            return Err(ArrayError::Other(text).into());
        }
        Ok(LocalArray::from_core(ArrayCore::create_local(self.array_context(), name, &T::INFO, layout, usages)?))
    }

    /// Creates an empty 1-D array of this rank that grows by appending. Local; see
    /// [`publish`](Self::publish).
    ///
    /// # Errors
    /// The device has too little memory or does not support the element type.
    #[track_caller]
    pub fn growable<T: Element>(&self, name: &str) -> Result<Growable<T>> {
        let _call = CallSite::enter();
        Growable::new(self.array_context(), name)
    }

    /// Creates a 1-D global array of the cells in use of every rank's growable array, in ascending
    /// order of ranks and over the same buffers: no cell moves. After further appends, publish the
    /// growable array again for the new cells. Collective; costs one all-gather of the lengths.
    ///
    /// # Errors
    /// A failure of this or another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let mut hits = world.growable::<u32>("hits")?;
    /// hits.append(&vec![7; 1 + world.rank()])?;
    /// let all = world.publish(&hits)?;
    /// assert_eq!(all.shape(), [3]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn publish<T: Element>(&self, growable: &Growable<T>) -> Result<GlobalArray<T, 1>> {
        let _call = CallSite::enter();
        let layout = self.layout_of_lengths(growable.name(), growable.len())?;
        let chunks = layout.resolve(self.size(), T::INFO.bytes, u64::MAX);
        let chunks = chunks.map_err(ArrayError::of_layout(growable.name()))?;
        let placement = Placement::balanced(chunks, self.size());
        // A new id per call: a rank may publish a new growable array while others publish theirs
        // again.
        let allocation = growable.allocation_id(self.registry.borrow_mut().next_id());
        Ok(GlobalArray::from_core(growable.core().with_placement(self.array_context(), placement, allocation)))
    }

    fn layout_of_lengths(&self, name: &str, length: u64) -> Result<Layout> {
        let operation = format!("lengths of {name:?}");
        let lengths: Vec<i64> = self.collective(operation, hash(("lengths", name)), || {
            let all = self.inner_group().all_gather_v(copied(&[length]))?;
            let lengths =
                all.iter().map(|bytes| values::<u64>(bytes).map(|lengths| lengths.into_iter().map(saturate_to_i64)));
            Ok(lengths.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        })?;
        let total = lengths.iter().try_fold(0_i64, |sum, &n| sum.checked_add(n));
        let total = total.ok_or_else(|| ArrayError::Other(format!("the lengths of array \"{name}\" overflow")))?;
        Ok(Layout::new([total]).split([Split::Sizes(lengths)]))
    }

    pub(crate) fn array_context(&self) -> ArrayContext {
        ArrayContext {
            rank: self.rank(),
            device: self.gpu().clone(),
            registry: self.registry.clone(),
            ledger: self.ledger.clone(),
        }
    }

    fn resolve(&self, name: &str, element: &'static ElementInfo, axes: usize, layout: &Layout) -> Result<Chunks> {
        self.check_not_failed()?;
        check_axes(name, axes, layout)?;
        self.registry.borrow_mut().check_name(name)?;
        let limits = &self.limits;
        limits.check_element_support(element, self.device())?;
        let resolve_within = |bytes| layout.resolve(self.size(), element.bytes, bytes);
        // Chunks of automatic cuts fit a binding. Other chunks must fit a buffer, which kernels
        // access by windows.
        let chunks = match resolve_within(limits.binding_bytes) {
            Err(LayoutError::ChunkTooLarge { .. }) => resolve_within(limits.buffer_bytes),
            chunks => chunks,
        };
        Ok(chunks.map_err(ArrayError::of_layout(name))?)
    }

    pub(super) fn create(
        &self,
        name: &str,
        element: &'static ElementInfo,
        placement: Placement,
        usages: wgpu::BufferUsages,
    ) -> Result<Rc<ArrayCore>> {
        let call = Collective::new("array").array(ArrayIdentity::new(name, element, &placement), None);
        let call = call.text_after(format!(", {} of {}", placement.chunks().shape(), element.name));
        let call = call.also_compare(usages.bits());
        check_usages(name, usages)?;
        let bytes = self.check_memory(name, element, &placement)?;
        self.collective(call.clone(), call.signature(), || {
            ArrayCore::create(self.array_context(), name, element, placement, bytes, usages)
        })
    }
}

fn saturate_to_i64(length: u64) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

fn check_axes(name: &str, expected: usize, layout: &Layout) -> Result<()> {
    match (layout.mistake(), layout.shape().axes()) {
        (Some(mistake), _) => Err(ArrayError::of_layout(name)(mistake.clone()).into()),
        (None, axes) if axes == expected => Ok(()),
        (None, given) => Err(ArrayError::Axes { array: name.to_string(), given, expected }.into()),
    }
}
