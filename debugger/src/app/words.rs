//! Numbers, names and colours as people read them.

use zippy::debug::protocol::{ArrayEntry, ArrayKind};
use zippy_view::egui::Color32;
use zippy_view::egui::ecolor::Hsva;

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
}
