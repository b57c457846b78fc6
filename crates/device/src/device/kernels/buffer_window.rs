//! [`BufferWindow`]: the range of a buffer that a binding shows.

/// Range of a buffer, in bytes, at most as large as a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BufferWindow<'a> {
    pub buffer: &'a wgpu::Buffer,
    pub start: u64,
    pub bytes: u64,
}

impl BufferWindow<'_> {
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(self.bytes);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: self.buffer, offset: self.start, size })
    }
}
