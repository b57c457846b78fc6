//! D3Q19 lattice Boltzmann (BGK, two copies of the populations): the kernel text, and a
//! hand-written wgpu program.

use std::fmt::Write;

use zippy::Result;
use zippy::transport::Group;
use zippy_lbm::VelocitySet;

use super::device::DeviceHalo;
use super::exchange::{CellBox, Exchange};
use super::halo::{Reach, halo};

pub(crate) const SET: VelocitySet = VelocitySet::D3Q19;

/// WGSL statements that update one cell.
///
/// `at` is the index of the cell's first population; `1`, `along_y` and `along_z` are the strides
/// of the axes, and `slot` is the stride of the populations.
pub(crate) fn body() -> String {
    let mut text = String::new();
    for q in 0..19 {
        let [x, y, z] = SET.velocity(q);
        _ = writeln!(text, "    let f{q} = now[at + {q} * slot - ({x} + {y} * along_y + {z} * along_z)];");
    }
    let sum = |c: &dyn Fn(usize) -> i64| {
        let terms: Vec<String> =
            (0..19).filter(|&q| c(q) != 0).map(|q| format!("{}f{q}", if c(q) > 0 { "+ " } else { "- " })).collect();
        terms.join(" ").trim_start_matches("+ ").to_owned()
    };
    _ = writeln!(text, "    let density = {};", sum(&|_| 1));
    for (axis, name) in ["x", "y", "z"].iter().enumerate() {
        _ = writeln!(text, "    let u{name} = ({}) / density;", sum(&|q| SET.velocity(q)[axis]));
    }
    text += "    let rest = 1.0 - 1.5 * (ux * ux + uy * uy + uz * uz);\n";
    for q in 0..19 {
        let [x, y, z] = SET.velocity(q).map(|c| c as f32);
        let weight = SET.weight(q) as f32;
        _ = writeln!(
            text,
            "    let c{q} = {x:?} * ux + {y:?} * uy + {z:?} * uz;
    next[at + {q} * slot] = f{q} + 1.6 * ({weight:?} * density * (rest + 3.0 * c{q} + 4.5 * c{q} * c{q}) - f{q});"
        );
    }
    text
}

/// Exchange of a rank of a periodic grid: only the populations that cross a boundary between ranks.
fn crossing(rank: usize, grid: [usize; 3], n: usize) -> Exchange {
    let pitch = n + 2;
    let all = halo(rank, grid, n, true, Reach::All);
    let extents = [pitch, pitch, 19 * pitch];
    let mut exchange = Exchange { source: extents, destination: extents, ..Exchange::default() };
    // Direction in which the cells of a box move.
    let direction = |block: &CellBox, ghost: bool| -> [i64; 3] {
        std::array::from_fn(|axis| match (block.start[axis], block.extent[axis] == n, ghost) {
            (_, true, _) => 0,
            (start, _, false) => {
                if start == 1 {
                    -1
                } else {
                    1
                }
            }
            (start, _, true) => {
                if start == 0 {
                    1
                } else {
                    -1
                }
            }
        })
    };
    let slots = |block: &CellBox, ghost: bool| {
        let direction = direction(block, ghost);
        let crosses =
            move |q: &usize| (0..3).all(|axis| direction[axis] == 0 || direction[axis] == SET.velocity(*q)[axis]);
        let [x, y, z] = block.start;
        let extent = block.extent;
        (0..19).filter(crosses).map(move |q| CellBox { start: [x, y, z + q * pitch], extent }).collect::<Vec<_>>()
    };
    for peer in &all.peers {
        peer.send.iter().flat_map(|block| slots(block, false)).for_each(|block| exchange.send_box(peer.rank, block));
        peer.receive
            .iter()
            .flat_map(|block| slots(block, true))
            .for_each(|block| exchange.receive_box(peer.rank, block));
    }
    for (from, to) in &all.local {
        exchange.local.extend(slots(from, false).into_iter().zip(slots(to, true)));
    }
    exchange
}

pub(crate) struct LatticePlan {
    n: usize,
    exchange: Exchange,
}

/// Flow of a rank: two copies of the populations, each with its halo exchange.
pub(crate) struct HandWrittenLattice<'e> {
    device: wgpu::Device,
    queue: wgpu::Queue,
    n: usize,
    pub copies: [DeviceHalo<'e>; 2],
    pipeline: wgpu::ComputePipeline,
    bindings: [wgpu::BindGroup; 2],
    pub now: usize,
}

impl LatticePlan {
    pub(crate) fn new(rank: usize, grid: [usize; 3], n: usize) -> Self {
        Self { n, exchange: crossing(rank, grid, n) }
    }

    /// Index of the first population of cell (0, 0, 0), and the strides of y, z and the
    /// populations.
    fn strides(&self) -> [usize; 4] {
        let pitch = self.n + 2;
        [1 + pitch + pitch * pitch, pitch, pitch * pitch, pitch * pitch * pitch]
    }

    /// Creates a field of populations with ghost cells. `value` computes the populations of owned
    /// cells; ghost cells are zero.
    pub(crate) fn field(&self, value: impl Fn([usize; 3], usize) -> f32) -> Vec<f32> {
        let [zero, y_stride, z_stride, slot] = self.strides();
        let mut field = vec![0.0; 19 * slot];
        for q in 0..19 {
            for (z, y) in (0..self.n).flat_map(|z| (0..self.n).map(move |y| (z, y))) {
                let row = zero + y * y_stride + z * z_stride + q * slot;
                (0..self.n).for_each(|x| field[row + x] = value([x, y, z], q));
            }
        }
        field
    }

    pub(crate) fn cells(&self, field: &[f32]) -> Vec<f32> {
        let [zero, y_stride, z_stride, slot] = self.strides();
        let n = self.n;
        let rows = (0..19 * n * n).map(|i| (i % n, i / n % n, i / n / n));
        rows.flat_map(|(y, z, q)| {
            let row = zero + y * y_stride + z * z_stride + q * slot;
            field[row..row + n].iter().copied()
        })
        .collect()
    }
}

impl<'e> HandWrittenLattice<'e> {
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue, plan: &'e LatticePlan, field: &[f32]) -> Self {
        let n = plan.n;
        let [zero, along_y, along_z, slot] = plan.strides();
        let text = format!(
            "@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = vec3<i32>(id);
    if p.x >= {n} {{ return; }}
    let along_y = {along_y};
    let along_z = {along_z};
    let slot = {slot};
    let at = {zero} + p.x + p.y * along_y + p.z * along_z;
{}}}",
            body()
        );
        let pipeline = super::pipeline(device, &text);
        let copies = [(), ()].map(|()| DeviceHalo::new(device, queue, &plan.exchange, field));
        let bindings = [0, 1].map(|now| {
            let entries = [0, 1].map(|binding: usize| wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: copies[(now + binding) % 2].chunk.as_entire_binding(),
            });
            let layout = &pipeline.get_bind_group_layout(0);
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
        });
        let (device, queue) = (device.clone(), queue.clone());
        Self { device, queue, n, copies, pipeline, bindings, now: 0 }
    }

    /// Computes a step with its halo exchange. The kernel may not have finished on return.
    pub(crate) fn step(&mut self, group: &Group) -> Result<()> {
        self.copies[self.now].step(group)?;
        self.compute();
        Ok(())
    }

    /// Submits the kernel of a step without the halo exchange.
    pub(crate) fn compute(&mut self) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.bindings[self.now], &[]);
            pass.dispatch_workgroups(self.n.div_ceil(64) as u32, self.n as u32, self.n as u32);
        }
        self.queue.submit([encoder.finish()]);
        self.now = 1 - self.now;
    }
}
