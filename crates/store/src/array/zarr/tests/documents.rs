//! Documents of a store.

use serde_json::json;

use super::*;

#[test]
fn documents_are_written_as_documented() {
    let directory = tempfile::tempdir().unwrap();
    let (path, straight) = (directory.path().join("engine.zarr"), directory.path().join("straight.zarr"));
    let axis = |name: &str, spacing, origin| Axis { name: Some(name.into()), unit: Some("mm".into()), spacing, origin };
    let metadata = Metadata {
        name: Some("density".into()),
        axes: vec![axis("x", 0.5, -1.0), axis("y", 2.0, 0.0)],
        directions: Some(vec![vec![0.0, 1.0], vec![1.0, 0.0]]),
        attributes: Map::from_iter([("scanner".to_string(), json!({"year": 1998}))]),
        ..Metadata::default()
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
        let found = assert_loaded_cells(world, &path, None, [5, 4], &|at| number(&at) as f32)?;
        assert_eq!(found, metadata);
        // Metadata of the loaded cells: one step along x is one along y in space.
        let (_, found) = load::<f32, 2>(world, &path, "part", None, Some([2..5, 1..4]), [2, 3], Layout::new)?;
        assert_eq!((found.axes[0].origin, found.axes[0].spacing), (1.0, 1.0));
        assert_eq!((found.axes[1].origin, found.axes[1].spacing), (1.0, 6.0));
        let along = Metadata { directions: None, ..metadata.clone() };
        save(world, &straight, &array.at(..), &along, &options).map(drop)
    })
    .unwrap();
    let along = files(&straight);
    let files = files(&path);
    assert!(!files.contains_key("x/zarr.json"));
    let places = serde_json::from_slice::<serde_json::Value>(&along["x/zarr.json"]).unwrap();
    assert_eq!(places["attributes"], json!({"units": "mm"}));
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
                {"name": "crc32c"},
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
    let (places, sum) = along["x/c/0"].split_at(40);
    assert_eq!(crc32c(places).to_le_bytes(), sum);
    let places: Vec<f64> = places.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(places, [-1.0, -0.5, 0.0, 0.5, 1.0]);
    let described = describe(&straight).unwrap();
    let names: Vec<&str> = described.arrays.iter().filter_map(|array| array.name.as_deref()).collect();
    assert_eq!(names, ["density", "x", "y"]);
    assert_eq!((&described.arrays[0].shape[..], &described.arrays[0].chunk[..]), (&[5, 4][..], &[6, 4][..]));
    assert_eq!(described.arrays[0].codecs, ["sharding_indexed", "bytes", "zstd", "crc32c"]);
    assert_eq!(described.metadata, Metadata { directions: None, ..metadata });
}

/// The description has the metadata of a load, also for vectors and records.
#[test]
fn description_equals_the_loaded_metadata() {
    let directory = tempfile::tempdir().unwrap();
    let axis = |name: &str| Axis { name: Some(name.into()), spacing: 0.5, ..Axis::default() };
    let metadata = Metadata { axes: vec![axis("x"), axis("y")], ..Metadata::default() };
    fn one<T: Element + PartialEq + std::fmt::Debug>(path: &Path, metadata: &Metadata) {
        run_with(Config::threads(2), |world| {
            let array = world.array::<T, 2>("a", &whole([5, 4]))?;
            let options = ZarrOptions::new().levels(1);
            save(world, path, &array.at(..), metadata, &options)?;
            let (_, found) = load::<T, 2>(world, path, "again", None, None, [1, 1], whole)?;
            assert_eq!(found, describe(path).unwrap().metadata);
            assert_eq!((found.axes, found.name.as_deref()), (metadata.axes.clone(), Some("a")));
            Ok(())
        })
        .unwrap();
    }
    one::<f32>(&directory.path().join("number.zarr"), &metadata);
    one::<[f32; 2]>(&directory.path().join("vector.zarr"), &metadata);
    one::<Particle>(&directory.path().join("record.zarr"), &metadata);
}
