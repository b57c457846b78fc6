//! Moving boxes of cells: what callers see, checked here and done by the device's [`Reach`].

use std::ops::Range;

use super::boxes::PackedBox;
use super::checks::{check_destinations, check_element, check_pieces, check_view};
use super::kernels::Kernels;
use super::mapped::Mapped;
use super::numbered::{BufferBox, number};
use super::reach::Reach;
use super::{ChunkBuffer, Device, Operator, Staged};
use crate::element::ElementInfo;
use crate::error::DeviceError;

impl Device {
    /// Copies boxes of elements of `element_bytes` (1, 2 or a multiple of 4) into a payload of
    /// `payload_bytes` bytes.
    ///
    /// Every box stands densely in the payload at its own offset, its view's axis 0 fastest. Bytes
    /// that no box covers are unspecified, except that the last word of a box is filled up with
    /// zeros. Recorded work comes first. On return the bytes are there and the chunks may be
    /// changed. One payload can serve several messages: [`Staged::part`].
    ///
    /// Local. Cost: on host-mapped memory one copy by the host; elsewhere one dispatch for all
    /// boxes of a buffer, one submission and one wait, and for payloads beyond 8 MiB one such round
    /// and a copy for every slice of 8 MiB.
    ///
    /// # Errors
    /// A box that leaves its buffer or the payload, an element size that cannot be moved, or a
    /// failing device.
    pub fn gather(
        &self,
        element_bytes: usize,
        pieces: &[PackedBox],
        payload_bytes: u64,
    ) -> Result<Staged, DeviceError> {
        check_pieces("gather", element_bytes, pieces, payload_bytes)?;
        self.check("gather")?;
        let bytes = usize::try_from(payload_bytes).map_err(|_| self.out_of_memory("gather"))?;
        self.reach().gather(self, element_bytes, pieces, bytes)
    }

    /// [`gather`](Self::gather) into memory that is there, of any length.
    pub fn gather_into(
        &self,
        element_bytes: usize,
        pieces: &[PackedBox],
        payload: &mut [u8],
    ) -> Result<(), DeviceError> {
        check_pieces("gather", element_bytes, pieces, payload.len().next_multiple_of(4) as u64)?;
        self.check("gather")?;
        self.reach().gather_into(self, element_bytes, pieces, payload)
    }

    /// A payload of `bytes` bytes, which `fill` writes; the bytes have any contents before. The
    /// memory is that of gathered cells, and is used again after the drop of the payload.
    ///
    /// # Errors
    /// None at present.
    pub fn payload(&self, bytes: usize, fill: impl FnOnce(&mut [u8])) -> Result<Staged, DeviceError> {
        Staged::on_host(&self.logical().memory, bytes, |payload| {
            fill(payload);
            Ok(())
        })
    }

    /// Copies a payload into boxes of chunk buffers: the reverse of [`Device::gather`].
    ///
    /// Recorded work comes first, later work sees the new cells. The payload may be dropped on
    /// return; the copy into the chunks may still be under way on the device. Boxes must not
    /// overlap each other (which one wins is unspecified); two boxes may share a word.
    ///
    /// Local. Cost: on host-mapped memory one copy by the host; elsewhere one upload, one dispatch
    /// for all boxes of a buffer and one submission, for every 8 MiB of the payload.
    ///
    /// # Errors
    /// A box that leaves its buffer or the payload, an element size that cannot be moved, or a
    /// failing device.
    pub fn scatter(&self, element_bytes: usize, payload: &[u8], pieces: &[PackedBox]) -> Result<(), DeviceError> {
        check_pieces("scatter", element_bytes, pieces, payload.len() as u64)?;
        check_destinations("scatter", pieces.iter().map(|piece| &piece.view))?;
        self.check("scatter")?;
        self.reach().scatter(self, element_bytes, payload, pieces)
    }

    /// Sets every cell of the boxes to `element`, the bytes of one cell (1, 2 or a multiple of 4).
    ///
    /// Local. Recorded work comes first, later work sees the new cells. Cost: on host-mapped memory
    /// one pass by the host; elsewhere one dispatch for all boxes of a buffer and one submission. A
    /// warm repeat allocates nothing.
    ///
    /// # Errors
    /// A box that leaves its buffer, an element size that cannot be moved, or a failing device.
    pub fn fill(&self, element: &[u8], boxes: &[BufferBox]) -> Result<(), DeviceError> {
        check_element("fill", element.len())?;
        check_destinations("fill", boxes.iter().map(|one| &one.view))?;
        for one in boxes {
            check_view("fill", &one.view, element.len(), one.buffer.bytes())?;
        }
        self.check("fill")?;
        let filled: Vec<BufferBox> = boxes.iter().copied().filter(|one| one.view.cells() > 0).collect();
        self.reach().fill(self, element, &filled)
    }

    /// Copies boxes of elements of `element_bytes` (1, 2 or a multiple of 4) to boxes of equal
    /// extents, cell *p* of the source to cell *p* of the destination, as if every source were read
    /// before anything is written: boxes may overlap within a buffer, and buffers may be copied in
    /// circles. Destinations must not overlap each other.
    ///
    /// Local. Recorded work comes first, later work sees the new cells. Cost: on host-mapped memory
    /// a copy by the host; elsewhere one dispatch for all boxes between two buffers and no wait.
    /// Temporary memory is used only where a destination overlaps a source, at most 8 MiB at a time
    /// unless sources and destinations form a circle.
    ///
    /// # Errors
    /// Extents that differ, a box that leaves its buffer, an element size that cannot be moved, or
    /// a failing device.
    pub fn copy_boxes(&self, element_bytes: usize, copies: &[(BufferBox, BufferBox)]) -> Result<(), DeviceError> {
        let numbered = number("copy", element_bytes, copies)?;
        self.check("copy")?;
        if numbered.copies.is_empty() { Ok(()) } else { self.reach().copy(self, numbered) }
    }

    /// Combines the cells of a payload with those of boxes: `cell = operator(arriving, cell)`. The
    /// payload is laid out as for [`Device::scatter`].
    ///
    /// Boxes may overlap: pieces are combined in the order in which they are listed. The arithmetic
    /// is always done by the same means, whether cells come from a payload or from
    /// [`Device::combine_boxes`]: by the host where it maps the chunks, the operator is built in
    /// and the element a 32-bit scalar or a vector of them, else by one kernel. Recorded work comes
    /// first, later work sees the new cells.
    ///
    /// Local. Cost: by the host one pass over payload and boxes; by a kernel one upload and one
    /// submission for every 8 MiB, one dispatch for the boxes of a buffer that do not overlap.
    ///
    /// # Errors
    /// An operator that does not exist for the element or does not compile, an element type that
    /// the adapter cannot compute with, a box that leaves its buffer or the payload, or a failing
    /// device.
    pub fn combine(
        &self,
        element: &ElementInfo,
        payload: &[u8],
        pieces: &[PackedBox],
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        let what = format!("combine with {operator}");
        check_pieces(&what, element.bytes, pieces, payload.len() as u64)?;
        check_destinations(&what, pieces.iter().map(|piece| &piece.view))?;
        self.check(&what)?;
        operator.check(element)?;
        self.reach().combine(self, element, payload, pieces, operator)
    }

    /// Combines boxes of this device into others of equal extents, as if every source were read
    /// before anything is written; see [`Device::combine`]. Destinations may overlap each other and
    /// are combined in the order listed.
    ///
    /// Local. Cost: one dispatch for the boxes between two buffers that do not overlap; where a
    /// destination overlaps a source, temporary memory for all sources.
    ///
    /// # Errors
    /// As [`Device::combine`], and extents that differ.
    pub fn combine_boxes(
        &self,
        element: &ElementInfo,
        pairs: &[(BufferBox, BufferBox)],
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        let what = format!("combine with {operator}");
        let numbered = number(&what, element.bytes, pairs)?;
        self.check(&what)?;
        operator.check(element)?;
        self.reach().combine_boxes(self, element, &numbered, operator)
    }

    /// Bytes of a chunk as a payload, without a copy; recorded work comes first. Until
    /// [`take_back`](Self::take_back) says that all is back, the chunk may only be read by the
    /// host: gathered, or the source of copies and combines that the [host does](Self::host_moves).
    ///
    /// # Errors
    /// Chunks that the host does not map, bytes outside of the chunk, or a failing device.
    pub fn in_place(&self, chunk: &ChunkBuffer, bytes: Range<u64>) -> Result<Staged, DeviceError> {
        self.reach().in_place(self, chunk, bytes)
    }

    /// Whether the host moves cells of this type, and combines them where there is an operator,
    /// with no kernel.
    pub fn host_moves(&self, element: &ElementInfo, operator: Option<&Operator>) -> Result<bool, DeviceError> {
        operator.map_or(Ok(()), |operator| operator.check(element))?;
        Ok(self.reach().by_host(element, operator))
    }

    /// Lends all bytes of different buffers to `f`, when queued work is done. For a device that [is
    /// the host](Self::is_host); elsewhere use [`gather`](Self::gather) and
    /// [`scatter`](Self::scatter). `f` records nothing that uses them, as what is recorded may be
    /// submitted at once.
    ///
    /// # Errors
    /// Memory that is not mapped, twice the same buffer, or a failing device.
    pub fn lend<R, const N: usize>(
        &self,
        chunks: [&ChunkBuffer; N],
        f: impl FnOnce([&mut [u8]; N]) -> R,
    ) -> Result<R, DeviceError> {
        self.lend_all(&chunks, |bytes| f(bytes.try_into().unwrap_or_else(|_| unreachable!("as many as were given"))))
    }

    /// [`lend`](Self::lend) of any number of buffers.
    pub fn lend_all<R>(&self, chunks: &[&ChunkBuffer], f: impl FnOnce(Vec<&mut [u8]>) -> R) -> Result<R, DeviceError> {
        let (mut f, mut out) = (Some(f), None);
        self.reach().lend(self, chunks, &mut |bytes| out = f.take().map(|f| f(bytes)))?;
        Ok(out.expect("called once"))
    }

    /// Lends all bytes of different buffers to `f`, which reads them, when queued work is done.
    /// For memory that the [host maps](Self::host_mapped), also while messages are sent from it.
    ///
    /// # Errors
    /// Memory that is not mapped, or that is lent already; a failing device.
    pub fn lend_to_read(&self, chunks: &[&ChunkBuffer], f: &mut dyn FnMut(&[&[u8]])) -> Result<(), DeviceError> {
        self.check("lending memory to the host")?;
        self.reach().lend_to_read(self, chunks, f)
    }

    /// Bytes that are best read at a time by who only looks at cells once.
    pub fn bytes_at_a_time(&self) -> u64 {
        self.reach().bytes_at_a_time()
    }

    /// How boxes of chunks are reached.
    fn reach(&self) -> &'static dyn Reach {
        if self.host_mapped() { &Mapped } else { &Kernels }
    }

    /// True for a software adapter with mapped memory: the CPU does the work either way. Operations
    /// then have versions for the host in place of kernels, except with
    /// [`KernelBackend::NativeOnly`](super::KernelBackend::NativeOnly).
    pub fn is_host(&self) -> bool {
        let is_software = self.adapter().device_type == wgpu::DeviceType::Cpu;
        self.host_mapped() && is_software && !self.logical().has_kernels_only
    }
}
