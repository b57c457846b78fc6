//! Nodes of a Zarr hierarchy: groups and arrays, by their documents.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use zarrs::metadata::v3::ArrayMetadataV3;

use super::{second, values};
use crate::{IoError, json, quoted};

/// More nodes than this are not looked at.
const MOST_NODES: usize = 10_000;

/// Groups in groups are followed so deep.
const MOST_DEPTH: usize = 16;

/// What a directory of a store is.
#[derive(Debug, Clone)]
pub enum Node {
    Group(Map<String, Value>),
    Array(Box<ArrayMetadataV3>),
}

/// The document of a node, by which errors name it; `None`: it is no node.
pub fn document(directory: &Path) -> Option<PathBuf> {
    let names = ["zarr.json", ".zarray", ".zgroup"];
    names.iter().map(|name| directory.join(name)).find(|file| fs::symlink_metadata(file).is_ok())
}

/// Reads the document of a directory; `None` where there is none.
///
/// # Errors
/// It cannot be read, or is not what Zarr wants.
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

/// A node of version 2, which has its attributes beside.
fn second(directory: &Path, file: &Path, found: Map<String, Value>) -> Result<Node, IoError> {
    let beside = directory.join(".zattrs");
    let attributes: Map<String, Value> =
        if fs::symlink_metadata(&beside).is_ok() { json::read(&beside, "attributes")? } else { Map::new() };
    if file.file_name().is_some_and(|name| name == ".zgroup") {
        return Ok(Node::Group(attributes));
    }
    second::to_third(&found, attributes).and_then(array).map_err(|message| IoError::malformed(file, 0, message))
}

/// An array by its document of version 3.
fn array(mut found: Map<String, Value>) -> Result<Node, String> {
    values::check(&mut found)?;
    let array = serde_json::from_value(Value::Object(found));
    array.map(|array| Node::Array(Box::new(array))).map_err(|error| format!("no array of Zarr: {error}"))
}

/// The directory of a node by its name in a store, as "density" or "levels/1/density".
///
/// # Errors
/// The name leads out of the store.
pub fn directory(path: &Path, node: &str) -> Result<PathBuf, IoError> {
    let is_inside =
        |name: &str| !name.is_empty() && !name.trim_matches('.').is_empty() && !name.contains(['\\', ':', '\0']);
    match node.is_empty() || node.split('/').all(is_inside) {
        true => Ok(if node.is_empty() { path.to_path_buf() } else { path.join(node) }),
        false => Err(IoError::request(path, format!("{} is not the name of an array in a store", quoted(node)))),
    }
}

/// The names of the directories in a directory, in order.
///
/// # Errors
/// It cannot be read.
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

/// An array by its name, or why its document cannot be read.
pub type Named = (String, Result<ArrayMetadataV3, IoError>);

/// All arrays of a store, with their names in it, in the order of these.
///
/// # Errors
/// A directory cannot be read; there are too many.
pub fn arrays(path: &Path, most_depth: Option<usize>) -> Result<Vec<Named>, IoError> {
    let mut all = Vec::new();
    let mut left = vec![(String::new(), 0)];
    let mut seen = 0;
    while let Some((name, depth)) = left.pop() {
        let at = directory(path, &name)?;
        seen += 1;
        if seen > MOST_NODES {
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
                left.extend(children(&at)?.into_iter().map(|child| (under(child), depth + 1)));
            }
            _ => {}
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}
