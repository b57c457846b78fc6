//! Copies between boxes of mapped chunks by the host.

use wgpu::MapMode;

use super::copy_cells::copy_cells;
use super::host_write::{HostWrite, map_for_write};
use crate::device::box_pair::BoxPair;
use crate::device::boxes::StridedBox;
use crate::device::copy_order::CopyStep;
use crate::device::copy_set::{CopySet, ListedCopy};
use crate::device::mapped_bytes::{access_mapped, read_mapped};
use crate::device::{Device, StagedBytes};
use crate::error::DeviceError;

/// Maximum size, in bytes, of the temporary memory of a batch of copies: it fits in the caches of
/// the CPU.
const BATCH_BYTES: u64 = 1 << 20;

/// Runs the steps of copies on mapped chunks by the host.
pub(super) fn run_steps(
    device: &Device,
    set: &CopySet<'_>,
    steps: &[CopyStep],
    write: &HostWrite<'_>,
) -> Result<(), DeviceError> {
    let mut held: Vec<(usize, StagedBytes)> = Vec::new();
    for step in steps {
        match step {
            CopyStep::Direct(list) => copy_directly(device, set, list, write)?,
            CopyStep::Staged(list) => copy_staged(device, set, list, write)?,
            CopyStep::Hold(copy) => held.push((*copy, stage_sources(device, set, &[*copy])?)),
            CopyStep::Release(copy) => {
                for (_, staged) in held.extract_if(.., |(held, _)| held == copy) {
                    write_destinations(device, set, &[*copy], &staged, write)?;
                }
            }
        }
    }
    Ok(())
}

fn copy_directly(device: &Device, set: &CopySet<'_>, list: &[usize], write: &HostWrite<'_>) -> Result<(), DeviceError> {
    let (sources, destinations) = (set.src_buffers(list), set.dst_buffers(list));
    if sources.iter().any(|buffer| destinations.contains(buffer)) {
        // A buffer cannot be mapped for reading and for writing at the same time.
        for batch in set.batches(list, BATCH_BYTES) {
            copy_staged(device, set, batch, write)?;
        }
        return Ok(());
    }
    let raw = |indices: &[usize]| indices.iter().map(|&index| set.buffers[index]).collect::<Vec<_>>();
    let _mapped = map_for_write(device, write, &raw(&sources), &raw(&destinations))?;
    let views: Result<Vec<_>, _> =
        sources.iter().map(|&index| read_mapped(set.buffers[index], 0..set.buffers[index].size())).collect();
    let views = views?;
    for (dst, copies) in set.group_by_dst(list) {
        access_mapped(set.buffers[dst], 0..set.buffers[dst].size(), |chunk| {
            for ListedCopy { copy, .. } in copies {
                let copy = &set.copies[copy];
                let src = &views[sources.binary_search(&copy.src.buffer).unwrap_or(0)];
                (write.cells)(src, chunk, &BoxPair::new(&copy.src.view, &copy.dst.view));
            }
        })?;
    }
    Ok(())
}

fn copy_staged(device: &Device, set: &CopySet<'_>, list: &[usize], write: &HostWrite<'_>) -> Result<(), DeviceError> {
    let staged = stage_sources(device, set, list)?;
    write_destinations(device, set, list, &staged, write)
}

/// Copies the sources of listed copies to temporary memory.
fn stage_sources(device: &Device, set: &CopySet<'_>, list: &[usize]) -> Result<StagedBytes, DeviceError> {
    let layout = set.temporary_layout(list);
    StagedBytes::on_host(&device.logical().memory, layout.bytes as usize, |staged| {
        let modes: Vec<_> = set.src_buffers(list).iter().map(|&index| (set.buffers[index], MapMode::Read)).collect();
        let _mapped = device.map_buffers(&modes)?;
        for (src, copies) in set.group_by_src(list) {
            let chunk = read_mapped(set.buffers[src], 0..set.buffers[src].size())?;
            for ListedCopy { position, copy } in copies {
                let view = set.copies[copy].src.view;
                let transfer = BoxPair::new(&view, &StridedBox::dense(0, view.extents));
                let offset = layout.offsets[position] as usize;
                copy_cells(&chunk, &mut staged[offset..], set.element_bytes, &transfer);
            }
        }
        Ok(())
    })
}

/// Writes the staged sources of listed copies to their destinations.
fn write_destinations(
    device: &Device,
    set: &CopySet<'_>,
    list: &[usize],
    staged: &StagedBytes,
    write: &HostWrite<'_>,
) -> Result<(), DeviceError> {
    let layout = set.temporary_layout(list);
    let destinations: Vec<_> = set.dst_buffers(list).into_iter().map(|index| set.buffers[index]).collect();
    let _mapped = map_for_write(device, write, &[], &destinations)?;
    for (dst, copies) in set.group_by_dst(list) {
        access_mapped(set.buffers[dst], 0..set.buffers[dst].size(), |chunk| {
            for ListedCopy { position, copy } in copies {
                let view = set.copies[copy].dst.view;
                let transfer = BoxPair::new(&StridedBox::dense(0, view.extents), &view);
                (write.cells)(&staged.as_ref()[layout.offsets[position] as usize..], chunk, &transfer);
            }
        })?;
    }
    Ok(())
}
