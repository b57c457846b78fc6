//! Workgroup memory, barriers and subgroups: reductions of blocks by one workgroup each, compared
//! with plain loops.

use std::process::Command;

use zippy::kernel::Domain;
use zippy::{KernelSource, Layout, LocalArray, Result, World, wgpu};

use crate::support;

/// Repeats the tests without mapped chunks and with small bindings.
#[test]
fn unmapped_and_small_bindings_by_driver_too() {
    let set = ["ZIPPY_HOST_MAP", "ZIPPY_BINDING_LIMIT"].iter().any(|name| std::env::var_os(name).is_some());
    if set || support::launcher::size().is_some() {
        return;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for module in ["workgroups::", "device_counts::", "over::"] {
        let mut command = Command::new(std::env::current_exe().expect("a test binary has a path"));
        command.args([&format!("kernels::{module}"), "--skip", "too"]);
        let output = command.env("ZIPPY_HOST_MAP", "0").env("ZIPPY_BINDING_LIMIT", "65536").output().expect("it runs");
        assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
        assert!(text(&output.stdout).contains("... ok"), "{}", text(&output.stdout));
    }
}

/// Kernel that sums the cells of each workgroup of a 1-, 2- or 3-D domain by a tree in workgroup
/// memory.
fn tree_sum_kernel(size: [i64; 3], axes: usize) -> KernelSource {
    let [x, y, z] = size;
    let all = x * y * z;
    let ty = ["i32", "vec2<i32>", "vec3<i32>"][axes - 1];
    let text = format!(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
var<workgroup> part: array<u32, {all}>;
@compute @workgroup_size({x}, {y}, {z})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {{
  let p: {ty} = domain_position(id);
  part[local] = select(0u, x_load(p), domain_inside(p));
  for (var half = {all}u / 2u; half > 0u; half /= 2u) {{
    workgroupBarrier();
    if local < half {{ part[local] += part[local + half]; }}
  }}
  if local == 0u {{ sums_store(domain_workgroup(group), part[0]); }}
}}
"
    );
    KernelSource::text("tree.wgsl", text)
}

fn cell_value(linear: usize) -> u32 {
    (linear as u32).wrapping_mul(2_654_435_761) >> 7
}

/// True if two arrays of `words` words fit in the available bindings.
fn fits_in_bindings(world: &World, words: i64) -> bool {
    let limits = world.gpu().limits();
    let bindings = u64::from(limits.wgpu.max_storage_buffers_per_shader_stage) / 2;
    words as u64 * 4 <= limits.binding_bytes.saturating_mul(bindings)
}

/// Checks the sums of all blocks of `size` cells, over extents and over the section.
fn check_block_sums<const D: usize>(
    world: &World,
    source: KernelSource,
    shape: [i64; D],
    size: [i64; 3],
) -> Result<()> {
    let blocks: [i64; D] = std::array::from_fn(|axis| (shape[axis] + size[axis] - 1) / size[axis]);
    if !fits_in_bindings(world, shape.iter().product()) {
        return Ok(()); // More windows than bindings, where a test run has made the limit small.
    }
    let x: LocalArray<u32, D> = world.local_array("x", &Layout::new(shape))?;
    let sums: LocalArray<u32, D> = world.local_array("sums", &Layout::new(blocks))?;
    let values: Vec<u32> = (0..shape.iter().product::<i64>() as usize).map(cell_value).collect();
    x.all().write(&values)?;
    let number = |cell: usize| {
        let (mut rest, mut at, mut stride) = (cell as i64, 0, 1);
        for axis in 0..D {
            at += rest % shape[axis] / size[axis] * stride;
            rest /= shape[axis];
            stride *= blocks[axis];
        }
        at as usize
    };
    let mut expected = vec![0_u32; blocks.iter().product::<i64>() as usize];
    values.iter().enumerate().for_each(|(cell, value)| {
        expected[number(cell)] = expected[number(cell)].wrapping_add(*value);
    });
    let kernel = world.kernel(source)?;
    let whole: [i64; D] = std::array::from_fn(|axis| blocks[axis] * size[axis]);
    for (label, over) in [("cells", Domain::from(shape)), ("blocks", whole.into()), ("section", x.all().into())] {
        sums.all().fill(0xdead_beef)?;
        kernel.call().read("x", x.all()).write("sums", sums.all()).over(over).run()?;
        let found = sums.all().read()?;
        if label == "blocks" {
            // In a partial last block, loads outside of the array return some cell of the array.
            let full = |at: usize| {
                let (mut rest, mut full) = (at as i64, true);
                for axis in 0..D {
                    full &= (rest % blocks[axis] + 1) * size[axis] <= shape[axis];
                    rest /= blocks[axis];
                }
                full
            };
            assert!((0..found.len()).all(|at| !full(at) || found[at] == expected[at]), "{shape:?} by {size:?}");
        } else {
            assert_eq!(found, expected, "{label} of {shape:?} by {size:?}");
        }
    }
    Ok(())
}

#[test]
fn workgroups_sum_blocks_of_one_axis() {
    support::ranks(&[1, 2], |world| {
        for n in [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000 * 64, 1000 * 64 - 1, 1000 * 64 + 1] {
            check_block_sums(world, tree_sum_kernel([64, 1, 1], 1), [n], [64, 1, 1])?;
        }
        for n in [255, 256, 257, 70_000] {
            check_block_sums(world, tree_sum_kernel([256, 1, 1], 1), [n], [256, 1, 1])?;
        }
        Ok(())
    });
}

/// No block of four is divided between dispatches.
#[test]
fn workgroups_of_several_dispatches_sum_blocks() {
    support::ranks(&[1], |world| {
        check_block_sums(world, tree_sum_kernel([4, 1, 1], 1), [2 * 4 * 65_535 + 13], [4, 1, 1])?;
        check_block_sums(world, tree_sum_kernel([4, 2, 1], 2), [7, 2 * 70_001], [4, 2, 1])
    });
}

/// Includes a short axis 0, which would not be dimension x of a dispatch without workgroups.
#[test]
fn workgroups_sum_blocks_of_two_and_three_axes() {
    support::ranks(&[1, 2], |world| {
        for shape in [[8, 8], [7, 9], [3, 200], [200, 3], [65, 66], [1, 1], [0, 5]] {
            check_block_sums(world, tree_sum_kernel([8, 8, 1], 2), shape, [8, 8, 1])?;
            check_block_sums(world, tree_sum_kernel([16, 4, 1], 2), shape, [16, 4, 1])?;
        }
        for shape in [[4, 4, 4], [5, 3, 9], [2, 40, 17], [33, 2, 3], [1, 1, 100]] {
            check_block_sums(world, tree_sum_kernel([4, 4, 4], 3), shape, [4, 4, 4])?;
            check_block_sums(world, tree_sum_kernel([2, 8, 4], 3), shape, [2, 8, 4])?;
        }
        Ok(())
    });
}

#[test]
fn invocations_exchange_cells_in_workgroup_memory() {
    support::ranks(&[1, 2], |world| {
        let text = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
            var<workgroup> tile: array<array<u32, 8>, 4>;
            @compute @workgroup_size(8, 4)
            fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
                let p = x_position(id);
                if x_inside(p) { tile[local.y][local.x] = x_load(p); }
                workgroupBarrier();
                // Previous cell along axis 0, within a block.
                if x_inside(p) && local.x > 0u { x_store(p, tile[local.y][local.x - 1u]); }
            }";
        let kernel = world.kernel(KernelSource::text("tile.wgsl", text))?;
        for shape in [[5, 300], [300, 5], [31, 31], [9, 8]] {
            let x: LocalArray<u32, 2> = world.local_array("x", &Layout::new(shape))?;
            x.all().write(&(0..shape[0] * shape[1]).map(|n| cell_value(n as usize)).collect::<Vec<_>>())?;
            kernel.call().update("x", x.all()).run()?;
            let from = |n: i64| if n % shape[0] % 8 > 0 { n - 1 } else { n };
            let expected = (0..shape[0] * shape[1]).map(|n| cell_value(from(n) as usize));
            assert!(x.all().read()?.into_iter().eq(expected), "{shape:?}");
        }
        Ok(())
    });
}

#[test]
fn subgroups_sum_cells() {
    support::ranks(&[1, 2], |world| {
        if !world.gpu().features().contains(wgpu::Features::SUBGROUP) {
            return Ok(());
        }
        let text = "@group(0) @binding(0) var<storage, read> x: array<u32>;
            @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
            var<workgroup> part: array<u32, 256>;
            @compute @workgroup_size(256)
            fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>,
                    @builtin(local_invocation_index) local: u32, @builtin(subgroup_id) subgroup: u32,
                    @builtin(num_subgroups) subgroups: u32, @builtin(subgroup_invocation_id) lane: u32) {
                let p = domain_position(id);
                let sum = subgroupAdd(select(0u, x_load(p), domain_inside(p)));
                let before = subgroupExclusiveAdd(1u);
                // Checks that lanes are numbered in order.
                if lane == 0u { part[subgroup] = select(sum, 0u, before != 0u); }
                workgroupBarrier();
                if local == 0u {
                    var all = 0u;
                    for (var k = 0u; k < subgroups; k++) { all += part[k]; }
                    sums_store(domain_workgroup(group), all);
                }
            }";
        for n in [0, 1, 255, 256, 257, 100_000] {
            check_block_sums(world, KernelSource::text("subgroups.wgsl", text), [n], [256, 1, 1])?;
        }
        Ok(())
    });
}
