//! [`info`]: description of a recording.

use std::fmt::Write;
use std::path::Path;

use zippy_files::{quoted, said, shown};
use zippy_protocol::{Answer, ArrayEntry, ArrayKind, Message, Point, Request};

use crate::session::{Replay, Session};

fn format_bytes(count: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = (count.max(1).ilog2() / 10).min(4) as usize;
    if unit == 0 {
        format!("{count} bytes")
    } else {
        format!("{:.1} {}", count as f64 / f64::powi(1024.0, unit as i32), units[unit])
    }
}

fn describe_array(text: &mut String, entry: &ArrayEntry, stride: &Result<Vec<i64>, String>) {
    let shape: Vec<String> = entry.shape.iter().map(i64::to_string).collect();
    let kind = match (entry.kind, entry.array.rank) {
        (ArrayKind::Global, _) => format!("in {}", entry.split()),
        (ArrayKind::Local, Some(rank)) => format!("of rank {rank}"),
        (ArrayKind::Growable, Some(rank)) => format!("growable, of rank {rank}"),
        (ArrayKind::Local, None) => "local".into(),
        (ArrayKind::Growable, None) => "growable".into(),
    };
    let (name, shape, element) = (quoted(&entry.name), shape.join(" x "), said(&entry.element.name));
    let recorded = match stride {
        Ok(stride) if stride.iter().all(|&stride| stride == 1) => "every cell".into(),
        Ok(stride) => format!("one cell of every {stride:?}"),
        Err(error) => said(error),
    };
    let _ = writeln!(text, "  {name}: {shape} of {element}, {kind}, {}; {recorded}", format_bytes(entry.bytes));
}

/// Describes a recording: program, debug points, arrays of the last debug point, and end.
///
/// # Errors
/// The recording cannot be opened.
pub fn info(path: &Path) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("cannot open {}: {error}", shown(path));
    let mut replay = Replay::open(path).map_err(cannot)?;
    let size = std::fs::metadata(path).map_err(cannot)?.len();
    let mut text = String::new();
    if let Some(program) = replay.program() {
        let ranks = if program.ranks == 1 { "1 rank".into() } else { format!("{} ranks", program.ranks) };
        let checked = if program.checked { ", checked" } else { "" };
        let adapters: Vec<String> = program.adapters.iter().map(|adapter| quoted(adapter)).collect();
        let _ = writeln!(text, "{}, {ranks}{checked}, on {}", quoted(&program.name), adapters.join(", "));
    }
    let _ = writeln!(text, "{}", format_bytes(size));
    let _ = match replay.steps() {
        [] => writeln!(text, "no debug point"),
        [only] => writeln!(text, "1 debug point: {only}"),
        [first, .., last] => writeln!(text, "{} debug points: {first} to {last}", replay.steps().len()),
    };
    if let Some(&last) = replay.steps().last() {
        // The first debug point arrives without a request.
        replay.poll();
        replay.go_to(last);
        replay.ask(Request::Arrays);
        for message in replay.poll() {
            match message {
                Message::Point(Point { step, name, micros, .. }) if step == last => {
                    let seconds = micros as f64 / 1e6;
                    let _ = writeln!(text, "the last one, {}, after {seconds:.3} s of the run", quoted(&name));
                }
                Message::Answer(_, Ok(Answer::Arrays(arrays))) => {
                    let _ = writeln!(text, "{} arrays there", arrays.len());
                    arrays.iter().for_each(|entry| describe_array(&mut text, entry, &replay.stride(entry)));
                }
                Message::Answer(_, Err(error)) => drop(writeln!(text, "{error}")),
                _ => {}
            }
        }
    }
    let end = replay.end().filter(|end| !end.is_empty()).map_or_else(|| "the run has ended".into(), said);
    let _ = match replay.notice() {
        Some(notice) => write!(text, "{}", said(&notice)),
        None => write!(text, "whole: {end}"),
    };
    Ok(text)
}
