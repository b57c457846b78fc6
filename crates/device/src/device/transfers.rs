//! Transfers of boxes of cells: checks of the arguments, and calls of the [`TransferBackend`].

use std::ops::Range;

use super::box_checks::{
    check_box_in_buffer, check_destination_cells_are_distinct, check_element_size, check_packed_boxes,
};
use super::boxes::{BufferBox, PackedBox};
use super::copy_set::CopySet;
use super::host_transfers::HostTransfers;
use super::kernel_transfers::KernelTransfers;
use super::transfer_backend::{CellMerge, TransferBackend};
use super::{ChunkBuffer, Device, Operator, StagedBytes};
use crate::element::ElementInfo;
use crate::error::DeviceError;

impl Device {
    /// Copies boxes of elements of `element_bytes` (1, 2 or a multiple of 4) to a payload of
    /// `payload_bytes` bytes.
    ///
    /// Each box is dense at its offset in the payload, axis 0 of its view fastest. The rest of the
    /// last word of a box is zero; other bytes outside of boxes are unspecified. Recorded commands
    /// run first. On return the payload is complete and the chunks can change. Parts of the payload
    /// can be separate messages: [`StagedBytes::part`].
    ///
    /// Local. Cost on host-mapped memory: one copy by the host. Otherwise: one dispatch for all
    /// boxes of a buffer, one submission and one wait; for more than 8 MiB, these and a copy per
    /// slice of 8 MiB.
    ///
    /// # Errors
    /// * A box leaves its buffer or the payload.
    /// * Elements of this size cannot be moved.
    /// * The device fails.
    pub fn gather(
        &self,
        element_bytes: usize,
        pieces: &[PackedBox<'_>],
        payload_bytes: u64,
    ) -> Result<StagedBytes, DeviceError> {
        check_packed_boxes("gather", element_bytes, pieces, payload_bytes)?;
        self.check("gather")?;
        let bytes = usize::try_from(payload_bytes).map_err(|_| self.out_of_memory("gather"))?;
        self.transfer_backend().gather(self, element_bytes, pieces, bytes)
    }

    /// Copies boxes to memory of the caller of any length, as [`gather`](Self::gather) does to a
    /// payload.
    pub fn gather_into(
        &self,
        element_bytes: usize,
        pieces: &[PackedBox<'_>],
        payload: &mut [u8],
    ) -> Result<(), DeviceError> {
        check_packed_boxes("gather", element_bytes, pieces, payload.len().next_multiple_of(4) as u64)?;
        self.check("gather")?;
        self.transfer_backend().gather_into(self, element_bytes, pieces, payload)
    }

    /// Creates a payload in pooled memory of the host. `fill` must write all bytes, as the contents
    /// are unspecified.
    ///
    /// # Errors
    /// None; the result has the type of [`gather`](Self::gather).
    pub fn payload(&self, bytes: usize, fill: impl FnOnce(&mut [u8])) -> Result<StagedBytes, DeviceError> {
        StagedBytes::on_host(&self.logical().memory, bytes, |payload| {
            fill(payload);
            Ok(())
        })
    }

    /// Copies a payload to boxes of chunk buffers: the reverse of [`Device::gather`].
    ///
    /// Recorded commands run first; later commands see the new cells. On return the payload can be
    /// dropped; the device can still be writing to the chunks. Boxes must not overlap, but can
    /// share a word.
    ///
    /// Local. Cost on host-mapped memory: one copy by the host. Otherwise, per 8 MiB of the
    /// payload: one upload, one dispatch for all boxes of a buffer, and one submission.
    ///
    /// # Errors
    /// * A box leaves its buffer or the payload.
    /// * Elements of this size cannot be moved.
    /// * The device fails.
    pub fn scatter(&self, element_bytes: usize, payload: &[u8], pieces: &[PackedBox<'_>]) -> Result<(), DeviceError> {
        check_packed_boxes("scatter", element_bytes, pieces, payload.len() as u64)?;
        check_destination_cells_are_distinct("scatter", pieces.iter().map(|piece| &piece.view))?;
        self.check("scatter")?;
        self.transfer_backend().scatter(self, element_bytes, payload, pieces)
    }

    /// Sets every cell of the boxes to `element`, the bytes of one cell (1, 2 or a multiple of 4).
    ///
    /// Local. Recorded commands run first; later commands see the new cells. Cost on host-mapped
    /// memory: one pass by the host. Otherwise: one dispatch for all boxes of a buffer, and one
    /// submission. A repeated call allocates nothing.
    ///
    /// # Errors
    /// * A box leaves its buffer.
    /// * Elements of this size cannot be moved.
    /// * The device fails.
    pub fn fill(&self, element: &[u8], boxes: &[BufferBox<'_>]) -> Result<(), DeviceError> {
        check_element_size("fill", element.len())?;
        check_destination_cells_are_distinct("fill", boxes.iter().map(|buffer_box| &buffer_box.view))?;
        for BufferBox { buffer, view } in boxes {
            check_box_in_buffer("fill", view, element.len(), buffer.bytes())?;
        }
        self.check("fill")?;
        let non_empty: Vec<BufferBox<'_>> =
            boxes.iter().copied().filter(|buffer_box| buffer_box.view.cells() > 0).collect();
        self.transfer_backend().fill(self, element, &non_empty)
    }

    /// Copies boxes of elements of `element_bytes` (1, 2 or a multiple of 4) to boxes of equal
    /// extents.
    ///
    /// Cell *p* of a source goes to cell *p* of its destination, as if all sources were read before
    /// the first write: sources and destinations can overlap, and copies between buffers can form a
    /// cycle. Destinations must not overlap.
    ///
    /// Local. Recorded commands run first; later commands see the new cells. Cost on host-mapped
    /// memory: one copy by the host. Otherwise: one dispatch for all boxes between two buffers, and
    /// no wait. If a destination overlaps a source: temporary memory, of at most 8 MiB except for
    /// cycles.
    ///
    /// # Errors
    /// * The extents of a pair differ.
    /// * A box leaves its buffer.
    /// * Elements of this size cannot be moved.
    /// * The device fails.
    pub fn copy_boxes(
        &self,
        element_bytes: usize,
        copies: &[(BufferBox<'_>, BufferBox<'_>)],
    ) -> Result<(), DeviceError> {
        let set = CopySet::new("copy", element_bytes, copies)?;
        self.check("copy")?;
        if set.copies.is_empty() { Ok(()) } else { self.transfer_backend().copy(self, set) }
    }

    /// Combines the cells of a payload with the cells of boxes: `cell = operator(arriving, cell)`.
    /// The layout of the payload is that of [`Device::scatter`].
    ///
    /// Boxes can overlap: they are combined in the order of `pieces`. The bits of a result do not
    /// depend on the source of the cells, a payload or [`Device::combine_boxes`]: if the host maps
    /// the chunks, it computes built-in operators on 32-bit scalars and vectors of them; one kernel
    /// computes all others. Recorded commands run first; later commands see the new cells.
    ///
    /// Local. Cost on the host: one pass over payload and boxes. With a kernel: one upload and one
    /// submission per 8 MiB, and one dispatch for the disjoint boxes of a buffer.
    ///
    /// # Errors
    /// * The operator does not support the element type, or does not compile.
    /// * The adapter does not support the element type.
    /// * A box leaves its buffer or the payload.
    /// * The device fails.
    pub fn combine(
        &self,
        element: &ElementInfo,
        payload: &[u8],
        pieces: &[PackedBox<'_>],
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        let operation = format!("combine with {operator}");
        check_packed_boxes(&operation, element.bytes, pieces, payload.len() as u64)?;
        check_destination_cells_are_distinct(&operation, pieces.iter().map(|piece| &piece.view))?;
        self.check(&operation)?;
        operator.check(element)?;
        self.transfer_backend().combine(self, &CellMerge { element, operator }, payload, pieces)
    }

    /// Combines boxes with boxes of equal extents, as if all sources were read before the first
    /// write; see [`Device::combine`]. Destinations can overlap: they are combined in the order of
    /// `pairs`.
    ///
    /// Local. Cost: one dispatch for the disjoint boxes between two buffers. If a destination
    /// overlaps a source: temporary memory for all sources.
    ///
    /// # Errors
    /// * The extents of a pair differ.
    /// * An error of [`Device::combine`].
    pub fn combine_boxes(
        &self,
        element: &ElementInfo,
        pairs: &[(BufferBox<'_>, BufferBox<'_>)],
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        let operation = format!("combine with {operator}");
        let set = CopySet::new(&operation, element.bytes, pairs)?;
        self.check(&operation)?;
        operator.check(element)?;
        self.transfer_backend().combine_boxes(self, &CellMerge { element, operator }, &set)
    }

    /// Lends bytes of a mapped chunk as a message payload, without a copy. Recorded commands run
    /// first.
    ///
    /// Until [`reclaim_chunks`](Self::reclaim_chunks) returns true, the chunk can only be read by
    /// the host: by a gather, or as the source of [host transfers](Self::is_host_transfer).
    ///
    /// # Errors
    /// * The host does not map chunks.
    /// * The bytes leave the chunk.
    /// * The device fails.
    pub fn in_place_payload(&self, chunk: &ChunkBuffer, bytes: Range<u64>) -> Result<StagedBytes, DeviceError> {
        self.transfer_backend().in_place_payload(self, chunk, bytes)
    }

    /// True if the host, without a kernel, moves cells of this element type and, with an operator,
    /// combines them.
    ///
    /// # Errors
    /// The operator does not support the element type, or does not compile.
    pub fn is_host_transfer(&self, element: &ElementInfo, operator: Option<&Operator>) -> Result<bool, DeviceError> {
        operator.map_or(Ok(()), |operator| operator.check(element))?;
        Ok(self.transfer_backend().is_host_transfer(element, operator))
    }

    /// Lends all bytes of distinct buffers to `f`, after all recorded commands are complete. For a
    /// device that [is the host](Self::is_host); other devices use [`gather`](Self::gather) and
    /// [`scatter`](Self::scatter). `f` must not record commands that use the buffers.
    ///
    /// # Errors
    /// * The buffers are not mapped, or one is given twice.
    /// * The device fails.
    pub fn lend<R, const N: usize>(
        &self,
        chunks: [&ChunkBuffer; N],
        f: impl FnOnce([&mut [u8]; N]) -> R,
    ) -> Result<R, DeviceError> {
        self.lend_all(&chunks, |bytes| f(bytes.try_into().unwrap_or_else(|_| unreachable!("one slice per chunk"))))
    }

    /// Lends all bytes of any number of distinct buffers to `f`, as [`lend`](Self::lend) does.
    pub fn lend_all<R>(&self, chunks: &[&ChunkBuffer], f: impl FnOnce(Vec<&mut [u8]>) -> R) -> Result<R, DeviceError> {
        let (mut f, mut result) = (Some(f), None);
        self.transfer_backend().lend(self, chunks, &mut |bytes| result = f.take().map(|f| f(bytes)))?;
        Ok(result.expect("called once"))
    }

    /// Lends all bytes of buffers to `f` for reads, after all recorded commands are complete.
    /// Requires [mapped](Self::host_mapped) memory; messages can be sent from the memory at the
    /// same time.
    ///
    /// # Errors
    /// * The buffers are not mapped, or one is lent already.
    /// * The device fails.
    pub fn lend_to_read(&self, chunks: &[&ChunkBuffer], f: &mut dyn FnMut(&[&[u8]])) -> Result<(), DeviceError> {
        self.check("lending memory to the host")?;
        self.transfer_backend().lend_to_read(self, chunks, f)
    }

    /// Returns the preferred block size, in bytes, of a single streaming pass over a chunk.
    pub fn preferred_block_bytes(&self) -> u64 {
        self.transfer_backend().preferred_block_bytes()
    }

    fn transfer_backend(&self) -> &'static dyn TransferBackend {
        if self.host_mapped() { &HostTransfers } else { &KernelTransfers }
    }

    /// True for a software adapter with mapped memory: the CPU does the work either way. Operations
    /// then have versions for the host instead of kernels, except with
    /// [`KernelBackend::NativeOnly`](super::KernelBackend::NativeOnly).
    pub fn is_host(&self) -> bool {
        let is_software = self.adapter().device_type == wgpu::DeviceType::Cpu;
        self.host_mapped() && is_software && !self.logical().has_kernels_only
    }
}
