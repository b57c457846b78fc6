//! [`BufferWindow`]: range of a buffer for a binding.

/// Byte range of a buffer, of at most the size of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BufferWindow<'a> {
    pub buffer: &'a wgpu::Buffer,
    pub start: u64,
    pub bytes: u64,
}

impl BufferWindow<'_> {
    pub(super) fn binding(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(self.bytes);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: self.buffer, offset: self.start, size })
    }
}
