//! [`Shader`]: compilation and dispatch of the compute shaders of transfers and reductions.

use std::sync::Arc;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use zippy_native::{CompiledKernel, Vectorization};

use super::buffer_window::BufferWindow;
use crate::device::counters::AtomicCounters;
use crate::device::native_code_cache::NativeCodeKey;
use crate::device::{Device, NativeBinding, NativeDispatch};
use crate::error::DeviceError;
use crate::wgsl::{self, WgslComposer};

/// Compiled compute shader with entry point `main` and one bind group: a pipeline of the driver, or
/// machine code.
#[derive(Debug, Clone)]
pub(super) enum Shader {
    Driver(wgpu::ComputePipeline),
    Native(Arc<CompiledKernel>),
}

/// Memory that a dispatch binds to a shader: a window of a buffer, or words of the host.
pub(super) enum ShaderBinding<'a> {
    Window(BufferWindow<'a>),
    /// Words in the host's memory, which the shader only reads.
    Words(&'a [u32]),
}

/// Returns the complete WGSL text of a shader.
pub(super) fn compose(composer: &WgslComposer) -> Result<String, DeviceError> {
    composer.compose().map_err(|error| DeviceError::Other(error.to_string()))
}

impl Device {
    pub(super) fn compile_shader(&self, label: &str, source: &str) -> Result<Shader, DeviceError> {
        wgsl::check_text(source).map_err(DeviceError::Other)?;
        let code = if self.is_native() { self.compile_native(label, source)? } else { None };
        let shader = match code {
            Some(code) => Shader::Native(code),
            None => self.compile_pipeline(label, source)?,
        };
        AtomicCounters::increment(&self.logical().memory.counters.pipelines_made);
        Ok(shader)
    }

    fn compile_native(&self, label: &str, source: &str) -> Result<Option<Arc<CompiledKernel>>, DeviceError> {
        let key = NativeCodeKey { text: source.to_owned(), entry: "main".to_owned() };
        let code = self.native_code(label, key, || {
            let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
            let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
            let info = info.map_err(|error| error.emit_to_string(source))?;
            CompiledKernel::new(&module, &info, "main", source, Vectorization::Use).map_err(|error| error.to_string())
        });
        code.map_err(|problem| DeviceError::Other(format!("compiling {label} failed: {problem}")))
    }

    fn compile_pipeline(&self, label: &str, source: &str) -> Result<Shader, DeviceError> {
        let pipeline = self.checked(&format!("compiling {label}"), || {
            let source = wgpu::ShaderSource::Wgsl(source.into());
            let module = self.raw().create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source });
            self.raw().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(label),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: Default::default(),
                cache: None,
            })
        })?;
        Ok(Shader::Driver(pipeline))
    }

    /// Dispatches a shader over `groups` workgroups; `bound[i]` is the memory of binding `i`, if
    /// present. A dispatch of the driver is recorded; a native dispatch is complete on return.
    pub(super) fn dispatch(
        &self,
        label: &str,
        shader: &Shader,
        bound: &[Option<ShaderBinding<'_>>],
        groups: u64,
    ) -> Result<(), DeviceError> {
        let (x, y) = self.workgroup_grid(groups);
        match shader {
            Shader::Driver(pipeline) => self.dispatch_by_driver(label, pipeline, bound, [x, y, 1]),
            Shader::Native(compiled) => self.dispatch_natively(label, compiled, bound, [x, y, 1]),
        }
    }

    fn dispatch_by_driver(
        &self,
        label: &str,
        pipeline: &wgpu::ComputePipeline,
        bound: &[Option<ShaderBinding<'_>>],
        [x, y, z]: [u32; 3],
    ) -> Result<(), DeviceError> {
        let mut tables = Vec::new();
        for (binding, bound) in bound.iter().enumerate() {
            if let Some(ShaderBinding::Words(words)) = bound {
                tables.push((binding, self.upload_table(words)?));
            }
        }
        let windows = bound.iter().enumerate().filter_map(|(binding, bound)| match bound {
            Some(ShaderBinding::Window(window)) => Some((binding, window.binding())),
            _ => None,
        });
        let tables = tables.iter().map(|(binding, table)| (*binding, table.as_entire_binding()));
        let entries: Vec<_> = windows
            .chain(tables)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding: binding as u32, resource })
            .collect();
        let layout = &pipeline.get_bind_group_layout(0);
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        let group =
            self.checked(&format!("binding the buffers of {label}"), || self.raw().create_bind_group(&descriptor))?;
        self.record(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(x, y, z);
        });
        AtomicCounters::increment(&self.logical().memory.counters.dispatches);
        Ok(())
    }

    fn dispatch_natively(
        &self,
        label: &str,
        compiled: &CompiledKernel,
        bound: &[Option<ShaderBinding<'_>>],
        groups: [u32; 3],
    ) -> Result<(), DeviceError> {
        let words = bound.iter().map(|bound| match bound {
            Some(ShaderBinding::Words(words)) => to_aligned_words(bytemuck::cast_slice(words)),
            _ => Vec::new(),
        });
        let words: Vec<_> = words.collect();
        let bindings = compiled.kernel().bindings.iter().map(|declared| {
            let index = declared.binding as usize;
            match bound.get(index) {
                Some(Some(ShaderBinding::Window(BufferWindow { buffer, start, bytes }))) => {
                    NativeBinding::Buffer { buffer, bytes: *start..start + bytes, is_written: declared.writable }
                }
                _ => NativeBinding::Words(words.get(index).map_or(&[][..], Vec::as_slice)),
            }
        });
        let dispatch = NativeDispatch { bindings: bindings.collect(), workgroups: groups };
        self.run_native(&|| label.to_owned(), compiled, &[dispatch])
    }
}

/// Copies bytes to words, for the alignment of 8 bytes that native kernels need.
pub(crate) fn to_aligned_words(bytes: &[u8]) -> Vec<u64> {
    let mut words = vec![0; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}
