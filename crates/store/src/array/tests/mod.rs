//! Arrays in files: any cut, any number of ranks, every kind of cell; damaged files and files of
//! other programs.

use std::path::{Path, PathBuf};

use zippy::array::GlobalArray;
use zippy::region::Region;
use zippy::{Config, Element, Layout, Result, Split, World, run_with};

use super::load::load_in_blocks;
use super::options::to_layout;
use super::save::save_in_blocks;
use super::{LoadOptions, SaveOptions, load};

mod foreign;
mod formats;
mod fortran;
mod full;
mod grids;
mod pieces;
mod series;
mod steps;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Particle {
    velocity: [f32; 2],
    mass: f32,
    id: u32,
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn number(at: &[i64]) -> i64 {
    at.iter().rev().fold(0, |number, at| 11 * number + at)
}

/// Header and cells of a file; the cells begin at a multiple of 64.
fn cells_of(path: &Path) -> (String, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!((10 + length).is_multiple_of(64) && bytes.starts_with(b"\x93NUMPY\x01\x00"));
    let header = String::from_utf8(bytes[10..10 + length].to_vec()).unwrap();
    (header.trim_end().to_string(), bytes[10 + length..].to_vec())
}

/// Saves with every number of ranks and cut, checks the file, and loads it with another cut.
fn round_trip<T: Element + PartialEq + std::fmt::Debug, const D: usize>(
    shape: [i64; D],
    cuts: &[Layout],
    wanted: &str,
    value: impl Fn([i64; D]) -> T + Sync,
) {
    let directory = directory();
    for (number, layout) in cuts.iter().enumerate() {
        for ranks in [1, 2, 3, 5] {
            let path = directory.path().join(format!("{number}-{ranks}.npy"));
            // Blocks of a few cells: ranks have several rounds, and different numbers of them.
            let least = shape.iter().product::<i64>() as u64 * T::INFO.bytes as u64 / 60;
            let block_bytes = [1, 40, 300, 1 << 20][(number + ranks) % 4].max(least);
            let program = |world: &World| {
                let array = world.array::<T, D>("array", layout)?;
                array.fill_with(&value)?;
                let bytes = save_in_blocks(world, &path, &array.at(..), &SaveOptions::new(), block_bytes)?;
                assert_eq!(bytes, std::fs::metadata(&path).unwrap().len());
                for (number, split) in [Split::Auto, Split::Even(2), Split::Whole].into_iter().enumerate() {
                    let cut = |shape: [i64; D]| Layout::new(shape).split_all(split.clone()).ghost([1; D]);
                    let block_bytes = [block_bytes, least.max(200), 1 << 20][number];
                    let all = LoadOptions::new();
                    let again = load_in_blocks::<T, D>(world, &path, "again", &all, to_layout(cut), block_bytes)?.array;
                    for chunk in again.chunks() {
                        let region = chunk.region();
                        let expected: Vec<T> =
                            region.points().map(|at| value(std::array::from_fn(|axis| at[axis]))).collect();
                        assert_eq!(chunk.all().read()?, expected, "{region:?}");
                    }
                }
                Ok(())
            };
            run_with(Config::threads(ranks), program).unwrap();
            let (header, cells) = cells_of(&path);
            assert_eq!(header, wanted);
            let all: Vec<T> = Region::new(&[0; D], &shape)
                .unwrap()
                .points()
                .map(|at| value(std::array::from_fn(|a| at[a])))
                .collect();
            assert!(cells == bytemuck::cast_slice::<T, u8>(&all), "{ranks} ranks, {layout:?}");
        }
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 4 * cuts.len());
}

#[test]
fn floats_in_three_axes_survive() {
    let shape = [7, 5, 6];
    let layout = || Layout::new(shape);
    let uneven = [Split::Sizes(vec![1, 6]), Split::Sizes(vec![0, 5]), Split::Sizes(vec![4, 1, 1])];
    let cuts =
        [layout().split_all(Split::Auto).ghost([2; 3]), layout().split(uneven), layout().split_all(Split::Even(2))];
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 5, 7,), }";
    round_trip(shape, &cuts, header, |at| number(&at) as f32 - 0.5);
}

#[test]
fn bytes_in_odd_rows_survive() {
    let cuts = [Layout::new([13, 9]).split([Split::Sizes(vec![5, 7, 1]), Split::Even(2)])];
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (9, 13,), }";
    round_trip([13, 9], &cuts, header, |at| (number(&at) % 251) as u8);
    let cuts = [Layout::new([37]).split_all(Split::Auto)];
    let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (37,), }";
    round_trip([37], &cuts, header, |[x]| (x - 20) as i16);
}

#[test]
fn vectors_and_records_survive() {
    let cuts = [Layout::new([4, 3, 2]).split_all(Split::Auto)];
    let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3, 4, 2,), }";
    round_trip([4, 3, 2], &cuts, header, |at| [number(&at) as u32, u32::MAX]);
    let particle = |[i]: [i64; 1]| Particle { velocity: [i as f32, -1.5], mass: 0.25 * i as f32, id: 7 * i as u32 };
    let header = "{'descr': [('velocity', '<f4', (2,)), ('mass', '<f4'), ('id', '<u4')], 'fortran_order': False, 'shape': \
                  (29,), }";
    round_trip([29], &[Layout::new([29]).split([Split::Sizes(vec![20, 0, 9])])], header, particle);
}

#[test]
fn arrays_of_seven_axes_survive() {
    let shape = [3, 2, 1, 2, 3, 1, 2];
    let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1, 3, 2, 1, 2, 3,), }";
    round_trip(shape, &[Layout::new(shape).split_all(Split::Auto)], header, |at| number(&at) as i32);
}

/// Rows that are far apart, and rows that are read together with the gaps between them.
#[test]
fn long_axes_survive() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5003,), }";
    let layout = || Layout::new([5003, 3]);
    round_trip([5003, 3], &[layout().split([Split::Even(3), Split::Whole]), layout()], header, |at| number(&at) as f32);
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (700, 3, 2,), }";
    round_trip([2, 3, 700], &[Layout::new([2, 3, 700])], header, |at| number(&at) as f32);
}

#[test]
fn sections_and_empty_arrays_survive() {
    let directory = directory();
    for ranks in [1, 3] {
        run_with(Config::threads(ranks), |world| {
            let path = directory.path().join(format!("{ranks}.npy"));
            let array = world.array::<f32, 2>("array", &Layout::new([9, 8]).split_all(Split::Auto))?;
            array.fill_with(|at| number(&at) as f32)?;
            super::save(world, &path, array.at([2..7, 3..4]))?;
            let part = load::<f32, 2>(world, &path, "part", Layout::new)?;
            assert_eq!(part.shape(), [5, 1]);
            for chunk in part.chunks() {
                let points = chunk.region().points();
                let expected: Vec<f32> = points.map(|at| number(&[at[0] + 2, at[1] + 3]) as f32).collect();
                assert_eq!(chunk.all().read()?, expected);
            }
            super::save(world, &path, array.at(..))?;
            assert_eq!(std::fs::metadata(&path).unwrap().len(), 128 + 4 * 72);
            super::save(world, &path, array.at([4..4, 0..8]))?;
            let none = load::<f32, 2>(world, &path, "none", |shape| Layout::new(shape).split_all(Split::Auto))?;
            assert_eq!(none.shape(), [0, 8]);
            Ok(())
        })
        .unwrap();
    }
}

fn npy(path: &Path, dictionary: &str, cells: &[u8]) {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes.extend(cells);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn numpy_files_of_other_programs_are_loaded() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    let big: Vec<u8> = (0..6).flat_map(|i| (i as f32 + 0.5).to_be_bytes()).collect();
    npy(&path("big.npy"), "{'descr':'>f4','fortran_order':False,'shape':(2,3)}\n", &big);
    let little: Vec<u8> = (0..6).flat_map(|i| (i as f32 + 0.5).to_le_bytes()).collect();
    npy(&path("spelt.npy"), "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}", &little);
    npy(&path("bits.npy"), "{'descr': '|b1', 'fortran_order': False, 'shape': (6,), }", &[1, 0, 0, 1, 1, 0]);
    let record = [1_u32, 2, 3, 4].map(u32::to_le_bytes);
    let text =
        "{'descr': [('velocity','<f4',(2,)),  ('mass','<f4'), ('id','<u4')], 'fortran_order': False, 'shape': (1,)}";
    npy(&path("record.npy"), text, record.as_flattened());
    run_with(Config::threads(2), |world| {
        for name in ["big.npy", "spelt.npy"] {
            let array = load::<f32, 2>(world, path(name), "array", |shape| Layout::new(shape).split_all(Split::Auto))?;
            assert_eq!(array.shape(), [3, 2]);
            for chunk in array.chunks() {
                let expected: Vec<f32> = chunk.region().points().map(|at| (at[0] + 3 * at[1]) as f32 + 0.5).collect();
                assert_eq!(chunk.all().read()?, expected, "{name}");
            }
        }
        let bits = load::<u8, 1>(world, path("bits.npy"), "bits", Layout::new)?;
        for chunk in bits.chunks() {
            let (own, all) = (chunk.region(), [1, 0, 0, 1, 1, 0]);
            assert_eq!(chunk.all().read()?, all[own.start[0] as usize..own.end[0] as usize]);
        }
        let records = load::<Particle, 1>(world, path("record.npy"), "records", Layout::new)?;
        for chunk in records.chunks() {
            assert!(chunk.all().read()?.iter().all(|particle| particle.id == 4));
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn mistakes_are_the_same_error_on_every_rank() {
    let directory = directory();
    let path = |name: &str| -> PathBuf { directory.path().join(name) };
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    npy(&path("short.npy"), header, &[0; 23]);
    npy(&path("long.npy"), header, &[0; 25]);
    npy(&path("good.npy"), header, &[0; 24]);
    npy(&path("half.npy"), "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }", &[0; 12]);
    npy(&path("complex.npy"), "{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3), }", &[0; 96]);
    let record = "{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (2, 3), }";
    npy(&path("record.npy"), record, &[0; 48]);
    npy(&path("huge.npy"), "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 3), }", &[0; 24]);
    npy(&path("minus.npy"), "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }", &[0; 24]);
    let vectors = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 1, 2), }";
    npy(&path("vectors.npy"), vectors, &[0; 48]);
    std::fs::write(path("text.npy"), "x, y, z").unwrap();
    let cases = [
        ("missing.npy", "cannot open"),
        ("text.npy", "not a NumPy file"),
        ("short.npy", "the data end after 23 of 24 bytes"),
        ("long.npy", "data go on after the 24 bytes"),
        ("half.npy", "byte 20: holds f16, not f32; load it as f16, or convert it in NumPy with .astype(\"f4\")"),
        ("complex.npy", "holds complex numbers (NumPy type \"<c16\"), not f32; convert it in NumPy"),
        ("record.npy", "holds [(\"a\", f32), (\"b\", i32)], not f32; load it as what it holds"),
        ("huge.npy", "are no sizes of an array"),
        ("minus.npy", "are no sizes of an array"),
        ("vectors.npy", "an array of 4 axes, not of 2"),
    ];
    run_with(Config::threads(3), |world| {
        for (name, wanted) in cases {
            let error = load::<f32, 2>(world, path(name), "array", Layout::new).unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains(name), "{error}, not {wanted}");
        }
        let error = load::<[f32; 4], 3>(world, path("vectors.npy"), "array", Layout::new).unwrap_err();
        assert!(error.to_string().contains("need a last axis of 4 numbers"), "{error}");
        let error = load::<f32, 2>(world, path("good.npy"), "array", |_| Layout::new([5, 5])).unwrap_err();
        assert!(error.to_string().contains("holds an array of 3 x 2, and the layout has 5 x 5"), "{error}");
        let array = world.array::<f32, 2>("array", &Layout::new([3, 2]).split_all(Split::Auto))?;
        let error = super::save(world, path("array.zip"), array.at(..)).unwrap_err().to_string();
        assert!(error.contains("must end with .npy"), "{error}");
        for ending in ["npy", "zarr", "vti", "pvti", "nrrd"] {
            let error = super::save(world, path(&format!("no/such/array.{ending}")), array.at(..)).unwrap_err();
            let [missing, last] =
                [path("no/such"), directory.path().to_path_buf()].map(|path| path.display().to_string());
            let wanted = format!("the folder {missing} is missing, the last that exists is {last}");
            assert!(error.to_string().contains(&wanted), "{error}, not {wanted}");
        }
        let error = super::save(world, path("array.npy"), array.at([0..4, 0..2])).unwrap_err().to_string();
        assert!(error.contains("array"), "{error}");
        world.barrier()
    })
    .unwrap();
    assert!(!path("array.npy").exists() && !path("array.zip").exists());
}

#[test]
fn call_on_one_rank_alone_is_named_as_the_program_calls_it() {
    let directory = directory();
    let path = |name: &str| -> PathBuf { directory.path().join(name) };
    type Verb<'a> = &'a (dyn Fn(&World, &GlobalArray<f32, 2>) -> Result<()> + Sync);
    let save = |world: &World, array: &GlobalArray<f32, 2>, name: &str| {
        super::save(world, path(name), array.at((0..2, ..))).map(drop)
    };
    let checkpoints = crate::checkpoint::Checkpoints::new(path("steps"), 1);
    let verbs: [(Verb<'_>, String); 6] = [
        (
            &|world, array| save(world, array, "a.npy"),
            format!("save({}, \"array\" [0..2, 0..2], ", path("a.npy").display()),
        ),
        (&|world, array| save(world, array, "a.zarr"), format!("save({}, \"array\" [0..2, ", path("a.zarr").display())),
        (
            &|world, _| load::<f32, 2>(world, path("a.npy"), "b", Layout::new).map(drop),
            format!("load({})", path("a.npy").display()),
        ),
        (
            &|world, array| checkpoints.save(world, 3, &crate::checkpoint::Contents::new().array(array)),
            format!("save({}, step 3)", path("steps").display()),
        ),
        (&|world, _| checkpoints.latest(world).map(drop), format!("latest({})", path("steps").display())),
        (&|world, _| checkpoints.at(world, 7).map(drop), format!("at({}, step 7)", path("steps").display())),
    ];
    for (verb, wanted) in verbs {
        let error = run_with(Config::threads(3), |world| {
            let array = world.array::<f32, 2>("array", &Layout::new([3, 2]).split_all(Split::Auto))?;
            if world.rank() == 0 { verb(world, &array) } else { world.barrier() }
        });
        let text = error.unwrap_err().to_string();
        assert!(text.contains(&format!("rank 0 called {wanted}")), "{text}, not {wanted}");
        assert!(!text.contains("agree(") && !text.contains("Some("), "{text}");
    }
}
