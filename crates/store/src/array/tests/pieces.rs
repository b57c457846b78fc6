//! Arrays in pieces: content of the pieces, state after failures, and errors in pieces of other
//! programs.

use std::path::{Path, PathBuf};

use zippy::{Config, Layout, Split, run_with};

use super::super::{LoadOptions, describe, load, load_with, save};
use super::{directory, number};
use zippy_io::volume;

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn write(path: &Path, ranks: usize, layout: &Layout, add: i64) {
    run_with(Config::threads(ranks), |world| {
        let array = world.array::<u32, 2>("array", layout)?;
        array.fill_with(|at| (number(&at) + add) as u32)?;
        save(world, path, array.at(..)).map(drop)
    })
    .unwrap();
}

#[test]
fn pieces_share_one_layer_of_points() {
    let directory = directory();
    let path = directory.path().join("a.pvti");
    let layout = Layout::new([9, 8]).split([Split::Sizes(vec![5, 0, 3, 1]), Split::Even(2)]);
    write(&path, 3, &layout, 0);
    let text = std::fs::read_to_string(&path).unwrap();
    let extents: Vec<&str> =
        text.split("<Piece Extent=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0).collect();
    // Empty chunks have no piece, and the points of a last layer are in the neighbours.
    let mut sorted = extents.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["0 5 0 4 0 0", "0 5 4 7 0 0", "5 8 0 4 0 0", "5 8 4 7 0 0"]);
    // Each piece is an image at its position, with all its points.
    let files = names(&directory.path().join("a"));
    assert_eq!(files.len(), 4);
    for file in &files {
        let piece = volume::open(file).unwrap();
        let bytes = std::fs::read(file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let extent = text.split_once("WholeExtent=\"").unwrap().1.split_once('"').unwrap().0;
        let first: Vec<i64> = extent.split(' ').map(|word| word.parse().unwrap()).collect();
        let cells = piece.read_region::<u32>(&zippy::region::Region::whole(piece.shape())).unwrap();
        let points = (first[2]..=first[3]).flat_map(|y| (first[0]..=first[1]).map(move |x| number(&[x, y]) as u32));
        assert!(cells.into_iter().eq(points), "{extent}");
    }
}

#[test]
fn second_save_replaces_the_pieces_of_the_first() {
    let directory = directory();
    let path = directory.path().join("a.pvti");
    let folder = directory.path().join("a");
    write(&path, 3, &Layout::new([9, 8]).split([Split::Even(4), Split::Even(2)]), 0);
    assert_eq!(names(&folder).len(), 8);
    let kept = folder.join("a_notes.vti");
    std::fs::write(&kept, "mine").unwrap();
    write(&path, 2, &Layout::new([9, 8]).split([Split::Even(3), Split::Whole]), 5);
    let left = names(&folder);
    assert_eq!(left.len(), 4);
    assert!(left.contains(&kept));
    run_with(Config::threads(2), |world| {
        let array = load::<u32, 2>(world, &path, "array", |shape| Layout::new(shape).split_all(Split::Auto))?;
        for chunk in array.chunks() {
            let expected: Vec<u32> = chunk.region().points().map(|at| (number(&at) + 5) as u32).collect();
            assert_eq!(chunk.all().read()?, expected);
        }
        Ok(())
    })
    .unwrap();
    // A failed save changes nothing: the index is a directory.
    let (blocked, folder) = (directory.path().join("b.pvti"), directory.path().join("b"));
    std::fs::create_dir(&blocked).unwrap();
    run_with(Config::threads(3), |world| {
        let array = world.array::<u32, 2>("array", &Layout::new([9, 8]).split_all(Split::Even(3)))?;
        let error = save(world, &blocked, array.at(..)).unwrap_err().to_string();
        assert!(error.contains("is a directory"), "{error}");
        Ok(())
    })
    .unwrap();
    assert!(!folder.exists());
    std::fs::write(&folder, "x").unwrap();
    std::fs::remove_dir(&blocked).unwrap();
    run_with(Config::threads(3), |world| {
        let array = world.array::<u32, 2>("array", &Layout::new([9, 8]).split_all(Split::Even(3)))?;
        let error = save(world, &blocked, array.at(..)).unwrap_err().to_string();
        assert!(error.contains("cannot make a folder"), "{error}");
        Ok(())
    })
    .unwrap();
    assert!(!blocked.exists());
}

/// An index can name files of other programs; they are never removed.
#[test]
fn files_of_other_programs_stay() {
    let directory = directory();
    let path = directory.path().join("a.pvti");
    let victim = directory.path().join("a_0123456789abcdef_0.vti");
    std::fs::write(&victim, "mine").unwrap();
    let sources = ["../a_0123456789abcdef_0.vti", "a/../a_0123456789abcdef_0.vti", "a_0123456789abcdef_0.vti"];
    let pieces = sources.map(|source| format!("<Piece Extent=\"0 0 0 0 0 0\" Source=\"{source}\"/>")).concat();
    let text = format!(
        "<VTKFile type=\"PImageData\" version=\"1.0\"><PImageData WholeExtent=\"0 0 0 0 0 0\"><PPointData>\
         <PDataArray type=\"Float32\" Name=\"a\"/></PPointData>{pieces}</PImageData></VTKFile>"
    );
    std::fs::write(&path, text).unwrap();
    assert_eq!(describe(&path).unwrap().arrays[0].element, "f32");
    write(&path, 2, &Layout::new([9, 8]), 0);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
}

#[test]
fn wrong_pieces_are_the_same_error_on_every_rank() {
    let directory = directory();
    let path = directory.path().join("a.pvti");
    write(&path, 3, &Layout::new([9, 8]).split([Split::Even(3), Split::Even(2)]), 0);
    let good = std::fs::read_to_string(&path).unwrap();
    let bytes = std::fs::read(&names(&directory.path().join("a"))[0]).unwrap();
    let error_of = || {
        let mut said = Vec::new();
        let errors = std::sync::Mutex::new(&mut said);
        run_with(Config::threads(3), |world| {
            let cut = |shape: [i64; 2]| Layout::new(shape).split_all(Split::Auto);
            let error = load_with::<u32, 2>(world, &path, "array", &LoadOptions::new(), cut).unwrap_err();
            errors.lock().unwrap().push(error.to_string());
            world.barrier()
        })
        .unwrap();
        said
    };
    let piece = &names(&directory.path().join("a"))[0];
    let check = |wanted: &str| {
        let all = error_of();
        assert!(all.iter().any(|error| error.contains(wanted)), "{all:?}, not {wanted}");
    };
    std::fs::remove_file(piece).unwrap();
    check("cannot open");
    std::fs::write(piece, &bytes[..bytes.len() - 40]).unwrap();
    check("truncated");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let other = text.replace("UInt32", "Uint32");
    std::fs::write(piece, other.as_bytes()).unwrap();
    check("Uint32");
    std::fs::write(piece, &bytes).unwrap();
    for (from, to, wanted) in [
        (
            "<PImageData WholeExtent=\"0 8 0 7 0 0\"",
            "<PImageData WholeExtent=\"0 9 0 7 0 0\"",
            "no piece holds the points",
        ),
        ("type=\"UInt32\"", "type=\"Float32\"", "holds f32 a cell, and u32 was asked for"),
        ("Name=\"array\"", "Name=\"other\"", "has no array of point data \"array\"; it has \"other\""),
        ("0 3 0 4 0 0", "0 3 0 5 0 0", "has not all points of the extent that the index says"),
        ("0 3 0 4 0 0", "0 3 -1 4 0 0", "the piece reaches beyond WholeExtent"),
        ("</VTKFile>", "", "truncated"),
        ("PImageData", "PPolyData", "PImageData is read"),
        ("WholeExtent=\"0 8 0 7 0 0", "WholeExtent=\"0 8000000 0 7000000 0 0", "no piece holds the points"),
        ("NumberOfComponents=\"1\"", "NumberOfComponents=\"0\"", "0 components per voxel"),
        ("WholeExtent=\"0 8 ", "WholeExtent=\"-9223372036854775808 9223372036854775807 ", "fit 63 bits"),
        ("WholeExtent=\"0 8 0 7 0 0", "WholeExtent=\"0 3037000500 0 3037000500 0 0", "fit 63 bits"),
    ] {
        assert!(good.contains(from), "{from}");
        std::fs::write(&path, good.replace(from, to)).unwrap();
        check(wanted);
    }
    // More points than the piece or any memory has: nothing is allocated for them.
    let source = format!("a/{}", piece.file_name().unwrap().to_str().unwrap());
    let text = format!(
        "<VTKFile type=\"PImageData\"><PImageData WholeExtent=\"0 80000000 0 70000000 0 0\"><PPointData>\
         <PDataArray type=\"UInt32\" Name=\"array\"/></PPointData>\
         <Piece Extent=\"0 80000000 0 70000000 0 0\" Source=\"{source}\"/></PImageData></VTKFile>"
    );
    std::fs::write(&path, text).unwrap();
    check("has not all points of the extent that the index says");
    // Truncated anywhere, the piece is an error or the same array.
    for cut in 0..good.len() {
        std::fs::write(&path, &good[..cut]).unwrap();
        assert!(describe(&path).is_err() || good[cut..].trim().is_empty(), "{cut}");
    }
}

#[test]
fn pvti_piece_named_by_another_spelling_is_an_error() {
    let directory = directory();
    let path = directory.path().join("a.pvti");
    write(&path, 1, &Layout::new([9, 8]).split([Split::Even(3), Split::Whole]), 0);
    let good = std::fs::read_to_string(&path).unwrap();
    let sources: Vec<&str> = good.split("Source=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let spelling = format!("a/../{}", sources[0]);
    std::fs::write(&path, good.replace(sources[1], &spelling)).unwrap();
    run_with(Config::threads(1), |world| {
        let error = load::<u32, 2>(world, &path, "array", Layout::new).unwrap_err().to_string();
        assert!(error.contains(&format!("the piece \"{spelling}\" is named twice")), "{error}");
        Ok(())
    })
    .unwrap();
}
