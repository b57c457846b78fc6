//! Axes and indices as they are written.

/// The names of the first axes.
const NAMES: [char; 4] = ['x', 'y', 'z', 'w'];

/// What an axis of an array of so many is called: `x` to `w` of the first four, else its number.
pub fn axis_name(axis: usize) -> String {
    NAMES.get(axis).map_or_else(|| axis.to_string(), char::to_string)
}

/// The axis of this name or number.
///
/// # Errors
/// An array of so many axes has none such.
pub fn axis(text: &str, axes: usize) -> Result<usize, String> {
    let text = text.trim();
    let named = NAMES.iter().position(|name| text.chars().eq([*name]));
    let found = named.or_else(|| text.parse().ok());
    found.filter(|&axis| axis < axes).ok_or_else(|| {
        let names: Vec<String> = (0..axes).map(axis_name).collect();
        format!("`{text}` is no axis of the array; it has {} (also by number, from 0)", names.join(", "))
    })
}

/// Indices along axes, as `z=0` or `2=0,w=3`, within an array of this shape. Negative ones count from the end: −1 is the last.
///
/// # Errors
/// One makes no sense, lies outside, or an axis stands there twice.
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
            return Err(format!("axis {name} stands there twice"));
        }
        found.push((axis, at));
    }
    Ok(found)
}
