//! Hand-written reference implementations. They use nothing of the library except its transport.

#![allow(dead_code, reason = "no benchmark uses all items")]

pub(crate) mod compositing;
pub(crate) mod device;
pub(crate) mod dispatch;
pub(crate) mod exchange;
pub(crate) mod files;
pub(crate) mod halo;
pub(crate) mod lampshade;
pub(crate) mod lattice;
pub(crate) mod moves;
pub(crate) mod ordinary;
pub(crate) mod peer;
pub(crate) mod pixel;
pub(crate) mod programs;
pub(crate) mod stencil;
pub(crate) mod surfaces;
pub(crate) mod vtk;

/// Pipeline of a WGSL text with one entry point.
pub(crate) fn pipeline(device: &wgpu::Device, text: &str) -> wgpu::ComputePipeline {
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    })
}
