//! Calls that the host computes natively.

use zippy_native::Compiled as NativeCode;

use super::call::Call;
use super::checked::Resource;
use super::dispatch::Dispatch;
use super::geometry::COUNT_VECTORS;
use super::pipeline::BoundBuffer;
use super::prepare::PreparedCall;
use crate::device::{Device, Lease, NativeBinding, NativeDispatch, Piece, Strided, aligned};
use crate::error::Result;
use crate::extents::Index;

/// Memory that a call is bound to.
pub struct BoundMemory<'a> {
    /// For each storage variable, and then the report.
    pub buffers: &'a [Option<BoundBuffer>],
    /// Geometry of the arrays.
    pub geometry: &'a [i32],
    /// Arguments of a dispatch over a count.
    pub count: Option<&'a Lease>,
}

impl Call<'_> {
    /// Computes dispatches, one after the other.
    pub(super) fn compute(
        &self,
        prepared: &PreparedCall,
        code: &NativeCode,
        dispatches: &[Dispatch],
        memory: &BoundMemory<'_>,
    ) -> Result<()> {
        let PreparedCall { version, compiled, .. } = prepared;
        let (device, checked) = (&self.kernel.shared.target.device, &compiled.checked);
        let uniforms: Vec<_> = prepared.uniforms.iter().map(|bytes| aligned(bytes)).collect();
        let geometries = dispatches.iter().map(|dispatch| {
            let mut words: Vec<i32> = memory.geometry.iter().chain(&dispatch.words).copied().collect();
            words.resize(4 * checked.map.vectors(), 0);
            aligned(bytemuck::cast_slice(&words))
        });
        let geometries: Vec<_> = geometries.collect();
        let counted = memory.count.map(|count| counted_groups(device, count)).transpose()?;
        let dispatches = dispatches.iter().zip(&geometries).map(|(dispatch, geometry)| {
            let bindings = code.kernel().bindings.iter().map(|declared| {
                let point = checked.points.iter().find(|p| (p.group, p.binding) == (declared.group, declared.binding));
                let resource = point.map(|point| point.resource);
                bound(resource, declared.writable, memory, (&uniforms, geometry))
            });
            NativeDispatch { bindings: bindings.collect(), workgroups: counted.unwrap_or(dispatch.groups) }
        });
        let what = || format!("kernel {}", version.program.name);
        Ok(device.run_native(&what, code, &dispatches.collect::<Vec<_>>())?)
    }
}

fn bound<'a>(
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
            Some(Some(report)) => window(report, 0, is_written),
            _ => NativeBinding::Words(&[]),
        },
        Some(Resource::Storage { var, window: number, .. }) => match &memory.buffers[var] {
            Some(buffer) => window(buffer, number, is_written),
            None => NativeBinding::Words(&[]),
        },
        None => NativeBinding::Words(&[]),
    }
}

fn window(buffer: &BoundBuffer, number: u32, is_written: bool) -> NativeBinding<'_> {
    let range = buffer.window(number);
    NativeBinding::Buffer { buffer: &buffer.raw, bytes: range, is_written }
}

/// Workgroups that a count asks for.
fn counted_groups(device: &Device, count: &Lease) -> Result<[u32; 3]> {
    let view = Strided { offset: 0, extents: Index::from([3]), strides: Index::from([1]) };
    let staged = device.gather(4, &[Piece { buffer: count, view, payload_offset: 0 }], 12)?;
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(staged.as_ref());
    Ok([words[0], words[1], words[2]])
}
