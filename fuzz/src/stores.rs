//! Zarr stores and checkpoints that the library writes and reads on one rank.

use std::path::{Path, PathBuf};

use zippy::{Element, Layout, World};
use zippy_store::array::zarr::{Compression, ZarrOptions};
use zippy_store::array::{LoadOptions, SaveOptions, describe, load_with, save_with};
use zippy_store::checkpoint::{Checkpoints, Contents};

use crate::common::volumes::Folder;
use crate::samples::{Encoding, Sample, SampleFile};

pub(crate) const STORE: &str = "store.zarr";
pub(crate) const RUN: &str = "run";

const MAX_CELLS: i64 = 1 << 16;

/// Sample with all files of a directory, JSON documents first.
fn all_files(folder: &Path, directory: &str) -> Result<Sample, String> {
    let (mut open, mut found) = (vec![PathBuf::from(directory)], Vec::new());
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(folder.join(&next)).map_err(|error| error.to_string())?.flatten() {
            let name = next.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(name);
            } else {
                found.push(name);
            }
        }
    }
    found.sort_by_key(|name| (name.extension().is_none_or(|ending| ending != "json"), name.clone()));
    let content = |name: PathBuf| {
        let bytes = std::fs::read(folder.join(&name)).map_err(|error| error.to_string())?;
        Ok(SampleFile { name: name.to_string_lossy().replace('\\', "/"), sections: vec![(Encoding::Plain, bytes)] })
    };
    found.into_iter().map(content).collect()
}

type SetOptions<'a> = &'a dyn Fn(&mut ZarrOptions);

pub(crate) fn arrays(world: &World) -> Result<Vec<Sample>, String> {
    let failed = |error: zippy::Error| error.to_string();
    let array = world.array::<f32, 2>("u", &Layout::new([7, 5])).map_err(failed)?;
    array.fill_with(|[x, y]| (x + 10 * y) as f32).map_err(failed)?;
    let zstd = Compression::Zstd(3);
    let variants: [(SetOptions<'_>, bool); 6] = [
        (&|_| (), false),
        (&|options| options.compression = Compression::Gzip(5), false),
        (&|options| (options.compression, options.checksum) = (zstd, true), false),
        (&|_| (), true),
        (&|options| (options.compression, options.checksum) = (zstd, true), true),
        (&|options| options.levels = 1, false),
    ];
    let mut all = Vec::new();
    for (set_options, is_sharded) in variants {
        let mut options = ZarrOptions::default();
        options.chunk = Some(vec![4, 3]);
        options.shard = is_sharded.then(|| vec![8, 6]);
        set_options(&mut options);
        let folder = Folder::new();
        save_with(world, folder.0.join(STORE), array.at(..), &SaveOptions::new().zarr(options)).map_err(failed)?;
        all.push(all_files(&folder.0, STORE)?);
    }
    // The library does not write version 2.
    let cells: Vec<u8> = (0..12_i16).flat_map(|cell| cell.to_be_bytes()).collect();
    for (compressor, encoding) in [("null", Encoding::Plain), ("{\"id\":\"gzip\",\"level\":5}", Encoding::Gzip)] {
        let document = format!(
            "{{\"zarr_format\":2,\"shape\":[3,4],\"chunks\":[3,4],\"dtype\":\">i2\",\"compressor\":{compressor},\
             \"fill_value\":0,\"order\":\"C\",\"filters\":null}}"
        );
        let file = |name: &str, encoding, bytes: Vec<u8>| SampleFile {
            name: format!("{STORE}/{name}"),
            sections: vec![(encoding, bytes)],
        };
        let attributes = b"{\"_ARRAY_DIMENSIONS\":[\"y\",\"x\"]}".to_vec();
        all.push(vec![
            file(".zarray", Encoding::Plain, document.into_bytes()),
            file("0.0", encoding, cells.clone()),
            file(".zattrs", Encoding::Plain, attributes),
        ]);
    }
    Ok(all)
}

/// Maximum decompressed size of four bytes: a Zstandard block of one repeated byte has the largest
/// ratio of all codecs.
const MAX_BYTES_OF_FOUR: u64 = 128 << 10;

/// Maximum memory in bytes for the chunks of the store that contains a path. Twice the maximum
/// decompressed size of the largest file, because a reader holds a chunk and the input of its last
/// codec.
pub(crate) fn max_chunk_memory(path: &Path) -> Option<u64> {
    let store = path.ancestors().find(|ancestor| ancestor.file_name().is_some_and(|name| name == STORE))?;
    let (mut open, mut largest) = (vec![store.to_path_buf()], 0);
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_document = name == "zarr.json" || name.to_string_lossy().starts_with(".z");
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => open.push(path),
                Ok(metadata) if !is_document => largest = metadata.len().max(largest),
                _ => {}
            }
        }
    }
    Some(2 * (largest / 4 + 1) * MAX_BYTES_OF_FOUR)
}

pub(crate) fn read_arrays(path: &Path, world: &World) -> Result<(), String> {
    let found = describe(path).map_err(|error| error.to_string())?;
    let is_small = |shape: &[i64]| {
        shape.iter().try_fold(1_i64, |cells, &extent| cells.checked_mul(extent)).is_some_and(|cells| cells <= MAX_CELLS)
    };
    for array in found.arrays.iter().take(8) {
        if let Some(error) = &array.error {
            return Err(error.to_string());
        }
        if !is_small(&array.shape) {
            continue;
        }
        let name = array.name.as_deref();
        match (&*array.element, array.shape.len()) {
            ("f32", 2) => load::<f32, 2>(path, name, world)?,
            ("f32", 1) => load::<f32, 1>(path, name, world)?,
            ("i16", 2) => load::<i16, 2>(path, name, world)?,
            ("u8", 2) => load::<u8, 2>(path, name, world)?,
            _ => {}
        }
    }
    Ok(())
}

fn load<T: Element, const D: usize>(path: &Path, name: Option<&str>, world: &World) -> Result<(), String> {
    let options =
        name.into_iter().filter(|name| !name.is_empty()).fold(LoadOptions::new(), |options, name| options.array(name));
    let loaded = load_with::<T, D>(world, path, "loaded", &options, Layout::new);
    loaded.map(drop).map_err(|error| error.to_string())
}

pub(crate) fn checkpoints(world: &World) -> Result<Vec<Sample>, String> {
    let failed = |error: zippy::Error| error.to_string();
    let array = world.array::<f32, 2>("u", &Layout::new([7, 5])).map_err(failed)?;
    array.fill_with(|[x, y]| (x + 10 * y) as f32).map_err(failed)?;
    let mut list = world.growable::<u16>("list").map_err(failed)?;
    list.append(&[1, 2, 3]).map_err(failed)?;
    let folder = Folder::new();
    let contents = Contents::new().array(&array).growable(&list).state(&(7_u64, "a state".to_string()));
    Checkpoints::new(folder.0.join(RUN), 2).save(world, 10, &contents).map_err(failed)?;
    let mut all = all_files(&folder.0, RUN)?;
    // Mutations of a manifest leave its checksum correct.
    for file in all.iter_mut().filter(|file| file.name.ends_with("manifest.json")) {
        let bytes = file.bytes();
        let body = bytes.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        file.sections = vec![(Encoding::Manifest, bytes[body..].to_vec())];
    }
    Ok(vec![all])
}

pub(crate) fn read_checkpoint(path: &Path, world: &World) -> Result<(), String> {
    let failed = |error: zippy::Error| error.to_string();
    let found = Checkpoints::new(path, 2).latest(world).map_err(failed)?.ok_or("there is no checkpoint")?;
    let names: Vec<String> = found.array_names().map(str::to_string).collect();
    for name in names.iter().take(4) {
        found.array::<f32, 2>(world, name, Layout::new).map_err(failed)?;
    }
    found.growable::<u16>(world, "list").map_err(failed)?;
    found.state::<(u64, String)>().map(drop).map_err(failed)
}
