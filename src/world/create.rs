//! Creating arrays.

use std::rc::Rc;
use std::sync::Arc;

use super::{Collective, Named, World, hash};
use crate::array::{ArrayCore, GlobalArray, Growable, Home, LocalArray};
use crate::chunks::Chunks;
use crate::element::{Element, ElementInfo};
use crate::error::{ArrayError, CallSite, LayoutError, Result};
use crate::layout::{Layout, Split};
use crate::locate::Placement;
use crate::ownership::Ownership;
use crate::transport::{copied, values};

impl World {
    /// A global array of zeros, cut as `layout` says, chunks spread over the ranks in balanced contiguous runs
    /// (chunk *i* on rank *i* when the counts agree; paper: zCreateGlobalArray). Where the library chooses the cuts, a
    /// chunk is no larger than what one binding of a shader can see. Collective; no messages.
    ///
    /// # Errors
    /// The layout is malformed or a chunk does not fit a buffer of the device; the name is taken; the ranks have not
    /// enough memory, where it is that of their machines or limited by `ZIPPY_MEMORY_LIMIT` (all ranks return the same
    /// error, which says what would fit); a device has not enough memory or cannot hold the element type.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let layout = Layout::new([8, 6]).split([[3, 2, 3].into(), Split::Even(2)]).ghost([1, 1]).periodic([true, false]);
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

    /// A global array of zeros with given owners of its chunks; ranks may own none. Collective; no messages.
    ///
    /// # Errors
    /// As [`array`](Self::array), and an ownership of another number of chunks or ranks.
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

    /// An array of this rank alone. Local: other ranks need not call it, and may have other shapes.
    ///
    /// Splits of the layout are ignored; a local array is one chunk.
    ///
    /// # Errors
    /// The layout is malformed or too large for one buffer; the device has not enough memory or cannot hold the type.
    #[track_caller]
    pub fn local_array<T: Element, const D: usize>(&self, name: &str, layout: &Layout) -> Result<LocalArray<T, D>> {
        let _call = CallSite::enter();
        self.local_array_for(name, layout, wgpu::BufferUsages::empty())
    }

    /// As [`local_array`](Self::local_array), in a buffer that can also be used as `uses` says (`VERTEX`, `INDEX`,
    /// `INDIRECT`): a kernel writes vertices, indices or the arguments of a draw, and a render pass of the user's takes them
    /// from [`LocalArray::lease`] without a copy.
    ///
    /// # Errors
    /// As [`local_array`](Self::local_array), and other uses.
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

    /// A 1-D global array whose chunk on each rank has the length that this rank names. Collective; one all-gather of
    /// the lengths.
    ///
    /// # Errors
    /// As [`array`](Self::array); a rank whose length does not fit fails alone and the others hear of it.
    #[track_caller]
    pub fn array_of_lengths<T: Element>(&self, name: &str, length: u64) -> Result<GlobalArray<T, 1>> {
        let _call = CallSite::enter();
        let layout = self.layout_of_lengths(name, length)?;
        self.array(name, &layout)
    }

    /// A 1-D array of this rank that grows by appending, without cells at first. Local; see [`publish`](Self::publish).
    ///
    /// # Errors
    /// The device has not enough memory or cannot hold the type.
    #[track_caller]
    pub fn growable<T: Element>(&self, name: &str) -> Result<Growable<T>> {
        let _call = CallSite::enter();
        self.growable_for(name, wgpu::BufferUsages::empty())
    }

    /// As [`growable`](Self::growable), in a buffer that can also be used as `uses` says (`VERTEX`, `INDEX`, `INDIRECT`), also
    /// after it has grown; see [`Growable::lease`]. Local.
    ///
    /// # Errors
    /// As [`growable`](Self::growable), and other uses.
    #[track_caller]
    pub fn growable_for<T: Element>(&self, name: &str, uses: wgpu::BufferUsages) -> Result<Growable<T>> {
        let _call = CallSite::enter();
        Growable::new(self.home(), name, uses)
    }

    /// The cells in use of every rank's growable array as one 1-D global array, in rank order, over the same buffers:
    /// no cell moves. Append to a growable array and publish it again to see the new cells. Collective; one all-gather
    /// of the lengths.
    ///
    /// # Errors
    /// A failure of this or of another rank.
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
        // Drawn at every call, as ranks may publish one anew that others publish again.
        let data = growable.data(self.registry.borrow_mut().next_id());
        Ok(GlobalArray::from_core(growable.core().over(self.home(), placement, data)))
    }

    fn layout_of_lengths(&self, name: &str, length: u64) -> Result<Layout> {
        let operation = format!("lengths of {name:?}");
        let lengths: Vec<i64> = self.collective(operation, hash(("lengths", name)), || {
            let all = self.inner().all_gather_v(copied(&[length]))?;
            let lengths = all.iter().map(|one| values::<u64>(one).map(|one| one.into_iter().map(saturated)));
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
        let common = &self.common;
        common.check(element, self.device())?;
        let within = |bytes| layout.resolve(self.size(), element.bytes, bytes);
        // Chunks that one binding reaches where the library may choose; else what a buffer can hold, seen through windows.
        let chunks = match within(common.binding_bytes) {
            Err(LayoutError::ChunkTooLarge { .. }) => within(common.buffer_bytes),
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
        let call = Collective::new("array").of(Named::new(name, element, &placement), None);
        let call = call.and(format!(", {} of {}", placement.chunks().shape(), element.name));
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
