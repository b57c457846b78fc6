//! Sections and steps, ghost cells, and arrays of every n-th cell.

use std::io::Write;

use zippy::{ArrayOptions, Config, Layout, Ownership, Split, run_with};

use super::super::{LoadOptions, load_with, save, subsample};
use super::{directory, number};

/// Files of one array in all formats, one of them compressed.
fn files(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let paths: Vec<_> = ["npy", "vti", "pvti", "nrrd"].map(|ending| directory.join(format!("a.{ending}"))).into();
    run_with(Config::threads(3), |world| {
        let array = world.array::<u16, 3>("array", &Layout::new([11, 7, 9]).split_all(Split::Even(2)))?;
        array.fill_with(|at| number(&at) as u16)?;
        paths.iter().try_for_each(|path| save(world, path, array.at(..)).map(drop))
    })
    .unwrap();
    let nrrd = std::fs::read(&paths[3]).unwrap();
    let end = nrrd.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
    let header = String::from_utf8(nrrd[..end].to_vec()).unwrap().replace("encoding: raw", "encoding: gzip");
    let mut packed = flate2::write::GzEncoder::new(header.into_bytes(), flate2::Compression::fast());
    packed.write_all(&nrrd[end..]).unwrap();
    let mut all = paths;
    let header_length = String::from_utf8(nrrd[..end].to_vec()).unwrap().len() + 1;
    let bytes = packed.finish().unwrap();
    assert!(bytes[header_length..].starts_with(&[0x1f, 0x8b]));
    all.push(directory.join("packed.nrrd"));
    std::fs::write(&all[4], bytes).unwrap();
    all
}

#[test]
fn sections_and_steps_of_all_formats_are_loaded() {
    let directory = directory();
    let cases = [
        ([0..11, 0..7, 0..9], [1, 1, 1]),
        ([0..11, 0..7, 0..9], [3, 2, 4]),
        ([2..9, 1..7, 3..4], [1, 5, 1]),
        ([10..11, 6..7, 8..9], [9, 9, 9]),
        ([0..11, 3..3, 0..9], [2, 2, 2]),
        ([1..11, 0..7, 2..9], [1, 1, i64::MAX]),
    ];
    for path in files(directory.path()) {
        for ranks in [1, 2, 5] {
            run_with(Config::threads(ranks), |world| {
                for (section, step) in &cases {
                    let options = LoadOptions::new().section(section.clone()).step(*step);
                    let cut = |shape: [i64; 3]| {
                        let wanted: Vec<i64> = (0..3)
                            .map(|axis| (section[axis].end - section[axis].start) as f64 / step[axis] as f64)
                            .map(|n| n.ceil() as i64)
                            .collect();
                        assert_eq!(shape[..], wanted);
                        Layout::new(shape).split_all(Split::Auto)
                    };
                    let array = load_with::<u16, 3>(world, &path, "part", &options, cut)?.array;
                    for chunk in array.chunks() {
                        let points = chunk.region().points();
                        let at = |axis: usize, place: i64| section[axis].start + place * step[axis].min(1 << 40);
                        let expected: Vec<u16> =
                            points.map(|p| number(&[at(0, p[0]), at(1, p[1]), at(2, p[2])]) as u16).collect();
                        assert_eq!(chunk.all().read()?, expected, "{} {section:?} {step:?}", path.display());
                    }
                }
                Ok(())
            })
            .unwrap();
        }
    }
}

#[test]
fn steps_across_large_gaps_are_loaded() {
    let directory = directory();
    // Rows of 20 KiB and planes of 40 KiB: rows are skipped, and cells of the long axis are read
    // one by one.
    for (ending, shape, step) in [
        ("npy", [5120, 9], [2, 2]),
        ("nrrd", [5120, 9], [2, 4]),
        ("npy", [9001, 2], [4500, 1]),
        ("vti", [9001, 3], [4200, 2]),
    ] {
        let path = directory.path().join(format!("far.{ending}"));
        run_with(Config::threads(2), |world| {
            let array = world.array::<i32, 2>("array", &Layout::new(shape).split_all(Split::Auto))?;
            array.fill_with(|[x, y]| (x + 10_000 * y) as i32)?;
            save(world, &path, array.at(..))?;
            let options = LoadOptions::new().step(step).section([1..shape[0], 0..shape[1]]);
            let part = load_with::<i32, 2>(world, &path, "part", &options, Layout::new)?.array;
            for chunk in part.chunks() {
                let points = chunk.region().points();
                let expected: Vec<i32> =
                    points.map(|p| (1 + p[0] * step[0] + 10_000 * p[1] * step[1]) as i32).collect();
                assert_eq!(chunk.all().read()?, expected);
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn ghost_cells_are_filled_by_request() {
    let directory = directory();
    let path = &files(directory.path())[2];
    run_with(Config::threads(3), |world| {
        let layout = |shape| Layout::new(shape).split_all(Split::Auto).ghost([1; 3]);
        for options in [LoadOptions::new(), LoadOptions::new().ghosts()] {
            let array = load_with::<u16, 3>(world, path, "array", &options, layout)?.array;
            for chunk in array.chunks() {
                let storage = chunk.region().grow(&[1; 3].into(), &[1; 3].into());
                let own = chunk.region();
                let whole = array.core().bounds();
                let expected = |p: zippy::extents::Index| {
                    if own.contains(&p) || options.ghosts && whole.contains(&p) { number(&p) as u16 } else { 0 }
                };
                assert!(chunk.with_ghosts().read()?.into_iter().eq(storage.points().map(expected)));
            }
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn sections_and_steps_that_do_not_fit_are_errors() {
    let directory = directory();
    let path = &files(directory.path())[0];
    run_with(Config::threads(2), |world| {
        let all = LoadOptions::new;
        let backwards = std::ops::Range { start: 3, end: 1 };
        let cases = [
            (all().section([0..12, 0..7, 0..9]), "holds an array of 11 x 7 x 9, in which the section [0..12"),
            (all().section([-1..2, 0..7, 0..9]), "does not lie"),
            (all().section([backwards, 0..7, 0..9]), "does not lie"),
            (all().section([0..1, 0..1]), "does not lie"),
            (all().step([1, 0, 1]), "steps [1, 0, 1]; 3 are needed, each at least 1"),
            (all().step([1, 1]), "3 are needed"),
            (all().array("b"), "which has no arrays to choose \"b\" from"),
        ];
        for (options, wanted) in cases {
            let error = load_with::<u16, 3>(world, path, "part", &options, Layout::new).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}, not {wanted}");
        }
        world.barrier()
    })
    .unwrap();
}

#[test]
fn sections_are_saved_in_all_formats() {
    let directory = directory();
    for ranks in [2, 5] {
        for ending in ["npy", "vti", "pvti", "nrrd"] {
            let path = directory.path().join(format!("{ranks}.{ending}"));
            run_with(Config::threads(ranks), |world| {
                let uneven = [Split::Sizes(vec![3, 1, 7]), Split::Sizes(vec![0, 4, 3]), Split::Sizes(vec![4, 1, 4])];
                let array = world.array::<i16, 3>("array", &Layout::new([11, 7, 9]).split(uneven).ghost([1; 3]))?;
                array.fill_with(|at| number(&at) as i16)?;
                save(world, &path, array.at([2..9, 1..5, 3..9]))?;
                let cut = |shape: [i64; 3]| Layout::new(shape).split_all(Split::Auto);
                let part = load_with::<i16, 3>(world, &path, "part", &LoadOptions::new(), cut)?.array;
                assert_eq!(part.shape(), [7, 4, 6]);
                for chunk in part.chunks() {
                    let points = chunk.region().points();
                    let expected: Vec<i16> = points.map(|p| number(&[p[0] + 2, p[1] + 1, p[2] + 3]) as i16).collect();
                    assert_eq!(chunk.all().read()?, expected, "{ending}");
                }
                Ok(())
            })
            .unwrap();
        }
    }
}

/// Compares every n-th cell with the cells of the source, for any cut.
#[test]
fn subsamples_have_the_cuts_of_their_sources() {
    for ranks in [1, 2, 3, 5] {
        run_with(Config::threads(ranks), |world| {
            let uneven = [Split::Sizes(vec![1, 10]), Split::Sizes(vec![0, 4, 3]), Split::Sizes(vec![4, 1, 4])];
            let layouts = [
                Layout::new([11, 7, 9]).split(uneven).ghost([1, 0, 2]),
                Layout::new([11, 7, 9]).split_all(Split::Auto),
            ];
            for layout in &layouts {
                let bytes = world.array::<u8, 3>("bytes", layout)?;
                let shorts = world.array::<i16, 3>("shorts", layout)?;
                let vectors = world.array::<[f32; 4], 3>("vectors", layout)?;
                bytes.fill_with(|at| (number(&at) % 256) as u8)?;
                shorts.fill_with(|at| number(&at) as i16)?;
                vectors.fill_with(|at| [number(&at) as f32, 1.0, -1.0, 0.5])?;
                for (section, step) in [
                    ([0..11, 0..7, 0..9], [2, 2, 2]),
                    ([1..10, 2..7, 3..8], [3, 1, 4]),
                    ([5..6, 0..7, 0..9], [100, 7, 1]),
                    ([3..3, 0..7, 0..9], [2, 2, 2]),
                ] {
                    let at = |p: zippy::extents::Index| -> [i64; 3] {
                        std::array::from_fn(|axis: usize| section[axis].start + p[axis] * step[axis])
                    };
                    let few = subsample(world, &bytes.at(section.clone()), step, "few bytes")?;
                    assert_eq!(few.core().chunks().count(), bytes.core().chunks().count());
                    for chunk in few.chunks() {
                        let expected: Vec<u8> = chunk.region().points().map(|p| (number(&at(p)) % 256) as u8).collect();
                        assert_eq!(chunk.all().read()?, expected);
                    }
                    let few = subsample(world, &shorts.at(section.clone()), step, "few shorts")?;
                    for chunk in few.chunks() {
                        let expected: Vec<i16> = chunk.region().points().map(|p| number(&at(p)) as i16).collect();
                        assert_eq!(chunk.all().read()?, expected);
                    }
                    let few = subsample(world, &vectors.at(section.clone()), step, "few vectors")?;
                    for chunk in few.chunks() {
                        let expected: Vec<[f32; 4]> =
                            chunk.region().points().map(|p| [number(&at(p)) as f32, 1.0, -1.0, 0.5]).collect();
                        assert_eq!(chunk.all().read()?, expected);
                    }
                }
                let error = subsample(world, &bytes.at(..), [1, -2, 1], "few").unwrap_err().to_string();
                assert!(error.contains("steps of [1, -2, 1]; each must be at least 1"), "{error}");
            }
            let last = Ownership::table(vec![world.size() - 1; 4], world.size())?;
            let array = world.array::<u32, 1>(
                "owned",
                ArrayOptions::new(&Layout::new([10]).split([Split::Even(4)])).owned_by(last),
            )?;
            let few = subsample(world, &array.at(..), [2], "few of one")?;
            assert_eq!(few.core().owned().count(), array.core().owned().count());
            Ok(())
        })
        .unwrap();
    }
}
