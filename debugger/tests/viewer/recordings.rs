//! Recordings: truncated, damaged, growing, and requests to them.

use std::fs::OpenOptions;
use std::io::Write;

use zippy_debugger::session::{Replay, Session};
use zippy_protocol::{Answer, Control, Message, Recorded, Request, Rule, SummaryRequest, View, ViewRequest, When};

use crate::support::{
    COARSE, COPY, DENSITY, FLOW, SHAPE, STEPS, arrays, cells, coarse, density, encoded_recording, entries, flow_bytes,
    recording,
};

/// Sends a request and returns the answer and the later debug point.
pub(crate) fn ask(replay: &mut Replay, request: Request) -> (Result<Answer, String>, Option<(u64, String)>) {
    replay.poll();
    let id = replay.ask(request);
    let mut told = replay.poll().into_iter();
    let Some(Message::Answer(answered, answer)) = told.next() else { panic!("no answer came first") };
    assert_eq!(answered, id);
    let point = told.next().map(|message| match message {
        Message::Point(point) => {
            assert!(point.paused);
            (point.step, point.reason)
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(told.next(), None);
    (answer, point)
}

pub(crate) fn request_view(replay: &mut Replay, request: &ViewRequest) -> Result<View, String> {
    match ask(replay, Request::View(request.clone())) {
        (Ok(Answer::View(view)), None) => Ok(view),
        (Err(text), None) => Err(text),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn control(replay: &mut Replay, control: Control) -> Result<Option<(u64, String)>, String> {
    match ask(replay, Request::Control(control)) {
        (Ok(Answer::Done), point) => Ok(point),
        (Err(text), None) => Err(text),
        other => panic!("{other:?}"),
    }
}

#[test]
fn truncated_recording_opens_up_to_last_whole_entry() {
    let (bytes, ends) = encoded_recording(&entries());
    let entries = entries();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cut.zrec");
    std::fs::write(&path, &bytes).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    for cut in (0..=bytes.len()).rev() {
        file.set_len(cut as u64).unwrap();
        if cut < 10 {
            let error = Replay::open(&path).err().unwrap().to_string();
            assert!(error.contains("less than 10 bytes"), "{error}");
            continue;
        }
        let mut replay = Replay::open(&path).unwrap();
        let good = ends.iter().filter(|&&end| end <= cut).count();
        let kept = &entries[..good];
        assert_eq!(replay.program().is_some(), good > 0);
        let steps =
            kept.iter().filter_map(|entry| if let Recorded::Point(point) = entry { Some(point.step) } else { None });
        let steps: Vec<u64> = steps.collect();
        assert_eq!(replay.steps(), steps);
        let notice = replay.notice();
        assert_eq!(notice.is_none(), cut == bytes.len(), "{notice:?}");
        let whole = ends.contains(&cut) || cut == 10;
        if good > 0 && cut < bytes.len() {
            let notice = notice.unwrap();
            assert_eq!(notice.contains("good up to"), !whole, "{notice}");
            assert_eq!(notice.contains("has no end"), whole, "{notice}");
        }
        // The views of the last debug point before the cut.
        let Some(last) = steps.last().filter(|_| whole) else { continue };
        replay.go_to(*last);
        let later = kept.iter().rev().take_while(|entry| !matches!(entry, Recorded::Point(_)));
        for entry in later {
            if let Recorded::View(view) = entry {
                assert_eq!(request_view(&mut replay, &view.of).as_ref(), Ok(view));
            }
        }
    }
}

#[test]
fn a_damaged_recording_opens_up_to_the_damage() {
    let (bytes, ends) = encoded_recording(&entries());
    let entries = entries();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged.zrec");
    for at in (10..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&path, &damaged).unwrap();
        let replay = Replay::open(&path).unwrap();
        let good = ends.iter().filter(|&&end| end <= at).count();
        let points = entries[..good].iter().filter(|entry| matches!(entry, Recorded::Point(_)));
        assert_eq!(replay.steps().len(), points.count(), "byte {at}");
        assert!(replay.notice().is_some(), "byte {at}");
    }
    for (at, part) in [(0, "does not begin with"), (8, "version")] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        std::fs::write(&path, &damaged).unwrap();
        let error = Replay::open(&path).err().unwrap().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(Replay::open(directory.path()).err().unwrap().to_string().contains("directory"));
    assert!(Replay::open(directory.path().join("none")).is_err());
}

#[test]
fn entry_in_wrong_order_ends_the_valid_part() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("order.zrec");
    let all = entries();
    let notice = |entries: &[Recorded]| {
        std::fs::write(&path, encoded_recording(entries).0).unwrap();
        let replay = Replay::open(&path).unwrap();
        (replay.steps().to_vec(), replay.notice().unwrap())
    };
    let (steps, text) = notice(&all[1..]);
    assert!(steps.is_empty() && text.contains("what the program is"), "{text}");
    let twice = [&all[..7], &all[1..2]].concat();
    let (steps, text) = notice(&twice);
    assert!(steps == [1] && text.contains("debug point 1 follows debug point 1"), "{text}");
    let runs = [&all[..7], &all[..1]].concat();
    let (steps, text) = notice(&runs);
    assert!(steps == [1] && text.contains("second run"), "{text}");
}

#[test]
fn recording_grows_while_it_is_open() {
    let (bytes, ends) = encoded_recording(&entries());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("grows.zrec");
    std::fs::write(&path, &bytes[..ends[0]]).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    assert!(replay.poll().is_empty() && replay.steps().is_empty());
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    let mut told = Vec::new();
    // Parts that end inside entries.
    for piece in bytes[ends[0]..].chunks(301) {
        file.write_all(piece).unwrap();
        told.extend(replay.poll());
    }
    assert_eq!(replay.steps(), STEPS);
    assert_eq!((replay.notice(), replay.end()), (None, Some("it has returned")));
    let points: Vec<u64> =
        told.iter().map(|message| if let Message::Point(point) = message { point.step } else { 0 }).collect();
    assert_eq!(points, [1], "it stays where it is");
    assert_eq!(control(&mut replay, Control::Step(1)).unwrap().unwrap().0, 2);
    // Another run that writes the file again.
    std::fs::write(&path, &bytes[..40]).unwrap();
    let error = ask(&mut replay, Request::Arrays).0.unwrap_err();
    assert!(error.contains("shorter"), "{error}");
}

#[test]
fn views_are_cut_from_recorded_cells() {
    let (_directory, path) = recording();
    let mut replay = Replay::open(&path).unwrap();
    for step in STEPS {
        replay.go_to(step);
        let request = ViewRequest {
            array: DENSITY,
            chunk: None,
            start: vec![1, 0, 2],
            end: vec![5, 4, 3],
            stride: vec![2, 3, 1],
            numbers: None,
        };
        let view = request_view(&mut replay, &request).unwrap();
        assert_eq!((&view.of, view.step), (&request, step));
        let wanted = [[1, 0, 2], [3, 0, 2], [1, 3, 2], [3, 3, 2]];
        let bytes: Vec<u8> = wanted.iter().flat_map(|&at| density(step, at).to_le_bytes()).collect();
        assert_eq!(view.cells, bytes);
        let velocity = ViewRequest { array: FLOW, numbers: Some(1), ..request.clone() };
        let bytes: Vec<u8> = wanted.iter().flat_map(|&at| flow_bytes(step, at)[4..16].to_vec()).collect();
        assert_eq!(request_view(&mut replay, &velocity).unwrap().cells, bytes);
        let whole = ViewRequest { array: FLOW, ..request };
        let bytes: Vec<u8> = wanted.iter().flat_map(|&at| flow_bytes(step, at)).collect();
        assert_eq!(request_view(&mut replay, &whole).unwrap().cells, bytes);
    }
}

/// Compares with a search for each cell: every box and stride of a line with every third cell
/// recorded.
#[test]
fn coarse_recording_answers_with_recorded_cells() {
    let (_directory, path) = recording();
    let mut replay = Replay::open(&path).unwrap();
    let recorded: Vec<i64> = (0..100).step_by(3).collect();
    for start in 88..100 {
        for (end, stride) in (start + 1..=100).flat_map(|end| (1..8).map(move |stride| (end, stride))) {
            let request = ViewRequest {
                array: COARSE,
                chunk: None,
                start: vec![start],
                end: vec![end],
                stride: vec![stride],
                numbers: None,
            };
            let view = request_view(&mut replay, &request).unwrap();
            let count = view.of.extents().unwrap()[0];
            let told: Vec<i64> = (0..count).map(|at| view.of.start[0] + at * view.of.stride[0]).collect();
            let bytes: Vec<u8> = told.iter().flat_map(|&x| coarse(x).to_le_bytes()).collect();
            assert_eq!(view.cells, bytes, "{request:?} {told:?}");
            let wanted: Vec<i64> = (start..end).step_by(stride as usize).collect();
            if wanted.iter().all(|at| recorded.contains(at)) {
                assert_eq!(told, wanted);
                continue;
            }
            assert!(view.of.stride[0] >= stride && view.of.stride[0] % 3 == 0);
            let inside: Vec<i64> = recorded.iter().copied().filter(|at| (start..end).contains(at)).collect();
            match inside.first() {
                Some(first) => assert!(told[0] == *first && told.iter().all(|at| inside.contains(at)), "{told:?}"),
                // The previous cell, if no recorded cell is inside.
                None => assert_eq!(told, [start / 3 * 3]),
            }
        }
    }
    let error = ask(&mut replay, Request::Summary(SummaryRequest::of(COARSE, 0)));
    assert!(error.0.unwrap_err().contains("stride is [3]"));
}

#[test]
fn invalid_requests_are_answered_with_errors() {
    let (_directory, path) = recording();
    let mut replay = Replay::open(&path).unwrap();
    let good = ViewRequest {
        array: DENSITY,
        chunk: None,
        start: vec![0; 3],
        end: SHAPE.to_vec(),
        stride: vec![1; 3],
        numbers: None,
    };
    let wrong = [
        (ViewRequest { start: vec![-1, 0, 0], ..good.clone() }, "-1..5"),
        (ViewRequest { end: vec![5, 4, 4], ..good.clone() }, "outside"),
        (ViewRequest { end: vec![i64::MAX; 3], ..good.clone() }, "outside"),
        (ViewRequest { start: vec![i64::MIN; 3], ..good.clone() }, "axes"),
        (ViewRequest { stride: vec![0, 1, 1], ..good.clone() }, "stride"),
        (ViewRequest { start: vec![0; 2], ..good.clone() }, "3 axes"),
        (ViewRequest { numbers: Some(1), ..good.clone() }, "numbers 1"),
        (ViewRequest { array: crate::support::LOCAL[1], ..good.clone() }, "no cells of `scratch`"),
    ];
    for (request, part) in wrong {
        let error = request_view(&mut replay, &request).unwrap_err();
        assert!(error.contains(part), "{request:?}: {error}");
    }
    let none = zippy_protocol::ArrayRef { rank: None, number: 99 };
    let error = request_view(&mut replay, &ViewRequest { array: none, ..good.clone() }).unwrap_err();
    assert!(error.contains("density") && error.contains("coarse"), "{error}");
    let nothing = ViewRequest { end: vec![0, 4, 3], ..good.clone() };
    assert_eq!(request_view(&mut replay, &nothing).unwrap().cells, Vec::<u8>::new());
    let far = ViewRequest { stride: vec![i64::MAX; 3], ..good };
    assert_eq!(request_view(&mut replay, &far).unwrap().cells, density(1, [0; 3]).to_le_bytes());
    for (request, part) in [
        (Request::Moves, "moves"),
        (Request::Timeline(0), "timeline"),
        (Request::Compare(DENSITY, FLOW), "Parcel"),
        (Request::Rules(vec![Rule { name: None, when: When::Condition("nan(u > 0".into()) }]), "column 7"),
        (Request::Rules(vec![Rule { name: None, when: When::Every(0) }]), "at least 1"),
        (Request::Summary(SummaryRequest { bins: 1025, ..SummaryRequest::of(DENSITY, 0) }), "1024"),
        (Request::Summary(SummaryRequest { range: Some((1.0, 0.0)), ..SummaryRequest::of(DENSITY, 0) }), "from 1 to 0"),
        (Request::Summary(SummaryRequest::of(DENSITY, 3)), "3 was asked for"),
    ] {
        let error = ask(&mut replay, request).0.unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn controls_go_to_debug_points_of_a_recording() {
    let (_directory, path) = recording();
    let mut replay = Replay::open(&path).unwrap();
    assert!(matches!(replay.poll().as_slice(), [Message::Point(point)] if point.step == 1 && point.paused));
    for nothing in [Control::Pause, Control::Detach, Control::Stop] {
        assert_eq!(control(&mut replay, nothing), Ok(None));
    }
    let step_of = |told: Result<Option<(u64, String)>, String>| told.unwrap().unwrap();
    assert_eq!(step_of(control(&mut replay, Control::Step(1))), (2, String::new()));
    assert_eq!(step_of(control(&mut replay, Control::Step(7))).0, 10);
    assert!(control(&mut replay, Control::Step(1)).unwrap_err().contains("ends here, at debug point 10"));
    replay.go_to(1);
    assert!(control(&mut replay, Control::Step(0)).unwrap_err().contains("at least 1"));
    assert_eq!(step_of(control(&mut replay, Control::RunTo("after stream".into()))).0, 10);
    replay.go_to(1);
    assert_eq!(step_of(control(&mut replay, Control::RunTo("after collide".into()))).0, 2);
    let error = control(&mut replay, Control::RunTo("after collide".into())).unwrap_err();
    assert!(error.contains("after stream"), "{error}");
    replay.go_to(1);
    assert_eq!(step_of(control(&mut replay, Control::Continue)).0, 10);
    for (rule, step, part) in [
        (Rule { name: Some("after collide".into()), when: When::Always }, 2, "`after collide`"),
        (Rule { name: None, when: When::Every(2) }, 2, "every 2"),
        (Rule { name: None, when: When::Every(5) }, 10, "every 5"),
        (Rule { name: Some("after stream".into()), when: When::Every(2) }, 10, "`after stream` every 2"),
    ] {
        assert_eq!(ask(&mut replay, Request::Rules(vec![rule])).0, Ok(Answer::Done));
        replay.go_to(1);
        let (at, reason) = step_of(control(&mut replay, Control::Continue));
        assert!(at == step && reason.contains(part), "{at} {reason}");
    }
    for (condition, step, part) in [
        ("max(flow.velocity.z) > 15", 10, "max(flow.velocity.z) > 15.0"),
        ("min(abs(density)) < 2e3 and density == copy", 10, "last debug point"),
        ("density != copy", 10, "density != copy"),
        ("sum(flow.velocity.x) == 120 and nan(density) == 1", 2, "sum("),
        ("nan(coarse) > 0", 2, "stride is [3]"),
        ("nan(u) > 0", 2, "there is no global array \"u\""),
        ("nan(density) > 1", 10, "last debug point"),
    ] {
        let rule = Rule { name: None, when: When::Condition(condition.into()) };
        assert_eq!(ask(&mut replay, Request::Rules(vec![rule])).0, Ok(Answer::Done));
        replay.go_to(1);
        let (at, reason) = step_of(control(&mut replay, Control::Continue));
        assert!(at == step && reason.contains(part), "{condition}: {at} {reason}");
    }
    replay.go_to(7);
    assert_eq!(replay.poll(), [], "there is no such debug point");
}

#[test]
fn summaries_and_differences_use_all_cells() {
    let (_directory, path) = recording();
    let mut replay = Replay::open(&path).unwrap();
    replay.go_to(10);
    assert_eq!(ask(&mut replay, Request::Arrays).0, Ok(Answer::Arrays(arrays(10))));
    let numbers: Vec<f64> = cells(SHAPE).map(|at| f64::from(density(10, at))).collect();
    for (bins, range) in [(7, None), (0, None), (5, Some((10_010.0, 10_110.0))), (3, Some((10_000.0, 10_000.0)))] {
        let request = SummaryRequest { bins, range, percentiles: vec![1.0, 50.0], ..SummaryRequest::of(DENSITY, 0) };
        let (Ok(Answer::Summary(found)), _) = ask(&mut replay, Request::Summary(request)) else { panic!() };
        let [found] = found.components.as_slice() else { panic!() };
        assert_eq!((found.count, found.nans, found.infinities), (60, 1, 2));
        assert_eq!(found.extremes, Some((10_000.0.into(), 10_234.0.into())));
        let (low, high) = range.unwrap_or((10_000.0, 10_234.0));
        assert_eq!(found.range, (low.into(), high.into()));
        let below = numbers.iter().filter(|&&value| value < low).count() as u64;
        let above = numbers.iter().filter(|&&value| value > high).count() as u64;
        assert_eq!(found.outside, if bins > 0 { (below, above) } else { (0, 0) });
        let mut finite: Vec<f64> = numbers.iter().copied().filter(|value| value.is_finite()).collect();
        finite.sort_by(f64::total_cmp);
        assert_eq!(found.percentiles, [1, 28].map(|place| finite[place].into()));
        assert_eq!(found.bins.len(), usize::from(bins));
        if bins > 0 {
            assert_eq!(found.bins.iter().sum::<u64>() + below + above + 1, 60);
            let width = (high - low) / f64::from(bins);
            for (bin, &count) in found.bins.iter().enumerate() {
                let (from, to) = (low + width * bin as f64, low + width * (bin + 1) as f64);
                let last = bin + 1 == usize::from(bins);
                let wanted = numbers.iter().filter(|&&value| from <= value && (value < to || last && value <= high));
                assert_eq!(count, wanted.count() as u64, "bin {bin} of {range:?}");
            }
        }
    }
    let velocity = SummaryRequest::of(FLOW, 1);
    let (Ok(Answer::Summary(found)), _) = ask(&mut replay, Request::Summary(velocity)) else { panic!() };
    let ends: Vec<_> = found.components.iter().map(|component| component.extremes.unwrap()).collect();
    let wanted = [(0.0, 4.0), (f64::from(-0.3_f32), -0.0), (0.0, 20.0)];
    assert_eq!(ends, wanted.map(|(low, high)| (low.into(), high.into())));
    let length = SummaryRequest { length: true, ..SummaryRequest::of(FLOW, 1) };
    let (Ok(Answer::Summary(found)), _) = ask(&mut replay, Request::Summary(length)) else { panic!() };
    let [length] = &found.components[..] else { panic!("{found:?}") };
    let longest = (16.0 + f64::from(0.3_f32).powi(2) + 400.0).sqrt() as f32;
    assert_eq!((length.count, length.extremes), (60, Some((0.0.into(), f64::from(longest).into()))));

    let compare = |replay: &mut Replay| match ask(replay, Request::Compare(DENSITY, COPY)).0 {
        Ok(Answer::Difference(found)) => (found.cells, found.first),
        other => panic!("{other:?}"),
    };
    assert_eq!(compare(&mut replay), (1, Some(vec![4, 2, 1])));
    replay.go_to(2);
    assert_eq!(compare(&mut replay), (0, None), "NaNs of the same bits are the same");
}
