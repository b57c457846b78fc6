//! Pipelines and bind groups of checked kernels.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zippy_native::CompiledKernel;

use super::checked_kernel::{CheckedKernel, Resource};
use super::geometry::COUNT_VECTORS;
use super::machine_code::machine_code;
use super::target::Target;
use crate::device::{Device, Lease, WeakChunkBuffer, cache_capacity, estimate_compiled_bytes};
use crate::error::{KernelError, Result};
use crate::plan::cache::WeightedCache;

/// Compiled kernel: a pipeline of the driver, or machine code.
#[derive(Debug, Clone)]
pub(super) enum Pipeline {
    /// The driver computes the kernel.
    Driver(DriverPipeline),
    /// The host's processor computes the kernel.
    Native(Arc<CompiledKernel>),
}

#[derive(Debug, Clone)]
pub(super) struct DriverPipeline {
    pub raw: wgpu::ComputePipeline,
    id: u64,
    /// Layouts of the used bind groups, with their group numbers.
    pub layouts: Vec<(u32, wgpu::BindGroupLayout)>,
}

/// Cache of the compiled kernels of a device, by complete text, entry point, and true for machine
/// code. Compiled kernels outlive their handles until the cache is full.
#[derive(Debug)]
pub(super) struct Pipelines(WeightedCache<(String, String, bool), Pipeline>);

impl Default for Pipelines {
    fn default() -> Self {
        Self(WeightedCache::new(cache_capacity(), |(text, ..), _| estimate_compiled_bytes(text)))
    }
}

impl Pipeline {
    /// Returns the compiled kernel, created at the first call on this device.
    ///
    /// # Errors
    /// The kernel needs more bindings than the device has, or the driver refuses the kernel.
    pub(super) fn get(Target { device, is_native }: &Target, name: &str, checked: &CheckedKernel) -> Result<Self> {
        check_limits(device, name, checked)?;
        let key = (checked.text.clone(), checked.entry.clone(), *is_native);
        let kept = device.with_cache(|cache: &mut Pipelines| {
            cache.0.bound(device.rank_share(cache_capacity()));
            cache.0.get(&key)
        });
        if let Some(found) = kept {
            return Ok(found);
        }
        let code = if *is_native { machine_code(device, name, checked)? } else { None };
        let made = match code {
            Some(code) => Self::Native(code),
            None => {
                let what = format!("compiling kernel {name}");
                Self::Driver(device.checked(&what, || DriverPipeline::new(device, name, checked))?)
            }
        };
        device.count_pipeline();
        device.with_cache(|cache: &mut Pipelines| cache.0.insert(key, made.clone()));
        Ok(made)
    }
}

impl DriverPipeline {
    fn new(device: &Device, name: &str, checked: &CheckedKernel) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let raw = device.raw();
        let mut entries: Vec<(u32, Vec<wgpu::BindGroupLayoutEntry>)> = Vec::new();
        for point in &checked.points {
            let (ty, has_dynamic_offset) = match point.resource {
                Resource::Storage { writable, .. } => {
                    (wgpu::BufferBindingType::Storage { read_only: !writable }, false)
                }
                Resource::Count => (wgpu::BufferBindingType::Uniform, false),
                Resource::Report => (wgpu::BufferBindingType::Storage { read_only: false }, false),
                Resource::Geometry | Resource::Uniform(_) => (wgpu::BufferBindingType::Uniform, true),
            };
            let entry = wgpu::BindGroupLayoutEntry {
                binding: point.binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
                count: None,
            };
            match entries.last_mut() {
                Some((group, list)) if *group == point.group => list.push(entry),
                _ => entries.push((point.group, vec![entry])),
            }
        }
        let layouts: Vec<_> = entries
            .iter()
            .map(|(group, entries)| {
                (*group, raw.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(name), entries }))
            })
            .collect();
        let groups = layouts.last().map_or(0, |(group, _)| group + 1);
        let in_order: Vec<_> =
            (0..groups).map(|group| layouts.iter().find(|(g, _)| *g == group).map(|(_, layout)| layout)).collect();
        let layout = raw.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(name),
            bind_group_layouts: &in_order,
            immediate_size: 0,
        });
        let module = raw.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            // Not the text: wgpu would parse it again, and the module of a checked run has checks
            // that the text lacks.
            source: wgpu::ShaderSource::Naga(Cow::Owned(checked.parsed.module.clone())),
        });
        let pipeline = raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&layout),
            module: &module,
            entry_point: Some(&checked.entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        Self { raw: pipeline, id: NEXT.fetch_add(1, Ordering::Relaxed), layouts }
    }
}

fn check_limits(device: &Device, kernel: &str, checked: &CheckedKernel) -> Result<()> {
    let limits = &device.limits().wgpu;
    let fail = |problem: String| Err(KernelError::Limit { kernel: kernel.to_owned(), problem }.into());
    let adapter = &device.adapter().name;
    let storage = checked
        .points
        .iter()
        .filter(|point| matches!(point.resource, Resource::Storage { .. } | Resource::Report))
        .count();
    let windows =
        checked.points.iter().filter(|p| matches!(p.resource, Resource::Storage { window, .. } if window > 0)).count();
    let limit = limits.max_storage_buffers_per_shader_stage as usize;
    if storage > limit {
        let of_windows = match windows {
            0 => String::new(),
            n => format!(", {n} of them because chunks are larger than one binding (cut the arrays into more chunks)"),
        };
        return fail(format!("{storage} storage bindings are needed{of_windows}; {adapter} has {limit}"));
    }
    if let Some(point) = checked.points.iter().find(|point| point.group >= limits.max_bind_groups) {
        return fail(format!(
            "bind group {} is needed; {adapter} has {} (one is taken by Zippy)",
            point.group, limits.max_bind_groups
        ));
    }
    let [x, y, z] = checked.workgroup;
    let sizes = [
        (x, limits.max_compute_workgroup_size_x),
        (y, limits.max_compute_workgroup_size_y),
        (z, limits.max_compute_workgroup_size_z),
        (x.saturating_mul(y).saturating_mul(z), limits.max_compute_invocations_per_workgroup),
    ];
    if let Some((size, limit)) = sizes.into_iter().find(|(size, limit)| size > limit) {
        return fail(format!(
            "@workgroup_size({x}, {y}, {z}) is too large: {size} invocations where {adapter} has {limit}"
        ));
    }
    Ok(())
}

/// Buffer bound to a storage variable, with the byte range that its windows cover.
#[derive(Debug, Clone)]
pub(super) struct BoundBuffer {
    pub raw: wgpu::Buffer,
    pub id: u64,
    pub weak: Option<WeakChunkBuffer>,
    /// Start of the first window in the buffer, in bytes.
    pub offset: u64,
    /// Maximum end of the last window, in bytes. A reused buffer may be longer than the array, and
    /// `arrayLength` is the length of the array.
    pub end: u64,
    pub window_bytes: u64,
}

impl BoundBuffer {
    /// Returns the range of window `number` (from 0) in the buffer, in bytes.
    pub(super) fn window(&self, number: u32) -> Range<u64> {
        let start = self.offset + u64::from(number) * self.window_bytes;
        start..start + self.window_bytes.min(self.end.saturating_sub(start))
    }
}

/// Key of cached bind groups: the id of the pipeline, and the id of each buffer with the range of
/// its windows. Ids begin at 1.
type GroupKey = (u64, Vec<(u64, Range<u64>)>);

/// Cached bind groups of earlier calls, by pipeline and buffers.
#[derive(Debug, Default)]
pub(super) struct BindGroups {
    made: HashMap<GroupKey, (Groups, Vec<WeakChunkBuffer>)>,
    calls: u32,
}

pub(super) type Groups = Vec<(u32, wgpu::BindGroup)>;

/// Number of calls between two sweeps, which drop the cached bind groups of dropped arrays.
const CALLS_BETWEEN_SWEEPS: u32 = 32;

/// Maximum number of combinations of pipeline and buffers with cached bind groups.
pub(super) const MAX_GROUPS: usize = 1024;

impl BindGroups {
    /// Returns the bind groups for these buffers, one buffer per used storage variable, and for
    /// this count of a counted domain.
    pub(super) fn get(
        &mut self,
        device: &Device,
        name: &str,
        (pipeline, checked): (&DriverPipeline, &CheckedKernel),
        buffers: &[Option<BoundBuffer>],
        uniforms: &wgpu::Buffer,
        count: Option<&Lease>,
    ) -> Result<Groups> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS_BETWEEN_SWEEPS) || self.made.len() >= MAX_GROUPS {
            self.sweep();
        }
        // A kernel has one buffer for all counts, so the key needs no count.
        let range = |buffer: &Option<BoundBuffer>| buffer.as_ref().map_or((0, 0..0), |b| (b.id, b.offset..b.end));
        let key = (pipeline.id, buffers.iter().map(range).collect::<Vec<_>>());
        if let Some((groups, _)) = self.made.get(&key) {
            return Ok(groups.clone());
        }
        self.sweep();
        let groups = device.checked(&format!("binding the arrays of kernel {name}"), || {
            pipeline
                .layouts
                .iter()
                .map(|(group, layout)| (*group, bind(device, checked, (*group, layout), buffers, uniforms, count)))
                .collect::<Groups>()
        })?;
        let alive = buffers.iter().flatten().filter_map(|buffer| buffer.weak.clone()).collect();
        self.made.insert(key, (groups.clone(), alive));
        Ok(groups)
    }

    fn sweep(&mut self) {
        self.made.retain(|_, (_, alive)| alive.iter().all(WeakChunkBuffer::is_alive));
        if self.made.len() >= MAX_GROUPS {
            self.made.clear();
        }
    }
}

fn bind(
    device: &Device,
    checked: &CheckedKernel,
    (group, layout): (u32, &wgpu::BindGroupLayout),
    buffers: &[Option<BoundBuffer>],
    uniforms: &wgpu::Buffer,
    count: Option<&Lease>,
) -> wgpu::BindGroup {
    let part = |buffer, offset, size| {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size: wgpu::BufferSize::new(size) })
    };
    let mut entries = Vec::new();
    for point in checked.points.iter().filter(|point| point.group == group) {
        let resource = match point.resource {
            Resource::Geometry => part(uniforms, 0, 16 * checked.map.vectors() as u64),
            Resource::Count => {
                let Some(count) = count else { continue };
                part(count.raw(), 0, 16 * COUNT_VECTORS)
            }
            Resource::Report => {
                // The report follows the buffers of the storage variables.
                let Some(Some(report)) = buffers.last() else { continue };
                part(&report.raw, 0, report.window_bytes)
            }
            Resource::Uniform(number) => part(uniforms, 0, checked.uniforms[number].bytes as u64),
            Resource::Storage { var, window, .. } => {
                let Some(buffer) = &buffers[var] else { continue };
                let window = buffer.window(window);
                part(&buffer.raw, window.start, window.end - window.start)
            }
        };
        entries.push(wgpu::BindGroupEntry { binding: point.binding, resource });
    }
    device.raw().create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}
