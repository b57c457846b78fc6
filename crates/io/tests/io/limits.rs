//! Hostile headers: parsing takes time proportional to their length, and exceeded limits are
//! errors.

use std::path::Path;

use zippy_io::volume;

use super::common::counting;
use super::common::nrrd::gzip;
use super::common::volumes::{Folder, failure, holds, zlib};

fn error_of(path: &Path) -> String {
    failure(volume::open(path)).unwrap_or_else(|| panic!("{} is read", path.display()))
}

fn metaimage(keys: usize, line: impl Fn(usize) -> String) -> Vec<u8> {
    let lines: String = (0..keys).map(line).collect();
    format!("{lines}NDims = 1\nDimSize = 3\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n\x01\x02\x03")
        .into_bytes()
}

fn npy(keys: usize) -> Vec<u8> {
    let lines: String = (0..keys).map(|key| format!("'k{key}':True,")).collect();
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': (3,), {lines}}}\n");
    [b"\x93NUMPY\x02\0", &(header.len() as u32).to_le_bytes()[..], header.as_bytes(), &[1, 2, 3]].concat()
}

fn vti(attributes: usize, depth: usize) -> Vec<u8> {
    let lines: String = (0..attributes).map(|key| format!(" k{key}=\"\"")).collect();
    let (open, close) = ("<a>".repeat(depth), "</a>".repeat(depth));
    format!(
        "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" byte_order=\"LittleEndian\"><ImageData WholeExtent=\"0 2 0 0 0 0\">\
         <Piece Extent=\"0 2 0 0 0 0\"{lines}>{open}{close}<PointData><DataArray type=\"UInt8\" Name=\"v\" format=\"ascii\">\
         1 2 3{open}{close}</DataArray></PointData></Piece></ImageData></VTKFile>"
    )
    .into_bytes()
}

#[test]
fn keys_are_limited() {
    let folder = Folder::new();
    let key = |number| format!("k{number} = 1\n");
    let most = [("a.mha", metaimage(996, key)), ("a.npy", npy(997))];
    for (name, content) in most {
        holds(&volume::open(folder.file(name, &content)).unwrap(), &[3], 1, &[1_u8, 2, 3]);
    }
    holds(&volume::open(folder.file("a.vti", &vti(999, 0))).unwrap(), &[3, 1, 1], 1, &[1_u8, 2, 3]);
    let more = [("a.mha", metaimage(997, key)), ("a.npy", npy(998)), ("a.vti", vti(1000, 0))];
    let many = [("a.mha", metaimage(40_000, key)), ("a.npy", npy(40_000)), ("a.vti", vti(40_000, 0))];
    for (name, content) in more.into_iter().chain(many) {
        let error = error_of(&folder.file(name, &content));
        assert!(error.contains("more than 1000 keys") && error.contains(", byte "), "{error}");
    }
}

#[test]
fn repeated_entries_take_linear_time() {
    let folder = Folder::new();
    // 90,000 lines take half a minute if each is compared with all previous ones.
    let content = metaimage(90_000, |_| "Comment = \n".into());
    holds(&volume::open(folder.file("a.mha", &content)).unwrap(), &[3], 1, &[1_u8, 2, 3]);
    let pairs: String = (0..60_000).map(|key| format!("k{key}:=1\n")).collect();
    let content = format!("NRRD0004\n{pairs}type: uint8\ndimension: 1\nsizes: 3\nencoding: raw\n\n\x01\x02\x03");
    holds(&volume::open(folder.file("a.nrrd", content.as_bytes())).unwrap(), &[3], 1, &[1_u8, 2, 3]);
}

#[test]
fn depth_is_limited() {
    let folder = Folder::new();
    // VTKFile, ImageData, Piece, PointData and DataArray already have five levels.
    holds(&volume::open(folder.file("a.vti", &vti(0, 59))).unwrap(), &[3, 1, 1], 1, &[1_u8, 2, 3]);
    for depth in [60, 62, 70_000] {
        let error = error_of(&folder.file("a.vti", &vti(0, depth)));
        assert!(error.contains("more than 64 elements inside each other") && error.contains(", byte "), "{error}");
    }
}

#[test]
fn long_names_are_not_multiplied() {
    let folder = Folder::new();
    let nrrd = "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 65536\nencoding: raw\ndata file:";
    let metaimage = "NDims = 1\nDimSize = 65536\nElementType = MET_UCHAR\nElementDataFile =";
    for length in [4090, 1 << 19] {
        let pattern = "n".repeat(length);
        for (name, header) in [("a.nhdr", nrrd), ("a.mhd", metaimage)] {
            let path = folder.file(name, format!("{header} {pattern}%d 1 65536 1\n\n").as_bytes());
            let mut error = String::new();
            let most = counting::most(|| error = error_of(&path));
            let wanted = format!("65536 file names of {} bytes; at most 16777216 bytes of names are read", length + 2);
            assert!(error.contains(&wanted), "{error}");
            assert!(most < 16 << 20, "{most} bytes for {length} characters");
        }
    }
    let path = folder.file("a.nhdr", format!("{nrrd} {}%d 1 65536 1\n\n", "n".repeat(250)).as_bytes());
    assert!(error_of(&path).contains("cannot open"), "{}", error_of(&path));
}

/// Each piece reads its block table, so shared tables would multiply the work.
#[test]
fn tables_are_not_multiplied() {
    let folder = Folder::new();
    let (pieces, blocks) = (1000_usize, 10_000_usize);
    let block = zlib(&[1]);
    let table = [blocks, 1, 0].into_iter().chain(std::iter::repeat_n(block.len(), blocks));
    let mut image = format!(
        "<VTKFile type=\"ImageData\" byte_order=\"LittleEndian\" compressor=\"vtkZLibDataCompressor\">\
         <ImageData WholeExtent=\"0 99 0 99 0 {}\">",
        pieces - 1
    );
    for piece in 0..pieces {
        image += &format!(
            "<Piece Extent=\"0 99 0 99 {piece} {piece}\"><PointData>\
             <DataArray type=\"UInt8\" Name=\"v\" format=\"appended\" offset=\"0\"/></PointData></Piece>"
        );
    }
    image += "</ImageData><AppendedData encoding=\"raw\">_";
    let mut content = image.into_bytes();
    content.extend(table.flat_map(|word| (word as u32).to_le_bytes()));
    content.extend(block.repeat(blocks));
    content.extend(b"</AppendedData></VTKFile>");
    let path = folder.file("a.vti", &content);
    let mut error = String::new();
    let most = counting::most(|| error = error_of(&path));
    assert!(error.contains("array \"v\" begins where that of another piece does"), "{error}");
    assert!(most < 8 << 20, "{most} bytes");
}

#[test]
fn empty_members_of_gzip_are_limited() {
    let folder = Folder::new();
    let nrrd = |packed: &[u8]| {
        let header = "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: gzip\n\n";
        folder.file("a.nrrd", &[header.as_bytes(), packed].concat())
    };
    let empty = gzip(&[]).repeat(1000);
    let spread = [&empty, &gzip(&[1]), &empty, &gzip(&[2, 3]), &empty].map(|part| &part[..]).concat();
    holds(&volume::open(nrrd(&spread)).unwrap(), &[3], 1, &[1_u8, 2, 3]);
    let error = error_of(&nrrd(&[empty.repeat(60), gzip(&[1, 2, 3])].concat()));
    assert!(error.contains("more than 1048576 bytes of empty members or headers"), "{error}");
    let error = error_of(&nrrd(&[gzip(&[1, 2, 3]), empty.repeat(60)].concat()));
    assert!(error.contains("more than 1048576 bytes of empty members or headers"), "{error}");
}
