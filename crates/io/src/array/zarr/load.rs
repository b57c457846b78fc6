//! [`load`]: a global array from a Zarr store.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use zarrs::metadata::v3::ArrayMetadataV3;
use zippy::array::GlobalArray;
use zippy::element::Element;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Layout, Result, World};

use super::fields::{Leaf, leaves, under};
use super::node::{self, Node};
use super::stored::Stored;
use super::{axes, coordinates, ome};
use crate::array::metadata::{Axis, Metadata};
use crate::array::staging::ranges;
use crate::{IoError, quoted};

/// So many bytes of cells go to the device at once.
const PART_BYTES: u64 = 8 << 20;

/// A global array called `name` from a Zarr store of version 3 or 2, cut as `layout` says for the shape that results. `which` is
/// the array in the store, as "density" or "levels/1/density"; `None`: its only one, not counting those of places along axes,
/// or the first that OME-Zarr's metadata name. `section` are the cells that are wanted (`None`: all), axis 0 first, and of
/// these every `step`-th along each axis, from the first on. Returns what the store says of the array, too: `name` is that in
/// the store, and spacing and origin are those of the cells that were read. Collective; the same arguments on every rank.
///
/// Every rank reads the chunks that its cells are in. Ghost cells are zeros until [`World::ghosts`] fills them.
///
/// Cells can be plain numbers, vectors, which have one more, last dimension, and records, which are a group with an array for
/// each field. Numbers are of the same type, in either byte order; booleans are read as `u8`. Chunks can be raw or compressed
/// by gzip or zstd, with or without checksums, by themselves or in shards. A chunk that is missing means the fill value. Not
/// read are other codecs (blosc, transposed cells and so Fortran order), chunks that do not hold all numbers of a vector, and
/// chunks of more than 1 GiB; in shards of any size only those that are wanted are read.
///
/// Needs on each rank's host up to three chunks for each field of the cells, the index of a shard, and 8 MiB.
///
/// # Errors
/// The same on every rank: no store or no such array, or several to choose from; cells of another type or another number of
/// axes; a section that does not fit; a layout of another shape; what is damaged or not read here; as [`World::array`].
pub fn load<T: Element, const D: usize>(
    world: &World,
    path: impl AsRef<Path>,
    name: &str,
    which: Option<&str>,
    section: Option<[Range<i64>; D]>,
    step: [i64; D],
    layout: impl FnOnce([i64; D]) -> Layout,
) -> Result<(GlobalArray<T, D>, Metadata)> {
    let path = path.as_ref();
    let what = format!("loading {which:?}, {section:?} in steps of {step:?}, of {}", path.display());
    let opened = || -> Result<Opened> {
        let (stored, metadata) = open(path, which, &leaves(&T::INFO), D)?;
        let wanted = Wanted::new(path, &stored[0].shape, section.as_ref().map(|ranges| &ranges[..]), &step)?;
        Ok(Opened { metadata: wanted.of(metadata), stored, wanted })
    };
    let Opened { mut stored, wanted, metadata } = world.agree(&what, opened())?;
    let shape: [i64; D] = std::array::from_fn(|axis| wanted.shape[axis]);
    let layout = layout(shape);
    let checked = match *layout.shape() == *wanted.shape {
        true => Ok(()),
        false => {
            let message = format!("{} are to be read, and the layout has {}", wanted.shape, layout.shape());
            Err(IoError::request(path, message).into())
        }
    };
    // Ranks that see another shape have another call.
    world.agree(&format!("{what}, of shape {shape:?}"), checked)?;
    let array = world.array::<T, D>(name, &layout)?;
    world.agree(&what, read(&array, &mut stored, &wanted))?;
    Ok((array, metadata))
}

struct Opened {
    stored: Vec<Stored>,
    wanted: Wanted,
    metadata: Metadata,
}

/// Which cells are wanted: of those from `start` on, one in every `step`.
struct Wanted {
    start: Index,
    step: Index,
    shape: Index,
}

impl Wanted {
    fn new(
        path: &Path,
        shape: &Index,
        section: Option<&[Range<i64>]>,
        step: &[i64],
    ) -> std::result::Result<Self, IoError> {
        let axes = shape.axes();
        if let Some(axis) = (0..axes).find(|&axis| step[axis] < 1) {
            return Err(IoError::request(
                path,
                format!("a step of {} along axis {axis}; it must be 1 or more", step[axis]),
            ));
        }
        let range = |axis: usize| section.map_or(0..shape[axis], |ranges| ranges[axis].clone());
        let bad = |axis: &usize| {
            let range = range(*axis);
            range.start < 0 || range.end < range.start || range.end > shape[*axis]
        };
        if let Some(axis) = (0..axes).find(bad) {
            let message =
                format!("cells {:?} along axis {axis} are wanted, and there are {}", range(axis), shape[axis]);
            return Err(IoError::request(path, message));
        }
        let start = Index::from_fn(axes, |axis| range(axis).start);
        let cells = |axis: usize| {
            (range(axis).end - range(axis).start) / step[axis]
                + i64::from((range(axis).end - range(axis).start) % step[axis] != 0)
        };
        Ok(Self { start, step: Index::new(step), shape: Index::from_fn(axes, cells) })
    }

    /// The cell of the store for a cell of the array.
    fn source(&self, cell: &Index) -> Index {
        Index::from_fn(cell.axes(), |axis| self.start[axis] + cell[axis] * self.step[axis])
    }

    /// The box of the store that the cells of a box of the array, which is not empty, lie in.
    fn source_box(&self, cells: &Region) -> Region {
        let last = self.source(&Index::from_fn(cells.axes(), |axis| cells.end[axis] - 1));
        Region::between(self.source(&cells.start), Index::from_fn(cells.axes(), |axis| last[axis] + 1))
    }

    /// The box of the array whose cells lie in a box of the store; `None`: none do.
    fn target_box(&self, source: &Region) -> Option<Region> {
        let axes = source.axes();
        let up = |place: i64, axis: usize| {
            let distance = (place - self.start[axis]).max(0);
            distance / self.step[axis] + i64::from(distance % self.step[axis] != 0)
        };
        let start = Index::from_fn(axes, |axis| up(source.start[axis], axis).min(self.shape[axis]));
        let end = Index::from_fn(axes, |axis| up(source.end[axis], axis).min(self.shape[axis]));
        let is_empty = (0..axes).any(|axis| start[axis] >= end[axis]);
        (!is_empty).then(|| Region::between(start, end))
    }

    /// The metadata of the cells that are read.
    fn of(&self, mut metadata: Metadata) -> Metadata {
        for (axis, known) in metadata.axes.iter_mut().enumerate() {
            known.origin += self.start[axis] as f64 * known.spacing;
            known.spacing *= self.step[axis] as f64;
        }
        metadata
    }
}

/// The arrays of the leaves, and what the store says of them.
fn open(
    path: &Path,
    which: Option<&str>,
    leaves: &[Leaf],
    axes: usize,
) -> std::result::Result<(Vec<Stored>, Metadata), IoError> {
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
    let mut metadata = axes::metadata(&own, axes);
    if metadata.axes.is_empty() {
        metadata.axes = foreign_axes(path, &root, &chosen, names.as_deref(), &stored[0].shape)?;
    }
    metadata.name = chosen.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_string);
    Ok((stored, metadata))
}

/// The axes where no attribute of Zippy's tells of them.
fn foreign_axes(
    path: &Path,
    root: &Node,
    chosen: &str,
    names: Option<&[Option<String>]>,
    shape: &Index,
) -> std::result::Result<Vec<Axis>, IoError> {
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

fn array_at(path: &Path, name: &str) -> std::result::Result<(PathBuf, ArrayMetadataV3), IoError> {
    let directory = node::directory(path, name)?;
    match node::read(&directory)? {
        Some(Node::Array(array)) => Ok((directory, *array)),
        Some(Node::Group(_)) => Err(IoError::request(path, format!("{} is a group, not an array", quoted(name)))),
        None => {
            let there =
                node::arrays(path, Some(3)).map(|all| all.into_iter().map(|(name, _)| name).collect::<Vec<_>>());
            let there = there.unwrap_or_default().join(", ");
            Err(IoError::request(path, format!("has no array {}; there are: {}", quoted(name), quoted(&there))))
        }
    }
}

fn group_at(path: &Path, name: &str) -> std::result::Result<Map<String, Value>, IoError> {
    match node::read(&node::directory(path, name)?)? {
        Some(Node::Group(attributes)) => Ok(attributes),
        _ => Ok(Map::new()),
    }
}

/// The node that is meant where none is named.
fn choose(path: &Path, root: &Node, leaves: &[Leaf]) -> std::result::Result<String, IoError> {
    let Node::Group(attributes) = root else { return Ok(String::new()) };
    let is_record = !leaves[0].fields.is_empty();
    if let Some(first) = ome::first(attributes).filter(|_| !is_record) {
        return Ok(first.to_string());
    }
    let all = node::arrays(path, Some(1 + leaves.iter().map(|leaf| leaf.fields.len()).max().unwrap_or(0)))?;
    let has = |node: &str| all.iter().any(|(name, _)| name == node);
    let names: Vec<String> = if is_record {
        // The group that has all fields.
        let group = |name: &String| name.rsplit_once('/').map_or(String::new(), |(group, _)| group.to_string());
        let mut groups: Vec<String> = all.iter().map(|(name, _)| group(name)).collect();
        groups.extend(all.iter().map(|(name, _)| group(&group(name))));
        groups.sort();
        groups.dedup();
        groups.into_iter().filter(|group| leaves.iter().all(|leaf| has(&leaf.node(group)))).collect()
    } else {
        let is_place = |name: &str, array: &std::result::Result<ArrayMetadataV3, IoError>| {
            let names = array.as_ref().ok().and_then(|array| array.dimension_names.as_deref());
            names.is_some_and(|names| names == [Some(name.to_string())])
        };
        let candidates = all.iter().filter(|(name, _)| !name.contains('/'));
        let plain: Vec<String> =
            candidates.clone().filter(|(name, array)| !is_place(name, array)).map(|(name, _)| name.clone()).collect();
        if plain.is_empty() { candidates.map(|(name, _)| under("", name)).collect() } else { plain }
    };
    match &names[..] {
        [one] => Ok(one.clone()),
        [] => Err(IoError::request(path, format!("has no array of {}", kinds(leaves)))),
        several => {
            let message = format!("has several arrays, one of which must be named: {}", quoted(&several.join(", ")));
            Err(IoError::request(path, message))
        }
    }
}

fn kinds(leaves: &[Leaf]) -> String {
    let one = |leaf: &Leaf| [&leaf.fields.join("/"), leaf.kind].join(" ").trim().to_string();
    leaves.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Reads the chunks of this rank.
fn read<T: Element, const D: usize>(array: &GlobalArray<T, D>, stored: &mut [Stored], wanted: &Wanted) -> Result<()> {
    let most = (PART_BYTES / T::INFO.bytes as u64).max(1);
    let mut pieces: Vec<Last> = stored.iter().map(|_| None).collect();
    let rank = array.core().rank();
    let (cuts, ownership) = (array.core().chunks(), array.core().ownership());
    for chunk in array.chunks().filter(|chunk| !chunk.region().is_empty()) {
        let touched = stored[0].touching(&wanted.source_box(&chunk.region()));
        for piece in touched.points() {
            let Some(cells) = wanted.target_box(&stored[0].region(&piece)) else { continue };
            let mut parts = Vec::new();
            cuts.touching(&cells, |id, part| {
                if ownership.owner(id).rank == rank {
                    parts.push((id, part));
                }
            });
            // Each piece is read once, for all chunks of this rank.
            if parts.iter().map(|(id, _)| *id).min() != Some(chunk.id()) {
                continue;
            }
            for part in parts.iter().flat_map(|(_, part)| part.cut(most)) {
                let mut values = vec![T::zeroed(); part.cells() as usize];
                for (stored, last) in stored.iter_mut().zip(&mut pieces) {
                    fill(stored, last, wanted, &part, bytemuck::cast_slice_mut(&mut values), T::INFO.bytes)?;
                }
                let holder = parts.iter().find(|(_, held)| held.covers(&part)).map(|(id, _)| *id);
                let target = array.chunks().find(|chunk| Some(chunk.id()) == holder);
                target.map_or(Ok(()), |chunk| chunk.at_global(ranges::<D>(&part)).write(&values))?;
            }
        }
    }
    Ok(())
}

/// The piece that was read last, and its cells.
type Last = Option<(Index, Option<Vec<u8>>)>;

/// The leaf of the cells of a box of the array.
fn fill(
    stored: &mut Stored,
    last: &mut Last,
    wanted: &Wanted,
    part: &Region,
    values: &mut [u8],
    cell_bytes: usize,
) -> std::result::Result<(), IoError> {
    for piece in stored.touching(&wanted.source_box(part)).points() {
        let region = stored.region(&piece);
        let Some(cells) = wanted.target_box(&region).and_then(|cells| cells.intersect(part)) else { continue };
        if last.as_ref().is_none_or(|(number, _)| *number != piece) {
            *last = None;
            *last = Some((piece, stored.read(&piece)?));
        }
        let found = last.as_ref().and_then(|(_, found)| found.as_deref());
        let (bytes, offset) = (stored.leaf.bytes(), stored.leaf.offset);
        let is_dense = bytes == cell_bytes && wanted.step[0] == 1;
        let row = cells.end[0] - cells.start[0];
        let rows = Region::between(
            cells.start,
            Index::from_fn(part.axes(), |axis| if axis == 0 { cells.start[0] + 1 } else { cells.end[axis] }),
        );
        for first in rows.points() {
            let to = part.offset(&first) as usize * cell_bytes;
            let from = found.map(|found| &found[region.offset(&wanted.source(&first)) as usize * bytes..]);
            if let (true, Some(from)) = (is_dense, from) {
                values[to..to + row as usize * bytes].copy_from_slice(&from[..row as usize * bytes]);
                continue;
            }
            for cell in 0..row as usize {
                let to = to + cell * cell_bytes + offset;
                let number =
                    from.map_or(&stored.fill[..], |from| &from[cell * wanted.step[0] as usize * bytes..][..bytes]);
                values[to..to + bytes].copy_from_slice(number);
            }
        }
    }
    Ok(())
}
