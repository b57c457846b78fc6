//! `lbm --view` on a virtual screen: a person looks, pauses, steps, changes things and closes the window.

use std::process::{Command, Output};

use super::running::{Running, kill};
use super::screen::{Screen, Shot};

/// The window's title.
const TITLE: &str = "Zippy flow";
/// Inside the picture, whatever the panels need beside it, with the legend.
const PLACE: (i16, i16) = (20, 40);
const SIZE: (u16, u16) = (780, 690);

fn start(screen: &Screen, options: &str) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbm"));
    command.args(options.split_whitespace()).env_remove("ZIPPY_RANKS");
    command.env("DISPLAY", &screen.display).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    Running::start(command)
}

/// Where a picture of the whole screen is written for people who want to see it, after a number.
fn save(screen: &Screen, number: usize) {
    if let Some(path) = std::env::var_os("ZIPPY_SCREENSHOT") {
        let shot = screen.all();
        let text = format!("P6 {} {} 255\n", shot.width, shot.height);
        let path = std::path::PathBuf::from(path).with_extension(format!("{number}.ppm"));
        std::fs::write(path, [text.as_bytes(), shot.pixels.as_flattened()].concat()).unwrap();
    }
}

/// Waits for the window and its first picture.
fn first_picture(screen: &Screen, running: &mut Running) -> u32 {
    let window = running.wait("a window", || screen.window(TITLE));
    let seen =
        |shot: &Shot| shot.unlike(shot.pixels[0]) > shot.pixels.len() / 100 && screen.all().pixels[0] == [0, 0, 0];
    running.wait("a picture", || seen(&screen.shot(PLACE, SIZE)).then_some(()));
    window
}

/// Buttons and other things in the panel.
const PAUSE: (i16, i16) = (917, 47);
const ONE_STEP: (i16, i16) = (1035, 47);
const Q: (i16, i16) = (1029, 175);
const SURFACE: (i16, i16) = (957, 201);
const SLICE: (i16, i16) = (1014, 201);
const SPEED: (i16, i16) = (960, 102);
/// Where the number of steps is.
const STATUS: ((i16, i16), (u16, u16)) = ((0, 738), (110, 22));

fn another(screen: &Screen, before: &Shot, what: &str, (place, size): ((i16, i16), (u16, u16))) -> Shot {
    screen.settled(what, || screen.shot(place, size), |shot| shot.differing(before) > 20)
}

#[test]
fn a_person_by_driver_pauses_steps_changes_and_closes() {
    let directory = tempfile::tempdir().unwrap();
    let screen = Screen::start(1180, 760);
    let kept = directory.path().join("kept");
    let options = format!("--ranks 3 --case sphere --n 24x12x12 --re 20 --view --json --checkpoint {}", kept.display());
    let mut running = start(&screen, &options);
    let window = first_picture(&screen, &mut running);
    let status = || screen.shot(STATUS.0, STATUS.1);
    let first = status();
    running.wait("steps", || (status().differing(&first) > 5).then_some(()));
    save(&screen, 0);
    screen.click(PAUSE);
    let paused = screen.settled("a pause", || screen.shot(PLACE, SIZE), |_| true);
    let stands = screen.settled("a pause", status, |_| true);
    screen.click(ONE_STEP);
    let one = screen.settled("one step", status, |shot| shot.differing(&stands) > 0);
    assert!(one != stands);
    let pictures = (PLACE, SIZE);
    screen.click(SLICE);
    let slice = another(&screen, &paused, "a slice", pictures);
    save(&screen, 1);
    screen.click(SURFACE);
    let surface = another(&screen, &slice, "a surface", pictures);
    save(&screen, 2);
    screen.click(Q);
    another(&screen, &surface, "another quantity", pictures);
    // Farther to the right: faster.
    let speed = || screen.shot((840, 90), (200, 40));
    let before = speed();
    screen.press(SPEED);
    running.wait("another speed", || (speed().differing(&before) > 20).then_some(()));
    screen.release(SPEED);
    screen.click(PAUSE);
    running.wait("steps", || (status() != one).then_some(()));
    save(&screen, 3);
    screen.close(window);
    let output: Output = running.ended();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("\"ended_by\":\"window closed\""), "{said}");
    // The Reynolds number has grown with the speed.
    let number = said.split("\"reynolds\":").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert!(number.parse::<f64>().unwrap() > 24.0, "{number}");
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1);
}

/// How many pixels are nearly the colour of the frame around the reason, and how many are magenta.
fn reddish(shot: &Shot) -> [usize; 2] {
    let near = |pixel: &[u8; 3]| pixel[0].abs_diff(90) < 30 && pixel[1] < 50 && pixel[2] < 50;
    let magenta = |pixel: &[u8; 3]| pixel[0] > 200 && pixel[1] < 60 && pixel[2] > 200;
    [shot.pixels.iter().filter(|pixel| near(pixel)).count(), shot.pixels.iter().filter(|pixel| magenta(pixel)).count()]
}

#[test]
fn unstable_flow_stands_still_with_its_last_good_picture_until_the_window_is_closed() {
    let screen = Screen::start(1180, 760);
    let options = "--ranks 2 --case sphere --n 32x16x16 --re 1e7 --speed 0.25 --slice z --render speed --view";
    let mut running = start(&screen, options);
    let window = first_picture(&screen, &mut running);
    let shot = || screen.shot(PLACE, SIZE);
    running.wait("the reason", || (reddish(&shot())[0] > 5000).then_some(()));
    let stopped = screen.settled("a picture that stays", shot, |_| true);
    save(&screen, 5);
    assert_eq!(reddish(&stopped)[1], 0, "magenta is what has no finite value");
    assert!(stopped.unlike(stopped.pixels[0]) > stopped.pixels.len() / 20);
    // Neither the space bar nor the button moves it.
    screen.click(PAUSE);
    assert!(screen.settled("the same picture", shot, |_| true) == stopped && screen.window(TITLE).is_some());
    screen.close(window);
    let output = running.ended();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the flow has become unstable") && said.contains("the fastest cell of the last finite state"),
        "{said}"
    );
}

#[test]
fn ctrl_c_ends_it_in_good_order_and_nothing_without_a_display() {
    let screen = Screen::start(1180, 760);
    let mut running = start(&screen, "--ranks 2 --case cavity2d --n 24 --view");
    first_picture(&screen, &mut running);
    save(&screen, 4);
    kill("INT", running.id());
    let output = running.ended();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("ended by a signal"));

    let mut command = Command::new(env!("CARGO_BIN_EXE_lbm"));
    command.args(["--case", "cavity2d", "--n", "8", "--view"]).env_remove("ZIPPY_RANKS");
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    let output = Running::start(command).ended();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("xvfb-run") && !said.contains("panicked"), "{said}");
}
