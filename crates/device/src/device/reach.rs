//! [`Reach`]: how boxes of chunks are reached.

use std::ops::Range;

use super::boxes::PackedBox;
use super::numbered::{BufferBox, Numbered};
use super::{ChunkBuffer, Device, Operator, Staged};
use crate::element::ElementInfo;
use crate::error::DeviceError;

/// The way to the cells of chunks of a device: the [host](super::mapped::Mapped) reaches into mapped memory, or
/// [kernels](super::kernels::Kernels) pack and unpack. Arguments have been checked; see the methods of [`Device`] of the
/// same names.
pub(super) trait Reach {
    /// Whether the host moves these elements, and combines them where there is an operator. Depends on adapter, element and
    /// operator alone, so that the bits of an operation do not depend on where cells come from.
    fn by_host(&self, element: &ElementInfo, operator: Option<&Operator>) -> bool;

    /// Bytes that are best read at a time by who only looks at cells once.
    fn bytes_at_a_time(&self) -> u64;

    fn gather(
        &self,
        on: &Device,
        element_bytes: usize,
        pieces: &[PackedBox],
        bytes: usize,
    ) -> Result<Staged, DeviceError>;

    fn gather_into(
        &self,
        on: &Device,
        element_bytes: usize,
        pieces: &[PackedBox],
        payload: &mut [u8],
    ) -> Result<(), DeviceError> {
        let staged = self.gather(on, element_bytes, pieces, payload.len().next_multiple_of(4))?;
        payload.copy_from_slice(&staged.as_ref()[..payload.len()]);
        Ok(())
    }

    fn scatter(
        &self,
        on: &Device,
        element_bytes: usize,
        payload: &[u8],
        pieces: &[PackedBox],
    ) -> Result<(), DeviceError>;

    fn fill(&self, on: &Device, element: &[u8], boxes: &[BufferBox]) -> Result<(), DeviceError>;

    fn copy(&self, on: &Device, of: Numbered) -> Result<(), DeviceError>;

    fn combine(
        &self,
        on: &Device,
        element: &ElementInfo,
        payload: &[u8],
        pieces: &[PackedBox],
        operator: &Operator,
    ) -> Result<(), DeviceError>;

    fn combine_boxes(
        &self,
        on: &Device,
        element: &ElementInfo,
        of: &Numbered,
        operator: &Operator,
    ) -> Result<(), DeviceError>;

    fn in_place(&self, on: &Device, chunk: &ChunkBuffer, bytes: Range<u64>) -> Result<Staged, DeviceError>;

    fn lend_to_read(
        &self,
        on: &Device,
        chunks: &[&ChunkBuffer],
        f: &mut dyn FnMut(&[&[u8]]),
    ) -> Result<(), DeviceError>;

    fn lend(&self, on: &Device, chunks: &[&ChunkBuffer], f: &mut dyn FnMut(Vec<&mut [u8]>)) -> Result<(), DeviceError>;
}
