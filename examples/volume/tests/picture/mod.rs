//! Tests of the library of `volume` in this process: command line, file formats, cuts, mistakes,
//! movies.

#[path = "../../../../crates/io/tests/common/mod.rs"]
mod common;

mod command_line;
mod cuts;
mod files;
mod grids;
mod isosurfaces;
mod labels;
mod looks;
mod paths;
mod raw;
mod values;

use std::time::Instant;

use ::volume::cut::Decomposition;
use ::volume::job::Job;
use ::volume::options::Options;
use ::volume::report::Outcome;
use ::volume::scene::Rendered;
use serde_json::json;
use zippy::device::{Device, DeviceOptions};
use zippy::region::Region;
use zippy::{Config, run_with};
use zippy_io::image::{Difference, Image};
use zippy_io::png::{self, Style};
use zippy_io::volume::FileScalar;
use zippy_render::volume::Phantom;

use crate::support::launcher;
use common::nrrd::{Temporary, file};

fn options(arguments: &[&str]) -> Result<Options, String> {
    Options::read(["volume"].iter().chain(arguments)).map_err(|error| error.to_string())
}

fn job(options: &Options, write: bool) -> Job<'_> {
    Job { options, decomposition: options.decomposition(), write, link: None, started: Instant::now() }
}

/// Runs the job on `ranks` threads or on the launcher's processes.
fn rendered(ranks: usize, arguments: &[&str], write: bool) -> Option<Rendered> {
    let options = options(arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    let ranks = launcher::counts(&[ranks])[0];
    let rendered = run_with(Config::threads(ranks), |world| job(&options, write).run(world));
    rendered.unwrap_or_else(|error| panic!("{arguments:?}: {error}")).into_iter().flatten().next()
}

/// [`rendered`] without an output file.
fn run(ranks: usize, arguments: &[&str]) -> Option<Rendered> {
    rendered(ranks, arguments, false)
}

/// Picture of the uncut volume, rendered by one rank in this process.
fn render_uncut(arguments: &[&str]) -> Image {
    let options = options(arguments).unwrap();
    let job = Job { decomposition: Decomposition::WHOLE, ..job(&options, false) };
    run_with(Config::apart(1), |world| job.run(world)).unwrap().remove(0).unwrap().image
}

/// Runs a job that must fail and returns the error of every rank.
fn failures(ranks: usize, arguments: &[&str]) -> Vec<String> {
    let options = options(arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    let ranks = launcher::counts(&[ranks])[0];
    let program = |world: &zippy::World| match job(&options, true).run(world) {
        Ok(_) => panic!("{arguments:?} succeeded on rank {}", world.rank()),
        Err(error) => Ok(error.to_string()),
    };
    run_with(Config::threads(ranks), program).unwrap()
}

#[test]
fn every_cut_gives_the_picture_of_one_rank() {
    let looks: [&[&str]; 5] = [
        &[],
        &["--shade", "--jitter"],
        &["--preintegrated", "--clip=-1,0.3,0,-21", "--projection", "parallel"],
        &["--algorithm", "radix:3,2", "--crop", ":,5:33.5,:", "--pixel", "rgba8"],
        &["--algorithm", "radix:3,2", "--shade"],
    ];
    // Ranks, cut options and idle ranks. A launcher may start fewer ranks: at least one rank must
    // not be idle.
    let cuts: [(usize, &[&str], usize); 10] = [
        (2, &[], 0),
        (3, &["--split", "1+29+1x2x1"], 0),
        (4, &["--repeat", "2", "--encoding", "runs"], 0),
        (5, &["--chunks-per-rank", "3"], 0),
        (7, &["--cut", "kd:9", "--encoding", "dense"], 0),
        (8, &["--cut", "ell"], 3),
        (3, &["--cut", "bars"], 0),
        (2, &["--split", "31,0+40,35+1"], 0),
        (1, &["--chunks-per-rank", "5"], 0),
        (5, &["--cut", "kd", "--chunks-per-rank", "2"], 4),
    ];
    let common = ["--phantom-size", "31x40x36", "--size", "70x60", "--brick", "8"];
    for (number, look) in looks.into_iter().enumerate() {
        let expected = render_uncut(&[&common[..], look].concat());
        assert!(expected.pixels.iter().filter(|pixel| pixel[3] > 0.9).count() > 100);
        for (ranks, cut, idle) in cuts.into_iter().skip(number).step_by(looks.len()) {
            let idle = idle.min(launcher::counts(&[ranks])[0] - 1).to_string();
            let cut = [cut, &["--idle-ranks", &idle]].concat();
            let Some(rendered) = run(ranks, &[&common[..], look, &cut].concat()) else { continue };
            assert_eq!(rendered.image.difference(&expected).unwrap().max_abs, 0.0, "{ranks} ranks, {look:?}, {cut:?}");
        }
    }
}

#[test]
fn fast_pictures_are_nearly_those_of_one_rank() {
    let common = ["--phantom-size", "30x26x22", "--size", "41x33", "--fast"];
    let expected = render_uncut(&common);
    for (ranks, cut) in [(2, "direct"), (5, "swap"), (7, "radix:3,2")] {
        let Some(rendered) = run(ranks, &[&common[..], &["--algorithm", cut]].concat()) else { continue };
        let max_abs = rendered.image.difference(&expected).unwrap().max_abs;
        assert_eq!(rendered.report.bound(), 4e-6);
        assert!(max_abs <= 4e-6, "{ranks} ranks: {max_abs}");
    }
    // Each layer rounds once to 256 levels.
    if let Some(rendered) = run(3, &[&common[..], &["--pixel", "rgba8"]].concat()) {
        assert!(rendered.image.difference(&expected).unwrap().max_abs <= 4.0 / 255.0);
    }
}

/// In fast mode, rays end at other positions. The bound follows the termination option, and the
/// test reaches more than the default bound.
#[test]
fn fast_picture_with_early_termination_stays_within_its_bound() {
    let mut most = 0.0_f64;
    let bound = 0.020_002;
    for light in [&[][..], &["--shade"]] {
        let mut words = vec!["--phantom-size", "30x26x22", "--size", "41x33", "--termination", "0.02", "--brick", "8"];
        words.extend(light);
        let expected = render_uncut(&words);
        words.push("--fast");
        let Some(rendered) = run(3, &words) else { continue };
        let difference = rendered.image.difference(&expected).unwrap();
        assert!((rendered.report.bound() - bound).abs() < 1e-8, "{}", rendered.report.bound());
        assert!(difference.max_abs <= rendered.report.bound(), "{difference:?}");
        most = most.max(difference.max_abs);
        let outcome = outcome(Some(difference));
        assert!(rendered.report.passes(&outcome));
        let beyond = Difference { max_abs: bound + 0.001, ..difference };
        assert!(!rendered.report.passes(&Outcome { single: Some(beyond), ..outcome }));
    }
    assert!(most > 1e-5 || launcher::size().is_some(), "{most}");
}

fn outcome(single: Option<Difference>) -> Outcome {
    Outcome { size: (50, 40), output: "a.png".into(), total_secs: 1.5, single, reference: None }
}

#[test]
fn more_ranks_than_voxels_and_a_picture_of_one_pixel() {
    for size in ["1x1", "9x1", "1x9"] {
        let arguments = ["--phantom-size", "2", "--size", size];
        let expected = render_uncut(&arguments);
        let Some(rendered) = run(8, &arguments) else { continue };
        assert_eq!(rendered.image.difference(&expected).unwrap().max_abs, 0.0, "{size}");
    }
}

const SHAPE: [i64; 3] = [13, 11, 9];

/// A file of the phantom, scaled to 0..=100.
fn scan<T: FileScalar>(name: &str, make: impl Fn(u16) -> T, big: bool, gz: bool) -> Temporary {
    let phantom = Phantom { shape: SHAPE };
    let points = Region::whole(SHAPE.into()).points();
    let data: Vec<T> = points.map(|p| make(phantom.value([p[0], p[1], p[2]]) / 41)).collect();
    Temporary::new(&file(name, &SHAPE.map(|n| n as usize), &data, big, gz, "\n"))
}

#[test]
fn the_picture_does_not_depend_on_how_the_voxels_are_stored() {
    let first = scan("uint8", |v| v as u8, false, false);
    let transfer = r#"{"opacity_points": [[20, 0], [100, 0.9]], "rgb_points": [[0, 0, 0, 1], [100, 1, 0.9, 0]]}"#;
    let transfer = Temporary::new(transfer.as_bytes());
    let arguments = |path: &Temporary| -> Vec<String> {
        let (path, transfer) = (path.0.to_str().unwrap(), transfer.0.to_str().unwrap());
        ["--size", "40x30", "--input", path, "--transfer", transfer].map(String::from).to_vec()
    };
    let words = arguments(&first);
    let expected = render_uncut(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(expected.pixels.iter().any(|pixel| pixel[3] > 0.5));
    let files = [
        scan("uint8", |v| v as u8, false, true),
        scan("int8", |v| v as i8, true, true),
        scan("uint16", |v| v, true, false),
        scan("int16", |v| v as i16, false, true),
        scan("uint32", u32::from, true, true),
        scan("int32", i32::from, false, false),
        scan("uint64", u64::from, true, false),
        scan("int64", i64::from, false, true),
        scan("float", f32::from, true, true),
        scan("double", f64::from, false, false),
    ];
    for (number, path) in files.iter().enumerate() {
        let words = arguments(path);
        let Some(rendered) = run(3, &words.iter().map(String::as_str).collect::<Vec<_>>()) else { continue };
        let difference = rendered.image.difference(&expected).unwrap();
        assert_eq!(difference.max_abs, 0.0, "file {number}");
    }
}

/// A file of floats: one residue class modulo 7 is `low`, another is `high`.
fn file_with_ends(low: f32, high: f32) -> Temporary {
    let value = move |v: u16| match v % 7 {
        3 => low,
        5 => high,
        _ => f32::from(v),
    };
    scan("float", value, false, true)
}

/// NaN is drawn as the smallest value and infinity as the largest; neither changes the range.
#[test]
fn non_finite_values_are_drawn_as_the_ends_of_the_range() {
    let (odd, plain) = (file_with_ends(f32::NAN, f32::INFINITY), file_with_ends(-1e30, 1e30));
    let picture = |path: &Temporary| run(2, &["--size", "20x20", "--input", path.0.to_str().unwrap()]);
    if let (Some(odd), Some(plain)) = (picture(&odd), picture(&plain)) {
        assert_eq!(odd.image, plain.image);
        assert!(odd.image.pixels.as_flattened().iter().all(|part| part.is_finite()));
        let [odd, plain] = [odd, plain].map(|rendered| rendered.report.json(&outcome(None))["input"].clone());
        assert!(odd["nan"].as_u64().unwrap() > 50, "{odd}");
        assert_eq!(odd["values"], plain["values"]);
    }
}

#[test]
fn every_rank_returns_the_same_error() {
    let whole = std::fs::read(&scan("uint16", |v| v, false, true).0).unwrap();
    let cut = Temporary::new(&whole[..whole.len() - 60]);
    let scene = Temporary::new(br#"{"scenes": [{"file": "one.png"}]}"#);
    let (cut, scene) = (cut.0.to_str().unwrap(), scene.0.to_str().unwrap());
    let picture = Temporary::new(b"");
    png::write(&picture.0, &Image::new(2, 1), Style::default()).unwrap();
    let picture = picture.0.to_str().unwrap();
    let cases: [(&[&str], &str); 12] = [
        (&["--input", "no/such.nrrd"], "no/such.nrrd: cannot open"),
        (&["--input", scene], "not an NRRD"),
        (&["--scene", scene], "missing field"),
        (&["--transfer", scene], "unknown field"),
        (&["--phantom-size", "1"], "[1, 1, 1] voxels"),
        (&["--phantom-size", "2x3x1"], "[2, 3, 1] voxels"),
        (&["--phantom-size", "8", "--step", "1e-9"], "sample distance of 0.000000001"),
        (&["--phantom-size", "8", "--split", "3+4x1x1"], "add up to 7"),
        (&["--phantom-size", "64", "--split", "64x64x64"], "at most 65536"),
        (&["--phantom-size", "8", "--reference", "no/such.png"], "no/such.png: cannot open"),
        (&["--phantom-size", "8", "--size", "9x8", "--reference", picture], "has 2 x 1 pixels; 9 x 8 are needed"),
        (&["--phantom-size", "8", "--idle-ranks", "8"], "at least one rank must own a part"),
    ];
    for (arguments, wanted) in cases {
        for message in failures(3, arguments) {
            assert!(message.contains(wanted), "{arguments:?}: {message}");
        }
    }
    // Errors that follow from the header come before errors of truncated data.
    let buffer = Device::open(&DeviceOptions::default()).unwrap().limits().buffer_bytes;
    let fitting = format!("x{} would do", (buffer / 16).isqrt());
    let early: [(&[&str], &str); 3] = [
        (&["--preintegrated", "--step", "2.5"], "up to two voxels"),
        (&["--size", "16384x16384"], &fitting),
        (&["--size", "16384x10000"], "16384x10000 pixels of 16 bytes; "),
    ];
    for (arguments, wanted) in early {
        for message in failures(3, &[&["--input", cut, "--split", "1x1x3"], arguments].concat()) {
            assert!(message.contains(wanted), "{arguments:?}: {message}");
        }
    }
    // Ranks that read the end of a truncated file fail; the other ranks return the same error.
    for message in failures(3, &["--input", cut, "--split", "1x1x3", "--size", "8x8"]) {
        assert!(message.contains("truncated") && message.contains("byte "), "{message}");
    }
}

#[test]
fn report_has_phases_traffic_and_comparison() {
    let arguments = ["--phantom-size", "24x20x16", "--size", "50x40", "--split", "2x2x1", "--idle-ranks", "1"];
    let Some(rendered) = run(4, &arguments) else { return };
    let outcome = outcome(Some(rendered.image.difference(&rendered.image).unwrap()));
    let json = rendered.report.json(&outcome);
    let ranks = launcher::counts(&[4])[0] as u64;
    assert_eq!((json["ranks"].as_u64(), json["chunks"].as_u64()), (Some(ranks), Some(4)));
    assert_eq!((json["idle_ranks"].as_u64(), json["frames"].as_u64()), (Some(1), Some(1)));
    assert_eq!(json["input"]["shape"], json!([24, 20, 16]));
    assert_eq!((&json["max_abs"], &json["psnr_db"]), (&json!(0.0), &serde_json::Value::Null));
    assert_eq!((&json["agrees"], &json["mode"]), (&json!(true), &json!("reproducible")));
    assert!(json["adapter"]["name"].is_string() && json["transport"].is_string());
    assert!(json["layers"].as_u64().is_some_and(|layers| layers >= 1));
    // There is one brick, so that its owner casts all cells.
    let cells: Vec<u64> = serde_json::from_value(json["cells_per_rank"].clone()).unwrap();
    assert_eq!((cells.len() as u64, cells[1..].iter().sum()), (ranks, 0_u64));
    assert!(cells[0] > 1000 && cells[0] <= 23 * 19 * 15, "{cells:?}");
    let moved = &json["composite_per_frame"];
    assert!(moved["bytes_local"].as_u64().unwrap() + moved["bytes_network"].as_u64().unwrap() > 0);
    let timings = &json["timings_secs"];
    for phase in [
        "start",
        "open",
        "compile",
        "read",
        "prepare",
        "cast",
        "composite",
        "fetch",
        "overhead",
        "write",
        "frame",
        "total",
    ] {
        assert!(timings[phase].as_f64().is_some_and(|secs| secs >= 0.0), "{phase}");
    }
    assert!(timings["first_frame"].as_f64().is_some_and(|secs| secs > 0.0) && timings["later_frame"].is_null());
    let text = rendered.report.text(&outcome);
    for line in ["compile ", "prepare ", "first "] {
        assert!(text.contains(&format!("\n{line}")), "{line}: {text}");
    }
    assert!(!text.contains("\nlater "), "{text}");
    assert!(text.contains("a.png (50 x 40)") && text.contains("agrees with the picture of one rank"), "{text}");
    let apart = Difference { max_abs: 1e-7, psnr_db: 150.0 };
    let outcome = Outcome { single: Some(apart), ..outcome };
    assert!(!rendered.report.passes(&outcome) && rendered.report.text(&outcome).contains("DIFFERS"));
}
