//! `volume --view` on a virtual screen: a person looks, drags, clicks and closes the window.

use std::process::{Command, Output};

use super::running::{Running, kill, wait};
use super::screen::{Screen, Shot};

/// The window's title.
const TITLE: &str = "Zippy volume";
/// Inside the picture, whatever the panels need beside it.
const PLACE: (i16, i16) = (20, 20);
const SIZE: (u16, u16) = (780, 640);
/// A preset that is not the first one, in the panel on the right.
const PRESET: (i16, i16) = (930, 39);

/// A low value on the distribution in the section of the isosurface.
const ISOVALUE: (i16, i16) = (880, 440);

/// Starts a program that finds this display.
fn start(mut command: Command, display: &str) -> Running {
    command.env("DISPLAY", display).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    Running::start(command)
}

/// Waits until a volume is seen: much of the picture is not background, which is what its corner shows.
fn first_picture(screen: &Screen, running: &mut Running) -> (u32, Shot) {
    let window = running.wait("a window", || screen.window(TITLE));
    let seen = |shot: &Shot| shot.unlike(shot.pixels[0]) > shot.pixels.len() / 20 && shot.pixels[0] == [0, 0, 0];
    running.wait("a picture", || seen(&screen.shot(PLACE, SIZE)).then_some(()));
    (window, screen.settled("the first picture", || screen.shot(PLACE, SIZE), seen))
}

/// Waits until the picture is another one, and stays.
fn another_picture(screen: &Screen, before: &Shot, what: &str) -> Shot {
    let another = |shot: &Shot| shot.differing(before) > shot.pixels.len() / 100;
    screen.settled(what, || screen.shot(PLACE, SIZE), another)
}

/// Drags to the right until the picture follows, then waits for the one at rest.
fn drag(screen: &Screen, running: &mut Running, before: &Shot) -> Shot {
    let mut x = 200;
    screen.press((x, 380));
    running.wait("a picture that follows the pointer", || {
        x = if x < 600 { x + 10 } else { 210 };
        screen.point((x, 380));
        (screen.shot(PLACE, SIZE).differing(before) > before.pixels.len() / 100).then_some(())
    });
    screen.release((x, 380));
    another_picture(screen, before, "a picture from elsewhere")
}

fn assert_good(output: &Output) {
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
}

/// Where a picture of the whole screen is written for people who want to see it.
fn save(screen: &Screen) {
    if let Some(path) = std::env::var_os("ZIPPY_SCREENSHOT") {
        let shot = screen.all();
        let text = format!("P6 {} {} 255\n", shot.width, shot.height);
        std::fs::write(path, [text.as_bytes(), shot.pixels.as_flattened()].concat()).unwrap();
    }
}

#[test]
fn a_person_looks_turns_colours_and_closes() {
    let screen = Screen::start(1180, 760);
    let mut command = Command::new(env!("CARGO_BIN_EXE_volume"));
    command.args(["--ranks", "3", "--phantom-size", "36x40x32", "--view"]).env_remove("ZIPPY_RANKS");
    let mut running = start(command, &screen.display);
    let (window, first) = first_picture(&screen, &mut running);
    save(&screen);
    let turned = drag(&screen, &mut running, &first);
    screen.click(PRESET);
    another_picture(&screen, &turned, "a picture in other colours");
    screen.close(window);
    assert_good(&running.ended());
}

#[test]
fn isosurface_by_driver_follows_the_pointer() {
    let screen = Screen::start(1180, 760);
    let mut command = Command::new(env!("CARGO_BIN_EXE_volume"));
    command.args(["--ranks", "2", "--phantom-size", "36x40x32", "--iso", "2500", "--view"]).env_remove("ZIPPY_RANKS");
    let mut running = start(command, &screen.display);
    let (window, first) = first_picture(&screen, &mut running);
    save(&screen);
    // To the left on the distribution: a larger surface.
    screen.click(ISOVALUE);
    let moved = another_picture(&screen, &first, "another surface");
    assert!(moved.unlike([0, 0, 0]) > first.unlike([0, 0, 0]));
    screen.close(window);
    assert_good(&running.ended());
}

#[test]
fn ctrl_c_ends_it_in_good_order() {
    let screen = Screen::start(1180, 760);
    let mut command = Command::new(env!("CARGO_BIN_EXE_volume"));
    command.args(["--ranks", "2", "--phantom-size", "16", "--view"]).env_remove("ZIPPY_RANKS");
    let mut running = start(command, &screen.display);
    first_picture(&screen, &mut running);
    kill("INT", running.id());
    assert_good(&running.ended());
}

#[test]
fn without_a_display_it_says_so() {
    for (display, wanted) in
        [("", "neither DISPLAY nor WAYLAND_DISPLAY is set"), (":12345", "\":12345\" does not answer")]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_volume"));
        command.args(["--ranks", "2", "--phantom-size", "8", "--view"]).env_remove("ZIPPY_RANKS");
        let output = start(command, display).ended();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(wanted) && said.contains("xvfb-run"), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// The same program on processes: one window, which ends all of them; and which ends when one of them is killed.
#[test]
fn under_mpi() {
    if !super::launcher::wanted() {
        return;
    }
    let screen = Screen::start(1180, 760);
    let launch = || {
        let launcher = std::env::var_os("ZIPPY_MPIRUN").unwrap_or_else(|| "mpirun".into());
        let mut command = Command::new(launcher);
        command
            .envs(super::launcher::ENVIRONMENT)
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
    assert_good(&running.ended());

    let mut running = launch();
    first_picture(&screen, &mut running);
    let process = super::launcher::process_of_rank(1, running.id()).expect("a process of the rank");
    kill("KILL", process);
    assert!(!running.ended().status.success());
    wait("the window's end", || screen.window(TITLE).is_none().then_some(()));
}
