//! Transfer functions in JSON.
//!
//! A file holds an object with these fields; other fields are errors:
//!
//! - `opacity_points`: list of `[value, opacity]`;
//! - `rgb_points`: list of `[value, red, green, blue]`;
//! - `opacity_unit_distance` (optional, 1): length over which the opacities hold.
//!
//! Values ascend; opacities and colours are 0 to 1. Scenes have the same fields.

use std::path::Path;

use serde::{Deserialize, Serialize};
use zippy_files::{json, write_whole};
use zippy_io::IoError;

use crate::volume::TransferFunction;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TransferFile {
    opacity_points: Vec<[f64; 2]>,
    rgb_points: Vec<[f64; 4]>,
    #[serde(default = "default_distance")]
    opacity_unit_distance: f64,
}

fn default_distance() -> f64 {
    1.0
}

/// Reads a transfer function. Local.
///
/// # Errors
/// As [`json::read`]; [`TransferFunction::check`] rejects the function.
pub fn read(path: impl AsRef<Path>) -> Result<TransferFunction, IoError> {
    let path = path.as_ref();
    let file: TransferFile = json::read(path, "opacity_points and rgb_points")?;
    let transfer = TransferFunction {
        opacity: file.opacity_points,
        colour: file.rgb_points,
        unit_distance: file.opacity_unit_distance,
    };
    transfer.check().map_err(|error| IoError::request(path, error.to_string()))?;
    Ok(transfer)
}

/// Writes a transfer function, one point per line, such that [`read`] returns an equal one. Local.
///
/// # Errors
/// [`TransferFunction::check`] rejects the function, or the file system reports an error. An
/// existing file is then unchanged.
pub fn write(path: impl AsRef<Path>, transfer: &TransferFunction) -> Result<(), IoError> {
    let path = path.as_ref();
    transfer.check().map_err(|error| IoError::request(path, error.to_string()))?;
    let text = format!(
        "{{\n  \"opacity_points\": [\n{}\n  ],\n  \"rgb_points\": [\n{}\n  ],\n  \"opacity_unit_distance\": {:?}\n}}\n",
        lines(&transfer.opacity),
        lines(&transfer.colour),
        transfer.unit_distance
    );
    Ok(write_whole(path, text.as_bytes())?)
}

/// Formats one point per line; `{:?}` of a finite number reads back as the same number.
fn lines<const N: usize>(points: &[[f64; N]]) -> String {
    points.iter().map(|point| format!("    {point:?}")).collect::<Vec<_>>().join(",\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("zippy-transfer-{name}-{}.json", std::process::id()))
    }

    #[test]
    fn written_function_is_read_back() {
        let path = scratch("kept");
        let transfer = TransferFunction {
            opacity: vec![[-1024.0, 0.0], [1.0 / 3.0, 0.125], [1.0 / 3.0, 1e-9], [3e7, 1.0]],
            colour: vec![[0.1, 0.0, 1.0, 0.25]],
            unit_distance: 0.7,
        };
        write(&path, &transfer).unwrap();
        assert_eq!(read(&path).unwrap(), transfer);
        let wrong = TransferFunction { unit_distance: -1.0, ..transfer.clone() };
        assert!(write(&path, &wrong).unwrap_err().to_string().contains("unit distance of -1"));
        assert_eq!(read(&path).unwrap(), transfer);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let path = scratch("wrong");
        let attempt = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read(&path).map_err(|error| error.to_string())
        };
        let good = "{\"opacity_points\": [[0, 0], [9, 1]],\n \"rgb_points\": [[0, 1, 0.5, 0]]}";
        assert_eq!(attempt(good).unwrap().unit_distance, 1.0);
        let cases = [
            (good.replace("rgb_points", "rgb"), "unknown field `rgb`", "line 2 column"),
            (good.replace("0.5, 0]", "0.5]"), "invalid length 3", "line 2 column"),
            (good.replace("[9, 1]", "[9, \"a\"]"), "expected f64", "line 1 column"),
            (good.replace("]]}", "]]"), "EOF", "line 2 column"),
            (
                good.replace(", 0]]}", ", 7]]}"),
                "must be 0 to 1",
                "colour point 0, [0.0, 1.0, 0.5, 7.0], has a part of 7",
            ),
            (good.replace("[9, 1]", "[-9, 1]"), "ascend", "opacity point 1, [-9.0, 1.0]"),
            ("[]".into(), "byte 0: not a JSON object with opacity_points", ""),
            (" [[0,0,1]]".into(), "byte 1: not a JSON object with opacity_points", ""),
            ("{\"opacity_points\": []}".into(), "missing field `rgb_points`", "line 1"),
        ];
        for (text, what, place) in cases {
            let error = attempt(&text).unwrap_err();
            assert!(error.contains(what) && error.contains(place), "{error}");
            assert!(error.contains("zippy-transfer-wrong"), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("cannot open"));
    }
}
