//! Stores of any cut, number of ranks and kind of cell, checked file by file; stores of other
//! programs; damaged stores.

mod documents;
mod foreign;
mod kinds;
mod levels;
mod mistakes;
mod others;
mod replacing;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde_json::{Map, json};
use zippy::region::Region;
use zippy::{Config, Element, GlobalArray, Layout, Result, Split, World, run_with};

use super::{Compression, ZarrOptions, describe, save};
use crate::array::{LoadOptions, load_with};
use zippy_io::array::{Axis, Metadata};

fn load<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    name: &str,
    which: Option<&str>,
    section: Option<[Range<i64>; D]>,
    step: [i64; D],
    layout: impl FnOnce([i64; D]) -> Layout,
) -> Result<(GlobalArray<T, D>, Metadata)> {
    let mut options = LoadOptions::new().step(step);
    options.array = which.map(str::to_string);
    options.section = section.map(Vec::from);
    load_with(world, path, name, &options, layout).map(|loaded| (loaded.array, loaded.metadata))
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Pair {
    velocity: [f32; 2],
    id: u32,
    spare: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Particle {
    place: [f32; 3],
    mass: f32,
    pair: Pair,
}

fn number(at: &[i64]) -> i64 {
    at.iter().rev().fold(1, |number, at| 11 * number + at)
}

fn whole<const D: usize>(shape: [i64; D]) -> Layout {
    Layout::new(shape).split_all(Split::Auto)
}

fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut left = vec![path.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let at = entry.unwrap().path();
            if at.is_dir() {
                left.push(at);
            } else {
                let name = at.strip_prefix(path).unwrap().to_str().unwrap().to_string();
                all.insert(name, std::fs::read(&at).unwrap());
            }
        }
    }
    all
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}

fn decode_chunk(bytes: &[u8], options: &ZarrOptions) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if options.checksum {
        let sum = bytes.split_off(bytes.len() - 4);
        assert_eq!(crc32c(&bytes).to_le_bytes(), sum[..]);
    }
    match options.compression {
        Compression::None => bytes,
        Compression::Zstd(_) => zstd::decode_all(&bytes[..]).unwrap(),
        Compression::Gzip(_) => {
            let mut out = Vec::new();
            std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut out).unwrap();
            out
        }
    }
}

/// Chunks of an array by their indices, axis 0 first, from files or shards.
fn chunks<const D: usize>(
    files: &BTreeMap<String, Vec<u8>>,
    node: &str,
    options: &ZarrOptions,
) -> Vec<([i64; D], Vec<u8>)> {
    let mut all = Vec::new();
    for (name, bytes) in files {
        let Some(key) = name.strip_prefix(&format!("{node}/c/")) else { continue };
        let mut at: Vec<i64> = key.split('/').map(|number| number.parse().unwrap()).collect();
        at.truncate(D);
        at.reverse();
        let at: [i64; D] = at.try_into().unwrap();
        let (Some(shard), Some(chunk)) = (&options.shard, &options.chunk) else {
            all.push((at, decode_chunk(bytes, options)));
            continue;
        };
        let counts: [i64; D] = std::array::from_fn(|axis| shard[axis] / chunk[axis]);
        let (data, index) = bytes.split_at(bytes.len() - 16 * counts.iter().product::<i64>() as usize - 4);
        let (index, sum) = index.split_at(index.len() - 4);
        assert_eq!(crc32c(index).to_le_bytes(), sum);
        let inner = Region::new(&[0; D], &counts).unwrap();
        for (inner, entry) in inner.points().zip(index.chunks_exact(16)) {
            let [first, length] = [0, 8].map(|at| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap()));
            if first != u64::MAX {
                let at = std::array::from_fn(|axis| at[axis] * counts[axis] + inner[axis]);
                all.push((at, decode_chunk(&data[first as usize..][..length as usize], options)));
            }
        }
    }
    all
}

/// Expected content of every chunk of an array, without chunks of zeros; `field` is the byte range
/// in a cell.
fn expected<T: Element, const D: usize>(
    shape: [i64; D],
    chunk: [i64; D],
    field: std::ops::Range<usize>,
    value: impl Fn([i64; D]) -> T,
) -> Vec<([i64; D], Vec<u8>)> {
    let counts: [i64; D] = std::array::from_fn(|axis| (shape[axis] + chunk[axis] - 1) / chunk[axis]);
    let numbers = Region::new(&[0; D], &counts).unwrap();
    let of = |number: zippy::extents::Index| {
        let mut bytes = Vec::new();
        for cell in Region::new(&[0; D], &chunk).unwrap().points() {
            let at: [i64; D] = std::array::from_fn(|axis| number[axis] * chunk[axis] + cell[axis]);
            if (0..D).all(|axis| at[axis] < shape[axis]) {
                bytes.extend(&bytemuck::bytes_of(&value(at))[field.clone()])
            } else {
                bytes.resize(bytes.len() + field.len(), 0)
            }
        }
        (std::array::from_fn(|axis| number[axis]), bytes)
    };
    numbers.points().map(of).filter(|(_, bytes)| bytes.iter().any(|&byte| byte != 0)).collect()
}

fn assert_loaded_cells<T: Element + PartialEq + std::fmt::Debug, const D: usize>(
    world: &World,
    path: &Path,
    which: Option<&str>,
    shape: [i64; D],
    value: &impl Fn([i64; D]) -> T,
) -> zippy::Result<Metadata> {
    let middle: [_; D] = std::array::from_fn(|axis| shape[axis] / 3..shape[axis]);
    let mut metadata = Metadata::default();
    for (section, step, split) in [
        (None, [1; D], Split::Auto),
        (Some(middle.clone()), [1; D], Split::Even(3)),
        (Some(middle), std::array::from_fn(|axis| 1 + axis as i64 % 3), Split::Whole),
        (None, [3; D], Split::Even(2)),
    ] {
        let start: [i64; D] = std::array::from_fn(|axis| section.as_ref().map_or(0, |section| section[axis].start));
        let layout = |shape: [i64; D]| Layout::new(shape).split_all(split).ghost([1; D]);
        let (array, found) = load::<T, D>(world, path, "again", which, section, step, layout)?;
        let extents: [i64; D] = std::array::from_fn(|axis| (shape[axis] - start[axis] + step[axis] - 1) / step[axis]);
        assert_eq!(array.shape(), extents);
        for chunk in array.chunks() {
            let cell =
                |at: zippy::extents::Index| value(std::array::from_fn(|axis| start[axis] + step[axis] * at[axis]));
            let expected: Vec<T> = chunk.region().points().map(cell).collect();
            assert_eq!(chunk.all().read()?, expected, "{:?}", chunk.region());
        }
        metadata = if step == [1; D] && start == [0; D] { found } else { metadata };
    }
    Ok(metadata)
}

fn options<const D: usize>(chunk: [i64; D], shard: [i64; D]) -> Vec<ZarrOptions> {
    let plain = ZarrOptions { chunk: Some(chunk.to_vec()), checksum: false, ..ZarrOptions::default() };
    let shard = Some(shard.to_vec());
    vec![
        plain.clone(),
        ZarrOptions { compression: Compression::Zstd(1), ..plain.clone() },
        ZarrOptions { compression: Compression::Gzip(6), checksum: true, ..plain.clone() },
        ZarrOptions { shard: shard.clone(), ..plain.clone() },
        ZarrOptions { shard, compression: Compression::Zstd(-3), checksum: true, ..plain },
    ]
}

/// Saves with every number of ranks, cut and kind of store, checks each chunk, and loads it again.
/// `fields` are nodes and their byte ranges in a cell.
fn round_trip<T: Element + PartialEq + std::fmt::Debug, const D: usize>(
    shape: [i64; D],
    cuts: &[Layout],
    options: &[ZarrOptions],
    fields: &[(&str, std::ops::Range<usize>)],
    value: impl Fn([i64; D]) -> T + Sync,
) {
    let directory = tempfile::tempdir().unwrap();
    for (number, options) in options.iter().enumerate() {
        let ranks = [1, 2, 3, 5][number % 4];
        let (layout, path) = (&cuts[number % cuts.len()], directory.path().join(format!("{number}.zarr")));
        let program = |world: &World| {
            let array = world.array::<T, D>("array", layout)?;
            array.fill_with(&value)?;
            let bytes = save(world, &path, &array.at(..), &Metadata::default(), options)?;
            assert_eq!(bytes, files(&path).values().map(|bytes| bytes.len() as u64).sum::<u64>());
            let metadata = assert_loaded_cells(world, &path, None, shape, &value)?;
            assert_eq!(metadata.name.as_deref(), Some("array"));
            Ok(())
        };
        run_with(Config::threads(ranks), program).unwrap();
        let files = files(&path);
        let chunk: [i64; D] = options.chunk.clone().unwrap().try_into().unwrap();
        for (node, bytes) in fields {
            let (mut found, mut wanted) =
                (chunks::<D>(&files, node, options), expected(shape, chunk, bytes.clone(), &value));
            found.sort();
            wanted.sort();
            assert!(found == wanted, "{node}, {options:?}, {ranks} ranks");
        }
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), options.len());
}

#[test]
fn sections_and_empty_arrays_survive() {
    let directory = tempfile::tempdir().unwrap();
    run_with(Config::threads(3), |world| {
        let path = directory.path().join("array.zarr");
        let array = world.array::<f32, 2>("array", &whole([9, 8]))?;
        array.fill_with(|at| number(&at) as f32)?;
        crate::array::save(world, &path, array.at([2..7, 3..4]))?;
        assert_loaded_cells(world, &path, Some("array"), [5, 1], &|at| number(&[at[0] + 2, at[1] + 3]) as f32)?;
        let part = crate::array::load::<f32, 2>(world, &path, "part", whole)?;
        assert_eq!(part.shape(), [5, 1]);
        let options = ZarrOptions { levels: 3, ..ZarrOptions::default() };
        save(world, &path, &array.at([4..4, 0..8]), &Metadata::default(), &options)?;
        let (none, _) = load::<f32, 2>(world, &path, "none", None, None, [1, 1], whole)?;
        assert_eq!(none.shape(), [0, 8]);
        Ok(())
    })
    .unwrap();
}
