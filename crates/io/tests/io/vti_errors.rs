//! VTI files: every defect is an error that names the file and the byte.

use zippy_io::volume::{self, OpenOptions, open_with};

use super::common::nrrd::values;
use super::common::volumes::{Folder, failure};
use super::common::vti::{Array, FORMATS, Format, Piece, Style, styles};

const WHOLE: [i64; 6] = [0, 3, 0, 2, 0, 1];

fn style(format: Format, block: Option<usize>) -> Style {
    Style { format, big: false, word: 4, block, apart: false }
}

fn sample(style: Style) -> Vec<u8> {
    let arrays = vec![Array::new("v", "UInt8", 1, &values(24, |i| i as u8), style.big)];
    style.write(WHOLE, " Scalars=\"v\"", &[Piece { extent: WHOLE, arrays }])
}

fn replaced(content: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = content.windows(from.len()).position(|window| window == from.as_bytes());
    let at = at.unwrap_or_else(|| panic!("no {from} in {}", String::from_utf8_lossy(content)));
    [&content[..at], to.as_bytes(), &content[at + from.len()..]].concat()
}

fn error_of(folder: &Folder, content: &[u8]) -> String {
    let path = folder.file("w.vti", content);
    let error = failure(volume::open(&path)).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(content)));
    assert!(error.starts_with(path.to_str().unwrap()), "{error}");
    error
}

#[test]
fn every_truncation_is_an_error() {
    let folder = Folder::new();
    for (number, style) in styles().into_iter().enumerate().step_by(4) {
        let whole = sample(style);
        assert_eq!(failure(volume::open(folder.file("w.vti", &whole))), None, "{style:?}");
        let end = whole.trim_ascii_end().len() - 1;
        // Every byte of some style.
        for cut in (number / 4 % 7..end).step_by(7) {
            assert!(error_of(&folder, &whole[..cut]).contains(", byte "), "cut at {cut}");
        }
    }
}

#[test]
fn errors_in_elements_name_the_defect_and_the_byte() {
    let folder = Folder::new();
    let lol: String = (0..40).map(|n| format!("<!ENTITY l{} \"&l{n};&l{n};\">", n + 1)).collect();
    for (from, to, wanted) in [
        ("type=\"ImageData\"", "type=\"RectilinearGrid\"", "ImageData is read"),
        ("type=\"ImageData\"", "", "VTKFile has no attribute type"),
        ("LittleEndian", "Middle", "byte_order \"Middle\""),
        ("UInt32", "UInt16", "header_type \"UInt16\""),
        ("0 3 0 2 0 1\" Origin", "0 3 0 2 0\" Origin", "has 5 values, 6 are needed"),
        ("0 3 0 2 0 1\" Origin", "0 3 0 2 0 0\" Origin", "reaches beyond WholeExtent"),
        ("0 3 0 2 0 1\" Origin", "0 3 0 2 0 2\" Origin", "no piece holds the points"),
        ("0 3 0 2 0 1\" Origin", "3 0 0 2 0 1\" Origin", "a size of -2"),
        (
            "0 3 0 2 0 1\" Origin",
            "-9223372036854775808 9223372036854775807 0 2 0 1\" Origin",
            "more bytes than fit 63 bits",
        ),
        ("Extent=\"0 3 0 2 0 1\">", "Extent=\"0 3 0 2 0 x\">", "not an integer"),
        ("Extent=\"0 3 0 2 0 1\">", "Extent=\"0 -1 0 2 0 1\">", "the image has no piece"),
        ("0.5 1.25 70", "0.5 nan 70", "a spacing of NaN on axis 1"),
        ("0.5 1.25 70", "0.5 70", "has 2 values, 3 are needed"),
        ("Origin=\"1 2 3\"", "Origin=\"1 inf 3\"", "an origin of"),
        ("type=\"UInt8\"", "type=\"String\"", "numbers of type \"String\""),
        ("type=\"UInt8\"", "type=\"UInt16\"", "24"),
        ("Name=\"v\"", "Name=\"w\"", "has no array of point data \"v\"; it has \"w\""),
        ("Name=\"v\"", "Name=\"&evil;\"", "malformed attribute"),
        ("Name=\"v\"", "Name=\"v\" Name=\"v\"", "malformed attribute"),
        ("NumberOfComponents=\"1\"", "NumberOfComponents=\"0\"", "0 components"),
        ("NumberOfComponents=\"1\"", "NumberOfComponents=\"1000\"", "1000 components"),
        ("</PointData>", "</CellData>", "malformed XML"),
        ("<PointData Scalars=\"v\">", "<Other>", "malformed XML"),
        ("</ImageData>", "", "byte "),
        ("<?xml version=\"1.0\"?>", &format!("<!DOCTYPE x [<!ENTITY l0 \"lol\">{lol}]>"), "document type declaration"),
        ("<?xml version=\"1.0\"?>", "<?xml version=\"1.0\"?><Other/>", "the element \"Other\""),
    ] {
        for format in FORMATS {
            if format == Format::Ascii && to.contains("UInt16\"") && from.starts_with("type") {
                continue;
            }
            let content = replaced(&sample(style(format, None)), from, to);
            // A document type is an error only in a file that begins as XML.
            let content = if to.starts_with("<!DOC") { [b"<?xml?>".as_slice(), &content].concat() } else { content };
            let error = error_of(&folder, &content);
            assert!(error.contains(wanted), "{to}, {format:?}: {error}");
        }
    }
    let cells = replaced(&sample(style(Format::Ascii, None)), "<PointData Scalars=\"v\">", "<CellData>");
    let cells = replaced(&cells, "</PointData>", "</CellData>");
    assert!(error_of(&folder, &cells).contains("cell data only (array \"v\"); point data are read"));
    let path = folder.file("w.vti", &sample(style(Format::Raw, None)));
    let named = OpenOptions { array: Some("u".into()), ..OpenOptions::default() };
    let error = open_with(path, &named).unwrap_err().to_string();
    assert!(error.contains("has no array of point data \"u\"; it has \"v\""), "{error}");
    let many = [b"<?xml version=\"1.0\"?>".as_slice(), &b"<a>".repeat(1 << 19)].concat();
    assert!(error_of(&folder, &many).contains("the element \"a\""));
    let long = [b"<VTKFile type=\"".as_slice(), &vec![b'x'; 2 << 20]].concat();
    assert!(error_of(&folder, &long).contains("more than 1048576 bytes of elements"));
}

#[test]
fn errors_in_data_name_the_defect_and_the_byte() {
    let folder = Folder::new();
    let change =
        |format, block, from: &str, to: &str| error_of(&folder, &replaced(&sample(style(format, block)), from, to));
    let zlib = "vtkZLibDataCompressor";
    for (format, block, from, to, wanted) in [
        (Format::Raw, None, "\x18\0\0\0", "\x19\0\0\0", "has 25 bytes; its extent needs 24"),
        (Format::Raw, None, "\n  </AppendedData>", "x\n  </AppendedData>", "data go on after the 24 bytes"),
        (Format::Raw, None, "offset=\"0\"", "offset=\"-1\"", "an offset of at least 0"),
        (Format::Raw, None, "offset=\"0\"", "", "an offset of at least 0"),
        (Format::Raw, None, "offset=\"0\"", "offset=\"9223372036854775807\"", "is after the end of the appended data"),
        (Format::Raw, None, "offset=\"0\"", "offset=\"3\"", "its extent needs 24"),
        (Format::Raw, None, "\n   _", "\n   ", "must begin with an underscore"),
        (Format::Raw, None, "\"raw\"", "\"hex\"", "encoding \"hex\""),
        (Format::Raw, None, "\"appended\"", "\"morse\"", "format \"morse\""),
        (Format::Base64, None, "GAAAA", "GQAAA", "has 25 bytes; its extent needs 24"),
        (Format::Base64, None, "GAAAA", "GAA\nAA", "byte "),
        (Format::Base64, None, "GAAAA", "G*AAA", "not base64"),
        (Format::Binary, None, "GAAAA", "GAAA=", "byte "),
        (Format::Binary, None, "\n      </DataArray>", "AAAA\n      </DataArray>", "data go on after the 24 bytes"),
        (Format::Binary, None, "\n      </DataArray>", " <x/> 7 </DataArray>", "are interrupted"),
        (Format::Ascii, None, "\n      <Inf", " 9\n      <Inf", "data go on after the 24 bytes"),
        (Format::Ascii, None, "\n      <Inf", " 1e999999\n      <Inf", "not a number of type u8"),
        (Format::Raw, Some(9), zlib, "vtkLZ4DataCompressor", "the LZ4 data are corrupt"),
        (Format::Raw, Some(9), zlib, "vtkLZMADataCompressor", "SetCompressorTypeToZLib"),
        (Format::Raw, Some(9), "\x03\0\0\0\x09", "\x03\0\0\x40\x09", "a table of 1073741827 blocks does not fit"),
        (Format::Raw, Some(9), "\x03\0\0\0\x09", "\x02\0\0\0\x09", "2 blocks of 9 bytes, the last of 6"),
        (Format::Raw, Some(9), "\x09\0\0\0\x06", "\x06\0\0\0\x09", "3 blocks of 6 bytes, the last of 9"),
        (Format::Raw, Some(9), "\x09\0\0\0\x06", "\0\0\0\0\0", "its header declares blocks of 0 bytes"),
        (Format::Raw, Some(9), "\x09\0\0\0\x06\0\0\0", "\x09\0\0\0\x06\0\0\x10", "its extent needs 24 bytes"),
    ] {
        let error = change(format, block, from, to);
        assert!(error.contains(wanted), "{format:?} {to}: {error}");
        assert!(error.contains(", byte "), "{error}");
    }
    // A longer, shorter or truncated block between unchanged neighbours.
    let whole = sample(style(Format::Raw, Some(24)));
    let at = whole.windows(4).position(|window| window == [1, 0, 0, 0]).unwrap() + 16;
    for (edit, wanted) in [(0, "corrupt"), (5, "corrupt"), (whole.len() - at - 40, "corrupt")] {
        let mut content = whole.clone();
        content[at + edit.min(30)] ^= 0x55;
        assert!(error_of(&folder, &content).contains(wanted), "{edit}: {}", error_of(&folder, &content));
    }
}
