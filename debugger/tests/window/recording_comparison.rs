//! Comparison of a program with a recording.

use std::path::Path;

use egui_kittest::kittest::Queryable;
use zippy_protocol::recording::Writer;
use zippy_protocol::{Answer, Point, Recorded, Request};
use zippy_view::egui::accesskit::Role;

use super::*;

/// Records the whole arrays of the program in these steps. The last step has one different value.
pub(crate) fn record(fake: &Fake, steps: &[u64], path: &Path) {
    record_every(1, fake, steps, path);
}

/// Records every `stride`-th cell along each axis.
fn record_every(stride: i64, fake: &Fake, steps: &[u64], path: &Path) {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes).unwrap();
    let mut add = |entry: Recorded| writer.add(&entry).unwrap();
    let arrays = fake.state.borrow().arrays.clone();
    add(Recorded::Program(fake.program.clone()));
    for &step in steps {
        add(Recorded::Point(Point { step, ..fake.state.borrow().point.clone() }));
        add(Recorded::Arrays(arrays.clone()));
        for array in &arrays {
            let all = ViewRequest {
                array: array.array,
                chunk: None,
                start: vec![0; array.shape.len()],
                end: array.shape.clone(),
                stride: vec![stride; array.shape.len()],
                numbers: None,
            };
            let mut view = fake.view_at(&all, step);
            if stride == 1 && Some(&step) == steps.last() && array.name == "density" {
                // Cell (3, 2, 6), with 12 × 10 cells in a plane.
                let offset = 4 * (3 + 12 * 2 + 120 * 6);
                view.cells[offset..offset + 4].copy_from_slice(&0.5_f32.to_le_bytes());
            }
            add(Recorded::View(view));
        }
    }
    add(Recorded::End("it has returned".into()));
    std::fs::write(path, bytes).unwrap();
}

fn open(harness: &mut Window, path: &str) {
    retype(harness, "recording to compare with", path);
    click(harness, "Open");
}

#[test]
fn comparison_follows_debug_points_of_the_program() {
    let fake = program();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.zrec");
    record(&fake, &[5, 6], &path);
    let mut harness = window(&fake);
    click(&mut harness, "Compare");
    choose(&mut harness, "compare with", "a recording");
    open(&mut harness, path.to_str().unwrap());
    wait_for(&mut harness, "all cells are the same bits");
    assert!(shows(&harness, "0 cells differ of those seen"));

    fake.arrive(6, "after collide");
    settle(&mut harness);
    wait_for(&mut harness, "1 cells differ in all, the first at (3, 2, 6)");
    let _ = fake.take_requests();
    click(&mut harness, "Go to the first");
    assert_eq!(last_view(fake.take_requests()).start[2], 6);
    // 3 + 64 × 2 + 4096 × 6 + 6 × 2¹⁸, minus a half.
    wait_for(&mut harness, "1 cells differ of those seen");
    assert!(shows(&harness, "largest: 1.5976e6"));

    fake.arrive(7, "after collide");
    settle(&mut harness);
    assert!(shows(&harness, "the recording has no debug point 7; it has 2 from 5 to 6"));
    click(&mut harness, "same debug point");
    harness.get_by_role_and_label(Role::Slider, "debug point of the recording").set_value_accesskit(0.0);
    settle(&mut harness);
    wait_for(&mut harness, "debug point 7 less debug point 5 of the recording");
    wait_for(&mut harness, "960 cells differ in all, the first at (0, 0, 0)");
    assert!(shows(&harness, "120 cells differ of those seen"));
    // Cells of an earlier step are not compared.
    fake.state.borrow_mut().silent = true;
    fake.arrive(8, "after collide");
    settle(&mut harness);
    assert!(shows(&harness, "debug point 8 less debug point 5") && !shows(&harness, "cells differ of those seen"));
}

#[test]
fn coarse_recording_is_compared_at_its_cells() {
    let fake = program();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.zrec");
    record_every(3, &fake, &[5, 6], &path);
    let mut harness = window(&fake);
    click(&mut harness, "Compare");
    choose(&mut harness, "compare with", "a recording");
    open(&mut harness, path.to_str().unwrap());
    // 4 × 4 × 3 of 12 × 10 × 8 cells.
    wait_for(&mut harness, "48 cells were recorded, one of every 3 × 3 × 3: all of these are the same bits");
    fake.state.borrow_mut().value = |at, step| fake::coded_value(at, step) + f64::from(u8::from(at == [3, 6, 0]));
    fake.arrive(6, "after collide");
    settle(&mut harness);
    wait_for(&mut harness, "one of every 3 × 3 × 3: 1 of these differ, the first at (3, 6, 0)");
}

#[test]
fn impossible_comparisons_are_reported() {
    let fake = program();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.zrec");
    let mut other = program();
    other.state.borrow_mut().arrays = vec![array(0, "density", &[12, 10, 7], 1)];
    other.program.name = "other".into();
    record_plain(&other, &path);
    let mut harness = window(&fake);
    click(&mut harness, "Compare");
    choose(&mut harness, "compare with", "a recording");
    open(&mut harness, "/no/such/run.zrec");
    assert!(shows(&harness, "/no/such/run.zrec"));
    open(&mut harness, path.to_str().unwrap());
    assert!(shows(&harness, "density is 12 × 10 × 8 f32 and in the recording 12 × 10 × 7 f32"));
    click(&mut harness, "look at velocity");
    assert!(shows(&harness, "the recording has no array velocity here"));
}

/// One debug point without cells.
fn record_plain(fake: &Fake, path: &Path) {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes).unwrap();
    let inside = fake.state.borrow();
    for entry in [
        Recorded::Program(fake.program.clone()),
        Recorded::Point(inside.point.clone()),
        Recorded::Arrays(inside.arrays.clone()),
    ] {
        writer.add(&entry).unwrap();
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn values_that_are_not_finite_are_marked_in_the_history() {
    let fake = program();
    fake.state.borrow_mut().value = |_, step| if step == 6 { f64::NAN } else { step as f64 };
    let mut harness = window(&fake);
    let middle = harness.get_by_label("slice of density").rect().center();
    press(&mut harness, PointerButton::Primary, middle);
    click(&mut harness, "History");
    for step in [6, 7] {
        fake.arrive(step, "after collide");
        settle(&mut harness);
    }
    assert!(shows(&harness, "is NaN in step 6"));
}

#[test]
fn missing_slice_is_replaced_with_a_note() {
    let fake = program();
    fake.state.borrow_mut().override_answer = |request| match request {
        Request::View(of) if of.start[2] == 5 && of.end[0] > 2 => {
            let mut of = of.clone();
            (of.start[2], of.end[2]) = (4, 5);
            (of.stride[0], of.stride[1]) = (4, 4);
            let count = of.extents().unwrap().iter().product::<i64>() as usize;
            Some(Ok(Answer::View(zippy_protocol::View { of, step: 5, cells: vec![0; 4 * count] })))
        }
        _ => None,
    };
    let mut harness = window(&fake);
    assert!(!shows(&harness, "recorded"));
    harness.get_by_label("index along z").set_value_accesskit(5.0);
    settle(&mut harness);
    assert!(shows(
        &harness,
        "only every so-manyth cell was recorded: x 4, y 4; shown is z = 4 in place of 5, which was recorded"
    ));
}
