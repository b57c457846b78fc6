//! Stores as written by z5, N5, OME-Zarr, tensorstore and old programs, created by the tests.

use std::fs;

use serde_json::Value;

use super::*;

fn put(path: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let file = path.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Version 2 document of 10 x 7 cells in chunks of 4 x 3 (Zarr's order), with changed values.
fn version_2_document(dtype: &str, changes: Value) -> String {
    let mut document = json!({
        "shape": [10, 7], "chunks": [4, 3], "dtype": dtype, "fill_value": 0, "order": "C", "filters": null,
        "compressor": null, "zarr_format": 2,
    });
    let own = document.as_object_mut().unwrap();
    changes.as_object().unwrap().iter().for_each(|(key, value)| drop(own.insert(key.clone(), value.clone())));
    document.to_string()
}

/// Value of a cell in Zarr's order; 9 is the fill value.
fn value(y: i64, x: i64) -> i64 {
    if y >= 4 && x < 3 { 9 } else { (10 * y + x) % 120 }
}

/// Bytes of the chunk at these indices: cells in C order or Fortran order, each as `bytes`.
fn chunk(at: [i64; 2], is_fortran: bool, bytes: impl Fn(i64) -> Vec<u8>) -> Vec<u8> {
    let cells: Vec<[i64; 2]> = if is_fortran {
        (0..3).flat_map(|x| (0..4).map(move |y| [y, x])).collect()
    } else {
        (0..4).flat_map(|y| (0..3).map(move |x| [y, x])).collect()
    };
    cells.into_iter().flat_map(|[y, x]| bytes(value(4 * at[0] + y, 3 * at[1] + x))).collect()
}

fn holds<T: Element + PartialEq + std::fmt::Debug>(
    (dtype, changes, separator): (&str, Value, &str),
    is_fortran: bool,
    (encode, number): (&dyn Fn(i64) -> Vec<u8>, impl Fn(i64) -> T + Sync),
    packed: &dyn Fn(Vec<u8>) -> Vec<u8>,
) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    put(&path, ".zarray", version_2_document(dtype, changes));
    for y in 0..3 {
        for x in 0..3 {
            if y == 0 || x > 0 {
                put(&path, &format!("{y}{separator}{x}"), packed(chunk([y, x], is_fortran, encode)));
            }
        }
    }
    for ranks in [1, 3, 5] {
        run_with(Config::threads(ranks), |world| {
            assert_loaded_cells(world, &path, None, [7, 10], &|[x, y]: [i64; 2]| number(value(y, x))).map(drop)
        })
        .unwrap();
    }
}

#[test]
fn second_version_in_both_orders_is_read() {
    let plain = |bytes| bytes;
    let zlib = |bytes: Vec<u8>| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &bytes).unwrap();
        encoder.finish().unwrap()
    };
    // As numcodecs: the length, and a block.
    let lz4 =
        |bytes: Vec<u8>| [(bytes.len() as u32).to_le_bytes().to_vec(), lz4_flex::block::compress(&bytes)].concat();
    let float = |value: i64| (value as f32).to_le_bytes().to_vec();
    let swapped = |value: i64| (value as i16).to_be_bytes().to_vec();
    let byte = |value: i64| vec![value as u8];
    for (order, is_fortran) in [("C", false), ("F", true)] {
        let fill = json!({"order": order, "fill_value": 9.0});
        holds(("<f4", fill, "."), is_fortran, (&float, |value| value as f32), &plain);
        let small = json!({"order": order, "fill_value": "9", "compressor": {"id": "zlib", "level": 1}});
        holds((">i2", small, "."), is_fortran, (&swapped, |value| value as i16), &zlib);
        let small = json!({"order": order, "fill_value": 9.0, "compressor": {"id": "lz4", "acceleration": 1},
            "dimension_separator": "/"});
        holds(("|u1", small, "/"), is_fortran, (&byte, |value| value as u8), &lz4);
    }
}

/// Every coordinate array of a group in order F has one axis.
#[test]
fn one_axis_in_order_f_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let changes = json!({"shape": [10], "chunks": [4], "order": "F", "fill_value": 0.0});
    put(&path, ".zarray", version_2_document("<f4", changes));
    let bytes = |at: i64| (4 * at..4 * at + 4).flat_map(|x| (x as f32).to_le_bytes()).collect::<Vec<u8>>();
    (0..3).for_each(|at| put(&path, &at.to_string(), bytes(at)));
    run_with(Config::threads(2), |world| {
        assert_loaded_cells(world, &path, None, [10], &|[x]: [i64; 1]| x as f32).map(drop)
    })
    .unwrap();
}

fn version_3_document(shape: &[u64], chunk: &[u64], codecs: Value) -> String {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "float32", "fill_value": "0",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default"}, "codecs": codecs,
    })
    .to_string()
}

/// Bytes of the cells of a box by their indices in Zarr's order; the last axis of `order` is
/// fastest.
fn cells<const D: usize>(first: [i64; D], extents: [i64; D], order: [usize; D]) -> Vec<u8> {
    let count: i64 = extents.iter().product();
    let place = |mut number: i64| {
        let mut at = first;
        for &axis in order.iter().rev() {
            at[axis] += number % extents[axis];
            number /= extents[axis];
        }
        at
    };
    (0..count).flat_map(|number| (super::number(&place(number)) as f32).to_le_bytes()).collect()
}

fn little() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

fn transpose(order: Value) -> Value {
    json!({"name": "transpose", "configuration": {"order": order}})
}

#[test]
fn transposed_chunks_are_read() {
    let directory = tempfile::tempdir().unwrap();
    for (turn, (codecs, order)) in [
        (json!([transpose(json!([0, 1, 2])), little()]), [0, 1, 2]),
        (json!([transpose(json!([2, 1, 0])), little()]), [2, 1, 0]),
        (json!([transpose(json!([1, 2, 0])), little()]), [1, 2, 0]),
        (json!([transpose(json!("F")), little()]), [2, 1, 0]),
        // The second codec counts the axes of the first one's output.
        (json!([transpose(json!([1, 2, 0])), transpose(json!([1, 0, 2])), little()]), [2, 1, 0]),
    ]
    .into_iter()
    .enumerate()
    {
        let path = directory.path().join(format!("{turn}.zarr"));
        put(&path, "zarr.json", version_3_document(&[3, 5, 7], &[2, 3, 4], codecs));
        for at in Region::new(&[0; 3], &[2; 3]).unwrap().points() {
            let first = [2 * at[0], 3 * at[1], 4 * at[2]];
            put(&path, &format!("c/{}/{}/{}", at[0], at[1], at[2]), cells(first, [2, 3, 4], order));
        }
        run_with(Config::threads(3), |world| {
            assert_loaded_cells(world, &path, None, [7, 5, 3], &|[x, y, z]: [i64; 3]| number(&[z, y, x]) as f32)
                .map(drop)
        })
        .unwrap();
    }
    // The components of vectors are slowest in order F.
    let path = directory.path().join("vectors.zarr");
    put(&path, "zarr.json", version_3_document(&[5, 3, 4], &[2, 3, 4], json!([transpose(json!([2, 1, 0])), little()])));
    (0..3).for_each(|at| put(&path, &format!("c/{at}/0/0"), cells([2 * at, 0, 0], [2, 3, 4], [2, 1, 0])));
    run_with(Config::threads(3), |world| {
        let value = |[x, y]: [i64; 2]| [0, 1, 2, 3].map(|part| number(&[y, x, part]) as f32);
        assert_loaded_cells(world, &path, None, [3, 5], &value).map(drop)
    })
    .unwrap();
}

/// Bytes of a shard: the parts in this order, and the index in Zarr's order.
fn shard(parts: Vec<Option<Vec<u8>>>, is_at_end: bool) -> Vec<u8> {
    let index_bytes = 16 * parts.len() + 4;
    let (mut index, mut data) = (Vec::new(), Vec::new());
    for part in &parts {
        let first = data.len() + if is_at_end { 0 } else { index_bytes };
        let entry = part.as_ref().map_or([u64::MAX; 2], |part| [first as u64, part.len() as u64]);
        index.extend(entry.iter().flat_map(|number| number.to_le_bytes()));
        data.extend(part.iter().flatten());
    }
    index.extend(crc32c(&index).to_le_bytes());
    if is_at_end { [data, index].concat() } else { [index, data].concat() }
}

fn sharding(chunk: &[u64], codecs: Value, is_at_end: bool) -> Value {
    let place = if is_at_end { "end" } else { "start" };
    json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": chunk, "codecs": codecs, "index_codecs": [little(), {"name": "crc32c"}], "index_location": place,
    }})
}

/// Files of 8 x 12 cells with shards of 4 x 6 cells with chunks of 2 x 3 cells; the files have the
/// axes in reversed order.
#[test]
fn shards_in_shards_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let missing = |y: i64, x: i64| (y, x) == (4, 3) || (0..4).contains(&y) && (6..12).contains(&x);
    let inner = sharding(&[3, 2], json!([little()]), false);
    let codecs = json!([transpose(json!([1, 0])), sharding(&[6, 4], json!([inner]), true)]);
    put(&path, "zarr.json", version_3_document(&[11, 12], &[8, 12], codecs));
    for file in 0..2 {
        // The index is in the file's order: along x, and then along y.
        let outer = (0..2).flat_map(|x| (0..2).map(move |y| [8 * file + 4 * y, 6 * x]));
        let parts = outer.map(|[y, x]| {
            let chunks = (0..2).flat_map(|along| (0..2).map(move |up| [y + 2 * up, x + 3 * along]));
            let chunk = |[y, x]: [i64; 2]| (!missing(y, x)).then(|| cells([y, x], [2, 3], [1, 0]));
            let is_there = !(file == 0 && (y, x) == (0, 6));
            is_there.then(|| shard(chunks.map(chunk).collect(), false))
        });
        put(&path, &format!("c/{file}/0"), shard(parts.collect(), true));
    }
    for ranks in [1, 3, 5] {
        run_with(Config::threads(ranks), |world| {
            let value = |[x, y]: [i64; 2]| if missing(y / 2 * 2, x / 3 * 3) { 0.0 } else { number(&[y, x]) as f32 };
            assert_loaded_cells(world, &path, None, [12, 11], &value).map(drop)
        })
        .unwrap();
    }
    // An inner index that leads out of its shard.
    let file = path.join("c/1/0");
    let mut bytes = fs::read(&file).unwrap();
    let length = 16 * 4 + 4 + 4 * 24;
    bytes[8..16].copy_from_slice(&(length as u64).to_le_bytes());
    let sum = crc32c(&bytes[..64]).to_le_bytes();
    bytes[64..68].copy_from_slice(&sum);
    fs::write(&file, bytes).unwrap();
    run_with(Config::threads(2), |world| {
        let error = load::<f32, 2>(world, &path, "a", None, None, [1, 1], whole).unwrap_err().to_string();
        assert!(error.contains("after the end of the shard"), "{error}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn only_array_is_read_at_any_depth() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    for group in ["zarr.json", "a/zarr.json", "a/b/zarr.json", "a/c/zarr.json"] {
        put(&path, group, r#"{"zarr_format": 3, "node_type": "group"}"#);
    }
    let error_of = |which: Option<&str>| {
        let which = which.map(str::to_string);
        let errors = run_with(Config::threads(2), |world| {
            Ok(load::<f32, 2>(world, &path, "x", which.as_deref(), None, [1, 1], whole).unwrap_err().to_string())
        });
        errors.unwrap().remove(0)
    };
    assert!(error_of(None).contains("has no array of float32; there is none"), "{}", error_of(None));
    put(&path, "a/b/t/zarr.json", version_3_document(&[2, 3], &[2, 3], json!([little()])));
    put(&path, "a/b/t/c/0/0", cells([0, 0], [2, 3], [0, 1]));
    run_with(Config::threads(2), |world| {
        assert_loaded_cells(world, &path, None, [3, 2], &|[x, y]: [i64; 2]| number(&[y, x]) as f32).map(drop)
    })
    .unwrap();
    let named = error_of(Some("a/b"));
    assert!(named.contains("\"a/b\" is a group, not an array; there are: \"a/b/t\" (float32, 3 x 2)"), "{named}");
    assert!(error_of(Some("t")).contains("has no array \"t\"; there are: \"a/b/t\" (float32, 3 x 2)"));
    put(&path, "a/c/u/zarr.json", version_3_document(&[2, 3], &[2, 3], json!([little()])));
    let several = error_of(None);
    assert!(
        several.contains("must be named; there are: \"a/b/t\" (float32, 3 x 2), \"a/c/u\" (float32, 3 x 2)"),
        "{several}"
    );
}

#[cfg(unix)]
#[test]
fn dangling_links_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    for link in ["c/0/0", "c/0", "c"] {
        let path = directory.path().join(format!("{}.zarr", link.len()));
        put(&path, "zarr.json", version_3_document(&[2, 3], &[2, 3], json!([little()])));
        fs::create_dir_all(path.join(link).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("nowhere", path.join(link)).unwrap();
        run_with(Config::threads(3), |world| {
            let error = load::<f32, 2>(world, &path, "a", None, None, [1, 1], whole).unwrap_err().to_string();
            assert!(error.contains(link) && error.contains("is a link that leads to nothing"), "{error}");
            world.barrier()
        })
        .unwrap();
    }
    let path = directory.path().join("document.zarr");
    fs::create_dir(&path).unwrap();
    std::os::unix::fs::symlink("nowhere", path.join(".zattrs")).unwrap();
    put(&path, ".zarray", version_2_document("<f4", json!({})));
    let error = describe(&path).unwrap().arrays[0].error.clone().unwrap().to_string();
    assert!(error.contains(".zattrs"), "{error}");
}

/// No file has the name of a chunk, because the document has another key encoding.
#[test]
fn wrong_key_encoding_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let stranger = || {
        let (stored, _) = super::super::open::open(
            &mut super::super::tree::StoreTree::new(&path),
            None,
            &super::super::fields::leaves(&f32::INFO),
            2,
        )
        .unwrap();
        stored[0].foreign_file()
    };
    put(&path, "zarr.json", version_3_document(&[4, 3], &[2, 3], json!([little()])));
    assert_eq!(stranger(), None);
    for name in [".DS_Store", "c/.hidden"] {
        put(&path, name, [0]);
    }
    assert_eq!(stranger(), None);
    for name in ["0.0", "c.0.0", "c/00/0", "c/2/0", "c/0/0/0", "c/0"] {
        put(&path, name, [0; 24]);
        assert_eq!(stranger(), Some((name.to_string(), "c/0/0".to_string())));
        fs::remove_file(path.join(name)).unwrap();
        let _ = fs::remove_dir(path.join("c/0/0"));
        let _ = fs::remove_dir(path.join("c/0"));
    }
    put(&path, "0.0", [0; 24]);
    put(&path, "c/1/0", [0; 24]);
    assert_eq!(stranger(), None);
}

#[test]
fn flipped_bit_in_default_store_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let axis = |name: &str| Axis { name: Some(name.into()), ..Axis::default() };
    let metadata = Metadata { axes: vec![axis("x"), axis("y")], ..Metadata::default() };
    run_with(Config::threads(2), |world| {
        let array = world.array::<f32, 2>("a", &whole([5, 3]))?;
        array.fill_with(|at| number(&at) as f32)?;
        save(world, &path, &array.at(..), &metadata, &ZarrOptions::new()).map(drop)
    })
    .unwrap();
    for name in ["a/zarr.json", "x/zarr.json"] {
        assert!(fs::read_to_string(path.join(name)).unwrap().contains("crc32c"), "{name}");
    }
    let file = path.join("a/c/0/0");
    let bytes = fs::read(&file).unwrap();
    assert_eq!(bytes.len(), 64);
    let loaded =
        || run_with(Config::threads(1), |world| load::<f32, 2>(world, &path, "b", None, None, [1, 1], whole).map(drop));
    for bit in (0..8 * bytes.len()).step_by(13) {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, bytes).unwrap();
        let error = loaded().unwrap_err().to_string();
        assert!(error.contains("a/c/0/0") && error.contains("the checksum crc32c is another one"), "{error}");
    }
    fs::write(&file, &bytes).unwrap();
    loaded().unwrap();
}
