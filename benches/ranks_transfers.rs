//! Copy, redistribution, one-sided operations and composite, beside the same done by hand on plain vectors over the same
//! transport, and beside the memory's own speed.

mod common;
mod reference;

use zippy::{GlobalArray, Layout, Operator, Result, Split};

use common::{Contender, Path, Run, contender, on_ranks};
use reference::exchange::{Block, Exchange, Messages};
use reference::halo::grid;
use reference::moves::{Bounds, blocks, moves};

pub fn main() -> Result<()> {
    let about = "Copy of a 4 MiB and a 32 MiB shifted region, redistribution of slabs to blocks, get and put of 32^3 cells and \
                 of 8 bytes, composite of a 1024^2 RGBA f32 image. Each beside the same by hand on plain vectors with the same \
                 transport (benches/reference/), and beside a plain memory copy of the bytes.";
    on_ranks("ranks_transfers", about, &[Path::Mapped, Path::Kernels], |run| {
        copy(run, "copy, 4 MiB shifted", [128, 128, 64])?;
        let shape = large(run);
        copy(run, &format!("copy, {} MiB shifted", mib(shape)), shape)?;
        redistribution(run)?;
        one_sided(run, "32^3", 32, 32)?;
        one_sided(run, "8 bytes", 2, 1)?;
        composite(run)
    })
}

/// Shape of 32 MiB of f32, grown with the adapter's memory.
fn large(run: &Run) -> [usize; 3] {
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

/// This rank's cells as a plain vector.
fn plain(array: &GlobalArray<f32, 3>) -> Result<Vec<f32>> {
    array.local()?.all().read()
}

/// Reads the bytes once and writes them once, where the run reaches them: on the host or on the device.
fn memory<'a>(run: &Run<'a>, bytes: u64) -> Contender<'a> {
    if run.path == Path::Kernels && bytes >= 1 << 20 {
        return on_device(run, bytes);
    }
    let (from, mut to) = (vec![1_u8; bytes as usize], vec![0; bytes as usize]);
    contender("memcpy", move || {
        to.copy_from_slice(&from);
        std::hint::black_box(&mut to);
        Ok(())
    })
}

/// The device's own copy from one buffer to another.
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

fn copy(run: &Run, case: &str, extent: [usize; 3]) -> Result<()> {
    let world = run.world;
    let within = format!("{case}, within one array");
    if ![case, &within].iter().any(|case| run.options.wants(&run.named(case))) {
        return Ok(());
    }
    // Cut across the shift, so that a part of the region changes ranks.
    let shape = [(264, 8), (260, 4), (160, 32)];
    let shape: [usize; 3] = std::array::from_fn(|axis| shape[axis].0.max(extent[axis] + shape[axis].1));
    let by = [3, 2, 17];
    let region: Bounds = std::array::from_fn(|axis| [1, 1 + extent[axis]]);
    let layout = Layout::new(shape).split(slabs(world.size()).map(Split::Even));
    let from = world.array::<f32, 3>("from", &layout)?;
    let to = world.array::<f32, 3>("to", &layout)?;
    from.fill_with(value)?;
    let select = |by: [usize; 3]| {
        let axis = |axis: usize| (region[axis][0] + by[axis]) as i64..(region[axis][1] + by[axis]) as i64;
        [axis(0), axis(1), axis(2)]
    };
    let held = blocks(shape, slabs(world.size()));
    assert_eq!(held[world.rank()], to_usize(from.local()?.region()));
    let exchange = moves(world.rank(), &held, &held, &region, by);
    let (source, mut destination) = (plain(&from)?, plain(&to)?);
    let mut messages = Messages::default();
    exchange.between(world.group(), &source, &mut destination, &mut messages)?;
    world.copy(from.at(select([0; 3])), to.at(select(by)))?;
    assert!(plain(&to)? == destination, "the reference copies what the library does");
    let bytes = extent.iter().product::<usize>() as u64 * 4 / world.size() as u64;
    run.compare(
        case,
        bytes,
        None,
        vec![
            contender("zippy", || world.copy(from.at(select([0; 3])), to.at(select(by))).map(drop)),
            contender("by hand on vectors", || {
                exchange.between(world.group(), &source, &mut destination, &mut messages)
            }),
            memory(run, bytes),
        ],
    )?;
    run.compare(
        &within,
        bytes,
        None,
        vec![
            contender("zippy", || world.copy(from.at(select([0; 3])), from.at(select(by))).map(drop)),
            memory(run, bytes),
        ],
    )
}

fn redistribution(run: &Run) -> Result<()> {
    let (world, shape) = (run.world, large(run));
    let case = &format!("redistribution, slabs to blocks, {} MiB", mib(shape));
    if !run.options.wants(&run.named(case)) {
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
    exchange.between(world.group(), &source, &mut destination, &mut messages)?;
    world.copy(from.at(..), to.at(..))?;
    assert!(plain(&to)? == destination, "the reference moves what the library does");
    let bytes = shape.iter().product::<usize>() as u64 * 4 / ranks as u64;
    run.compare(
        case,
        bytes,
        None,
        vec![
            contender("zippy", || world.copy(from.at(..), to.at(..)).map(drop)),
            contender("by hand on vectors", || {
                exchange.between(world.group(), &source, &mut destination, &mut messages)
            }),
            memory(run, bytes),
        ],
    )
}

/// Every rank reads or writes a box in the middle of the next rank's chunk. By hand the owners would have to know that they
/// are asked: they send what is wanted unasked, and a barrier stands for the fence.
fn one_sided(run: &Run, what: &str, width: usize, depth: usize) -> Result<()> {
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
    let inside = Block { start: [5, 6, 7], extent: [width, depth, depth] };
    let alone = Block { start: [0; 3], extent: inside.extent };
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
    exchange.between(world.group(), &chunk, &mut values, &mut messages)?;
    assert_eq!(fetch()?, values, "the reference fetches what the library does");
    run.compare(
        &format!("get, {what}"),
        bytes,
        None,
        vec![
            contender("zippy", || fetch().map(drop)),
            contender("by hand on vectors", || {
                exchange.between(world.group(), &chunk, &mut values, &mut messages)?;
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
        &format!("put, {what}"),
        bytes,
        None,
        vec![
            contender("zippy", || {
                world.put(&sent, section())?;
                world.fence().map(drop)
            }),
            contender("by hand on vectors", || {
                exchange.between(world.group(), &sent, &mut chunk, &mut messages)?;
                world.group().barrier()
            }),
            memory(run, bytes),
        ],
    )?;
    assert!(plain(&array)? == chunk, "the reference writes what the library does");
    Ok(())
}

/// The first half of the ranks send their images to the second half, which blends them over its own. A rank that is left over
/// has no image.
fn composite(run: &Run) -> Result<()> {
    const SIDE: i64 = 1024;
    let (world, case) = (run.world, "composite, 1024^2 RGBA f32");
    if world.size() == 1 || !run.options.wants(&run.named(case)) {
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
            let message = messages.packed(pixels.len(), |message| message.copy_from_slice(&pixels));
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
