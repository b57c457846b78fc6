//! [`StoreTree`]: nodes of a store, each read at most once.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use zarrs::metadata::v3::ArrayMetadataV3;
use zippy_files::{FileError, quoted};

use super::node::{self, Node, NodeDocument};

const MOST_NODES: usize = 10_000;

const MOST_DEPTH: usize = 16;

const MOST_LISTED: usize = 8;

pub(super) struct StoreTree {
    pub path: PathBuf,
    /// Documents by directory; `None` for a directory that is no node.
    documents: HashMap<PathBuf, Result<Option<NodeDocument>, FileError>>,
}

/// Path and document of an array, or the error of the document.
pub(super) type NamedArray = (String, Result<Arc<ArrayMetadataV3>, FileError>);

pub(super) struct ArrayNode {
    pub directory: PathBuf,
    /// Path of the document.
    pub file: PathBuf,
    pub metadata: Arc<ArrayMetadataV3>,
}

impl StoreTree {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), documents: HashMap::new() }
    }

    pub(super) fn root(&mut self) -> Result<Node, FileError> {
        fs::metadata(&self.path).map_err(|error| FileError::system(&self.path, "open", &error))?;
        let root = self.document(&self.path.clone())?;
        root.map(|root| root.node).ok_or_else(|| self.no_store())
    }

    /// The documents may be damaged.
    pub(super) fn check(&self) -> Result<(), FileError> {
        fs::metadata(&self.path).map_err(|error| FileError::system(&self.path, "open", &error))?;
        node::document(&self.path).map(drop).ok_or_else(|| self.no_store())
    }

    fn no_store(&self) -> FileError {
        FileError::request(&self.path, "is no Zarr store: it has no zarr.json, .zgroup or .zarray")
    }

    /// Document in a directory; `None` if the directory is no node.
    fn document(&mut self, directory: &Path) -> Result<Option<NodeDocument>, FileError> {
        if let Some(known) = self.documents.get(directory) {
            return known.clone();
        }
        let document = node::read(directory);
        self.documents.insert(directory.to_path_buf(), document.clone());
        document
    }

    pub(super) fn array(&mut self, name: &str) -> Result<ArrayNode, FileError> {
        if let Some(array) = self.find_array(name)? {
            return Ok(array);
        }
        let problem = match self.document(&node::directory(&self.path, name)?)? {
            Some(_) => format!("{} is a group, not an array", quoted(name)),
            None => format!("has no array {}", quoted(name)),
        };
        let there = listing(&self.arrays(None).unwrap_or_default());
        Err(FileError::request(&self.path, format!("{problem}; {there}")))
    }

    pub(super) fn find_array(&mut self, name: &str) -> Result<Option<ArrayNode>, FileError> {
        let directory = node::directory(&self.path, name)?;
        Ok(match self.document(&directory)? {
            Some(NodeDocument { file, node: Node::Array(metadata), .. }) => {
                Some(ArrayNode { directory, file, metadata })
            }
            _ => None,
        })
    }

    /// Empty if there is no group at path `name`.
    pub(super) fn attributes(&mut self, name: &str) -> Result<Map<String, Value>, FileError> {
        match self.document(&node::directory(&self.path, name)?)?.map(|document| document.node) {
            Some(Node::Group(attributes)) => Ok(Arc::unwrap_or_clone(attributes)),
            _ => Ok(Map::new()),
        }
    }

    /// All arrays, sorted by path, down to `most_depth` groups below the root.
    pub(super) fn arrays(&mut self, most_depth: Option<usize>) -> Result<Vec<NamedArray>, FileError> {
        let mut all = Vec::new();
        let mut pending = vec![(String::new(), 0)];
        let mut visited = 0;
        while let Some((name, depth)) = pending.pop() {
            let directory = node::directory(&self.path, &name)?;
            visited += 1;
            if visited > MOST_NODES {
                return Err(too_many(&self.path));
            }
            match self.document(&directory).map(|document| document.map(|document| document.node)) {
                Err(error) => all.push((name, Err(error))),
                Ok(Some(Node::Array(array))) => all.push((name, Ok(array))),
                Ok(Some(Node::Group(_))) if depth < most_depth.unwrap_or(MOST_DEPTH) => {
                    let under = |child| if name.is_empty() { child } else { format!("{name}/{child}") };
                    pending.extend(children(&directory)?.into_iter().map(|child| (under(child), depth + 1)));
                }
                _ => {}
            }
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(all)
    }

    /// Hash of the documents of the root and of `directories` that have been read, for comparison
    /// between ranks.
    pub(super) fn fingerprint<'a>(&'a self, directories: impl Iterator<Item = &'a Path>) -> u64 {
        let mut hasher = DefaultHasher::new();
        for directory in std::iter::once(self.path.as_path()).chain(directories) {
            if let Some(Ok(Some(document))) = self.documents.get(directory) {
                document.fingerprint.hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

/// Sorted names of the child nodes.
fn children(path: &Path) -> Result<Vec<String>, FileError> {
    let refused = |error: io::Error| FileError::system(path, "read", &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let name = entry.file_name().to_str().map(str::to_string);
        names.extend(name.filter(|_| node::document(&entry.path()).is_some()));
        if names.len() > MOST_NODES {
            return Err(too_many(path));
        }
    }
    names.sort();
    Ok(names)
}

fn too_many(path: &Path) -> FileError {
    FileError::request(path, format!("has more than {MOST_NODES} nodes; name the one that is wanted"))
}

pub(super) fn listing(all: &[NamedArray]) -> String {
    let describe = |(name, array): &NamedArray| match array {
        Ok(array) => {
            let extents: Vec<String> = array.shape.iter().rev().map(u64::to_string).collect();
            format!("{} ({}, {})", quoted(name), array.data_type.name(), extents.join(" x "))
        }
        Err(_) => format!("{} (not read)", quoted(name)),
    };
    let shown: Vec<String> = all.iter().take(MOST_LISTED).map(describe).collect();
    match all.len() {
        0 => "there is none".into(),
        1..=MOST_LISTED => format!("there are: {}", shown.join(", ")),
        count => format!("there are: {} and {} more", shown.join(", "), count - MOST_LISTED),
    }
}
