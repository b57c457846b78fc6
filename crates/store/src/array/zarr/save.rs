//! [`save`]: a global array to a Zarr store.

use std::path::Path;

use serde_json::Map;
use zippy::array::GlobalSection;
use zippy::element::Element;
use zippy::extents::Index;
use zippy::{Error, Result, World};
use zippy_files::FileError;

use super::coordinates::CoordinateCells;
use super::directory::CollectiveStore;
use super::encode::Encoder;
use super::fields::{Leaf, child_path, leaves};
use super::options::ZarrOptions;
use super::{axes, coordinates, document, ome};
use crate::array::blocks::BlockGrid;
use crate::array::options::save_call;
use crate::array::staging::each_block_of_grid;
use crate::array::subsample;
use zippy_io::array::Metadata;

/// Implementation of [`save_with`](crate::array::save_with); see [the module](super).
pub(crate) fn save<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    section: &GlobalSection<T, D>,
    metadata: &Metadata,
    options: &ZarrOptions,
) -> Result<u64> {
    let metadata = &metadata.sorted();
    let name = metadata.name.clone().unwrap_or_else(|| section.array().name().to_string());
    let plan = StorePlan { path, name, metadata, options };
    let (array, region) = (section.array(), section.region().ok());
    let call_name = save_call(path, array.name(), region.as_ref(), &(metadata, options));
    world.agree(&call_name, plan.check(section))?;
    let mut store = CollectiveStore::create(world, path)?;
    plan.write_groups(&mut store, world, &section.region()?.extents(), &leaves(&T::INFO));
    plan.write_level(world, &mut store, section, 0)?;
    let mut finer = None;
    for level in 1..=options.levels {
        let name = format!("zippy_io: level {level} of {}", section.array().name());
        let coarser = subsample(world, finer.as_ref().unwrap_or(section), [2; D], &name)?.at(..);
        plan.write_level(world, &mut store, &coarser, level)?;
        finer = Some(coarser);
    }
    store.finish(world)
}

struct StorePlan<'a> {
    path: &'a Path,
    name: String,
    metadata: &'a Metadata,
    options: &'a ZarrOptions,
}

impl StorePlan<'_> {
    fn check<T: Element, const D: usize>(&self, section: &GlobalSection<T, D>) -> Result<()> {
        let (path, shape) = (self.path, section.region()?.extents());
        if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("zarr")) {
            return Err(FileError::request(path, "is not the name of a Zarr store; it must end with .zarr").into());
        }
        axes::check(path, self.metadata, D)?;
        axes::check_name(path, "the array", &self.name)?;
        let axis_names = self.metadata.axes.iter().filter_map(|axis| axis.name.as_ref());
        if self.options.levels > 0 && self.name == "levels" || axis_names.clone().any(|name| *name == self.name) {
            let message = format!("the array is called {:?}, like another node of the store", self.name);
            return Err(FileError::request(path, message).into());
        }
        if self.options.levels > 0 && axis_names.clone().any(|name| name == "levels") {
            return Err(FileError::request(path, "an axis is called \"levels\", as the group of the levels").into());
        }
        self.options.grid(path, &shape, T::INFO.bytes as u64).map(|_| ()).map_err(Error::from)
    }

    fn group_path(level: usize) -> String {
        if level == 0 { String::new() } else { format!("levels/{level}") }
    }

    /// Writes groups and coordinates. On rank 0.
    fn write_groups(&self, store: &mut CollectiveStore, world: &World, shape: &Index, leaves: &[Leaf]) {
        if world.rank() != 0 {
            return;
        }
        let (levels, is_record) = (self.options.levels, !leaves[0].fields.is_empty());
        let nodes: Vec<String> = (0..=levels).map(|level| child_path(&Self::group_path(level), &self.name)).collect();
        let mut attributes = Map::new();
        if levels > 0 && !is_record && leaves[0].numbers.is_none() {
            attributes.extend(ome::attribute(self.metadata, shape.axes(), &nodes).map(|ome| ("ome".to_string(), ome)));
        }
        store.put("zarr.json", document::group(attributes).as_bytes());
        if levels > 0 {
            store.put("levels/zarr.json", document::group(Map::new()).as_bytes());
        }
        for (level, node) in nodes.iter().enumerate() {
            let (group, every) = (Self::group_path(level), (1_u64 << level) as f64);
            if level > 0 {
                store.put(&format!("{group}/zarr.json"), document::group(Map::new()).as_bytes());
            }
            // With other directions, a coordinate depends on several axes.
            let along = self.metadata.axes.iter().filter(|_| self.metadata.is_along_space());
            for (axis, axis_metadata) in along.enumerate() {
                let is_field =
                    |name: &String| leaves.iter().any(|leaf| leaf.fields.first().is_some_and(|field| field == name));
                // xarray expects coordinates in the group of the arrays.
                let parent = if is_record { node } else { &group };
                if !axis_metadata.name.as_ref().is_some_and(is_field) {
                    let (count, is_checked) = (level_extent(shape[axis], level), self.options.checksum);
                    let written =
                        coordinates::write(store, parent, axis_metadata, &CoordinateCells { count, every, is_checked });
                    store.keep_error(written);
                }
            }
        }
    }

    /// Writes the array of a level. Collective.
    fn write_level<T: Element, const D: usize>(
        &self,
        world: &World,
        store: &mut CollectiveStore,
        section: &GlobalSection<T, D>,
        level: usize,
    ) -> Result<()> {
        let (region, cell_bytes) = (section.region()?, T::INFO.bytes);
        let grid = self.options.grid(self.path, &region.extents(), cell_bytes as u64)?;
        let node = child_path(&Self::group_path(level), &self.name);
        let encoder = |leaf| Encoder::new(self.path, leaf, cell_bytes, grid, self.options);
        let encoders = leaves(&T::INFO).into_iter().map(encoder).collect::<std::result::Result<Vec<_>, _>>();
        let encoders = world.agree("preparing to encode", encoders.map_err(Error::from))?;
        if world.rank() == 0 {
            self.write_documents(store, &encoders, &region.extents(), &node, level);
        }
        // The encoder pads chunks that reach beyond the end.
        let shape = region.extents();
        let extents = Index::from_fn(D, |axis| grid.file()[axis].min(shape[axis].max(1)));
        each_block_of_grid(world, &section.array(), &BlockGrid::with_extents(region, extents), &mut |block, cells| {
            let at = Index::from_fn(D, |axis| (block.start[axis] - region.start[axis]) / extents[axis]);
            for encoder in &encoders {
                let key = format!("{}/{}", encoder.leaf.node(&node), encoder.key(&at));
                match encoder.encode(cells, &block.extents()) {
                    Ok(Some(bytes)) => store.put(&key, &bytes),
                    Ok(None) => {}
                    Err(error) => {
                        let message = format!("cannot be encoded: {error}");
                        return Err(FileError::request(&self.path.join(key), message));
                    }
                }
            }
            store.check()
        })
    }

    fn write_documents(
        &self,
        store: &mut CollectiveStore,
        encoders: &[Encoder],
        shape: &Index,
        node: &str,
        level: usize,
    ) {
        let names = axes::names(self.metadata, shape.axes());
        let mut attributes = axes::attributes(self.metadata, (1_u64 << level) as f64);
        let mut groups: Vec<String> = Vec::new();
        for encoder in encoders {
            for end in 0..encoder.leaf.fields.len() {
                let group =
                    encoder.leaf.fields[..end].iter().fold(node.to_string(), |node, field| child_path(&node, field));
                if !groups.contains(&group) {
                    let text = document::group(std::mem::take(&mut attributes));
                    store.put(&format!("{group}/zarr.json"), text.as_bytes());
                    groups.push(group);
                }
            }
            let array_attributes = std::mem::take(&mut attributes);
            let text = document::array(&encoder.leaf, shape, &names, &encoder.grid, self.options, array_attributes);
            store.put(&format!("{}/zarr.json", encoder.leaf.node(node)), text.as_bytes());
        }
    }
}

fn level_extent(cells: i64, level: usize) -> i64 {
    (0..level).fold(cells, |cells, _| cells / 2 + cells % 2)
}
