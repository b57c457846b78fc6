//! Parsing of document values, and error messages about them.

use serde_json::{Map, Value};
use zippy_files::quoted;

pub(super) fn wrong(key: &str, value: &Value, read: &str) -> String {
    match value {
        Value::Null => format!("{key:?} is missing or null; {read}"),
        _ => format!("{key:?} is {}; {read}", literal(value)),
    }
}

/// A value as in the document, shortened if long.
pub(super) fn literal(value: &Value) -> String {
    let text = value.to_string();
    if text.len() <= 60 && text.is_ascii() { text } else { quoted(&text) }
}

pub(super) fn sizes(key: &str, value: &Value) -> Result<Vec<u64>, String> {
    let sizes = value.as_array().and_then(|list| list.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>());
    sizes.ok_or_else(|| wrong(key, value, "a list of whole numbers is read"))
}

/// Checks the document of a version 3 array key by key, and converts integers written as `0.0` or
/// `"0"` to the notation of version 3.
pub(super) fn check(document: &mut Map<String, Value>) -> Result<(), String> {
    let value = |key: &str| document.get(key).unwrap_or(&Value::Null);
    sizes("shape", value("shape"))?;
    let is_named = |value: &Value| {
        value.is_string()
            || value["name"].is_string() && matches!(value["configuration"], Value::Null | Value::Object(_))
    };
    for key in ["data_type", "chunk_grid", "chunk_key_encoding"] {
        if !is_named(value(key)) {
            return Err(wrong(key, value(key), "a name, or an object with a \"name\", is read"));
        }
    }
    if !value("codecs").as_array().is_some_and(|codecs| !codecs.is_empty() && codecs.iter().all(is_named)) {
        return Err(wrong("codecs", value("codecs"), "a list of codecs, each with a \"name\", is read"));
    }
    if !matches!(value("attributes"), Value::Null | Value::Object(_)) {
        return Err(wrong("attributes", value("attributes"), "an object is read"));
    }
    let is_dimension_name = |name: &Value| matches!(name, Value::Null | Value::String(_));
    let names = value("dimension_names");
    if !names.is_null() && !names.as_array().is_some_and(|names| names.iter().all(is_dimension_name)) {
        return Err(wrong("dimension_names", names, "a list of names, or of null where a dimension has none, is read"));
    }
    let kind = value("data_type").as_str().or(value("data_type")["name"].as_str()).unwrap_or_default().to_string();
    if let Some(fill) = document.get_mut("fill_value") {
        *fill = to_version_3_number(&kind, fill).unwrap_or_else(|| fill.clone());
    }
    Ok(())
}

/// Converts a number of this type to the notation of version 3.
fn to_version_3_number(kind: &str, value: &Value) -> Option<Value> {
    let text = value.as_str().map(str::trim);
    let float = value.as_f64().filter(|_| value.is_f64()).or_else(|| text?.parse().ok());
    match kind {
        "bool" => match float.or(value.as_f64()) {
            Some(0.0) => Some(Value::Bool(false)),
            Some(1.0) => Some(Value::Bool(true)),
            _ => None,
        },
        _ if kind.starts_with("int") || kind.starts_with("uint") => {
            if let Some(whole) = text.and_then(|text| text.parse::<i64>().map(Value::from).ok()) {
                return Some(whole);
            }
            if let Some(whole) = text.and_then(|text| text.parse::<u64>().map(Value::from).ok()) {
                return Some(whole);
            }
            // Whole floats up to 2^53 represent integers exactly.
            let whole = float.filter(|float| float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0)?;
            Some(Value::from(whole as i64))
        }
        // "NaN", "Infinity" and hexadecimal bit patterns stay.
        _ if kind.starts_with("float") => text.and(float).filter(|float| float.is_finite()).map(Value::from),
        _ => None,
    }
}
