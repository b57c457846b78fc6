//! Checked runs: `ZIPPY_CHECK=1` fails a run with findings, and unknown variables are reported.

use zippy::{Config, KernelSource, Layout, Result, Split, World, run_with};

use crate::support::jobs::{self, Carrier, Ended};
use crate::support::launcher;

const WIDE: &str = "@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if next_inside(p) { next_store(p, now_load(p + vec2<i32>(2, 0)) + now_load(p - vec2<i32>(1, 0))); }
}";

/// Reads cells at distance two with one ghost layer.
fn wide_stencil(world: &World) -> Result<()> {
    let layout = Layout::new([24, 5]).split([Split::Even(world.size()), Split::Whole]).ghost([1, 0]);
    let layout = layout.periodic([true, false]);
    let (now, next) = (world.array::<f32, 2>("now", &layout)?, world.array::<f32, 2>("next", &layout)?);
    let kernel = world.kernel(KernelSource::text("wide.wgsl", WIDE))?;
    world.ghosts(&now)?;
    for (a, b) in zippy::zip_chunks((&now, &next))? {
        kernel.call().read("now", a.all()).write("next", b.all()).run()?;
    }
    Ok(())
}

fn role() -> Result<()> {
    zippy::run(wide_stencil)
}

const EXPECTED_FINDING: &str = "; the ghost width on axis 0 is 1, 2 is needed";

fn ended(carrier: Carrier, name: &str, variables: &[(&str, &str)]) -> Option<Ended> {
    let is_enabled = carrier == Carrier::Threads || launcher::wanted();
    is_enabled.then(|| jobs::start(carrier, 3, name, variables))
}

#[test]
fn findings_fail_a_run_with_check_1_and_not_with_warn() {
    let test = jobs::test(module_path!(), "findings_fail_a_run_with_check_1_and_not_with_warn");
    if jobs::play(&test, role) {
        return;
    }
    for carrier in [Carrier::Threads, Carrier::Mpi] {
        if let Some(ended) = ended(carrier, &test, &[("ZIPPY_CHECK", "1")]) {
            ended.must_have_failed();
            let failure = ended.lines("failed in");
            assert!(
                failure.len() == 1 && failure[0].contains("a checked run ended with 1 finding(s)"),
                "{}",
                ended.text
            );
            assert!(
                failure[0].contains(EXPECTED_FINDING) && failure[0].contains(concat!("at ", file!(), ":")),
                "{}",
                ended.text
            );
        }
        if let Some(ended) = ended(carrier, &test, &[("ZIPPY_CHECK", "warn")]) {
            assert_eq!(ended.code, Some(0), "{}", ended.text);
            assert_eq!(ended.lines(EXPECTED_FINDING).len(), 3, "each rank's: {}", ended.text);
        }
        if let Some(ended) = ended(carrier, &test, &[("ZIPPY_CHEK", "1"), ("ZIPPY_RANK", "3")]) {
            assert_eq!(ended.code, Some(0), "{}", ended.text);
            let logged = ended.lines("has no effect");
            assert_eq!(logged.len(), 2, "once a job: {}", ended.text);
            for right in ["ZIPPY_CHEK has no effect; did you mean ZIPPY_CHECK?", "did you mean ZIPPY_RANKS?"] {
                assert_eq!(ended.lines(right).len(), 1, "{}", ended.text);
            }
        }
    }
}

/// Kernel that counts the passes of two consecutive loops, of nested loops, of an inner loop with a
/// constant number of passes, and of a loop with several exits.
const LOOPS: &str = "@group(0) @binding(0) var<storage, read> lengths: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
fn second(length: u32, value: u32) -> u32 {
    var done = value;
    while done < length + value { done += 1u; }
    return done;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    if !out_inside(p) { return; }
    var done = 0u;
    for (var i = 0u; i < lengths[p & 1]; i++) { done += 1u; }
    done = second(lengths[1 - (p & 1)], done);
    for (var i = 0u; i < lengths[2]; i++) {
        for (var j = 0u; j < lengths[2]; j++) { done += 1u; }
    }
    for (var i = 0u; i < lengths[3]; i++) {
        for (var j = 0u; j < 4u; j++) { done += 1u; }
    }
    var rest = lengths[4];
    loop {
        switch rest { case 7u: { break; } default: {} }
        if rest == 1u && (p & 1) == 1 { out_store(p, done + 1u); return; }
        continuing {
            done += min(rest, 1u);
            rest -= min(rest, 1u);
            break if rest == 0u;
        }
    }
    out_store(p, done);
    if lengths[5] == 1u { out_store(p + 10, 7u); }
}";

#[test]
fn loop_that_the_adapter_stops_is_found_with_its_line() {
    // The check of a kernel is local to its rank, so ranks as threads suffice.
    if launcher::size().is_some() {
        return;
    }
    let run = run_with(Config::threads(2).check(true), |world| {
        let lengths = world.local_array::<u32, 1>("lengths", &Layout::new([6]))?;
        let kernel = world.kernel(KernelSource::text("loops.wgsl", LOOPS))?;
        // Odd cells swap the first two lengths.
        for (given_lengths, lines) in [
            ([100, 100, 10, 3, 9, 0], &[][..]),
            ([32_600, 32_600, 0, 0, 0, 0], &[]),
            ([0, 0, 0, 0, 65_000, 0], &[]),
            ([0, 0, 0, 20_000, 0, 0], &[18, 19]),
            ([70_000, 70_000, 0, 0, 0, 0], &[13]),
            ([70_000, 0, 0, 0, 0, 0], &[5, 13]),
            ([0, 70_000, 0, 0, 0, 0], &[5, 13]),
            ([40_000, 40_000, 0, 0, 0, 0], &[5]),
            ([10_000, 60_000, 0, 0, 0, 0], &[5]),
            ([30_000, 30_000, 90, 0, 0, 0], &[16]),
            ([0, 0, 301, 0, 0, 0], &[16]),
            ([0, 0, 0, 70_000, 0, 0], &[18, 19]),
            ([0, 0, 0, 0, 70_000, 0], &[22]),
            ([0, 0, 0, 70_000, 0, 1], &[18, 19]),
        ] {
            // A finding is reported once per array and line.
            let name = format!("{given_lengths:?}");
            let out = world.array::<u32, 1>(&name, &Layout::new([9]).split([Split::Even(world.size())]))?;
            lengths.all().write(&given_lengths)?;
            let before = world.debug().findings().len();
            for chunk in out.chunks() {
                kernel.call().read("lengths", &lengths).write("out", &chunk).run()?;
                let [first, second, nested, fours, last, strays] = given_lengths;
                let expected = first + second + nested * nested + 4 * fours + last;
                let right = chunk.all().read()?.iter().all(|&done| done == expected);
                let found = &world.debug().findings()[before..];
                let text = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                assert_eq!(found.len(), usize::from(!right) + strays as usize, "{given_lengths:?}: {text}");
                let call = format!("kernel loops.wgsl at {}:", file!());
                let stopped = |line| format!("has a loop in line {line} that the adapter stops: it allows ");
                let is_reported = text.contains(&call) && lines.iter().any(|line| text.contains(&stopped(line)));
                assert!(right || is_reported, "{given_lengths:?}: {text}");
                let stray = chunk.all().region()?.start[0] + 10;
                assert!(strays == 0 || text.contains(&format!("stores cell [{stray}]")), "{stray}: {text}");
            }
        }
        world.barrier()
    });
    run.unwrap();
}

fn without_a_debug_point() -> Result<()> {
    zippy::run(|world| world.array::<f32, 1>("a", &Layout::new([5]))?.fill(1.0))
}

#[test]
fn viewer_of_a_program_without_a_debug_point_is_reported_at_the_end() {
    let test = jobs::test(module_path!(), "viewer_of_a_program_without_a_debug_point_is_reported_at_the_end");
    if jobs::play(&test, without_a_debug_point) {
        return;
    }
    for carrier in [Carrier::Threads, Carrier::Mpi] {
        for viewer in ["spawn", "listen:0"] {
            let variables = [("ZIPPY_DEBUG", viewer), ("ZIPPY_DEBUGGER", "/nonexistent")];
            let Some(ended) = ended(carrier, &test, &variables) else { continue };
            assert_eq!(ended.code, Some(0), "{}", ended.text);
            let logged = ended.lines("it has reached no debug point; call world.debug_point(\"name\")?");
            assert_eq!(logged.len(), 1, "{}", ended.text);
        }
    }
}
