//! Start-up time: from the start of the process until all ranks run the program, and until their
//! first ghost update has finished.

mod common;

use std::process::Command;
use std::time::Instant;

use serde_json::json;
use zippy::{Layout, Result, Split, World};
use zippy_transport::detect_launcher;

use common::{Options, Spread, write};

/// Part of the start-up that a child process measures.
const CHILD: &str = "ZIPPY_BENCH_CHILD";

pub(crate) fn main() -> Result<()> {
    let start = Instant::now();
    match std::env::var(CHILD).as_deref() {
        Ok("library") => return library(start).map(|secs| println!("\n{} {}", secs[0], secs[1])),
        Ok(_) => {
            by_hand();
            println!("\n{}", start.elapsed().as_secs_f64());
            return Ok(());
        }
        Err(_) => {}
    }
    let about = "Seconds from the start of the process until all ranks run the program, and until their first ghost update \
                 (including the compilation of pipelines) has finished. For ranks as threads: in new processes, compared \
                 with processes that only open the same number of wgpu devices. With MPI: once, from the time the \
                 launcher has started the process.";
    let options = Options::parse("ranks_start", about);
    if detect_launcher(|name: &str| std::env::var(name).ok()).is_some() {
        return under_mpi(start);
    }
    let mut secs = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..options.samples().div_ceil(3) {
        let found = child("library");
        secs[0].push(found[0]);
        secs[1].push(found[1]);
        secs[2].push(child("by hand")[0]);
    }
    let ratios: Vec<f64> = secs[0].iter().zip(&secs[2]).map(|(own, other)| own / other).collect();
    let ratio = Spread::of(&ratios);
    let names = ["ranks in the program", "first ghost update done", "wgpu devices opened by hand"];
    let cases: Vec<_> = names.iter().zip(&secs).map(|(name, secs)| case(name, secs)).collect();
    println!("ratio of the first to the last: {:.2} [{:.2}, {:.2}]", ratio.median, ratio.low, ratio.high);
    let ratio = json!({ "case": "start, library to devices by hand", "ratio": ratio.median, "quartiles": [ratio.low, ratio.high] });
    write(&[cases, vec![ratio]].concat());
    Ok(())
}

fn case(name: &str, secs: &[f64]) -> serde_json::Value {
    let spread = Spread::of(secs);
    let [median, low, high] = [spread.median, spread.low, spread.high].map(|secs| secs * 1e3);
    println!("start, {name:<30} {median:>8.1} ms [{low:.1}, {high:.1}]");
    json!({
        "case": format!("start, {name}"),
        "median_secs": spread.median,
        "quartiles_secs": [spread.low, spread.high],
        "samples": secs.len(),
    })
}

/// Seconds that a child process prints.
fn child(part: &str) -> Vec<f64> {
    let program = std::env::current_exe().expect("a program has a path");
    let output = Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(CHILD, part)
        .output()
        .expect("the program can be started again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    // The program may print other lines.
    let numbers = |line: &str| line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>();
    text.lines().filter_map(numbers).find(|secs| !secs.is_empty()).expect("a line of seconds")
}

fn under_mpi(start: Instant) -> Result<()> {
    let secs = library(start)?;
    if secs[2] == 0.0 {
        write(&[case("ranks in the program", &secs[..1]), case("first ghost update done", &secs[1..2])]);
    }
    Ok(())
}

/// Seconds until all ranks run the program, seconds until the first ghost update has finished, and
/// the rank.
fn library(start: Instant) -> Result<[f64; 3]> {
    let found = zippy::run_with(zippy::Config::new(), |world: &World| {
        world.barrier()?;
        let entered = start.elapsed().as_secs_f64();
        let layout =
            Layout::new([64, 64, 64 * world.size()]).split([1, 1, world.size()].map(Split::Even)).ghost([1; 3]);
        let array = world.array::<f32, 3>("field", &layout)?;
        world.ghosts(&array)?;
        world.barrier()?;
        Ok([entered, start.elapsed().as_secs_f64(), world.rank() as f64])
    })?;
    Ok(found[0])
}

/// Opens one device per rank, each in its own thread, with all limits of the adapter.
fn by_hand() {
    let ranks = std::env::var("ZIPPY_RANKS").ok().and_then(|ranks| ranks.parse().ok()).unwrap_or(1);
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let adapter = adapters.first().expect("an adapter");
    std::thread::scope(|scope| {
        for _ in 0..ranks {
            scope.spawn(|| {
                let descriptor = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
                pollster::block_on(adapter.request_device(&descriptor)).expect("the adapter opens")
            });
        }
    });
}
