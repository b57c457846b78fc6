//! The list of arrays.

use egui_kittest::kittest::{NodeT, Queryable};

use super::*;

/// The names of the arrays from above.
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
    let _ = fake.asked();
    click(&mut harness, "look at velocity");
    assert_eq!(last_view(fake.asked()).array.number, 1);
    harness.get_by_label("filter by name").focus();
    settle(&mut harness);
    harness.get_by_label("filter by name").type_text("DENS");
    settle(&mut harness);
    assert_eq!(names(&harness), ["density", "next density"]);
    harness.get_by_label("filter by name").type_text("x");
    settle(&mut harness);
    assert!(sees(&harness, "No array has this in its name."));
}

#[test]
fn extremes_are_asked_for_where_they_are_wanted() {
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
    assert_eq!(summaries(fake.asked()), [0], "of the one that is looked at");
    click(&mut harness, "min, max of all");
    settle(&mut harness);
    assert_eq!(summaries(fake.asked()), [1, 2, 3]);
    // Numbers of density go from 5 × 2¹⁸ on, to 11 + 64 × 9 + 4096 × 7 more.
    for text in ["1.3107e6", "1.3400e6"] {
        assert!(sees(&harness, text), "{text}");
    }
}
