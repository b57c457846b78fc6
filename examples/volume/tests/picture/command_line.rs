//! Parsing of the command line.

use ::volume::options::Options;
use ::volume::{cut, output, parse};
use clap::CommandFactory;
use zippy::Config;
use zippy_render::compositing::Algorithm;
use zippy_render::volume::{ClipPlane, Preset};

use super::options;

#[test]
fn sizes_and_cuts_are_read() {
    use cut::Cut::{Auto, Axes, Bars, LShapes, Tree};
    use zippy::Split::{Even, Sizes};
    assert_eq!(cut::parse_split("auto").unwrap(), Auto);
    assert_eq!(cut::parse_split("3x2x1").unwrap(), Axes([Even(3), Even(2), Even(1)]));
    let uneven = Axes([Sizes(vec![10, 246]), Even(1), Sizes(vec![0, 64, 64])]);
    assert_eq!(cut::parse_split("10+246,1,0+64+64").unwrap(), uneven);
    assert_eq!(cut::parse_split("10+246x1x0+64+64").unwrap(), uneven);
    for wrong in
        ["", "2", "2x2", "2x2x2x2", "0x1x1", "-1x1x1", "1+x1x1", "ax1x1", "1.5x1x1", "99999999999999999999x1x1"]
    {
        assert!(cut::parse_split(wrong).is_err(), "{wrong:?}");
    }
    let irregular = ["kd", "kd:12", "bars", "ell"].map(cut::parse_cut);
    assert_eq!(irregular, [Ok(Tree(None)), Ok(Tree(Some(12))), Ok(Bars), Ok(LShapes)]);
    for wrong in ["", "kd:", "kd:0", "kd:x", "bars:2", "grid"] {
        assert!(cut::parse_cut(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(cut::extents("7"), Ok([7; 3]));
    assert_eq!((cut::voxels("2048x2048x4096"), cut::voxels("7")), (Ok([2048, 2048, 4096]), Ok([7; 3])));
    assert_eq!(cut::extents("64x80x72"), Ok([64, 80, 72]));
    for wrong in ["0", "1x2", "100000", "9223372036854775807x2x1", "4x4x-4"] {
        assert!(cut::extents(wrong).is_err(), "{wrong:?}");
    }
    for size in ["640x480", "640,480", "640X480", "640\u{d7}480", "640, 480"] {
        assert_eq!(cut::pixels(size), Ok((640, 480)), "{size}");
    }
    assert_eq!(cut::voxels("64,80,72"), Ok([64, 80, 72]));
    assert_eq!(parse::ranks("3"), Ok(3));
    assert!(parse::ranks("0").unwrap_err().contains("0 ranks cannot run a program"));
    for wrong in ["640", "0x1", "1x16385", "1x2x3", "x", "99999999999999999999x1"] {
        assert!(cut::pixels(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn planes_boxes_and_colours_are_read() {
    assert_eq!(parse::clip("1,-2, 0.5,1e2"), Ok(ClipPlane { normal: [1.0, -2.0, 0.5], offset: 100.0 }));
    for wrong in ["", "1,2,3", "1,2,3,4,5", "0,0,0,4", "1,a,3,4", "nan,0,1,0", "1,0,0,inf"] {
        assert!(parse::clip(wrong).is_err(), "{wrong:?}");
    }
    let crop = parse::crop("10:200,:,-3:64.5").unwrap();
    assert_eq!((crop.low[0], crop.high[0], crop.low[2], crop.high[2]), (10.0, 200.0, -3.0, 64.5));
    assert!(crop.low[1] < -1e9 && crop.high[1] > 1e9);
    for wrong in ["", "1:2", "1:2,3:4", "1,2,3", "2:1,:,:", ":,:,:,:", "a:,:,:"] {
        assert!(parse::crop(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(parse::colour("white"), Ok([1.0; 3]));
    assert_eq!(parse::colour("#ff8000"), Ok([1.0, 128.0 / 255.0, 0.0]));
    assert_eq!(parse::colour("1,0.5,0"), Ok([1.0, 0.5, 0.0]));
    assert_eq!(parse::colour("red"), Ok([1.0, 0.0, 0.0]));
    for (name, wanted) in
        [("RebeccaPurple", [0x66, 0x33, 0x99]), ("steelblue", [70, 130, 180]), ("#f80", [255, 136, 0])]
    {
        let bytes = parse::colour(name).map(|colour| colour.map(|part| (255.0 * part).round() as u8));
        assert_eq!(bytes, Ok(wanted), "{name}");
    }
    assert!(parse::colour("transparent").unwrap_err().contains("give an opaque colour"));
    for wrong in ["", "reddish", "#ff80", "#gg0000", "#+ff800", "1,2,0", "1,0"] {
        assert!(parse::colour(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(parse::algorithm("radix:4,2"), Ok(Algorithm::Radix(vec![4, 2])));
    for wrong in ["radix", "radix:", "radix:1", "tree", "swap:2"] {
        assert!(parse::algorithm(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn output_extension_selects_the_format() {
    use output::{Format, Output};
    assert_eq!(output::parse_output("a/b.PNG"), Ok(Output::Still(Format::Png, "a/b.PNG".into())));
    assert_eq!(output::parse_output("b.npy"), Ok(Output::Still(Format::Npy, "b.npy".into())));
    assert_eq!(output::parse_output("b.apng"), Ok(Output::Animated("b.apng".into())));
    let paths = |text: &str| match output::parse_output(text).unwrap() {
        Output::Numbered(_, ref pattern) if output::parse_output(text).unwrap().name().ends_with(text) => {
            [7, 12345].map(|number| pattern.path(number).display().to_string())
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(paths("d/frame_%04d.png"), ["d/frame_0007.png", "d/frame_12345.png"]);
    assert_eq!(paths("%d.npy"), ["7.npy", "12345.npy"]);
    for wrong in ["", "a", "a.jpg", "a%.png", "a%4.png", "a%x4d.png", "a%d%d.png", "a%99d.png"] {
        assert!(output::parse_output(wrong).is_err(), "{wrong:?}");
    }
}

#[cfg(unix)]
#[test]
fn file_names_outside_utf8_are_accepted() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use output::{Format, Output};
    let name = |bytes: &[u8]| OsStr::from_bytes(bytes).to_os_string();
    let path = |bytes: &[u8]| Path::new(OsStr::from_bytes(bytes)).to_path_buf();
    assert_eq!(output::parse_output(name(b"a\xff.png")), Ok(Output::Still(Format::Png, path(b"a\xff.png"))));
    assert_eq!(output::parse_output(name(b"a\xff.apng")), Ok(Output::Animated(path(b"a\xff.apng"))));
    let Ok(Output::Numbered(Format::Png, pattern)) = output::parse_output(name(b"d\xff/f%02d.png")) else {
        panic!("no pattern")
    };
    assert_eq!(pattern.path(7), path(b"d\xff/f07.png"));
    for (given, frame) in [(&b"f%02d\xff.png"[..], &b"f07\xff.png"[..]), (b"\xff%d.png", b"\xff7.png")] {
        let Ok(Output::Numbered(Format::Png, pattern)) = output::parse_output(name(given)) else {
            panic!("no pattern")
        };
        assert_eq!(pattern.path(7), path(frame));
    }
    assert!(output::parse_output(name(b"f%\xffd.png")).is_err());
    let words = [&b"volume"[..], b"--input", b"a\xff.nrrd", b"--scene", b"b\xff.json", b"--output", b"c\xff.apng"];
    let words = words.into_iter().chain([&b"--movie"[..], b"d\xff.json"]).map(name);
    let read = Options::read(words.collect::<Vec<OsString>>()).unwrap();
    assert_eq!(read.volume.file(), Some(&path(b"a\xff.nrrd")));
    assert_eq!(read.camera.scene, Some(path(b"b\xff.json")));
    assert_eq!(read.output(), Output::Animated(path(b"c\xff.apng")));
    assert_eq!(read.movie.movie, Some(volume::movie::CameraPath::File(path(b"d\xff.json"))));
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let cases: [(&[&str], &str); 61] = [
        (&["--scene-name", "a"], "--scene"),
        (&["--scene", "a", "--zoom", "2"], "--zoom"),
        (&["--scene", "a", "--fov", "20"], "--fov"),
        (&["--input", "a", "--phantom-size", "3"], "--phantom-size"),
        (&["--components", "2"], "--input"),
        (&["--input", "a", "--components", "3"], "1, 2 or 4"),
        (&["--input", "a", "--raw-type", "u8"], "--raw-shape"),
        (&["--input", "a", "--raw-gzip"], "--raw-shape"),
        (&["--input", "a", "--raw-shape", "2x2x2", "--raw-type", "u7"], "u7"),
        (&["--input", "a", "--raw-shape", "2x2x2", "--raw-spacing", "1,0,1"], "above 0"),
        (&["--split", "1x1x1", "--chunks-per-rank", "2"], "--chunks-per-rank"),
        (&["--split", "1x1x1", "--cut", "bars"], "--cut"),
        (&["--cut", "kd:3", "--chunks-per-rank", "2"], "leave out --chunks-per-rank"),
        (&["--cut", "ell", "--chunks-per-rank", "2"], "leave out --chunks-per-rank"),
        (&["--cut", "bars", "--chunks-per-rank", "1"], "--chunks-per-rank 2"),
        (&["--chunks-per-rank", "0"], "0"),
        (&["--repeat", "0"], "0"),
        (&["--preset", "ct-bone", "--transfer", "a.json"], "--transfer"),
        (&["--preset", "bones"], "ct-bone"),
        (&["--output", "a.apng"], "--movie"),
        (&["--output", "a%d.png"], "--movie"),
        (&["--movie", "orbit", "--output", "a.png"], "frame_%04d.png"),
        (&["--movie", "orbit", "--output", "a%d.png", "--fps", "3"], "--fps"),
        (&["--movie", "spiral"], "orbit, rock, zoom"),
        (&["--movie", "orbit", "--frames", "0"], "0"),
        (&["--movie", "orbit", "--compare-single"], "--compare-single"),
        (&["--frames", "3"], "--movie"),
        (&["--alpha", "--background", "white"], "--background"),
        (&["--output", "a.npy", "--depth", "16"], "32-bit floats"),
        (&["--projection", "parallel", "--fov", "30"], "--zoom"),
        (&["--algorithm", "swaps"], "one of swap"),
        (&["--fast", "--pixel", "rgba8", "--compare-single"], "--pixel f32"),
        (&["--nonsense"], "--nonsense"),
        (&["--input", "a", "--array", "b", "--raw-shape", "2"], "--array"),
        (&["--input", "a", "--raw-shape", "2x2x2", "--raw-spacing", "-1,1,1"], "above 0"),
        (&["--input", "a", "--raw-shape", "2x2x2", "--raw-offset", "-1"], "-1"),
        (&["--input", "a", "--raw-shape", "4294967296x4294967296x4"], "2^63"),
        (&["--ranks", "0"], "0 ranks cannot run a program"),
        (&["--ranks", "-2"], "-2 ranks cannot run a program"),
        (&["--step", "0"], "above 0"),
        (&["--step", "-0.5"], "above 0"),
        (&["--step", "inf"], "not a number"),
        (&["--zoom", "0"], "above 0"),
        (&["--zoom", "-1"], "above 0"),
        (&["--fov", "180"], "1 to 170"),
        (&["--fov", "-20"], "1 to 170"),
        (&["--azimuth", "nan"], "not a number"),
        (&["--elevation", "91"], "-90 to 90"),
        (&["--termination", "0.2"], "0 to 0.1"),
        (&["--termination", "-1"], "0 to 0.1"),
        (&["--termination", "nan"], "0 to 0.1"),
        (&["--movie", "orbit", "--fps", "-3"], "0.1 to 1000"),
        (&["--movie", "orbit", "--frames", "-3"], "-3"),
        (&["--movie", "orbit", "--fps", "5000"], "0.1 to 1000"),
        (&["--brick", "13"], "multiple of 8"),
        (&["--brick", "-8"], "-8 is less than 8"),
        (&["--idle-ranks", "-1"], "-1"),
        (&["--shade", "--ambient", "1.5"], "0 to 1"),
        (&["--shade", "--diffuse", "-0.1"], "0 to 1"),
        (&["--shade", "--shininess", "0"], "1 to 1000"),
        (&["--specular", "0.5"], "--shade"),
    ];
    for (wrong, wanted) in cases {
        let message = options(wrong).err().unwrap_or_else(|| panic!("{wrong:?} is accepted"));
        assert!(
            message.contains(wanted) && (wrong == ["--nonsense"] || !message.contains("unexpected argument")),
            "{wrong:?}: {message}"
        );
    }
    assert_eq!(options(&["--ranks", "3"]).unwrap().config(), Config::threads(3));
    assert_eq!(options(&[]).unwrap().config(), Config::new());
    // Negative values need no `=`.
    assert_eq!(options(&["--azimuth", "-120", "--elevation", "-5"]).unwrap().camera.azimuth, -120.0);
    assert_eq!(options(&["--clip", "-1,0,0,-30", "--crop", "-1:2,:,:"]).unwrap().look.clip.len(), 1);
}

#[test]
fn documented_commands_are_parsed() {
    for command in [
        "--ranks 5 --input bonsai.nrrd --preset ct-soft --shade --size 1024x1024 --output bonsai.png --compare-single --json",
        "--ranks 3 --input tooth.nrrd --movie orbit --frames 36 --output orbit.apng",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        assert!(options(&words).is_ok(), "{command}");
    }
    let help = Options::command().render_long_help().to_string();
    let shown = help.lines().map(str::trim).filter_map(|line| line.strip_prefix("volume --"));
    let mut count = 0;
    for command in shown {
        let command = format!("--{command}");
        let words: Vec<&str> = command.split(' ').collect();
        options(&words).unwrap_or_else(|error| panic!("{command}: {error}"));
        count += 1;
    }
    assert!(count >= 6, "{help}");
    for preset in Preset::ALL {
        assert!(help.contains(preset.name()), "{}", preset.name());
    }
}

#[test]
fn options_are_grouped() {
    let command = Options::command();
    let groups = command.get_arguments().filter_map(|argument| {
        let (heading, long) = (argument.get_help_heading().unwrap_or("Options"), argument.get_long()?);
        Some(format!("{heading}: {long}"))
    });
    let lines: Vec<String> = groups.collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    Options: ranks
    Options: view
    Options: input
    Volume: phantom-size
    Volume: components
    Volume: array
    Volume: axes
    Volume: raw-shape
    Volume: raw-type
    Volume: raw-endian
    Volume: raw-offset
    Volume: raw-gzip
    Volume: raw-spacing
    Options: output
    Options: size
    Picture: depth
    Picture: alpha
    Picture: background
    Options: preset
    Colours, light and cuts: transfer
    Colours, light and cuts: shade
    Colours, light and cuts: ambient
    Colours, light and cuts: diffuse
    Colours, light and cuts: specular
    Colours, light and cuts: shininess
    Colours, light and cuts: interpolation
    Colours, light and cuts: preintegrated
    Colours, light and cuts: step
    Colours, light and cuts: clip
    Colours, light and cuts: crop
    Colours, light and cuts: jitter
    Colours, light and cuts: termination
    Camera: azimuth
    Camera: elevation
    Camera: zoom
    Camera: projection
    Camera: fov
    Camera: scene
    Camera: scene-name
    Isosurface: iso
    Isosurface: iso-opacity
    Isosurface: iso-colour
    Movie: movie
    Movie: frames
    Movie: fps
    Division among ranks: split
    Division among ranks: fast
    Checks and report: repeat
    Checks and report: compare-single
    Checks and report: reference
    Checks and report: json
    Checks and report: verbose
    Research: cut
    Research: chunks-per-rank
    Research: idle-ranks
    Research: algorithm
    Research: brick
    Research: encoding
    Research: pixel
    ");
}
