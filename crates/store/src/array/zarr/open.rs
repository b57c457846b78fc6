//! [`open`]: arrays of a store that contain an array of elements.

use std::sync::Arc;

use serde_json::{Map, Value};
use zarrs::metadata::v3::ArrayMetadataV3;
use zippy::extents::Index;
use zippy_files::{FileError, quoted};

use super::fields::Leaf;
use super::node::Node;
use super::stored::StoredArray;
use super::tree::{NamedArray, StoreTree, listing};
use super::{axes, coordinates, ome};
use zippy_io::array::{Axis, Metadata};

/// Opens the arrays of the leaves, with the store's metadata. `which` names the array; `None`
/// selects the only candidate.
pub(super) fn open(
    tree: &mut StoreTree,
    array_name: Option<&str>,
    leaves: &[Leaf],
    axes: usize,
) -> Result<(Vec<StoredArray>, Metadata), FileError> {
    let root = tree.root()?;
    let node = match array_name {
        Some(array_name) => array_name.trim_matches('/').to_string(),
        None => default_node(tree, &root, leaves)?,
    };
    let mut stored: Vec<StoredArray> = Vec::new();
    let mut attributes = Map::new();
    let mut names = None;
    for leaf in leaves {
        let array = tree.array(&leaf.node(&node))?;
        let next = StoredArray::new(&array, leaf, axes)?;
        if let Some(first) = stored.first().filter(|first| first.shape != next.shape) {
            let message = format!("holds {} cells, and {} of the first field", next.shape, first.shape);
            return Err(FileError::request(&array.directory, message));
        }
        stored.push(next);
        names = names.or_else(|| array.metadata.dimension_names.clone());
        if leaf.fields.is_empty() {
            attributes.clone_from(&array.metadata.attributes);
        }
    }
    if !leaves[0].fields.is_empty() {
        attributes = tree.attributes(&node)?;
    }
    let metadata = node_metadata(tree, &root, &node, (&attributes, names.as_deref()), &stored[0].shape)?;
    Ok((stored, metadata))
}

/// Metadata of a node from its attributes and dimension names, or from the conventions of OME-Zarr
/// and xarray.
fn node_metadata(
    tree: &mut StoreTree,
    root: &Node,
    node: &str,
    (attributes, names): (&Map<String, Value>, Option<&[Option<String>]>),
    shape: &Index,
) -> Result<Metadata, FileError> {
    let mut metadata = axes::metadata(attributes, shape.axes());
    if metadata.axes.is_empty() {
        metadata.axes = foreign_axes(tree, root, node, names, shape)?;
    }
    metadata.name = node.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_string);
    Ok(metadata)
}

/// Metadata of the array that a load without a name selects; `None` if a name is required or the
/// array cannot be read.
pub(super) fn metadata(tree: &mut StoreTree) -> Option<Metadata> {
    let root = tree.root().ok()?;
    let any = Leaf { fields: Vec::new(), offset: 0, kind: "", number_bytes: 1, numbers: None };
    let (node, attributes, array) = match default_node(tree, &root, &[any]) {
        Ok(node) => {
            let array = tree.array(&node).ok()?.metadata;
            (node, array.attributes.clone(), array)
        }
        Err(_) => only_record(tree)?,
    };
    let mut extents = &array.shape[..];
    let mut names = array.dimension_names.as_deref();
    // The components of a vector are not an axis.
    if let (Some([.., last]), Some([rest @ .., Some(name)])) = (Some(extents), names)
        && *name == format!("component_{last}")
    {
        (extents, names) = (&extents[..extents.len() - 1], Some(rest));
    }
    let extents: Vec<i64> = extents.iter().rev().map(|&cells| i64::try_from(cells).ok()).collect::<Option<_>>()?;
    let is_fine = (1..=zippy::extents::MAX_AXES).contains(&extents.len());
    node_metadata(tree, &root, &node, (&attributes, names), &Index::new(is_fine.then_some(&extents[..])?)).ok()
}

/// The store's only group, if it has the fields of a record: name, attributes and first field.
fn only_record(tree: &mut StoreTree) -> Option<(String, Map<String, Value>, Arc<ArrayMetadataV3>)> {
    let all = tree.arrays(None).ok()?;
    let fields: Vec<&NamedArray> =
        all.iter().filter(|(name, array)| !name.starts_with("levels/") && !is_coordinates(name, array)).collect();
    let (group, _) = fields.first()?.0.split_once('/')?;
    let is_in = |(name, _): &&NamedArray| name.split_once('/').is_some_and(|(first, _)| first == group);
    if !fields.iter().all(is_in) {
        return None;
    }
    Some((group.to_string(), tree.attributes(group).ok()?, fields[0].1.clone().ok()?))
}

/// True for the coordinate array of an axis: its only dimension has its name.
fn is_coordinates(name: &str, array: &Result<Arc<ArrayMetadataV3>, FileError>) -> bool {
    let last_name = name.rsplit('/').next().unwrap_or(name);
    let names = array.as_ref().ok().and_then(|array| array.dimension_names.as_deref());
    names.is_some_and(|names| names == [Some(last_name.to_string())])
}

/// Axes of an array without Zippy's attribute, from the conventions of OME-Zarr or xarray.
fn foreign_axes(
    tree: &mut StoreTree,
    root: &Node,
    node: &str,
    names: Option<&[Option<String>]>,
    shape: &Index,
) -> Result<Vec<Axis>, FileError> {
    let axes = shape.axes();
    if let Node::Group(attributes) = root
        && let Some(found) = ome::axes_of(attributes, node, axes)
    {
        return Ok(found);
    }
    let names = names.unwrap_or_default();
    let axis_name = |axis: usize| names.get(axes - 1 - axis).cloned().flatten();
    if (0..axes).all(|axis| axis_name(axis).is_none()) {
        return Ok(Vec::new());
    }
    let group = node.rsplit_once('/').map_or("", |(group, _)| group);
    let axis = |axis: usize| {
        axis_name(axis).map_or(Ok(Axis::default()), |name| coordinates::read(tree, group, &name, shape[axis]))
    };
    (0..axes).map(axis).collect()
}

fn default_node(tree: &mut StoreTree, root: &Node, leaves: &[Leaf]) -> Result<String, FileError> {
    let Node::Group(attributes) = root else { return Ok(String::new()) };
    let is_record = !leaves[0].fields.is_empty();
    if let Some(first) = ome::first_dataset(attributes).filter(|_| !is_record) {
        return Ok(first.to_string());
    }
    let depth = 1 + leaves.iter().map(|leaf| leaf.fields.len()).max().unwrap_or(0);
    let mut all = tree.arrays(Some(depth))?;
    let mut names = candidates(&all, leaves);
    if names.is_empty() {
        all = tree.arrays(None)?;
        names = candidates(&all, leaves);
    }
    match &names[..] {
        [name] => Ok(name.clone()),
        [] => Err(FileError::request(&tree.path, format!("has no array of {}; {}", kinds(leaves), listing(&all)))),
        _ => {
            let wanted: Vec<_> = all.into_iter().filter(|(name, _)| names.contains(name)).collect();
            let there = if is_record { format!("there are: {}", quoted(&names.join(", "))) } else { listing(&wanted) };
            Err(FileError::request(&tree.path, format!("has several arrays, one of which must be named; {there}")))
        }
    }
}

/// Candidates for a load without a name: the nodes nearest to the root.
fn candidates(all: &[NamedArray], leaves: &[Leaf]) -> Vec<String> {
    if !leaves[0].fields.is_empty() {
        let has = |node: &str| all.iter().any(|(name, _)| name == node);
        let groups = all.iter().flat_map(|(name, _)| name.match_indices('/').map(|(end, _)| name[..end].to_string()));
        let mut groups: Vec<String> = groups.chain([String::new()]).collect();
        groups.sort();
        groups.dedup();
        return groups.into_iter().filter(|group| leaves.iter().all(|leaf| has(&leaf.node(group)))).collect();
    }
    let is_level = |name: &str| name.starts_with("levels/");
    let select = |is_wanted: &dyn Fn(&NamedArray) -> bool| -> Vec<String> {
        all.iter().filter(|node| !is_level(&node.0) && is_wanted(node)).map(|(name, _)| name.clone()).collect()
    };
    let is_at_root = |node: &NamedArray| !node.0.contains('/');
    let has_data = |node: &NamedArray| !is_coordinates(&node.0, &node.1);
    let all =
        [select(&|node| is_at_root(node) && has_data(node)), select(&is_at_root), select(&has_data), select(&|_| true)];
    all.into_iter().find(|names| !names.is_empty()).unwrap_or_default()
}

fn kinds(leaves: &[Leaf]) -> String {
    let describe = |leaf: &Leaf| [&leaf.fields.join("/"), leaf.kind].join(" ").trim().to_string();
    leaves.iter().map(describe).collect::<Vec<_>>().join(", ")
}
