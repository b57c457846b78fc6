//! [`Node`]: groups and arrays of a Zarr hierarchy, and their documents.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use zarrs::metadata::v3::ArrayMetadataV3;
use zippy_files::{FileError, json, quoted};

use super::{values, version_2};

#[derive(Debug, Clone)]
pub(super) enum Node {
    Group(Arc<Map<String, Value>>),
    Array(Arc<ArrayMetadataV3>),
}

#[derive(Debug, Clone)]
pub(super) struct NodeDocument {
    pub file: PathBuf,
    /// Hash of the document's text, for comparison between ranks.
    pub fingerprint: u64,
    pub node: Node,
}

/// Path of a node's document; `None` if the directory is no node.
pub(super) fn document(directory: &Path) -> Option<PathBuf> {
    let names = ["zarr.json", ".zarray", ".zgroup"];
    names.iter().map(|name| directory.join(name)).find(|file| fs::symlink_metadata(file).is_ok())
}

/// Reads a node; `None` if the directory has no document.
pub(super) fn read(directory: &Path) -> Result<Option<NodeDocument>, FileError> {
    let Some(file) = document(directory) else { return Ok(None) };
    let text = json::text(&file)?;
    let found = json::parse(&file, &text, "\"zarr_format\"")?;
    let node = parse(directory, &file, found)?;
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Ok(Some(NodeDocument { file, fingerprint: hasher.finish(), node }))
}

fn parse(directory: &Path, file: &Path, mut found: Map<String, Value>) -> Result<Node, FileError> {
    let bad = |message: String| FileError::malformed(file, 0, message);
    let is_version_3 = file.file_name().is_some_and(|name| name == "zarr.json");
    let (format, kind) =
        (found.get("zarr_format").and_then(Value::as_u64), found.get("node_type").and_then(Value::as_str));
    if format != Some(if is_version_3 { 3 } else { 2 }) {
        return Err(bad(format!("\"zarr_format\" is not {}", if is_version_3 { 3 } else { 2 })));
    }
    match kind {
        Some("group") if is_version_3 => {
            let attributes = found.remove("attributes").unwrap_or_default();
            Ok(group(attributes.as_object().cloned().unwrap_or_default()))
        }
        Some("array") if is_version_3 => array(found).map_err(bad),
        _ if is_version_3 => Err(bad("\"node_type\" is neither \"array\" nor \"group\"".into())),
        _ => parse_version_2(directory, file, found),
    }
}

fn group(attributes: Map<String, Value>) -> Node {
    Node::Group(Arc::new(attributes))
}

/// Parses a node of version 2; its attributes are in another file.
fn parse_version_2(directory: &Path, file: &Path, found: Map<String, Value>) -> Result<Node, FileError> {
    let attributes = directory.join(".zattrs");
    let attributes: Map<String, Value> =
        if fs::symlink_metadata(&attributes).is_ok() { json::read(&attributes, "attributes")? } else { Map::new() };
    if file.file_name().is_some_and(|name| name == ".zgroup") {
        return Ok(group(attributes));
    }
    version_2::to_version_3(&found, attributes)
        .and_then(array)
        .map_err(|message| FileError::malformed(file, 0, message))
}

fn array(mut found: Map<String, Value>) -> Result<Node, String> {
    values::check(&mut found)?;
    let array = serde_json::from_value(Value::Object(found));
    array.map(|array| Node::Array(Arc::new(array))).map_err(|error| format!("no array of Zarr: {error}"))
}

/// Directory of a node with a path such as "levels/1/density". A path that leaves the store is an
/// error.
pub(super) fn directory(path: &Path, node: &str) -> Result<PathBuf, FileError> {
    let is_inside =
        |name: &str| !name.is_empty() && !name.trim_matches('.').is_empty() && !name.contains(['\\', ':', '\0']);
    if node.is_empty() || node.split('/').all(is_inside) {
        Ok(if node.is_empty() { path.to_path_buf() } else { path.join(node) })
    } else {
        Err(FileError::request(path, format!("{} is not the name of an array in a store", quoted(node))))
    }
}
