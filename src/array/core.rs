//! [`ArrayCore`]: what an array is once its element type and number of axes are erased.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::kind::ArrayKind;
use super::registry::{ArrayId, Registry};
use crate::chunks::{ChunkId, Chunks};
use crate::device::{self, ChunkBuffer, Device, Lease, Strided};
use crate::element::ElementInfo;
use crate::error::{ArrayError, CallSite, Result};
use crate::extents::Index;
use crate::history::{Ghosts, History, Ledger};
use crate::kernel::Binding;
use crate::layout::{Layout, Split};
use crate::locate::Placement;
use crate::ownership::Ownership;
use crate::region::Region;

/// Where an array of this rank lives.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub rank: usize,
    pub device: Rc<Device>,
    pub registry: Rc<RefCell<Registry<ArrayCore>>>,
    pub ledger: Rc<Ledger>,
}

/// A chunk of this rank: its memory, and what has happened to it.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    buffer: ChunkBuffer,
    pub(super) history: Rc<History>,
}

/// The rank-erased core of an array: cuts, owners, and the buffers of this rank's chunks.
///
/// The cuts ([`Chunks`]), who owns what ([`Ownership`]) and the data are kept apart: a chunk
/// re-arrangement is a new core with another ownership over the same buffers.
#[derive(Debug)]
pub struct ArrayCore {
    id: ArrayId,
    /// The number of the array that the chunks were made for.
    data: ArrayId,
    name: String,
    element: &'static ElementInfo,
    placement: Placement,
    /// Bytes of the chunks of all ranks; 0 where they are counted for another array.
    bytes_by_rank: Rc<[u64]>,
    /// One entry a slot; a chunk without cells has no buffer.
    pub(super) slots: Vec<Option<Slot>>,
    kind: ArrayKind,
    /// Of a growable array the cells in use.
    in_use: Cell<u64>,
    home: Home,
}

impl ArrayCore {
    /// An array with zeroed chunks on this rank's device; `bytes_by_rank` is what they take on each rank.
    ///
    /// # Errors
    /// The device has not enough memory, or cannot hold the element type.
    pub(crate) fn create(
        home: Home,
        name: &str,
        element: &'static ElementInfo,
        placement: Placement,
        bytes_by_rank: Rc<[u64]>,
    ) -> Result<Rc<Self>> {
        check_element(&home.device, element)?;
        let id = home.registry.borrow_mut().next_id();
        let ghosts = home.ledger.ghosts(|| Ghosts::of(id.0, name, &placement, home.rank));
        let mut slots = Vec::new();
        for chunk in placement.ownership().of_rank(home.rank) {
            let bytes = storage_bytes(&placement.chunks().storage(chunk), element);
            slots.push(match bytes {
                0 => None,
                _ => {
                    let buffer = home.device.storage_buffer(bytes, &format!("{name}[{chunk}]"))?;
                    Some(Slot { buffer, history: History::new(&home.ledger, chunk, ghosts.clone()) })
                }
            });
        }
        let name = name.to_string();
        let (kind, in_use) = (ArrayKind::Global, Cell::new(0));
        let core = Rc::new(Self { id, data: id, name, element, placement, bytes_by_rank, slots, kind, in_use, home });
        core.home.registry.borrow_mut().add(id, core.name(), &core);
        Ok(core)
    }

    /// An array of one chunk that belongs to this rank alone, in no registry; its buffer has `extra` uses.
    pub(crate) fn create_local(
        home: Home,
        name: &str,
        element: &'static ElementInfo,
        layout: &Layout,
        extra: wgpu::BufferUsages,
    ) -> Result<Rc<Self>> {
        let id = home.registry.borrow_mut().next_local_id();
        Self::create_of_kind((ArrayKind::Local, id), home, name, element, layout, extra)
    }

    /// [`create_local`](Self::create_local) of a kind, with a number: of an array that has grown the one it had.
    pub(crate) fn create_of_kind(
        (kind, id): (ArrayKind, ArrayId),
        home: Home,
        name: &str,
        element: &'static ElementInfo,
        layout: &Layout,
        extra: wgpu::BufferUsages,
    ) -> Result<Rc<Self>> {
        check_element(&home.device, element)?;
        check_uses(name, extra)?;
        let layout = layout.clone().split_all(Split::Whole);
        let chunks = layout.resolve(1, element.bytes, home.device.limits().buffer_bytes);
        let chunks = chunks.map_err(ArrayError::of_layout(name))?;
        let bytes = storage_bytes(&chunks.storage(0), element);
        let slots = vec![match bytes {
            0 => None,
            _ => {
                let buffer = home.device.storage_buffer_with(bytes, extra, name)?;
                Some(Slot { buffer, history: History::new(&home.ledger, 0, None) })
            }
        }];
        let core = Rc::new(Self {
            id,
            data: id,
            name: name.to_string(),
            element,
            placement: Placement::balanced(chunks, 1),
            bytes_by_rank: Rc::new([]),
            slots,
            kind,
            in_use: Cell::new(0),
            home: Home { rank: 0, ..home },
        });
        core.home.registry.borrow_mut().add_local(&core);
        Ok(core)
    }

    /// The same buffers under other cuts or owners, as an array of its own number; `data` tells whose chunks they are.
    pub(crate) fn over(&self, home: Home, placement: Placement, data: ArrayId) -> Rc<Self> {
        let id = home.registry.borrow_mut().next_id();
        // Other neighbours than those that are known of.
        self.slots.iter().flatten().filter_map(|slot| slot.history.ghosts()).for_each(|ghosts| ghosts.give_up());
        let (name, slots) = (self.name.clone(), self.slots.clone());
        let (element, bytes_by_rank) = (self.element, self.bytes_by_rank.clone());
        let (kind, in_use) = (ArrayKind::Global, Cell::new(0));
        let core = Rc::new(Self { id, data, name, element, placement, bytes_by_rank, slots, kind, in_use, home });
        core.home.registry.borrow_mut().add(id, core.name(), &core);
        core
    }

    /// Where it lives.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Its number in the world, or on its rank where it is of one rank alone.
    pub fn id(&self) -> ArrayId {
        self.id
    }

    /// The number of the array that its chunks were made for: equal for handles of the same chunks, on every rank.
    pub(crate) fn data(&self) -> ArrayId {
        self.data
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes that its chunks take on all ranks, the same on every rank.
    pub(crate) fn bytes_by_rank(&self) -> &[u64] {
        &self.bytes_by_rank
    }

    /// Its element type.
    pub fn element(&self) -> &'static ElementInfo {
        self.element
    }

    /// What it is to a program.
    pub(crate) fn kind(&self) -> ArrayKind {
        self.kind
    }

    /// Its extents; of a growable array the cells in use.
    pub(crate) fn in_use(&self) -> Index {
        if self.kind == ArrayKind::Growable { Index::from([self.in_use.get() as i64]) } else { self.chunks().shape() }
    }

    /// Sets how many cells of a growable array are in use.
    pub(super) fn set_in_use(&self, cells: u64) {
        self.in_use.set(cells);
    }

    /// Bytes of the buffer of a chunk of this rank.
    pub(crate) fn chunk_bytes(&self, chunk: ChunkId) -> u64 {
        let slot = self.slots.get(self.ownership().owner(chunk).slot);
        slot.and_then(Option::as_ref).map_or(0, |slot| slot.buffer.bytes())
    }

    /// Its cuts.
    pub fn chunks(&self) -> &Arc<Chunks> {
        self.placement.chunks()
    }

    /// Who owns which chunk.
    pub fn ownership(&self) -> &Arc<Ownership> {
        self.placement.ownership()
    }

    /// Cuts and owners together.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The device that holds this rank's chunks.
    pub fn device(&self) -> &Rc<Device> {
        &self.home.device
    }

    /// The whole index space, `[0, shape)`.
    pub fn bounds(&self) -> Region {
        self.chunks().whole()
    }

    /// The chunks of this rank, in slot order.
    pub fn owned(&self) -> impl Iterator<Item = ChunkId> + use<'_> {
        self.ownership().of_rank(self.home.rank)
    }

    /// Whether this and another array are handles of the same chunks, as after a re-arrangement. The same on every rank.
    pub fn is_alias_of(&self, other: &Self) -> bool {
        self.data == other.data
    }

    /// The rank whose handle this is.
    pub fn rank(&self) -> usize {
        self.home.rank
    }

    /// A lease of a chunk of this rank, the one way to its bytes; `None` where it has no cells.
    ///
    /// # Errors
    /// There is no such chunk, or it is another rank's.
    #[track_caller]
    pub fn lease(&self, chunk: ChunkId) -> Result<Option<Lease>> {
        let _call = CallSite::enter();
        if chunk >= self.chunks().count() {
            let text = format!("array {:?} has {} chunks and no chunk {chunk}", self.name, self.chunks().count());
            return Err(ArrayError::Other(text).into());
        }
        let owner = self.ownership().owner(chunk);
        if owner.rank != self.home.rank {
            return Err(ArrayError::NotOwned { array: self.name.clone(), chunk, rank: self.home.rank }.into());
        }
        Ok(self.slots[owner.slot].as_ref().map(|slot| Lease::of(&slot.buffer)))
    }

    /// A number of a chunk's memory: the same for all handles of it, on this rank. 0 for a chunk without cells.
    pub(crate) fn memory(&self, chunk: ChunkId) -> u64 {
        let slot = self.slots.get(self.ownership().owner(chunk).slot);
        slot.and_then(Option::as_ref).map_or(0, |slot| slot.buffer.id())
    }

    /// Where a box of a chunk's storage lies in its buffer.
    pub fn strided(&self, chunk: ChunkId, region: &Region) -> Strided {
        strided(&self.chunks().storage(chunk), region, self.element.bytes)
    }

    /// A region of it, for messages.
    pub(crate) fn label(&self, region: &Region) -> String {
        format!("section {region} of array \"{}\"", self.name)
    }

    /// What a kernel sees of a box of a chunk's storage.
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

/// The device's optional types cover the element.
fn check_element(device: &Device, element: &ElementInfo) -> Result<()> {
    Ok(element.supported_by(device.features(), &device.adapter().name)?)
}

/// Drawing and dispatching is what else a local array's buffer may be for.
fn check_uses(name: &str, uses: wgpu::BufferUsages) -> Result<(), ArrayError> {
    use wgpu::BufferUsages as Uses;
    match uses.difference(Uses::VERTEX | Uses::INDEX | Uses::INDIRECT) {
        other if other.is_empty() => Ok(()),
        other => Err(ArrayError::Uses { array: name.to_string(), uses: format!("{other:?}") }),
    }
}

/// The extents of a chunk's storage in memory: axis 0 padded so that every row starts on a word.
pub(crate) fn padded(storage: &Region, element_bytes: usize) -> Index {
    let mut extents = storage.extents();
    let per_word = (4 / element_bytes).max(1) as i64;
    if extents[0] > 0 {
        extents[0] = (extents[0] + per_word - 1) / per_word * per_word;
    }
    extents
}

/// Bytes of a chunk's buffer.
pub(crate) fn storage_bytes(storage: &Region, element: &ElementInfo) -> u64 {
    padded(storage, element.bytes).product().unwrap_or(u64::MAX / 64).saturating_mul(element.bytes as u64)
}

/// Bytes that a chunk takes on its device.
pub(crate) fn chunk_bytes(storage: &Region, element: &ElementInfo) -> u64 {
    match storage_bytes(storage, element) {
        0 => 0,
        bytes => device::buffer_bytes(bytes),
    }
}

/// Where `region` lies in the buffer of a chunk with this storage, in elements.
pub(crate) fn strided(storage: &Region, region: &Region, element_bytes: usize) -> Strided {
    let strides = padded(storage, element_bytes).dense_strides();
    let offset = (region.start - storage.start).dot(&strides);
    Strided { offset: offset as u64, extents: region.extents(), strides }
}
