//! [`Window`]: what a binding shows of a buffer.

/// A range of a buffer that one binding can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Window<'a> {
    pub buffer: &'a wgpu::Buffer,
    pub start: u64,
    pub bytes: u64,
}

impl Window<'_> {
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(self.bytes);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: self.buffer, offset: self.start, size })
    }
}
