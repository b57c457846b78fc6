//! Domains whose count is on the device: calls do not read back, wait or allocate.

use std::rc::Rc;

use zippy::array::LocalSection;
use zippy::device::{Device, DeviceOptions};
use zippy::kernel::Domain;
use zippy::{Kernel, KernelSource, Layout, LocalArray, Result, World};

use super::report::Report;
use crate::support;

/// Kernel that records for every position the number of its invocations, its workgroup and the
/// extent, and counts all invocations and all numbered workgroups.
fn census_kernel(workgroup: &str) -> KernelSource {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> times: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> notes: array<vec2<i32>>;
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>>;
@compute @workgroup_size({workgroup})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {{
  let p = domain_position(id);
  let n = domain_workgroup(group);
  if local == 0u && n >= 0 {{ atomicAdd(&totals[1], 1u); }}
  if !domain_inside(p) {{ return; }}
  atomicAdd(&times[times_index(p)], 1u);
  atomicAdd(&totals[0], 1u);
  notes_store(p, vec2<i32>(n, domain_extent()));
}}
"
    );
    KernelSource::text("census.wgsl", text)
}

/// Kernel that writes `n` to the first cell of `count`.
fn count_setter_kernel(world: &World) -> Result<Kernel> {
    let text = "@group(0) @binding(0) var<storage, read_write> count: array<u32>;
        @group(0) @binding(1) var<uniform> n: u32;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) { count_store(0, n); }";
    world.kernel(KernelSource::text("set.wgsl", text))
}

struct Arrays {
    times: LocalArray<u32, 1>,
    notes: LocalArray<[i32; 2], 1>,
    totals: LocalArray<u32, 1>,
}

impl Arrays {
    fn new(world: &World, cells: i64) -> Result<Self> {
        Ok(Self {
            times: world.local_array("times", &Layout::new([cells]))?,
            notes: world.local_array("notes", &Layout::new([cells]))?,
            totals: world.local_array("totals", &Layout::new([2]))?,
        })
    }

    /// Runs the census over a count, and checks for `n` invocations in workgroups of `size`.
    fn check(&self, kernel: &Kernel, over: Domain, n: i64, size: i64) -> Result<()> {
        self.times.all().fill(0)?;
        self.totals.all().fill(0)?;
        self.notes.all().fill([-1, -1])?;
        let call = kernel.call().update("times", self.times.all()).write("notes", self.notes.all());
        call.update("totals", self.totals.all()).over(over).run()?;
        let groups = (n + size - 1) / size;
        assert_eq!(self.totals.all().read()?, [n as u32, groups as u32], "{n} by {size}");
        let cells = self.times.shape()[0];
        assert!(self.times.all().read()?.into_iter().eq((0..cells).map(|p| u32::from(p < n))), "{n} by {size}");
        let note = |p: i64| if p < n { [(p / size) as i32, n as i32] } else { [-1, -1] };
        assert!(self.notes.all().read()?.into_iter().eq((0..cells).map(note)), "{n} by {size}");
        Ok(())
    }
}

#[test]
fn domain_with_device_count_runs_every_position_once() {
    support::ranks(&[1, 2], |world| {
        let arrays = Arrays::new(world, 3000)?;
        let set = count_setter_kernel(world)?;
        let count: LocalArray<u32, 1> = world.local_array("count", &Layout::new([1]))?;
        // Invocations of a workgroup outside of its single axis have no position.
        for (workgroup, size) in [("64", 64), ("1", 1), ("256, 1, 1", 256), ("32, 2, 2", 32)] {
            let kernel = world.kernel(census_kernel(workgroup))?;
            for n in [0, 1, 2, size - 1, size, size + 1, 10 * size, 2900].into_iter().filter(|&n| n < 3000) {
                set.call().write("count", count.all()).param("n", n as u32).run()?;
                arrays.check(&kernel, Domain::counted(count.all(), 2950), n, size)?;
                arrays.check(&kernel, Domain::counted(count.all(), n as u64), n, size)?;
                arrays.check(&kernel, Domain::counted(count.all(), 100), n.min(100), size)?;
                arrays.check(&kernel, Domain::counted(count.all(), 0), 0, size)?;
            }
            // A count beyond the maximum.
            count.all().write(&[u32::MAX])?;
            arrays.check(&kernel, Domain::counted(count.all(), 2999), 2999, size)?;
        }
        Ok(())
    });
}

/// More workgroups than the limit of a dispatch along one direction.
#[test]
fn device_count_may_exceed_dispatch_limit() {
    support::ranks(&[1], |world| {
        let most = world.gpu().limits().binding_bytes / 8;
        let count: LocalArray<u32, 1> = world.local_array("count", &Layout::new([1]))?;
        for (workgroup, size, n) in [
            ("1", 1, 65_535),
            ("1", 1, 65_536),
            ("1", 1, 70_001),
            ("1", 1, 200_003),
            ("2", 2, 131_070),
            ("2, 1, 3", 2, 131_073),
        ] {
            if n as u64 + 5 > most {
                continue; // Atomics reach the first window alone, and a test run may have made it small.
            }
            let arrays = Arrays::new(world, n + 5)?;
            count.all().write(&[n as u32])?;
            arrays.check(
                &world.kernel(census_kernel(workgroup))?,
                Domain::counted(count.all(), i32::MAX as u64),
                n,
                size,
            )?;
        }
        Ok(())
    });
}

/// The count may be any cell of any array, even one after the first window, and even a cell that
/// the kernel changes.
#[test]
fn any_cell_of_any_array_may_be_device_count() {
    support::ranks(&[1, 2], |world| {
        let arrays = Arrays::new(world, 300)?;
        let kernel = world.kernel(census_kernel("64"))?;
        let check = |count: LocalSection<u32, 1>, n| arrays.check(&kernel, Domain::counted(count, 300), n, 64);
        let line: LocalArray<u32, 1> = world.local_array("line", &Layout::new([50_000]).ghost([1]))?;
        line.all().fill_with(|[i]| (i % 290) as u32)?;
        for at in [0, 1, 77, 16_383, 16_384, 49_999] {
            check(line.at(at), at % 290)?;
        }
        let box_of: LocalArray<u32, 3> = world.local_array("box", &Layout::new([5, 4, 3]).ghost([1, 0, 2]))?;
        box_of.all().fill_with(|[a, b, c]| (a + 10 * b + 70 * c) as u32)?;
        for [a, b, c] in [[0, 0, 0], [4, 3, 2], [2, 1, 1]] {
            arrays.check(&kernel, Domain::counted(box_of.at((a, b, c)), 300), a + 10 * b + 70 * c, 64)?;
        }
        let seven: LocalArray<u32, 7> = world.local_array("seven", &Layout::new([2, 1, 2, 1, 2, 1, 2]))?;
        seven.all().fill(123)?;
        arrays.check(&kernel, Domain::counted(seven.at((1, 0, 1, 0, 1, 0, 1)), 300), 123, 64)?;
        // The call reads the count before its invocations increment it.
        let text = "@group(0) @binding(0) var<storage, read_write> count: array<atomic<u32>>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                if domain_inside(domain_position(id)) { atomicAdd(&count[0], 1u); }
            }";
        let double = world.kernel(KernelSource::text("double.wgsl", text))?;
        let count: LocalArray<u32, 1> = world.local_array("count", &Layout::new([1]))?;
        count.all().write(&[3])?;
        let before = world.gpu().counters().submissions;
        for _ in 0..12 {
            double.call().update("count", count.all()).over(Domain::counted(count.all(), 5000)).run()?;
        }
        assert_eq!(world.gpu().counters().submissions, before, "nothing waits for a count");
        // 3 · 2¹¹ is the first value beyond the maximum.
        assert_eq!(count.all().read()?, [3 * 2048 + 5000]);
        Ok(())
    });
}

/// Sums of blocks in workgroup memory, over as many cells as another kernel has kept.
#[test]
fn workgroups_sum_blocks_of_device_count() {
    support::ranks(&[1, 2], |world| {
        let text = "@group(0) @binding(0) var<storage, read> x: array<u32>;
            @group(0) @binding(1) var<storage, read_write> kept: array<u32>;
            @group(0) @binding(2) var<storage, read_write> count: array<atomic<u32>>;
            @compute @workgroup_size(64) fn keep(@builtin(global_invocation_id) id: vec3<u32>) {
                let p = x_position(id);
                if x_inside(p) && x_load(p) % 3u == 0u {
                    kept_store(i32(atomicAdd(&count[0], 1u)), x_load(p));
                }
            }
            @group(0) @binding(3) var<storage, read_write> sums: array<u32>;
            var<workgroup> part: array<u32, 64>;
            @compute @workgroup_size(64)
            fn sum(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>,
                   @builtin(local_invocation_index) local: u32) {
                let p = domain_position(id);
                part[local] = select(0u, kept_load(p), domain_inside(p));
                for (var half = 32u; half > 0u; half /= 2u) {
                    workgroupBarrier();
                    if local < half { part[local] += part[local + half]; }
                }
                if local == 0u { sums_store(domain_workgroup(group), part[0]); }
            }";
        let kernel = world.kernel(KernelSource::text("keep.wgsl", text))?;
        let (keep, sum) = (kernel.entry("keep")?, kernel.entry("sum")?);
        for n in [1_i64, 3, 190, 192, 193, 10_000] {
            let layout = Layout::new([n]);
            let x: LocalArray<u32, 1> = world.local_array("x", &layout)?;
            let kept: LocalArray<u32, 1> = world.local_array("kept", &layout)?;
            let sums: LocalArray<u32, 1> = world.local_array("sums", &layout)?;
            let count: LocalArray<u32, 1> = world.local_array("count", &Layout::new([1]))?;
            let value = |i: i64| (i * 7 + 1) as u32;
            x.all().fill_with(|[i]| value(i))?;
            let call = keep.call().read("x", x.all()).update("kept", kept.all()).update("count", count.all());
            call.over(x.all()).run()?;
            let call = sum.call().update("kept", kept.all()).write("sums", sums.all());
            call.over(Domain::counted(count.all(), n as u64)).run()?;
            let expected: Vec<u32> = (0..n).map(value).filter(|v| v % 3 == 0).collect();
            let (found, kept) = (count.all().read()?[0] as usize, kept.all().read()?);
            let mut sorted = kept[..found].to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, expected);
            let sums = sums.all().read()?;
            for (block, sum) in sums.iter().enumerate() {
                let cells = kept[..found].iter().skip(64 * block).take(64);
                assert_eq!(*sum, cells.sum::<u32>(), "block {block} of {found} cells");
            }
        }
        Ok(())
    });
}

#[test]
fn repeated_call_with_device_count_creates_nothing() {
    support::ranks(&[1, 3], |world| {
        let arrays = Arrays::new(world, 1000)?;
        let (kernel, set) = (world.kernel(census_kernel("64"))?, count_setter_kernel(world)?);
        let count: LocalArray<u32, 1> = world.local_array("count", &Layout::new([1]))?;
        let step = |n: u32| -> Result<()> {
            set.call().write("count", count.all()).param("n", n).run()?;
            let call = kernel.call().update("times", arrays.times.all()).write("notes", arrays.notes.all());
            call.update("totals", arrays.totals.all()).over(Domain::counted(count.all(), 1000)).run()
        };
        step(1)?;
        let before = world.gpu().counters();
        (1..40).try_for_each(step)?;
        let after = world.gpu().counters();
        assert_eq!((after.buffers_made, after.bytes_now), (before.buffers_made, before.bytes_now));
        assert_eq!(after.pipelines_made, before.pipelines_made);
        // No call waits. Each call has three recorded commands, which are submitted in batches.
        assert!(after.submissions - before.submissions <= 39 * 3 / 32, "{before:?} {after:?}");
        let expected = |p: u32| if p == 0 { 40 } else { 39_u32.saturating_sub(p) };
        assert!(arrays.times.all().read()?.into_iter().eq((0..1000).map(expected)));
        Ok(())
    });
}

#[test]
fn invalid_device_counts_are_refused() {
    support::ranks(&[1, 2], |world| {
        let mut report = Report::new(world);
        let arrays = Arrays::new(world, 16)?;
        let text = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { x_store(domain_position(id), 1u); }
";
        let kernel = |text: &str| world.kernel(KernelSource::text("shaders/user.wgsl", text));
        let call = |over: Domain| kernel(text)?.call().write("x", arrays.times.all()).over(over).run();
        let count: LocalArray<u32, 1> = world.local_array("count", &Layout::new([4]))?;
        let signed: LocalArray<i32, 1> = world.local_array("signed", &Layout::new([1]))?;
        let byte: LocalArray<u8, 1> = world.local_array("byte", &Layout::new([1]))?;
        report.fails("two cells", call(Domain::counted(count.at(1..3), 9)));
        report.fails("no cell", call(Domain::counted(count.at(1..1), 9)));
        report.fails("a signed count", call(Domain::counted(signed.all(), 9)));
        report.fails("a count of 8 bits", call(Domain::counted(byte.all(), 9)));
        report.fails("a cell that there is not", call(Domain::counted(count.at(4), 9)));
        report.fails("too many", call(Domain::counted(count.at(0), 1 << 31)));
        report.fails("far too many", call(Domain::counted(count.at(0), u64::MAX)));
        let position = kernel(&text.replace("domain_position", "x_position"))?;
        let over = Domain::counted(count.at(0), 9);
        report.fails("a cell of x", position.call().write("x", arrays.times.all()).over(over.clone()).run());
        let plane: LocalArray<u32, 2> = world.local_array("plane", &Layout::new([4, 4]))?;
        report.fails("an array of other axes", kernel(text)?.call().write("x", plane.all()).over(over.clone()).run());
        let other: Rc<Device> = Device::open(&DeviceOptions::from_env(0, 1)?)?;
        let elsewhere = Kernel::new(&other, &KernelSource::text("shaders/user.wgsl", text))?;
        let nothing = world.array::<u32, 1>("nothing", &Layout::new([0]))?;
        for chunk in nothing.chunks() {
            let call = elsewhere.call().write("x", chunk.all()).over(over.clone());
            if world.rank() == 0 {
                report.fails("a count of another device", call.run());
            }
        }
        if world.rank() == 0 {
            report.compare("counts");
        }
        // The largest possible maximum with a small count.
        count.all().write(&[5, 0, 0, 0])?;
        call(Domain::counted(count.at(0), i32::MAX as u64))?;
        assert_eq!(arrays.times.all().read()?.iter().sum::<u32>(), 5);
        Ok(())
    });
}
