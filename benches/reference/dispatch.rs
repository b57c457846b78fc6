//! [`BareDispatch`]: a hand-written wgpu dispatch of a kernel over a few cells.

use wgpu::util::{BufferInitDescriptor, DeviceExt};
use zippy::device::Device;

const TEXT: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&x) { x[id.x] += 1.0; }
}";

pub(crate) struct BareDispatch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: u32,
}

impl BareDispatch {
    pub(crate) fn new(gpu: &Device, cells: usize) -> Self {
        let device = gpu.raw();
        let pipeline = super::pipeline(device, TEXT);
        let (contents, usage) = (vec![0; 4 * cells], wgpu::BufferUsages::STORAGE);
        let x = device.create_buffer_init(&BufferInitDescriptor { label: None, contents: &contents, usage });
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: x.as_entire_binding() }],
        });
        Self { pipeline, bindings, groups: cells.div_ceil(64) as u32 }
    }

    /// Records the dispatch into the library's command encoder, in a separate compute pass like a
    /// kernel call of the library.
    pub(crate) fn record(&self, gpu: &Device) {
        gpu.record(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.bindings, &[]);
            pass.dispatch_workgroups(self.groups, 1, 1);
        });
    }
}
