//! `lbm --view` on a virtual screen: rendering, buttons, sliders and closing.

use std::process::{Command, Output};

use super::running::{Running, kill};
use super::screen::{Screen, Shot};

/// Title of the window.
const TITLE: &str = "Zippy flow";
/// A rectangle inside the picture for every width of the panels, without the legend.
const PICTURE_CORNER: (i16, i16) = (20, 40);
const PICTURE_SIZE: (u16, u16) = (780, 690);

fn start(screen: &Screen, options: &str) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbm"));
    command.args(options.split_whitespace()).env_remove("ZIPPY_RANKS");
    command.env("DISPLAY", &screen.display).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    Running::start(command)
}

/// Waits for the window and its first picture.
fn first_picture(screen: &Screen, running: &mut Running) -> u32 {
    let window = running.wait("a window", || screen.window(TITLE));
    let shows_flow =
        |shot: &Shot| shot.unlike(shot.pixels[0]) > shot.pixels.len() / 100 && screen.all().pixels[0] == [0, 0, 0];
    running.wait("a picture", || shows_flow(&screen.shot(PICTURE_CORNER, PICTURE_SIZE)).then_some(()));
    window
}

/// Positions of buttons and sliders in the panel.
const PAUSE: (i16, i16) = (917, 47);
const ONE_STEP: (i16, i16) = (1035, 47);
const Q: (i16, i16) = (1029, 175);
const SURFACE: (i16, i16) = (957, 201);
const SLICE: (i16, i16) = (1014, 201);
const SPEED: (i16, i16) = (960, 102);
/// Area of the number of steps.
const STATUS: ((i16, i16), (u16, u16)) = ((0, 738), (110, 22));

fn another_picture(screen: &Screen, before: &Shot, description: &str) -> Shot {
    let picture = || screen.shot(PICTURE_CORNER, PICTURE_SIZE);
    screen.settled(description, picture, |shot| shot.differing(before) > 20)
}

#[test]
fn window_by_driver_reacts_to_pause_step_modes_speed_and_close() {
    let directory = tempfile::tempdir().unwrap();
    let screen = Screen::start(1180, 760);
    let kept = directory.path().join("kept");
    let options = format!("--ranks 3 --case sphere --n 24x12x12 --re 20 --view --json --checkpoint {}", kept.display());
    let mut running = start(&screen, &options);
    let window = first_picture(&screen, &mut running);
    let status = || screen.shot(STATUS.0, STATUS.1);
    let first = status();
    running.wait("steps", || (status().differing(&first) > 5).then_some(()));
    screen.save("0");
    screen.click(PAUSE);
    let paused = screen.settled("a pause", || screen.shot(PICTURE_CORNER, PICTURE_SIZE), |_| true);
    let before_step = screen.settled("a pause", status, |_| true);
    screen.click(ONE_STEP);
    let after_step = screen.settled("one step", status, |shot| shot.differing(&before_step) > 0);
    assert!(after_step != before_step);
    screen.click(SLICE);
    let slice = another_picture(&screen, &paused, "a slice");
    screen.save("1");
    screen.click(SURFACE);
    let surface = another_picture(&screen, &slice, "a surface");
    screen.save("2");
    screen.click(Q);
    another_picture(&screen, &surface, "another quantity");
    // A higher speed is to the right.
    let speed = || screen.shot((840, 90), (200, 40));
    let before = speed();
    screen.press(SPEED);
    running.wait("another speed", || (speed().differing(&before) > 20).then_some(()));
    screen.release(SPEED);
    screen.click(PAUSE);
    running.wait("steps", || (status() != after_step).then_some(()));
    screen.save("3");
    screen.close(window);
    let output: Output = running.wait_for_end();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("\"ended_by\":\"window closed\""), "{text}");
    // The Reynolds number has grown with the speed.
    let number = text.split("\"reynolds\":").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert!(number.parse::<f64>().unwrap() > 24.0, "{number}");
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1);
}

/// Number of pixels close to the background colour of the message, and number of magenta pixels
/// (NaN).
fn message_and_nan_pixels(shot: &Shot) -> [usize; 2] {
    let near = |pixel: &[u8; 3]| pixel[0].abs_diff(90) < 30 && pixel[1] < 50 && pixel[2] < 50;
    let magenta = |pixel: &[u8; 3]| pixel[0] > 200 && pixel[1] < 60 && pixel[2] > 200;
    [shot.pixels.iter().filter(|pixel| near(pixel)).count(), shot.pixels.iter().filter(|pixel| magenta(pixel)).count()]
}

#[test]
fn unstable_flow_shows_its_last_valid_picture_until_the_window_is_closed() {
    let screen = Screen::start(1180, 760);
    let options = "--ranks 2 --case sphere --n 32x16x16 --re 1e7 --speed 0.25 --slice z --render speed --view";
    let mut running = start(&screen, options);
    let window = first_picture(&screen, &mut running);
    let shot = || screen.shot(PICTURE_CORNER, PICTURE_SIZE);
    running.wait("the message", || (message_and_nan_pixels(&shot())[0] > 5000).then_some(()));
    let stopped = screen.settled("a picture that stays", shot, |_| true);
    screen.save("5");
    assert_eq!(message_and_nan_pixels(&stopped)[1], 0, "magenta pixels are NaN");
    assert!(stopped.unlike(stopped.pixels[0]) > stopped.pixels.len() / 20);
    // The pause button has no effect.
    screen.click(PAUSE);
    assert!(screen.settled("the same picture", shot, |_| true) == stopped && screen.window(TITLE).is_some());
    screen.close(window);
    let output = running.wait_for_end();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("the flow has become unstable") && text.contains("the fastest cell of the last finite state"),
        "{text}"
    );
}

#[test]
fn ctrl_c_ends_normally_and_missing_display_is_an_error() {
    let screen = Screen::start(1180, 760);
    let mut running = start(&screen, "--ranks 2 --case cavity2d --n 24 --view");
    first_picture(&screen, &mut running);
    screen.save("4");
    kill("INT", running.id());
    let output = running.wait_for_end();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("ended by a signal"));

    let mut command = Command::new(env!("CARGO_BIN_EXE_lbm"));
    command.args(["--case", "cavity2d", "--n", "8", "--view"]).env_remove("ZIPPY_RANKS");
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    let output = Running::start(command).wait_for_end();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && text.contains("xvfb-run") && !text.contains("panicked"), "{text}");
}
