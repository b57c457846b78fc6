//! The program in a real window, on a virtual screen.

use std::path::Path;
use std::process::Command;

use zippy_debugger::imaging::ColourMap;

use super::{Fake, array};
use zippy_testing::running::Running;
use zippy_testing::screen::{Screen, Shot};

/// Position of the button that selects the volume mode.
const VOLUME: (i16, i16) = (853, 85);

/// Colour of a volume's first axis.
const AXIS: [u8; 3] = [240, 110, 100];

fn replay(screen: &Screen, path: &Path) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zippy-debugger"));
    command.arg("replay").arg(path).env("DISPLAY", &screen.display);
    // The variables for programs must not reach the rank that renders.
    command.env("ZIPPY_DEBUG", format!("record:{}", path.display()));
    command.env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    // Drivers print messages without this variable.
    command.env_remove("XDG_RUNTIME_DIR").env_remove("NODEVICE_SELECT");
    Running::start(command)
}

#[test]
fn recording_is_shown_in_a_real_window() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.zrec");
    let fake = Fake::new(vec![array(0, "ramp", &[16, 16, 2], 1)]);
    fake.state.borrow_mut().value = |at, _| at[0] as f64;
    super::recording_comparison::record(&fake, &[5, 6], &path);
    let recorded = std::fs::read(&path).unwrap();
    let screen = Screen::start(1280, 800);
    let mut running = replay(&screen, &path);
    let window = running.wait("a window", || screen.window("flow – Zippy debugger"));
    // Sixteen columns with the colours of the map, each a part of the picture.
    let columns: Vec<[u8; 3]> = (0..16).map(|x| ColourMap::first().at(f64::from(x) / 15.0)).collect();
    let seen =
        |shot: &Shot| columns.iter().all(|colour| shot.pixels.len() - shot.unlike(*colour) > shot.pixels.len() / 400);
    running.wait("a slice in its colours", || seen(&screen.all()).then_some(()));
    screen.save("slice");
    screen.click(VOLUME);
    let axis = |pixel: &&[u8; 3]| pixel.iter().zip(AXIS).all(|(a, b)| a.abs_diff(b) < 24);
    screen.settled("a volume", || screen.all(), |shot| shot.pixels.iter().filter(axis).count() > 50);
    screen.save("volume");
    screen.close(window);
    let output = running.wait_for_end();
    assert_eq!(std::fs::read(&path).unwrap(), recorded, "the rank that renders is no program to be recorded");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    assert!(!complaint.contains("XDG_RUNTIME_DIR"), "{complaint}");
}
