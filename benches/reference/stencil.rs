//! [`BareStencil`]: hand-written heat diffusion with a 7-point stencil and wgpu.
//!
//! Two buffers hold a field with one ghost layer. The strides of the field are constants of the
//! kernel.

use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{BufferUsages, CommandEncoder};
use zippy::device::Device;

const STENCIL: &str = "
@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= n { return; }
    let row = n + 2u;
    let layer = row * row;
    let at = (id.z + 1u) * layer + (id.y + 1u) * row + id.x + 1u;
    let centre = now[at];
    let around = now[at - 1u] + now[at + 1u] + now[at - row] + now[at + row] + now[at - layer] + now[at + layer];
    next[at] = centre + 0.1 * (around - 6.0 * centre);
}";

pub(crate) struct BareStencil {
    pipeline: wgpu::ComputePipeline,
    /// Bindings for a step from the first field to the second, and for a step back.
    bindings: [wgpu::BindGroup; 2],
    n: u32,
}

impl BareStencil {
    pub(crate) fn new(gpu: &Device, n: usize) -> Self {
        let device = gpu.raw();
        let pipeline = super::pipeline(device, STENCIL);
        let size = 4 * (n as u64 + 2).pow(3);
        let [a, b] = [(); 2].map(|()| {
            let usage = BufferUsages::STORAGE;
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        });
        let n = n as u32;
        let contents = &n.to_ne_bytes();
        let extent =
            device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage: BufferUsages::UNIFORM });
        let bindings = [[&a, &b], [&b, &a]].map(|[now, next]| {
            let entries = [(0, now), (1, next), (2, &extent)]
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
            let layout = &pipeline.get_bind_group_layout(0);
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
        });
        Self { pipeline, bindings, n }
    }

    /// Computes a step and waits for it. Even steps read the first field.
    pub(crate) fn step(&self, gpu: &Device, step_index: usize) {
        let mut encoder: CommandEncoder = gpu.raw().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings[step_index % 2], &[]);
        pass.dispatch_workgroups(self.n.div_ceil(64), self.n, self.n);
        drop(pass);
        gpu.queue().submit([encoder.finish()]);
        gpu.raw().poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
    }
}
