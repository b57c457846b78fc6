//! Kernels that the host computes natively, over chunks that it maps.

use std::ops::Range;
use std::sync::Arc;

use wgpu::{BufferUsages, MapMode};
use zippy_native::{Bytes, Compiled, Error, Stop};

use super::counters::Tally;
use super::ranges::{access_all_mapped, read_mapped};
use super::{Device, watchdog};
use crate::error::DeviceError;

/// Memory of a binding of a native kernel.
#[derive(Debug, Clone)]
pub enum NativeBinding<'a> {
    /// Bytes of a buffer of this device.
    Buffer { buffer: &'a wgpu::Buffer, bytes: Range<u64>, is_written: bool },
    /// Memory of the host, which is read.
    Words(&'a [u64]),
}

/// Memory of a dispatch, and its workgroups.
#[derive(Debug, Clone)]
pub struct NativeDispatch<'a> {
    pub bindings: Vec<NativeBinding<'a>>,
    pub workgroups: [u32; 3],
}

/// The buffers of bindings, those that are written first, each once, and the number of those.
fn buffers<'a>(bindings: &'a [NativeBinding<'a>]) -> (Vec<&'a wgpu::Buffer>, usize) {
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
    /// Whether the host computes kernels natively, without the driver.
    pub fn is_native(&self) -> bool {
        self.logical().is_native
    }

    /// Whether the host computes a kernel. One that prefers the driver it computes where there is
    /// no driver, or where native kernels were asked for.
    pub(crate) fn computes_natively(&self, prefers_driver: bool) -> bool {
        self.is_native() && !(prefers_driver && self.has_driver() && !self.logical().is_native_asked_for())
    }

    /// The largest range of a buffer that a kernel can see at once.
    pub(crate) fn binding_bytes(&self, is_native: bool) -> u64 {
        if is_native { self.limits().binding_bytes } else { self.limits().driver_binding_bytes }
    }

    /// Whether a driver can draw and compute on this device.
    pub fn has_driver(&self) -> bool {
        self.adapter.backend != wgpu::Backend::Noop
    }

    /// Uses of a buffer that kernels need besides those of wgpu.
    pub(crate) fn kernel_usages(&self) -> BufferUsages {
        let usages = BufferUsages::MAP_READ | BufferUsages::MAP_WRITE;
        if self.is_native() { usages } else { BufferUsages::empty() }
    }

    /// Computes dispatches over the same buffers, one after the other, after all recorded work;
    /// complete on return.
    ///
    /// # Errors
    /// * A buffer that is lent.
    /// * A kernel that runs longer than the run's timeout.
    /// * A failing device.
    pub(crate) fn run_native(
        &self,
        what: &dyn Fn() -> String,
        kernel: &Compiled,
        dispatches: &[NativeDispatch<'_>],
    ) -> Result<(), DeviceError> {
        let Some(first) = dispatches.first() else { return Ok(()) };
        let (buffers, written) = buffers(&first.bindings);
        let mode = |number: usize| if number < written { MapMode::Write } else { MapMode::Read };
        let modes: Vec<_> = buffers.iter().enumerate().map(|(number, buffer)| (*buffer, mode(number))).collect();
        let _mapped = self.map_many(&modes)?;
        let views = buffers[written..].iter().map(|buffer| read_mapped(buffer, 0..buffer.size()));
        let views = views.collect::<Result<Vec<_>, _>>()?;
        let stop = Arc::new(Stop::default());
        let mut outcome = Ok(());
        access_all_mapped(&buffers[..written], &mut |slices| {
            let written = slices.into_iter().map(Bytes::written);
            let memory: Vec<_> = written.chain(views.iter().map(|view| Bytes::Read(view))).collect();
            let part = |buffer: &wgpu::Buffer, range: &Range<u64>| {
                let number =
                    buffers.iter().position(|one| *one == buffer).expect("all dispatches have the same buffers");
                memory[number].part(range.start as usize..range.end as usize)
            };
            let _watched = watchdog::watch(&stop, self.kernel_limit);
            outcome = dispatches.iter().try_for_each(|dispatch| {
                let bound = dispatch.bindings.iter().map(|binding| match binding {
                    NativeBinding::Words(words) => Bytes::Read(bytemuck::cast_slice(words)),
                    NativeBinding::Buffer { buffer, bytes, .. } => part(buffer, bytes),
                });
                kernel.run(&bound.collect::<Vec<_>>(), dispatch.workgroups, &self.host_threads(), &stop)
            });
        })?;
        Tally::add(&self.logical().memory.tally.dispatches);
        outcome.map_err(|error| match error {
            Error::Stopped { line } => {
                DeviceError::KernelStopped { kernel: what(), line, seconds: self.kernel_limit.as_secs_f64() }
            }
            other => DeviceError::Other(format!("{}: {other}", what())),
        })
    }
}
