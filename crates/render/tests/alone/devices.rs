//! Files that are endless, block, or are too long are errors for every reader.
#![cfg(unix)]

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use zippy_files::json;
use zippy_io::png;
use zippy_io::volume::{self, RawLayout, ScalarKind, VolumeFile};
use zippy_render::{scene, transfer};

use crate::files::volumes::Folder;

/// Error messages of all readers for one file.
fn errors(path: &Path) -> Vec<String> {
    let raw = RawLayout { gzip: true, ..RawLayout::new([1, 1, 1], ScalarKind::U8) };
    let all = [
        scene::read(path, None).map(drop),
        transfer::read(path).map(drop),
        json::read::<u8>(path, "a field").map(drop).map_err(Into::into),
        png::read(path, None).map(drop),
        volume::open(path).map(drop),
        VolumeFile::raw(path, raw).map(drop),
    ];
    all.map(|read| read.unwrap_err().to_string()).to_vec()
}

fn pipe(folder: &Folder) -> PathBuf {
    let path = folder.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn devices_pipes_and_directories_are_refused() {
    let folder = Folder::new();
    let link = folder.0.join("link");
    symlink("/dev/zero", &link).unwrap();
    for path in [PathBuf::from("/dev/zero"), pipe(&folder), link, folder.0.clone()] {
        for error in errors(&path) {
            assert_eq!(error, format!("{}: is not a regular file", path.display()));
        }
    }
}

#[test]
fn files_that_a_header_names_are_no_devices() {
    let folder = Folder::new();
    let pipe = pipe(&folder);
    for data in ["/dev/zero", pipe.to_str().unwrap()] {
        let header = format!("NRRD0004\ntype: uint8\ndimension: 1\nsizes: 8\nencoding: raw\ndata file: {data}\n\n");
        let nrrd = folder.file("a.nhdr", header.as_bytes());
        let header = format!("NDims = 1\nDimSize = 8\nElementType = MET_UCHAR\nElementDataFile = {data}\n");
        for path in [nrrd, folder.file("a.mhd", header.as_bytes())] {
            let error = volume::open(path).unwrap_err().to_string();
            assert!(error.contains("the file that goes with it") && error.contains("is not a regular file"), "{error}");
        }
    }
}

/// A sparse file of a gigabyte is not read.
#[test]
fn long_files_are_refused_by_their_length() {
    let folder = Folder::new();
    let path = folder.0.join("long.json");
    File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let wanted = format!("{}: has 1073741824 bytes; at most 16777216 are read", path.display());
    let all = [
        scene::read(&path, None).map(drop),
        transfer::read(&path).map(drop),
        json::read::<u8>(&path, "a field").map(drop).map_err(Into::into),
    ];
    for read in all {
        assert_eq!(read.unwrap_err().to_string(), wanted);
    }
    let path = folder.file("none.json", &[b'{', 0xff]);
    assert!(transfer::read(&path).unwrap_err().to_string().contains("byte 1: not text in UTF-8"));
}
