//! Limits of an adapter: bandwidth of copies and of the triad in its memory, bandwidth of copies
//! between host and device, and time of an empty submission. Written with wgpu alone.

mod common;

use serde_json::json;
use wgpu::{BufferDescriptor, BufferUsages, CommandEncoder};
use zippy::{Result, World};

use common::{ChunkAccess, Run, Spread, contender, on_ranks};

/// On a software adapter; larger with the memory of other adapters.
const ARRAY_BYTES: u64 = 32 << 20;
const HOST_BYTES: u64 = 256 << 20;
const REPEATS: u32 = 8;

const KERNELS: &str = "\
@group(0) @binding(0) var<storage, read_write> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> c: array<vec4<f32>>;

@compute @workgroup_size(256)
fn copy(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.y * groups.x * 256u + id.x;
    if i < arrayLength(&a) {
        a[i] = b[i];
    }
}

@compute @workgroup_size(256)
fn triad(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.y * groups.x * 256u + id.x;
    if i < arrayLength(&a) {
        a[i] = b[i] + 0.5 * c[i];
    }
}
";

pub(crate) fn main() -> Result<()> {
    let about = "Bandwidth in the memory of the adapter of copies by the driver and by a kernel (both read and write \
                 each byte) and of the triad a = b + s c (reads two arrays and writes one). Bandwidth of copies \
                 between host and device. Seconds from an empty submission until its completion is known on the host.";
    on_ranks("limits", about, &[ChunkAccess::Kernels], |run| {
        in_device_memory(run)?;
        between_host_and_device(run)?;
        submission(run)
    })
}

struct Bench<'w> {
    world: &'w World,
    bytes: u64,
}

impl Bench<'_> {
    fn buffer(&self, usage: BufferUsages) -> wgpu::Buffer {
        let usage = usage | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let descriptor = BufferDescriptor { label: None, size: self.bytes, usage, mapped_at_creation: false };
        self.world.gpu().raw().create_buffer(&descriptor)
    }

    fn staging(&self, usage: BufferUsages) -> wgpu::Buffer {
        let descriptor = BufferDescriptor { label: None, size: self.bytes, usage, mapped_at_creation: false };
        self.world.gpu().raw().create_buffer(&descriptor)
    }

    fn submit(&self, record: impl FnOnce(&mut CommandEncoder)) {
        let gpu = self.world.gpu();
        let mut encoder = gpu.raw().create_command_encoder(&Default::default());
        record(&mut encoder);
        gpu.queue().submit([encoder.finish()]);
        gpu.raw().poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
    }

    fn mapped(&self, buffer: &wgpu::Buffer, mode: wgpu::MapMode, act: impl FnOnce(&wgpu::Buffer)) {
        buffer.map_async(mode, .., |mapped| mapped.expect("staging buffers can be mapped"));
        self.world.gpu().raw().poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
        act(buffer);
        buffer.unmap();
    }
}

fn report(run: &Run<'_>, case: &str, bytes: u64, mut act: impl FnMut()) -> Result<()> {
    if !run.options.selects(case) {
        return Ok(());
    }
    let contender = contender("limit", || {
        act();
        Ok(())
    });
    let secs = Spread::of(&run.alternate(run.options.samples(), &mut [contender])?[0]);
    if run.world.rank() == 0 {
        let rate = bytes as f64 / secs.median / 1e9;
        println!("{case:<34} {rate:>9.2} GB/s, {:.1} us for {} MiB", secs.median * 1e6, bytes >> 20);
        run.add(json!({
            "case": case,
            "bytes_per_rank": bytes,
            "gb_per_sec": rate,
            "median_secs": secs.median,
            "quartiles_secs": [secs.low, secs.high],
        }));
    }
    Ok(())
}

fn in_device_memory(run: &Run<'_>) -> Result<()> {
    let bytes = ARRAY_BYTES * run.growth(ARRAY_BYTES, 1) as u64;
    let bench = Bench { world: run.world, bytes };
    let [a, b, c] = [(); 3].map(|()| bench.buffer(BufferUsages::STORAGE));
    report(run, "device, copy by the driver", 2 * bytes * u64::from(REPEATS), || {
        bench.submit(|encoder| (0..REPEATS).for_each(|_| encoder.copy_buffer_to_buffer(&b, 0, &a, 0, bytes)));
    })?;
    let copy = KernelCase { case: "device, copy by a kernel", entry_point: "copy", buffers: &[&a, &b] };
    report_kernel(run, &bench, copy)?;
    report_kernel(run, &bench, KernelCase { case: "device, triad", entry_point: "triad", buffers: &[&a, &b, &c] })
}

/// An entry point of [`KERNELS`] with its buffers, each of which it reads or writes once.
struct KernelCase<'a> {
    case: &'a str,
    entry_point: &'a str,
    buffers: &'a [&'a wgpu::Buffer],
}

fn report_kernel(run: &Run<'_>, bench: &Bench<'_>, kernel: KernelCase<'_>) -> Result<()> {
    let KernelCase { case, entry_point, buffers } = kernel;
    let device = run.world.gpu().raw();
    let source = wgpu::ShaderSource::Wgsl(KERNELS.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(entry_point),
        layout: None,
        module: &module,
        entry_point: Some(entry_point),
        compilation_options: Default::default(),
        cache: None,
    });
    let entry = |(binding, buffer): (u32, &&wgpu::Buffer)| (binding, (*buffer).clone());
    let buffers: Vec<_> = (0..).zip(buffers).map(entry).collect();
    let entries: Vec<_> = buffers
        .iter()
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding: *binding, resource: buffer.as_entire_binding() })
        .collect();
    let layout = &pipeline.get_bind_group_layout(0);
    let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
    let groups = (bench.bytes / 16).div_ceil(256) as u32;
    let rows = groups.div_ceil(run.world.gpu().limits().workgroups);
    report(run, case, buffers.len() as u64 * bench.bytes * u64::from(REPEATS), || {
        bench.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            (0..REPEATS).for_each(|_| pass.dispatch_workgroups(groups.div_ceil(rows), rows, 1));
        });
    })
}

fn between_host_and_device(run: &Run<'_>) -> Result<()> {
    let bytes = (ARRAY_BYTES * run.growth(ARRAY_BYTES, 1) as u64).min(HOST_BYTES);
    let bench = Bench { world: run.world, bytes };
    let on_device = bench.buffer(BufferUsages::STORAGE);
    let up = bench.staging(BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC);
    let down = bench.staging(BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let mut host = vec![1_u8; bytes as usize];
    report(run, "host to device, copy", bytes, || {
        bench.submit(|encoder| encoder.copy_buffer_to_buffer(&up, 0, &on_device, 0, bytes));
    })?;
    report(run, "device to host, copy", bytes, || {
        bench.submit(|encoder| encoder.copy_buffer_to_buffer(&on_device, 0, &down, 0, bytes));
    })?;
    report(run, "host to device, from a vector", bytes, || {
        bench.mapped(&up, wgpu::MapMode::Write, |buffer| {
            buffer.get_mapped_range_mut(..).expect("the buffer is mapped").copy_from_slice(&host);
        });
        bench.submit(|encoder| encoder.copy_buffer_to_buffer(&up, 0, &on_device, 0, bytes));
    })?;
    report(run, "device to host, into a vector", bytes, || {
        bench.submit(|encoder| encoder.copy_buffer_to_buffer(&on_device, 0, &down, 0, bytes));
        bench.mapped(&down, wgpu::MapMode::Read, |buffer| {
            host.copy_from_slice(&buffer.get_mapped_range(..).expect("the buffer is mapped"));
        });
    })
}

fn submission(run: &Run<'_>) -> Result<()> {
    let bench = Bench { world: run.world, bytes: 16 };
    report(run, "empty submission", 0, || bench.submit(|_| ()))
}
