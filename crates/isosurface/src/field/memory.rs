//! Access to samples in memory.

use zippy::array::ChunkRef;
use zippy::extents::Index;
use zippy::{GlobalArray, Result, World};

use super::block::{Samples, Slice};
use crate::sample::Sample;

/// Calls `f` with the samples of a chunk, including ghost cells: in place if the device is the
/// host, otherwise from a copy.
pub(crate) fn with_samples<T: Sample, R>(
    world: &World,
    field: &GlobalArray<T, 3>,
    chunk: &ChunkRef<T, 3>,
    f: impl FnOnce(&dyn Samples) -> R,
) -> Result<R> {
    let (gpu, section) = (world.gpu(), chunk.with_ghosts());
    let storage = section.region()?;
    if let Some(lease) = chunk.lease()?.filter(|_| gpu.is_host()) {
        field.core().mark_read(chunk.id(), &storage);
        let strided = field.core().strided(chunk.id(), &storage);
        let strides = std::array::from_fn(|axis| strided.strides[axis] as usize);
        return Ok(gpu.lend([&lease], |[bytes]| {
            f(&Slice { cells: &bytemuck::cast_slice::<u8, T>(bytes)[strided.offset as usize..], strides })
        })?);
    }
    let dense: Index = storage.extents().dense_strides();
    Ok(f(&Slice { cells: &section.read()?, strides: std::array::from_fn(|axis| dense[axis] as usize) }))
}
