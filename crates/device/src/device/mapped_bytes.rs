//! Access to the bytes of mapped buffers.

use std::ops::Range;

use crate::error::DeviceError;

/// Calls `f` with the bytes `range` of a buffer that is mapped for writing and has the usage
/// `MAP_READ`.
pub(super) fn access_mapped<R>(
    buffer: &wgpu::Buffer,
    range: Range<u64>,
    f: impl FnOnce(&mut [u8]) -> R,
) -> Result<R, DeviceError> {
    let mut view = readable_view(buffer, range)?;
    // SAFETY: `f` cannot keep the slice, which ends before the view.
    Ok(f(unsafe { view_bytes(&mut view) }))
}

/// Calls `f` with the bytes of distinct buffers that are mapped for writing and have the usage
/// `MAP_READ`.
pub(super) fn access_all_mapped(
    buffers: &[&wgpu::Buffer],
    f: &mut dyn FnMut(Vec<&mut [u8]>),
) -> Result<(), DeviceError> {
    let views = buffers.iter().map(|buffer| readable_view(buffer, 0..buffer.size()));
    let mut views = views.collect::<Result<Vec<_>, _>>()?;
    // SAFETY: `f` cannot keep the slices, which end before the views and are of different buffers.
    f(views.iter_mut().map(|view| unsafe { view_bytes(view) }).collect());
    Ok(())
}

/// Returns a write-only view of the bytes `range` of a buffer that is mapped for writing.
pub(super) fn write_mapped(buffer: &wgpu::Buffer, range: Range<u64>) -> Result<wgpu::BufferViewMut, DeviceError> {
    buffer.get_mapped_range_mut(range).map_err(access_error)
}

/// Returns a view of the bytes `range` of a buffer that is mapped for reading.
pub(super) fn read_mapped(buffer: &wgpu::Buffer, range: Range<u64>) -> Result<wgpu::BufferView, DeviceError> {
    buffer.get_mapped_range(range).map_err(access_error)
}

fn readable_view(buffer: &wgpu::Buffer, range: Range<u64>) -> Result<wgpu::BufferViewMut, DeviceError> {
    if buffer.usage().contains(wgpu::BufferUsages::MAP_READ) {
        write_mapped(buffer, range)
    } else {
        Err(access_error("the buffer does not have the usage MAP_READ"))
    }
}

/// Returns the bytes of a view of [`readable_view`].
///
/// # Safety
/// The view must outlive the slice.
unsafe fn view_bytes<'a>(view: &mut wgpu::BufferViewMut) -> &'a mut [u8] {
    let mut bytes = view.slice(..);
    let (len, start) = (bytes.len(), bytes.as_raw_element_ptr());
    // SAFETY: the view lends this range exclusively while it lives. wgpu guarantees that the memory
    // is writable. It is readable, as the buffer has the usage `MAP_READ`, and initialised, as wgpu
    // zeroes buffers before it maps them.
    unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) }
}

fn access_error(error: impl ToString) -> DeviceError {
    DeviceError::Refused { what: "host access to a mapped buffer".into(), message: error.to_string() }
}
