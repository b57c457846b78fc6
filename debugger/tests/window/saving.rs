//! Saving of the visible cells to files.

use std::path::Path;

use egui_kittest::kittest::Queryable;
use zippy_protocol::{Answer, Request, View};

use super::*;

/// Saves to a file and waits for the message.
fn save(harness: &mut Window, path: &Path) {
    retype(harness, "file to save", path.to_str().unwrap());
    click(harness, "Save");
    wait_for(harness, "written to");
}

/// Returns the numbers of a file and checks its shape.
fn read_numbers(path: &Path, shape: &str) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
    assert!(header.contains("'<f4'") && header.contains(&format!("'shape': {shape}")), "{header}");
    bytes[128..].chunks_exact(4).map(|cell| f32::from_le_bytes(cell.try_into().unwrap())).collect()
}

/// x + 64 y + 4096 z in step 5, of a box with x fastest.
fn expected_numbers(zs: std::ops::Range<i64>) -> Vec<f32> {
    let cell = |x: i64, y: i64, z: i64| fake::coded_value(&[x, y, z], 5) as f32;
    zs.flat_map(|z| (0..10).flat_map(move |y| (0..12).map(move |x| cell(x, y, z)))).collect()
}

#[test]
fn slices_lines_and_boxes_become_files_of_exact_numbers() {
    let fake = program();
    let mut harness = window(&fake);
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    click(&mut harness, "Save as");
    assert!(harness.get_by_label("file to save").value().is_some_and(|name| name == "density-z4-step5.npy"));
    save(&mut harness, &path("slice.npy"));
    assert_eq!(read_numbers(&path("slice.npy"), "(10, 12,)"), expected_numbers(4..5));

    // Existing files are replaced only after a confirmation.
    std::fs::write(path("other.csv"), "mine").unwrap();
    retype(&mut harness, "file to save", path("other.csv").to_str().unwrap());
    click(&mut harness, "Save");
    assert!(shows(&harness, "there is such a file"));
    click(&mut harness, "Keep it");
    assert_eq!(std::fs::read(path("other.csv")).unwrap(), b"mine");
    click(&mut harness, "Save");
    click(&mut harness, "Replace it");
    wait_for(&mut harness, "other.csv: ");
    let text = std::fs::read_to_string(path("other.csv")).unwrap();
    assert!(text.starts_with("x,y,z,value\n0,0,4,1327104.0\n1,0,4,1327105.0\n"), "{text}");

    click(&mut harness, "three planes");
    save(&mut harness, &path("box.npy"));
    wait_for(&mut harness, "box.npy: ");
    assert_eq!(read_numbers(&path("box.npy"), "(8, 10, 12,)"), expected_numbers(0..8));
    click(&mut harness, "line");
    save(&mut harness, &path("line.npy"));
    wait_for(&mut harness, "line.npy: ");
    assert_eq!(read_numbers(&path("line.npy"), "(12,)"), expected_numbers(4..5)[60..72]);

    retype(&mut harness, "file to save", path("none/of/these.npy").to_str().unwrap());
    click(&mut harness, "Save");
    wait_for(&mut harness, "none/of");
    retype(&mut harness, "file to save", "plain.txt");
    click(&mut harness, "Save");
    assert!(shows(&harness, "ends in none of .png, .npy and .csv"));
}

#[test]
fn cancelled_or_outdated_saves_write_nothing() {
    let fake = program();
    let mut harness = window(&fake);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("slice.npy");
    click(&mut harness, "Save as");
    fake.state.borrow_mut().silent = true;
    retype(&mut harness, "file to save", path.to_str().unwrap());
    click(&mut harness, "Save");
    assert!(shows(&harness, "saving"));
    click(&mut harness, "Cancel");
    wait_for(&mut harness, "cancelled before it was done");
    fake.state.borrow_mut().silent = false;
    // Its cells come from the next debug point, before the window receives that point.
    fake.state.borrow_mut().override_answer = |request| match request {
        Request::View(of) if of.numbers.is_none() => {
            let cells = vec![0; of.bytes(4).unwrap()];
            Some(Ok(Answer::View(View { of: of.clone(), step: 7, cells })))
        }
        _ => None,
    };
    fake.arrive(6, "after collide");
    settle(&mut harness);
    retype(&mut harness, "file to save", path.to_str().unwrap());
    click(&mut harness, "Save");
    wait_for(&mut harness, "the program went on from debug point 6 to 7");
    assert!(!path.exists());
}

#[test]
fn a_slice_and_a_mosaic_become_pictures() {
    let fake = Fake::new(vec![array(0, "ramp", &[4, 3, 2], 1)]);
    fake.state.borrow_mut().value = |at, _| if at == [0, 0, 0] { f64::NAN } else { at[0] as f64 + 4.0 * at[2] as f64 };
    let mut harness = window(&fake);
    let directory = tempfile::tempdir().unwrap();
    harness.get_by_label("index along z").set_value_accesskit(0.0);
    settle(&mut harness);
    click(&mut harness, "Save as");
    // Position of the NaN's cell, and of a cell at the end of x and z.
    for (mode, [width, height], nan, end) in [("slice", [512, 384], 380, 3), ("mosaic", [292, 511], 216, 508)] {
        click(&mut harness, mode);
        let path = directory.path().join(mode).with_extension("png");
        save(&mut harness, &path);
        wait_for(&mut harness, &format!("{mode}.png: "));
        let (size, pixels) = picture(&path);
        assert_eq!(size, [width, height], "{mode}");
        let at = |x: u32, y: u32| <[u8; 4]>::try_from(&pixels[((y * width + x) * 4) as usize..][..4]).unwrap();
        assert_eq!(at(2, nan), [255, 0, 255, 255], "{mode}");
        assert_eq!(at(width * 2 / 5, 2), at(width * 2 / 5, nan), "{mode}: the same along y");
        // The upper end of the colours is in the second slice only.
        let last = zippy_debugger::imaging::ColourMap::first().at(1.0);
        assert_eq!(at(width - 2, end)[..3] == last, mode == "mosaic", "{mode}");
    }
}

#[test]
fn pictures_of_lines_and_lengths_have_colours_of_their_values() {
    let fake = Fake::new(vec![array(0, "line", &[8], 1), array(1, "even", &[4, 4], 2)]);
    // A length of √3.25 is less as an `f32`.
    fake.state.borrow_mut().value = |at, _| if at.len() == 1 { at[0] as f64 } else { 1.0 };
    let mut harness = window(&fake);
    let directory = tempfile::tempdir().unwrap();
    click(&mut harness, "Save as");
    let map = zippy_debugger::imaging::ColourMap::first();
    for (name, wanted) in [("line", [map.at(0.0), map.at(1.0)]), ("even", [map.at(0.5); 2])] {
        click(&mut harness, &format!("look at {name}"));
        let path = directory.path().join(name).with_extension("png");
        save(&mut harness, &path);
        wait_for(&mut harness, &format!("{name}.png: "));
        let (_, pixels) = picture(&path);
        let ends = [&pixels[..3], &pixels[pixels.len() - 4..pixels.len() - 1]];
        let near = |found: u8, wanted: u8| found.abs_diff(wanted) < 4;
        let close = ends.iter().zip(&wanted).all(|(found, wanted)| found.iter().zip(wanted).all(|(a, b)| near(*a, *b)));
        assert!(close, "{name}: {ends:?} and {wanted:?}");
    }
}

/// Returns the width, height and pixels of a picture.
pub(crate) fn picture(path: &Path) -> ([u32; 2], Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    ([info.width, info.height], pixels)
}
