//! MetaImage files, written from the format's description.

use zippy_io::volume::{self, FileScalar};

use super::common::nrrd::{gzip, values};
use super::common::volumes::{Folder, bytes, failure, holds, zlib};

/// A header as written by ITK, without the last line.
fn head(kind: &str, sizes: &[usize], channels: usize, more: &str) -> String {
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let axes = sizes.len();
    let zeros = |value: &str| [value, " 1.25", " 7e1"][..axes].concat();
    let channels = if channels > 1 { format!("ElementNumberOfChannels = {channels}\n") } else { String::new() };
    format!(
        "ObjectType = Image\nNDims = {axes}\nBinaryData = True\n{more}Comment = a = b\nTransformMatrix = 1 0 0 0 1 0 0 0 1\n\
         Offset = {}\nElementSpacing = {}\nDimSize = {}\n{channels}ElementType = {kind}\nElementDataFile = ",
        zeros("-3.5"),
        zeros("0.5"),
        sizes.join(" ")
    )
}

fn attached(head: &str, data: &[u8]) -> Vec<u8> {
    [format!("{head}LOCAL\n").as_bytes(), data].concat()
}

fn every_storage<T: FileScalar + PartialEq + std::fmt::Debug>(kind: &str, make: impl Fn(u64) -> T) {
    let folder = Folder::new();
    for (sizes, channels) in [(vec![9], 1), (vec![4, 5], 2), (vec![5, 4, 3], 1), (vec![3, 2, 4], 3)] {
        let data = values(sizes.iter().product::<usize>() * channels, &make);
        let check = |path| {
            let file = volume::open(path).unwrap();
            assert_eq!(file.spacing(), &[0.5, 1.25, 70.0][..sizes.len()]);
            assert_eq!((file.origin(), file.format()), (Some(&[-3.5, 1.25, 70.0][..sizes.len()]), "MetaImage"));
            holds(&file, &sizes, channels, &data);
        };
        for big in [false, true] {
            let raw = bytes(&data, big);
            let order = if big { "BinaryDataByteOrderMSB = True\n" } else { "ElementByteOrderMSB = False\n" };
            let plain = head(kind, &sizes, channels, order);
            check(folder.file("a.mha", &attached(&plain, &raw)));
            check(folder.file("other.ending", &attached(&plain, &raw)));
            folder.file("a.raw", &raw);
            check(folder.file("a.mhd", format!("{plain}a.raw").as_bytes()));
            folder.file("late.raw", &[b"a header".as_slice(), &raw].concat());
            for skip in [8, -1] {
                let skipping = head(kind, &sizes, channels, &format!("{order}HeaderSize = {skip}\n"));
                check(folder.file("b.mhd", format!("{skipping}late.raw\r\n").as_bytes()));
            }
            for packed in [zlib(&raw), gzip(&raw)] {
                let size = packed.len();
                let packing = format!("{order}CompressedData = True\nCompressedDataSize = {size}\n");
                check(folder.file("z.mha", &attached(&head(kind, &sizes, channels, &packing), &packed)));
                let packing = format!("{order}CompressedData = 1\n");
                folder.file("z.zraw", &packed);
                check(folder.file("z.mhd", format!("{}z.zraw", head(kind, &sizes, channels, &packing)).as_bytes()));
            }
        }
    }
}

#[test]
fn every_type_order_and_storage_is_read() {
    every_storage::<u8>("MET_UCHAR", |i| i as u8);
    every_storage::<i8>("MET_CHAR", |i| i as i8);
    every_storage::<u16>("MET_USHORT", |i| i as u16);
    every_storage::<i16>("MET_SHORT_ARRAY", |i| i as i16);
    every_storage::<u32>("MET_ULONG", |i| i as u32);
    every_storage::<i32>("MET_INT", |i| i as i32);
    every_storage::<u64>("MET_ULONG_LONG", |i| i);
    every_storage::<i64>("MET_LONG_LONG", |i| i as i64);
    every_storage::<f32>("MET_FLOAT", |i| f32::from_bits(i as u32));
    every_storage::<f64>("MET_DOUBLE", f64::from_bits);
}

#[test]
fn slices_in_separate_files_are_read() {
    let folder = Folder::new();
    let data = values(4 * 3 * 6, |i| i as u16);
    let plain = head("MET_USHORT", &[4, 3, 6], 1, "");
    for (number, slice) in data.chunks(12).enumerate() {
        folder.file(&format!("s{}.raw", number + 1), &bytes(slice, false));
        folder.file(&format!("t{:03}.raw", 20 - 3 * number), &bytes(slice, false));
    }
    let open = |last: &str| volume::open(folder.file("a.mhd", format!("{plain}{last}").as_bytes()));
    let names = "s1.raw\ns2.raw\n\ns3.raw\r\ns4.raw\ns5.raw\ns6.raw";
    for last in ["s%d.raw", "s%d.raw 1", "s%d.raw 1 6", "s%d.raw 1 6 1", "t%03d.raw 20 5 -3"] {
        holds(&open(last).unwrap(), &[4, 3, 6], 1, &data);
    }
    holds(&open(&format!("LIST\n{names}")).unwrap(), &[4, 3, 6], 1, &data);
    holds(&open(&format!("LIST 2D\n{names}\n")).unwrap(), &[4, 3, 6], 1, &data);
    for (last, wanted) in [
        ("LIST 1D\ns1.raw", "files of \"1D\" axes"),
        ("LIST\ns1.raw\ns2.raw\ns3.raw\ns4.raw", "4 files cannot hold 6 slices"),
        ("LIST\n", "0 files cannot hold 6 slices"),
        ("s%d.raw 2", "s7.raw: cannot open"),
        ("s%d.raw 1 x", "\"x\" is not an integer"),
        ("s%d.raw 1 9223372036854775807", "1 to 65536 files are read"),
        ("s%5000d.raw", "must hold one %d"),
        ("s%d.raw 1 3", "s1.raw, byte 24: the data end after 24 of 48 bytes"),
    ] {
        let error = failure(open(last)).unwrap();
        assert!(error.contains(wanted), "{last}: {error}");
    }
    let packed = head("MET_USHORT", &[4, 3, 6], 1, "CompressedData = True\n");
    let error = failure(volume::open(folder.file("z.mhd", format!("{packed}s%d.raw").as_bytes()))).unwrap();
    assert!(error.contains("compressed data spread over several files"), "{error}");
}

#[test]
fn text_is_read() {
    let folder = Folder::new();
    let text = "ObjectType = Image\nNDims = 2\nBinaryData = False\nDimSize = 3 2\nElementType = MET_FLOAT\nElementSize = 2 4\n";
    let path = folder.file("t.mha", format!("{text}ElementDataFile = LOCAL\n1 2.5 -3\n4e2 nan 6\n").as_bytes());
    let file = volume::open(path).unwrap();
    assert_eq!((file.spacing(), file.origin()), (&[2.0, 4.0][..], None));
    holds(&file, &[3, 2], 1, &[1.0, 2.5, -3.0, 400.0, f32::NAN, 6.0]);
}

/// Slices of volumes can keep three numbers per position.
#[test]
fn numbers_beyond_the_axes_are_ignored() {
    let folder = Folder::new();
    let text = "ObjectType = Image\nNDims = 2\nTransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = 3 4 0\nElementSpacing = 0.5 2 1\n\
                DimSize = 3 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n";
    let file = volume::open(folder.file("foot.mha", &[text.as_bytes(), &[1, 2, 3, 4, 5, 6]].concat())).unwrap();
    assert_eq!((file.spacing(), file.origin()), (&[0.5, 2.0][..], Some(&[3.0, 4.0][..])));
    holds(&file, &[3, 2], 1, &[1_u8, 2, 3, 4, 5, 6]);
    let fewer = text.replace("0.5 2 1", "0.5").into_bytes();
    let error = failure(volume::open(folder.file("foot.mha", &fewer))).unwrap();
    assert!(error.contains("has 1 values, 2 are needed"), "{error}");
}

#[test]
fn errors_name_the_defect_and_the_byte() {
    let folder = Folder::new();
    let error_of = |content: &[u8]| {
        let path = folder.file("w.mha", content);
        let error = failure(volume::open(&path)).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(content)));
        assert!(error.starts_with(path.to_str().unwrap()) && error.contains(", byte "), "{error}");
        error
    };
    let lines = ["ObjectType = Image", "NDims = 3", "DimSize = 4 3 2", "ElementType = MET_UCHAR"];
    for (change, wanted) in [
        ("ObjectType = Mesh", "an object of type \"Mesh\""),
        ("NDims = 4", "4 axes"),
        ("NDims = -1", "-1 axes"),
        ("NDims = 99999999999999999999", "not an integer of 64 bits"),
        ("DimSize = 4 3", "has 2 values, 3 are needed"),
        ("DimSize = 4 3 0", "a size of 0"),
        ("DimSize = 4 -3 2", "a size of -3"),
        ("DimSize = 3000000000 3000000000 3000000000", "more bytes than fit 63 bits"),
        ("DimSize = 4294967296 1073741824 1", "after 24 of 4611686018427387904 bytes"),
        ("ElementType = MET_STRING", "ElementType \"MET_STRING\""),
        ("ElementType = MET_SHORT", "after 24 of 48 bytes"),
        ("ElementSpacing = 1 nan 1", "a spacing of NaN on axis 1"),
        ("ElementSpacing = 1 1 wide", "\"wide\" is not a number"),
        ("Offset = 0 inf 0", "an origin of"),
        ("ElementNumberOfChannels = 0", "0 components"),
        ("ElementNumberOfChannels = 17", "17 components"),
        ("BinaryData = maybe", "it must be True or False"),
        ("HeaderSize = -2", "it must be at least 0"),
        ("HeaderSize = 3", "data in a file of their own"),
        ("CompressedData = True", "zlib data are corrupt"),
        ("CompressedData = True\nCompressedDataSize = 25", "CompressedDataSize 25; there are 24 bytes"),
        ("CompressedData = True\nBinaryData = False", "compressed text"),
        ("CompressedData = True\nHeaderSize = -1", "HeaderSize -1"),
        ("BinaryData = False", "24 bytes of text cannot hold the 24 numbers"),
        ("ElementByteOrderMSB = True\nBinaryDataByteOrderMSB = False", "contradict each other"),
        ("ndims = 3\nNDIMS = 3", "\"NDIMS\" is given twice"),
        ("nonsense", "is not \"Key = Value\""),
    ] {
        let field = change.split(' ').next().unwrap();
        let kept = lines.iter().filter(|line| !line.split(' ').next().unwrap().eq_ignore_ascii_case(field));
        let kept: Vec<&str> = kept.copied().collect();
        let text = format!("{}\n{change}\n", kept.join("\n"));
        let error = error_of(&[format!("{text}ElementDataFile = LOCAL\n").as_bytes(), &[7; 24]].concat());
        assert!(error.contains(wanted), "{change}: {error}");
    }
    for missing in &lines[1..] {
        let kept: Vec<&str> = lines.iter().copied().filter(|line| line != missing).collect();
        let error =
            error_of(&[format!("{}\nElementDataFile = LOCAL\n", kept.join("\n")).as_bytes(), &[7; 24]].concat());
        assert!(error.contains("the header has no line"), "{missing}: {error}");
    }
    assert!(error_of(&[b"# comment\n".as_slice(), &[b'x'; 2 << 20]].concat()).contains("is not \"Key = Value\""));
    assert!(error_of(&[b"Comment = ".as_slice(), &[b'x'; 2 << 20]].concat()).contains("byte 1048576: the header ends"));
}

/// Files that ITK reads, with a note.
#[test]
fn contradictions_and_surplus_are_read_with_a_note() {
    let folder = Folder::new();
    let data = values(24, |i| i as u8);
    let text = "ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\nElementType = MET_UCHAR\n";
    let open = |more: &str, last: &str, behind: &[u8]| {
        let head = format!("{text}{more}ElementDataFile = {last}\n");
        volume::open(folder.file("a.mha", &[head.as_bytes(), behind].concat())).unwrap()
    };
    for last in ["LOCAL", "Local", "local", "lOCAL "] {
        let file = open("", last, &data);
        holds(&file, &[4, 3, 2], 1, &data);
        assert_eq!(file.notes(), Vec::<String>::new());
    }
    let file = open("ElementSpacing = 1 -2 0\nOffset = 5 6 7\n", "LOCAL", &[&data[..], b"\n"].concat());
    holds(&file, &[4, 3, 2], 1, &data);
    assert_eq!(file.notes().len(), 3, "{:?}", file.notes());
    // The positions of voxels follow the negative spacing.
    assert_eq!(file.grid().position([3.0, 2.0, 1.0]), [8.0, 2.0, 8.0]);
    let turned = "TransformMatrix = 0 1 0 1 0 0 0 0 1\nElementSpacing = 1 -2 3\n";
    assert_eq!(open(turned, "LOCAL", &data).grid().position([3.0, 2.0, 1.0]), [-4.0, 3.0, 3.0]);
    let packed = zlib(&data);
    for (more, note) in [
        (String::new(), "1 bytes follow the compressed data"),
        (format!("CompressedDataSize = {}\n", packed.len()), "1 bytes follow the data"),
    ] {
        let file = open(&format!("CompressedData = True\n{more}"), "LOCAL", &[&packed[..], b"\n"].concat());
        holds(&file, &[4, 3, 2], 1, &data);
        assert!(file.notes().len() == 1 && file.notes()[0].contains(note), "{:?}", file.notes());
    }
    let numbers: Vec<String> = data.iter().map(ToString::to_string).collect();
    let file = open("BinaryData = False\n", "LOCAL", format!("{} and more", numbers.join(" ")).as_bytes());
    holds(&file, &[4, 3, 2], 1, &data);
    assert!(file.notes()[0].contains("other text follows the numbers"), "{:?}", file.notes());
}

#[test]
fn truncated_or_extended_compressed_data_is_an_error() {
    let folder = Folder::new();
    let data = values(600, |i| i as u8);
    let plain = head("MET_UCHAR", &[10, 10, 6], 1, "CompressedData = True\n");
    let error_of = |content: &[u8]| {
        let path = folder.file("z.mha", content);
        failure(volume::open(&path)).inspect(|error| {
            // Truncated inside of "LOCAL", the header names another file.
            let file = error.starts_with(path.to_str().unwrap()) && error.contains(", byte ");
            assert!(file || error.contains("cannot open") || error.contains("not a regular file"), "{error}");
        })
    };
    let whole = attached(&plain, &zlib(&data));
    assert_eq!(error_of(&whole), None);
    for cut in 0..whole.len() {
        assert!(error_of(&whole[..cut]).is_some(), "cut at {cut} of {}", whole.len());
    }
    assert_eq!(error_of(&[&whole[..], b"x"].concat()), None);
    assert!(error_of(&attached(&plain, &zlib(&data[..599]))).unwrap().contains("ends after 599 of 600 bytes"));
    assert!(
        error_of(&attached(&plain, &zlib(&[&data[..], b"x"].concat())))
            .unwrap()
            .contains("goes on after the 600 bytes")
    );
    let mut checksum = whole.clone();
    *checksum.last_mut().unwrap() ^= 1;
    assert!(error_of(&checksum).unwrap().contains("corrupt"));
    // Sizes that the stream cannot have are refused before decompression.
    let bomb = head("MET_UCHAR", &[1 << 20, 1 << 20, 4], 1, "CompressedData = True\n");
    let error = error_of(&attached(&bomb, &zlib(&vec![0; 100_000]))).unwrap();
    assert!(error.contains("cannot hold the 4398046511104 bytes"), "{error}");
    // Data after the requested part is not read.
    let half = volume::open(folder.file("half.mha", &whole[..whole.len() - 200])).unwrap();
    let first = half.read_region::<u8>(&super::common::nrrd::region(&[0, 0, 0], &[10, 10, 2])).unwrap();
    assert_eq!(first, data[..200]);
}
