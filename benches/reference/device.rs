//! Hand-written halo exchange of a field in device memory, with wgpu.
//!
//! One kernel packs all boxes. Messages are sent from one mapped readback buffer without a copy,
//! and received into a staging belt; one kernel unpacks all boxes. Boxes that stay on the rank are
//! copied on the device.

use std::sync::{Arc, Mutex, PoisonError};

use wgpu::util::{BufferInitDescriptor, DeviceExt, StagingBelt};
use wgpu::{BufferUsages, Device, Queue};
use zippy::Result;
use zippy::transport::{Group, Payload};

use super::exchange::{CellBox, Exchange};

/// A field of f32 in a buffer, and the pipelines and buffers of its halo exchange.
pub(crate) struct DeviceHalo<'e> {
    device: Device,
    queue: Queue,
    exchange: &'e Exchange,
    pub chunk: wgpu::Buffer,
    packed: wgpu::Buffer,
    arrived: wgpu::Buffer,
    pack: Pass,
    unpack: Pass,
    belt: StagingBelt,
    readbacks: Arc<Mutex<Vec<wgpu::Buffer>>>,
    sent_bytes: u64,
    received_bytes: u64,
    local_bytes: u64,
}

struct Pass {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: u32,
}

/// A message: a byte range of a mapped readback buffer.
struct Message(Arc<MappedReadback>, std::ops::Range<usize>);

/// A mapped readback buffer. Drop unmaps the buffer and returns it to its pool.
struct MappedReadback {
    view: Option<wgpu::BufferView>,
    buffer: wgpu::Buffer,
    pool: Arc<Mutex<Vec<wgpu::Buffer>>>,
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0.view.as_ref().expect("present until dropped")[self.1.clone()]
    }
}

impl Drop for MappedReadback {
    fn drop(&mut self) {
        drop(self.view.take());
        self.buffer.unmap();
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).push(self.buffer.clone());
    }
}

fn bytes<'b>(blocks: impl Iterator<Item = &'b CellBox>) -> u64 {
    blocks.map(|block| block.cells() as u64 * 4).sum()
}

impl<'e> DeviceHalo<'e> {
    /// Creates a field with the given cells and ghost cells.
    pub(crate) fn new(device: &Device, queue: &Queue, exchange: &'e Exchange, field: &[f32]) -> Self {
        let buffer = |size: u64, usage| {
            let size = size.max(16);
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let contents = bytemuck::cast_slice(field);
        let chunk = device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage: storage });
        let sent_bytes = bytes(exchange.peers.iter().flat_map(|peer| &peer.send));
        let received_bytes = bytes(exchange.peers.iter().flat_map(|peer| &peer.receive));
        let local_bytes = bytes(exchange.local.iter().map(|(from, _)| from));
        let packed = buffer(sent_bytes + local_bytes, storage);
        let arrived = buffer(received_bytes + local_bytes, storage);
        let sources =
            exchange.peers.iter().flat_map(|peer| &peer.send).chain(exchange.local.iter().map(|(from, _)| from));
        let destinations =
            exchange.peers.iter().flat_map(|peer| &peer.receive).chain(exchange.local.iter().map(|(_, to)| to));
        let pack = Pass::new(device, "pack", exchange.source, sources, &chunk, &packed);
        let unpack = Pass::new(device, "unpack", exchange.destination, destinations, &chunk, &arrived);
        let readback = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        // A receiver may still hold messages of the previous step.
        let readbacks = Arc::new(Mutex::new((0..3).map(|_| buffer(sent_bytes, readback)).collect()));
        let belt = StagingBelt::new(device.clone(), received_bytes.max(16));
        let (device, queue) = (device.clone(), queue.clone());
        Self {
            device,
            queue,
            exchange,
            chunk,
            packed,
            arrived,
            pack,
            unpack,
            belt,
            readbacks,
            sent_bytes,
            received_bytes,
            local_bytes,
        }
    }

    /// Exchanges the ghost cells. The unpack kernel is submitted, but may not have finished on
    /// return.
    pub(crate) fn step(&mut self, group: &Group) -> Result<()> {
        let tag = group.next_sequence();
        let readback = self.readback(group)?;
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.pack.record(&mut encoder);
        if self.sent_bytes > 0 {
            encoder.copy_buffer_to_buffer(&self.packed, 0, &readback, 0, self.sent_bytes);
        }
        if self.local_bytes > 0 {
            let (from, to) = (self.sent_bytes, self.received_bytes);
            encoder.copy_buffer_to_buffer(&self.packed, from, &self.arrived, to, self.local_bytes);
        }
        self.queue.submit([encoder.finish()]);
        self.send(group, tag, readback)?;

        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut at = 0;
        for peer in &self.exchange.peers {
            let payload = group.receive(peer.rank, tag)?;
            let message = (*payload).as_ref();
            let Some(size) = wgpu::BufferSize::new(message.len() as u64) else { continue };
            self.belt.write_buffer(&mut encoder, &self.arrived, at, size).copy_from_slice(message);
            at += size.get();
        }
        self.unpack.record(&mut encoder);
        self.belt.finish_and_recall_on_submit(&encoder);
        self.queue.submit([encoder.finish()]);
        Ok(())
    }

    fn readback(&self, group: &Group) -> Result<wgpu::Buffer> {
        group.wait_for(None, || Ok(self.readbacks.lock().unwrap_or_else(PoisonError::into_inner).pop()))
    }

    fn send(&self, group: &Group, tag: zippy::transport::Tag, readback: wgpu::Buffer) -> Result<()> {
        readback.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("a readback buffer can be mapped"));
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
        let view = readback.get_mapped_range(..).expect("the buffer is mapped");
        let mapped = Arc::new(MappedReadback { view: Some(view), buffer: readback, pool: self.readbacks.clone() });
        let mut at = 0;
        for peer in &self.exchange.peers {
            let length = bytes(peer.send.iter()) as usize;
            let message: Payload = Box::new(Message(mapped.clone(), at..at + length));
            group.send(peer.rank, tag, message)?;
            at += length;
        }
        Ok(())
    }
}

impl Pass {
    fn new<'b>(
        device: &Device,
        entry: &str,
        pitch: [usize; 3],
        blocks: impl Iterator<Item = &'b CellBox>,
        chunk: &wgpu::Buffer,
        packed: &wgpu::Buffer,
    ) -> Self {
        let stride = [1, pitch[0], pitch[0] * pitch[1]];
        let (mut rows, mut at) = (Vec::new(), 0);
        for block in blocks {
            // Rows along the longest axis are the fewest. Sender and receiver divide a box in the
            // same way.
            let along = (0..3).max_by_key(|&axis| (block.extent[axis], std::cmp::Reverse(axis))).unwrap_or(0);
            let (a, b) = ((along + 1) % 3, (along + 2) % 3);
            let cell = |at: [usize; 3]| (0..3).map(|axis| at[axis] * stride[axis]).sum::<usize>();
            for (i, j) in (0..block.extent[b]).flat_map(|j| (0..block.extent[a]).map(move |i| (i, j))) {
                let start = cell(block.start) + i * stride[a] + j * stride[b];
                rows.push([start, stride[along], at, block.extent[along]].map(|word| word as u32));
                at += block.extent[along];
            }
        }
        let source = wgpu::ShaderSource::Wgsl(include_str!("cells.wgsl").into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            cache: None,
        });
        let groups = rows.len() as u32;
        rows.resize(rows.len().max(1), [0; 4]);
        let (contents, usage) = (bytemuck::cast_slice(&rows), BufferUsages::STORAGE);
        let table = device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage });
        let buffers = [&table, chunk, packed];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = &pipeline.get_bind_group_layout(0);
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
        Self { pipeline, bindings, groups }
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.dispatch_workgroups(self.groups, 1, 1);
    }
}

pub(crate) fn read(device: &Device, queue: &Queue, buffer: &wgpu::Buffer) -> Vec<f32> {
    let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
    let size = buffer.size();
    let readback =
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &readback, 0, size);
    queue.submit([encoder.finish()]);
    readback.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("a readback buffer can be mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
    bytemuck::pod_collect_to_vec(&readback.get_mapped_range(..).expect("it is mapped"))
}
