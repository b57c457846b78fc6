//! [`Rasteriser`]: draws surfaces into per-pixel arrays.

use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::ops::Range;
use std::rc::Rc;

use zippy::device::Device;
use zippy::kernel::{ParamValue, WgslComposer};
use zippy::wgpu::{self, BufferUsages};
use zippy::{Error, Result, World, wgsl_module};

use super::bands::{BandedOutput, bands, binding_bytes};
use super::material::{Colouring, Material};
use super::surface::{CORNER_BYTES, Surface};
use crate::error::RenderError;
use crate::volume::kernels::{FRAGMENT_WORDS, rays_and_light};
use crate::volume::look::Shading;
use crate::volume::transfer::TransferTable;

/// Render passes: fragment shaders of `shaders/surface/draw.wgsl`, and their phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// Position of the nearest opaque surface.
    Nearest,
    /// Colour of the nearest opaque surface.
    Shown,
    /// Number of fragments per pixel.
    Count,
    /// Data of fragments.
    Fill,
}

impl Pass {
    fn is_opaque(self) -> bool {
        matches!(self, Self::Nearest | Self::Shown)
    }

    fn phase(self) -> u32 {
        u32::from(matches!(self, Self::Shown | Self::Fill))
    }
}

/// The text of the shaders of all passes.
pub(in crate::volume) fn drawing_shader(planes: usize) -> WgslComposer {
    rays_and_light(planes)
        .constant("FRAGMENT_WORDS", FRAGMENT_WORDS as u32)
        .constant("FIRST_PHASE", Pass::Nearest.phase())
        .module(wgsl_module!("../../../shaders/surface/draw.wgsl"))
}

/// Format of the unused render target that passes require.
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R8Unorm;

/// Pipelines by number of clip planes and opacity (true: opaque), for images of any size.
#[derive(Default)]
pub(in crate::volume) struct Pipelines(RefCell<HashMap<(usize, bool), Rc<wgpu::RenderPipeline>>>);

/// Rasteriser for images of one size.
pub(super) struct Rasteriser<'w> {
    world: &'w World,
    size: (u32, u32),
    target: wgpu::TextureView,
    pipelines: Rc<Pipelines>,
}

/// Input of a render pass.
pub(super) struct Drawing<'a> {
    pub surfaces: Vec<(&'a Surface, &'a Material)>,
    /// Parameters of the view, in the order of the shader.
    pub view: &'a [(&'static str, ParamValue)],
    pub planes: usize,
}

impl<'w> Rasteriser<'w> {
    /// Creates a rasteriser. Local.
    ///
    /// # Errors
    /// The adapter has no driver, or does not support an image of this size.
    pub(super) fn new(world: &'w World, size: (u32, u32), pipelines: &Rc<Pipelines>) -> Result<Self> {
        if !world.gpu().has_driver() {
            let problem = "a driver draws surfaces, and none was found; install one, such as Mesa's software Vulkan \
                           (package mesa-vulkan-drivers)";
            return Err(RenderError::Surface(problem.into()).into());
        }
        let target = world.gpu().checked("allocating the render target", || {
            let extent = wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 };
            let texture = world.gpu().raw().create_texture(&wgpu::TextureDescriptor {
                label: Some("surfaces"),
                size: extent,
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: FORMAT,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        })?;
        Ok(Self { world, size, target, pipelines: pipelines.clone() })
    }

    /// Queues one pass over all surfaces. Local.
    pub(super) fn draw(&self, pass: Pass, drawing: &Drawing<'_>, written: &[BandedOutput<'_>]) -> Result<()> {
        let pipeline = self.pipeline(drawing.planes, pass.is_opaque())?;
        let bands = bands(written, self.size.1, binding_bytes(self.world))?;
        let view: Vec<u8> = drawing.view.iter().flat_map(|(_, value)| value.bytes().to_vec()).collect();
        let view = self.filled("view", BufferUsages::UNIFORM, &view)?;
        for (surface, material) in &drawing.surfaces {
            let Some((corners, order, count)) = surface.buffers()? else { continue };
            let table = material.table()?;
            let entries = table.as_ref().map_or(&[[0.0; 4]; 2][..], |table| &table.entries);
            let entries = self.filled("colours", BufferUsages::STORAGE, bytemuck::cast_slice(entries))?;
            for rows in &bands {
                let words = [surface_words(material, table.as_ref()), band_words(pass, rows, written)].concat();
                let uniform = self.filled("surface", BufferUsages::UNIFORM, bytemuck::cast_slice(&words))?;
                let whole = [(0, &uniform), (1, &entries), (5, &view)];
                let whole = whole.map(|(binding, buffer)| entry(binding, buffer, 0..buffer.size()));
                let banded = written.iter().map(|output| entry(output.binding, output.buffer, output.bytes(rows)));
                let bound: Vec<_> = whole.into_iter().chain(banded).collect();
                let group = self.world.gpu().checked("drawing surfaces", || {
                    let layout = pipeline.get_bind_group_layout(0);
                    let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &bound };
                    self.world.gpu().raw().create_bind_group(&descriptor)
                })?;
                self.world.gpu().record(|encoder| {
                    let mut drawn = self.begin(encoder);
                    drawn.set_pipeline(&pipeline);
                    drawn.set_bind_group(0, &group, &[]);
                    drawn.set_scissor_rect(0, rows.start, self.size.0, rows.end - rows.start);
                    drawn.set_vertex_buffer(0, corners.raw().slice(..));
                    drawn.set_index_buffer(order.raw().slice(..), wgpu::IndexFormat::Uint32);
                    drawn.draw_indexed(0..count, 0, 0..1);
                });
            }
        }
        Ok(())
    }

    fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        let ops = wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Discard };
        let target =
            wgpu::RenderPassColorAttachment { view: &self.target, depth_slice: None, resolve_target: None, ops };
        encoder
            .begin_render_pass(&wgpu::RenderPassDescriptor { color_attachments: &[Some(target)], ..Default::default() })
    }

    fn filled(&self, label: &str, usage: BufferUsages, bytes: &[u8]) -> Result<wgpu::Buffer> {
        let device: &Device = self.world.gpu();
        let made = device.checked("drawing surfaces", || {
            let size = (bytes.len() as u64).next_multiple_of(16);
            let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: true };
            let buffer = device.raw().create_buffer(&descriptor);
            if let Ok(mut range) = buffer.get_mapped_range_mut(..bytes.len() as u64) {
                range.copy_from_slice(bytes);
            }
            buffer.unmap();
            buffer
        })?;
        Ok(made)
    }

    fn pipeline(&self, planes: usize, opaque: bool) -> Result<Rc<wgpu::RenderPipeline>> {
        if let Some(made) = self.pipelines.0.borrow().get(&(planes, opaque)) {
            return Ok(made.clone());
        }
        let text = drawing_shader(planes).compose()?;
        zippy::kernel::check_text(&text).map_err(Error::program)?;
        let device = self.world.gpu();
        let made = device.checked("compiling shaders/surface/draw.wgsl", || {
            let source = wgpu::ShaderSource::Wgsl(text.into());
            let module = device.raw().create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
            let attributes = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32];
            let corners = wgpu::VertexBufferLayout {
                array_stride: CORNER_BYTES,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &attributes,
            };
            let target = wgpu::ColorTargetState { format: FORMAT, blend: None, write_mask: wgpu::ColorWrites::empty() };
            device.raw().create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: None,
                layout: None,
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: None,
                    compilation_options: Default::default(),
                    buffers: &[Some(corners)],
                },
                primitive: Default::default(),
                depth_stencil: None,
                multisample: Default::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(if opaque { "opaque" } else { "transparent" }),
                    compilation_options: Default::default(),
                    targets: &[Some(target)],
                }),
                multiview_mask: None,
                cache: None,
            })
        })?;
        device.count_pipeline();
        let made = Rc::new(made);
        self.pipelines.0.borrow_mut().insert((planes, opaque), made.clone());
        Ok(made)
    }
}

fn entry(binding: u32, buffer: &wgpu::Buffer, bytes: Range<u64>) -> wgpu::BindGroupEntry<'_> {
    let (offset, size) = (bytes.start, NonZeroU64::new(bytes.end - bytes.start));
    wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size }),
    }
}

/// Words of the shader's `struct Surface` up to the phase.
fn surface_words(material: &Material, table: Option<&TransferTable>) -> Vec<u32> {
    let colour = match material.colour {
        Colouring::Plain(colour) => colour,
        Colouring::Scale(_) => [0.0; 3],
    };
    let Shading { ambient, diffuse, specular, shininess } = material.shading;
    let [red, green, blue] = colour;
    let numbers = [red, green, blue, material.opacity, ambient, diffuse, specular, shininess];
    let (first, per_value, entries) =
        table.map_or((0.0, 0.0, 0), |table| (table.first, table.per_value, table.entries.len()));
    let words = numbers.iter().map(|&number| (number as f32).to_bits());
    words.chain([first.to_bits(), per_value.to_bits(), entries as u32]).collect()
}

/// Words of the shader's `struct Surface` from the phase on.
fn band_words(pass: Pass, rows: &Range<u32>, written: &[BandedOutput<'_>]) -> Vec<u32> {
    let output_at = |binding: u32| written.iter().find(|output| output.binding == binding);
    let before = |binding: u32| output_at(binding).map_or(0, |output| output.words_before(rows));
    let list = output_at(4).map_or(0, |output| (output.bytes(rows).start / 4) as u32);
    vec![pass.phase(), rows.start, before(2), before(6) / 2, list]
}
