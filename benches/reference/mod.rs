//! Hand-written reference implementations. They use nothing of the library except its transport.

#![allow(dead_code)] // no benchmark uses all items

pub mod compositing;
pub mod device;
pub mod dispatch;
pub mod exchange;
pub mod files;
pub mod halo;
pub mod lampshade;
pub mod lattice;
pub mod moves;
pub mod ordinary;
pub mod peer;
pub mod pixel;
pub mod programs;
pub mod stencil;
pub mod surfaces;
pub mod vtk;

/// Compiles a WGSL text with exactly one entry point.
pub fn pipeline(device: &wgpu::Device, text: &str) -> wgpu::ComputePipeline {
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
