//! Files of other programs, damaged files, and saves that fail.

use std::path::Path;

use serde_json::json;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Config, Layout, Split, run_with};
use zippy_files::FileError;

use super::super::staging::{BlockSchedule, each_block};
use super::super::{LoadOptions, describe, load, load_with, save};
use super::{directory, number};

#[test]
fn nrrd_of_other_programs_is_loaded() {
    let directory = directory();
    let path = directory.path().join("a.nrrd");
    let header = "NRRD0004\n# by hand\ntype: short\ndimension: 3\nsizes: 2 3 4\nspacings: nan 0.5 2\naxis mins: nan 1 10\n\
                  centerings: none node cell\nkinds: vector domain domain\nlabels: \"v\" \"x\" \"y\"\nunits: \"\" \"mm\" \
                  \"s\"\nendian: big\nencoding: raw\nmodality:=DWMRI\ncount:=3\nlines:=a\\nb\\\\n\n\n";
    let cells: Vec<u8> = (0..24_i16).flat_map(i16::to_be_bytes).collect();
    std::fs::write(&path, [header.as_bytes(), &cells].concat()).unwrap();
    let found = describe(&path).unwrap();
    assert_eq!(found.arrays[0].element, "[i16; 2]");
    assert_eq!(found.arrays[0].shape, [3, 4]);
    let axes = &found.metadata.axes;
    let [x, y] = [&axes[0], &axes[1]];
    assert_eq!((x.name.as_deref(), x.unit.as_deref(), x.spacing, x.origin), (Some("x"), Some("mm"), 0.5, 1.0));
    assert_eq!((y.name.as_deref(), y.unit.as_deref(), y.spacing, y.origin), (Some("y"), Some("s"), 2.0, 11.0));
    // The ends of the axes also give positions. The second axis runs backwards.
    let ends = header.replace("spacings: nan 0.5 2\naxis mins: nan 1 10", "axis mins: nan 1 10\naxis maxs: nan 5 2");
    std::fs::write(&path, [ends.as_bytes(), &cells].concat()).unwrap();
    let by_ends = describe(&path).unwrap().metadata;
    let positions: Vec<_> = by_ends.axes.iter().map(|axis| (axis.spacing, axis.origin)).collect();
    assert_eq!(positions, [(2.0, 1.0), (2.0, 9.0)]);
    assert_eq!(by_ends.directions, Some(vec![vec![1.0, 0.0], vec![0.0, -1.0]]));
    let attributes = json!({"modality": "DWMRI", "count": 3, "lines": "a\nb\\n"});
    assert_eq!(Some(&found.metadata.attributes), attributes.as_object());
    // A vector of another length is refused.
    run_with(Config::threads(2), |world| {
        let error = load::<i16, 2>(world, &path, "array", Layout::new).unwrap_err().to_string();
        assert!(error.contains("holds 2 i16 a cell, and i16 was asked for"), "{error}");
        let error = load::<[f32; 2], 2>(world, &path, "array", Layout::new).unwrap_err().to_string();
        assert!(error.contains("and 2 f32 was asked for"), "{error}");
        world.barrier()
    })
    .unwrap();
    let plain = header.replace("kinds: vector", "kinds: domain").replace("spacings: nan", "spacings: 1");
    std::fs::write(&path, [plain.as_bytes(), &cells].concat()).unwrap();
    run_with(Config::threads(2), |world| {
        let array = load::<i16, 3>(world, &path, "array", |shape| Layout::new(shape).split_all(Split::Auto))?;
        for chunk in array.chunks() {
            let expected: Vec<i16> = chunk.region().points().map(|p| (p[0] + 2 * p[1] + 6 * p[2]) as i16).collect();
            assert_eq!(chunk.all().read()?, expected);
        }
        let error = load::<i16, 2>(world, &path, "array", Layout::new).unwrap_err().to_string();
        assert!(error.contains("an array of 3 axes, not of 2"), "{error}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn vti_of_other_programs_is_loaded() {
    let directory = directory();
    let path = directory.path().join("a.vti");
    let text = r#"<VTKFile type="ImageData" version="0.1" byte_order="LittleEndian">
<ImageData WholeExtent="5 7 0 1 2 2" Origin="1 2 3" Spacing="1 1 0.5" Direction="1 0 0 0 1 0 0 0 1">
<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">0.5</DataArray>
<Array type="String" Name="note" NumberOfTuples="1" format="ascii">104 105 0</Array></FieldData>
<Piece Extent="5 7 0 1 2 2"><PointData Vectors="v">
<DataArray type="UInt8" Name="n" format="ascii">1 2 3 4 5 6</DataArray>
<DataArray type="Float32" Name="v" NumberOfComponents="2" format="ascii">0 1 2 3 4 5 6 7 8 9 10 11</DataArray>
</PointData></Piece></ImageData></VTKFile>"#;
    std::fs::write(&path, text).unwrap();
    let found = describe(&path).unwrap();
    let arrays: Vec<_> = found.arrays.iter().map(|array| (array.name.as_deref().unwrap(), &*array.element)).collect();
    assert_eq!(arrays, [("n", "u8"), ("v", "[f32; 2]")]);
    assert_eq!(found.metadata.attributes, *json!({"note": "hi"}).as_object().unwrap());
    run_with(Config::threads(3), |world| {
        let cut = |shape: [i64; 2]| Layout::new(shape).split_all(Split::Auto);
        let options = LoadOptions::new().array("v");
        let loaded = load_with::<[f32; 2], 2>(world, &path, "array", &options, cut)?;
        for chunk in loaded.array.chunks() {
            let points = chunk.region().points();
            let expected: Vec<[f32; 2]> = points.map(|p| [0, 1].map(|c| (2 * (p[0] + 3 * p[1]) + c) as f32)).collect();
            assert_eq!(chunk.all().read()?, expected);
        }
        let metadata = loaded.metadata;
        assert_eq!((metadata.name.as_deref(), metadata.directions), (Some("v"), None));
        let places: Vec<_> = metadata.axes.iter().map(|axis| (axis.spacing, axis.origin)).collect();
        assert_eq!(places, [(1.0, 6.0), (1.0, 2.0)]);
        // The first array if none is active; with a third axis.
        let first = load::<u8, 3>(world, &path, "first", |shape| {
            Layout::new(shape).split([Split::Whole, Split::Whole, Split::Auto])
        })?;
        assert_eq!(first.shape(), [3, 2, 1]);
        for (name, wanted) in
            [("n", "its array \"n\" holds u8 a cell, and 2 f32 was asked for"), ("w", "it has \"n\", \"v\"")]
        {
            let error = load_with::<[f32; 2], 2>(world, &path, "a", &LoadOptions::new().array(name), cut).unwrap_err();
            assert!(error.to_string().contains(wanted), "{error}");
        }
        let error = load::<u8, 1>(world, &path, "a", Layout::new).unwrap_err().to_string();
        assert!(error.contains("an array of 3 x 2 x 1, which cannot be one of 1 axes"), "{error}");
        Ok(())
    })
    .unwrap();
}

/// A file that is truncated or has a changed byte gives an error on every rank, or an array; no
/// rank hangs or panics.
#[test]
fn damaged_files_give_errors_or_arrays() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    let all = ["a.vti", "a.nrrd", "a.npy"];
    run_with(Config::threads(2), |world| {
        let array = world.array::<u16, 2>("array", &Layout::new([5, 4]).split_all(Split::Auto))?;
        array.fill_with(|at| number(&at) as u16)?;
        all.iter().try_for_each(|name| save(world, path(name), array.at(..)).map(drop))
    })
    .unwrap();
    for name in all {
        let bytes = std::fs::read(path(name)).unwrap();
        let damaged = path(&format!("damaged-{name}"));
        run_with(Config::threads(2), |world| {
            let cut = |shape: [i64; 2]| Layout::new(shape).split_all(Split::Auto);
            let load = |bytes: &[u8]| {
                world.barrier()?;
                if world.rank() == 0 {
                    std::fs::write(&damaged, bytes).unwrap();
                }
                world.barrier()?;
                Ok::<_, zippy::Error>(load::<u16, 2>(world, &damaged, "damaged", cut).map(|array| array.shape()))
            };
            for length in (0..bytes.len()).step_by(3) {
                let error = load(&bytes[..length])?;
                assert!(error.is_err() || bytes[length..].trim_ascii().is_empty(), "{name} {length}");
            }
            for at in (0..bytes.len()).step_by(2) {
                let mut bytes = bytes.clone();
                bytes[at] ^= [0x01, 0x10, 0x07][at % 3];
                // The damaged shape may be valid, but never has more cells than the file has bytes.
                let found = load(&bytes)?;
                assert!(
                    found.is_err() || found.is_ok_and(|shape| shape[0] * shape[1] <= bytes.len() as i64),
                    "{name} {at}"
                );
            }
            let longer = load(&[&bytes[..], b"!"].concat())?;
            assert!(longer.is_err() || name == "a.vti", "{name}");
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn huge_sizes_allocate_nothing() {
    let directory = directory();
    let path = directory.path().join("a.nrrd");
    for (sizes, wanted) in [
        ("1000000 1000000 1000000 1000 1 1 1", "more bytes than fit 63 bits"),
        ("1000000 1000000 1000 1 1 1 1", "the data end after"),
        ("1 1 1 1 1 1 0", "a size of 0"),
    ] {
        let text = format!("NRRD0005\ntype: float\ndimension: 7\nsizes: {sizes}\nencoding: raw\nendian: little\n\n");
        std::fs::write(&path, text).unwrap();
        run_with(Config::threads(2), |world| {
            let error = load::<f32, 7>(world, &path, "array", Layout::new).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
            world.barrier()
        })
        .unwrap();
    }
}

/// After a rank cannot write, the other ranks stop early.
#[test]
fn save_ends_early_after_an_error_on_one_rank() {
    let rounds = std::sync::atomic::AtomicUsize::new(0);
    run_with(Config::threads(3), |world| {
        let array = world.array::<u8, 1>("array", &Layout::new([3000]).split_all(Split::Auto))?;
        let work = BlockSchedule {
            counts: vec![1000; 3],
            block: &|rank: usize, round: usize| {
                let at = (1000 * rank + round) as i64;
                Region::between([at].into(), [at + 1].into())
            },
            room: Index::splat(1, 1),
        };
        let (rank, mut own) = (world.rank(), 0);
        let written = each_block(world, &array, &work, &mut |_, _| {
            own += 1;
            match (rank, own) {
                (1, 11) => Err(FileError::request(Path::new("array.npy"), "the disk is full")),
                _ => Ok(()),
            }
        });
        assert!(written.unwrap_err().to_string().contains("the disk is full"));
        rounds.fetch_max(own, std::sync::atomic::Ordering::Relaxed);
        world.barrier()
    })
    .unwrap();
    assert_eq!(rounds.into_inner(), 16);
}
