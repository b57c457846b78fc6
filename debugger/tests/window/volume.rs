//! Rendering of three axes as a volume.

use egui_kittest::kittest::Queryable;
use zippy_protocol::ArrayRef;

use super::*;

/// A bright block of cells near the end of x, a NaN below it, and zeros elsewhere.
fn bright_block(at: &[i64], _: u64) -> f64 {
    match at {
        [0..6, _, 0] => f64::NAN,
        [10..14, 6..10, 6..10] => 1.0,
        _ => 0.0,
    }
}

/// Saves the picture. Returns the number of bright pixels, their centre, and the number of magenta
/// or white pixels.
fn saved_bright_pixels(harness: &mut Window, path: &std::path::Path) -> (usize, [f64; 2], usize) {
    retype(harness, "file to save", path.to_str().unwrap());
    click(harness, "Save");
    wait_for(harness, &format!("{}: ", path.file_name().unwrap().to_str().unwrap()));
    let ([width, _], pixels) = saving::picture(path);
    let (mut count, mut sum, mut odd) = (0, [0.0; 2], 0);
    for (number, pixel) in pixels.chunks_exact(4).enumerate() {
        // The upper end of viridis is yellow.
        if pixel[0] > 150 && pixel[1] > 150 && pixel[2] < 100 {
            count += 1;
            sum[0] += f64::from(number as u32 % width);
            sum[1] += f64::from(number as u32 / width);
        }
        odd += usize::from(pixel[2] > 200);
    }
    (count, sum.map(|sum| sum / f64::from(width) / count.max(1) as f64), odd)
}

#[test]
fn volume_follows_camera_and_settings() {
    let fake = Fake::new(vec![array(0, "blob", &[16, 16, 16], 1)]);
    fake.state.borrow_mut().value = bright_block;
    // A small picture is rendered sooner.
    let mut harness = window_of(&fake, [900.0, 600.0]);
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let _ = fake.take_requests();
    click(&mut harness, "volume");
    let asked = last_view(fake.take_requests());
    assert_eq!((asked.start, asked.end, asked.stride), (vec![0; 3], vec![16; 3], vec![1; 3]));
    click(&mut harness, "Save as");
    wait_for(&mut harness, "a picture of blob along x, y, z");
    let (first, middle, odd) = saved_bright_pixels(&mut harness, &path("first.png"));
    // 4³ of 16³ cells: seen from a corner, a few hundredths of the picture. NaNs are invisible.
    let all = {
        let ([width, height], _) = saving::picture(&path("first.png"));
        (width * height) as usize
    };
    assert!((all / 400..all / 20).contains(&first) && odd == 0, "{first} of {all}, {odd}");

    let picture = harness.get_by_label_contains("a picture of blob").rect();
    harness.drag_at(picture.center());
    harness.step();
    harness.hover_at(picture.center() + zippy_view::egui::vec2(picture.height(), 0.0));
    harness.step();
    harness.drop_at(picture.center() + zippy_view::egui::vec2(picture.height(), 0.0));
    wait_for(&mut harness, "a picture of blob along");
    let (turned, to, _) = saved_bright_pixels(&mut harness, &path("turned.png"));
    assert!((first / 2..first * 2).contains(&turned), "{first} and {turned}");
    assert!(middle[0] > 0.55 && (to[0] + middle[0] - 1.0).abs() < 0.05, "half a turn: {middle:?} to {to:?}");

    // With opaque low values, the block is a hole.
    choose(&mut harness, "opaque", "low values");
    wait_for(&mut harness, "a picture of blob along");
    assert_eq!(saved_bright_pixels(&mut harness, &path("low.png")).0, 0);
    // Numbers are those of the array.
    let file = path("box.npy");
    retype(&mut harness, "file to save", file.to_str().unwrap());
    click(&mut harness, "Save");
    wait_for(&mut harness, "box.npy: ");
    let bytes = std::fs::read(file).unwrap();
    let cell = |x: usize, y: usize, z: usize| &bytes[128 + 4 * (x + 16 * y + 256 * z)..][..4];
    assert_eq!(
        (bytes.len(), cell(13, 9, 9), cell(14, 9, 9)),
        (128 + 4 * 4096, &1.0_f32.to_le_bytes()[..], &[0; 4][..])
    );
}

#[test]
fn changed_axes_request_another_box() {
    let mut four = array(0, "four", &[6, 5, 4, 3], 1);
    four.array = ArrayRef { rank: None, number: 0 };
    let fake = Fake::new(vec![four]);
    let mut harness = window(&fake);
    click(&mut harness, "volume");
    let _ = fake.take_requests();
    choose(&mut harness, "deep", "w");
    let asked = last_view(fake.take_requests());
    assert_eq!((asked.start, asked.end), (vec![0, 0, 2, 0], vec![6, 5, 3, 3]));
    harness.get_by_label("index along z").set_value_accesskit(3.0);
    settle(&mut harness);
    assert_eq!(last_view(fake.take_requests()).start, [0, 0, 3, 0]);
}
