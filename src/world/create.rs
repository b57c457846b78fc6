//! Creation of arrays.

use std::rc::Rc;
use std::sync::Arc;

use super::{ArrayIdentity, Collective, World, hash};
use crate::array::{ArrayCore, GlobalArray, Growable, Home, LocalArray};
use crate::chunks::Chunks;
use crate::element::{Element, ElementInfo};
use crate::error::{ArrayError, CallSite, LayoutError, Result};
use crate::layout::{Layout, Split};
use crate::locate::Placement;
use crate::ownership::Ownership;
use crate::transport::{copied, values};

impl World {
    /// Creates a global array of zeros, cut according to `layout` (paper: zCreateGlobalArray).
    /// Collective; sends no messages.
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
    pub fn array<T: Element, const D: usize>(&self, name: &str, layout: &Layout) -> Result<GlobalArray<T, D>> {
        let _call = CallSite::enter();
        let chunks = self.resolve(name, &T::INFO, D, layout)?;
        let core = self.create(name, &T::INFO, Placement::balanced(chunks, self.size()))?;
        Ok(GlobalArray::from_core(core))
    }

    /// Creates a global array of zeros with the given owners of its chunks. A rank may own no
    /// chunk. Collective; sends no messages.
    ///
    /// # Errors
    /// As for [`array`](Self::array), and an ownership with a different number of chunks or ranks.
    #[track_caller]
    pub fn array_owned<T: Element, const D: usize>(
        &self,
        name: &str,
        layout: &Layout,
        ownership: Ownership,
    ) -> Result<GlobalArray<T, D>> {
        let _call = CallSite::enter();
        let chunks = self.resolve(name, &T::INFO, D, layout)?;
        if ownership.ranks() != self.size() {
            let (given, expected) = (ownership.ranks(), self.size());
            return Err(ArrayError::Ranks { array: name.to_owned(), given, expected }.into());
        }
        let placement = Placement::new(Arc::new(chunks), Arc::new(ownership)).map_err(ArrayError::of_layout(name))?;
        let core = self.create(name, &T::INFO, placement)?;
        Ok(GlobalArray::from_core(core))
    }

    /// Creates an array of this rank with a single chunk. Local: other ranks need not call it and
    /// may pass other shapes. The cuts of the layout are ignored.
    ///
    /// # Errors
    /// The layout is malformed or exceeds a buffer; the device has too little memory or does not
    /// support the element type.
    #[track_caller]
    pub fn local_array<T: Element, const D: usize>(&self, name: &str, layout: &Layout) -> Result<LocalArray<T, D>> {
        let _call = CallSite::enter();
        self.local_array_for(name, layout, wgpu::BufferUsages::empty())
    }

    /// As [`local_array`](Self::local_array), with a buffer for additional `uses` (`VERTEX`,
    /// `INDEX`, `INDIRECT`).
    ///
    /// A kernel writes vertices, indices or draw arguments, and a render pass of the caller reads
    /// them from [`LocalArray::lease`] without a copy.
    ///
    /// # Errors
    /// As for [`local_array`](Self::local_array), and any other use.
    #[track_caller]
    pub fn local_array_for<T: Element, const D: usize>(
        &self,
        name: &str,
        layout: &Layout,
        uses: wgpu::BufferUsages,
    ) -> Result<LocalArray<T, D>> {
        let _call = CallSite::enter();
        check_axes(name, D, layout)?;
        Ok(LocalArray::from_core(ArrayCore::create_local(self.home(), name, &T::INFO, layout, uses)?))
    }

    /// Creates a 1-D global array with one chunk of `length` cells on each rank; each rank passes
    /// its own length. Collective; costs one all-gather of the lengths.
    ///
    /// # Errors
    /// As for [`array`](Self::array). If the length of a rank exceeds its memory, this rank returns
    /// its own error and the other ranks a remote error.
    #[track_caller]
    pub fn array_of_lengths<T: Element>(&self, name: &str, length: u64) -> Result<GlobalArray<T, 1>> {
        let _call = CallSite::enter();
        let layout = self.layout_of_lengths(name, length)?;
        self.array(name, &layout)
    }

    /// Creates an empty 1-D array of this rank that grows by appending. Local; see
    /// [`publish`](Self::publish).
    ///
    /// # Errors
    /// The device has too little memory or does not support the element type.
    #[track_caller]
    pub fn growable<T: Element>(&self, name: &str) -> Result<Growable<T>> {
        let _call = CallSite::enter();
        self.growable_for(name, wgpu::BufferUsages::empty())
    }

    /// As [`growable`](Self::growable), with a buffer for additional `uses` (`VERTEX`, `INDEX`,
    /// `INDIRECT`), also after the array has grown; see [`Growable::lease`]. Local.
    ///
    /// # Errors
    /// As for [`growable`](Self::growable), and any other use.
    #[track_caller]
    pub fn growable_for<T: Element>(&self, name: &str, uses: wgpu::BufferUsages) -> Result<Growable<T>> {
        let _call = CallSite::enter();
        Growable::new(self.home(), name, uses)
    }

    /// Makes a 1-D global array of the used cells of every rank's growable array, in rank order and
    /// over the same buffers: no cell moves. After further appends, publish the growable array
    /// again for the new cells. Collective; costs one all-gather of the lengths.
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
        let data = growable.data(self.registry.borrow_mut().next_id());
        Ok(GlobalArray::from_core(growable.core().over(self.home(), placement, data)))
    }

    fn layout_of_lengths(&self, name: &str, length: u64) -> Result<Layout> {
        let operation = format!("lengths of {name:?}");
        let lengths: Vec<i64> = self.collective(operation, hash(("lengths", name)), || {
            let all = self.inner().all_gather_v(copied(&[length]))?;
            let lengths =
                all.iter().map(|bytes| values::<u64>(bytes).map(|lengths| lengths.into_iter().map(saturated)));
            Ok(lengths.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        })?;
        let total = lengths.iter().try_fold(0_i64, |sum, &n| sum.checked_add(n));
        let total = total.ok_or_else(|| ArrayError::Other(format!("the lengths of array \"{name}\" overflow")))?;
        Ok(Layout::new([total]).split([Split::Sizes(lengths)]))
    }

    pub(crate) fn home(&self) -> Home {
        Home {
            rank: self.rank(),
            device: self.gpu().clone(),
            registry: self.registry.clone(),
            ledger: self.ledger.clone(),
        }
    }

    fn resolve(&self, name: &str, element: &'static ElementInfo, axes: usize, layout: &Layout) -> Result<Chunks> {
        self.alive()?;
        check_axes(name, axes, layout)?;
        self.registry.borrow_mut().check_name(name)?;
        let limits = &self.limits;
        limits.check(element, self.device())?;
        let resolve_within = |bytes| layout.resolve(self.size(), element.bytes, bytes);
        // If the library chooses the cuts, a chunk fits a binding. Otherwise a buffer, accessed by
        // windows.
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
    ) -> Result<Rc<ArrayCore>> {
        let call = Collective::new("array").array(ArrayIdentity::new(name, element, &placement), None);
        let call = call.text_after(format!(", {} of {}", placement.chunks().shape(), element.name));
        let bytes = self.check_memory(name, element, &placement)?;
        self.collective(call.clone(), call.signature(), || {
            ArrayCore::create(self.home(), name, element, placement, bytes)
        })
    }
}

fn saturated(length: u64) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

fn check_axes(name: &str, expected: usize, layout: &Layout) -> Result<()> {
    match (layout.mistake(), layout.shape().axes()) {
        (Some(mistake), _) => Err(ArrayError::of_layout(name)(mistake.clone()).into()),
        (None, axes) if axes == expected => Ok(()),
        (None, given) => Err(ArrayError::Axes { array: name.to_string(), given, expected }.into()),
    }
}
