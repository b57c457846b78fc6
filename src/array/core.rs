//! [`ArrayCore`]: an array without its static element type and number of axes.
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use zippy_base::ArrayKind;

use super::registry::{ArrayId, Registry};
use crate::chunks::{ChunkId, Chunks};
use crate::device::{self, ChunkBuffer, Device, Lease, StridedBox};
use crate::element::ElementInfo;
use crate::error::{ArrayError, CallSite, Result};
use crate::extents::Index;
use crate::history::{Ghosts, History, Ledger};
use crate::kernel::Binding;
use crate::layout::{Layout, Split};
use crate::locate::Placement;
use crate::ownership::Ownership;
use crate::region::Region;

#[derive(Debug, Clone)]
pub(crate) struct ArrayContext {
    pub rank: usize,
    pub device: Rc<Device>,
    pub registry: Rc<RefCell<Registry<ArrayCore>>>,
    pub ledger: Rc<Ledger>,
}

/// Memory and access history of one chunk of this rank.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    buffer: ChunkBuffer,
    pub(super) history: Rc<History>,
}

/// Array without its static element type and number of axes: cuts, owners, and the buffers of this
/// rank's chunks.
///
/// Cuts ([`Chunks`]), owners ([`Ownership`]) and buffers are separate: a chunk re-arrangement is a
/// new core with another ownership and the same buffers.
#[derive(Debug)]
pub struct ArrayCore {
    id: ArrayId,
    /// Id of the array for which the chunks were allocated; equal for all handles of the chunks.
    allocation: ArrayId,
    name: String,
    element: &'static ElementInfo,
    placement: Placement,
    /// Bytes of all chunks, per rank; 0 if another array already counts them.
    bytes_by_rank: Rc<[u64]>,
    /// Chunks of this rank; a chunk without cells has no buffer.
    pub(super) slots: Vec<Option<Slot>>,
    kind: ArrayKind,
    /// Number of cells in use of a growable array.
    in_use: Cell<u64>,
    context: ArrayContext,
}

impl ArrayCore {
    /// Creates an array with zeroed chunks on this rank's device. `bytes_by_rank` is the total size
    /// of its chunks, per rank.
    ///
    /// # Errors
    /// The device has not enough memory, or does not support the element type.
    pub(crate) fn create(
        context: ArrayContext,
        name: &str,
        element: &'static ElementInfo,
        placement: Placement,
        bytes_by_rank: Rc<[u64]>,
        extra: wgpu::BufferUsages,
    ) -> Result<Rc<Self>> {
        check_element(&context.device, element)?;
        let id = context.registry.borrow_mut().next_id();
        let ghosts = context.ledger.ghosts(|| Ghosts::new(id.0, name, &placement, context.rank));
        let mut slots = Vec::new();
        for chunk in placement.ownership().of_rank(context.rank) {
            let bytes = storage_bytes(&placement.chunks().storage(chunk), element);
            slots.push(match bytes {
                0 => None,
                _ => {
                    let buffer = context.device.storage_buffer_with(bytes, extra, &format!("{name}[{chunk}]"))?;
                    Some(Slot { buffer, history: History::new(&context.ledger, chunk, ghosts.clone()) })
                }
            });
        }
        let name = name.to_string();
        let (kind, in_use) = (ArrayKind::Global, Cell::new(0));
        let core =
            Rc::new(Self { id, allocation: id, name, element, placement, bytes_by_rank, slots, kind, in_use, context });
        core.context.registry.borrow_mut().add(id, core.name(), &core);
        Ok(core)
    }

    /// Creates an array with one chunk for this rank only, without a registered name. `extra` is
    /// added to the usages of its buffer.
    pub(crate) fn create_local(
        context: ArrayContext,
        name: &str,
        element: &'static ElementInfo,
        layout: &Layout,
        extra: wgpu::BufferUsages,
    ) -> Result<Rc<Self>> {
        let id = context.registry.borrow_mut().next_local_id();
        Self::create_of_kind((ArrayKind::Local, id), context, name, element, layout, extra)
    }

    /// Creates an array like [`create_local`](Self::create_local), with a kind and an id. A
    /// reallocated growable array keeps its id.
    pub(crate) fn create_of_kind(
        (kind, id): (ArrayKind, ArrayId),
        context: ArrayContext,
        name: &str,
        element: &'static ElementInfo,
        layout: &Layout,
        extra: wgpu::BufferUsages,
    ) -> Result<Rc<Self>> {
        check_element(&context.device, element)?;
        check_usages(name, extra)?;
        let layout = layout.clone().split_all(Split::Whole);
        let chunks = layout.resolve(1, element.bytes, context.device.limits().buffer_bytes);
        let chunks = chunks.map_err(ArrayError::of_layout(name))?;
        let bytes = storage_bytes(&chunks.storage(0), element);
        let slots = vec![match bytes {
            0 => None,
            _ => {
                let buffer = context.device.storage_buffer_with(bytes, extra, name)?;
                Some(Slot { buffer, history: History::new(&context.ledger, 0, None) })
            }
        }];
        let core = Rc::new(Self {
            id,
            allocation: id,
            name: name.to_string(),
            element,
            placement: Placement::balanced(chunks, 1),
            bytes_by_rank: Rc::new([]),
            slots,
            kind,
            in_use: Cell::new(0),
            context: ArrayContext { rank: 0, ..context },
        });
        core.context.registry.borrow_mut().add_local(&core);
        Ok(core)
    }

    /// Creates an array with a new id over the same buffers, with other cuts or owners.
    /// `allocation` is the id of the array for which the buffers were allocated.
    pub(crate) fn with_placement(&self, context: ArrayContext, placement: Placement, allocation: ArrayId) -> Rc<Self> {
        let id = context.registry.borrow_mut().next_id();
        // The recorded neighbours of the chunks are no longer valid.
        self.slots.iter().flatten().filter_map(|slot| slot.history.ghosts()).for_each(|ghosts| ghosts.give_up());
        let (name, slots) = (self.name.clone(), self.slots.clone());
        let (element, bytes_by_rank) = (self.element, self.bytes_by_rank.clone());
        let (kind, in_use) = (ArrayKind::Global, Cell::new(0));
        let core =
            Rc::new(Self { id, allocation, name, element, placement, bytes_by_rank, slots, kind, in_use, context });
        core.context.registry.borrow_mut().add(id, core.name(), &core);
        core
    }

    pub(crate) fn context(&self) -> &ArrayContext {
        &self.context
    }

    /// Id of the array: unique in the world, or on its rank if the array is local.
    pub fn id(&self) -> ArrayId {
        self.id
    }

    /// Id of the array for which the chunks were allocated: equal for all handles of the same
    /// chunks, on every rank.
    pub(crate) fn allocation_id(&self) -> ArrayId {
        self.allocation
    }

    /// Name of the array.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of all chunks, per rank; the same on every rank.
    pub(crate) fn bytes_by_rank(&self) -> &[u64] {
        &self.bytes_by_rank
    }

    /// Element type.
    pub fn element(&self) -> &'static ElementInfo {
        self.element
    }

    pub(crate) fn kind(&self) -> ArrayKind {
        self.kind
    }

    /// Extents of the cells in use: the shape, or the length of a growable array.
    pub(crate) fn in_use(&self) -> Index {
        if self.kind == ArrayKind::Growable { Index::from([self.in_use.get() as i64]) } else { self.chunks().shape() }
    }

    /// Sets the number of cells in use of a growable array.
    pub(super) fn set_in_use(&self, cells: u64) {
        self.in_use.set(cells);
    }

    /// Size of the buffer of a chunk of this rank, in bytes.
    pub(crate) fn chunk_bytes(&self, chunk: ChunkId) -> u64 {
        let slot = self.slots.get(self.ownership().owner(chunk).slot);
        slot.and_then(Option::as_ref).map_or(0, |slot| slot.buffer.bytes())
    }

    /// Cuts of the array.
    pub fn chunks(&self) -> &Arc<Chunks> {
        self.placement.chunks()
    }

    /// Owner of each chunk.
    pub fn ownership(&self) -> &Arc<Ownership> {
        self.placement.ownership()
    }

    /// Cuts and owners of the array.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Device that holds this rank's chunks.
    pub fn device(&self) -> &Rc<Device> {
        &self.context.device
    }

    /// Whole index space, `[0, shape)`.
    pub fn bounds(&self) -> Region {
        self.chunks().whole()
    }

    /// Chunks of this rank, in slot order.
    pub fn owned(&self) -> impl Iterator<Item = ChunkId> + use<'_> {
        self.ownership().of_rank(self.context.rank)
    }

    /// True if both arrays are handles of the same chunks, as after a re-arrangement. The same on
    /// every rank.
    pub fn is_alias_of(&self, other: &Self) -> bool {
        self.allocation == other.allocation
    }

    /// Rank that holds this handle.
    pub fn rank(&self) -> usize {
        self.context.rank
    }

    /// Lease of the buffer of a chunk of this rank, the only access to its bytes; `None` if the
    /// chunk has no cells.
    ///
    /// # Errors
    /// The chunk does not exist or belongs to another rank.
    #[track_caller]
    pub fn lease(&self, chunk: ChunkId) -> Result<Option<Lease>> {
        let _call = CallSite::enter();
        if chunk >= self.chunks().count() {
            let text = format!("array {:?} has {} chunks and no chunk {chunk}", self.name, self.chunks().count());
            return Err(ArrayError::Other(text).into());
        }
        let owner = self.ownership().owner(chunk);
        if owner.rank != self.context.rank {
            return Err(ArrayError::NotOwned { array: self.name.clone(), chunk, rank: self.context.rank }.into());
        }
        Ok(self.slots[owner.slot].as_ref().map(|slot| Lease::new(&slot.buffer)))
    }

    /// Id of a chunk's buffer: equal for all handles of the chunk on this rank; 0 for a chunk
    /// without cells.
    pub(crate) fn memory(&self, chunk: ChunkId) -> u64 {
        let slot = self.slots.get(self.ownership().owner(chunk).slot);
        slot.and_then(Option::as_ref).map_or(0, |slot| slot.buffer.id())
    }

    /// Offset and strides of a box in the buffer of its chunk.
    pub fn strided(&self, chunk: ChunkId, region: &Region) -> StridedBox {
        strided(&self.chunks().storage(chunk), region, self.element.bytes)
    }

    /// Text of a region of this array for error messages.
    pub fn label(&self, region: &Region) -> String {
        format!("section {region} of array \"{}\"", self.name)
    }

    /// Kernel binding of a box of a chunk's buffer.
    pub(crate) fn binding(&self, chunk: ChunkId, region: Region) -> Binding {
        let (lease, error) = match self.lease(chunk) {
            Ok(lease) => (lease, None),
            Err(error) => (None, Some(error.into_kind())),
        };
        Binding {
            buffer: lease,
            element: self.element,
            storage: self.chunks().storage(chunk),
            section: region,
            owned: self.chunks().region(chunk),
            shape: self.chunks().shape(),
            label: self.label(&region),
            error,
            domain: None,
            history: self.history(chunk).cloned(),
        }
    }
}

/// Fails if the element type needs a feature that the device does not have.
fn check_element(device: &Device, element: &ElementInfo) -> Result<()> {
    Ok(element.supported_by(device.features(), &device.adapter().name)?)
}

/// Fails for buffer usages other than vertex, index and indirect.
pub(crate) fn check_usages(name: &str, uses: wgpu::BufferUsages) -> Result<(), ArrayError> {
    use wgpu::BufferUsages as Uses;
    match uses.difference(Uses::VERTEX | Uses::INDEX | Uses::INDIRECT) {
        other if other.is_empty() => Ok(()),
        other => Err(ArrayError::Uses { array: name.to_string(), uses: format!("{other:?}") }),
    }
}

/// Extents of a chunk's storage in memory: axis 0 is padded so that every row starts at a 32-bit
/// word.
pub(crate) fn padded(storage: &Region, element_bytes: usize) -> Index {
    let mut extents = storage.extents();
    let per_word = (4 / element_bytes).max(1) as i64;
    if extents[0] > 0 {
        extents[0] = (extents[0] + per_word - 1) / per_word * per_word;
    }
    extents
}

/// Size of a chunk's cells and padding, in bytes.
pub(crate) fn storage_bytes(storage: &Region, element: &ElementInfo) -> u64 {
    padded(storage, element.bytes).product().unwrap_or(u64::MAX / 64).saturating_mul(element.bytes as u64)
}

/// Size of a chunk's buffer in device memory, in bytes.
pub(crate) fn chunk_bytes(storage: &Region, element: &ElementInfo) -> u64 {
    match storage_bytes(storage, element) {
        0 => 0,
        bytes => device::buffer_bytes(bytes),
    }
}

/// Offset and strides, in elements, of a region in the buffer of a chunk with this storage.
pub(crate) fn strided(storage: &Region, region: &Region, element_bytes: usize) -> StridedBox {
    let strides = padded(storage, element_bytes).dense_strides();
    let offset = (region.start - storage.start).dot(&strides);
    StridedBox { offset: offset as u64, extents: region.extents(), strides }
}
