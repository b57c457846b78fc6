//! `volume --view` on a virtual screen: rendering, mouse input, closing and signals.

use std::process::{Command, Output};

use zippy_testing::running::{Running, kill, wait};
use zippy_testing::screen::{Screen, Shot};

/// Title of the window.
const TITLE: &str = "Zippy volume";
/// A rectangle inside the picture for every width of the panels.
const PICTURE_CORNER: (i16, i16) = (20, 20);
const PICTURE_SIZE: (u16, u16) = (780, 640);
/// Position of a preset button, not the first one, in the panel on the right.
const PRESET: (i16, i16) = (930, 39);

/// Position of a low value in the histogram of the isosurface section.
const ISOVALUE: (i16, i16) = (880, 440);

/// Starts a program with this display.
fn start(mut command: Command, display: &str) -> Running {
    command.env("DISPLAY", display).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    Running::start(command)
}

/// Waits until the picture shows a volume: the corner has the background colour, and many pixels
/// have another colour.
fn first_picture(screen: &Screen, running: &mut Running) -> (u32, Shot) {
    let window = running.wait("a window", || screen.window(TITLE));
    let shows_volume =
        |shot: &Shot| shot.unlike(shot.pixels[0]) > shot.pixels.len() / 20 && shot.pixels[0] == [0, 0, 0];
    running.wait("a picture", || shows_volume(&screen.shot(PICTURE_CORNER, PICTURE_SIZE)).then_some(()));
    (window, screen.settled("the first picture", || screen.shot(PICTURE_CORNER, PICTURE_SIZE), shows_volume))
}

/// Waits until the picture differs from `before` and does not change any more.
fn another_picture(screen: &Screen, before: &Shot, description: &str) -> Shot {
    let another = |shot: &Shot| shot.differing(before) > shot.pixels.len() / 100;
    screen.settled(description, || screen.shot(PICTURE_CORNER, PICTURE_SIZE), another)
}

/// Drags to the right until the picture changes, then waits for the picture at rest.
fn drag(screen: &Screen, running: &mut Running, before: &Shot) -> Shot {
    let mut x = 200;
    screen.press((x, 380));
    running.wait("a picture that follows the pointer", || {
        x = if x < 600 { x + 10 } else { 210 };
        screen.point((x, 380));
        (screen.shot(PICTURE_CORNER, PICTURE_SIZE).differing(before) > before.pixels.len() / 100).then_some(())
    });
    screen.release((x, 380));
    another_picture(screen, before, "a picture from elsewhere")
}

fn assert_good(output: &Output) {
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
}

#[test]
fn window_reacts_to_drag_preset_and_close() {
    let screen = Screen::start(1180, 760);
    let mut command = Command::new(env!("CARGO_BIN_EXE_volume"));
    command.args(["--ranks", "3", "--phantom-size", "36x40x32", "--view"]).env_remove("ZIPPY_RANKS");
    let mut running = start(command, &screen.display);
    let (window, first) = first_picture(&screen, &mut running);
    screen.save("volume");
    let turned = drag(&screen, &mut running, &first);
    screen.click(PRESET);
    another_picture(&screen, &turned, "a picture in other colours");
    screen.close(window);
    assert_good(&running.wait_for_end());
}

#[test]
fn isosurface_by_driver_follows_the_pointer() {
    let screen = Screen::start(1180, 760);
    let mut command = Command::new(env!("CARGO_BIN_EXE_volume"));
    command.args(["--ranks", "2", "--phantom-size", "36x40x32", "--iso", "2500", "--view"]).env_remove("ZIPPY_RANKS");
    let mut running = start(command, &screen.display);
    let (window, first) = first_picture(&screen, &mut running);
    screen.save("isosurface");
    // A lower isovalue gives a larger surface.
    screen.click(ISOVALUE);
    let moved = another_picture(&screen, &first, "another surface");
    assert!(moved.unlike([0, 0, 0]) > first.unlike([0, 0, 0]));
    screen.close(window);
    assert_good(&running.wait_for_end());
}

#[test]
fn ctrl_c_closes_the_window_without_an_error() {
    let screen = Screen::start(1180, 760);
    let mut command = Command::new(env!("CARGO_BIN_EXE_volume"));
    command.args(["--ranks", "2", "--phantom-size", "16", "--view"]).env_remove("ZIPPY_RANKS");
    let mut running = start(command, &screen.display);
    first_picture(&screen, &mut running);
    kill("INT", running.id());
    assert_good(&running.wait_for_end());
}

#[test]
fn view_without_display_is_an_error() {
    for (display, wanted) in
        [("", "neither DISPLAY nor WAYLAND_DISPLAY is set"), (":12345", "\":12345\" does not answer")]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_volume"));
        command.args(["--ranks", "2", "--phantom-size", "8", "--view"]).env_remove("ZIPPY_RANKS");
        let output = start(command, display).wait_for_end();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(wanted) && message.contains("xvfb-run"), "{message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}

/// Under a launcher, one process opens the window. Closing the window ends all processes; a killed
/// process ends the window.
#[test]
fn under_mpi() {
    if !zippy_testing::launcher::wanted() {
        return;
    }
    let screen = Screen::start(1180, 760);
    let launch = || {
        let launcher = std::env::var_os("ZIPPY_MPIRUN").unwrap_or_else(|| "mpirun".into());
        let mut command = Command::new(launcher);
        command
            .envs(zippy_testing::launcher::ENVIRONMENT)
            .env_remove("ZIPPY_RANKS")
            .args(["-n", "3"])
            .arg(env!("CARGO_BIN_EXE_volume"));
        command.args(["--phantom-size", "20", "--view"]);
        start(command, &screen.display)
    };
    let mut running = launch();
    let (window, first) = first_picture(&screen, &mut running);
    drag(&screen, &mut running, &first);
    screen.close(window);
    assert_good(&running.wait_for_end());

    let mut running = launch();
    first_picture(&screen, &mut running);
    let process = zippy_testing::launcher::process_of_rank(1, running.id()).expect("a process of the rank");
    kill("KILL", process);
    assert!(!running.wait_for_end().status.success());
    wait("the window's end", || screen.window(TITLE).is_none().then_some(()));
}
