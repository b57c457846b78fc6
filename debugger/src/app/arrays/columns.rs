//! Columns of the list of arrays: texts and sort orders.

use std::cmp::Ordering;

use zippy_protocol::{ArrayEntry, ScalarValue};

use crate::app::format;

/// Minimum, maximum and NaNs of the numbers of an array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stats {
    pub extremes: Option<(ScalarValue, ScalarValue)>,
    pub nans: u64,
}

/// Column of the list of arrays.
pub(super) struct Column {
    pub name: &'static str,
    pub width: f32,
    /// True to align the text to the right, as for numbers.
    pub align_right: bool,
    /// True if the column shows statistics of the array's numbers.
    pub needs_stats: bool,
    pub text: fn(&ArrayEntry, Option<&Stats>) -> String,
    pub order: fn(&ArrayEntry, Option<&Stats>, &ArrayEntry, Option<&Stats>) -> Ordering,
}

macro_rules! column {
    ($name:literal, $width:literal, $align_right:literal, $text:expr, $key:expr) => {
        column!($name, $width, $align_right, false, $text, $key)
    };
    ($name:literal, $width:literal, $align_right:literal, $needs_stats:literal, $text:expr, $key:expr) => {
        Column {
            name: $name,
            width: $width,
            align_right: $align_right,
            needs_stats: $needs_stats,
            text: $text,
            order: |a, with_a, b, with_b| {
                let key: fn(&ArrayEntry, Option<&Stats>) -> _ = $key;
                compare_keys(key(a, with_a), key(b, with_b))
            },
        }
    };
}

/// All columns of the list of arrays, from left to right.
pub(super) const COLUMNS: [Column; 11] = [
    column!("name", 124.0, false, |a, _| format::title(a), |a, _| Some(format::title(a))),
    column!("type", 56.0, false, |a, _| a.element.name.clone(), |a, _| Some(a.element.name.clone())),
    column!("shape", 108.0, false, |a, _| format::shape(&a.shape), |a, _| Some(cell_count(a))),
    column!("min", 74.0, true, true, |_, with| min_or_max(with, false), |_, with| with?.extremes.map(|(low, _)| low)),
    column!("max", 74.0, true, true, |_, with| min_or_max(with, true), |_, with| with?.extremes.map(|(_, high)| high)),
    column!(
        "NaNs",
        60.0,
        true,
        true,
        |_, with| with.map_or_else(unknown_text, |with| with.nans.to_string()),
        |_, with| { with.map(|with| with.nans) }
    ),
    column!("bytes", 76.0, true, |a, _| format::bytes(a.bytes), |a, _| Some(a.bytes)),
    column!("kind", 92.0, false, |a, _| format::kind(a), |a, _| Some(format::kind(a))),
    column!("split", 84.0, false, |a, _| a.split(), |a, _| Some(a.chunk_count)),
    column!("writes", 60.0, true, |a, _| a.writes.to_string(), |a, _| Some(a.writes)),
    column!("last written", 240.0, false, |a, _| last_write_text(a), |a, _| a
        .last_write
        .as_ref()
        .map(|write| write.step)),
];

/// Compares the sort keys of two arrays. Missing keys come last.
fn compare_keys<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

fn cell_count(array: &ArrayEntry) -> f64 {
    array.shape.iter().map(|&extent| extent as f64).product()
}

fn min_or_max(stats: Option<&Stats>, high: bool) -> String {
    match stats {
        Some(Stats { extremes: Some((least, most)), .. }) => {
            let (low_text, high_text) = format::pair(*least, *most);
            if high { high_text } else { low_text }
        }
        Some(_) => "none".into(),
        None => unknown_text(),
    }
}

fn unknown_text() -> String {
    "–".into()
}

fn last_write_text(array: &ArrayEntry) -> String {
    match &array.last_write {
        Some(write) => {
            format!("{}, {}:{}, step {}", write.operation, format::file(&write.file), write.line, write.step)
        }
        None => "never".into(),
    }
}
