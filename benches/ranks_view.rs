//! Cost of live viewing: latency of slices of a large array, and debug points with an idle viewer.

mod common;

use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Instant;

use serde_json::{Value, json};
use zippy::debug::{Settings, ViewerAccess, attach};
use zippy::{Config, Error, Layout, Result, Split, World, run_with};
use zippy_protocol::{Answer, Ask, Control, Message, Program, Request, ViewRequest, frame, greeting};

use common::{Options, Spread};

const N: i64 = 512;
const SLICE_EDGE: i64 = 256;
const POINTS: usize = 50_000;

pub(crate) fn main() -> Result<()> {
    let about = "Latency of a slice of 256^2 cells of an array of 512^3 f32 over all ranks, from request to answer (target \
                 100 ms), and time of a debug point with a connected but idle viewer, compared with no viewer.";
    let options = Options::parse("ranks_view", about);
    let (sender, receiver) = channel::<ViewerAccess>();
    let sender = Mutex::new(Some(sender));
    let mut cases = Vec::new();
    let points = std::thread::scope(|scope| {
        let options = &options;
        let watching = scope.spawn(move || receiver.recv().ok().map(|access| watch(&access, options)));
        let points = run_with(Config::new().check(false), |world| {
            let before = points(world, options)?;
            if let Some(access) = attach(world, &Settings::listen(0).paused())? {
                let sender = sender.lock().map(|mut sender| sender.take());
                let _ = sender.ok().flatten().map(|sender| sender.send(access));
            }
            let layout = Layout::new([N; 3]).split([Split::Whole, Split::Auto, Split::Auto]);
            let array = world.array::<f32, 3>("array", &layout)?;
            array.fill_with(|[x, y, z]| (x + y + z) as f32)?;
            world.debug_point("array")?;
            Ok((world.rank() == 0, before, points(world, options)?))
        });
        drop(sender.lock().map(|mut sender| sender.take()));
        match watching.join() {
            Ok(Some(found)) => cases.extend(found?),
            Ok(None) => {}
            Err(_) => return Err(Error::program("the viewer panicked")),
        }
        points
    })?;
    for (_, before, after) in points.into_iter().filter(|(first, ..)| *first) {
        let [(before, own), (after, own_after)] = [before, after].map(|points| {
            let (wall, cpu): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            (Spread::of(&wall).median, Spread::of(&cpu).median)
        });
        for (name, wall, cpu) in [("no viewer", before, own), ("one that looks at nothing", after, own_after)] {
            println!("debug point, {name:<26} {:.0} ns, of them at work {:.0} ns", wall * 1e9, cpu * 1e9);
        }
        let cpu = json!({ "cpu_median_secs": own, "watched_cpu_median_secs": own_after });
        let case =
            json!({ "case": "debug point", "median_secs": before, "watched_median_secs": after, "at_work": cpu });
        cases.push(case);
    }
    if !cases.is_empty() {
        common::write(&cases);
    }
    Ok(())
}

/// Wall-clock seconds and CPU seconds of a debug point, for each sample.
///
/// With more ranks than cores, the wall-clock seconds include time slices of other ranks.
fn points(world: &World, options: &Options) -> Result<Vec<(f64, f64)>> {
    let figure = |_| {
        world.barrier()?;
        let (start, cpu) = (Instant::now(), thread_cpu_secs());
        (0..POINTS).try_for_each(|_| world.debug_point("step"))?;
        let cpu = thread_cpu_secs().zip(cpu).map_or(f64::NAN, |(after, before)| after - before);
        Ok((start.elapsed().as_secs_f64() / POINTS as f64, cpu / POINTS as f64))
    };
    (0..options.samples()).map(figure).collect()
}

/// CPU seconds of this thread, if the operating system reports them.
fn thread_cpu_secs() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// Requests slices perpendicular to each axis while the program is paused, then resumes it.
fn watch(access: &ViewerAccess, options: &Options) -> Result<Vec<Value>> {
    let failed = |error: std::io::Error| Error::program(format!("the viewer: {error}"));
    let mut stream = TcpStream::connect(("127.0.0.1", access.port)).map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    greeting::greet(&mut stream, &access.token).map_err(failed)?;
    let _: Option<Program> = frame::read(&mut stream, frame::MOST_TOLD).map_err(failed)?;
    let mut ask = |request: Request| -> Result<Answer> {
        frame::write(&mut stream, &Ask { id: 1, request }, frame::MOST_ASKED).map_err(failed)?;
        loop {
            match frame::read(&mut stream, frame::MOST_TOLD).map_err(failed)? {
                Some(Message::Answer(_, answer)) => return answer.map_err(Error::program),
                Some(_) => {}
                None => return Err(Error::program("the program has ended")),
            }
        }
    };
    let Answer::Arrays(arrays) = ask(Request::Arrays)? else { return Err(Error::program("no arrays")) };
    let array = arrays.first().ok_or_else(|| Error::program("no arrays"))?.array;
    let mut cases = Vec::new();
    for axis in [2, 1, 0] {
        let along = |others: i64, normal: i64| {
            (0..3).map(|other| if other == axis { normal } else { others }).collect::<Vec<_>>()
        };
        let (start, end, stride) = (along(0, N / 3), along(N, N / 3 + 1), along(N / SLICE_EDGE, 1));
        let request = ViewRequest { array, chunk: None, start, end, stride, numbers: None };
        let mut secs = Vec::new();
        for _ in 0..options.samples() {
            let begun = Instant::now();
            let Answer::View(view) = ask(Request::View(request.clone()))? else {
                return Err(Error::program("no view"));
            };
            assert_eq!(view.cells.len() as i64, SLICE_EDGE * SLICE_EDGE * 4);
            secs.push(begun.elapsed().as_secs_f64());
        }
        let spread = Spread::of(&secs);
        let case = format!("slice across axis {axis}");
        println!("{case:<34} {:.2} ms ({:.2} to {:.2})", spread.median * 1e3, spread.low * 1e3, spread.high * 1e3);
        cases.push(json!({ "case": case, "median_secs": spread.median, "quartiles_secs": [spread.low, spread.high] }));
    }
    ask(Request::Control(Control::Continue))?;
    // Stays connected until the end of the program.
    while let Ok(Some(_)) = frame::read::<Message>(&mut stream, frame::MOST_TOLD) {}
    Ok(cases)
}
