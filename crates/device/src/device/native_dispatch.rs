//! [`NativeDispatch`]: execution of a native kernel by the threads of the host, in mapped memory.

use std::ops::Range;
use std::sync::Arc;

use wgpu::{BufferUsages, MapMode};
use zippy_native::{BindingBytes, CompiledKernel, Error, StopRequest};

use super::counters::AtomicCounters;
use super::mapped_bytes::{access_all_mapped, read_mapped};
use super::{Device, watchdog};
use crate::error::DeviceError;

/// Memory of a binding of a native kernel.
#[derive(Debug, Clone)]
pub enum NativeBinding<'a> {
    /// Range of a buffer of this device.
    Buffer { buffer: &'a wgpu::Buffer, bytes: Range<u64>, is_written: bool },
    /// Read-only memory of the host.
    Words(&'a [u64]),
}

/// Dispatch of a native kernel: the memory of its bindings, and the number of workgroups along x, y
/// and z.
#[derive(Debug, Clone)]
pub struct NativeDispatch<'a> {
    pub bindings: Vec<NativeBinding<'a>>,
    pub workgroups: [u32; 3],
}

/// Returns the distinct buffers of bindings, written ones first, and the number of written ones.
fn distinct_buffers<'a>(bindings: &'a [NativeBinding<'a>]) -> (Vec<&'a wgpu::Buffer>, usize) {
    let mut buffers: Vec<&wgpu::Buffer> = Vec::with_capacity(bindings.len());
    let mut written = 0;
    for pass in [true, false] {
        for binding in bindings {
            if let NativeBinding::Buffer { buffer, is_written, .. } = binding
                && *is_written == pass
                && !buffers.contains(buffer)
            {
                buffers.push(buffer);
            }
        }
        written = if pass { buffers.len() } else { written };
    }
    (buffers, written)
}

impl Device {
    /// True if kernels run natively on the host's processor, not by the driver.
    pub fn is_native(&self) -> bool {
        self.logical().is_native
    }

    /// Returns true if the host computes a kernel. A kernel that prefers the driver runs natively
    /// only without a driver, or if the options request native kernels.
    pub fn computes_natively(&self, prefers_driver: bool) -> bool {
        self.is_native() && !(prefers_driver && self.has_driver() && !self.logical().is_native_requested())
    }

    /// Returns the maximum range of a buffer, in bytes, that a native kernel, or a kernel of the
    /// driver, can access.
    pub fn binding_bytes(&self, is_native: bool) -> u64 {
        if is_native { self.limits().binding_bytes } else { self.limits().driver_binding_bytes }
    }

    /// True if the device has a driver, which can draw and compute.
    pub fn has_driver(&self) -> bool {
        self.adapter.backend != wgpu::Backend::Noop
    }

    /// Returns the usages of a buffer that native kernels require: maps for reads and writes.
    pub fn kernel_usages(&self) -> BufferUsages {
        let usages = BufferUsages::MAP_READ | BufferUsages::MAP_WRITE;
        if self.is_native() { usages } else { BufferUsages::empty() }
    }

    /// Runs all recorded commands, then the dispatches of a native kernel over the same buffers in
    /// order. All dispatches are complete on return.
    ///
    /// # Errors
    /// * A buffer is lent.
    /// * [`DeviceError::KernelStopped`]: the kernel has run for
    ///   [`DeviceOptions::kernel_limit`](super::DeviceOptions::kernel_limit).
    /// * The device fails.
    pub fn run_native(
        &self,
        label: &dyn Fn() -> String,
        kernel: &CompiledKernel,
        dispatches: &[NativeDispatch<'_>],
    ) -> Result<(), DeviceError> {
        let Some(first) = dispatches.first() else { return Ok(()) };
        let (buffers, written) = distinct_buffers(&first.bindings);
        let mode = |index: usize| if index < written { MapMode::Write } else { MapMode::Read };
        let modes: Vec<_> = buffers.iter().enumerate().map(|(index, buffer)| (*buffer, mode(index))).collect();
        let _mapped = self.map_buffers(&modes)?;
        let views = buffers[written..].iter().map(|buffer| read_mapped(buffer, 0..buffer.size()));
        let views = views.collect::<Result<Vec<_>, _>>()?;
        let stop = Arc::new(StopRequest::default());
        let mut outcome = Ok(());
        access_all_mapped(&buffers[..written], &mut |slices| {
            let written = slices.into_iter().map(BindingBytes::written);
            let memory: Vec<_> = written.chain(views.iter().map(|view| BindingBytes::Read(view))).collect();
            let slice = |buffer: &wgpu::Buffer, range: &Range<u64>| {
                let index = buffers.iter().position(|b| *b == buffer).expect("all dispatches have the same buffers");
                memory[index].slice(range.start as usize..range.end as usize)
            };
            let _watched = watchdog::watch(&stop, self.kernel_limit);
            outcome = dispatches.iter().try_for_each(|dispatch| {
                let bound = dispatch.bindings.iter().map(|binding| match binding {
                    NativeBinding::Words(words) => BindingBytes::Read(bytemuck::cast_slice(words)),
                    NativeBinding::Buffer { buffer, bytes, .. } => slice(buffer, bytes),
                });
                kernel.run(&bound.collect::<Vec<_>>(), dispatch.workgroups, &self.host_threads(), &stop)
            });
        })?;
        AtomicCounters::increment(&self.logical().memory.counters.dispatches);
        outcome.map_err(|error| match error {
            Error::Stopped { line } => {
                DeviceError::KernelStopped { kernel: label(), line, seconds: self.kernel_limit.as_secs_f64() }
            }
            error => DeviceError::Other(format!("{}: {error}", label())),
        })
    }
}
