//! Replacement of stores, and paths that are never replaced.

use super::*;

fn save_small(world: &World, path: &Path, name: &str, value: f32) -> zippy::Result<u64> {
    let array = world.array::<f32, 1>("array", &whole([10]))?;
    array.fill(value)?;
    save(world, path, &array.at(..), &Metadata { name: Some(name.into()), ..Metadata::default() }, &Default::default())
}

#[test]
fn store_is_replaced_as_a_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("array.zarr");
    run_with(Config::threads(3), |world| {
        save_small(world, &path, "old", 1.0)?;
        save_small(world, &path, "new", 2.0)?;
        assert_loaded_cells(world, &path, None, [10], &|_| 2.0_f32)?;
        world.barrier()
    })
    .unwrap();
    let names: Vec<String> = files(&path).into_keys().collect();
    assert_eq!(names, ["new/c/0", "new/zarr.json", "zarr.json"]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn target_of_a_link_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let (real, link) = (directory.path().join("real.zarr"), directory.path().join("link.zarr"));
    std::os::unix::fs::symlink("real.zarr", &link).unwrap();
    run_with(Config::threads(2), |world| {
        // A dangling link, which a save may replace in every format.
        let error = crate::array::load::<f32, 1>(world, &link, "none", whole).unwrap_err().to_string();
        assert!(error.contains("link.zarr: cannot open"), "{error}");
        save_small(world, &link, "array", 1.0)?;
        assert_loaded_cells(world, &real, None, [10], &|_| 1.0_f32)?;
        save_small(world, &link, "array", 2.0)?;
        assert_loaded_cells(world, &real, None, [10], &|_| 2.0_f32)?;
        world.barrier()
    })
    .unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    use std::os::unix::fs::PermissionsExt;
    let new_directory = directory.path().join("directory");
    std::fs::create_dir(&new_directory).unwrap();
    // The mode of a new store is that of any new directory.
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&real), mode(&new_directory));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3);
}

/// An empty directory is replaced, and keeps its mode.
#[cfg(unix)]
#[test]
fn empty_directory_becomes_a_store() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.ZARR");
    std::fs::create_dir(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    run_with(Config::threads(2), |world| {
        save_small(world, &path, "array", 3.0)?;
        assert_loaded_cells(world, &path, None, [10], &|_| 3.0_f32)?;
        world.barrier()
    })
    .unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

/// A file in a store that is no node has the format of its extension.
#[test]
fn file_in_a_store_has_the_format_of_its_extension() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.zarr");
    run_with(Config::threads(2), |world| {
        save_small(world, &path, "array", 3.0)?;
        let array = world.array::<f32, 1>("new_directory", &whole([4]))?;
        array.fill(5.0)?;
        let file = path.join("new_directory.npy");
        crate::array::save(world, &file, array.at(..))?;
        let again = crate::array::load::<f32, 1>(world, &file, "loaded", whole)?;
        for chunk in again.chunks() {
            assert!(chunk.all().read()?.iter().all(|&cell| cell == 5.0));
        }
        assert_loaded_cells(world, &path, None, [10], &|_| 3.0_f32)?;
        world.barrier()
    })
    .unwrap();
    assert!(path.join("new_directory.npy").is_file());
    std::fs::rename(path.join("array"), path.join("array.npy")).unwrap();
    run_with(Config::threads(2), |world| {
        assert_loaded_cells(world, &path.join("array.npy"), None, [10], &|_| 3.0_f32).map(drop)
    })
    .unwrap();
}

#[test]
fn other_files_and_directories_are_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("file.zarr"), "text").unwrap();
    std::fs::create_dir(path("photos.zarr")).unwrap();
    std::fs::write(path("photos.zarr/one.jpg"), "picture").unwrap();
    run_with(Config::threads(2), |world| {
        for (name, wanted) in [
            ("file.zarr", "is a file; a Zarr store is a directory"),
            ("photos.zarr", "is a directory without zarr.json"),
            ("none/array.zarr", "cannot write"),
            ("array.zip", "must end with .zarr"),
        ] {
            let error = save_small(world, &path(name), "array", 1.0).unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains(name), "{error}, not {wanted}");
        }
        world.barrier()
    })
    .unwrap();
    assert_eq!(files(directory.path()).len(), 2);
}

/// A store is removed or replaced between its opening and the read: missing chunks must not read as
/// zeros.
#[test]
fn store_replaced_during_a_read_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let (path, other) = (directory.path().join("array.zarr"), directory.path().join("other.zarr"));
    run_with(Config::threads(3), |world| {
        for replaced in [true, false] {
            save_small(world, &path, "array", 1.0)?;
            save_small(world, &other, "array", 2.0)?;
            let cut = |shape: [i64; 1]| {
                if world.rank() == 0 {
                    std::fs::remove_dir_all(&path).unwrap();
                    if replaced {
                        std::fs::rename(&other, &path).unwrap();
                    }
                }
                whole(shape)
            };
            let error = load_with::<f32, 1>(world, &path, "array", &LoadOptions::new(), cut).unwrap_err().to_string();
            assert!(error.contains("was replaced or removed while it was read"), "{error}");
        }
        Ok(())
    })
    .unwrap();
}
