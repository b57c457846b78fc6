//! Texts of numbers and names, and colours of ranks.

use unicode_segmentation::UnicodeSegmentation;
use zippy_protocol::{ArrayEntry, ArrayKind, ScalarValue};
use zippy_view::egui::ecolor::Hsva;
use zippy_view::egui::{Color32, Label, Response, TextStyle, TextWrapMode, Ui, WidgetText};

/// Maximum length of names in lists, in letters.
pub(super) const LIST_LETTERS: usize = 48;
/// Maximum number of letters that are read of a text to shorten it.
const MAX_READ_LETTERS: usize = 4096;

/// Formats a number of bytes with three digits.
pub(super) fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = count as f64;
    let mut unit = 0;
    // Above 999.5, three digits would round to 1000.
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{count} B"),
        _ => format!("{} {}", digits(value), units[unit]),
    }
}

/// Formats microseconds with three digits.
pub(super) fn micros(count: u64) -> String {
    match count as f64 {
        few if few < 999.5 => format!("{count} µs"),
        some if some < 999.5e3 => format!("{} ms", digits(some / 1e3)),
        many => format!("{} s", digits(many / 1e6)),
    }
}

fn digits(value: f64) -> String {
    let decimals = match value {
        large if large >= 99.95 => 0,
        middle if middle >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// Formats a number in few digits, for a table.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-3..1e6).contains(&size) {
        let text = format!("{value:.5}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{value:.4e}")
    }
}

/// Formats a number of any type: integers with all digits, floats with few.
pub(super) fn number(value: ScalarValue) -> String {
    match value {
        ScalarValue::Integer(value) => value.to_string(),
        ScalarValue::Float(value) => short(value),
    }
}

/// Formats two numbers with as few digits as distinguish them.
pub(super) fn pair(low: ScalarValue, high: ScalarValue) -> (String, String) {
    let few = (number(low), number(high));
    // Common leading digits of close numbers do not distinguish them.
    let is_same = |(first, second): &(String, String)| first == second && low != high;
    let close = high.minus(low) < low.abs().max(high.abs()).to_f64() * 1e-4;
    if low != high && close || is_same(&few) { ScalarValue::pair(low, high) } else { few }
}

/// Shows a text of the program or of a person on a line of its own, shortened to `width` points.
/// The hover text is the whole text.
pub(super) fn label(ui: &mut Ui, text: impl Into<WidgetText>, width: f32) -> Response {
    let galley = text.into().into_galley(ui, Some(TextWrapMode::Truncate), width, TextStyle::Body);
    ui.add(Label::new(galley))
}

/// Shortens a text to `max_letters` letters: beginning and end with an ellipsis between them.
pub(super) fn shorten(text: &str, max_letters: usize) -> String {
    let letters: Vec<&str> = text.graphemes(true).take(MAX_READ_LETTERS).collect();
    if letters.len() <= max_letters {
        return text.into();
    }
    let (first, last) = (max_letters.saturating_sub(1).div_ceil(2), max_letters.saturating_sub(1) / 2);
    format!("{}…{}", letters[..first].concat(), letters[letters.len() - last..].concat())
}

/// Shows an entry of a selection list, with a name of any length.
pub(super) fn list_entry<V: PartialEq>(ui: &mut Ui, chosen: &mut V, value: V, name: &str) {
    let short = shorten(name, LIST_LETTERS);
    let response = ui.selectable_value(chosen, value, short.as_str());
    if short != name {
        response.on_hover_text(name);
    }
}

/// Formats extents, such as `64 × 32`.
pub(super) fn shape(extents: &[i64]) -> String {
    let extents: Vec<String> = extents.iter().map(i64::to_string).collect();
    extents.join(" × ")
}

/// Formats an index, such as `(3, 4)`.
pub(super) fn index(at: &[i64]) -> String {
    let at: Vec<String> = at.iter().map(i64::to_string).collect();
    format!("({})", at.join(", "))
}

/// Name of an axis: x, y, z, w for the first four axes, then the axis index.
pub(super) fn axis(axis: usize) -> String {
    match ["x", "y", "z", "w"].get(axis) {
        Some(name) => (*name).into(),
        None => format!("axis {axis}"),
    }
}

/// Kind of an array in words, with the rank if the array belongs to a single rank.
pub(super) fn kind(array: &ArrayEntry) -> String {
    let kind = match array.kind {
        ArrayKind::Global => "global",
        ArrayKind::Local => "local",
        ArrayKind::Growable => "growable",
    };
    match array.array.rank {
        Some(rank) => format!("{kind}, rank {rank}"),
        None => kind.into(),
    }
}

/// Name of an array, and its rank if several ranks have an array of that name.
pub(super) fn title(array: &ArrayEntry) -> String {
    match array.array.rank {
        Some(rank) => format!("{} of rank {rank}", array.name),
        None => array.name.clone(),
    }
}

/// Last component of a path: the file name.
pub(super) fn file(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Colour of a rank or of a line. Colours of consecutive numbers differ clearly.
pub(super) fn rank_colour(rank: u32) -> Color32 {
    let hue = (f64::from(rank) * 0.618_033_988_75).fract();
    Hsva::new(hue as f32, 0.75, 0.95, 1.0).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_times_have_three_digits() {
        let cases = [(0, "0 B"), (999, "999 B"), (1000, "0.98 KiB"), (1023 * 1024, "1.00 MiB"), (5 << 30, "5.00 GiB")];
        for (count, text) in cases {
            assert_eq!(bytes(count), text);
        }
        assert_eq!(bytes(u64::MAX), "16384 PiB");
        assert_eq!(
            (micros(999), micros(1500), micros(12_345_678)),
            ("999 µs".into(), "1.50 ms".into(), "12.3 s".into())
        );
    }

    #[test]
    fn short_keeps_five_digits() {
        let cases = [(0.0, "0"), (1.5, "1.5"), (-100.0, "-100"), (1e-9, "1.0000e-9"), (1e20, "1.0000e20")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!((short(f64::NAN), short(f64::INFINITY)), ("NaN".into(), "inf".into()));
    }

    #[test]
    fn shortened_text_keeps_both_ends() {
        assert_eq!(shorten("density", 7), "density");
        assert_eq!(shorten("flow density", 7), "flo…ity");
        // Letters of several characters stay whole.
        assert_eq!(shorten("e\u{301}e\u{301}e\u{301}e\u{301}", 3), "e\u{301}…e\u{301}");
        assert_eq!([shorten("ab", 1), shorten("ab", 0), shorten("", 0)], ["…", "…", ""]);
    }

    #[test]
    fn texts_of_different_numbers_differ() {
        let texts = |low: &str, high: &str| (low.to_string(), high.to_string());
        let of = |low: f64, high: f64| pair(low.into(), high.into());
        assert_eq!(of(1.0, 1.0), texts("1", "1"));
        assert_eq!(of(-2.0, 12.5), texts("-2", "12.5"));
        assert_eq!(of(1.0, 1.0_f64.next_up()), texts("1", "1.0000000000000002"));
        assert_eq!(of(101_325.000_25, 101_325.000_5), texts("101325.00025", "101325.0005"));
        assert_eq!(of(1e-7, 1e6), texts("1.0000e-7", "1.0000e6"));
        let whole = |value: i128| ScalarValue::Integer(value);
        let wide = pair(whole(i128::from(u64::MAX) - 1), whole(u64::MAX.into()));
        assert_eq!(wide, texts("18446744073709551614", "18446744073709551615"));
        assert_eq!(number(whole(4_294_966_272)), "4294966272");
    }
}
