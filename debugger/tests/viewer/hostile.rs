//! Recordings whose checksums are right and whose entries are not: nothing of them may end the viewer.

use proptest::prelude::*;
use zippy::debug::protocol::{
    Answer, ArrayEntry, ArrayRef, Control, Message, Recorded, Request, Rule, SummaryRequest, ViewRequest, When,
};
use zippy_debugger::client::Client;
use zippy_debugger::info::info;
use zippy_debugger::look::{
    ColourMap, Colouring, Differences, Mosaic, Norm, Quantity, Range, Scale, Slice, Values, Viewport, box_in_plane,
    cell, paint, place,
};
use zippy_debugger::session::{Replay, Session};
use zippy_debugger::shot::Shot;

use crate::support::{entries, in_chunks, written};

/// The bytes of the recording with other bytes here and there, and checksums that fit.
fn forged(changes: &[(usize, u8)]) -> Vec<u8> {
    let (mut bytes, ends) = written(&entries());
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

/// The bytes of the recording with other numbers where lists of arrays and views have theirs.
fn twisted(changes: &[(u8, i64)]) -> Vec<u8> {
    let mut entries = if changes[0].1 % 2 == 0 { entries() } else { in_chunks(entries()) };
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
    written(&entries).0
}

fn numbers() -> impl Strategy<Value = i64> {
    let edges =
        [i64::MIN, i64::MIN + 1, -(1 << 60), -1, 0, 1, 2, 3, 255, 1 << 31, 1 << 40, 1 << 60, i64::MAX - 1, i64::MAX];
    prop_oneof![prop::sample::select(edges.to_vec()), -9..9_i64]
}

fn answer(replay: &mut Replay, request: Request) -> Option<Answer> {
    replay.poll();
    replay.ask(request);
    replay.poll().into_iter().find_map(|message| match message {
        Message::Answer(_, answer) => answer.ok(),
        _ => None,
    })
}

/// All that a viewer makes of an array.
fn look_at(replay: &mut Replay, entry: &ArrayEntry) {
    let slice = Slice::new(&entry.shape);
    let port = Viewport::fit([0.0; 2], [64.0; 2], slice.extents(&entry.shape));
    let index = slice.index([1, 1]);
    let _ = (place(entry, None, &index), place(entry, Some(1), &index), slice.position(&index), slice.within(&[3, 4]));
    for chunk in &entry.chunks {
        let _ = box_in_plane(&slice, chunk, [&entry.ghosts[0], &entry.ghosts[1]]);
    }
    let summary = |numbers, length| {
        let percentiles = vec![1.0, 99.0];
        SummaryRequest { length, bins: 8, percentiles, ..SummaryRequest::of(entry.array, numbers) }
    };
    for (name, quantity) in Quantity::all(&entry.element).into_iter().take(8) {
        assert_eq!(Quantity::named(&entry.element, Some(&name)).map(|found| found.name(&entry.element)), Ok(name));
        for length in [false, true] {
            answer(replay, Request::Summary(summary(quantity.numbers, length)));
        }
        let Some(numbers) = quantity.of(&entry.element) else { continue };
        let bytes = (Some(quantity.numbers), numbers.bytes());
        let Some(request) = port.request(&slice, entry.array, &entry.shape, 1.0, bytes) else { continue };
        let mut requests = vec![request.clone(), ViewRequest { numbers: None, ..request }];
        let axis = slice.fixed().next().unwrap_or(0);
        requests
            .extend(Mosaic::new(&slice, axis, &entry.shape, 4, 1.0).map(|mosaic| mosaic.request(entry.array, 1, None)));
        for request in requests {
            let Some(Answer::View(view)) = answer(replay, Request::View(request)) else { continue };
            cell(&view, &entry.element, &view.of.start);
            let Ok(values) = Values::new(&view, &entry.element, quantity) else { continue };
            let ends = Range::Percentile(1.0, 99.0).of(&values.numbers, Norm::Linear).unwrap_or((0.0, 1.0));
            let scale = Scale::new(Norm::Linear, ends).unwrap();
            let _ = paint(&values, &slice, &Colouring { map: ColourMap::first(), scale });
            let found = Differences::new((&view, &entry.element), (&view, &entry.element), quantity).unwrap();
            assert_eq!((found.cells, found.nans), (0, 0));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn forged_recordings_are_looked_at(bytes in prop_oneof![
        prop::collection::vec((any::<usize>(), any::<u8>()), 1..12).prop_map(|changes| forged(&changes)),
        prop::collection::vec((0..15_u8, numbers()), 1..5).prop_map(|changes| twisted(&changes)),
    ]) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("forged.zrec");
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
