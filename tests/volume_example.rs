//! The example `volume` without its `main`: the command line, every kind of file, every cut, every mistake.

mod common;
#[path = "../examples/volume/cut.rs"]
mod cut;
#[path = "../examples/volume/job.rs"]
mod job;
#[path = "../examples/volume/look.rs"]
mod look;
#[path = "../examples/volume/options.rs"]
mod options;
#[path = "../examples/volume/report.rs"]
mod report;
#[path = "../examples/volume/source.rs"]
mod source;
mod support;
#[path = "../examples/volume/view/mod.rs"]
#[allow(dead_code)] // windows are tested by tests/volume_view.rs
mod view;

use std::time::Instant;

use clap::Parser;
use common::nrrd::{Temporary, file};
use job::{Job, Rendered};
use options::Options;
use report::Verdict;
use support::launcher;
use zippy::algorithms::image::Image;
use zippy::algorithms::volume::Phantom;
use zippy::io::volume::Voxel;
use zippy::region::Region;
use zippy::{Config, run_with};

under_mpi!();

fn options(arguments: &[&str]) -> Result<Options, String> {
    Options::try_parse_from(["volume"].iter().chain(arguments)).map_err(|error| error.to_string())
}

/// Runs the job as the command line says, on `ranks` threads or on the launcher's processes; nothing is written.
fn run(ranks: usize, arguments: &[&str]) -> Option<Rendered> {
    let options = options(arguments).unwrap();
    let job = Job { options: &options, cut: options.cut(), write: false, link: None, started: Instant::now() };
    let ranks = launcher::counts(&[ranks])[0];
    let rendered = run_with(Config::threads(ranks), |world| job.run(world));
    rendered.unwrap_or_else(|error| panic!("{arguments:?}: {error}")).into_iter().flatten().next()
}

/// The picture of the uncut volume, by one rank in this process.
fn alone(arguments: &[&str]) -> Image {
    let options = options(arguments).unwrap();
    let job = Job { options: &options, cut: cut::Cut::Auto, write: false, link: None, started: Instant::now() };
    run_with(Config::apart(1), |world| job.run(world)).unwrap().remove(0).unwrap().image
}

/// What every rank is told.
fn told(ranks: usize, arguments: &[&str]) -> Vec<String> {
    let options = options(arguments).unwrap();
    let job = Job { options: &options, cut: options.cut(), write: true, link: None, started: Instant::now() };
    let ranks = launcher::counts(&[ranks])[0];
    let program = |world: &zippy::World| match job.run(world) {
        Ok(_) => panic!("{arguments:?} went well on rank {}", world.rank()),
        Err(error) => Ok(error.to_string()),
    };
    run_with(Config::threads(ranks), program).unwrap()
}

#[test]
fn cuts_are_read() {
    use zippy::Split::{Even, Sizes};
    assert_eq!(cut::cut("auto").unwrap(), cut::Cut::Auto);
    assert_eq!(cut::cut("3x2x1").unwrap(), cut::Cut::Axes([Even(3), Even(2), Even(1)]));
    let uneven = cut::Cut::Axes([Sizes(vec![10, 246]), Even(1), Sizes(vec![0, 64, 64])]);
    assert_eq!(cut::cut("10+246,1,0+64+64").unwrap(), uneven);
    assert_eq!(cut::cut("10+246x1x0+64+64").unwrap(), uneven);
    for wrong in
        ["", "2", "2x2", "2x2x2x2", "0x1x1", "-1x1x1", "1+x1x1", "ax1x1", "1.5x1x1", "99999999999999999999x1x1"]
    {
        assert!(cut::cut(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(cut::extents("7"), Ok([7; 3]));
    assert_eq!(cut::extents("64x80x72"), Ok([64, 80, 72]));
    for wrong in ["0", "1x2", "100000", "9223372036854775807x2x1", "4x4x-4"] {
        assert!(cut::extents(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(cut::pixels("640x480"), Ok((640, 480)));
    for wrong in ["640", "0x1", "1x16385", "1x2x3", "x", "99999999999999999999x1"] {
        assert!(cut::pixels(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for wrong in [
        &["--scene-name", "a"][..],
        &["--scene", "a", "--zoom", "2"],
        &["--input", "a", "--phantom-size", "3"],
        &["--split", "1x1x1", "--chunks-per-rank", "2"],
        &["--chunks-per-rank", "0"],
        &["--repeat", "0"],
        &["--nonsense"],
    ] {
        assert!(options(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(options(&["--ranks", "3"]).unwrap().config(), Config::threads(3));
    assert_eq!(options(&[]).unwrap().config(), Config::new());
    // Numbers may be negative where that means something.
    assert_eq!(options(&["--azimuth", "-120", "--elevation", "-5"]).unwrap().azimuth, -120.0);
}

#[test]
fn every_cut_gives_the_picture_of_one_rank() {
    let common = ["--phantom-size", "31x40x36", "--size", "70x60"];
    let expected = alone(&common);
    assert!(expected.pixels.iter().filter(|pixel| pixel[3] > 0.9).count() > 100);
    let cuts: [(usize, &[&str]); 8] = [
        (2, &[]),
        (3, &["--split", "1+29+1x2x1"]),
        (4, &["--repeat", "2"]),
        (5, &["--chunks-per-rank", "3"]),
        (8, &[]),
        (7, &["--split", "auto"]),
        (2, &["--split", "31,0+40,35+1"]),
        (1, &["--chunks-per-rank", "5"]),
    ];
    for (ranks, cut) in cuts {
        let arguments = [&common[..], cut].concat();
        let Some(rendered) = run(ranks, &arguments) else { continue };
        let difference = rendered.image.difference(&expected).unwrap();
        assert!(report::passes(difference), "{ranks} ranks, {cut:?}: {difference:?}");
    }
}

#[test]
fn more_ranks_than_voxels_and_a_picture_of_one_pixel() {
    for size in ["1x1", "9x1", "1x9"] {
        let arguments = ["--phantom-size", "2", "--size", size];
        let expected = alone(&arguments);
        let Some(rendered) = run(8, &arguments) else { continue };
        assert!(report::passes(rendered.image.difference(&expected).unwrap()), "{size}");
    }
}

const SHAPE: [i64; 3] = [13, 11, 9];

/// The phantom, scaled to 0..=100, in a file.
fn scan<T: Voxel>(name: &str, make: impl Fn(u16) -> T, big: bool, gz: bool) -> Temporary {
    let phantom = Phantom { shape: SHAPE };
    let points = Region::whole(SHAPE.into()).points();
    let data: Vec<T> = points.map(|p| make(phantom.value([p[0], p[1], p[2]]) / 41)).collect();
    Temporary::new(&file(name, &SHAPE.map(|n| n as usize), &data, big, gz, "\n"))
}

#[test]
fn the_picture_does_not_depend_on_how_the_voxels_are_stored() {
    let first = scan("uint8", |v| v as u8, false, false);
    let arguments = |path: &Temporary| -> Vec<String> {
        ["--size", "40x30", "--input", path.0.to_str().unwrap()].map(String::from).to_vec()
    };
    let words = arguments(&first);
    let expected = alone(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(expected.pixels.iter().any(|pixel| pixel[3] > 0.9));
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
        assert!(difference.max_abs <= 4e-6, "file {number}: {difference:?}");
    }
}

/// NaN is drawn like the smallest value, infinity like the largest, and neither is counted as one.
#[test]
fn values_that_are_not_finite_have_a_place() {
    let odd = |low: f32, high: f32| {
        scan(
            "float",
            move |v| {
                if v % 7 == 3 {
                    low
                } else if v % 7 == 5 {
                    high
                } else {
                    f32::from(v)
                }
            },
            false,
            true,
        )
    };
    let (odd, plain) = (odd(f32::NAN, f32::INFINITY), odd(-1e30, 1e30));
    let picture = |path: &Temporary| run(2, &["--size", "20x20", "--input", path.0.to_str().unwrap()]);
    if let (Some(odd), Some(plain)) = (picture(&odd), picture(&plain)) {
        assert_eq!(odd.image, plain.image);
        assert!(odd.image.pixels.as_flattened().iter().all(|part| part.is_finite()));
    }
}

#[test]
fn every_rank_is_told_the_same_mistake() {
    let whole = std::fs::read(&scan("uint16", |v| v, false, true).0).unwrap();
    let cut = Temporary::new(&whole[..whole.len() - 60]);
    let scene = r#"{"scenes": [{"file": "one.png"}]}"#;
    let scene = Temporary::new(scene.as_bytes());
    let (cut, scene) = (cut.0.to_str().unwrap(), scene.0.to_str().unwrap());
    let cases: [(&[&str], &str); 9] = [
        (&["--input", "no/such.nrrd"], "no/such.nrrd: cannot open"),
        (&["--input", scene], "not an NRRD file"),
        (&["--scene", scene], "missing field"),
        (&["--phantom-size", "1"], "[1, 1, 1] voxels"),
        (&["--phantom-size", "2x3x1"], "[2, 3, 1] voxels"),
        (&["--phantom-size", "8", "--step", "0"], "sample distance of 0"),
        (&["--phantom-size", "8", "--split", "3+4x1x1"], "add up to 7"),
        (&["--phantom-size", "30", "--split", "30x30x30"], "at most 4096"),
        (&["--phantom-size", "8", "--size", "16384x16384", "--split", "8x8x1"], "smaller picture"),
    ];
    for (arguments, wanted) in cases {
        for message in told(3, arguments) {
            assert!(message.contains(wanted), "{arguments:?}: {message}");
        }
    }
    // A truncated file concerns the ranks that reach its end; the others hear of them.
    for message in told(3, &["--input", cut, "--split", "1x1x3", "--size", "8x8"]) {
        assert!(message.contains("truncated") && message.contains("byte "), "{message}");
    }
    // Rank 0 writes.
    for message in told(2, &["--phantom-size", "8", "--size", "8x8", "--output", "no/such/directory/a.png"]) {
        assert!(message.contains("its directory does not exist"), "{message}");
    }
}

#[test]
fn the_report_says_what_happened() {
    let Some(rendered) = run(4, &["--phantom-size", "24x20x16", "--size", "50x40", "--split", "2x2x1"]) else { return };
    let verdict = Verdict {
        size: (50, 40),
        output: "a.png".into(),
        total_secs: 1.5,
        single: Some(rendered.image.difference(&rendered.image).unwrap()),
        reference: None,
    };
    let json = rendered.report.json(&verdict);
    let ranks = launcher::counts(&[4])[0];
    assert_eq!((json["ranks"].as_u64(), json["chunks"].as_u64()), (Some(ranks as u64), Some(4)));
    assert_eq!(json["input"]["shape"], serde_json::json!([24, 20, 16]));
    assert_eq!((&json["max_abs"], &json["psnr_db"]), (&serde_json::json!(0.0), &serde_json::json!(999.0)));
    assert!(json["adapter"]["name"].is_string() && json["transport"].is_string());
    // One brick has one layer, of at most 50 x 40 pixels of 16 bytes, which goes to tiles and from there to rank 0.
    let composite = &json["bytes"]["composite"];
    let moved = composite["local"].as_u64().unwrap() + composite["network"].as_u64().unwrap();
    assert!(moved % 32 == 0 && (32 * 500..=32 * 50 * 40).contains(&moved), "{moved}");
    // A face of 10 x 16, one of 12 x 16 and an edge of 16 voxels, all between neighbours, 2 bytes each.
    let ghosts = &json["bytes"]["ghosts"];
    let moved = ghosts["local"].as_u64().unwrap() + ghosts["network"].as_u64().unwrap();
    assert_eq!(moved, 2 * (2 * 10 * 16 + 2 * 12 * 16 + 16));
    for phase in ["start", "open", "read", "ghosts", "prepare", "cast", "composite", "fetch", "write", "frame", "total"]
    {
        assert!(json["timings_secs"][phase].as_f64().is_some_and(|secs| secs >= 0.0), "{phase}");
    }
    let text = rendered.report.text(&verdict);
    assert!(text.contains("a.png (50 x 40)") && text.contains("agrees with that of one rank"), "{text}");
}
