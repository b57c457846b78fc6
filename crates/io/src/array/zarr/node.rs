//! Nodes of a Zarr hierarchy: groups and arrays with their documents.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use zarrs::metadata::v3::ArrayMetadataV3;

use super::{values, version_2};
use crate::{IoError, json, quoted};

/// Maximum number of nodes.
const MOST_NODES: usize = 10_000;

/// Maximum depth of nested groups.
const MOST_DEPTH: usize = 16;

/// Node in a directory of a store.
#[derive(Debug, Clone)]
pub enum Node {
    Group(Map<String, Value>),
    Array(Box<ArrayMetadataV3>),
}

/// Path of a node's document; `None` if the directory is no node.
pub fn document(directory: &Path) -> Option<PathBuf> {
    let names = ["zarr.json", ".zarray", ".zgroup"];
    names.iter().map(|name| directory.join(name)).find(|file| fs::symlink_metadata(file).is_ok())
}

/// Reads a node; `None` if the directory has no document.
///
/// # Errors
/// The document cannot be read or is malformed.
pub fn read(directory: &Path) -> Result<Option<Node>, IoError> {
    let Some(file) = document(directory) else { return Ok(None) };
    let mut found: Map<String, Value> = json::read(&file, "\"zarr_format\"")?;
    let bad = |message: String| IoError::malformed(&file, 0, message);
    let is_third = file.file_name().is_some_and(|name| name == "zarr.json");
    let (format, kind) =
        (found.get("zarr_format").and_then(Value::as_u64), found.get("node_type").and_then(Value::as_str));
    if format != Some(if is_third { 3 } else { 2 }) {
        return Err(bad(format!("\"zarr_format\" is not {}", if is_third { 3 } else { 2 })));
    }
    match kind {
        Some("group") if is_third => {
            let attributes = found.remove("attributes").unwrap_or_default();
            Ok(Some(Node::Group(attributes.as_object().cloned().unwrap_or_default())))
        }
        Some("array") if is_third => array(found).map(Some).map_err(bad),
        _ if is_third => Err(bad("\"node_type\" is neither \"array\" nor \"group\"".into())),
        _ => second(directory, &file, found).map(Some),
    }
}

/// Reads a node of version 2, with its attributes in a file of their own.
fn second(directory: &Path, file: &Path, found: Map<String, Value>) -> Result<Node, IoError> {
    let attributes = directory.join(".zattrs");
    let attributes: Map<String, Value> =
        if fs::symlink_metadata(&attributes).is_ok() { json::read(&attributes, "attributes")? } else { Map::new() };
    if file.file_name().is_some_and(|name| name == ".zgroup") {
        return Ok(Node::Group(attributes));
    }
    version_2::to_version_3(&found, attributes).and_then(array).map_err(|message| IoError::malformed(file, 0, message))
}

/// Parses the document of an array of version 3.
fn array(mut found: Map<String, Value>) -> Result<Node, String> {
    values::check(&mut found)?;
    let array = serde_json::from_value(Value::Object(found));
    array.map(|array| Node::Array(Box::new(array))).map_err(|error| format!("no array of Zarr: {error}"))
}

/// Directory of a node by its path in the store, such as "density" or "levels/1/density".
///
/// # Errors
/// The path leaves the store.
pub fn directory(path: &Path, node: &str) -> Result<PathBuf, IoError> {
    let is_inside =
        |name: &str| !name.is_empty() && !name.trim_matches('.').is_empty() && !name.contains(['\\', ':', '\0']);
    if node.is_empty() || node.split('/').all(is_inside) {
        Ok(if node.is_empty() { path.to_path_buf() } else { path.join(node) })
    } else {
        Err(IoError::request(path, format!("{} is not the name of an array in a store", quoted(node))))
    }
}

/// Sorted names of the directories in a directory.
///
/// # Errors
/// The directory cannot be read.
fn children(path: &Path) -> Result<Vec<String>, IoError> {
    let refused = |error: io::Error| IoError::system(path, "read", &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let name = entry.file_name().to_str().map(str::to_string);
        names.extend(name.filter(|_| document(&entry.path()).is_some()));
        if names.len() > MOST_NODES {
            return Err(IoError::request(
                path,
                format!("has more than {MOST_NODES} nodes; name the one that is wanted"),
            ));
        }
    }
    names.sort();
    Ok(names)
}

/// Path and document of an array, or the error of the document.
pub type Named = (String, Result<ArrayMetadataV3, IoError>);

/// All arrays of a store, sorted by path.
///
/// # Errors
/// A directory cannot be read; there are too many nodes.
pub fn arrays(path: &Path, most_depth: Option<usize>) -> Result<Vec<Named>, IoError> {
    let mut all = Vec::new();
    let mut pending = vec![(String::new(), 0)];
    let mut visited = 0;
    while let Some((name, depth)) = pending.pop() {
        let at = directory(path, &name)?;
        visited += 1;
        if visited > MOST_NODES {
            return Err(IoError::request(
                path,
                format!("has more than {MOST_NODES} nodes; name the one that is wanted"),
            ));
        }
        match read(&at) {
            Err(error) => all.push((name, Err(error))),
            Ok(Some(Node::Array(array))) => all.push((name, Ok(*array))),
            Ok(Some(Node::Group(_))) if depth < most_depth.unwrap_or(MOST_DEPTH) => {
                let under = |child| if name.is_empty() { child } else { format!("{name}/{child}") };
                pending.extend(children(&at)?.into_iter().map(|child| (under(child), depth + 1)));
            }
            _ => {}
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}
