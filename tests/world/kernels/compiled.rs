//! Number of compilations of a kernel: one per combination of array types, independent of extents,
//! chunks, sections and parameters.

use std::sync::atomic::{AtomicU32, Ordering};

use zippy::{Kernel, KernelSource, Layout, Result, Split, World};

use crate::support;

/// Kernel text that is new to all devices of this process.
fn new_kernel_source() -> KernelSource {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let text = format!(
        "// {number}
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> b: array<i32>;
@group(0) @binding(2) var<uniform> more: i32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = b_position(id);
    if b_inside(p) {{ b_store(p, a_load(p) + more); }}
}}
"
    );
    KernelSource::text("compiled.wgsl", text)
}

/// Runs a kernel over every chunk of a new array, and checks the cells.
fn check_kernel<const D: usize>(world: &World, kernel: &Kernel, layout: &Layout, more: i32) -> Result<()> {
    let a = world.array::<i32, D>("a", layout)?;
    let b = world.array::<i32, D>("b", layout)?;
    let of = |p: [i64; D]| p.iter().fold(0, |sum, &x| 100 * sum + x as i32);
    a.fill_with(of)?;
    for (a, b) in zippy::zip_chunks((&a, &b))? {
        kernel.call().read("a", a.all()).write("b", b.all()).param("more", more).run()?;
        let cells = b.region().points().map(|p| of(std::array::from_fn(|axis| p[axis])) + more).collect::<Vec<_>>();
        assert_eq!(b.all().read()?, cells);
    }
    Ok(())
}

/// Runs a kernel over arrays of all kinds. Returns the numbers of compiled pipelines for 2 axes and
/// for 3 axes.
fn count_pipelines(world: &World, source: &KernelSource) -> Result<[u64; 2]> {
    let made = || world.gpu().counters().pipelines_made;
    let kernel = world.kernel(source)?;
    let layout = Layout::new([40, 6]).split([Split::Even(2 * world.size()), Split::Whole]);
    let before = made();
    for (step, ghost) in [[0, 0], [1, 2], [3, 1]].into_iter().enumerate() {
        check_kernel::<2>(world, &kernel, &layout.clone().ghost(ghost), step as i32)?;
        check_kernel::<2>(world, &kernel.clone(), &Layout::new([33, 9]).split([Split::Even(4), Split::Even(3)]), -7)?;
        check_kernel::<2>(
            world,
            &world.kernel(source)?,
            &Layout::new([5, 70]).ghost(ghost).split_all(Split::Even(3)),
            5,
        )?;
    }
    let two = made();
    check_kernel::<3>(world, &kernel, &Layout::new([9, 4, 7]).split_all(Split::Even(2)), 3)?;
    check_kernel::<3>(world, &kernel, &Layout::new([8, 5, 5]).ghost([1, 1, 1]).split_all(Split::Even(2)), 4)?;
    Ok([two - before, made() - two])
}

#[test]
fn kernel_is_compiled_once_per_kind_of_arrays() {
    support::ranks(&[1, 3], |world| {
        // The first run also compiles pipelines of transfers.
        count_pipelines(world, &new_kernel_source())?;
        let again = new_kernel_source();
        assert_eq!(count_pipelines(world, &again)?, [1, 1]);
        assert_eq!(count_pipelines(world, &again)?, [0, 0], "a kernel of the same text");
        Ok(())
    });
}

#[test]
fn repeated_call_creates_no_buffer_or_pipeline() {
    support::ranks(&[1, 3], |world| {
        let kernel = world.kernel(new_kernel_source())?;
        let layout = Layout::new([41, 6, 3]).split([Split::Even(2 * world.size()), Split::Whole, Split::Even(2)]);
        let a = world.array::<i32, 3>("a", &layout.clone().ghost([1, 1, 1]))?;
        let b = world.array::<i32, 3>("b", &layout.ghost([1, 1, 1]))?;
        let step = |more: i32| -> Result<()> {
            for (a, b) in zippy::zip_chunks((&a, &b))? {
                let call = || kernel.call().read("a", a.all()).param("more", more);
                call().write("b", b.all()).over(b.interior()).run()?;
                call().write("b", b.boundary()).run()?;
            }
            world.gpu().wait()?;
            Ok(())
        };
        step(1)?;
        let before = world.gpu().counters();
        (0..10).try_for_each(|more| step(more % 3))?;
        let after = world.gpu().counters();
        assert_eq!((after.buffers_made, after.bytes_now), (before.buffers_made, before.bytes_now));
        assert_eq!((after.pipelines_made, after.host_made), (before.pipelines_made, before.host_made));
        Ok(())
    });
}
