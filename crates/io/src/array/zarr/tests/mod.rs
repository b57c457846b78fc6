//! Stores of any cut, number of ranks and kind of cell, looked at file by file; those of others; and what is damaged.

mod levels;
mod mistakes;
mod others;
mod replacing;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, json};
use zippy::region::Region;
use zippy::{Config, Element, Layout, Split, World, run_with};

use super::{Compression, ZarrOptions, describe, load, save};
use crate::array::metadata::{Axis, Metadata};

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

/// Values tell where their cell is.
fn number(at: &[i64]) -> i64 {
    at.iter().rev().fold(1, |number, at| 11 * number + at)
}

fn whole<const D: usize>(shape: [i64; D]) -> Layout {
    Layout::new(shape).split_all(Split::Auto)
}

/// All files of a directory by their names in it.
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

/// The checksum, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}

/// A chunk without its compression and checksum.
fn unpacked(bytes: &[u8], options: &ZarrOptions) -> Vec<u8> {
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

/// The chunks of an array by their numbers along each axis, axis 0 first, whether they are in files or in shards.
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
            all.push((at, unpacked(bytes, options)));
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
                all.push((at, unpacked(&data[first as usize..][..length as usize], options)));
            }
        }
    }
    all
}

/// What every chunk of an array must hold, that of zeros left out; `field` are its bytes in a cell.
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
            match (0..D).all(|axis| at[axis] < shape[axis]) {
                true => bytes.extend(&bytemuck::bytes_of(&value(at))[field.clone()]),
                false => bytes.resize(bytes.len() + field.len(), 0),
            }
        }
        (std::array::from_fn(|axis| number[axis]), bytes)
    };
    numbers.points().map(of).filter(|(_, bytes)| bytes.iter().any(|&byte| byte != 0)).collect()
}

/// Loads an array with some cuts, sections and steps, and looks at every cell.
fn look<T: Element + PartialEq + std::fmt::Debug, const D: usize>(
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

/// Options that differ in all that there is.
fn options<const D: usize>(chunk: [i64; D], shard: [i64; D]) -> Vec<ZarrOptions> {
    let plain = ZarrOptions { chunk: Some(chunk.to_vec()), ..ZarrOptions::default() };
    let shard = Some(shard.to_vec());
    vec![
        plain.clone(),
        ZarrOptions { compression: Compression::Zstd(1), ..plain.clone() },
        ZarrOptions { compression: Compression::Gzip(6), checksum: true, ..plain.clone() },
        ZarrOptions { shard: shard.clone(), ..plain.clone() },
        ZarrOptions { shard, compression: Compression::Zstd(-3), checksum: true, ..plain },
    ]
}

/// Saves with every number of ranks, cut and kind of store, looks at each chunk, and loads it again. `fields` are nodes and
/// their bytes in a cell.
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
            let metadata = look(world, &path, None, shape, &value)?;
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
    // Nothing else is left.
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), options.len());
}

#[test]
fn floats_in_three_axes() {
    let shape = [7, 5, 6];
    let uneven = [Split::Sizes(vec![1, 6]), Split::Sizes(vec![0, 5]), Split::Sizes(vec![4, 1, 1])];
    let cuts =
        [whole(shape).ghost([2; 3]), Layout::new(shape).split(uneven), Layout::new(shape).split_all(Split::Even(2))];
    // A block of zeros, which is left out.
    let value = |at: [i64; 3]| if at[0] < 3 && at[2] < 4 { 0.0 } else { number(&at) as f32 - 0.5 };
    round_trip(shape, &cuts, &options([3, 2, 4], [6, 2, 4]), &[("array", 0..4)], value);
    // Larger than the array.
    round_trip(shape, &cuts[..1], &options([9, 5, 2], [9, 10, 8])[2..], &[("array", 0..4)], value);
}

#[test]
fn small_numbers() {
    let cuts = [Layout::new([13, 9]).split([Split::Sizes(vec![5, 7, 1]), Split::Even(2)])];
    round_trip([13, 9], &cuts, &options([5, 4], [10, 4]), &[("array", 0..1)], |at| (number(&at) % 251) as u8);
    round_trip([37], &[whole([37])], &options([10], [20]), &[("array", 0..2)], |[x]| (x - 20) as i16);
}

#[test]
fn vectors() {
    let value = |at: [i64; 3]| [number(&at) as u32, u32::MAX];
    round_trip([4, 3, 2], &[whole([4, 3, 2])], &options([3, 2, 1], [3, 4, 1]), &[("array", 0..8)], value);
}

#[test]
fn records_by_field() {
    let value = |[i]: [i64; 1]| {
        let pair = Pair { velocity: [i as f32, -1.5], id: 7 * i as u32, spare: 0 };
        Particle { place: [1.0, i as f32, 0.5], mass: 0.25 * i as f32, pair }
    };
    let fields =
        [("place", 0..12), ("mass", 12..16), ("pair/velocity", 16..24), ("pair/id", 24..28), ("pair/spare", 28..32)];
    let fields = fields.map(|(name, bytes)| (format!("array/{name}"), bytes));
    let fields: Vec<_> = fields.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let cuts = [Layout::new([29]).split([Split::Sizes(vec![20, 0, 9])]), whole([29])];
    round_trip([29], &cuts, &options([8], [16]), &fields, value);
}

#[test]
fn seven_axes() {
    let shape = [3, 2, 1, 2, 3, 1, 2];
    let options = options([2, 2, 1, 1, 3, 1, 1], [2, 2, 2, 1, 3, 1, 2]);
    round_trip(shape, &[whole(shape)], &options[2..4], &[("array", 0..4)], |at| number(&at) as i32);
}

/// The documents, word for word.
#[test]
fn documents() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("engine.zarr");
    let axis = |name: &str, spacing, origin| Axis { name: Some(name.into()), unit: Some("mm".into()), spacing, origin };
    let metadata = Metadata {
        name: Some("density".into()),
        axes: vec![axis("x", 0.5, -1.0), axis("y", 2.0, 0.0)],
        directions: Some(vec![vec![0.0, 1.0], vec![1.0, 0.0]]),
        attributes: Map::from_iter([("scanner".to_string(), json!({"year": 1998}))]),
    };
    let options = ZarrOptions {
        chunk: Some(vec![3, 2]),
        shard: Some(vec![6, 4]),
        compression: Compression::Zstd(5),
        ..ZarrOptions::default()
    };
    run_with(Config::threads(2), |world| {
        let array = world.array::<f32, 2>("array", &whole([5, 4]))?;
        array.fill_with(|at| number(&at) as f32)?;
        save(world, &path, &array.at(..), &metadata, &options)?;
        let found = look(world, &path, None, [5, 4], &|at| number(&at) as f32)?;
        assert_eq!(found, metadata);
        // Those of the cells that are read.
        let (_, found) = load::<f32, 2>(world, &path, "part", None, Some([2..5, 1..4]), [2, 3], Layout::new)?;
        assert_eq!((found.axes[0].origin, found.axes[0].spacing), (0.0, 1.0));
        assert_eq!((found.axes[1].origin, found.axes[1].spacing), (2.0, 6.0));
        Ok(())
    })
    .unwrap();
    let files = files(&path);
    let document = |name: &str| serde_json::from_slice::<serde_json::Value>(&files[name]).unwrap();
    assert_eq!(document("zarr.json"), json!({"zarr_format": 3, "node_type": "group", "attributes": {}}));
    let expected = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4, 5],
        "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0,
        "codecs": [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [2, 3],
            "codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "zstd", "configuration": {"level": 5, "checksum": false}},
            ],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
            "index_location": "end",
        }}],
        "attributes": {"scanner": {"year": 1998}, "zippy": {
            "names": ["y", "x"],
            "units": ["mm", "mm"],
            "spacing": [2.0, 0.5],
            "origin": [0.0, -1.0],
            "directions": [[1.0, 0.0], [0.0, 1.0]],
        }},
        "dimension_names": ["y", "x"],
    });
    assert_eq!(document("density/zarr.json"), expected);
    assert_eq!(document("x/zarr.json")["attributes"], json!({"units": "mm"}));
    let places: Vec<f64> =
        files["x/c/0"].chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(places, [-1.0, -0.5, 0.0, 0.5, 1.0]);
    let described = describe(&path).unwrap();
    let names: Vec<&str> = described.iter().map(|array| array.name.as_str()).collect();
    assert_eq!(names, ["density", "x", "y"]);
    assert_eq!(described[0].shape, [5, 4]);
    assert_eq!(described[0].file, [6, 4]);
    assert_eq!(described[0].dimensions, ["x", "y"]);
    assert_eq!(described[0].codecs, ["sharding_indexed", "bytes", "zstd"]);
}

#[test]
fn sections_and_nothing() {
    let directory = tempfile::tempdir().unwrap();
    run_with(Config::threads(3), |world| {
        let path = directory.path().join("array.zarr");
        let array = world.array::<f32, 2>("array", &whole([9, 8]))?;
        array.fill_with(|at| number(&at) as f32)?;
        crate::array::save(world, &path, &array.at([2..7, 3..4]))?;
        look(world, &path, Some("array"), [5, 1], &|at| number(&[at[0] + 2, at[1] + 3]) as f32)?;
        let part = crate::array::load::<f32, 2>(world, &path, "part", whole)?;
        assert_eq!(part.shape(), [5, 1]);
        // Each takes the place of the one before.
        let options = ZarrOptions { levels: 3, ..ZarrOptions::default() };
        save(world, &path, &array.at([4..4, 0..8]), &Metadata::default(), &options)?;
        let (none, _) = load::<f32, 2>(world, &path, "none", None, None, [1, 1], whole)?;
        assert_eq!(none.shape(), [0, 8]);
        Ok(())
    })
    .unwrap();
}
