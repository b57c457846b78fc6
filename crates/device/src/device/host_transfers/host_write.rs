//! [`HostWrite`]: function by which the host writes arriving cells to mapped chunks.

use wgpu::MapMode;

use super::copy_cells::copy_cells;
use crate::device::Device;
use crate::device::box_pair::BoxPair;
use crate::device::boxes::{PackedBox, StridedBox};
use crate::device::mapped_bytes::access_mapped;
use crate::device::mapping::MappedBuffers;
use crate::error::DeviceError;

/// Function that writes the cells of a box of the first slice to a box of the second slice, by a
/// copy or a combination.
pub(super) type WriteCells<'a> = Box<dyn Fn(&[u8], &mut [u8], &BoxPair) + 'a>;

/// Write of arriving cells to chunks: a copy, or a combination with the cells of the destination.
pub(super) struct HostWrite<'a> {
    pub cells: WriteCells<'a>,
    /// True if the function reads the cells of the destination.
    pub reads_destination: bool,
}

impl HostWrite<'_> {
    pub(super) fn copy(element_bytes: usize) -> Self {
        let cells: WriteCells<'_> = Box::new(move |src, dst, transfer| copy_cells(src, dst, element_bytes, transfer));
        Self { cells, reads_destination: false }
    }
}

/// Maps the buffers `sources` for reading and `destinations` for a write.
pub(super) fn map_for_write(
    device: &Device,
    write: &HostWrite<'_>,
    sources: &[&wgpu::Buffer],
    destinations: &[&wgpu::Buffer],
) -> Result<MappedBuffers, DeviceError> {
    if write.reads_destination {
        // Only a map for reading updates memory that is not coherent.
        let modes: Vec<_> = destinations.iter().map(|&buffer| (buffer, MapMode::Read)).collect();
        drop(device.map_buffers(&modes)?);
    }
    let modes = sources.iter().map(|&buffer| (buffer, MapMode::Read));
    let modes: Vec<_> = modes.chain(destinations.iter().map(|&buffer| (buffer, MapMode::Write))).collect();
    device.map_buffers(&modes)
}

/// Writes the packed cells of a payload to boxes of mapped chunks. The boxes of a chunk are written
/// in the order of `pieces`.
pub(super) fn write_payload(
    device: &Device,
    payload: &[u8],
    pieces: &[PackedBox<'_>],
    write: &HostWrite<'_>,
) -> Result<(), DeviceError> {
    let groups = PackedBox::group_by_buffer(pieces);
    let buffers: Vec<_> = groups.iter().map(|(buffer, _)| *buffer).collect();
    let _mapped = map_for_write(device, write, &[], &buffers)?;
    for (buffer, pieces) in groups {
        access_mapped(buffer, 0..buffer.size(), |chunk| {
            for piece in pieces {
                let transfer = BoxPair::new(&StridedBox::dense(0, piece.view.extents), &piece.view);
                (write.cells)(&payload[piece.payload_offset as usize..], chunk, &transfer);
            }
        })?;
    }
    Ok(())
}
