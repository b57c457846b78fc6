//! Stores written by other programs.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::*;

/// Stores of 40 x 30 and of 5 x 3 cells with the values `x + 100 y`, and 7, the fill value, for `y
/// = 2`. Written by zarr-python 3.1; white space in the documents is removed.
#[rustfmt::skip]
const FILES: &[(&str, &str)] = &[
    ("blosc.zarr/zarr.json", r#"{"attributes":{},"zarr_format":3,"node_type":"group"}"#),
    ("blosc.zarr/density/zarr.json", r#"{"shape":[30,40],"data_type":"int16","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[30,20]}},"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":7,"codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"blosc","configuration":{"typesize":2,"cname":"zstd","clevel":5,"shuffle":"bitshuffle","blocksize":0}}],"attributes":{},"zarr_format":3,"node_type":"array","storage_transformers":[]}"#),
    ("blosc.zarr/density/c/0/0", "base64:AgGUArAEAACwBAAAswAAABQAAACbAAAAKLUv/WCwA40EAAIECQ/QpTGUYAGLEBYAAAA8C6QVp+qnL8Z4Kjajqm0+ITgIsIiIBDagIMsmwxiwgqGyGyioPq01UUEdbMcJump4gWH08XPOMFOIjxk3vS9sQB3sfDYG8fQbFfOfJV3wZqo0TbF0QCwU2RddBAUpJottkHs1Fhqr7y1wNhBzT3TWTuxC7dVSzSC/UOuccOtcKik="),
    ("blosc.zarr/density/c/0/1", "base64:AgGUArAEAACwBAAAuQAAABQAAAChAAAAKLUv/WCwA70EAHJEChHAJR27ftf5pvKqqqqqMsQhBeUpcz7G/7Pjd9I/J+Omim8IPgTwERERNqAQb9usAaACoisPKKhOr8NGw4soqMDdDsBcOg4tsQKbRRN48vH+T0EgzFEERWIZFTxRnd4IuxdsRyjYBKkuMXNnrZYwOjU2E4V12cWdCR16+XrA0U4DFvXairpDK/mEtADgWe9LWv5SSAE="),
    ("blosc2.zarr/.zattrs", r#"{}"#),
    ("blosc2.zarr/.zgroup", r#"{"zarr_format":2}"#),
    ("blosc2.zarr/density/.zarray", r#"{"shape":[30,40],"chunks":[30,20],"dtype":">i2","fill_value":7,"order":"C","filters":null,"dimension_separator":".","compressor":{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0},"zarr_format":2}"#),
    ("blosc2.zarr/density/.zattrs", r#"{}"#),
    ("blosc2.zarr/density/0.0", "base64:AgEhArAEAACwBAAAjAIAABQAAABBAAAAHwABACgfAQEAIB8CAQAcHwMBACgfBAEAFB8FAQAoHwYBABQfBwEAKB8IAQAYHwkBACQfCgEAJB4LAQBQCwsLCwsvAgAA+x4AAQIDBAUGBwgJCgsMDQ4PEBESE2RlZmdoaWprbG1ub3BxcnN0dXZ3BwcHBwcFAPQlLC0uLzAxMjM0NTY3ODk6Ozw9Pj+QkZKTlJWWl5iZmpucnZ6foKGio/T19vf4+fr7/P3+/3AA9CVYWVpbXF1eX2BhYmNkZWZnaGlqa7y9vr/AwcLDxMXGx8jJysvMzc7PICEiIyQlJicoKSorcAD0JYSFhoeIiYqLjI2Oj5CRkpOUlZaX6Onq6+zt7u/w8fLz9PX29/j5+vtMTU5PUFFSU1RVVldwAPQlsLGys7S1tre4ubq7vL2+v8DBwsMUFRYXGBkaGxwdHh8gISIjJCUmJ3h5ent8fX5/gIGCg3AA9CXc3d7f4OHi4+Tl5ufo6err7O3u70BBQkNERUZHSElKS0xNTk9QUVJTpKWmp6ipqqusra6vcAD0JQgJCgsMDQ4PEBESExQVFhcYGRobbG1ub3BxcnN0dXZ3eHl6e3x9fn/Q0dLT1NXW19jZ2ttwAPQlNDU2Nzg5Ojs8PT4/QEFCQ0RFRkeYmZqbnJ2en6ChoqOkpaanqKmqq/z9/v8AAQIDBAUGB3AA9CVgYWJjZGVmZ2hpamtsbW5vcHFyc8TFxsfIycrLzM3Oz9DR0tPU1dbXKCkqKywtLi8wMTIzcADwLYyNjo+QkZKTlJWWl5iZmpucnZ6f8PHy8/T19vf4+fr7/P3+/wABAgNUVVZXWFlaW1xdXl9gYWJjZGVmZw=="),
    ("blosc2.zarr/density/0.1", "base64:AgEhArAEAACwBAAAjQIAABQAAABCAAAAHwABACgfAQEAFB8CAQAoHwMBABgfBAEAJB8FAQAkHwYBABgfBwEAKB8IAQAUHwkBACgfCgEAFB8LAQAPUAsLCwsLLwIAAPseFBUWFxgZGhscHR4fICEiIyQlJid4eXp7fH1+f4CBgoOEhYaHiImKiwcHBwcHBQD0JUBBQkNERUZHSElKS0xNTk9QUVJTpKWmp6ipqqusra6vsLGys7S1trcICQoLDA0ODxAREhNwAPQlbG1ub3BxcnN0dXZ3eHl6e3x9fn/Q0dLT1NXW19jZ2tvc3d7f4OHi4zQ1Njc4OTo7PD0+P3AA9CWYmZqbnJ2en6ChoqOkpaanqKmqq/z9/v8AAQIDBAUGBwgJCgsMDQ4PYGFiY2RlZmdoaWprcAD0JcTFxsfIycrLzM3Oz9DR0tPU1dbXKCkqKywtLi8wMTIzNDU2Nzg5OjuMjY6PkJGSk5SVlpdwAPQl8PHy8/T19vf4+fr7/P3+/wABAgNUVVZXWFlaW1xdXl9gYWJjZGVmZ7i5uru8vb6/wMHCw3AA9CUcHR4fICEiIyQlJicoKSorLC0uL4CBgoOEhYaHiImKi4yNjo+QkZKT5OXm5+jp6uvs7e7vcAD0JUhJSktMTU5PUFFSU1RVVldYWVpbrK2ur7CxsrO0tba3uLm6u7y9vr8QERITFBUWFxgZGhtwAPQldHV2d3h5ent8fX5/gIGCg4SFhofY2drb3N3e3+Dh4uPk5ebn6Onq6zw9Pj9AQUJDREVGR3AA8C2goaKjpKWmp6ipqqusra6vsLGyswQFBgcICQoLDA0ODxAREhMUFRYXaGlqa2xtbm9wcXJzdHV2d3h5ens="),
    ("default.zarr/zarr.json", r#"{"attributes":{},"zarr_format":3,"node_type":"group"}"#),
    ("default.zarr/density/zarr.json", r#"{"shape":[3,5],"data_type":"float32","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,3]}},"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":7.0,"codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"zstd","configuration":{"level":3,"checksum":false}},{"name":"crc32c"}],"attributes":{"scanner":"CT"},"dimension_names":["y","x"],"zarr_format":3,"node_type":"array","storage_transformers":[]}"#),
    ("default.zarr/density/c/0/0", "base64:KLUv/SAYwQAAAAAAAAAAgD8AAABAAADIQgAAykIAAMxC4TLd7A=="),
    ("default.zarr/density/c/0/1", "base64:KLUv/SAYwQAAAABAQAAAgEAAAOBAAADOQgAA0EIAAOBAsMBO9g=="),
    ("second.zarr/.zattrs", r#"{}"#),
    ("second.zarr/.zgroup", r#"{"zarr_format":2}"#),
    ("second.zarr/density/.zarray", r#"{"shape":[3,5],"chunks":[2,3],"dtype":">i2","fill_value":7,"order":"C","filters":null,"dimension_separator":".","compressor":{"id":"zstd","level":3},"zarr_format":2}"#),
    ("second.zarr/density/.zattrs", r#"{}"#),
    ("second.zarr/density/0.0", "base64:KLUv/SAMYQAAAAAAAQACAGQAZQBm"),
    ("second.zarr/density/0.1", "base64:KLUv/SAMYQAAAAMABAAHAGcAaAAH"),
    ("shards.zarr/zarr.json", r#"{"attributes":{},"zarr_format":3,"node_type":"group"}"#),
    ("shards.zarr/density/zarr.json", r#"{"shape":[3,5],"data_type":"uint16","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,6]}},"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":7,"codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[1,2],"codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"gzip","configuration":{"level":5}}],"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}],"index_location":"start"}}],"attributes":{},"zarr_format":3,"node_type":"array","storage_transformers":[]}"#),
    ("shards.zarr/density/c/0/0", "base64:ZAAAAAAAAAAYAAAAAAAAAJQAAAAAAAAAGAAAAAAAAADEAAAAAAAAABgAAAAAAAAAfAAAAAAAAAAYAAAAAAAAAKwAAAAAAAAAGAAAAAAAAADcAAAAAAAAABgAAAAAAAAAncISax+LCAApYARrAP9jYGBkAABd7l84BAAAAB+LCAApYARrAP9LYUhlAACqIIqNBAAAAB+LCAApYARrAP9jYmBmAABURGCgBAAAAB+LCAApYARrAP9LY0hnAACjirUVBAAAAB+LCAApYARrAP9jYWBnAACM3mfhBAAAAB+LCAApYARrAP/LYGBnAAA3lpeQBAAAAA=="),
];

fn stores() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in FILES {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let bytes = match content.strip_prefix("base64:") {
            Some(text) => BASE64_STANDARD.decode(text).unwrap(),
            None => content.as_bytes().to_vec(),
        };
        std::fs::write(path, bytes).unwrap();
    }
    directory
}

fn value([x, y]: [i64; 2]) -> i64 {
    if y == 2 { 7 } else { x + 100 * y }
}

#[test]
fn stores_of_zarr_python_are_loaded() {
    let directory = stores();
    let path = |name: &str| directory.path().join(name);
    for ranks in [1, 2, 3, 5] {
        run_with(Config::threads(ranks), |world| {
            let found = assert_loaded_cells(world, &path("default.zarr"), None, [5, 3], &|at| value(at) as f32)?;
            assert_eq!(found.attributes["scanner"], "CT");
            let names: Vec<_> = found.axes.iter().map(|axis| axis.name.as_deref()).collect();
            assert_eq!(names, [Some("x"), Some("y")]);
            assert_loaded_cells(world, &path("default.zarr/density"), None, [5, 3], &|at| value(at) as f32)?;
            assert_loaded_cells(world, &path("shards.zarr"), Some("density"), [5, 3], &|at| value(at) as u16)?;
            assert_loaded_cells(world, &path("second.zarr"), None, [5, 3], &|at| value(at) as i16)?;
            assert_loaded_cells(world, &path("blosc.zarr"), None, [40, 30], &|at| value(at) as i16)?;
            assert_loaded_cells(world, &path("blosc2.zarr"), None, [40, 30], &|at| value(at) as i16)?;
            Ok(())
        })
        .unwrap();
    }
    let described = &describe(&path("second.zarr")).unwrap().arrays[0];
    assert_eq!((described.element.as_str(), &described.shape[..]), ("i16", &[5, 3][..]));
    assert_eq!(described.codecs, ["bytes", "zstd"]);
    assert_eq!(describe(&path("blosc2.zarr")).unwrap().arrays[0].codecs, ["bytes", "blosc"]);
}

fn change(path: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let mut document = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    change(&mut document);
    std::fs::write(path, document.to_string()).unwrap();
}

#[test]
fn axes_of_ome_zarr_and_xarray_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let axis = |name: &str| Axis { name: Some(name.into()), unit: Some("mm".into()), spacing: 0.1, origin: 3.0 };
    let metadata = Metadata { axes: vec![axis("x"), axis("y")], ..Metadata::default() };
    let spacings = || {
        let found = run_with(Config::threads(2), |world| {
            let (_, found) = load::<f32, 2>(world, &path, "again", None, None, [1, 2], whole)?;
            Ok(found.axes)
        });
        found.unwrap().remove(0).into_iter().map(|axis| (axis.name.unwrap(), axis.unit, axis.spacing, axis.origin))
    };
    run_with(Config::threads(2), |world| {
        let array = world.array::<f32, 2>("a", &whole([9, 5]))?;
        save(world, &path, &array.at(..), &metadata, &ZarrOptions::new().checksum(false)).map(|_| ())
    })
    .unwrap();
    let mm = || Some("mm".to_string());
    let near = |found: Vec<(String, Option<String>, f64, f64)>, wanted: [(&str, Option<String>, f64, f64); 2]| {
        for (found, wanted) in found.into_iter().zip(wanted) {
            assert_eq!((found.0.as_str(), &found.1), (wanted.0, &wanted.1));
            assert!(
                (found.2 - wanted.2).abs() < 1e-9 && (found.3 - wanted.3).abs() < 1e-9,
                "{found:?}, not {wanted:?}"
            );
        }
    };
    // Without Zippy's attribute, the coordinate arrays are used.
    change(&path.join("a/zarr.json"), |document| document["attributes"] = json!({}));
    near(spacings().collect(), [("x", mm(), 0.1, 3.0), ("y", mm(), 0.2, 3.0)]);
    // Coordinates that are not equidistant give only a name and a unit.
    let mut coordinates = std::fs::read(path.join("x/c/0")).unwrap();
    coordinates[8..16].copy_from_slice(&3.11_f64.to_le_bytes());
    std::fs::write(path.join("x/c/0"), coordinates).unwrap();
    near(spacings().collect(), [("x", mm(), 1.0, 0.0), ("y", mm(), 0.2, 3.0)]);
    let metadata_axes = |path: &Path| describe(path).unwrap().metadata.axes;
    assert_eq!((metadata_axes(&path)[1].spacing * 10.0).round(), 1.0);
    // OME-Zarr metadata takes precedence.
    let dataset = json!({"path": "a", "coordinateTransformations": [{"type": "scale", "scale": [4.0, 0.5]}]});
    let axes = json!([{"name": "y", "unit": "micrometer"}, {"name": "x"}]);
    let ome = json!({"ome": {"version": "0.5", "multiscales": [{"axes": axes, "datasets": [dataset]}]}});
    change(&path.join("zarr.json"), |document| document["attributes"] = ome);
    near(spacings().collect(), [("x", None, 0.5, 0.0), ("y", Some("micrometer".into()), 8.0, 0.0)]);
    assert_eq!(metadata_axes(&path)[1].spacing, 4.0);
    // The transformations of a level apply in order, then those of all levels. Unknown ones are
    // ignored.
    let level_transformations =
        json!([{"type": "scale", "scale": [4.0, 0.5]}, {"type": "translation", "translation": [10.0, -1.0]}]);
    let of_all = json!([
        {"type": "identity"}, {"type": "scale", "scale": [0.25, 3.0]}, {"type": "translation", "translation": [0.5, 7.0]},
    ]);
    change(&path.join("zarr.json"), |document| {
        let multiscale = &mut document["attributes"]["ome"]["multiscales"][0];
        multiscale["datasets"][0]["coordinateTransformations"] = level_transformations;
        multiscale["coordinateTransformations"] = of_all;
    });
    near(spacings().collect(), [("x", None, 1.5, 4.0), ("y", Some("micrometer".into()), 2.0, 3.0)]);
    // Transformations of all levels only, in the attribute of OME-Zarr 0.4.
    change(&path.join("zarr.json"), |document| {
        let mut multiscales = document["attributes"]["ome"]["multiscales"].take();
        multiscales[0]["datasets"][0].as_object_mut().unwrap().remove("coordinateTransformations");
        document["attributes"] = json!({"multiscales": multiscales});
    });
    near(spacings().collect(), [("x", None, 3.0, 7.0), ("y", Some("micrometer".into()), 0.5, 0.5)]);
}

/// A name is required with several arrays. One of them cannot be read.
#[test]
fn load_without_a_name_needs_a_single_array() {
    let directory = stores();
    let path = directory.path().join("second.zarr");
    let copy = |name: &str| {
        std::fs::create_dir(path.join(name)).unwrap();
        for file in [".zarray", "0.0", "0.1"] {
            std::fs::copy(path.join("density").join(file), path.join(name).join(file)).unwrap();
        }
    };
    copy("other");
    change(&path.join("other/.zarray"), |document| document["compressor"] = json!({"id": "lzma"}));
    run_with(Config::threads(2), |world| {
        let error = load::<i16, 2>(world, &path, "a", None, None, [1, 1], whole).unwrap_err().to_string();
        assert!(
            error.contains("one of which must be named; there are: \"density\" (int16, 5 x 3), \"other\" (not read)"),
            "{error}"
        );
        let error = load::<i16, 2>(world, &path, "a", Some("other"), None, [1, 1], whole).unwrap_err().to_string();
        assert!(
            error.contains(r#""compressor" is {"id":"lzma"}; null and an "id" of blosc, gzip,"#)
                && error.contains("other/.zarray"),
            "{error}"
        );
        assert_loaded_cells(world, &path, Some("density"), [5, 3], &|at| value(at) as i16).map(|_| ())
    })
    .unwrap();
    let described = describe(&path).unwrap().arrays;
    assert_eq!(described.len(), 2);
    assert!(described[0].error.is_none() && described[1].error.is_some());
}
