//! Recordings with valid checksums and invalid entries: no such recording may crash the viewer.

use proptest::prelude::*;
use zippy_debugger::client::Client;
use zippy_debugger::info::info;
use zippy_debugger::script::shot::Shot;
use zippy_debugger::session::{Replay, Session};
use zippy_protocol::{Answer, ArrayEntry, ArrayRef, Control, Program, Recorded, Request, Rule, When};

use crate::support::{encoded_recording, entries, with_density_in_chunks};
use crate::tour::{answer, look_at};

/// Returns the bytes of the recording with changed bytes and valid checksums.
fn recording_with_changed_bytes(changes: &[(usize, u8)]) -> Vec<u8> {
    let (mut bytes, ends) = encoded_recording(&entries());
    for &(at, byte) in changes {
        let at = 10 + at % (bytes.len() - 10);
        bytes[at] = byte;
    }
    let mut start = 10;
    for end in ends {
        let length = (end - start - 8) as u32;
        bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[start + 8..end]);
        bytes[start + 4..start + 8].copy_from_slice(&checksum.to_le_bytes());
        start = end;
    }
    bytes
}

/// Returns the bytes of the recording with changed numbers in lists of arrays and in views.
fn recording_with_changed_numbers(changes: &[(u8, i64)]) -> Vec<u8> {
    let mut entries = if changes[0].1 % 2 == 0 { entries() } else { with_density_in_chunks(entries()) };
    for (turn, &(field, value)) in changes.iter().enumerate() {
        let axis = turn % 3;
        for entry in &mut entries {
            let arrays = match entry {
                Recorded::View(view) => {
                    let of = &mut view.of;
                    let list = match field {
                        0 => &mut of.start,
                        1 => &mut of.end,
                        2 => &mut of.stride,
                        _ => continue,
                    };
                    list.get_mut(axis).into_iter().for_each(|number| *number = value);
                    continue;
                }
                Recorded::Arrays(arrays) => arrays,
                _ => continue,
            };
            for array in arrays {
                let numbers = array.element.numbers.last_mut();
                match field {
                    3 => array.shape.get_mut(axis).into_iter().for_each(|extent| *extent = value),
                    4 => array.shape.truncate(axis),
                    5 => array.chunks.iter_mut().for_each(|chunk| chunk.start[0] = value),
                    6 => array.chunks.iter_mut().for_each(|chunk| chunk.end.iter_mut().for_each(|end| *end = value)),
                    7 => array.chunks.iter_mut().for_each(|chunk| chunk.end.truncate(axis)),
                    8 => array.ghosts[turn % 2] = vec![value],
                    9 => array.periodic = vec![true; axis],
                    10 => array.element.bytes = value as u32,
                    11 => numbers.into_iter().for_each(|numbers| numbers.offset = value as u32),
                    12 => numbers.into_iter().for_each(|numbers| numbers.components = value as u8),
                    13 => array.element.numbers.truncate(axis),
                    14 => array.name = "\u{1b}[2J\"".repeat(axis),
                    _ => {}
                }
            }
        }
    }
    encoded_recording(&entries).0
}

fn numbers() -> impl Strategy<Value = i64> {
    let edges =
        [i64::MIN, i64::MIN + 1, -(1 << 60), -1, 0, 1, 2, 3, 255, 1 << 31, 1 << 40, 1 << 60, i64::MAX - 1, i64::MAX];
    prop_oneof![prop::sample::select(edges.to_vec()), -9..9_i64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn changed_recordings_do_not_crash_the_viewer(bytes in prop_oneof![
        prop::collection::vec((any::<usize>(), any::<u8>()), 1..12).prop_map(|changes| recording_with_changed_bytes(&changes)),
        prop::collection::vec((0..15_u8, numbers()), 1..5).prop_map(|changes| recording_with_changed_numbers(&changes)),
    ]) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("changed.zrec");
        std::fs::write(&path, bytes).unwrap();
        let mut replay = Replay::open(&path).unwrap();
        let _ = info(&path).unwrap();
        let condition = When::Condition("nan(density) > 9 or max(flow.velocity.x) > 1e9 or density != copy and sum(flow.count) > 0".into());
        answer(&mut replay, Request::Rules(vec![Rule { name: None, when: condition }]));
        let steps = replay.steps().to_vec();
        for step in steps {
            replay.go_to(step);
            let Some(Answer::Arrays(arrays)) = answer(&mut replay, Request::Arrays) else { continue };
            for entry in &arrays {
                look_at(&mut replay, entry);
                answer(&mut replay, Request::Compare(entry.array, ArrayRef { rank: None, number: 2 }));
            }
            let patience = std::time::Duration::from_secs(60);
            let Ok(mut client) = Client::new(Box::new(Replay::open(&path).unwrap()), patience) else { continue };
            for (entry, ending) in arrays.iter().zip(["csv", "npy", "png", "png"]).skip(step as usize % 3) {
                let output = directory.path().join(format!("shot.{ending}"));
                let (array, step) = (entry.name.clone(), Some(step));
                let _ = Shot { array, step, output, ..Shot::default() }.take(&mut client);
            }
        }
        replay.go_to(1);
        answer(&mut replay, Request::Control(Control::Continue));
    }
}

/// Elements of no bytes, invalid boxes, views without cells: the recording is valid up to the
/// invalid entry.
#[test]
fn invalid_entry_ends_the_valid_part_of_a_recording() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nonsense.zrec");
    type Change = fn(&mut Vec<Recorded>);
    let arrays = |change: fn(&mut ArrayEntry)| {
        move |entries: &mut Vec<Recorded>| {
            let Some(Recorded::Arrays(all)) = entries.iter_mut().find(|entry| matches!(entry, Recorded::Arrays(_)))
            else {
                unreachable!()
            };
            change(&mut all[0]);
        }
    };
    let check = |change: &dyn Fn(&mut Vec<Recorded>), wanted: &str| {
        let mut changed = entries();
        change(&mut changed);
        std::fs::write(&path, encoded_recording(&changed).0).unwrap();
        let mut replay = Replay::open(&path).unwrap();
        let notice = replay.notice().unwrap_or_default();
        assert!(notice.contains(wanted), "{notice}, not {wanted}");
        assert!(!notice.contains('\u{202e}') && notice.chars().count() < 1000, "{notice}");
        for step in replay.steps().to_vec() {
            replay.go_to(step);
            if let Some(Answer::Arrays(all)) = answer(&mut replay, Request::Arrays) {
                all.iter().for_each(|entry| look_at(&mut replay, entry));
            }
        }
    };
    check(&arrays(|entry| entry.element.bytes = 0), "cells of \"f32\" have no bytes");
    check(&arrays(|entry| entry.element.numbers[0].offset = 2), "does not lie in its cell");
    check(&arrays(|entry| entry.element.numbers[0].components = 0), "does not lie in its cell");
    check(&arrays(|entry| entry.shape[1] = -4), "it has the shape [5, -4, 3]");
    check(&arrays(|entry| entry.shape = vec![1 << 40; 3]), "it has the shape");
    check(&arrays(|entry| entry.name = "\u{202e}\u{1b}[2J".into()), "");
    check(
        &arrays(|entry| (entry.name, entry.shape[0]) = ("\u{202e}\u{1b}[2J".repeat(100), -1)),
        "array \"\\u{202e}\\u{1b}[2J",
    );
    check(&arrays(|entry| entry.shape.clear()), "it has the shape []");
    check(&arrays(|entry| entry.ghosts[1] = vec![1]), "its ghost widths are none");
    check(&arrays(|entry| entry.periodic.truncate(2)), "not of as many");
    check(&arrays(|entry| entry.chunks.truncate(1)), "1 chunks of 2 are listed");
    check(&arrays(|entry| entry.chunks[1].start[2] = 9), "chunk 1 is no box of it");
    let view: Change = |entries| {
        if let Some(Recorded::View(view)) = entries.iter_mut().find(|entry| matches!(entry, Recorded::View(_))) {
            view.cells.clear();
        }
    };
    check(&view, "a view of 60 cells has 0 bytes");
    let stride: Change = |entries| {
        if let Some(Recorded::View(view)) = entries.iter_mut().find(|entry| matches!(entry, Recorded::View(_))) {
            view.of.stride[0] = 0;
        }
    };
    check(&stride, "a view is of no box");
    check(&|entries| entries[0] = Recorded::Program(Program { ranks: 0, ..program() }), "a program has no ranks");
}

fn program() -> Program {
    Program { name: "lbm".into(), ranks: 2, checked: true, adapters: Vec::new() }
}
