//! Numbers, names and colours as people read them.

use unicode_segmentation::UnicodeSegmentation;
use zippy::debug::protocol::{ArrayEntry, ArrayKind, ScalarValue};
use zippy_view::egui::ecolor::Hsva;
use zippy_view::egui::{Color32, Label, Response, TextStyle, TextWrapMode, Ui, WidgetText};

/// Letters of names in lists that open.
pub const IN_LISTS: usize = 48;
/// Letters of a text beyond this number are ignored.
const MOST_CUT: usize = 4096;

/// Bytes, with three digits.
pub fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = count as f64;
    let mut unit = 0;
    // From here on three digits would be 1000.
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{count} B"),
        _ => format!("{} {}", digits(value), units[unit]),
    }
}

/// Microseconds, with three digits.
pub fn micros(count: u64) -> String {
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

/// A number with so few digits that it fits into a table.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-3..1e6).contains(&size) {
        let text = format!("{value:.5}");
        match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        }
    } else {
        format!("{value:.4e}")
    }
}

/// A number of any type: integers with all of their digits, others with few.
pub fn number(value: ScalarValue) -> String {
    match value {
        ScalarValue::Integer(value) => value.to_string(),
        ScalarValue::Float(value) => short(value),
    }
}

/// Texts of two numbers with as few digits as keep different numbers distinct.
pub fn ends(low: ScalarValue, high: ScalarValue) -> (String, String) {
    let few = (number(low), number(high));
    // Digits before the first difference do not help.
    let same = |(one, other): &(String, String)| one == other && low != high;
    let close = high.minus(low) < low.abs().max(high.abs()).to_f64() * 1e-4;
    match low != high && close || same(&few) {
        true => ScalarValue::pair(low, high),
        false => few,
    }
}

/// The text of a program or of a person on a line of its own: no wider than `width` points. The
/// whole text is shown under the pointer.
pub fn name(ui: &mut Ui, text: impl Into<WidgetText>, width: f32) -> Response {
    let galley = text.into().into_galley(ui, Some(TextWrapMode::Truncate), width, TextStyle::Body);
    ui.add(Label::new(galley))
}

/// Beginning and end of a text within a number of letters, where no width is known.
pub fn cut(text: &str, most: usize) -> String {
    let letters: Vec<&str> = text.graphemes(true).take(MOST_CUT).collect();
    if letters.len() <= most {
        return text.into();
    }
    let (first, last) = (most.saturating_sub(1).div_ceil(2), most.saturating_sub(1) / 2);
    format!("{}…{}", letters[..first].concat(), letters[letters.len() - last..].concat())
}

/// An entry of a list that opens, with a name that somebody else has given.
pub fn entry<V: PartialEq>(ui: &mut Ui, chosen: &mut V, value: V, name: &str) {
    let short = cut(name, IN_LISTS);
    let response = ui.selectable_value(chosen, value, short.as_str());
    if short != name {
        response.on_hover_text(name);
    }
}

/// Extents, as `64 × 32`.
pub fn shape(extents: &[i64]) -> String {
    let extents: Vec<String> = extents.iter().map(i64::to_string).collect();
    extents.join(" × ")
}

/// Coordinates, as `(3, 4)`.
pub fn place(at: &[i64]) -> String {
    let at: Vec<String> = at.iter().map(i64::to_string).collect();
    format!("({})", at.join(", "))
}

/// The name of an axis: x y z w, then numbers.
pub fn axis(axis: usize) -> String {
    match ["x", "y", "z", "w"].get(axis) {
        Some(name) => (*name).into(),
        None => format!("axis {axis}"),
    }
}

/// What an array is, and whose.
pub fn kind(array: &ArrayEntry) -> String {
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

/// The name of an array, and its rank where several have one of that name.
pub fn title(array: &ArrayEntry) -> String {
    match array.array.rank {
        Some(rank) => format!("{} of rank {rank}", array.name),
        None => array.name.clone(),
    }
}

/// The last part of a path.
pub fn file(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The colour of a rank or of a line: neighbours in number differ well.
pub fn rank_colour(rank: u32) -> Color32 {
    let hue = (f64::from(rank) * 0.618_033_988_75).fract();
    Hsva::new(hue as f32, 0.75, 0.95, 1.0).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
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
    fn values_keep_what_matters() {
        let cases = [(0.0, "0"), (1.5, "1.5"), (-100.0, "-100"), (1e-9, "1.0000e-9"), (1e20, "1.0000e20")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!((short(f64::NAN), short(f64::INFINITY)), ("NaN".into(), "inf".into()));
    }

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(cut("density", 7), "density");
        assert_eq!(cut("flow density", 7), "flo…ity");
        // Letters of several characters stay whole.
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}e\u{301}", 3), "e\u{301}…e\u{301}");
        assert_eq!([cut("ab", 1), cut("ab", 0), cut("", 0)], ["…", "…", ""]);
    }

    #[test]
    fn different_ends_look_different() {
        let pair = |one: &str, other: &str| (one.to_string(), other.to_string());
        let of = |low: f64, high: f64| ends(low.into(), high.into());
        assert_eq!(of(1.0, 1.0), pair("1", "1"));
        assert_eq!(of(-2.0, 12.5), pair("-2", "12.5"));
        assert_eq!(of(1.0, 1.0_f64.next_up()), pair("1", "1.0000000000000002"));
        assert_eq!(of(101_325.000_25, 101_325.000_5), pair("101325.00025", "101325.0005"));
        assert_eq!(of(1e-7, 1e6), pair("1.0000e-7", "1.0000e6"));
        let whole = |value: i128| ScalarValue::Integer(value);
        let wide = ends(whole(i128::from(u64::MAX) - 1), whole(u64::MAX.into()));
        assert_eq!(wide, pair("18446744073709551614", "18446744073709551615"));
        assert_eq!(number(whole(4_294_966_272)), "4294966272");
    }
}
