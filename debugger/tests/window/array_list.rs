//! The list of arrays.

use egui_kittest::kittest::{NodeT, Queryable};
use zippy_protocol::{Answer, Component, Message, ScalarValue, Summary};

use super::*;

/// Names of the arrays in the order of the list.
fn names(harness: &Window) -> Vec<String> {
    let mut rows: Vec<(f32, String)> = harness
        .get_all_by_label_contains("look at ")
        .filter_map(|node| {
            Some((node.rect().top(), node.accesskit_node().label()?.strip_prefix("look at ")?.to_owned()))
        })
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn arrays_are_sorted_filtered_and_chosen() {
    let fake = program();
    let mut harness = window(&fake);
    assert_eq!(names(&harness), ["density", "next density", "profile", "velocity"]);
    click(&mut harness, "sort by name");
    assert_eq!(names(&harness), ["velocity", "profile", "next density", "density"]);
    click(&mut harness, "sort by shape");
    assert_eq!(names(&harness)[0], "profile", "of the fewest cells");
    let _ = fake.take_requests();
    click(&mut harness, "look at velocity");
    assert_eq!(last_view(fake.take_requests()).array.number, 1);
    harness.get_by_label("filter by name").focus();
    settle(&mut harness);
    harness.get_by_label("filter by name").type_text("DENS");
    settle(&mut harness);
    assert_eq!(names(&harness), ["density", "next density"]);
    harness.get_by_label("filter by name").type_text("x");
    settle(&mut harness);
    assert!(shows(&harness, "No array has this in its name."));
}

#[test]
fn extremes_are_requested_for_selected_or_all_arrays() {
    let fake = program();
    let mut harness = window(&fake);
    let summaries = |asked: Vec<Request>| {
        let summary = |request| match request {
            Request::Summary(of) if of.bins == 0 => Some(of.array.number),
            _ => None,
        };
        let mut found: Vec<u64> = asked.into_iter().filter_map(summary).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(summaries(fake.take_requests()), [0], "of the selected array");
    click(&mut harness, "min, max of all");
    settle(&mut harness);
    assert_eq!(summaries(fake.take_requests()), [1, 2, 3]);
    // Values of density are between 5 × 2¹⁸ and 11 + 64 × 9 + 4096 × 7 more.
    for text in ["1.3107e6", "1.3400e6"] {
        assert!(shows(&harness, text), "{text}");
    }
}

/// Names of 200 letters for every kind of name.
#[test]
fn long_names_keep_the_layout() {
    let slice = |name: &str| {
        let title = if name.len() > 20 { name.repeat(200 / name.len()) } else { name.to_string() };
        let mut fake =
            Fake::new(vec![array(0, &title, &[12, 10, 8], 1), array(1, &format!("{title} two"), &[9, 9], 3)]);
        fake.program.name = title.clone();
        fake.program.adapters = vec![title.clone()];
        {
            let mut inside = fake.state.borrow_mut();
            (inside.point.name, inside.point.reason) = (title.clone(), title.clone());
            let point = inside.point.clone();
            inside.messages.push_back(Message::Point(point));
        }
        let mut harness = window(&fake);
        let rects = ["Compare", "Moves", "Breakpoints"].map(|tab| {
            click(&mut harness, tab);
            if tab == "Compare" {
                // The selection lists contain these names, too.
                harness.get_by_role_and_label(Role::ComboBox, "compare with").click();
                settle(&mut harness);
                harness.key_press(zippy_view::egui::Key::Escape);
                settle(&mut harness);
            }
            harness.get_by_label(&format!("slice of {title}")).rect()
        });
        let row = harness.get_by_label(&format!("look at {title}")).rect();
        (rects, row, shows(&harness, &title))
    };
    let (short, short_row, _) = slice("f");
    for name in ["a long name of an array, with spaces, ", "withoutanyspacesatallinitsname_"] {
        let (long, row, whole) = slice(name);
        for (short, long) in short.into_iter().zip(long) {
            assert!(whole && (long.min - short.min).length() < 40.0, "{short:?} {long:?}");
            assert!(long.width() > 0.9 * short.width() && long.height() > 0.85 * short.height(), "{short:?} {long:?}");
        }
        assert!(row.height() < 1.5 * short_row.height() && row.width() < 140.0, "{row:?}");
    }
}

/// Consecutive integers at the end of 64 bits.
#[test]
fn extremes_of_integers_have_all_digits() {
    let fake = Fake::new(vec![array(0, "count", &[12, 10, 8], 1)]);
    fake.state.borrow_mut().override_answer = |request| match request {
        Request::Summary(of) => {
            let ends = (ScalarValue::Integer(i128::from(u64::MAX) - 1), ScalarValue::Integer(u64::MAX.into()));
            let component = Component {
                count: 960,
                nans: 0,
                infinities: 0,
                extremes: Some(ends),
                range: ends,
                bins: vec![7; usize::from(of.bins)],
                outside: (0, 0),
                percentiles: of.percentiles.iter().map(|_| ends.0).collect(),
            };
            let components = vec![component];
            Some(Ok(Answer::Summary(Summary { array: of.array, numbers: 0, length: of.length, step: 5, components })))
        }
        _ => None,
    };
    let mut harness = window(&fake);
    let (low, high) = ("18446744073709551614", "18446744073709551615");
    // The columns of the list have room for both ends of a number.
    for text in ["18446…1614", "18446…1615", &format!("{low} … {high}"), &format!("low end of the colours: {low}")]
    {
        assert!(shows(&harness, text), "{text}");
    }
    click(&mut harness, "by hand");
    for (label, text) in [("low end", low), ("high end", high)] {
        let value = harness.get_by_label(label).accesskit_node().value().unwrap_or_default();
        assert_eq!(value, text, "{label}");
    }
}
