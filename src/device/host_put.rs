//! What the host does with cells that it brings to mapped chunks.

use wgpu::MapMode;

use super::boxes::Transfer;
use super::mapping::MappedBuffers;
use super::{Device, host_copy};
use crate::error::DeviceError;

/// From a box of the first slice to a box of the second.
type PutCells<'a> = Box<dyn Fn(&[u8], &mut [u8], &Transfer) + 'a>;

/// What is done with the cells of a box where they arrive.
pub(super) struct HostPut<'a> {
    pub cells: PutCells<'a>,
    /// Whether the cells that are there are looked at.
    pub reads: bool,
}

impl HostPut<'_> {
    /// They replace what is there.
    pub fn copying(element_bytes: usize) -> Self {
        Self { cells: Box::new(move |src, dst, t| host_copy::copy(src, dst, element_bytes, t)), reads: false }
    }
}

impl Device {
    /// Maps `sources` for reading and `destinations` for what `put` does.
    pub(super) fn map_for(
        &self,
        put: &HostPut,
        sources: &[&wgpu::Buffer],
        destinations: &[&wgpu::Buffer],
    ) -> Result<MappedBuffers, DeviceError> {
        if put.reads {
            // Memory that is not coherent is brought up to date only by a map for reading.
            let modes: Vec<_> = destinations.iter().map(|&buffer| (buffer, MapMode::Read)).collect();
            drop(self.map_many(&modes)?);
        }
        let modes = sources.iter().map(|&buffer| (buffer, MapMode::Read));
        let modes: Vec<_> = modes.chain(destinations.iter().map(|&buffer| (buffer, MapMode::Write))).collect();
        self.map_many(&modes)
    }
}
