use serde_json::{Map, Value, json};

use super::values::{self, wrong};

const COMPRESSORS: [&str; 5] = ["blosc", "gzip", "lz4", "zlib", "zstd"];

/// Converts a version 2 array document; `attributes` come from the file `.zattrs`.
pub(super) fn to_version_3(
    found: &Map<String, Value>,
    mut attributes: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let value = |key: &str| found.get(key).unwrap_or(&Value::Null);
    let (data_type, endian) = data_type(value("dtype"));
    let shape = values::sizes("shape", value("shape"))?;
    let mut codecs = Vec::new();
    match value("order").as_str() {
        Some("C") => {}
        Some("F") => codecs.push(json!({
            "name": "transpose",
            "configuration": {"order": (0..shape.len()).rev().collect::<Vec<_>>()},
        })),
        _ => return Err(wrong("order", value("order"), "\"C\" and \"F\" are read")),
    }
    codecs.push(json!({"name": "bytes", "configuration": {"endian": endian}}));
    if !matches!(value("filters"), Value::Null) && value("filters").as_array().is_none_or(|all| !all.is_empty()) {
        return Err(wrong("filters", value("filters"), "arrays without filters are read"));
    }
    match (value("compressor"), value("compressor")["id"].as_str()) {
        (Value::Null, _) => {}
        (_, Some(name)) if COMPRESSORS.contains(&name) => codecs.push(json!({"name": name})),
        (other, _) => {
            let read = format!("null and an \"id\" of {} are read", COMPRESSORS.join(", "));
            return Err(wrong("compressor", other, &read));
        }
    }
    let separator = match value("dimension_separator") {
        Value::Null => ".",
        Value::String(text) if matches!(&**text, "." | "/") => text,
        other => return Err(wrong("dimension_separator", other, "\".\" and \"/\" are read")),
    };
    let names = attributes.remove("_ARRAY_DIMENSIONS");
    let names = names.filter(|names| names.as_array().is_some_and(|names| names.len() == shape.len()));
    let names = names.map(|names| names.as_array().into_iter().flatten().map(text_or_null).collect::<Value>());
    let fill = match value("fill_value") {
        Value::Null if data_type == "bool" => &Value::Bool(false),
        Value::Null => &json!(0),
        value => value,
    };
    let document = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": values::sizes("chunks", value("chunks"))?}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": separator}},
        "fill_value": fill,
        "codecs": codecs,
        "attributes": attributes,
    });
    let Value::Object(mut document) = document else { return Ok(Map::new()) };
    document.extend(names.map(|names| ("dimension_names".to_string(), names)));
    Ok(document)
}

fn text_or_null(value: &Value) -> Value {
    if value.is_string() { value.clone() } else { Value::Null }
}

/// Version 3 name of a version 2 data type, and its byte order. Unknown types keep their name.
fn data_type(dtype: &Value) -> (String, &'static str) {
    let text = dtype.as_str().unwrap_or_default();
    let (order, name) = text.split_at_checked(1).unwrap_or_default();
    let known = match name {
        "b1" => "bool",
        "i1" => "int8",
        "u1" => "uint8",
        "i2" => "int16",
        "u2" => "uint16",
        "i4" => "int32",
        "u4" => "uint32",
        "i8" => "int64",
        "u8" => "uint64",
        "f2" => "float16",
        "f4" => "float32",
        "f8" => "float64",
        _ => "",
    };
    let is_known = !known.is_empty() && (matches!(order, "<" | ">") || order == "|" && name.ends_with('1'));
    let endian = if order == ">" { "big" } else { "little" };
    if is_known {
        (known.into(), endian)
    } else {
        (dtype.as_str().map_or_else(|| dtype.to_string(), str::to_string), endian)
    }
}
