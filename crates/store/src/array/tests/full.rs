//! Saves on a full disk: a small file system if this process may mount one, else a limit on file
//! sizes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use zippy::{Config, Layout, Split, run_with};

use super::super::save;
use super::directory;
use crate::full_disk;

const DIRECTORY: &str = "ZIPPY_IO_FULL_ARRAYS";

#[cfg(target_os = "linux")]
#[test]
fn full_disk_leaves_the_existing_file() {
    full_disk::run("array::tests::full::a_child", DIRECTORY, directory().path());
}

/// The signal for the file size limit does not end the program.
#[cfg(target_os = "linux")]
#[test]
fn limit_on_file_sizes_is_an_error_like_a_full_disk() {
    full_disk::run_limited("array::tests::full::a_child", DIRECTORY, directory().path());
}

fn all(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut all(&path));
        }
        found.insert(path.clone(), std::fs::read(&path).ok());
    }
    found
}

#[test]
fn a_child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let endings = ["npy", "vti", "pvti", "nrrd", "zarr"].into_iter();
    for ending in endings.filter(|&ending| ending != "zarr" || cfg!(feature = "zarr")) {
        let path = Path::new(&directory).join(format!("a.{ending}"));
        let program = |cells: i64, fits: bool| {
            run_with(Config::threads(3), |world| {
                let array = world.array::<u32, 1>("array", &Layout::new([cells]).split_all(Split::Even(3)))?;
                array.fill_with(|[x]| (x + 1) as u32)?;
                let saved = save(world, &path, array.at(..)).map_err(|error| error.to_string());
                let full = |error: &String| error.contains("No space left") || error.contains("File too large");
                assert!(if fits { saved.is_ok() } else { saved.as_ref().is_err_and(full) }, "{ending}: {saved:?}");
                world.barrier()
            })
            .unwrap();
        };
        program(100, true);
        let before = all(Path::new(&directory));
        program(1 << 18, false);
        assert!(before == all(Path::new(&directory)), "{ending}");
    }
    println!("the disk was full");
}
