//! Colours: range, norm, and the ends of the range in the histogram.

use egui_kittest::kittest::{NodeT, Queryable};
use zippy_protocol::Request;

use super::*;

/// Returns the ends of the range from the labels of the histogram's handles.
fn range_ends(harness: &Window) -> (String, String) {
    let value = |name: &str| {
        let node = harness.get_by_label_contains(name);
        let label = node.accesskit_node().label().unwrap_or_default();
        label.split_once(": ").map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    (value("low end of the colours"), value("high end of the colours"))
}

/// An array whose values in step n are n to n + 19.
fn ramp_program() -> Fake {
    let fake = Fake::new(vec![array(0, "ramp", &[20, 2], 1)]);
    fake.state.borrow_mut().value = |at, step| at[0] as f64 + step as f64;
    fake
}

#[test]
fn colours_follow_the_whole_array_unless_locked() {
    let fake = ramp_program();
    let mut harness = window(&fake);
    assert_eq!(range_ends(&harness), ("5".into(), "24".into()));
    fake.arrive(7, "after collide");
    settle(&mut harness);
    assert_eq!(range_ends(&harness), ("7".into(), "26".into()));
    click(&mut harness, "lock");
    fake.arrive(9, "after collide");
    settle(&mut harness);
    assert_eq!(range_ends(&harness), ("7".into(), "26".into()));
    click(&mut harness, "lock");
    click(&mut harness, "symmetric");
    assert_eq!(range_ends(&harness), ("-28".into(), "28".into()));
    assert!(fake.take_requests().iter().any(|request| matches!(request, Request::Summary(of) if of.bins > 0)));
}

#[test]
fn an_end_of_the_range_is_dragged() {
    let fake = ramp_program();
    let mut harness = window(&fake);
    let plot = harness.get_by_label("histogram").rect();
    let grab = harness.get_by_label_contains("high end of the colours").rect().center();
    harness.drag_at(grab);
    harness.run();
    harness.hover_at(plot.center());
    harness.run();
    harness.drop_at(plot.center());
    settle(&mut harness);
    let (low, high) = range_ends(&harness);
    let high: f64 = high.parse().unwrap();
    assert!(low == "5" && (high - 14.5).abs() < 0.2, "half of the way: {low} {high}");
    // The moved end stops at the other end.
    let grab = harness.get_by_label_contains("low end of the colours").rect().center();
    harness.drag_at(grab);
    harness.run();
    harness.hover_at(plot.right_center());
    harness.run();
    harness.drop_at(plot.right_center());
    settle(&mut harness);
    let (low, top) = range_ends(&harness);
    assert_eq!(low, top);
    assert!((top.parse::<f64>().unwrap() - high).abs() < 0.2, "{top}");
}

#[test]
fn numbers_without_logarithm_are_reported() {
    let fake = ramp_program();
    fake.state.borrow_mut().value = |at, _| -1.0 - at[0] as f64;
    let mut harness = window(&fake);
    click(&mut harness, "log");
    settle(&mut harness);
    assert!(shows(&harness, "slice of ramp"));
    fake.state.borrow_mut().value = |_, _| f64::NAN;
    fake.arrive(6, "after collide");
    settle(&mut harness);
    click(&mut harness, "linear");
    assert!(shows(&harness, "none"), "there is no smallest number");
}

/// A whole array with zeros and negative numbers.
#[test]
fn logarithms_begin_at_the_smallest_number_above_zero() {
    let fake = ramp_program();
    fake.state.borrow_mut().value = |at, _| match at[0] {
        0 => -5.0,
        1 => 0.0,
        x => 2_f64.powi(x as i32 - 3),
    };
    let mut harness = window(&fake);
    assert_eq!(range_ends(&harness).0, "-5");
    click(&mut harness, "log");
    settle(&mut harness);
    assert_eq!(range_ends(&harness), ("0.5".into(), "65536".into()));
    let asked = fake.take_requests();
    assert!(asked.iter().any(|request| matches!(request, Request::Summary(of) if of.positive)), "{asked:?}");
}
