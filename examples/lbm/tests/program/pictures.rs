//! Pictures, compared with the values that they show and with pictures of other numbers of ranks.

use std::path::Path;
use std::process::Command;

/// Runs the program in a directory. Returns its standard output, or its standard error if it fails.
pub(crate) fn run(directory: &Path, options: &str) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbm"));
    let output = command.args(options.split_whitespace()).current_dir(directory).env_remove("ZIPPY_RANKS").output();
    let output = output.unwrap();
    let text =
        String::from_utf8_lossy(if output.status.success() { &output.stdout } else { &output.stderr }).into_owned();
    if output.status.success() { Ok(text) } else { Err(text) }
}

/// Width and pixels of an 8-bit picture, or of the first frame of a movie.
fn pixels(path: &Path) -> (usize, Vec<[u8; 3]>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (info.width as usize, bytes.as_chunks().0.to_vec())
}

/// Draws a flow in several modes on 1, 2 and 3 ranks, and checks that the pictures are equal. Each
/// mode is a file name and options.
fn check_on_ranks(modes: &[(&str, &str)]) {
    let directory = tempfile::tempdir().unwrap();
    let flow = "--case sphere --n 24x12x14 --steps 24 --every 12 --size 96x72";
    for (name, mode) in modes {
        let drawn = |ranks: usize| {
            run(directory.path(), &format!("--ranks {ranks} {flow} {mode} --output {name}")).unwrap();
            std::fs::read(directory.path().join(name)).unwrap()
        };
        let alone = drawn(1);
        assert!(alone == drawn(2) && alone == drawn(3), "{mode}");
    }
}

#[test]
fn slices_are_the_same_for_every_number_of_ranks() {
    check_on_ranks(&[("slice.png", "--render density --slice x=9")]);
}

/// The sphere and the isosurfaces are drawn meshes.
#[test]
fn pictures_of_space_by_driver_are_the_same_for_every_number_of_ranks() {
    check_on_ranks(&[
        ("flow.apng", "--render vorticity"),
        ("surface.png", "--render q --as surface"),
        ("speed.png", "--render speed --iso 0.03"),
    ]);
}

/// Expected colour of the scale for a fraction of the range.
fn colour(share: f64) -> [f64; 3] {
    let scale = [
        [0.267, 0.005, 0.329],
        [0.230, 0.322, 0.546],
        [0.128, 0.567, 0.551],
        [0.369, 0.789, 0.383],
        [0.993, 0.906, 0.144],
    ];
    let at = share.clamp(0.0, 1.0) * 4.0;
    let first = (at as usize).min(3);
    std::array::from_fn(|k| 255.0 * (scale[first][k] + (scale[first + 1][k] - scale[first][k]) * (at - first as f64)))
}

/// Slices of the speed at the start of a Taylor-Green flow of 16 cells on a side have the colours
/// of the exact solution.
#[test]
fn slices_have_the_colours_of_their_cells() {
    let directory = tempfile::tempdir().unwrap();
    let options = "--case taylor-green3d --n 16 --speed 0.05 --steps 1 --every 7 --size 330x100";
    for (ranks, slice, axes) in [
        (1, "y=5", [[1, 0, 0], [0, 0, 5], [0, 1, 0]]),
        (3, "y=5", [[1, 0, 0], [0, 0, 5], [0, 1, 0]]),
        (3, "x=3", [[0, 0, 3], [0, 1, 0], [1, 0, 0]]),
        (3, "z", [[1, 0, 0], [0, 1, 0], [0, 0, 8]]),
    ] {
        let words = format!("--ranks {ranks} {options} --render speed --range 0:0.06 --slice {slice} --output s.apng");
        run(directory.path(), &words).unwrap();
        let (width, pixels) = pixels(&directory.path().join("s.apng"));
        // Cells are as large as the height without the legend permits; the row is as wide as a
        // legend.
        let times = (100 - 15) / 16;
        assert_eq!((width, pixels.len() / width), (320, 16 * times + 15));
        let margin = (320 - 16 * times) / 2;
        for (column, line) in (0..16).flat_map(|column| (0..16).map(move |line| (column, line))) {
            // Rows of the picture count from the top, lines of cells from the bottom.
            let found = pixels[((15 - line) * times + 2) * width + margin + column * times + 1];
            let at = axes.map(|[right, up, fixed]| right * column + up * line + fixed);
            let wave = at.map(|x| std::f64::consts::TAU / 16.0 * (x as f64 + 0.5));
            let u = 0.05 * wave[0].sin() * wave[1].cos() * wave[2].cos();
            let v = 0.05 * wave[0].cos() * wave[1].sin() * wave[2].cos();
            let wanted = colour(u.hypot(v) / 0.06);
            let far = (0..3).map(|k| (f64::from(found[k]) - wanted[k]).abs()).fold(0.0, f64::max);
            assert!(far < 1.0, "{slice}: {found:?} at {at:?}, not {wanted:?}");
        }
    }
}

#[test]
fn slice_has_grey_bodies_and_the_lid_at_the_top() {
    let directory = tempfile::tempdir().unwrap();
    run(directory.path(), "--case cylinder --n 10 --steps 2 --render speed --output c.png --size 442x100").unwrap();
    let (width, cells) = pixels(&directory.path().join("c.png"));
    let grey =
        |x: f64, y: f64| cells[(41 * 2 - 1 - (y * 2.0) as usize) * width + (x * 2.0) as usize] == [115, 115, 120];
    // The cylinder's centre is two diameters from the inlet and two from the lower wall; the height
    // is 4.1 diameters.
    assert!(grey(20.0, 20.0) && grey(16.0, 20.0) && !grey(14.0, 20.0) && !grey(20.0, 26.0) && !grey(26.0, 20.0));

    run(directory.path(), "--case cavity2d --n 20 --steps 40 --render speed --output d.png").unwrap();
    let (width, cells) = pixels(&directory.path().join("d.png"));
    let bright = |row: usize| u32::from(cells[row * width + width / 2][1]);
    assert!(bright(2) > bright(300) + 50, "{} {}", bright(2), bright(300));
}

#[test]
fn invalid_picture_options_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    for (options, wanted) in [
        ("--case cavity2d --n 8 --render speed --as volume --slice z", "--slice needs --as slice"),
        ("--case cavity2d --n 8 --render speed --as surface", "a flow in the plane is drawn as a slice"),
        ("--case cavity2d --n 8 --render speed --slice x", "its own slice, across z"),
        ("--case cavity3d --n 8 --render speed --slice y=8", "cells 0 to 7"),
        ("--case cavity3d --n 8 --render speed --slice w", "\"w\" is not an axis"),
        ("--case cavity3d --n 8 --render speed --slice z=-1", "is not a cell"),
        ("--case cavity3d --n 8 --render speed --iso nan", "not a number"),
        ("--case cavity3d --n 8 --render speed --range 1:1", "must be the larger one"),
        ("--case cavity3d --n 8 --as surface", "give one of these, too"),
        ("--case cavity3d --n 8,16 --view", "--view shows one run"),
    ] {
        let error = run(directory.path(), &format!("--ranks 2 --steps 2 {options}")).unwrap_err();
        assert!(error.contains(wanted), "{options}: {error}");
    }
}
