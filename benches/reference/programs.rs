//! [`KernelCycle`]: hand-written wgpu programs.
//!
//! Kernels compute indices directly. Buffers have a border as wide as the ghost cells of the
//! library's arrays.

use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{Buffer, BufferUsages};
use zippy::device::Device;

/// As many as the library records before it submits.
const STEPS_PER_SUBMISSION: usize = 32;

pub(crate) struct KernelCycle {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// Dispatches of each step. After the last step, every buffer has its initial role again.
    cycle: Vec<Vec<Dispatch>>,
    steps_done: usize,
    readback: Option<Readback>,
}

struct Dispatch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

/// A buffer that the host reads after every step.
struct Readback {
    from: Buffer,
    to: Buffer,
}

impl KernelCycle {
    pub(crate) fn new(gpu: &Device) -> Self {
        let (device, queue) = (gpu.raw().clone(), gpu.queue().clone());
        Self { device, queue, cycle: Vec::new(), steps_done: 0, readback: None }
    }

    pub(crate) fn buffer<T: bytemuck::NoUninit>(&self, content: &[T]) -> Buffer {
        self.filled(bytemuck::cast_slice(content), BufferUsages::STORAGE | BufferUsages::COPY_SRC)
    }

    pub(crate) fn uniform<T: bytemuck::NoUninit>(&self, value: T) -> Buffer {
        self.filled(bytemuck::bytes_of(&value), BufferUsages::UNIFORM)
    }

    fn filled(&self, contents: &[u8], usage: BufferUsages) -> Buffer {
        self.device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage })
    }

    pub(crate) fn pipeline(&self, text: &str) -> wgpu::ComputePipeline {
        super::pipeline(&self.device, text)
    }

    pub(crate) fn step(&mut self) -> &mut Self {
        self.cycle.push(Vec::new());
        self
    }

    /// `buffers[i]` gets binding `i`.
    pub(crate) fn dispatch(&mut self, pipeline: &wgpu::ComputePipeline, buffers: &[&Buffer], groups: [u32; 3]) {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = &pipeline.get_bind_group_layout(0);
        let bindings =
            self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
        let step = self.cycle.last_mut().expect("a step has begun");
        step.push(Dispatch { pipeline: pipeline.clone(), bindings, groups });
    }

    /// Makes [`steps`](Self::steps) read a buffer on the host after every step.
    pub(crate) fn read_after_step(&mut self, from: &Buffer) {
        let (size, usage) = (from.size(), BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.readback = Some(Readback { from: from.clone(), to: self.device.create_buffer(&descriptor) });
    }

    /// Waits for each step only if the host reads a buffer. Returns the Euclidean norm of that
    /// buffer after the last step, or 0.
    pub(crate) fn steps(&mut self, count: usize) -> f64 {
        let mut norm = 0.0;
        let mut remaining = count;
        while remaining > 0 {
            let submitted = if self.readback.is_some() { 1 } else { remaining.min(STEPS_PER_SUBMISSION) };
            let mut encoder = self.device.create_command_encoder(&Default::default());
            for _ in 0..submitted {
                for dispatch in &self.cycle[self.steps_done % self.cycle.len()] {
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    pass.set_pipeline(&dispatch.pipeline);
                    pass.set_bind_group(0, &dispatch.bindings, &[]);
                    let [x, y, z] = dispatch.groups;
                    pass.dispatch_workgroups(x, y, z);
                }
                self.steps_done += 1;
            }
            if let Some(Readback { from, to }) = &self.readback {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
            }
            self.queue.submit([encoder.finish()]);
            if let Some(Readback { to, .. }) = &self.readback {
                norm = self.mapped_norm(to);
            }
            remaining -= submitted;
        }
        norm
    }

    /// Maps a readback buffer and computes its Euclidean norm by a plain loop.
    fn mapped_norm(&self, buffer: &Buffer) -> f64 {
        buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("a readback buffer can be mapped"));
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
        let view = buffer.get_mapped_range(..).expect("the buffer is mapped");
        let squares = |cells: &[f32]| cells.iter().map(|&cell| f64::from(cell) * f64::from(cell)).sum::<f64>();
        let norm = squares(bytemuck::cast_slice(&view)).sqrt();
        drop(view);
        buffer.unmap();
        norm
    }

    pub(crate) fn words(&self, buffer: &Buffer) -> Vec<u32> {
        super::device::read(&self.device, &self.queue, buffer).into_iter().map(f32::to_bits).collect()
    }

    pub(crate) fn steps_done(&self) -> usize {
        self.steps_done
    }
}
