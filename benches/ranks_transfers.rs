//! Copy, redistribution, one-sided operations and composite, compared with hand-written transfers
//! of host vectors over the same transport and with memory copies.

mod common;
mod reference;

use zippy::{GlobalArray, Layout, Operator, Result, Split};

use common::{ChunkAccess, Contender, Run, contender, on_ranks};
use reference::exchange::{CellBox, Exchange, Messages};
use reference::halo::grid;
use reference::moves::{Bounds, blocks, moves};

pub(crate) fn main() -> Result<()> {
    let about = "Copy of a shifted region of 4 MiB and 32 MiB, redistribution of slabs to blocks, get and put of 32^3 cells \
                 and of 8 bytes, composite of a 1024^2 RGBA f32 image. Each is compared with a hand-written transfer of \
                 host vectors over the same transport (benches/reference/) and with a memory copy of the same bytes.";
    on_ranks("ranks_transfers", about, &[ChunkAccess::Mapped, ChunkAccess::Kernels], |run| {
        copy(run, "copy, 4 MiB shifted", [128, 128, 64])?;
        let shape = large(run);
        copy(run, &format!("copy, {} MiB shifted", mib(shape)), shape)?;
        redistribution(run)?;
        one_sided(run, "32^3", 32, 32)?;
        one_sided(run, "8 bytes", 2, 1)?;
        composite(run)
    })
}

/// Shape of 32 MiB of f32, or more on an adapter with more memory.
fn large(run: &Run<'_>) -> [usize; 3] {
    [256, 256, 128].map(|n| n * run.growth(32 << 20, 3) as usize)
}

fn mib(shape: [usize; 3]) -> usize {
    shape.iter().product::<usize>() >> 18
}

fn value([x, y, z]: [i64; 3]) -> f32 {
    (x + 300 * (y + 300 * z)) as f32
}

fn to_usize(region: zippy::region::Region) -> Bounds {
    std::array::from_fn(|axis| [region.start[axis] as usize, region.end[axis] as usize])
}

fn plain(array: &GlobalArray<f32, 3>) -> Result<Vec<f32>> {
    array.local()?.all().read()
}

/// Copies bytes on the device for large copies by kernels, else on the host.
fn memory<'a>(run: &Run<'a>, bytes: u64) -> Contender<'a> {
    if run.access == ChunkAccess::Kernels && bytes >= 1 << 20 {
        return on_device(run, bytes);
    }
    let (from, mut to) = (vec![1_u8; bytes as usize], vec![0; bytes as usize]);
    contender("memcpy", move || {
        to.copy_from_slice(&from);
        std::hint::black_box(&mut to);
        Ok(())
    })
}

fn on_device<'a>(run: &Run<'a>, bytes: u64) -> Contender<'a> {
    let gpu = run.world.gpu();
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let bytes = bytes.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
    let descriptor = wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: false };
    let [from, to] = [(); 2].map(|()| gpu.raw().create_buffer(&descriptor));
    contender("copy by the device", move || {
        let mut encoder = gpu.raw().create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes);
        gpu.queue().submit([encoder.finish()]);
        gpu.raw().poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
        Ok(())
    })
}

fn slabs(ranks: usize) -> [usize; 3] {
    [1, 1, ranks]
}

fn copy(run: &Run<'_>, case: &str, extent: [usize; 3]) -> Result<()> {
    let world = run.world;
    let within = format!("{case}, within one array");
    if ![case, &within].iter().any(|case| run.options.selects(&run.named(case))) {
        return Ok(());
    }
    // Slabs across the shift: a part of the region moves to another rank.
    let shape = [(264, 8), (260, 4), (160, 32)];
    let shape: [usize; 3] = std::array::from_fn(|axis| shape[axis].0.max(extent[axis] + shape[axis].1));
    let offset = [3, 2, 17];
    let region: Bounds = std::array::from_fn(|axis| [1, 1 + extent[axis]]);
    let layout = Layout::new(shape).split(slabs(world.size()).map(Split::Even));
    let from = world.array::<f32, 3>("from", &layout)?;
    let to = world.array::<f32, 3>("to", &layout)?;
    from.fill_with(value)?;
    let select = |offset: [usize; 3]| {
        let axis = |axis: usize| (region[axis][0] + offset[axis]) as i64..(region[axis][1] + offset[axis]) as i64;
        [axis(0), axis(1), axis(2)]
    };
    let chunks = blocks(shape, slabs(world.size()));
    assert_eq!(chunks[world.rank()], to_usize(from.local()?.region()));
    let exchange = moves(world.rank(), &chunks, &chunks, &region, offset);
    let (source, mut destination) = (plain(&from)?, plain(&to)?);
    let mut messages = Messages::default();
    exchange.step_between(world.group(), &source, &mut destination, &mut messages)?;
    world.copy(from.at(select([0; 3])), to.at(select(offset)))?;
    assert!(plain(&to)? == destination, "library and reference copy different cells");
    let bytes = extent.iter().product::<usize>() as u64 * 4 / world.size() as u64;
    run.compare(
        case,
        bytes,
        None,
        vec![
            contender("zippy", || world.copy(from.at(select([0; 3])), to.at(select(offset))).map(drop)),
            contender("by hand on vectors", || {
                exchange.step_between(world.group(), &source, &mut destination, &mut messages)
            }),
            memory(run, bytes),
        ],
    )?;
    run.compare(
        &within,
        bytes,
        None,
        vec![
            contender("zippy", || world.copy(from.at(select([0; 3])), from.at(select(offset))).map(drop)),
            memory(run, bytes),
        ],
    )
}

fn redistribution(run: &Run<'_>) -> Result<()> {
    let (world, shape) = (run.world, large(run));
    let case = &format!("redistribution, slabs to blocks, {} MiB", mib(shape));
    if !run.options.selects(&run.named(case)) {
        return Ok(());
    }
    let ranks = world.size();
    let columns = if ranks == 2 { [2, 1, 1] } else { grid(ranks) };
    let from = world.array::<f32, 3>("slabs", &Layout::new(shape).split(slabs(ranks).map(Split::Even)))?;
    let to = world.array::<f32, 3>("blocks", &Layout::new(shape).split(columns.map(Split::Even)))?;
    from.fill_with(value)?;
    let whole = shape.map(|n| [0, n]);
    let exchange = moves(world.rank(), &blocks(shape, slabs(ranks)), &blocks(shape, columns), &whole, [0; 3]);
    let (source, mut destination) = (plain(&from)?, plain(&to)?);
    let mut messages = Messages::default();
    exchange.step_between(world.group(), &source, &mut destination, &mut messages)?;
    world.copy(from.at(..), to.at(..))?;
    assert!(plain(&to)? == destination, "library and reference move different cells");
    let bytes = shape.iter().product::<usize>() as u64 * 4 / ranks as u64;
    run.compare(
        case,
        bytes,
        None,
        vec![
            contender("zippy", || world.copy(from.at(..), to.at(..)).map(drop)),
            contender("by hand on vectors", || {
                exchange.step_between(world.group(), &source, &mut destination, &mut messages)
            }),
            memory(run, bytes),
        ],
    )
}

/// Measures get and put of a box in the middle of the next rank's chunk.
///
/// In the hand-written version, the owners know the boxes in advance and send them without a
/// request; a barrier replaces the fence.
fn one_sided(run: &Run<'_>, size_name: &str, width: usize, depth: usize) -> Result<()> {
    const N: usize = 64;
    let world = run.world;
    let (rank, ranks) = (world.rank(), world.size());
    let layout = Layout::new([N, N, N * ranks]).split(slabs(ranks).map(Split::Even));
    let array = world.array::<f32, 3>("array", &layout)?;
    array.fill_with(value)?;
    let (next, previous) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let section = || {
        let z = (next * N + 7) as i64;
        array.at([5..5 + width as i64, 6..6 + depth as i64, z..z + depth as i64])
    };
    let inside = CellBox { start: [5, 6, 7], extent: [width, depth, depth] };
    let alone = CellBox { start: [0; 3], extent: inside.extent };
    let bytes = inside.cells() as u64 * 4;
    let mut chunk = plain(&array)?;
    let mut values = vec![0.0; inside.cells()];
    let mut messages = Messages::default();

    let mut exchange = Exchange { source: [N; 3], destination: inside.extent, ..Default::default() };
    exchange.send_box(previous, inside);
    exchange.receive_box(next, alone);
    let fetch = || {
        let ticket = world.get(section())?;
        world.fence()?.redeem(ticket)
    };
    exchange.step_between(world.group(), &chunk, &mut values, &mut messages)?;
    assert_eq!(fetch()?, values, "library and reference fetch different cells");
    run.compare(
        &format!("get, {size_name}"),
        bytes,
        None,
        vec![
            contender("zippy", || fetch().map(drop)),
            contender("by hand on vectors", || {
                exchange.step_between(world.group(), &chunk, &mut values, &mut messages)?;
                world.group().barrier()
            }),
            memory(run, bytes),
        ],
    )?;

    let mut exchange = Exchange { source: inside.extent, destination: [N; 3], ..Default::default() };
    exchange.send_box(next, alone);
    exchange.receive_box(previous, inside);
    let sent = values.clone();
    run.compare(
        &format!("put, {size_name}"),
        bytes,
        None,
        vec![
            contender("zippy", || {
                world.put(&sent, section())?;
                world.fence().map(drop)
            }),
            contender("by hand on vectors", || {
                exchange.step_between(world.group(), &sent, &mut chunk, &mut messages)?;
                world.group().barrier()
            }),
            memory(run, bytes),
        ],
    )?;
    assert!(plain(&array)? == chunk, "library and reference write different cells");
    Ok(())
}

/// Measures a composite: each rank of the first half sends its image to a rank of the second half,
/// which blends it over its own image. The last rank of an odd number has no image.
fn composite(run: &Run<'_>) -> Result<()> {
    const SIDE: i64 = 1024;
    let (world, case) = (run.world, "composite, 1024^2 RGBA f32");
    if world.size() == 1 || !run.options.selects(&run.named(case)) {
        return Ok(());
    }
    let (rank, half) = (world.rank(), world.size() / 2);
    let layout = Layout::new([SIDE, SIDE, 2 * half as i64]).split([Split::Whole, Split::Whole, Split::Even(2 * half)]);
    let images = world.array::<[f32; 4], 3>("images", &layout)?;
    images.fill_with(|[x, y, layer]| [x, y, layer, 2].map(|c| c as f32 / 4096.0))?;
    let (front, back) = (images.at((.., .., ..half)), images.at((.., .., half..)));
    let blend = || world.composite(front.clone(), back.clone(), Operator::Over).map(drop);
    let mut pixels = Vec::new();
    for chunk in images.chunks() {
        pixels.extend(chunk.all().read()?.into_iter().flatten());
    }
    let mut messages = Messages::default();
    let mut by_hand = || -> Result<()> {
        let tag = world.group().next_sequence();
        if rank == 2 * half {
            return Ok(());
        }
        if rank < half {
            let message = messages.pack(pixels.len(), |message| message.copy_from_slice(&pixels));
            return world.group().send(rank + half, tag, message);
        }
        let payload = world.group().receive(rank - half, tag)?;
        let front: &[[f32; 4]] = bytemuck::cast_slice((*payload).as_ref());
        for (back, front) in bytemuck::cast_slice_mut::<f32, [f32; 4]>(&mut pixels).iter_mut().zip(front) {
            for channel in 0..4 {
                back[channel] = front[channel] + (1.0 - front[3]) * back[channel];
            }
        }
        Ok(())
    };
    by_hand()?;
    blend()?;
    let bytes = (SIDE * SIDE * 16) as u64;
    run.compare(
        case,
        bytes,
        None,
        vec![contender("zippy", blend), contender("by hand on vectors", &mut by_hand), memory(run, bytes)],
    )
}
