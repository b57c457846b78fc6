//! The program in a real window, on a virtual screen.

use std::path::Path;
use std::process::Command;

use zippy_debugger::look::ColourMap;

use super::running::Running;
use super::screen::{Screen, Shot};
use super::{Fake, array};

/// The button over the slice that shows the volume.
const VOLUME: (i16, i16) = (853, 85);

/// The colour of a volume's first axis.
const AXIS: [u8; 3] = [240, 110, 100];

/// Where a picture of the whole screen is written for people who want to see it, after a word.
fn save(screen: &Screen, word: &str) {
    if let Some(path) = std::env::var_os("ZIPPY_SCREENSHOT") {
        let shot = screen.all();
        let text = format!("P6 {} {} 255\n", shot.width, shot.height);
        let path = std::path::PathBuf::from(path).with_extension(format!("{word}.ppm"));
        std::fs::write(path, [text.as_bytes(), shot.pixels.as_flattened()].concat()).unwrap();
    }
}

fn replay(screen: &Screen, path: &Path) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zippy-debugger"));
    command.arg("replay").arg(path).env("DISPLAY", &screen.display);
    // What is meant for programs must not reach the rank that renders.
    command.env("ZIPPY_DEBUG", format!("record:{}", path.display()));
    command.env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    // A variable without which drivers print lines.
    command.env_remove("XDG_RUNTIME_DIR").env_remove("NODEVICE_SELECT");
    Running::start(command)
}

#[test]
fn a_recording_is_seen_in_a_window() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.zrec");
    let fake = Fake::new(vec![array(0, "ramp", &[16, 16, 2], 1)]);
    fake.inside.borrow_mut().value = |at, _| at[0] as f64;
    super::recorded::record(&fake, &[5, 6], &path);
    let recorded = std::fs::read(&path).unwrap();
    let screen = Screen::start(1280, 800);
    let mut running = replay(&screen, &path);
    let window = running.wait("a window", || screen.window("flow – Zippy debugger"));
    // Sixteen columns of the map's colours, each a part of the picture.
    let columns: Vec<[u8; 3]> = (0..16).map(|x| ColourMap::first().at(f64::from(x) / 15.0)).collect();
    let seen =
        |shot: &Shot| columns.iter().all(|colour| shot.pixels.len() - shot.unlike(*colour) > shot.pixels.len() / 400);
    running.wait("a slice in its colours", || seen(&screen.all()).then_some(()));
    save(&screen, "slice");
    screen.click(VOLUME);
    let axis = |pixel: &&[u8; 3]| pixel.iter().zip(AXIS).all(|(a, b)| a.abs_diff(b) < 24);
    screen.settled("a volume", || screen.all(), |shot| shot.pixels.iter().filter(axis).count() > 50);
    save(&screen, "volume");
    screen.close(window);
    let output = running.ended();
    assert_eq!(std::fs::read(&path).unwrap(), recorded, "the rank that renders is no program to be recorded");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    assert!(!complaint.contains("XDG_RUNTIME_DIR"), "{complaint}");
}
