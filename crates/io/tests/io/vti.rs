//! VTI files: every encoding of numbers, pieces, arrays by name, and samples of VTK.

use std::fmt::Display;

use zippy_io::volume::{self, FileScalar, OpenOptions, open_with};

use super::common::nrrd::values;
use super::common::volumes::{Folder, cut, holds};
use super::common::vti::{Array, Format, Piece, Style, styles};

fn every_style<T: FileScalar + PartialEq + std::fmt::Debug + Display>(kind: &str, make: impl Fn(u64) -> T) {
    let folder = Folder::new();
    // Each type in a third of the styles, another third for types of another size or sign.
    let shift = kind.len() % 3;
    for (components, style) in
        styles().iter().enumerate().map(|(number, style)| (1 + number % 4, *style)).skip(shift).step_by(3)
    {
        let (sizes, whole) = ([5, 4, 3], [-2, 2, 10, 13, 7, 9]);
        let data = values(60 * components, &make);
        let other = values(60, |i| i as u8);
        let first = Array::new("other", "UInt8", 1, &other, style.big);
        let arrays = vec![first, Array::new("a &lt; b", kind, components, &data, style.big)];
        let content = style.write(whole, " Scalars=\"a &lt; b\"", &[Piece { extent: whole, arrays }]);
        let path = folder.file("a.vti", &content);
        let file = volume::open(&path).unwrap_or_else(|error| panic!("{style:?}: {error}"));
        assert_eq!((file.spacing(), file.format()), (&[0.5, 1.25, 70.0][..], "VTI"));
        assert_eq!(file.origin(), Some(&[0.0, 14.5, 493.0][..]));
        holds(&file, &sizes, components, &data);
        let named = OpenOptions { array: Some("other".into()), ..OpenOptions::default() };
        holds(&open_with(&path, &named).unwrap(), &sizes, 1, &other);
    }
}

#[test]
fn every_type_and_style_is_read() {
    every_style::<u8>("UInt8", |i| i as u8);
    every_style::<i8>("Int8", |i| i as i8);
    every_style::<u16>("UInt16", |i| i as u16);
    every_style::<i16>("Int16", |i| i as i16);
    every_style::<u32>("UInt32", |i| i as u32);
    every_style::<i32>("Int32", |i| i as i32);
    every_style::<u64>("UInt64", |i| i);
    every_style::<i64>("Int64", |i| i as i64);
    every_style::<f32>("Float32", |i| (i as i32) as f32 / 1024.0);
    every_style::<f64>("Float64", |i| (i as i64) as f64 / 1024.0);
}

/// Pieces that share the points of their sides, as VTK's extents do.
#[test]
fn pieces_make_up_the_whole() {
    let folder = Folder::new();
    let sizes = [7, 5, 4];
    let data = values(140, |i| i as u16);
    let boxes = [[0, 3, 0, 4, 0, 1], [3, 6, 0, 2, 0, 1], [3, 6, 2, 4, 0, 1], [0, -1, 0, -1, 0, -1], [0, 6, 0, 4, 1, 3]];
    for style in styles() {
        let piece = |extent: [i64; 6]| {
            let [x, y, z] = [0, 1, 2].map(|axis| (extent[2 * axis] as usize, (extent[2 * axis + 1] + 1) as usize));
            let part = cut(&sizes, 1, &data, &[x.0, y.0, z.0], &[x.1, y.1, z.1]);
            Piece {
                extent,
                arrays: if part.is_empty() { vec![] } else { vec![Array::new("v", "UInt16", 1, &part, style.big)] },
            }
        };
        let whole = [0, 6, 0, 4, 0, 3];
        let write = |boxes: &[[i64; 6]]| style.write(whole, "", &boxes.iter().copied().map(piece).collect::<Vec<_>>());
        holds(&volume::open(folder.file("p.vti", &write(&boxes))).unwrap(), &sizes, 1, &data);
        let error = volume::open(folder.file("p.vti", &write(&boxes[1..]))).unwrap_err().to_string();
        assert!(error.contains("p.vti, byte ") && error.contains("no piece holds the points"), "{error}");
    }
}

/// Output of `vtkXMLImageDataWriter` for a 3 x 2 x 1 image of the numbers 0 to 5, in its three
/// uncompressed modes.
#[test]
fn samples_of_vtk_are_read() {
    let folder = Folder::new();
    let ascii = r#"<?xml version="1.0"?>
<VTKFile type="ImageData" version="0.1" byte_order="LittleEndian" header_type="UInt32">
  <ImageData WholeExtent="0 2 0 1 0 0" Origin="0 0 0" Spacing="1 1 1">
  <Piece Extent="0 2 0 1 0 0">
    <PointData Scalars="ImageScalars">
      <DataArray type="UInt16" Name="ImageScalars" format="ascii" RangeMin="0" RangeMax="5">
        0 1 2 3 4 5
      </DataArray>
    </PointData>
    <CellData>
    </CellData>
  </Piece>
  </ImageData>
</VTKFile>
"#;
    let binary = ascii.replace("ascii", "binary").replace("0 1 2 3 4 5\n", "DAAAAAAAAQACAAMABAAFAA==\n");
    let element = "format=\"appended\" RangeMin=\"0\" RangeMax=\"5\" offset=\"0\" />";
    let appended = binary.replace(
        "format=\"binary\" RangeMin=\"0\" RangeMax=\"5\">\n        DAAAAAAAAQACAAMABAAFAA==\n      </DataArray>",
        element,
    );
    let with = |encoding: &str, data: &str| {
        let data = format!("  <AppendedData encoding=\"{encoding}\">\n   _{data}\n  </AppendedData>\n</VTKFile>\n");
        appended.replace("</VTKFile>\n", &data)
    };
    let base64 = with("base64", "DAAAAAAAAQACAAMABAAFAA==");
    let raw = with("raw", "\x0c\0\0\0\0\0\x01\0\x02\0\x03\0\x04\0\x05\0");
    for text in [ascii, &binary, &base64, &raw, &format!("\u{feff}{base64}"), &format!("\u{feff}{binary}")] {
        let file = volume::open(folder.file("s.vti", text.as_bytes())).unwrap();
        holds(&file, &[3, 2, 1], 1, &[0_u16, 1, 2, 3, 4, 5]);
        assert_eq!((file.spacing(), file.origin()), (&[1.0; 3][..], Some(&[0.0; 3][..])));
    }
}

/// Arrays in LZ4 blocks as written by `vtkLZ4DataCompressor`: without a frame and without a length.
#[test]
fn lz4_blocks_are_read() {
    use base64::Engine;
    let folder = Folder::new();
    let data: Vec<u16> = (0..7 * 6 * 5).map(|i| (i / 3) as u16).collect();
    for (size, big, base64) in [(64, false, false), (64, true, true), (1 << 15, false, true), (1 << 15, true, false)] {
        let bytes = super::common::volumes::bytes(&data, big);
        let blocks: Vec<Vec<u8>> = bytes.chunks(size).map(lz4_flex::block::compress).collect();
        let mut words = vec![blocks.len() as u32, size as u32, (bytes.len() % size) as u32];
        words.extend(blocks.iter().map(|block| block.len() as u32));
        let (head, body) = (super::common::volumes::bytes(&words, big), blocks.concat());
        let encode = |bytes: &[u8]| {
            if base64 { base64::engine::general_purpose::STANDARD.encode(bytes).into_bytes() } else { bytes.to_vec() }
        };
        let [order, encoding] =
            [["LittleEndian", "BigEndian"][usize::from(big)], ["raw", "base64"][usize::from(base64)]];
        let text = format!(
            "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"{order}\" header_type=\"UInt32\" \
             compressor=\"vtkLZ4DataCompressor\"><ImageData WholeExtent=\"0 6 0 5 0 4\" Spacing=\"1 -2 0\" Origin=\"1 2 3\">\
             <Piece Extent=\"0 6 0 5 0 4\"><PointData><DataArray type=\"UInt16\" Name=\"v\" format=\"appended\" \
             offset=\"0\"/></PointData></Piece></ImageData><AppendedData encoding=\"{encoding}\">_"
        );
        let end = b"</AppendedData></VTKFile>".to_vec();
        let whole = [text.into_bytes(), encode(&head), encode(&body), end].concat();
        let file = volume::open(folder.file("l.vti", &whole)).unwrap();
        holds(&file, &[7, 6, 5], 1, &data);
        // Positions as in VTK, except for the spacing of 0.
        assert_eq!(file.grid().position([1.0, 1.0, 1.0]), [2.0, 0.0, 4.0]);
        assert_eq!(file.notes().len(), 2, "{:?}", file.notes());
        if !base64 {
            let region = super::common::nrrd::region(&[0, 0, 0], &[7, 6, 5]);
            let start = whole.len() - 25 - body.len();
            for at in start..start + body.len() {
                // Damage gives an error or other numbers, never a panic.
                let mut damaged = whole.clone();
                damaged[at] ^= 0x55;
                let read =
                    volume::open(folder.file("d.vti", &damaged)).and_then(|file| file.read_region::<u16>(&region));
                if let Err(error) = read {
                    assert!(error.to_string().contains("d.vti, byte "), "{error}");
                }
            }
        }
    }
}

#[test]
fn only_blocks_of_the_region_are_read() {
    let folder = Folder::new();
    let data = values(16 * 16 * 16, |i| i as u8);
    for format in [Format::Raw, Format::Base64] {
        let style = Style { format, big: false, word: 8, block: Some(512), apart: false };
        let whole = [0, 15, 0, 15, 0, 15];
        let arrays = vec![Array::new("v", "UInt8", 1, &data, false)];
        let mut content = style.write(whole, "", &[Piece { extent: whole, arrays }]);
        let (start, end) = (content.len() * 2 / 5, content.len() * 3 / 5);
        content[start..end].fill(b'A');
        let file = volume::open(folder.file("b.vti", &content)).unwrap();
        for planes in [(0, 2), (14, 16)] {
            let (start, end) = ([0, 3, planes.0], [16, 9, planes.1]);
            let read = file.read_region::<u8>(&super::common::nrrd::region(&start, &end)).unwrap();
            assert_eq!(read, cut(&[16; 3], 1, &data, &start, &end));
        }
        let error =
            file.read_region::<u8>(&super::common::nrrd::region(&[0, 0, 8], &[1, 1, 9])).unwrap_err().to_string();
        assert!(error.contains("b.vti, byte ") && error.contains("corrupt"), "{error}");
    }
}
