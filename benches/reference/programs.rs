//! [`ByHand`]: ordinary programs written by hand with wgpu.
//!
//! Kernels have plain indices. Buffers have the border of the library's arrays.

use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{Buffer, BufferUsages};
use zippy::device::Device;

/// Steps that are submitted together, as many as the library records before it submits.
const STEPS_OF_A_SUBMISSION: usize = 32;

/// Kernels that are dispatched in turn, again and again, over buffers of one device.
pub struct ByHand {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// The dispatches of each step of a cycle, after which every buffer has its first role again.
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

impl ByHand {
    pub fn new(gpu: &Device) -> Self {
        let (device, queue) = (gpu.raw().clone(), gpu.queue().clone());
        Self { device, queue, cycle: Vec::new(), steps_done: 0, readback: None }
    }

    /// A storage buffer with this content.
    pub fn buffer<T: bytemuck::NoUninit>(&self, content: &[T]) -> Buffer {
        self.filled(bytemuck::cast_slice(content), BufferUsages::STORAGE | BufferUsages::COPY_SRC)
    }

    /// A uniform buffer with one value.
    pub fn uniform<T: bytemuck::NoUninit>(&self, value: T) -> Buffer {
        self.filled(bytemuck::bytes_of(&value), BufferUsages::UNIFORM)
    }

    fn filled(&self, contents: &[u8], usage: BufferUsages) -> Buffer {
        self.device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage })
    }

    pub fn pipeline(&self, text: &str) -> wgpu::ComputePipeline {
        super::pipeline(&self.device, text)
    }

    /// Begins the next step of the cycle.
    pub fn step(&mut self) -> &mut Self {
        self.cycle.push(Vec::new());
        self
    }

    /// Adds a dispatch to the last step of the cycle: buffers by the number of their binding.
    pub fn dispatch(&mut self, pipeline: &wgpu::ComputePipeline, buffers: &[&Buffer], groups: [u32; 3]) {
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

    /// Lets the host read a buffer after every step.
    pub fn read_after_step(&mut self, from: &Buffer) {
        let (size, usage) = (from.size(), BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.readback = Some(Readback { from: from.clone(), to: self.device.create_buffer(&descriptor) });
    }

    /// Submits a number of steps and waits where the host reads.
    ///
    /// Returns the Euclidean norm of the buffer that the host reads, after the last step.
    pub fn steps(&mut self, count: usize) -> f64 {
        let mut norm = 0.0;
        let mut left = count;
        while left > 0 {
            let together = if self.readback.is_some() { 1 } else { left.min(STEPS_OF_A_SUBMISSION) };
            let mut encoder = self.device.create_command_encoder(&Default::default());
            for _ in 0..together {
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
            left -= together;
        }
        norm
    }

    /// The Euclidean norm of a readback buffer, by a plain loop.
    fn mapped_norm(&self, buffer: &Buffer) -> f64 {
        buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("a readback buffer can be mapped"));
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
        let view = buffer.get_mapped_range(..).expect("it is mapped");
        let squares = |cells: &[f32]| cells.iter().map(|&cell| f64::from(cell) * f64::from(cell)).sum::<f64>();
        let norm = squares(bytemuck::cast_slice(&view)).sqrt();
        drop(view);
        buffer.unmap();
        norm
    }

    /// The words of a buffer now.
    pub fn words(&self, buffer: &Buffer) -> Vec<u32> {
        super::device::read(&self.device, &self.queue, buffer).into_iter().map(f32::to_bits).collect()
    }

    /// Steps that were done.
    pub fn steps_done(&self) -> usize {
        self.steps_done
    }
}
