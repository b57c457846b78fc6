//! Parsing of axes and indices.

/// Names of the first four axes of an array.
const AXIS_NAMES: [char; 4] = ['x', 'y', 'z', 'w'];

/// Returns the name of an axis: `x` to `w` for the first four, then a number.
pub fn axis_name(axis: usize) -> String {
    AXIS_NAMES.get(axis).map_or_else(|| axis.to_string(), char::to_string)
}

/// Parses the name or the number of an axis of an array with `axes` axes.
///
/// # Errors
/// The array has no such axis.
pub fn axis(text: &str, axes: usize) -> Result<usize, String> {
    let text = text.trim();
    let named = AXIS_NAMES.iter().position(|name| text.chars().eq([*name]));
    let found = named.or_else(|| text.parse().ok());
    found.filter(|&axis| axis < axes).ok_or_else(|| {
        let names: Vec<String> = (0..axes).map(axis_name).collect();
        format!("`{text}` is no axis of the array; it has {} (also by number, from 0)", names.join(", "))
    })
}

/// Parses indices along axes, such as `z=0` or `2=0,w=3`, of an array with this shape. Negative
/// indices count from the end: −1 is the last index.
///
/// # Errors
/// An index is malformed or outside of the array, or an axis occurs twice.
pub fn indices(text: &str, shape: &[i64]) -> Result<Vec<(usize, i64)>, String> {
    let mut found: Vec<(usize, i64)> = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let Some((name, index)) = part.split_once('=') else {
            return Err(format!("`{}` is no index along an axis; write it as z=0", part.trim()));
        };
        let axis = axis(name, shape.len())?;
        let wrong = || format!("`{}` is no whole number, in `{}`", index.trim(), part.trim());
        let index: i64 = index.trim().parse().map_err(|_| wrong())?;
        let (extent, name) = (shape[axis], axis_name(axis));
        let at = if index < 0 { index.saturating_add(extent) } else { index };
        if !(0..extent).contains(&at) {
            return Err(format!("{name}={index} lies outside: the array has {extent} cells along {name}"));
        }
        if found.iter().any(|&(other, _)| other == axis) {
            return Err(format!("axis {name} occurs twice"));
        }
        found.push((axis, at));
    }
    Ok(found)
}
