//! Valid files of every format, and how each is read.

use std::path::{Path, PathBuf};

use zippy::region::Region;
use zippy_io::IoError;
use zippy_io::array::{describe, time_steps};
use zippy_io::volume::{self, RawLayout, ScalarKind, VolumeFile};
use zippy_render::{scene, transfer};

use crate::common::nrrd::{self, gzip, values};
use crate::common::volumes::{Folder, bytes, zlib};
use crate::common::vti::{Array, Piece, Style, styles};

/// How a stretch of a file is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Packing {
    Plain,
    Gzip,
    Zlib,
    /// Behind its length, as messages are.
    Frame,
    /// Behind its length and its checksum, as entries of recordings are.
    Entry,
    /// Behind a line of JSON with its checksum, as the manifests of checkpoints are.
    Manifest,
}

/// A file as stretches, so that what is packed can be changed before that.
#[derive(Debug, Clone)]
pub struct Content {
    pub name: String,
    pub parts: Vec<(Packing, Vec<u8>)>,
}

/// Files that belong together; the first one is opened. Its name says how.
pub type Sample = Vec<Content>;

impl Content {
    pub fn bytes(&self) -> Vec<u8> {
        let pack = |(packing, bytes): &(Packing, Vec<u8>)| match packing {
            Packing::Plain => bytes.clone(),
            Packing::Gzip => gzip(bytes),
            Packing::Zlib => zlib(bytes),
            Packing::Frame => [&(bytes.len() as u32).to_le_bytes(), &bytes[..]].concat(),
            Packing::Entry => {
                let (length, checksum) = (bytes.len() as u32, crc32fast::hash(bytes));
                [&length.to_le_bytes(), &checksum.to_le_bytes(), &bytes[..]].concat()
            }
            Packing::Manifest => {
                let line = format!("{{\"checksum\": \"{:08x}\",\n", crc32fast::hash(bytes));
                [line.as_bytes(), bytes].concat()
            }
        };
        self.parts.iter().flat_map(pack).collect()
    }
}

/// Writes the files in place of all that is in the folder; the path of the first one.
pub fn write(folder: &Folder, sample: &[(String, Vec<u8>)]) -> PathBuf {
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

fn one(name: &str, parts: &[(Packing, &[u8])]) -> Sample {
    vec![Content {
        name: name.into(),
        parts: parts.iter().map(|(packing, bytes)| (*packing, bytes.to_vec())).collect(),
    }]
}

fn with(mut sample: Sample, others: &[Sample]) -> Sample {
    sample.extend(others.iter().flatten().cloned());
    sample
}

/// All samples of volumes: 60 numbers of 16 bits with the most significant byte first.
pub fn volumes() -> Vec<Sample> {
    use Packing::{Gzip, Plain, Zlib};
    let data = values(60, |i| i as i16);
    let raw = &bytes(&data, true)[..];
    let text = data.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let whole = |name, bytes: &[u8]| one(name, &[(Plain, bytes)]);
    let file = nrrd::file("int16", &[5, 4, 3], &data, true, false, "\n");
    let head = String::from_utf8_lossy(&file[..file.len() - raw.len()]).into_owned();
    let packed = head.replace("Encoding: raw", "Encoding: gzip");
    let detached = |more: &str| format!("{}{more}\n", head.trim_end_matches('\n'));
    let slices = ["slice1.raw", "slice2.raw", "slice3.raw"];
    let slices = [0, 1, 2].map(|number| whole(slices[number], &raw[40 * number..40 * (number + 1)]));
    let npy = |name, header: &str| {
        let length = (header.len() as u16).to_le_bytes();
        one(name, &[(Plain, &[b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), raw].concat())])
    };
    let meta = "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementByteOrderMSB = True\nElementSpacing = 1 2 3\nOffset = 0 0 1\n";
    let meta = |more: &str| format!("{meta}{more}ElementType = MET_SHORT\nElementDataFile = ");
    let local = |more: &str, packing, data: &[u8]| {
        one("main.mha", &[(Plain, format!("{}LOCAL\n", meta(more)).as_bytes()), (packing, data)])
    };
    let beside = |last: &str| whole("main.mhd", format!("{}{last}\n", meta("")).as_bytes());
    let mut all = vec![
        whole("main.nrrd", &file),
        one("main.nrrd", &[(Plain, packed.as_bytes()), (Gzip, raw)]),
        one(
            "main.nrrd",
            &[(Plain, head.replace("Encoding: raw", "Encoding: text").as_bytes()), (Plain, text.as_bytes())],
        ),
        with(whole("main.nhdr", detached("\ndata file: data.raw").as_bytes()), &[whole("data.raw", raw)]),
        with(whole("main.nhdr", detached("\ndata file: slice%d.raw 1 3 1 2").as_bytes()), &slices),
        with(whole("main.nhdr", detached("\ndata file: LIST\nslice1.raw\nslice2.raw\nslice3.raw").as_bytes()), &slices),
        npy("main.npy", "{'descr': '>i2', 'fortran_order': True, 'shape': (5, 4, 3), }\n"),
        npy("main.npy", "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 2, 5, 3), }\n"),
        local("", Plain, raw),
        local("CompressedData = True\n", Zlib, raw),
        local("CompressedData = True\nElementNumberOfChannels = 1\n", Gzip, raw),
        local("BinaryData = False\n", Plain, text.as_bytes()),
        with(beside("data.raw"), &[whole("data.raw", raw)]),
        with(beside("slice%d.raw 1 3 1"), &slices),
        with(beside("LIST\nslice1.raw\nslice2.raw\nslice3.raw"), &slices),
        one("main.raw", &[(Gzip, raw)]),
    ];
    for header in [first, second] {
        let (single, pair) = (header(false), header(true));
        all.push(one("main.nii", &[(Plain, &single), (Plain, raw)]));
        all.push(one("main.nii.gz", &[(Gzip, &[&single, raw].concat())]));
        all.push(with(whole("main.hdr", &pair), &[whole("main.img", raw)]));
        all.push(with(one("main.hdr.gz", &[(Gzip, &pair)]), &[one("main.img.gz", &[(Gzip, raw)])]));
    }
    let extent = [-1, 3, 4, 7, 0, 2];
    let vti = |style: &Style| {
        let arrays = vec![Array::new("v", "Int16", 1, &data, style.big)];
        whole("main.vti", &style.write(extent, " Scalars=\"v\"", &[Piece { extent, arrays }]))
    };
    all.extend(styles().iter().step_by(3).map(vti));
    // Two pieces, which share a layer of points.
    let slab = |z: [i64; 2], data: &[i16], style: &Style| Piece {
        extent: [-1, 3, 4, 7, z[0], z[1]],
        arrays: vec![Array::new("v", "Int16", 1, data, style.big)],
    };
    let slabs = |style: &Style| {
        let pieces = [slab([0, 1], &data[..40], style), slab([1, 2], &data[20..], style)];
        whole("main.vti", &style.write(extent, " Scalars=\"v\"", &pieces))
    };
    all.extend(styles().iter().skip(1).step_by(7).map(slabs));
    all
}

/// Scenes and transfer functions in JSON; indices of arrays and of times, and headers with all that is said beside cells.
pub fn texts() -> Vec<Sample> {
    let whole = |name, bytes: &[u8]| one(name, &[(Packing::Plain, bytes)]);
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
        whole("arrays.pvti", index.as_bytes()),
        whole("arrays.pvd", times.as_bytes()),
        whole("arrays.nrrd", axes.as_bytes()),
        whole("scene.json", include_bytes!("../../docs/scenes.json")),
        whole("transfer.json", include_bytes!("../../examples/volume/transfer.json")),
    ]
}

/// Fields of a header at their bytes, the most significant byte first.
fn header(length: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut header = vec![0; length];
    fields.iter().for_each(|(at, bytes)| header[*at..at + bytes.len()].copy_from_slice(bytes));
    header
}

fn first(pair: bool) -> Vec<u8> {
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

fn second(pair: bool) -> Vec<u8> {
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

/// Opens a file by the name that its sample has and reads all of it: as many numbers as its shape says, or an error.
pub fn read(path: &Path) -> Result<(), IoError> {
    let name = path.file_name().unwrap().to_str().unwrap();
    match name {
        "scene.json" => return scene::read(path, None).map(drop),
        "transfer.json" => return transfer::read(path).map(drop),
        "arrays.pvd" => return time_steps(path).map(drop),
        "arrays.pvti" | "arrays.nrrd" => return describe(path).map(drop),
        // What it says of arrays: those that are no volumes, too.
        "main.nrrd" | "main.nhdr" | "main.npy" | "main.vti" => drop(describe(path)),
        _ => {}
    }
    let opened = match name {
        "main.raw" => VolumeFile::raw(path, RawLayout { gzip: true, ..RawLayout::new([5, 4, 3], ScalarKind::I16) }),
        _ => volume::open(path),
    };
    read_all(opened)
}

/// All numbers of a volume that is not too large.
pub fn read_all(opened: Result<VolumeFile, IoError>) -> Result<(), IoError> {
    let file = opened?;
    let shape = file.shape();
    // What is asked for is not what a header may make the reader take.
    if shape.product().is_some_and(|voxels| voxels > 100_000) {
        return Ok(());
    }
    let read = file.read_region_f32(&Region::whole(shape))?;
    assert_eq!(Some(read.len() as u64), shape.product().map(|n| n * file.components() as u64));
    Ok(())
}

/// What a file of so many bytes may take: buffers and decompressors, what an error says, and what its length accounts for:
/// a name of one letter in a list of files is an entry of a table.
pub fn memory(length: usize) -> isize {
    (3 << 20) + 64 * length as isize
}
