//! Domains of kernels: every cell runs once, and no other.

use zippy::{KernelSource, Layout, LocalArray, Result, Split, World};

use crate::support;

/// Kernel that counts the invocations of each cell.
fn counting_kernel(workgroup: &str) -> KernelSource {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
@compute @workgroup_size({workgroup})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let p = x_position(id);
  if x_inside(p) {{ atomicAdd(&x[x_index(p)], 1u); }}
}}
"
    );
    KernelSource::text("count.wgsl", text)
}

fn check_interior_and_boundary<const D: usize>(world: &World, shape: [i64; D]) -> Result<()> {
    let layout = Layout::new(shape).split_all(Split::Even(2));
    for workgroup in ["64", "4, 4, 4", "1, 16, 2"] {
        let count = world.kernel(counting_kernel(workgroup))?;
        for ghost in [[(1, 1); D], std::array::from_fn(|axis| (axis as i64 % 2, 2 * (axis as i64 % 3)))] {
            let x = world.array::<u32, D>("x", &layout.clone().ghost_sides(ghost))?;
            for chunk in x.chunks() {
                let everywhere = chunk.with_ghosts();
                let (interior, own) = (chunk.interior().region()?, chunk.region());
                // Runs over the interior once, over the boundary twice, and over all stored cells
                // once.
                count.call().update("x", chunk.all()).over(chunk.interior()).run()?;
                for _ in 0..2 {
                    count.call().update("x", chunk.boundary()).run()?;
                }
                let observed = everywhere.read()?;
                for (p, &times) in everywhere.region()?.points().zip(&observed) {
                    let expected = match (interior.contains(&p), own.contains(&p)) {
                        (true, _) => 1,
                        (_, true) => 2,
                        _ => 0,
                    };
                    assert_eq!(times, expected, "{D} axes, {workgroup}: {p:?} of {own:?}");
                }
                count.call().update("x", chunk.with_ghosts()).run()?;
                assert!(everywhere.read()?.iter().zip(&observed).all(|(after, before)| *after == before + 1));
            }
        }
    }
    Ok(())
}

#[test]
fn interior_and_boundary_run_every_cell_once() {
    support::ranks(&[1, 3], |world| {
        check_interior_and_boundary(world, [90])?;
        check_interior_and_boundary(world, [13, 70])
    });
    support::ranks(&[2], |world| {
        check_interior_and_boundary(world, [9, 11, 40])?;
        check_interior_and_boundary(world, [5, 6, 4, 7])?;
        check_interior_and_boundary(world, [3, 4, 3, 2, 5])?;
        check_interior_and_boundary(world, [2, 3, 2, 3, 2, 4])?;
        check_interior_and_boundary(world, [2, 3, 2, 2, 2, 2, 3])
    });
}

/// Kernel that writes a cell's number and counts invocations.
fn numbering_kernel(workgroup: &str) -> KernelSource {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: array<atomic<u32>>;
@compute @workgroup_size({workgroup})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let p = x_position(id);
  if !x_inside(p) {{ return; }}
  x_store(p, x_linear(p).x + 1u);
  atomicAdd(&total[total_index(0)], 1u);
}}
"
    );
    KernelSource::text("number.wgsl", text)
}

/// More workgroups than the limit of a dispatch, along every axis.
#[test]
fn domain_larger_than_dispatch_runs_every_cell_once() {
    support::ranks(&[1], |world| {
        let total: LocalArray<u32, 1> = world.local_array("total", &Layout::new([1]))?;
        for (workgroup, shape) in [
            ("1", [70_001, 1, 2]),
            ("1", [1, 70_001, 2]),
            ("1", [2, 1, 70_001]),
            // Axis 0 is long enough for dimension x of the dispatch, so that dimension y is
            // divided.
            ("32", [32, 70_001, 1]),
            ("1", [300, 2, 250]),
            ("1, 1, 64", [70_001, 3, 2]),
        ] {
            let limits = world.gpu().limits();
            let bindings = u64::from(limits.wgpu.max_storage_buffers_per_shader_stage) - 1;
            let most = limits.binding_bytes.saturating_mul(bindings);
            if shape.iter().product::<i64>() as u64 * 4 > most {
                continue; // More windows than bindings, where a test run has made the limit small.
            }
            let x: LocalArray<u32, 3> = world.local_array("x", &Layout::new(shape))?;
            total.all().write(&[0])?;
            world
                .kernel(numbering_kernel(workgroup))?
                .call()
                .update("x", x.all())
                .update("total", total.all())
                .run()?;
            let cells: u32 = shape.iter().product::<i64>() as u32;
            assert!(x.all().read()?.into_iter().eq(1..=cells), "every cell of {shape:?}");
            assert_eq!(total.all().read()?, [cells], "no cell of {shape:?} twice");
        }
        Ok(())
    });
}

/// Positions are relative to the first written section, for any domain.
#[test]
fn domain_of_other_section_runs_its_cells() {
    support::ranks(&[1, 2, 5], |world| {
        let text = "@group(0) @binding(0) var<storage, read_write> x: array<i32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let p = x_position(id);
                x_store(p, 1000 + 10 * p.y + p.x);
            }";
        let kernel = world.kernel(KernelSource::text("place.wgsl", text))?;
        let layout = Layout::new([12, 8]).split([Split::Even(3), Split::Even(2)]).ghost([2, 1]);
        let x = world.array::<i32, 2>("x", &layout)?;
        for chunk in x.chunks() {
            // The section begins at (1, 1); the domain includes ghost cells before and after it.
            kernel.call().write("x", chunk.at((1..3, 1..3))).over(chunk.at((-2..3, 2..5))).run()?;
            let own = chunk.region().start;
            let everywhere = chunk.with_ghosts();
            for (p, got) in everywhere.region()?.points().zip(everywhere.read()?) {
                let (a, b) = (p[0] - own[0], p[1] - own[1]);
                let expected =
                    if (-2..3).contains(&a) && (2..5).contains(&b) { 1000 + 10 * (b - 1) + a - 1 } else { 0 };
                assert_eq!(i64::from(got), expected, "{p:?} in chunk {}", chunk.id());
            }
        }
        Ok(())
    });
}

/// Ranks and sections without cells run no invocation.
#[test]
fn domain_without_cells_runs_no_invocation() {
    support::ranks(&[1, 2, 4], |world| {
        let count = world.kernel(counting_kernel("64"))?;
        let x = world.array::<u32, 2>("x", &Layout::new([5, 3]).split([Split::Sizes(vec![0, 5, 0]), Split::Whole]))?;
        for chunk in x.chunks() {
            count.call().update("x", chunk.all()).run()?;
            count.call().update("x", chunk.at((0..0, ..))).run()?;
            count.call().update("x", chunk.interior()).over(chunk.boundary()).run()?;
            assert!(chunk.all().read()?.iter().all(|&times| times == 1));
        }
        // The kernel runs even if the section that it reads is empty.
        let text = "@group(0) @binding(0) var<storage, read> x: array<u32>;
            @group(0) @binding(1) var<storage, read_write> y: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let p = y_position(id);
                if !y_inside(p) { return; }
                if x_has(p) { y_store(p, x_load(p)); } else { y_store(p, 9u); }
            }";
        let kernel = world.kernel(KernelSource::text("nothing.wgsl", text))?;
        let y: LocalArray<u32, 2> = world.local_array("y", &Layout::new([3, 3]))?;
        for chunk in x.chunks() {
            kernel.call().read("x", chunk.all()).write("y", y.all()).run()?;
            let expected = if chunk.region().is_empty() { 9 } else { 1 };
            assert_eq!(y.all().read()?, [expected; 9]);
        }
        let none =
            world.array::<u32, 2>("none", &Layout::new([0, 3]).split([Split::Even(world.size()), Split::Whole]))?;
        none.chunks().try_for_each(|chunk| count.call().update("x", chunk.with_ghosts()).run())
    });
}

/// The domain is a part of a plane that is only read: positions are those of the plane.
#[test]
fn domain_may_be_read_only_section() {
    const TEXT: &str = "
@group(0) @binding(0) var<storage, read> plane: array<f32>;
@group(0) @binding(1) var<storage, read_write> volume: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = plane_position(id);
    if plane_inside(p) {
        for (var z = 0; z < 3; z++) { volume_store(vec3<i32>(p, z), plane_load(p) + 1000.0 * f32(z + 1)); }
    }
}";
    support::ranks(&[1], |world| {
        let layout = Layout::new([9, 7]).ghost([1, 1]);
        let plane = world.local_array::<f32, 2>("plane", &layout)?;
        plane.all().fill_with(|[x, y]| (10 * y + x) as f32)?;
        let volume = world.local_array::<f32, 3>("volume", &Layout::new([9, 7, 3]))?;
        let kernel = world.kernel(KernelSource::text("over.wgsl", TEXT))?;
        // Positions are relative to the bound section, not to the domain.
        let call = kernel.call().read("plane", plane.at((1.., ..))).write("volume", volume.at((1.., .., ..)));
        call.over(plane.at((3..8, 2..5))).run()?;
        for (i, found) in volume.all().read()?.into_iter().enumerate() {
            let [x, y, z] = [i % 9, i / 9 % 7, i / 63];
            let inside = (3..8).contains(&x) && (2..5).contains(&y);
            assert_eq!(found, if inside { (10 * y + x + 1000 * (z + 1)) as f32 } else { 0.0 }, "[{x}, {y}, {z}]");
        }
        Ok(())
    });
}
