//! [`TransferBackend`]: implementation of the transfers between chunks and payloads.

use std::ops::Range;

use super::boxes::{BufferBox, PackedBox};
use super::copy_set::CopySet;
use super::{ChunkBuffer, Device, Operator, StagedBytes};
use crate::element::ElementInfo;
use crate::error::DeviceError;

/// Implementation of transfers: by the [host](super::host_transfers::HostTransfers) in mapped
/// memory, or by [kernels](super::kernel_transfers::KernelTransfers) that pack and unpack. The
/// methods of [`Device`] with the same names check the arguments and have the documentation.
pub(super) trait TransferBackend {
    /// True if the host moves cells of this element type and, with an operator, combines them.
    /// Depends only on adapter, element and operator, so that the bits of a result do not depend on
    /// the location of the cells.
    fn is_host_transfer(&self, element: &ElementInfo, operator: Option<&Operator>) -> bool;

    /// Returns the preferred block size, in bytes, of a single streaming pass.
    fn preferred_block_bytes(&self) -> u64;

    fn gather(
        &self,
        device: &Device,
        element_bytes: usize,
        pieces: &[PackedBox<'_>],
        bytes: usize,
    ) -> Result<StagedBytes, DeviceError>;

    fn gather_into(
        &self,
        device: &Device,
        element_bytes: usize,
        pieces: &[PackedBox<'_>],
        payload: &mut [u8],
    ) -> Result<(), DeviceError> {
        let staged = self.gather(device, element_bytes, pieces, payload.len().next_multiple_of(4))?;
        payload.copy_from_slice(&staged.as_ref()[..payload.len()]);
        Ok(())
    }

    fn scatter(
        &self,
        device: &Device,
        element_bytes: usize,
        payload: &[u8],
        pieces: &[PackedBox<'_>],
    ) -> Result<(), DeviceError>;

    fn fill(&self, device: &Device, element: &[u8], boxes: &[BufferBox<'_>]) -> Result<(), DeviceError>;

    fn copy(&self, device: &Device, set: CopySet<'_>) -> Result<(), DeviceError>;

    fn combine(
        &self,
        device: &Device,
        merge: &CellMerge<'_>,
        payload: &[u8],
        pieces: &[PackedBox<'_>],
    ) -> Result<(), DeviceError>;

    fn combine_boxes(&self, device: &Device, merge: &CellMerge<'_>, set: &CopySet<'_>) -> Result<(), DeviceError>;

    fn in_place_payload(
        &self,
        device: &Device,
        chunk: &ChunkBuffer,
        bytes: Range<u64>,
    ) -> Result<StagedBytes, DeviceError>;

    fn lend_to_read(
        &self,
        device: &Device,
        chunks: &[&ChunkBuffer],
        f: &mut dyn FnMut(&[&[u8]]),
    ) -> Result<(), DeviceError>;

    fn lend(
        &self,
        device: &Device,
        chunks: &[&ChunkBuffer],
        f: &mut dyn FnMut(Vec<&mut [u8]>),
    ) -> Result<(), DeviceError>;
}

/// Element type and operator that combine arriving cells with cells of the destination.
pub(super) struct CellMerge<'a> {
    pub element: &'a ElementInfo,
    pub operator: &'a Operator,
}
