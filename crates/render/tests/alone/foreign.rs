//! Error messages quote text from files escaped and truncated.

use std::path::Path;

use zippy_files::json;
use zippy_io::volume::{self, OpenOptions};
use zippy_render::{scene, transfer};

use crate::files::volumes::{Folder, failure};

/// Control sequences: set the title of a terminal, write from right to left, clear the screen.
const ESCAPES: &str = "n\x1b]0;title\x07\u{202e}\u{9b}2J\u{200f}";

const NRRD: [&str; 18] = [
    "@@",
    "@@: 1",
    "type: @@",
    "dimension: @@",
    "encoding: @@",
    "endian: @@",
    "byte skip: @@",
    "dimension: 1\nsizes: @@",
    "dimension: 1\nspacings: @@",
    "dimension: 1\nspace directions: (@@)",
    "dimension: 1\nkinds: @@",
    "dimension: 1\nlabels: @@",
    "dimension: 1\ndata file: LIST @@",
    "dimension: 1\ndata file: @@%s 1 2 3",
    "type: int8\ndimension: 1\nsizes: 3\nencoding: raw\ndata file: @@",
    "type: int8\ndimension: 1\nsizes: 3\nencoding: raw\ndata file: @@%d 1 3 1",
    "type: int8\ndimension: 1\nsizes: 3\nencoding: raw\ndata file: LIST\n@@\n@@\n@@",
    "type: int8\ndimension: 1\nsizes: 1\nencoding: text\n\n@@",
];

const METAIMAGE: [&str; 12] = [
    "@@",
    "@@ = 1\n@@ = 2",
    "ObjectType = @@",
    "NDims = @@",
    "DimSize = @@",
    "ElementType = @@",
    "BinaryData = @@",
    "ElementSpacing = @@",
    "ElementDataFile = @@",
    "ElementDataFile = LIST @@",
    "ElementDataFile = @@%d",
    "ElementDataFile = a%d @@",
];

const NPY: [&str; 6] = [
    "@@",
    "{@@",
    "{'@@': True, '@@': True}",
    "{'a': @@}",
    "{'descr': '@@', 'fortran_order': True, 'shape': (3,)}",
    "{'descr': '<i2', 'fortran_order': True, 'shape': (@@,)}",
];

const XML: [&str; 10] = [
    "<@@/>",
    "<@@>",
    "<VTKFile type=\"@@\"/>",
    "<VTKFile type=\"ImageData\" byte_order=\"@@\"/>",
    "<VTKFile type=\"ImageData\" header_type=\"@@\"/>",
    "<VTKFile type=\"&@@;\"/>",
    "<VTKFile @@=\"1\" @@=\"2\"/>",
    "<VTKFile type=\"ImageData\"><@@>",
    "<VTKFile type=\"ImageData\"><@@></b@@>",
    "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"@@\"/></VTKFile>",
];

const ARRAYS: [&str; 7] = [
    "<PointData><DataArray Name=\"v\" type=\"@@\" format=\"ascii\">1 2 3</DataArray></PointData>",
    "<PointData><DataArray Name=\"v\" type=\"UInt8\" format=\"@@\">1 2 3</DataArray></PointData>",
    "<PointData><DataArray Name=\"v\" type=\"UInt8\" format=\"ascii\">1 @@ 3</DataArray></PointData>",
    "<PointData><DataArray Name=\"@@\" type=\"UInt8\" format=\"binary\">AAAAAAAA</DataArray></PointData>",
    "<PointData Scalars=\"@@\"><DataArray Name=\"v@@\" type=\"UInt8\" format=\"ascii\">1 2 3</DataArray></PointData>",
    "<PointData Scalars=\"@@\"><DataArray Name=\"@@\" type=\"UInt8\" format=\"ascii\">1 2 3</DataArray>\
     <DataArray Name=\"@@\" type=\"UInt8\" format=\"ascii\">1 2 3</DataArray></PointData>",
    "<CellData><DataArray Name=\"@@\" type=\"UInt8\" format=\"ascii\">1 2 3</DataArray></CellData>",
];

/// Names and contents of invalid files of every format, with this text at each position that errors
/// quote.
fn volumes(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let filled = |template: &str| template.replace("@@", text);
    let nrrd = NRRD.iter().map(|lines| ("a.nrrd", format!("NRRD0004\n{}\n\n", filled(lines)).into_bytes()));
    let meta = |lines: &&str| {
        let key = lines.split(' ').next().unwrap();
        let others = ["NDims = 1", "DimSize = 3", "ElementType = MET_CHAR", "ElementDataFile = none"];
        let others = others.iter().filter(|other| !other.starts_with(key)).map(|line| format!("{line}\n"));
        ("a.mha", format!("{}\n{}", filled(lines), others.collect::<String>()).into_bytes())
    };
    let npy = NPY.iter().map(|header| {
        let header = filled(header);
        let length = (header.len() as u32).to_le_bytes();
        ("a.npy", [b"\x93NUMPY\x02\0", &length[..], header.as_bytes(), &[1, 2, 3]].concat())
    });
    let xml = XML.iter().map(|body| format!("<?xml version=\"1.0\"?>{}", filled(body)));
    let arrays = ARRAYS.iter().map(|body| {
        format!(
            "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" byte_order=\"LittleEndian\"><ImageData WholeExtent=\"0 2 0 0 0 0\">\
             <Piece Extent=\"0 2 0 0 0 0\">{}</Piece></ImageData></VTKFile>",
            filled(body)
        )
    });
    let vti = xml.chain(arrays).map(|text| ("a.vti", text.into_bytes()));
    nrrd.chain(METAIMAGE.iter().map(meta)).chain(npy).chain(vti).collect()
}

fn assert_harmless(message: &str, what: &str) {
    let obeyed = |letter: &char| letter.is_control() || "\u{202e}\u{200f}".contains(*letter);
    let letter = message.chars().find(obeyed);
    assert_eq!(letter, None, "{what}: {message:?}");
    assert!(message.chars().count() < 1000, "{what}: {} characters: {message}", message.chars().count());
}

#[test]
fn header_texts_are_escaped_in_errors() {
    let folder = Folder::new();
    for text in [ESCAPES.to_string(), "n".repeat(100_000), ESCAPES.repeat(5000)] {
        for (number, (name, content)) in volumes(&text).into_iter().enumerate() {
            let what = String::from_utf8_lossy(&content[..content.len().min(300)]).into_owned();
            let what = format!("{number} {}", what.escape_debug());
            let error = failure(volume::open(folder.file(name, &content))).unwrap_or_else(|| panic!("{what} is read"));
            assert_harmless(&error, &what);
        }
        let array = ARRAYS[2].replace("@@", "2").replace("\"v\"", &format!("\"{text}\""));
        let whole = String::from_utf8(volumes("2").pop().unwrap().1).unwrap();
        let (before, after) = whole.split_once("<CellData>").unwrap();
        let after = after.split_once("</CellData>").unwrap().1;
        let path = folder.file("b.vti", format!("{before}{array}{after}").as_bytes());
        assert_eq!(failure(volume::open(&path)), None);
        let other = OpenOptions { array: Some(format!("{text}!")), ..OpenOptions::default() };
        assert_harmless(&volume::open_with(&path, &other).unwrap_err().to_string(), "no such array");
    }
}

#[test]
fn scene_and_transfer_texts_are_escaped_in_errors() {
    let folder = Folder::new();
    for text in [ESCAPES.to_string(), "n".repeat(100_000), ESCAPES.repeat(5000)] {
        let text: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let scene = |name: &str, projection: &str| {
            format!(
                r#"{{"file": "{name}", "projection": "{projection}", "camera_position": [0, 0, 9], "focal_point": [0, 0, 0],
                "view_up": [0, 1, 0], "opacity_points": [[0, 0], [9, 1]], "rgb_points": [[0, 0, 0, 1]]}}"#
            )
        };
        let scenes =
            |list: &[String]| folder.file("a.json", format!("{{\"scenes\": [{}]}}", list.join(", ")).as_bytes());
        let message = |path: &Path, name| scene::read(path, name).unwrap_err().to_string();
        let parallel = "parallel, half-height 3";
        assert_harmless(&message(&scenes(&[scene(&text, &text)]), None), "projection");
        assert_harmless(&message(&scenes(&vec![scene(&text, parallel); 30]), None), "names");
        assert_harmless(&message(&scenes(&[scene(&text, parallel)]), Some("other")), "name");
        let path = folder.file("b.json", format!("{{\"{text}\": 1}}").as_bytes());
        assert_harmless(&transfer::read(&path).unwrap_err().to_string(), "field");
        assert_harmless(&json::read::<u8>(&path, "a field").unwrap_err().to_string(), "type");
    }
}

#[cfg(unix)]
#[test]
fn file_names_are_escaped_in_errors() {
    let folder = Folder::new();
    let name = format!("{ESCAPES}{}", "ü".repeat(60));
    for (ending, content) in
        [("nrrd", "NRRD0001\n"), ("mha", "NDims"), ("nii", "x"), ("vti", "<?xml"), ("npy", "\u{93}")]
    {
        let path = folder.file(&format!("{name}.{ending}"), content.as_bytes());
        assert_harmless(&volume::open(&path).unwrap_err().to_string(), ending);
    }
    let path = folder.file(&name, b"{");
    assert_harmless(&transfer::read(&path).unwrap_err().to_string(), "transfer function");
    assert_harmless(&scene::read(&path, None).unwrap_err().to_string(), "scene");
    assert_harmless(&volume::open(Path::new(&ESCAPES.repeat(5000))).unwrap_err().to_string(), "no such file");
}
