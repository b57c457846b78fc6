//! [`open`]: the arrays of a store that hold an array of elements.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use zarrs::metadata::v3::ArrayMetadataV3;
use zippy::extents::Index;

use super::fields::Leaf;
use super::node::{self, Node};
use super::stored::Stored;
use super::{axes, coordinates, ome};
use crate::array::metadata::{Axis, Metadata};
use crate::{IoError, quoted};

/// So many arrays are named in a message.
const LISTED: usize = 8;

/// The arrays of the leaves, and what the store says of them.
///
/// # Errors
/// No store or no such array, or several to choose from; what is not read here, or is damaged.
pub fn open(
    path: &Path,
    which: Option<&str>,
    leaves: &[Leaf],
    axes: usize,
) -> Result<(Vec<Stored>, Metadata), IoError> {
    fs::metadata(path).map_err(|error| IoError::system(path, "open", &error))?;
    let root = match node::read(path)? {
        Some(root) => root,
        None => return Err(IoError::request(path, "is no Zarr store: it has no zarr.json, .zgroup or .zarray")),
    };
    let chosen = match which {
        Some(which) => which.trim_matches('/').to_string(),
        None => choose(path, &root, leaves)?,
    };
    let mut stored: Vec<Stored> = Vec::new();
    let mut own = Map::new();
    let mut names = None;
    for leaf in leaves {
        let (directory, array) = array_at(path, &leaf.node(&chosen))?;
        let next = Stored::new(&directory, &array, leaf, axes)?;
        if let Some(first) = stored.first().filter(|first| first.shape != next.shape) {
            let message = format!("holds {} cells, and {} of the first field", next.shape, first.shape);
            return Err(IoError::request(&directory, message));
        }
        stored.push(next);
        names = names.or(array.dimension_names);
        own = if leaf.fields.is_empty() { array.attributes } else { own };
    }
    if !leaves[0].fields.is_empty() {
        own = group_at(path, &chosen)?;
    }
    let metadata = told(path, &root, &chosen, (&own, names.as_deref()), &stored[0].shape)?;
    Ok((stored, metadata))
}

/// What a store says of a node: its attributes and the names of its dimensions, else the axes that others have words for.
fn told(
    path: &Path,
    root: &Node,
    chosen: &str,
    (own, names): (&Map<String, Value>, Option<&[Option<String>]>),
    shape: &Index,
) -> Result<Metadata, IoError> {
    let mut metadata = axes::metadata(own, shape.axes());
    if metadata.axes.is_empty() {
        metadata.axes = foreign_axes(path, root, chosen, names, shape)?;
    }
    metadata.name = chosen.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_string);
    Ok(metadata)
}

/// What a store says of the array that is loaded where none is named; `None`: one must be named, or cannot be read.
pub fn metadata(path: &Path) -> Option<Metadata> {
    let root = node::read(path).ok()??;
    let any = Leaf { fields: Vec::new(), offset: 0, kind: "", number_bytes: 1, numbers: None };
    let (chosen, own, array) = match choose(path, &root, &[any]) {
        Ok(chosen) => {
            let (_, array) = array_at(path, &chosen).ok()?;
            (chosen, array.attributes.clone(), array)
        }
        Err(_) => only_record(path)?,
    };
    let mut extents = &array.shape[..];
    let mut names = array.dimension_names.as_deref();
    // The numbers of a vector are no axis.
    if let (Some([.., last]), Some([rest @ .., Some(name)])) = (Some(extents), names)
        && *name == format!("component_{last}")
    {
        (extents, names) = (&extents[..extents.len() - 1], Some(rest));
    }
    let extents: Vec<i64> = extents.iter().rev().map(|&cells| i64::try_from(cells).ok()).collect::<Option<_>>()?;
    let is_fine = (1..=zippy::extents::MAX_AXES).contains(&extents.len());
    told(path, &root, &chosen, (&own, names), &Index::new(is_fine.then_some(&extents[..])?)).ok()
}

/// The only group of a store, which has the fields of a record: its attributes, and its first field.
fn only_record(path: &Path) -> Option<(String, Map<String, Value>, ArrayMetadataV3)> {
    let all = node::arrays(path, None).ok()?;
    let fields: Vec<&node::Named> =
        all.iter().filter(|(name, array)| !name.starts_with("levels/") && !is_place(name, array)).collect();
    let (group, _) = fields.first()?.0.split_once('/')?;
    let is_in = |(name, _): &&node::Named| name.split_once('/').is_some_and(|(first, _)| first == group);
    if !fields.iter().all(is_in) {
        return None;
    }
    Some((group.to_string(), group_at(path, group).ok()?, fields[0].1.clone().ok()?))
}

/// Whether an array has the places of cells along an axis, whose name it has.
fn is_place(name: &str, array: &Result<ArrayMetadataV3, IoError>) -> bool {
    let own = name.rsplit('/').next().unwrap_or(name);
    let names = array.as_ref().ok().and_then(|array| array.dimension_names.as_deref());
    names.is_some_and(|names| names == [Some(own.to_string())])
}

/// The axes where no attribute of Zippy's tells of them.
fn foreign_axes(
    path: &Path,
    root: &Node,
    chosen: &str,
    names: Option<&[Option<String>]>,
    shape: &Index,
) -> Result<Vec<Axis>, IoError> {
    let axes = shape.axes();
    if let Node::Group(attributes) = root
        && let Some(found) = ome::axes_of(attributes, chosen, axes)
    {
        return Ok(found);
    }
    let names = names.unwrap_or_default();
    let given = |axis: usize| names.get(axes - 1 - axis).cloned().flatten();
    if (0..axes).all(|axis| given(axis).is_none()) {
        return Ok(Vec::new());
    }
    let group = chosen.rsplit_once('/').map_or("", |(group, _)| group);
    let axis = |axis: usize| {
        given(axis).map_or(Ok(Axis::default()), |name| coordinates::read(path, group, &name, shape[axis]))
    };
    (0..axes).map(axis).collect()
}

fn array_at(path: &Path, name: &str) -> Result<(PathBuf, ArrayMetadataV3), IoError> {
    let directory = node::directory(path, name)?;
    match node::read(&directory)? {
        Some(Node::Array(array)) => Ok((directory, *array)),
        Some(Node::Group(_)) => {
            let there = listing(&node::arrays(path, None).unwrap_or_default());
            Err(IoError::request(path, format!("{} is a group, not an array; {there}", quoted(name))))
        }
        None => {
            let there = listing(&node::arrays(path, None).unwrap_or_default());
            Err(IoError::request(path, format!("has no array {}; {there}", quoted(name))))
        }
    }
}

fn group_at(path: &Path, name: &str) -> Result<Map<String, Value>, IoError> {
    match node::read(&node::directory(path, name)?)? {
        Some(Node::Group(attributes)) => Ok(attributes),
        _ => Ok(Map::new()),
    }
}

/// The node that is meant where none is named.
fn choose(path: &Path, root: &Node, leaves: &[Leaf]) -> Result<String, IoError> {
    let Node::Group(attributes) = root else { return Ok(String::new()) };
    let is_record = !leaves[0].fields.is_empty();
    if let Some(first) = ome::first(attributes).filter(|_| !is_record) {
        return Ok(first.to_string());
    }
    let depth = 1 + leaves.iter().map(|leaf| leaf.fields.len()).max().unwrap_or(0);
    let mut all = node::arrays(path, Some(depth))?;
    let mut names = candidates(&all, leaves);
    if names.is_empty() {
        all = node::arrays(path, None)?;
        names = candidates(&all, leaves);
    }
    match &names[..] {
        [one] => Ok(one.clone()),
        [] => Err(IoError::request(path, format!("has no array of {}; {}", kinds(leaves), listing(&all)))),
        _ => {
            let wanted: Vec<_> = all.into_iter().filter(|(name, _)| names.contains(name)).collect();
            let there = if is_record { format!("there are: {}", quoted(&names.join(", "))) } else { listing(&wanted) };
            Err(IoError::request(path, format!("has several arrays, one of which must be named; {there}")))
        }
    }
}

/// The nodes of a store that may be meant where none is named: those nearest to its root.
fn candidates(all: &[node::Named], leaves: &[Leaf]) -> Vec<String> {
    if !leaves[0].fields.is_empty() {
        let has = |node: &str| all.iter().any(|(name, _)| name == node);
        // The groups that have all fields.
        let groups = all.iter().flat_map(|(name, _)| name.match_indices('/').map(|(end, _)| name[..end].to_string()));
        let mut groups: Vec<String> = groups.chain([String::new()]).collect();
        groups.sort();
        groups.dedup();
        return groups.into_iter().filter(|group| leaves.iter().all(|leaf| has(&leaf.node(group)))).collect();
    }
    let is_level = |name: &str| name.starts_with("levels/");
    let of = |is_wanted: &dyn Fn(&node::Named) -> bool| -> Vec<String> {
        all.iter().filter(|one| !is_level(&one.0) && is_wanted(one)).map(|(name, _)| name.clone()).collect()
    };
    let near = |one: &node::Named| !one.0.contains('/');
    let data = |one: &node::Named| !is_place(&one.0, &one.1);
    let all = [of(&|one| near(one) && data(one)), of(&near), of(&data), of(&|_| true)];
    all.into_iter().find(|names| !names.is_empty()).unwrap_or_default()
}

/// What arrays there are, for people.
fn listing(all: &[node::Named]) -> String {
    let one = |(name, array): &node::Named| match array {
        Ok(array) => {
            let extents: Vec<String> = array.shape.iter().rev().map(u64::to_string).collect();
            format!("{} ({}, {})", quoted(name), array.data_type.name(), extents.join(" x "))
        }
        Err(_) => format!("{} (not read)", quoted(name)),
    };
    let shown: Vec<String> = all.iter().take(LISTED).map(one).collect();
    match all.len() {
        0 => "there is none".into(),
        1..=LISTED => format!("there are: {}", shown.join(", ")),
        count => format!("there are: {} and {} more", shown.join(", "), count - LISTED),
    }
}

fn kinds(leaves: &[Leaf]) -> String {
    let one = |leaf: &Leaf| [&leaf.fields.join("/"), leaf.kind].join(" ").trim().to_string();
    leaves.iter().map(one).collect::<Vec<_>>().join(", ")
}
