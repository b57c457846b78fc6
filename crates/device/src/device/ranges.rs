//! The bytes of mapped buffers.

use std::ops::Range;

use crate::error::DeviceError;

/// Runs `f` on the bytes `range` of a buffer that is mapped for writing and was made to be read by the host, too.
pub(super) fn access_mapped<R>(
    buffer: &wgpu::Buffer,
    range: Range<u64>,
    f: impl FnOnce(&mut [u8]) -> R,
) -> Result<R, DeviceError> {
    let mut view = readable_view(buffer, range)?;
    // SAFETY: `f` cannot keep the slice, which ends before the view.
    Ok(f(unsafe { bytes(&mut view) }))
}

/// Runs `f` on all bytes of different buffers that are mapped for writing and were made to be read by the host, too.
pub(super) fn access_all_mapped(
    buffers: &[&wgpu::Buffer],
    f: &mut dyn FnMut(Vec<&mut [u8]>),
) -> Result<(), DeviceError> {
    let views = buffers.iter().map(|buffer| readable_view(buffer, 0..buffer.size()));
    let mut views = views.collect::<Result<Vec<_>, _>>()?;
    // SAFETY: `f` cannot keep the slices, which end before the views and are of different buffers.
    f(views.iter_mut().map(|view| unsafe { bytes(view) }).collect());
    Ok(())
}

/// The bytes `range` of a buffer that is mapped for writing: memory that the host may not read.
pub(super) fn write_mapped(buffer: &wgpu::Buffer, range: Range<u64>) -> Result<wgpu::BufferViewMut, DeviceError> {
    buffer.get_mapped_range_mut(range).map_err(refused)
}

/// The bytes `range` of a buffer that is mapped for reading.
pub(super) fn read_mapped(buffer: &wgpu::Buffer, range: Range<u64>) -> Result<wgpu::BufferView, DeviceError> {
    buffer.get_mapped_range(range).map_err(refused)
}

fn readable_view(buffer: &wgpu::Buffer, range: Range<u64>) -> Result<wgpu::BufferViewMut, DeviceError> {
    if buffer.usage().contains(wgpu::BufferUsages::MAP_READ) {
        write_mapped(buffer, range)
    } else {
        Err(refused("the buffer was not made to be read by the host"))
    }
}

/// The bytes of a view of [`readable_view`].
///
/// # Safety
/// The view must outlive the slice.
unsafe fn bytes<'a>(view: &mut wgpu::BufferViewMut) -> &'a mut [u8] {
    let mut bytes = view.slice(..);
    let (len, start) = (bytes.len(), bytes.as_raw_element_ptr());
    // SAFETY: the view lends this range exclusively while it lives. wgpu promises that the memory can be written; it can be
    // read, as the usage of the buffer has `MAP_READ`, and is initialised, as wgpu zeroes buffers before they are mapped.
    unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) }
}

fn refused(error: impl ToString) -> DeviceError {
    DeviceError::Refused { what: "host access to a mapped buffer".into(), message: error.to_string() }
}
