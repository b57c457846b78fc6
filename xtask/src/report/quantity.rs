//! Numbers as text: three significant digits, with a unit.

/// Units of seconds, the smallest first, with the smallest value that each shows.
const TIME_UNITS: [(f64, &str); 4] = [(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")];
/// Units of bytes, the smallest first, with the smallest value that each shows.
const BYTE_UNITS: [(f64, &str); 4] =
    [(1.0, "B"), (1024.0, "KiB"), (1024.0 * 1024.0, "MiB"), (1024.0 * 1024.0 * 1024.0, "GiB")];

/// Formats a number with three significant digits: 0.0342, 3.42, 34.2, 3420.
pub(super) fn number(value: f64) -> String {
    let exponent = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    let decimals = (2.0 - exponent).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

/// Formats a round number without zeros at its end: 2, 1.25, 0.001.
pub(super) fn without_zeros(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Formats a ratio: at least two significant digits; two decimals below 10, one below 100.
pub(super) fn ratio(value: f64) -> String {
    match value {
        value if value < 0.0095 => format!("{value:.4}"),
        value if value < 0.095 => format!("{value:.3}"),
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// Formats a time in the largest unit that it reaches.
pub(super) fn seconds(value: f64) -> String {
    in_units(value, &TIME_UNITS)
}

/// Formats the value of a field of a result. The name of the field implies the unit.
pub(super) fn of_field(field: &str, value: f64) -> String {
    match field {
        "gb_per_sec" => format!("{} GB/s", number(value)),
        _ if field.ends_with("secs") => seconds(value),
        _ if field.contains("bytes") => in_units(value, &BYTE_UNITS),
        _ => number(value),
    }
}

fn in_units(value: f64, units: &[(f64, &str)]) -> String {
    let reached = units.iter().rev().find(|(size, _)| value.abs() >= *size);
    let (size, unit) = reached.unwrap_or(&units[0]);
    format!("{} {unit}", number(value / size))
}

#[cfg(test)]
#[path = "../../tests/unit/report/quantity.rs"]
mod tests;
