//! Interoperability with wgpu: raw device and queue, and buffers that kernels write and a render
//! pass reads.

use zippy::array::Growable;
use zippy::device::Lease;
use zippy::wgpu::{self, BufferUsages};
use zippy::{ArrayOptions, KernelSource, Layout, LocalArray, Result, World};

use crate::support;

/// Width and height of the picture in pixels.
const SIZE: u32 = 64;

const FILL: &str = "
@group(0) @binding(0) var<storage, read_write> corners: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> order: array<u32>;
@group(0) @binding(2) var<storage, read_write> draw: array<u32>;
@group(0) @binding(3) var<uniform> right: f32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = order_position(id);
    if !order_inside(p) { return; }
    // Two triangles: the upper half of the picture from its left edge to `right`.
    corners_store(p, vec2<f32>(select(-1.0, right, (p & 1) == 1), select(0.0, 1.0, p >= 2)));
    var triangles = array<u32, 6>(0u, 1u, 2u, 2u, 1u, 3u);
    order_store(p, triangles[p]);
    draw_store(p, select(0u, select(1u, 6u, p == 0), p <= 1));
}
";

const SHOW: &str = "
@vertex fn corner(@location(0) at: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4<f32>(at, 0.0, 1.0); }
@fragment fn colour() -> @location(0) vec4<f32> { return vec4<f32>(0.0, 1.0, 0.0, 1.0); }
";

struct Mesh {
    corners: LocalArray<[f32; 2], 1>,
    order: LocalArray<u32, 1>,
    draw: LocalArray<u32, 1>,
}

/// Mesh in growable arrays.
struct GrowableMesh {
    corners: Growable<[f32; 2]>,
    order: Growable<u32>,
    draw: Growable<u32>,
}

impl Mesh {
    fn leases(&self) -> Result<[Lease; 3]> {
        let leases = [self.corners.lease()?, self.order.lease()?, self.draw.lease()?];
        Ok(leases.map(|lease| lease.expect("it has cells")))
    }

    fn new(world: &World) -> Result<Self> {
        Ok(Self {
            corners: world
                .local_array("corners", ArrayOptions::new(&Layout::new([4])).with_usages(BufferUsages::VERTEX))?,
            order: world.local_array("order", ArrayOptions::new(&Layout::new([6])).with_usages(BufferUsages::INDEX))?,
            draw: world
                .local_array("draw", ArrayOptions::new(&Layout::new([5])).with_usages(BufferUsages::INDIRECT))?,
        })
    }
}

/// Draws the mesh from the buffers of the arrays without a copy. Returns the picture with four
/// bytes per pixel.
fn draw_mesh(world: &World, [vertices, order, draw]: [Lease; 3]) -> Result<Vec<u8>> {
    let gpu = world.gpu();
    // Submits the recorded kernels before the render pass.
    gpu.flush()?;
    let format = wgpu::TextureFormat::Rgba8Unorm;
    let extent = wgpu::Extent3d { width: SIZE, height: SIZE, depth_or_array_layers: 1 };
    let back = gpu.checked("drawing", || {
        let device = gpu.raw();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(SHOW.into()),
        });
        let attributes = wgpu::vertex_attr_array![0 => Float32x2];
        let corners = wgpu::VertexBufferLayout {
            array_stride: 8,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &attributes,
        };
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
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
                entry_point: None,
                compilation_options: Default::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let picture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: extent,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let back = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(4 * SIZE * SIZE),
            usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        {
            let view = picture.create_view(&Default::default());
            let ops = wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::RED), store: wgpu::StoreOp::Store };
            let target = wgpu::RenderPassColorAttachment { view: &view, depth_slice: None, resolve_target: None, ops };
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                color_attachments: &[Some(target)],
                ..Default::default()
            });
            pass.set_pipeline(&pipeline);
            pass.set_vertex_buffer(0, vertices.raw().slice(..));
            pass.set_index_buffer(order.raw().slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed_indirect(draw.raw(), 0);
        }
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * SIZE), rows_per_image: None };
        let to = wgpu::TexelCopyBufferInfo { buffer: &back, layout };
        encoder.copy_texture_to_buffer(picture.as_image_copy(), to, extent);
        gpu.queue().submit([encoder.finish()]);
        back.map_async(wgpu::MapMode::Read, .., |_| ());
        back
    })?;
    gpu.raw().poll(wgpu::PollType::wait_indefinitely()).expect("it was submitted");
    let picture = back.get_mapped_range(..).expect("it is mapped").to_vec();
    Ok(picture)
}

/// Checks that the upper half is green from the left edge to column `wide`.
fn check_picture(picture: &[u8], wide: u32) {
    for (n, pixel) in picture.chunks_exact(4).enumerate() {
        let (x, y) = (n as u32 % SIZE, n as u32 / SIZE);
        let inside = x < wide && y < SIZE / 2;
        assert_eq!(pixel, if inside { [0, 255, 0, 255] } else { [255, 0, 0, 255] }, "pixel {x}, {y}");
    }
}

#[test]
fn growable_arrays_are_drawn_without_a_copy() {
    support::ranks(&[1, 2], |world| {
        let mut mesh = GrowableMesh {
            corners: world.growable("corners")?.with_usages(BufferUsages::VERTEX)?,
            order: world.growable("order")?.with_usages(BufferUsages::INDEX | BufferUsages::VERTEX)?,
            draw: world.growable("draw")?.with_usages(BufferUsages::INDIRECT)?,
        };
        let fill = world.kernel(KernelSource::text("fill.wgsl", FILL))?;
        for wide in [16, 48] {
            // The cells move to other buffers with the same usages.
            let before = mesh.order.lease()?.expect("room").id();
            mesh.corners.reserve(2 * mesh.corners.capacity())?;
            mesh.draw.reserve(mesh.draw.capacity() + 1)?;
            mesh.order.set_len(mesh.order.capacity() + 6)?;
            assert_ne!(mesh.order.lease()?.expect("room").id(), before);
            mesh.corners.set_len(4)?;
            mesh.draw.set_len(5)?;
            mesh.order.set_len(6)?;
            fill.call()
                .write("order", mesh.order.all())
                .write("corners", mesh.corners.all())
                .write("draw", mesh.draw.all())
                .param("right", wide as f32 * 2.0 / SIZE as f32 - 1.0)
                .run()?;
            mesh.corners.reserve(mesh.corners.capacity() + 1)?;
            mesh.draw.reserve(mesh.draw.capacity() + 1)?;
            let leases =
                [mesh.corners.lease()?, mesh.order.lease()?, mesh.draw.lease()?].map(|lease| lease.expect("room"));
            check_picture(&draw_mesh(world, leases)?, wide);
            assert_eq!(mesh.draw.all().read()?, [6, 1, 0, 0, 0]);
        }
        Ok(())
    });
}

#[test]
fn other_buffer_usages_are_refused() {
    support::ranks(&[1, 2], |world| {
        let expected = "array \"odd\" cannot have BufferUsages(MAP_READ): choose buffer usages among VERTEX, INDEX and \
                        INDIRECT (kernels and copies need none)";
        let uses = BufferUsages::MAP_READ | BufferUsages::INDEX;
        assert_eq!(world.growable::<u32>("odd")?.with_usages(uses).unwrap_err().kind().to_string(), expected);
        let local = world.local_array::<u32, 1>("odd", ArrayOptions::new(&Layout::new([5])).with_usages(uses));
        assert_eq!(local.unwrap_err().kind().to_string(), expected);
        for uses in [BufferUsages::UNIFORM, BufferUsages::QUERY_RESOLVE, BufferUsages::all()] {
            assert!(world.growable::<u32>("odd")?.with_usages(uses).is_err());
        }
        let all = BufferUsages::VERTEX | BufferUsages::INDEX | BufferUsages::INDIRECT;
        assert!(world.growable::<u32>("even")?.with_usages(all)?.lease()?.expect("room").raw().usage().contains(all));
        Ok(())
    });
}

#[test]
fn arrays_written_by_kernel_are_drawn_without_copy() {
    support::ranks(&[1, 2], |world| {
        let mesh = Mesh::new(world)?;
        let fill = world.kernel(KernelSource::text("fill.wgsl", FILL))?;
        // Twice, so that a kernel also writes buffers that have been drawn.
        for wide in [16, 48] {
            fill.call()
                .write("order", mesh.order.all())
                .write("corners", mesh.corners.all())
                .write("draw", mesh.draw.all())
                .param("right", wide as f32 * 2.0 / SIZE as f32 - 1.0)
                .run()?;
            check_picture(&draw_mesh(world, mesh.leases()?)?, wide);
            // The host reads and writes the arrays as usual.
            assert_eq!(mesh.draw.all().read()?, [6, 1, 0, 0, 0]);
            assert_eq!(mesh.order.all().read()?, [0, 1, 2, 2, 1, 3]);
        }
        mesh.draw.at(0).write(&[0])?;
        assert!(
            draw_mesh(world, mesh.leases()?)?.chunks_exact(4).all(|pixel| pixel == [255, 0, 0, 255]),
            "nothing is drawn"
        );
        Ok(())
    });
}

/// A custom copy command uses the buffer of a chunk between kernels.
#[test]
fn custom_commands_run_between_kernels() {
    support::ranks(&[1, 3], |world| {
        let text = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let p = x_position(id);
                if x_inside(p) { x_store(p, 2u * x_load(p) + 1u); }
            }";
        let kernel = world.kernel(KernelSource::text("twice.wgsl", text))?;
        let x = world.array::<u32, 1>("x", &Layout::new([16 * world.size() as i64]).ghost([2]))?;
        x.fill_with(|[i]| i as u32)?;
        let raw = world.gpu().storage_buffer_with(20 * 4, BufferUsages::INDIRECT, "copy")?;
        for chunk in x.chunks() {
            kernel.call().update("x", chunk.all()).run()?;
            let lease = chunk.lease()?.expect("it has cells");
            let buffer = lease.raw();
            assert!(
                buffer.usage().contains(BufferUsages::STORAGE) && raw.raw().usage().contains(BufferUsages::INDIRECT)
            );
            // Recorded in order with kernels and transfers.
            world.gpu().record(|encoder| {
                encoder.copy_buffer_to_buffer(buffer, 8, raw.raw(), 0, Some(32));
                encoder.copy_buffer_to_buffer(raw.raw(), 0, buffer, 40, Some(32));
            });
            kernel.call().update("x", chunk.all()).run()?;
            let first = chunk.region().start[0] as u32;
            let once = |i: u32| 2 * (first + i % 8) + 1;
            assert_eq!(chunk.all().read()?, (0..16).map(|i| 2 * once(i) + 1).collect::<Vec<_>>());
        }
        Ok(())
    });
}
