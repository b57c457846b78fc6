//! Samples of volumes, array files, scenes and transfer functions, and their readers.

use std::path::{Path, PathBuf};

use zippy::region::Region;
use zippy_io::IoError;
use zippy_io::array::time_steps;
use zippy_io::volume::{self, RawLayout, ScalarKind, VolumeFile};
use zippy_render::{scene, transfer};
use zippy_store::array::describe;

use crate::common::nrrd::{self, gzip, values};
use crate::common::volumes::{Folder, bytes, zlib};
use crate::common::vti::{Array, Piece, Style, styles};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Encoding {
    Plain,
    Gzip,
    Zlib,
    /// The length, then the bytes, as in messages.
    Frame,
    /// Length and checksum, then the bytes, as in entries of recordings.
    Entry,
    /// A line of JSON with the checksum, then the bytes, as in manifests of checkpoints.
    Manifest,
}

/// File as sections, so that mutations can apply before the encoding.
#[derive(Debug, Clone)]
pub struct SampleFile {
    /// Path relative to the directory of the input.
    pub name: String,
    /// Encoding and unencoded bytes of each section.
    pub sections: Vec<(Encoding, Vec<u8>)>,
}

/// Files of one input. The reader opens the first file, whose name selects the reader.
pub(crate) type Sample = Vec<SampleFile>;

impl SampleFile {
    pub fn bytes(&self) -> Vec<u8> {
        let encode = |(encoding, bytes): &(Encoding, Vec<u8>)| match encoding {
            Encoding::Plain => bytes.clone(),
            Encoding::Gzip => gzip(bytes),
            Encoding::Zlib => zlib(bytes),
            Encoding::Frame => [&(bytes.len() as u32).to_le_bytes(), &bytes[..]].concat(),
            Encoding::Entry => {
                let (length, checksum) = (bytes.len() as u32, crc32fast::hash(bytes));
                [&length.to_le_bytes(), &checksum.to_le_bytes(), &bytes[..]].concat()
            }
            Encoding::Manifest => {
                let line = format!("{{\"checksum\": \"{:08x}\",\n", crc32fast::hash(bytes));
                [line.as_bytes(), bytes].concat()
            }
        };
        self.sections.iter().flat_map(encode).collect()
    }
}

/// Replaces the contents of a folder. Returns the path of the first file.
pub(crate) fn write(folder: &Folder, sample: &[(String, Vec<u8>)]) -> PathBuf {
    for entry in std::fs::read_dir(&folder.0).into_iter().flatten().flatten() {
        let path = entry.path();
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    let file = |(name, bytes): &(String, Vec<u8>)| {
        if let Some((parent, _)) = name.rsplit_once('/') {
            std::fs::create_dir_all(folder.0.join(parent)).unwrap();
        }
        folder.file(name, bytes)
    };
    let paths: Vec<PathBuf> = sample.iter().map(file).collect();
    paths[0].clone()
}

fn single_file(name: &str, sections: &[(Encoding, &[u8])]) -> Sample {
    let sections = sections.iter().map(|(encoding, bytes)| (*encoding, bytes.to_vec())).collect();
    vec![SampleFile { name: name.into(), sections }]
}

fn with_files(mut sample: Sample, others: &[Sample]) -> Sample {
    sample.extend(others.iter().flatten().cloned());
    sample
}

/// Samples of volumes, each with 60 numbers of 16 bits.
pub(crate) fn volumes() -> Vec<Sample> {
    use Encoding::{Gzip, Plain, Zlib};
    let data = values(60, |i| i as i16);
    let raw = &bytes(&data, true)[..];
    let text = data.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let plain = |name, bytes: &[u8]| single_file(name, &[(Plain, bytes)]);
    let file = nrrd::file("int16", &[5, 4, 3], &data, true, false, "\n");
    let head = String::from_utf8_lossy(&file[..file.len() - raw.len()]).into_owned();
    let gzip_head = head.replace("Encoding: raw", "Encoding: gzip");
    let detached = |more: &str| format!("{}{more}\n", head.trim_end_matches('\n'));
    let slices = ["slice1.raw", "slice2.raw", "slice3.raw"];
    let slices = [0, 1, 2].map(|number| plain(slices[number], &raw[40 * number..40 * (number + 1)]));
    let npy = |name, header: &str| {
        let length = (header.len() as u16).to_le_bytes();
        single_file(name, &[(Plain, &[b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), raw].concat())])
    };
    let meta = "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementByteOrderMSB = True\nElementSpacing = 1 2 3\nOffset = 0 0 1\n";
    let meta = |more: &str| format!("{meta}{more}ElementType = MET_SHORT\nElementDataFile = ");
    let local = |more: &str, encoding, data: &[u8]| {
        single_file("main.mha", &[(Plain, format!("{}LOCAL\n", meta(more)).as_bytes()), (encoding, data)])
    };
    let separate = |last: &str| plain("main.mhd", format!("{}{last}\n", meta("")).as_bytes());
    let mut all = vec![
        plain("main.nrrd", &file),
        single_file("main.nrrd", &[(Plain, gzip_head.as_bytes()), (Gzip, raw)]),
        single_file(
            "main.nrrd",
            &[(Plain, head.replace("Encoding: raw", "Encoding: text").as_bytes()), (Plain, text.as_bytes())],
        ),
        with_files(plain("main.nhdr", detached("\ndata file: data.raw").as_bytes()), &[plain("data.raw", raw)]),
        with_files(plain("main.nhdr", detached("\ndata file: slice%d.raw 1 3 1 2").as_bytes()), &slices),
        with_files(
            plain("main.nhdr", detached("\ndata file: LIST\nslice1.raw\nslice2.raw\nslice3.raw").as_bytes()),
            &slices,
        ),
        npy("main.npy", "{'descr': '>i2', 'fortran_order': True, 'shape': (5, 4, 3), }\n"),
        npy("main.npy", "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 2, 5, 3), }\n"),
        local("", Plain, raw),
        local("CompressedData = True\n", Zlib, raw),
        local("CompressedData = True\nElementNumberOfChannels = 1\n", Gzip, raw),
        local("BinaryData = False\n", Plain, text.as_bytes()),
        with_files(separate("data.raw"), &[plain("data.raw", raw)]),
        with_files(separate("slice%d.raw 1 3 1"), &slices),
        with_files(separate("LIST\nslice1.raw\nslice2.raw\nslice3.raw"), &slices),
        single_file("main.raw", &[(Gzip, raw)]),
    ];
    for header in [nifti1_header, nifti2_header] {
        let (single, pair) = (header(false), header(true));
        all.push(single_file("main.nii", &[(Plain, &single), (Plain, raw)]));
        all.push(single_file("main.nii.gz", &[(Gzip, &[&single, raw].concat())]));
        all.push(with_files(plain("main.hdr", &pair), &[plain("main.img", raw)]));
        all.push(with_files(
            single_file("main.hdr.gz", &[(Gzip, &pair)]),
            &[single_file("main.img.gz", &[(Gzip, raw)])],
        ));
    }
    let extent = [-1, 3, 4, 7, 0, 2];
    let vti = |style: &Style| {
        let arrays = vec![Array::new("v", "Int16", 1, &data, style.big)];
        plain("main.vti", &style.write(extent, " Scalars=\"v\"", &[Piece { extent, arrays }]))
    };
    all.extend(styles().iter().step_by(3).map(vti));
    // The two pieces have a common layer of points.
    let slab = |z: [i64; 2], data: &[i16], style: &Style| Piece {
        extent: [-1, 3, 4, 7, z[0], z[1]],
        arrays: vec![Array::new("v", "Int16", 1, data, style.big)],
    };
    let slabs = |style: &Style| {
        let pieces = [slab([0, 1], &data[..40], style), slab([1, 2], &data[20..], style)];
        plain("main.vti", &style.write(extent, " Scalars=\"v\"", &pieces))
    };
    all.extend(styles().iter().skip(1).step_by(7).map(slabs));
    all
}

/// Scenes, transfer functions, index files, and a header with all optional fields.
pub(crate) fn texts() -> Vec<Sample> {
    let plain = |name, bytes: &[u8]| single_file(name, &[(Encoding::Plain, bytes)]);
    let index = r#"<VTKFile type="PImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
<PImageData WholeExtent="0 3 0 1 0 0" GhostLevel="0" Origin="1 2 0" Spacing="1 2 1" Direction="0 1 0 1 0 0 0 0 1"><FieldData>
<Array type="String" Name="zippy" format="ascii">123 34 110 97 109 101 115 34 58 91 34 120 34 93 125 0</Array>
<Array type="String" Name="n" format="ascii">91 49 93 0</Array></FieldData><PPointData Scalars="a">
<PDataArray type="Int16" Name="a" NumberOfComponents="1"/></PPointData><Piece Extent="0 2 0 1 0 0" Source="a/0.vti"/>
<Piece Extent="2 3 0 1 0 0" Source="a/1.vti"/></PImageData></VTKFile>"#;
    let times = r#"<VTKFile type="Collection" version="1.0"><Collection>
<DataSet timestep="0.5" group="" part="0" file="a.vti"/><DataSet timestep="1e3" file="b.vti"/></Collection></VTKFile>"#;
    let axes = "NRRD0005\ncontent: a\ntype: uint8\ndimension: 5\nsizes: 2 1 3 1 2\nkinds: vector domain domain domain domain\n\
                labels: \"\" \"x\" \"a \\\"b\\\"\" \"\" \"t\"\nspace dimension: 4\nspace directions: none (1,0,0,0) (0,2,0,0) (0,0,1,0) \
                (0,0,0,0.5)\nspace origin: (1,2,3,4)\nspace units: \"mm\" \"\" \"\" \"s\"\nencoding: raw\nn:=[1,{\"a\":null}]\n\
                text:=a\\nb\n\nabcdefghijkl";
    vec![
        plain("arrays.pvti", index.as_bytes()),
        plain("arrays.pvd", times.as_bytes()),
        plain("arrays.nrrd", axes.as_bytes()),
        plain("scene.json", include_bytes!("../../docs/scenes.json")),
        plain("transfer.json", include_bytes!("../../examples/volume/transfer.json")),
    ]
}

/// Header of `length` bytes with fields, each at its offset.
fn header(length: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut header = vec![0; length];
    fields.iter().for_each(|(at, bytes)| header[*at..at + bytes.len()].copy_from_slice(bytes));
    header
}

fn nifti1_header(pair: bool) -> Vec<u8> {
    let dim = bytes(&[3_i16, 5, 4, 3, 1, 1, 1, 1], true);
    let pixdim = bytes(&[1.5_f32; 8], true);
    let (magic, offset, length) = if pair { (b"ni1\0", 0_f32, 348) } else { (b"n+1\0", 352_f32, 352) };
    let (first, kind, bits) = (348_i32.to_be_bytes(), 4_i16.to_be_bytes(), 16_i16.to_be_bytes());
    let matrix = bytes(&[1_f32, 0.0, 0.0, 5.0, 0.0, 1.0, 0.0, 6.0, 0.0, 0.0, 1.0, 7.0], true);
    let fields: [(usize, &[u8]); 9] = [
        (0, &first),
        (40, &dim),
        (70, &kind),
        (72, &bits),
        (76, &pixdim),
        (108, &offset.to_be_bytes()),
        (254, &[0, 1]),
        (280, &matrix),
        (344, magic),
    ];
    header(length, &fields)
}

fn nifti2_header(pair: bool) -> Vec<u8> {
    let dim = bytes(&[3_i64, 5, 4, 3, 1, 1, 1, 1], true);
    let pixdim = bytes(&[1.5_f64; 8], true);
    let (magic, offset, length) = if pair { (b"ni2\0\r\n\x1a\n", 0_i64, 540) } else { (b"n+2\0\r\n\x1a\n", 544, 544) };
    let (first, kind, bits) = (540_i32.to_be_bytes(), 4_i16.to_be_bytes(), 16_i16.to_be_bytes());
    let fields: [(usize, &[u8]); 8] = [
        (0, &first),
        (4, magic),
        (12, &kind),
        (14, &bits),
        (16, &dim),
        (104, &pixdim),
        (168, &offset.to_be_bytes()),
        (344, &[0, 0, 0, 1]),
    ];
    header(length, &fields)
}

/// Reads a whole file; the file name selects the reader.
pub(crate) fn read(path: &Path) -> Result<(), IoError> {
    let name = path.file_name().unwrap().to_str().unwrap();
    match name {
        "scene.json" => return scene::read(path, None).map(drop),
        "transfer.json" => return transfer::read(path).map(drop),
        "arrays.pvd" => return time_steps(path).map(drop),
        "arrays.pvti" | "arrays.nrrd" => return describe(path).map(drop),
        // A valid volume may be an invalid array, and the reverse.
        "main.nrrd" | "main.nhdr" | "main.npy" | "main.vti" => drop(describe(path)),
        _ => {}
    }
    let opened = match name {
        "main.raw" => VolumeFile::raw(path, RawLayout { gzip: true, ..RawLayout::new([5, 4, 3], ScalarKind::I16) }),
        _ => volume::open(path),
    };
    read_all(opened)
}

/// Reads all numbers of a volume, except of a large volume.
pub(crate) fn read_all(opened: Result<VolumeFile, IoError>) -> Result<(), IoError> {
    let file = opened?;
    let shape = file.shape();
    // The memory limit is for the reader without its result.
    if shape.product().is_some_and(|voxels| voxels > 100_000) {
        return Ok(());
    }
    let read = file.read_region_f32(&Region::whole(shape))?;
    assert_eq!(Some(read.len() as u64), shape.product().map(|n| n * file.components() as u64));
    Ok(())
}

/// Maximum memory in bytes for a file of `length` bytes: a constant for buffers and decompressors,
/// and 64 bytes per byte, as a file name of one letter in a list becomes an entry of a table.
pub(crate) fn max_memory(length: usize) -> isize {
    (3 << 20) + 64 * length as isize
}
