//! Native execution of kernel calls.

use zippy_native::CompiledKernel;

use super::call::Call;
use super::checked_kernel::Resource;
use super::dispatch::Dispatch;
use super::geometry::COUNT_VECTORS;
use super::pipeline::BoundBuffer;
use super::prepare::PreparedCall;
use crate::device::{Device, Lease, NativeBinding, NativeDispatch, PackedBox, StridedBox, to_aligned_words};
use crate::error::Result;
use crate::extents::Index;

pub(super) struct BoundMemory<'a> {
    /// Buffer of each storage variable, then the buffer of the report.
    pub buffers: &'a [Option<BoundBuffer>],
    /// Geometry words of the arrays, without those of a dispatch's domain.
    pub geometry: &'a [i32],
    /// Device memory with the workgroup counts of a dispatch over a count.
    pub count: Option<&'a Lease>,
}

impl Call<'_> {
    /// Runs the dispatches of a call natively, one after the other. All dispatches are complete on
    /// return.
    ///
    /// # Errors
    /// See [`Device::run_native`].
    pub(super) fn run_natively(
        &self,
        prepared: &PreparedCall<'_>,
        code: &CompiledKernel,
        dispatches: &[Dispatch],
        memory: &BoundMemory<'_>,
    ) -> Result<()> {
        let PreparedCall { version, compiled, .. } = prepared;
        let (device, checked) = (&self.kernel.shared.target.device, &compiled.checked);
        let uniforms: Vec<_> = prepared.uniforms.iter().map(|bytes| to_aligned_words(bytes)).collect();
        let geometries = dispatches.iter().map(|dispatch| {
            let mut words: Vec<i32> = memory.geometry.iter().chain(&dispatch.words).copied().collect();
            words.resize(4 * checked.map.vectors(), 0);
            to_aligned_words(bytemuck::cast_slice(&words))
        });
        let geometries: Vec<_> = geometries.collect();
        let counted = memory.count.map(|count| read_counted_workgroups(device, count)).transpose()?;
        let dispatches = dispatches.iter().zip(&geometries).map(|(dispatch, geometry)| {
            let bindings = code.kernel().bindings.iter().map(|declared| {
                let point = checked.points.iter().find(|p| (p.group, p.binding) == (declared.group, declared.binding));
                let resource = point.map(|point| point.resource);
                native_binding(resource, declared.writable, memory, (&uniforms, geometry))
            });
            NativeDispatch { bindings: bindings.collect(), workgroups: counted.unwrap_or(dispatch.groups) }
        });
        let label = || format!("kernel {}", version.program.name);
        Ok(device.run_native(&label, code, &dispatches.collect::<Vec<_>>())?)
    }
}

fn native_binding<'a>(
    resource: Option<Resource>,
    is_written: bool,
    memory: &'a BoundMemory<'a>,
    (uniforms, geometry): (&'a [Vec<u64>], &'a [u64]),
) -> NativeBinding<'a> {
    match resource {
        Some(Resource::Geometry) => NativeBinding::Words(geometry),
        Some(Resource::Uniform(number)) => NativeBinding::Words(&uniforms[number]),
        Some(Resource::Count) => match memory.count {
            Some(count) => NativeBinding::Buffer { buffer: count.raw(), bytes: 0..16 * COUNT_VECTORS, is_written },
            None => NativeBinding::Words(&[]),
        },
        Some(Resource::Report) => match memory.buffers.last() {
            Some(Some(report)) => window_binding(report, 0, is_written),
            _ => NativeBinding::Words(&[]),
        },
        Some(Resource::Storage { var, window: number, .. }) => match &memory.buffers[var] {
            Some(buffer) => window_binding(buffer, number, is_written),
            None => NativeBinding::Words(&[]),
        },
        None => NativeBinding::Words(&[]),
    }
}

fn window_binding(buffer: &BoundBuffer, number: u32, is_written: bool) -> NativeBinding<'_> {
    let range = buffer.window(number);
    NativeBinding::Buffer { buffer: &buffer.raw, bytes: range, is_written }
}

/// Reads the workgroup counts of a counted dispatch from the device.
fn read_counted_workgroups(device: &Device, count: &Lease) -> Result<[u32; 3]> {
    let view = StridedBox { offset: 0, extents: Index::from([3]), strides: Index::from([1]) };
    let staged = device.gather(4, &[PackedBox { buffer: count, view, payload_offset: 0 }], 12)?;
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(staged.as_ref());
    Ok([words[0], words[1], words[2]])
}
