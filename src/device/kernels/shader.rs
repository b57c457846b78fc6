//! Compute shaders of transfers and reductions.

use std::sync::Arc;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use zippy_native::{Compiled, Vectors};

use super::window::Window;
use crate::device::counters::Tally;
use crate::device::native_code::{CodeKey, native_code};
use crate::device::{Device, NativeBinding, NativeDispatch};
use crate::error::DeviceError;
use crate::wgsl;

/// A compute shader with entry point `main` and one bind group, as the device runs it.
#[derive(Debug, Clone)]
pub(super) enum Shader {
    Driver(wgpu::ComputePipeline),
    Native(Arc<Compiled>),
}

/// Memory of a binding.
pub(super) enum Bound<'a> {
    Window(Window<'a>),
    /// Words that are read.
    Words(&'a [u32]),
}

impl Device {
    /// Compiles a shader.
    pub(super) fn shader(&self, label: &str, source: &str) -> Result<Shader, DeviceError> {
        wgsl::check_text(source).map_err(DeviceError::Other)?;
        let shader = if self.is_native() { native(label, source)? } else { self.pipeline(label, source)? };
        Tally::add(&self.logical().memory.tally.pipelines_made);
        Ok(shader)
    }

    fn pipeline(&self, label: &str, source: &str) -> Result<Shader, DeviceError> {
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

    /// Records a dispatch with the memory of bindings 0, 1, …, as far as there is one.
    pub(super) fn dispatch(
        &self,
        what: &str,
        shader: &Shader,
        bound: &[Option<Bound<'_>>],
        groups: u64,
    ) -> Result<(), DeviceError> {
        let (x, y) = self.folded(groups);
        match shader {
            Shader::Driver(pipeline) => self.dispatch_by_driver(what, pipeline, bound, [x, y, 1]),
            Shader::Native(compiled) => self.dispatch_natively(what, compiled, bound, [x, y, 1]),
        }
    }

    fn dispatch_by_driver(
        &self,
        what: &str,
        pipeline: &wgpu::ComputePipeline,
        bound: &[Option<Bound<'_>>],
        [x, y, z]: [u32; 3],
    ) -> Result<(), DeviceError> {
        let mut tables = Vec::new();
        for (binding, bound) in bound.iter().enumerate() {
            if let Some(Bound::Words(words)) = bound {
                tables.push((binding, self.table(words)?));
            }
        }
        let windows = bound.iter().enumerate().filter_map(|(binding, bound)| match bound {
            Some(Bound::Window(window)) => Some((binding, window.binding())),
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
            self.checked(&format!("binding the buffers of {what}"), || self.raw().create_bind_group(&descriptor))?;
        self.record(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(x, y, z);
        });
        Tally::add(&self.logical().memory.tally.dispatches);
        Ok(())
    }

    fn dispatch_natively(
        &self,
        what: &str,
        compiled: &Compiled,
        bound: &[Option<Bound<'_>>],
        groups: [u32; 3],
    ) -> Result<(), DeviceError> {
        let words = bound.iter().map(|bound| match bound {
            Some(Bound::Words(words)) => aligned(bytemuck::cast_slice(words)),
            _ => Vec::new(),
        });
        let words: Vec<_> = words.collect();
        let bindings = compiled.kernel().bindings.iter().map(|declared| {
            let number = declared.binding as usize;
            match bound.get(number) {
                Some(Some(Bound::Window(Window { buffer, start, bytes }))) => {
                    NativeBinding::Buffer { buffer, bytes: *start..start + bytes, is_written: declared.writable }
                }
                _ => NativeBinding::Words(words.get(number).map_or(&[][..], Vec::as_slice)),
            }
        });
        let dispatch = NativeDispatch { bindings: bindings.collect(), workgroups: groups };
        self.run_native(&|| what.to_owned(), compiled, &[dispatch])
    }
}

/// Bytes as words, which begin where native kernels need it.
pub(crate) fn aligned(bytes: &[u8]) -> Vec<u64> {
    let mut words = vec![0; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

fn native(label: &str, source: &str) -> Result<Shader, DeviceError> {
    let key = CodeKey { text: source.to_owned(), entry: "main".to_owned() };
    let code = native_code(key, || {
        let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
        let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
        let info = info.map_err(|error| error.emit_to_string(source))?;
        Compiled::new(&module, &info, "main", source, Vectors::Use).map_err(|error| error.to_string())
    });
    code.map(Shader::Native).map_err(|problem| DeviceError::Other(format!("compiling {label} failed: {problem}")))
}
