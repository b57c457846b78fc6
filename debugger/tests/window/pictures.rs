//! Pictures of the panels with a running program of two ranks, a three-dimensional array, and ghost
//! cells without an update.
//!
//! Pictures are compared with the files next to this file, with a tolerance for differences between
//! drivers. With `UPDATE_SNAPSHOTS=1` in the environment, the test writes the files.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use egui_kittest::kittest::Queryable;
use zippy::debug::Settings;
use zippy::{Config, Layout, Split, World, debug};
use zippy_debugger::session::Live;
use zippy_view::egui::Rect;

use super::*;

/// A part of the window: width, height, and red, green, blue and alpha of each pixel.
struct WindowPart {
    size: [u32; 2],
    pixels: Vec<u8>,
}

impl WindowPart {
    fn of(harness: &mut Window, place: Rect) -> Self {
        let image = harness.render().unwrap();
        let (width, whole) = (image.width() as usize, image.as_raw());
        let [left, upper, right, lower] =
            [place.left().ceil(), place.top().ceil(), place.right().floor(), place.bottom().floor()]
                .map(|at| at as usize);
        let rows = (upper..lower).flat_map(|row| &whole[4 * (row * width + left)..4 * (row * width + right)]);
        Self { size: [(right - left) as u32, (lower - upper) as u32], pixels: rows.copied().collect() }
    }

    /// Returns the number of different pixels per thousand.
    fn differing_per_thousand(&self, other: &Self) -> usize {
        if self.size != other.size {
            return 1000;
        }
        let pairs = self.pixels.chunks_exact(4).zip(other.pixels.chunks_exact(4));
        let unlike = pairs.filter(|(one, other)| one.iter().zip(*other).any(|(a, b)| a.abs_diff(*b) > 32)).count();
        unlike * 1000 / (self.pixels.len() / 4).max(1)
    }

    /// Returns the number of pixels with about this colour.
    fn count_pixels_like(&self, colour: [u8; 3]) -> usize {
        let near = |pixel: &&[u8]| pixel.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 24);
        self.pixels.chunks_exact(4).filter(near).count()
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/window/pictures").join(name).with_extension("png")
}

fn write(path: &Path, part: &WindowPart) {
    let mut encoder = png::Encoder::new(std::fs::File::create(path).unwrap(), part.size[0], part.size[1]);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_compression(png::Compression::High);
    encoder.write_header().unwrap().write_image_data(&part.pixels).unwrap();
}

/// Updates ghost cells, then writes one side again without an update.
fn leave_stale_ghosts(world: &World) -> zippy::Result<()> {
    let layout = Layout::new([24, 20, 16]).split([Split::Even(2), Split::Whole, Split::Whole]).ghost([2, 2, 2]);
    let heat = world.array::<f32, 3>("heat", &layout)?;
    let ball = |[x, y, z]: [i64; 3]| {
        let from = [x - 15, y - 10, z - 8].map(|by| (by * by) as f32);
        (-from.iter().sum::<f32>() / 30.0).exp()
    };
    heat.fill_with(ball)?;
    world.ghosts(&heat)?;
    for chunk in heat.chunks() {
        if chunk.region().start[0] > 0 {
            chunk.all().fill_with(ball)?;
        }
    }
    let line = world.array::<f32, 1>("profile", &Layout::new([40]).split([Split::Even(2)]))?;
    line.fill_with(|[x]| (x as f32 * 0.3).sin())?;
    world.debug_point("forgotten")
}

#[test]
fn panels_match_reference_pictures() {
    let (sender, receiver) = channel();
    let program = std::thread::spawn(move || {
        zippy::run_with(Config::apart(2).check(true), move |world| {
            if let Some(access) = debug::attach(world, &Settings::listen(0).paused())? {
                sender.send(access).unwrap();
            }
            leave_stale_ghosts(world)
        })
    });
    let access = receiver.recv().unwrap();
    let session = Box::new(Live::connect(&format!("127.0.0.1:{}", access.port), &access.token));
    let builder = Harness::builder().with_size([1200.0, 800.0]).with_step_dt(0.05).with_max_steps(20).wgpu();
    let mut harness: Window = builder.build_ui_state(|ui, app: &mut App| app.show(ui), App::new(session));
    let mut seen: Vec<(&str, WindowPart)> = Vec::new();
    wait_for(&mut harness, "look at heat");
    run_until_idle(&mut harness);
    let all = harness.get_by_label("slice of heat").rect();
    seen.push(("slice", WindowPart::of(&mut harness, all)));

    harness.get_by_label("ghost cells that are not fresh").scroll_to_me();
    settle(&mut harness);
    click(&mut harness, "ghost cells that are not fresh");
    click(&mut harness, "one chunk with its ghost cells");
    run_until_idle(&mut harness);
    let of_chunk = harness.get_by_label("slice of heat").rect();
    seen.push(("stale", WindowPart::of(&mut harness, of_chunk)));
    click(&mut harness, "one chunk with its ghost cells");
    click(&mut harness, "ghost cells that are not fresh");

    for (mode, name) in [("three planes", "planes"), ("numbers", "numbers")] {
        click(&mut harness, mode);
        run_until_idle(&mut harness);
        seen.push((name, WindowPart::of(&mut harness, all)));
    }
    click(&mut harness, "volume");
    wait_for(&mut harness, "a picture of heat along x, y, z");
    let volume = harness.get_by_label("a picture of heat along x, y, z").rect();
    seen.push(("volume", WindowPart::of(&mut harness, volume)));
    click(&mut harness, "look at profile");
    run_until_idle(&mut harness);
    seen.push(("line", WindowPart::of(&mut harness, all)));
    // The columns further to the right have call sites in this file, which change.
    let list = harness.get_by_label("look at heat").rect().left_top();
    let list = Rect::from_min_size(list - vec2(8.0, 32.0), vec2(300.0, 80.0));
    seen.push(("arrays", WindowPart::of(&mut harness, list)));
    click(&mut harness, "Continue");
    program.join().unwrap().unwrap();

    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        seen.iter().for_each(|(name, part)| write(&file(name), part));
    }
    let [stale, slice] = [1, 0].map(|place: usize| seen[place].1.count_pixels_like([255, 150, 30]));
    assert!(slice == 0 && stale > 200, "stale ghost cells are drawn: {stale} pixels, {slice} without");
    for (place, (name, part)) in seen.iter().enumerate() {
        let (size, pixels) = saving::picture(&file(name));
        let known = WindowPart { size, pixels };
        let differing_per_thousand = part.differing_per_thousand(&known);
        let now = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("png");
        if differing_per_thousand >= 10 {
            write(&now, part);
        }
        assert!(
            differing_per_thousand < 10,
            "{name}: {differing_per_thousand} of 1000 pixels are not as they were, see {}",
            now.display()
        );
        let other = &seen[(place + 1) % seen.len()].1;
        assert!(other.differing_per_thousand(&known) >= 10, "{name} would be taken for another panel");
    }
}

/// Runs frames until all answers have arrived.
fn run_until_idle(harness: &mut Window) {
    let mut quiet = 0;
    for _ in 0..1000 {
        harness.run();
        // Requests of a frame are sent after the frame.
        quiet = if shows(harness, "loading …") { 0 } else { quiet + 1 };
        if quiet == 8 {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("what is asked for does not come");
}
