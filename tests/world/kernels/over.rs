//! Domains other than the written section: plain extents, sections of other arrays, and domains
//! with fewer axes.

use zippy::extents::Index;
use zippy::kernel::{Domain, IntoDomain};
use zippy::{KernelSource, Layout, LocalArray, Result, Split, World};

use super::report::Report;
use super::wgsl::part;
use crate::support;

/// Kernel that counts the invocations of every position and stores the number of its workgroup, at
/// the linear index of the position.
fn census_kernel(axes: usize, workgroup: &str) -> KernelSource {
    let mut linear = String::from("0");
    for axis in (0..axes).rev() {
        linear = format!("({linear}) * {} + {}", part("e", axes, axis), part("p", axes, axis));
    }
    let number = ["n", "n.x + 1000000 * n.y", "n.x + 1000 * n.y + 1000000 * n.z"][axes.min(3) - 1];
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> times: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> numbers: array<i32>;
@compute @workgroup_size({workgroup})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {{
  var p = domain_position(id);
  if !domain_inside(p) {{ return; }}
  var e = domain_extent();
  let n = domain_workgroup(group);
  let at = {linear};
  atomicAdd(&times[times_index(at)], 1u);
  numbers_store(at, {number});
}}
"
    );
    KernelSource::text("census.wgsl", text)
}

/// Checks the census over extents, or over a section with these extents.
fn check_census<const D: usize>(
    world: &World,
    extents: [i64; D],
    workgroup: [i64; 3],
    over: impl IntoDomain,
) -> Result<()> {
    let cells = extents.iter().product::<i64>();
    if cells as u64 * 4 > world.gpu().limits().binding_bytes {
        return Ok(()); // Atomics reach the first window alone, and a test run may have made it small.
    }
    let layout = Layout::new([cells]);
    let (times, numbers) =
        (world.local_array::<u32, 1>("times", &layout)?, world.local_array::<i32, 1>("numbers", &layout)?);
    let [a, b, c] = workgroup;
    let kernel = world.kernel(census_kernel(D, &format!("{a}, {b}, {c}")))?;
    kernel.call().update("times", times.all()).write("numbers", numbers.all()).over(over).run()?;
    let times = times.all().read()?;
    assert!(times.iter().all(|&n| n == 1), "{extents:?} by {workgroup:?}: {:?}", times.iter().position(|&n| n != 1));
    let found: Vec<i32> = numbers.all().read()?;
    for (at, found) in found.into_iter().enumerate() {
        let (mut rest, mut p) = (at as i64, [0; D]);
        for axis in 0..D {
            p[axis] = rest % extents[axis];
            rest /= extents[axis];
        }
        let folded = (2..D).rev().fold(0, |sum, axis| sum * extents[axis] + p[axis]);
        let n = [p[0] / a, p.get(1).unwrap_or(&0) / b, folded / c];
        let expected = if D < 3 { n[0] + 1_000_000 * n[1] } else { n[0] + 1_000 * n[1] + 1_000_000 * n[2] };
        assert_eq!(found, expected as i32, "{p:?} of {extents:?} by {workgroup:?}");
    }
    Ok(())
}

#[test]
fn domain_of_extents_runs_every_position_once() {
    support::ranks(&[1, 2], |world| {
        for n in [1, 2, 63, 64, 65, 1000] {
            check_census(world, [n], [64, 1, 1], [n])?;
            check_census(world, [n], [4, 4, 2], [n as u32])?;
        }
        for workgroup in [[64, 1, 1], [8, 8, 1], [2, 4, 8], [1, 1, 5]] {
            check_census(world, [3, 100], workgroup, [3_usize, 100])?;
            check_census(world, [70, 9], workgroup, [70_i32, 9])?;
            check_census(world, [5, 6, 7], workgroup, [5, 6, 7])?;
            check_census(world, [3, 4, 5, 6], workgroup, [3, 4, 5, 6])?;
            check_census(world, [3, 4, 2, 3, 5], workgroup, [3_u64, 4, 2, 3, 5])?;
            check_census(world, [2, 3, 2, 3, 2, 4], workgroup, [2, 3, 2, 3, 2, 4])?;
            check_census(world, [2, 3, 2, 1, 3, 2, 5], workgroup, Domain::extents(&[2, 3, 2, 1, 3, 2, 5]))?;
        }
        Ok(())
    });
}

/// Workgroup numbers do not depend on the division into dispatches.
#[test]
fn domain_of_extents_may_exceed_dispatch_limit() {
    support::ranks(&[1], |world| {
        check_census(world, [70_001], [1, 1, 1], [70_001])?;
        check_census(world, [3 * 65_535 + 7], [1, 1, 1], [3 * 65_535 + 7])?;
        check_census(world, [300_001], [4, 1, 1], [300_001])?;
        check_census(world, [2, 70_001], [1, 1, 1], [2, 70_001])?;
        check_census(world, [1, 2, 140_003], [1, 1, 2], [1, 2, 140_003])?;
        // More dispatches than one recording holds.
        check_census(world, [1, 1, 16 * 65_535 + 1], [1, 1, 1], [1, 1, 16 * 65_535 + 1])?;
        check_census(world, [1, 1, 270, 270], [1, 1, 1], [1, 1, 270, 270])?;
        check_census(world, [1, 2, 30, 50, 50], [1, 1, 1], [1, 2, 30, 50, 50])
    });
}

/// Positions are relative to the section that is the domain, in any array.
#[test]
fn domain_may_be_section_of_any_array() {
    support::ranks(&[1, 3], |world| {
        let layout = Layout::new([40, 33]).split([Split::Even(world.size()), Split::Whole]).ghost([2, 1]);
        let field = world.array::<f32, 2>("field", &layout)?;
        for chunk in field.chunks() {
            let own = chunk.region().extents();
            check_census(world, [own[0], own[1]], [8, 8, 1], chunk.all())?;
            check_census(world, [own[0] + 4, own[1] + 2], [4, 4, 4], chunk.with_ghosts())?;
            check_census(world, [own[0] - 3, 20], [16, 2, 1], chunk.at((3.., 5..25)))?;
        }
        // The domain may be a section of the written array, whose own positions have another
        // origin.
        let text = "@group(0) @binding(0) var<storage, read_write> x: array<i32>;
            @compute @workgroup_size(8, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let p = x_position(id);
                let q = domain_position(id);
                if domain_inside(q) { x_store(p, 1000 * (p.x - q.x) + 100 * (p.y - q.y) + 10 * domain_extent().x); }
                else if x_has(p) { x_store(p, -1); }
            }";
        let kernel = world.kernel(KernelSource::text("shift.wgsl", text))?;
        let x: LocalArray<i32, 2> = world.local_array("x", &Layout::new([30, 20]))?;
        kernel.call().write("x", x.at((5..25, 5..15))).over(x.at((3..20, 12..19))).run()?;
        let expected = |[a, b]: [i64; 2]| {
            if (3..20).contains(&a) && (12..19).contains(&b) { -2 * 1000 + 7 * 100 + 10 * 17 } else { 0 }
        };
        let cells = (0..20).flat_map(|b| (0..30).map(move |a| expected([a, b])));
        assert!(x.all().read()?.into_iter().eq(cells));
        Ok(())
    });
}

/// One invocation per column, or per row, of the written section.
#[test]
fn domain_may_have_fewer_axes_than_written_section() {
    support::ranks(&[1, 2], |world| {
        let text = "@group(0) @binding(0) var<storage, read> x: array<u32>;
            @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
            @compute @workgroup_size(16, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let column = domain_position(id);
                if !domain_inside(column) { return; }
                var sum = 0u;
                for (var z = 0; z < x_extent().z; z++) {
                    sum += x_load(vec3<i32>(column, z));
                    sums_store(vec3<i32>(column, z), sum);
                }
            }";
        let kernel = world.kernel(KernelSource::text("columns.wgsl", text))?;
        let layout = Layout::new([37, 11, 9]).split([Split::Even(2), Split::Even(world.size()), Split::Whole]);
        let x = world.array::<u32, 3>("x", &layout.clone().ghost([1, 0, 2]))?;
        let sums = world.array::<u32, 3>("sums", &layout)?;
        let of = |[a, b, c]: [i64; 3]| (a * 1009 + b * 131 + c * c) as u32;
        x.fill_with(of)?;
        let plane = world.local_array::<u8, 2>("plane", &Layout::new([37, 11]))?;
        for by_section in [false, true] {
            sums.fill_with(|_| 0)?;
            for (x, sums) in zippy::zip_chunks((&x, &sums))? {
                let own = sums.region();
                let [a, b, _] = <[i64; 3]>::try_from(&*own.extents()).expect("three axes");
                let call = kernel.call().read("x", x.all()).write("sums", sums.all());
                if by_section {
                    call.over(plane.at((37 - a.., 11 - b..))).run()?
                } else {
                    call.over([a, b]).run()?
                }
                let expected = |p: Index| (0..=p[2]).map(|z| of([p[0], p[1], z])).sum::<u32>();
                assert!(sums.all().read()?.into_iter().eq(own.points().map(expected)));
            }
        }
        Ok(())
    });
}

/// Packed cells are written one by one with atomics, for any domain.
#[test]
fn packed_cells_are_written_with_atomics() {
    support::ranks(&[1], |world| {
        let text = "@group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let p = domain_position(id);
                if domain_inside(p) { x_store(2 * p + 1, x_load(2 * p) + 100u); }
            }";
        let kernel = world.kernel(KernelSource::text("odd.wgsl", text))?;
        let x: LocalArray<u8, 1> = world.local_array("x", &Layout::new([201]))?;
        x.all().fill_with(|[i]| (i % 90) as u8)?;
        kernel.call().update("x", x.all()).over([100]).run()?;
        let expected = |i: i64| if i % 2 == 1 { (i - 1) % 90 + 100 } else { i % 90 };
        assert!(x.all().read()?.into_iter().eq((0..201).map(|i| expected(i) as u8)));
        Ok(())
    });
}

#[test]
fn domain_without_positions_runs_no_invocation() {
    support::ranks(&[1, 2], |world| {
        let times: LocalArray<u32, 1> = world.local_array("times", &Layout::new([8]))?;
        let numbers: LocalArray<i32, 1> = world.local_array("numbers", &Layout::new([8]))?;
        let census = |axes| world.kernel(census_kernel(axes, "64"));
        let line = census(1)?;
        for over in [Domain::from([0]), times.at(3..3).into()] {
            line.call().update("times", times.all()).write("numbers", numbers.all()).over(over).run()?;
        }
        let plane = census(2)?;
        for extents in [[0, 5], [5, 0], [0, 0]] {
            plane.call().update("times", times.all()).write("numbers", numbers.all()).over(extents).run()?;
        }
        assert_eq!(times.all().read()?, [0; 8]);
        Ok(())
    });
}

#[test]
fn invalid_domains_are_refused() {
    support::ranks(&[1, 2], |world| {
        let mut report = Report::new(world);
        let kernel = |text: &str| {
            let text = format!(
                "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {{
{text}
}}
"
            );
            world.kernel(KernelSource::text("shaders/user.wgsl", text))
        };
        let x: LocalArray<u32, 1> = world.local_array("x", &Layout::new([16]))?;
        let other: LocalArray<u32, 1> = world.local_array("other", &Layout::new([4]))?;
        let bytes: LocalArray<u8, 1> = world.local_array("bytes", &Layout::new([16]))?;
        let place = kernel("    let p = domain_position(id);\n    if domain_inside(p) { x_store(p, 1u); }")?;
        let cell = kernel("    let p = x_position(id);\n    if x_inside(p) { x_store(p, 1u); }")?;
        let over = |domain: Domain| place.call().write("x", x.all()).over(domain).run();
        report.fails("a negative extent", over([-1].into()));
        report.fails("a negative extent beside none", over([0, -7].into()));
        report.fails("an extent beyond 31 bits", over([1_u64 << 31].into()));
        report.fails("an extent beyond 64 bits", over([1_u128 << 70].into()));
        report.fails("no axes", over(Domain::extents::<i64>(&[])));
        report.fails("eight axes", over([1; 8].into()));
        let plain = kernel("    x_store(0, u32(domain_extent().x));")?;
        let plain = |domain: Domain| plain.call().write("x", x.all()).over(domain).run();
        report.fails("more than a call can have", plain([1 << 30, 1 << 30].into()));
        report.fails("a long fold", plain([1, 1, 1 << 20, 1 << 20].into()));
        report.fails("a position in an array, over extents", cell.call().write("x", x.all()).over([16]).run());
        report.fails("one over another array", cell.call().write("x", x.all()).over(other.all()).run());
        report.fails("a position of other axes", over([4, 4].into()));
        let group = kernel("    let n = domain_workgroup(group);\n    if domain_inside(n) { x_store(n, 1u); }")?;
        report.fails("a position of other axes than the domain's", group.call().write("x", x.all()).over([4; 4]).run());
        let boxes = kernel("    x_store(domain_workgroup(group), 1u);")?;
        let array = world.array::<u32, 2>("array", &Layout::new([64, 64]).split_all(Split::Even(2)).ghost([2, 2]))?;
        for chunk in array.chunks().take(1) {
            let call = boxes.call().write("x", chunk.all()).over(chunk.boundary());
            report.fails("workgroups of a boundary", call.run());
        }
        let words = kernel("    x_store_word(domain_position(id), vec4<u32>(1u));")?;
        report.fails("packed cells by words", words.call().write("x", bytes.all()).over([16]).run());
        report.fails("packed cells over another array", words.call().write("x", bytes.all()).over(other.all()).run());
        let unknown = kernel("    x_store(domain_linear(id), 1u);")?;
        report.fails("a helper that there is not", unknown.call().write("x", x.all()).run());
        // Chunks of other ranks have other cells, so only rank 0 compares the texts.
        if world.rank() == 0 {
            report.compare("domains");
        }
        Ok(())
    });
}
