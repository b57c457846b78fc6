//! Saved arrays are loaded with the same bits and metadata, by every number of ranks and with other
//! cuts; the files follow the descriptions of their formats.

use serde_json::json;
use zippy::array::GlobalArray;
use zippy::{Config, Element, Layout, Result, Split, World, run_with};

use super::super::save::save_in_blocks;
use super::super::{LoadOptions, SaveOptions, describe, load_with, save, save_with};
use super::{Particle, directory, number};
use zippy_io::array::{Axis, Format, Metadata};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Flow {
    particle: Particle,
    velocity: [f32; 3],
    pressure: f32,
    rank: i32,
    seed: u32,
    spare: [u32; 2],
}

fn metadata(axes: usize) -> Metadata {
    let axis = |axis: usize| Axis {
        name: (axis != 1).then(|| format!("a \"{axis}\" \\")),
        unit: (axis != 2).then(|| ["mm", "µs", ""][axis % 2].to_string()),
        spacing: 0.1 * (axis + 1) as f64,
        origin: -1.0 / 3.0 + axis as f64,
    };
    let attributes = json!({
        "step": 17, "a longer & <stranger> name": ["x\ny", {"deep": [1, 2.5, null, 0.1]}], "text": "tab\tbackslash \\n",
        "1.5": 1e300, "truth": true,
    });
    Metadata {
        name: Some("density & <more>".into()),
        axes: (0..axes).map(axis).collect(),
        attributes: attributes.as_object().unwrap().clone(),
        ..Metadata::default()
    }
}

fn check<T: Element + PartialEq + std::fmt::Debug, const D: usize>(
    array: &GlobalArray<T, D>,
    value: &dyn Fn([i64; D]) -> T,
) -> Result<()> {
    for chunk in array.chunks() {
        let region = chunk.region();
        let expected: Vec<T> = region.points().map(|at| value(std::array::from_fn(|axis| at[axis]))).collect();
        assert_eq!(chunk.all().read()?, expected, "{region:?}");
    }
    Ok(())
}

fn cut<const D: usize>(shape: [i64; D], cut: impl FnOnce(Layout) -> Layout) -> ([i64; D], Layout) {
    (shape, cut(Layout::new(shape)))
}

fn round_trip<T: Element + PartialEq + std::fmt::Debug, const D: usize>(
    endings: &[&str],
    (shape, layout): ([i64; D], Layout),
    value: impl Fn([i64; D]) -> T + Sync,
) {
    let value: &(dyn Fn([i64; D]) -> T + Sync) = &value;
    let directory = directory();
    let metadata = metadata(D);
    for (number, ranks) in [1, 2, 3, 5].into_iter().enumerate() {
        for ending in endings {
            let path = directory.path().join(format!("{ranks} & more.{ending}"));
            let least = shape.iter().product::<i64>() as u64 * T::INFO.bytes as u64 / 60;
            let block_bytes = [1, 40, 300, 1 << 20][number].max(least);
            let program = |world: &World| {
                let array = world.array::<T, D>("array", &layout)?;
                array.fill_with(value)?;
                let options = SaveOptions::new().metadata(metadata.clone());
                let bytes = save_in_blocks(world, &path, &array.at(..), &options, block_bytes)?;
                assert!(*ending == "pvti" || bytes == std::fs::metadata(&path).unwrap().len());
                for split in [Split::Auto, Split::Even(2), Split::Whole] {
                    let cut = |found: [i64; D]| {
                        assert_eq!(found, shape);
                        Layout::new(found).split_all(split.clone()).ghost([1; D])
                    };
                    let again = load_with::<T, D>(world, &path, "again", &LoadOptions::new(), cut)?;
                    assert_eq!(again.metadata, metadata, "{ending}");
                    check(&again.array, value)?;
                }
                Ok(())
            };
            run_with(Config::threads(ranks), program).unwrap();
            let found = describe(&path).unwrap();
            assert_eq!((found.format, found.metadata.name), (Format::of(&path).unwrap(), metadata.name.clone()));
            assert_eq!(found.metadata.attributes, metadata.attributes);
            for array in found.arrays {
                assert_eq!(array.shape[..D], shape);
                assert!(array.shape[D..].iter().all(|&extent| extent == 1));
            }
        }
    }
    // Temporary files have been removed; pieces have a folder.
    let folders = endings.iter().filter(|ending| **ending == "pvti").count();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 4 * (endings.len() + folders));
}

#[test]
fn numbers_of_three_axes_survive_every_format() {
    let all = ["vti", "pvti", "nrrd"];
    let uneven = [Split::Sizes(vec![1, 6]), Split::Sizes(vec![0, 5]), Split::Sizes(vec![4, 1, 1])];
    let shape = [7, 5, 6];
    round_trip(&all, cut(shape, |layout| layout.split(uneven)), |at| number(&at) as f32 - 0.5);
    let boxes = cut(shape, |layout| layout.split_all(Split::Auto).ghost([2; 3]));
    round_trip(&all, boxes, |at| (number(&at) % 251) as u8);
    round_trip(&all, cut(shape, |layout| layout.split_all(Split::Even(2))), |at| (number(&at) - 300) as i16);
}

#[test]
fn numbers_of_other_axes_survive_every_format() {
    let all = ["vti", "pvti", "nrrd"];
    round_trip(&all, cut([37], |layout| layout.split_all(Split::Even(7))), |[x]| (x - 20) as i8);
    round_trip(&all, cut([1], |layout| layout), |[_]| u32::MAX);
    let uneven = [Split::Sizes(vec![5, 7, 1]), Split::Even(2)];
    round_trip(&all, cut([13, 9], |layout| layout.split(uneven)), |at| number(&at) as u16);
    round_trip(&all, cut([1, 9], |layout| layout.split_all(Split::Auto)), |at| number(&at) as i32);
    // A last layer alone in a chunk, along every axis.
    let ends = Split::Sizes(vec![3, 1]);
    round_trip(&all, cut([4, 4], |layout| layout.split_all(ends)), |at| number(&at) as u32);
    let shape = [3, 2, 1, 2, 3, 1, 2];
    round_trip(&["nrrd"], cut(shape, |layout| layout.split_all(Split::Auto)), |at| number(&at) as u32);
    let four = cut([3, 2, 5, 4], |layout| layout.split_all(Split::Even(2)));
    round_trip(&["nrrd"], four, |at| [number(&at) as f32, -0.0]);
}

#[test]
fn vectors_and_records_survive_in_vtk() {
    let all = ["vti", "pvti", "nrrd"];
    let boxes = || cut([4, 3, 2], |layout| layout.split_all(Split::Auto));
    round_trip(&all, boxes(), |at| [number(&at) as u32, u32::MAX]);
    round_trip(&all, boxes(), |at| [number(&at) as f32, f32::MIN_POSITIVE / 2.0, -1.0, 0.5]);
    let flow = |at: [i64; 2]| {
        let n = number(&at) as f32;
        let particle = Particle { velocity: [n, -n], mass: 0.1 * n, id: n as u32 };
        Flow { particle, velocity: [n, 0.5, -n], pressure: n / 7.0, rank: -3, seed: 9, spare: [2, n as u32] }
    };
    let uneven = [Split::Sizes(vec![6, 0, 3]), Split::Whole];
    round_trip(&all[..2], cut([9, 5], |layout| layout.split(uneven)), flow);
}

#[test]
fn directions_rotate_the_origin_of_sections() {
    let directory = directory();
    // A rotation by a right angle is exact in every format.
    let directions = Some(vec![vec![0.0, 1.0, 0.0], vec![-1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0]]);
    let metadata = Metadata { directions, ..metadata(3) };
    for ending in ["vti", "pvti", "nrrd"] {
        let path = directory.path().join(format!("turned.{ending}"));
        run_with(Config::threads(2), |world| {
            let array = world.array::<u8, 3>("array", &Layout::new([5, 4, 3]).split_all(Split::Auto))?;
            save_with(world, &path, array.at(..), &SaveOptions::new().metadata(metadata.clone()))?;
            let all = load_with::<u8, 3>(world, &path, "all", &LoadOptions::new(), Layout::new)?;
            assert_eq!(all.metadata, metadata);
            let options = LoadOptions::new().section([2..5, 1..4, 0..3]).step([2, 1, 1]);
            let part = load_with::<u8, 3>(world, &path, "part", &options, Layout::new)?.metadata;
            let origins: Vec<f64> = part.axes.iter().map(|axis| axis.origin).collect();
            let [x, y, z] = [0, 1, 2].map(|axis: usize| &metadata.axes[axis]);
            assert_eq!(origins, [x.origin - y.spacing, y.origin + 2.0 * x.spacing, z.origin]);
            assert_eq!(part.axes[0].spacing, 2.0 * x.spacing);
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn array_without_metadata_keeps_its_name() {
    let directory = directory();
    for ending in ["vti", "pvti", "nrrd", "npy"] {
        let path = directory.path().join(format!("plain.{ending}"));
        run_with(Config::threads(3), |world| {
            let array = world.array::<f32, 2>("a name", &Layout::new([3, 2]))?;
            save(world, &path, array.at([1..3, 0..1]))?;
            let loaded = load_with::<f32, 2>(world, &path, "again", &LoadOptions::new(), Layout::new)?;
            let name = (ending != "npy").then(|| "a name".to_string());
            assert_eq!(loaded.metadata, Metadata { name, ..Metadata::default() });
            assert_eq!(loaded.array.shape(), [2, 1]);
            Ok(())
        })
        .unwrap();
    }
}

/// Expected bytes are written by hand from the descriptions of the formats.
#[test]
fn bytes_equal_the_descriptions_of_the_formats() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    let axis = |name: &str, spacing: f64, origin: f64| Axis {
        name: Some(name.into()),
        unit: Some("mm".into()),
        spacing,
        origin,
    };
    let metadata = Metadata {
        axes: vec![axis("x", 0.5, 1.0), axis("y", 2.0, -3.0)],
        attributes: json!({"k": "A\n"}).as_object().unwrap().clone(),
        ..Metadata::default()
    };
    run_with(Config::threads(2), |world| {
        let array = world.array::<[u32; 2], 2>("speed", &Layout::new([2, 3]).split_all(Split::Auto))?;
        array.fill_with(|[x, y]| [x as u32, 256 + y as u32])?;
        let options = SaveOptions::new().metadata(metadata.clone());
        save_with(world, path("a.nrrd"), array.at(..), &options)?;
        save_with(world, path("a.vti"), array.at(..), &options)?;
        Ok(())
    })
    .unwrap();
    let cells: Vec<u8> =
        (0..3).flat_map(|y| (0..2).flat_map(move |x| [[x, 0, 0, 0], [y, 1, 0, 0]].into_iter().flatten())).collect();
    let nrrd = "NRRD0005\ncontent: speed\ntype: uint32\ndimension: 3\nsizes: 2 2 3\nkinds: vector domain domain\n\
                encoding: raw\nendian: little\nspace dimension: 2\nspace directions: none (0.5,0) (0,2)\n\
                space origin: (1,-3)\nspace units: \"mm\" \"mm\"\nlabels: \"\" \"x\" \"y\"\nk:=\"A\\\\n\"\n\n";
    let expected = [nrrd.as_bytes(), &cells].concat();
    assert_eq!(String::from_utf8_lossy(&std::fs::read(path("a.nrrd")).unwrap()), String::from_utf8_lossy(&expected));
    let options = br#"{"name":null,"names":["x","y"],"units":["mm","mm"]}"#.map(|byte| byte.to_string()).join(" ");
    let vti = format!(
        r#"<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
  <ImageData WholeExtent="0 1 0 2 0 0" Origin="1 -3 0" Spacing="0.5 2 1">
    <FieldData>
      <Array type="String" Name="k" NumberOfTuples="1" format="ascii">34 65 92 110 34 0</Array>
      <Array type="String" Name="zippy" NumberOfTuples="1" format="ascii">{options} 0</Array>
    </FieldData>
    <Piece Extent="0 1 0 2 0 0">
      <PointData Scalars="speed">
        <DataArray type="UInt32" Name="speed" NumberOfComponents="2" format="appended" offset="0"/>
      </PointData>
    </Piece>
  </ImageData>
  <AppendedData encoding="raw">
   _"#
    );
    let end = b"\n  </AppendedData>\n</VTKFile>\n";
    let expected = [vti.as_bytes(), &48_u64.to_le_bytes(), &cells, end].concat();
    assert_eq!(String::from_utf8_lossy(&std::fs::read(path("a.vti")).unwrap()), String::from_utf8_lossy(&expected));
    let found = describe(path("a.vti")).unwrap();
    assert_eq!(found.arrays[0].element, "[u32; 2]");
    assert_eq!(describe(path("a.nrrd")).unwrap().arrays[0].element, "[u32; 2]");
}

#[test]
fn content_that_a_format_cannot_hold_is_an_error_on_every_rank() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    run_with(Config::threads(3), |world| {
        let four = world.array::<f32, 4>("four", &Layout::new([2, 2, 2, 2]))?;
        let none = world.array::<f32, 2>("none", &Layout::new([0, 3]))?;
        let record = world.array::<Particle, 1>("record", &Layout::new([3]))?;
        let two = world.array::<u8, 2>("two", &Layout::new([2, 3]))?;
        let with = |metadata: Metadata| SaveOptions::new().metadata(metadata);
        let plain = SaveOptions::new();
        let called = |name: &str| with(Metadata { name: Some(name.into()), ..Metadata::default() });
        let axes = |change: &dyn Fn(&mut Axis)| {
            let mut axes = vec![Axis::default(); 2];
            change(&mut axes[1]);
            with(Metadata { axes, ..Metadata::default() })
        };
        let directions =
            |all: [[f64; 2]; 2]| with(Metadata { directions: Some(all.map(Vec::from).into()), ..Metadata::default() });
        let attribute = |key: &str| {
            let mut metadata = Metadata::default();
            metadata.attributes.insert(key.into(), json!(1));
            with(metadata)
        };
        let long = with(Metadata {
            attributes: json!({"a": "x".repeat(1 << 20)}).as_object().unwrap().clone(),
            ..Metadata::default()
        });
        let errors = [
            (
                save_with(world, path("a.vti"), four.at(..), &plain),
                "array of 4 axes, only of 1 to 3; .nrrd and .npy can",
            ),
            (save_with(world, path("a.pvti"), none.at(..), &plain), "an array without cells, of 0 x 3; .npy can"),
            (save_with(world, path("a.nrrd"), none.at(..), &plain), "an array without cells"),
            (save_with(world, path("a.nrrd"), record.at(..), &plain), "cannot have records; .npy, .vti and .pvti can"),
            (save_with(world, path("a.nhdr"), two.at(..), &plain), "the name of a header alone"),
            (save_with(world, path("a.bin"), two.at(..), &plain), "must end with .npy, .zarr, .vti, .pvti or .nrrd"),
            (save_with(world, path("a.vti"), two.at(..), &called("a\nb")), "text without control characters"),
            (save_with(world, path("a.nrrd"), two.at(..), &called(" a")), "must be one line, without blanks around it"),
            (save_with(world, path("a.nrrd"), two.at(..), &attribute("a:b")), "begin with # or have a colon"),
            (save_with(world, path("a.vti"), two.at(..), &attribute("zippy")), "Zippy uses the name"),
            (save_with(world, path("a.npy"), two.at(..), &attribute("a")), "keeps no axes, directions or attributes"),
            (save_with(world, path("a.npy"), two.at(..), &axes(&|_| ())), "keeps no axes, directions or attributes"),
            (save_with(world, path("a.nrrd"), two.at(..), &long), "would have a header of 10"),
            (
                save_with(world, path("a.vti"), two.at(..), &axes(&|axis| axis.spacing = 0.0)),
                "a spacing of 0 on axis 1",
            ),
            (
                save_with(world, path("a.vti"), two.at(..), &axes(&|axis| axis.origin = f64::NAN)),
                "an origin of NaN on axis 1",
            ),
            (save_with(world, path("a.nrrd"), two.at(..), &with(metadata(3))), "metadata of 3 axes for an array of 2"),
            (
                save_with(world, path("a.vti"), two.at(..), &directions([[1.0, 1.0], [0.0, 1.0]])),
                "it must be 1 (spacing is apart)",
            ),
            (save_with(world, path("no/a.pvti"), two.at(..), &plain), "cannot make a folder"),
            (save_with(world, path("no/a.vti"), two.at(..), &plain), "cannot write"),
        ];
        for (found, wanted) in errors {
            let error = found.unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}, not {wanted}");
        }
        let options = called(if world.rank() == 1 { "one" } else { "two" });
        assert!(world.rank() > 2 || save_with(world, path("a.nrrd"), two.at(..), &options).is_err());
        Ok(())
    })
    .unwrap_err();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn order_of_attributes_does_not_matter() {
    let directory = directory();
    let endings =
        ["nrrd", "vti", "pvti", "zarr"].into_iter().filter(|&ending| ending != "zarr" || cfg!(feature = "zarr"));
    for ending in endings {
        let path = |first: usize| directory.path().join(format!("{first}.{ending}"));
        for first in [0, 1] {
            run_with(Config::threads(3), |world| {
                let array = world.array::<u8, 2>("array", &Layout::new([5, 4]).split_all(Split::Even(2)))?;
                let mut names = ["a", "b", "c"];
                names.rotate_left((world.rank() + first) % 3);
                let inner: serde_json::Map<_, _> =
                    names.map(|name| (name.to_string(), json!(name))).into_iter().collect();
                let attributes =
                    names.map(|name| (name.to_string(), json!({"of": [inner.clone()]}))).into_iter().collect();
                let options = SaveOptions::new().metadata(Metadata { attributes, ..Metadata::default() });
                save_with(world, path(first), array.at(..), &options).map(drop)
            })
            .unwrap();
        }
        // The random names of pieces always differ.
        let text = |first: usize| match ending {
            "zarr" => std::fs::read(path(first).join("array/zarr.json")).unwrap(),
            _ => std::fs::read(path(first)).unwrap(),
        };
        assert!(ending == "pvti" || text(0) == text(1), "{ending}");
    }
}
