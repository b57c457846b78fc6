//! What the host does with cells that it brings to mapped chunks.

use wgpu::MapMode;

use super::super::boxes::{BoxPair, PackedBox, Strided};
use super::super::mapping::MappedBuffers;
use super::super::ranges::access_mapped;
use super::copy::copy;
use crate::device::Device;
use crate::error::DeviceError;

/// From a box of the first slice to a box of the second.
type PutCells<'a> = Box<dyn Fn(&[u8], &mut [u8], &BoxPair) + 'a>;

/// What is done with the cells of a box where they arrive.
pub(super) struct HostPut<'a> {
    pub cells: PutCells<'a>,
    /// Whether the cells that are there are looked at.
    pub reads: bool,
}

impl HostPut<'_> {
    /// They replace what is there.
    pub fn copying(element_bytes: usize) -> Self {
        Self { cells: Box::new(move |src, dst, t| copy(src, dst, element_bytes, t)), reads: false }
    }
}

/// Maps `sources` for reading and `destinations` for what `put` does.
pub(super) fn map_for(
    on: &Device,
    put: &HostPut,
    sources: &[&wgpu::Buffer],
    destinations: &[&wgpu::Buffer],
) -> Result<MappedBuffers, DeviceError> {
    if put.reads {
        // Memory that is not coherent is brought up to date only by a map for reading.
        let modes: Vec<_> = destinations.iter().map(|&buffer| (buffer, MapMode::Read)).collect();
        drop(on.map_many(&modes)?);
    }
    let modes = sources.iter().map(|&buffer| (buffer, MapMode::Read));
    let modes: Vec<_> = modes.chain(destinations.iter().map(|&buffer| (buffer, MapMode::Write))).collect();
    on.map_many(&modes)
}

/// Puts a payload into mapped chunks, the boxes of a chunk in the order listed.
pub(super) fn put(on: &Device, payload: &[u8], pieces: &[PackedBox], put: &HostPut) -> Result<(), DeviceError> {
    let buffers = PackedBox::by_buffer(pieces);
    let raw: Vec<_> = buffers.iter().map(|(buffer, _)| *buffer).collect();
    let _mapped = map_for(on, put, &[], &raw)?;
    for (buffer, pieces) in buffers {
        access_mapped(buffer, 0..buffer.size(), |chunk| {
            for piece in pieces {
                let transfer = BoxPair::new(&Strided::dense(0, piece.view.extents), &piece.view);
                (put.cells)(&payload[piece.payload_offset as usize..], chunk, &transfer);
            }
        })?;
    }
    Ok(())
}
