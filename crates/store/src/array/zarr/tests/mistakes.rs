//! Invalid requests, and damaged stores.

use std::fs;

use super::*;

#[test]
fn invalid_requests_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("array.zarr");
    let plain = ZarrOptions::default;
    let options = [
        (ZarrOptions { chunk: Some(vec![3]), ..plain() }, "a chunk of 1 extents, and the array has 2 axes"),
        (ZarrOptions { chunk: Some(vec![3, 0]), ..plain() }, "at least one cell"),
        (ZarrOptions { chunk: Some(vec![1 << 20, 1 << 20]), ..plain() }, "at most 1024 MiB"),
        (ZarrOptions { chunk: Some(vec![i64::MAX, i64::MAX]), ..plain() }, "at most 1024 MiB"),
        (ZarrOptions { chunk: Some(vec![2, 2]), shard: Some(vec![4, 3]), ..plain() }, "not made of whole chunks"),
        (ZarrOptions { compression: Compression::Zstd(23), ..plain() }, "zstd has no level 23"),
        (ZarrOptions { compression: Compression::Gzip(10), ..plain() }, "gzip has no level 10"),
        (ZarrOptions { levels: 63, ..plain() }, "63 levels of detail"),
    ];
    let axis = |name: &str| Axis { name: Some(name.into()), ..Axis::default() };
    let named = |name: &str| Metadata { name: Some(name.into()), ..Metadata::default() };
    let metadata = [
        (named("a/b"), "is called \"a/b\""),
        (named(".."), "is called \"..\""),
        (named("zarr.json"), "is called \"zarr.json\""),
        (Metadata { axes: vec![axis("x")], ..named("a") }, "metadata of 1 axes"),
        (Metadata { axes: vec![axis("x"), axis("x")], ..named("a") }, "two axes are called \"x\""),
        (Metadata { axes: vec![axis("x"), axis("a")], ..named("a") }, "like another node of the store"),
        (
            Metadata { axes: vec![axis("x"), Axis { spacing: f64::NAN, ..Axis::default() }], ..named("a") },
            "a spacing of NaN on axis 1",
        ),
        (
            Metadata { axes: vec![axis("x"), Axis { spacing: -1.0, ..Axis::default() }], ..named("a") },
            "a spacing of -1 on axis 1; it must be a positive number",
        ),
        (Metadata { directions: Some(vec![vec![1.0]]), ..named("a") }, "each needs a vector of 2 numbers"),
        (Metadata { directions: Some(vec![vec![1.0, 0.0], vec![0.5, 0.0]]), ..named("a") }, "of length 0.5"),
        (
            Metadata { attributes: Map::from_iter([("zippy".to_string(), json!(1))]), ..named("a") },
            "an attribute is called \"zippy\"",
        ),
    ];
    let attempts = options.into_iter().map(|(options, text)| (named("a"), options, text));
    let attempts: Vec<_> =
        attempts.chain(metadata.into_iter().map(|(metadata, text)| (metadata, plain(), text))).collect();
    run_with(Config::threads(3), |world| {
        let array = world.array::<f32, 2>("array", &whole([9, 8]))?;
        for (metadata, options, wanted) in &attempts {
            let error = save(world, &path, &array.at(..), metadata, options).unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains("array.zarr"), "{error}, not {wanted}");
        }
        assert!(save(world, &path, &array.at([0..10, 0..8]), &named("a"), &plain()).is_err());
        save(world, &path, &array.at(..), &named("a"), &plain())?;
        let try_load = |which: Option<&str>, section, step| {
            load::<f32, 2>(world, &path, "again", which, section, step, Layout::new).unwrap_err().to_string()
        };
        let errors = [
            (try_load(Some("b"), None, [1, 1]), "has no array \"b\"; there are: \"a\" (float32, 9 x 8)"),
            (try_load(Some("../x"), None, [1, 1]), "is not the name of an array"),
            (try_load(None, Some([0..10, 0..8]), [1, 1]), "the section [0..10, 0..8] does not lie"),
            (try_load(None, None, [1, 0]), "cannot be loaded with steps [1, 0]"),
        ];
        for (error, wanted) in errors {
            assert!(error.contains(wanted), "{error}, not {wanted}");
        }
        let error = load::<f32, 2>(world, &path, "again", None, None, [1, 1], |_| Layout::new([3, 3])).unwrap_err();
        assert!(error.to_string().contains("9 x 8 are to be read, and the layout has 3 x 3"), "{error}");
        let error = load::<i32, 2>(world, &path, "again", None, None, [1, 1], Layout::new).unwrap_err().to_string();
        assert!(error.contains("cells of type \"float32\", not of \"int32\""), "{error}");
        let error = load::<f32, 3>(world, &path, "again", None, None, [1; 3], Layout::new).unwrap_err().to_string();
        assert!(error.contains("an array of 2 axes, not of 3"), "{error}");
        let error = load::<Pair, 1>(world, &path, "again", None, None, [1], Layout::new).unwrap_err().to_string();
        assert!(
            error.contains(
                "has no array of velocity float32, id uint32, spare uint32; there are: \"a\" (float32, 9 x 8)"
            ),
            "{error}"
        );
        world.barrier()
    })
    .unwrap();
}

fn refused(path: &Path, wanted: &str) {
    run_with(Config::threads(3), |world| {
        let error = load::<u16, 2>(world, path, "array", None, None, [1, 1], whole).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}, not {wanted}");
        world.barrier()
    })
    .unwrap();
}

fn store(path: &Path, options: &ZarrOptions) {
    run_with(Config::threads(1), |world| {
        let array = world.array::<u16, 2>("a", &whole([7, 5]))?;
        array.fill_with(|at| number(&at) as u16)?;
        save(world, path, &array.at(..), &Metadata::default(), options).map(|_| ())
    })
    .unwrap();
}

#[test]
fn damaged_chunks_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    for (turn, options) in options([4, 5], [8, 5]).into_iter().enumerate() {
        let path = directory.path().join(format!("{turn}.zarr"));
        store(&path, &options);
        let file = path.join("a/c/0/0");
        let bytes = fs::read(&file).unwrap();
        let (is_raw, is_shard) = (options.compression == Compression::None, options.shard.is_some());
        let wanted = if is_shard {
            "index"
        } else if is_raw {
            "the data end after 39 of 40"
        } else {
            "damaged"
        };
        fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
        refused(&path, wanted);
        fs::write(&file, []).unwrap();
        refused(&path, if is_raw || is_shard { "the data end after 0" } else { "" });
        fs::write(&file, [&bytes[..], &[0; 9000]].concat()).unwrap();
        refused(&path, if is_shard { "index" } else { "go on after" });
        if options.checksum {
            for at in [0, bytes.len() / 2, bytes.len() - 1] {
                let mut bytes = bytes.clone();
                bytes[at] ^= 4;
                fs::write(&file, &bytes).unwrap();
                refused(&path, "damaged");
            }
        }
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        refused(&path, "is not a regular file");
        fs::remove_dir(&file).unwrap();
        run_with(Config::threads(2), |world| {
            let value = |at: [i64; 2]| if is_shard || at[0] < 4 { 0 } else { number(&at) as u16 };
            assert_loaded_cells(world, &path, None, [7, 5], &value).map(|_| ())
        })
        .unwrap();
    }
}

/// An index with a correct checksum and wrong numbers.
#[test]
fn index_with_wrong_ranges_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    store(&path, &options([4, 5], [8, 5])[3]);
    let file = path.join("a/c/0/0");
    let bytes = fs::read(&file).unwrap();
    let wanted =
        ["after the end of the shard", "after the end of the shard", "the data end after 39 of 40", "go on after"];
    for ([first, length], wanted) in [[u64::MAX - 8, 40], [200, 40], [0, 39], [0, 41]].into_iter().zip(wanted) {
        let at = bytes.len() - 36;
        let mut index = bytes[at..bytes.len() - 4].to_vec();
        index[..8].copy_from_slice(&first.to_le_bytes());
        index[8..16].copy_from_slice(&length.to_le_bytes());
        let sum = crc32c(&index).to_le_bytes();
        fs::write(&file, [&bytes[..at], &index, &sum].concat()).unwrap();
        refused(&path, wanted);
    }
}

/// Streams that decompress to far more than the chunk, or claim to.
#[test]
fn decompression_bombs_are_errors() {
    use std::io::Write;
    let directory = tempfile::tempdir().unwrap();
    let zeros = vec![0; 1 << 20];
    for (number, options) in options([4, 5], [8, 5])[1..3].iter().enumerate() {
        let options = ZarrOptions { checksum: false, ..options.clone() };
        let path = directory.path().join(format!("{number}.zarr"));
        store(&path, &options);
        let bomb = match options.compression {
            Compression::Gzip(_) => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                encoder.write_all(&zeros).unwrap();
                encoder.finish().unwrap()
            }
            _ => zstd::bulk::compress(&zeros, 19).unwrap(),
        };
        assert!(bomb.len() < 1074, "{}", bomb.len());
        fs::write(path.join("a/c/0/0"), bomb).unwrap();
        refused(&path, "damaged");
    }
    // A frame with a declared size of 2^62 bytes.
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &(1_u64 << 62).to_le_bytes(), &[1, 0, 0]].concat();
    fs::write(directory.path().join("0.zarr/a/c/0/0"), frame).unwrap();
    refused(&directory.path().join("0.zarr"), "damaged");
}

#[test]
fn malformed_documents_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    store(&path, &options([4, 5], [8, 5])[3]);
    let file = path.join("a/zarr.json");
    let text = fs::read_to_string(&file).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let changed = |pointer: &str, value: serde_json::Value, wanted: &str| {
        let mut document = document.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        fs::write(&file, document.to_string()).unwrap();
        refused(&path, wanted);
    };
    changed("/zarr_format", json!(4), "\"zarr_format\" is not 3");
    changed("/node_type", json!("tree"), "\"node_type\" is neither");
    changed("/shape", json!([5]), "an array of 1 axes, not of 2");
    changed("/shape", json!([]), "an array of 0 axes, not of 2");
    changed("/shape", json!([-5, 7]), "\"shape\" is [-5,7]; a list of whole numbers is read");
    changed("/shape", json!([u64::MAX, 7]), "are none of an array");
    changed("/shape", json!([1_u64 << 40, 1_u64 << 40]), "are none of an array");
    changed("/shape", json!([1_u64 << 62, 1]), "more bytes than fit 62 bits");
    changed("/data_type", json!("string"), "cells of type \"string\"");
    changed("/fill_value", json!("much"), "\"fill_value\" is \"much\"; a number of type uint16 is read");
    changed("/fill_value", json!(0.5), "\"fill_value\" is 0.5; a number of type uint16 is read");
    changed("/fill_value", json!(70000), "\"fill_value\" is 70000; a number of type uint16 is read");
    changed("/dimension_names", json!([1, 2]), "\"dimension_names\" is [1,2]; a list of names");
    changed(
        "/chunk_key_encoding",
        json!("base"),
        "\"chunk_key_encoding\" is \"base\"; \"default\" and \"v2\" are read",
    );
    changed("/chunk_grid/configuration", json!({}), "\"chunk_shape\" is missing or null; a list of whole numbers");
    changed("/codecs", json!(7), "\"codecs\" is 7; a list of codecs");
    changed("/chunk_grid/name", json!("irregular"), "a grid \"irregular\" is not read");
    changed("/chunk_grid/configuration/chunk_shape", json!([0, 7]), "are none of a chunk");
    changed("/chunk_grid/configuration/chunk_shape", json!([5, 7]), "not made of whole chunks");
    changed("/chunk_grid/configuration/chunk_shape", json!([5_u64 << 20, 4_u64 << 20]), "too many chunks");
    changed("/codecs", json!([]), "\"codecs\" is []; a list of codecs");
    changed("/codecs", json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "lzma"}]), "lzma");
    changed("/codecs/0/configuration/chunk_shape", json!([5 << 20, 4 << 20]), "not made of whole chunks");
    changed("/codecs/0/configuration/index_codecs", json!(["zstd"]), "codecs \"zstd\" are not read");
    changed("/codecs/0/configuration/index_location", json!("middle"), "\"index_location\" is \"middle\"");
    changed("/codecs/0/configuration/codecs", json!([{"name": "sharding_indexed"}]), "\"chunk_shape\" is missing");
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let turned = |order: serde_json::Value| json!([{"name": "transpose", "configuration": {"order": order}}, bytes]);
    for order in [json!([0, 0]), json!([1]), json!([0, 2])] {
        changed("/codecs", turned(order), "the \"order\" of the codec \"transpose\" is [");
    }
    changed("/codecs", turned(json!("K")), "\"order\" is \"K\"; a list of whole numbers is read");
    changed("/codecs", json!([{"name": "bytes"}]), "\"endian\" is missing or null");
    // An excessive number of nested shards.
    let mut shards = document["codecs"].clone();
    for _ in 0..40 {
        let mut outer = document["codecs"].clone();
        outer[0]["configuration"]["codecs"] = shards;
        shards = outer;
    }
    changed("/codecs", shards, "more than 3 shards in each other are not read");
    // Each codec adds to the allowed length of a file, so their number is limited.
    for count in [5, 30] {
        let codecs: Vec<_> = std::iter::once(bytes.clone())
            .chain(vec![json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}}); count])
            .collect();
        let wanted = format!("{count} codecs after \"bytes\"; at most 4 are read");
        changed("/codecs/0/configuration/codecs", json!(codecs), &wanted);
        changed("/codecs/0/configuration/index_codecs", json!(codecs), &wanted);
        changed("/codecs", json!(codecs), &wanted);
    }
    let mut strange = document.clone();
    strange["secret"] = json!({"name": "what", "must_understand": true});
    fs::write(&file, strange.to_string()).unwrap();
    refused(&path, "the field \"secret\" is not understood");
    fs::write(&file, &text[..text.len() / 2]).unwrap();
    refused(&path, "a/zarr.json, byte");
    fs::write(&file, "[".repeat(100_000)).unwrap();
    refused(&path, "not a JSON object");
    let mut large = document.clone();
    large["chunk_grid"]["configuration"]["chunk_shape"] = json!([1 << 20, 1 << 20]);
    large["codecs"] = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    fs::write(&file, large.to_string()).unwrap();
    refused(&path, "are too large; chunks of at most 1024 MiB");
    fs::remove_file(path.join("zarr.json")).unwrap();
    refused(&path, "is no Zarr store");
    refused(&directory.path().join("none.zarr"), "cannot open");
}
