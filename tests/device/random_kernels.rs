//! Random kernels by the driver, by machine code and by an interpreter.

use std::borrow::Cow;

use naga::Module;
use naga::valid::ModuleInfo;
use zippy::device::{Device, DeviceOptions, KernelBackend};
use zippy_native::Vectorization;
use zippy_testing::kernels::compare::compare_buffers;
use zippy_testing::kernels::interpreter::{Buffers, Options};
use zippy_testing::kernels::machine_code;
use zippy_testing::kernels::random::{Extensions, count, first_seed, random_kernels_with};

/// Buffer of a binding in the driver's memory.
struct BoundBuffer {
    group: u32,
    binding: u32,
    raw: wgpu::Buffer,
}

/// Runs a kernel by the driver.
fn run_by_driver(
    module: &Module,
    info: &ModuleInfo,
    buffers: &mut Buffers,
    workgroups: [u32; 3],
) -> Result<(), String> {
    // An idle device that is not lost.
    let options = DeviceOptions { kernels: Some(KernelBackend::Driver), ..Default::default() };
    let device = Device::open(&options).map_err(|error| error.to_string())?;
    let used = module.global_variables.iter().filter(|(handle, _)| !info.get_entry_point(0)[*handle].is_empty());
    let used = used.filter_map(|(_, variable)| variable.binding.as_ref());
    let bound = used.map(|place| {
        let raw = device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffers[&(place.group, place.binding)].len() as u64,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::UNIFORM
                | wgpu::BufferUsages::COPY_DST
                | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        device.queue().write_buffer(&raw, 0, &buffers[&(place.group, place.binding)]);
        BoundBuffer { group: place.group, binding: place.binding, raw }
    });
    let bound: Vec<_> = bound.collect();
    let pipeline = device.checked("compiling a random kernel", || compile(&device, module));
    let pipeline = pipeline.map_err(|error| error.to_string())?;
    let copies = device.checked("running a random kernel", || dispatch(&device, &pipeline, &bound, workgroups));
    let copies = copies.map_err(|error| error.to_string())?;
    for (buffer, copy) in bound.iter().zip(&copies) {
        let bytes = copy.get_mapped_range(..).map_err(|error| error.to_string())?;
        buffers.insert((buffer.group, buffer.binding), bytes.to_vec());
    }
    Ok(())
}

fn compile(device: &Device, module: &Module) -> wgpu::ComputePipeline {
    let source = wgpu::ShaderSource::Naga(Cow::Owned(module.clone()));
    let shader = device.raw().create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    device.raw().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &shader,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    })
}

/// Dispatches a kernel and returns mapped copies of its buffers.
fn dispatch(
    device: &Device,
    pipeline: &wgpu::ComputePipeline,
    bound: &[BoundBuffer],
    [x, y, z]: [u32; 3],
) -> Vec<wgpu::Buffer> {
    let raw = device.raw();
    let last_group = bound.iter().map(|buffer| buffer.group).max();
    let groups = (0..=last_group.unwrap_or(0)).map(|group| {
        let of_group = bound.iter().filter(|buffer| buffer.group == group);
        let entries = of_group
            .map(|buffer| wgpu::BindGroupEntry { binding: buffer.binding, resource: buffer.raw.as_entire_binding() });
        let (layout, entries) = (&pipeline.get_bind_group_layout(group), &entries.collect::<Vec<_>>());
        raw.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries })
    });
    let groups: Vec<_> = groups.collect();
    let mut encoder = raw.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(pipeline);
    for (number, group) in (0..).zip(&groups) {
        pass.set_bind_group(number, group, &[]);
    }
    pass.dispatch_workgroups(x, y, z);
    drop(pass);
    let copies = bound.iter().map(|buffer| {
        let copy = raw.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.raw.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(&buffer.raw, 0, &copy, 0, None);
        copy
    });
    let copies: Vec<_> = copies.collect();
    device.queue().submit([encoder.finish()]);
    for copy in &copies {
        copy.map_async(wgpu::MapMode::Read, .., drop);
    }
    // An error of the wait also leaves the copies unmapped.
    drop(raw.poll(wgpu::PollType::wait_indefinitely()));
    copies
}

/// Compares three runs of kernels without extensions, for which WGSL specifies each bit. Seeds and
/// the number of kernels are those of [`zippy_testing::kernels::random`].
#[test]
fn random_kernels_by_driver_give_bits_of_machine_code() {
    let options = Options { check_ranges: true, ..Options::default() };
    let report = random_kernels_with(
        &options,
        Extensions::NONE,
        count(60),
        first_seed(0),
        |module, info, entry, buffers, workgroups| {
            let mut by_machine_code = buffers.clone();
            machine_code::run(Vectorization::Use, module, info, entry, &mut by_machine_code, workgroups)?;
            run_by_driver(module, info, buffers, workgroups)?;
            let same = compare_buffers(module, by_machine_code, buffers.clone());
            same.map_err(|failure| format!("machine code and the driver: {failure}"))
        },
    );
    assert!(report.failures.is_empty() && report.discarded.is_empty(), "{report} {:?}", report.discarded);
}
