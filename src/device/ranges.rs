//! The bytes of mapped buffers.

use std::ops::Range;

use crate::error::DeviceError;

/// Runs `f` on the bytes `range` of a buffer that is mapped for writing.
pub(super) fn write_mapped<R>(
    buffer: &wgpu::Buffer,
    range: Range<u64>,
    f: impl FnOnce(&mut [u8]) -> R,
) -> Result<R, DeviceError> {
    let mut view = buffer.get_mapped_range_mut(range).map_err(refused)?;
    let mut bytes = view.slice(..);
    let (len, start) = (bytes.len(), bytes.as_raw_element_ptr());
    // SAFETY: the view lends this range exclusively while it lives, wgpu has initialised it (buffers are zeroed before
    // they are mapped), and `f` cannot keep the slice.
    Ok(f(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) }))
}

/// Runs `f` on all bytes of different buffers that are mapped for writing.
pub(super) fn write_all_mapped(
    buffers: &[&wgpu::Buffer],
    f: &mut dyn FnMut(Vec<&mut [u8]>),
) -> Result<(), DeviceError> {
    let views = buffers.iter().map(|buffer| buffer.get_mapped_range_mut(..).map_err(refused));
    let mut views = views.collect::<Result<Vec<_>, _>>()?;
    let slice = |view: &mut wgpu::BufferViewMut| {
        let mut bytes = view.slice(..);
        let (len, start) = (bytes.len(), bytes.as_raw_element_ptr());
        // SAFETY: as in `write_mapped`; the slices are of different buffers, and gone when `f` is done with them, before
        // the views are.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) }
    };
    f(views.iter_mut().map(slice).collect());
    Ok(())
}

/// The bytes `range` of a buffer that is mapped for reading.
pub(super) fn read_mapped(buffer: &wgpu::Buffer, range: Range<u64>) -> Result<wgpu::BufferView, DeviceError> {
    buffer.get_mapped_range(range).map_err(refused)
}

fn refused(error: wgpu::MapRangeError) -> DeviceError {
    DeviceError::Refused { what: "host access to a mapped buffer".into(), message: error.to_string() }
}
