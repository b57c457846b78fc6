//! The columns of the list: what each says, and how it sorts.

use std::cmp::Ordering;

use zippy::debug::protocol::{ArrayEntry, ScalarValue};

use crate::app::words;

/// What is known of the numbers in an array.
#[derive(Debug, Clone, Copy)]
pub struct Stats {
    pub extremes: Option<(ScalarValue, ScalarValue)>,
    pub nans: u64,
}

/// A column.
pub struct Column {
    pub name: &'static str,
    pub width: f32,
    /// Numbers stand to the right.
    pub right: bool,
    /// Whether it says something of the numbers in the array.
    pub of_numbers: bool,
    pub text: fn(&ArrayEntry, Option<&Stats>) -> String,
    pub order: fn(&ArrayEntry, Option<&Stats>, &ArrayEntry, Option<&Stats>) -> Ordering,
}

macro_rules! column {
    ($name:literal, $width:literal, $right:literal, $text:expr, $key:expr) => {
        column!($name, $width, $right, false, $text, $key)
    };
    ($name:literal, $width:literal, $right:literal, $of_numbers:literal, $text:expr, $key:expr) => {
        Column {
            name: $name,
            width: $width,
            right: $right,
            of_numbers: $of_numbers,
            text: $text,
            order: |a, with_a, b, with_b| {
                let key: fn(&ArrayEntry, Option<&Stats>) -> _ = $key;
                compared(key(a, with_a), key(b, with_b))
            },
        }
    };
}

/// All of them.
pub const COLUMNS: [Column; 11] = [
    column!("name", 124.0, false, |a, _| words::title(a), |a, _| Some(words::title(a))),
    column!("type", 56.0, false, |a, _| a.element.name.clone(), |a, _| Some(a.element.name.clone())),
    column!("shape", 108.0, false, |a, _| words::shape(&a.shape), |a, _| Some(cells(a))),
    column!("min", 74.0, true, true, |_, with| extreme(with, false), |_, with| with?.extremes.map(|(low, _)| low)),
    column!("max", 74.0, true, true, |_, with| extreme(with, true), |_, with| with?.extremes.map(|(_, high)| high)),
    column!("NaNs", 60.0, true, true, |_, with| with.map_or_else(unknown, |with| with.nans.to_string()), |_, with| {
        with.map(|with| with.nans)
    }),
    column!("bytes", 76.0, true, |a, _| words::bytes(a.bytes), |a, _| Some(a.bytes)),
    column!("kind", 92.0, false, |a, _| words::kind(a), |a, _| Some(words::kind(a))),
    column!("split", 84.0, false, |a, _| a.split(), |a, _| Some(a.chunk_count)),
    column!("writes", 60.0, true, |a, _| a.writes.to_string(), |a, _| Some(a.writes)),
    column!("last written", 240.0, false, |a, _| written(a), |a, _| a.last_write.as_ref().map(|write| write.step)),
];

/// What is not known comes last.
fn compared<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

fn cells(array: &ArrayEntry) -> f64 {
    array.shape.iter().map(|&extent| extent as f64).product()
}

fn extreme(stats: Option<&Stats>, high: bool) -> String {
    match stats {
        Some(Stats { extremes: Some((least, most)), .. }) => {
            let (low_text, high_text) = words::ends(*least, *most);
            if high { high_text } else { low_text }
        }
        Some(_) => "none".into(),
        None => unknown(),
    }
}

fn unknown() -> String {
    "–".into()
}

fn written(array: &ArrayEntry) -> String {
    match &array.last_write {
        Some(write) => {
            format!("{}, {}:{}, step {}", write.operation, words::file(&write.file), write.line, write.step)
        }
        None => "never".into(),
    }
}
