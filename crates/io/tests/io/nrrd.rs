//! NRRD files: every encoding, type and byte order; every region; detached headers; the scans.

use std::path::Path;

use zippy_io::IoError;
use zippy_io::volume::{self, FileScalar, ScalarKind};
use zippy_plan::extents::Index;
use zippy_plan::region::Region;

use super::common::nrrd::{Temporary, expected, file, gzip, index, region, values};
use super::common::volumes::{Folder, bytes, failure, holds};

fn round_trip<T: FileScalar + PartialEq + std::fmt::Debug>(name: &str, make: impl Fn(u64) -> T) {
    let shapes: [&[usize]; 3] = [&[13], &[7, 5], &[5, 4, 3]];
    for sizes in shapes {
        let data = values(sizes.iter().product(), &make);
        for variant in 0..8 {
            let (big, gz, ending) = (variant & 1 > 0, variant & 2 > 0, ["\n", "\r\n"][variant >> 2]);
            let temporary = Temporary::new(&file(name, sizes, &data, big, gz, ending));
            let opened = volume::open(&temporary.0).unwrap();
            assert_eq!((opened.kind(), opened.shape()), (T::KIND, index(sizes)));
            assert_eq!(opened.spacing(), &[0.5, 2.0, 1.0][..sizes.len()]);
            // Every region, the empty ones included.
            let corners = |axis: usize| (0..=sizes[axis]).flat_map(move |a| (a..=sizes[axis]).map(move |b| (a, b)));
            for x in corners(0).step_by(if sizes.len() > 2 { 3 } else { 1 }) {
                for y in if sizes.len() > 1 { corners(1).step_by(2).collect() } else { vec![(0, 1)] } {
                    for z in if sizes.len() > 2 { corners(2).collect() } else { vec![(0, 1)] } {
                        let start = &[x.0, y.0, z.0][..sizes.len()];
                        let end = &[x.1, y.1, z.1][..sizes.len()];
                        let read = opened.read_region::<T>(&region(start, end)).unwrap();
                        let wanted = expected(sizes, &data, start, end);
                        assert_eq!(bytemuck::cast_slice::<T, u8>(&read), bytemuck::cast_slice::<T, u8>(&wanted));
                    }
                }
            }
        }
    }
}

#[test]
fn every_type_order_encoding_and_region_is_read() {
    round_trip::<u8>("unsigned char", |i| i as u8);
    round_trip::<i16>("short int", |i| i as i16);
    round_trip::<u16>("uint16_t", |i| i as u16);
    round_trip::<f32>("float", |i| f32::from_bits(i as u32));
    round_trip::<f64>("double", f64::from_bits);
}

#[test]
fn other_types_are_read_whole() {
    fn whole<T: FileScalar + PartialEq + std::fmt::Debug>(name: &str, make: impl Fn(u64) -> T) {
        let data = values(24, make);
        let temporary = Temporary::new(&file(name, &[4, 3, 2], &data, true, false, "\n"));
        let opened = volume::open(&temporary.0).unwrap();
        assert_eq!(opened.read_region::<T>(&region(&[0; 3], &[4, 3, 2])).unwrap(), data);
    }
    whole::<i8>("int8", |i| i as i8);
    whole::<u32>("unsigned int", |i| i as u32);
    whole::<i32>("int", |i| i as i32);
    whole::<u64>("ulonglong", |i| i);
    whole::<i64>("long long int", |i| i as i64);
}

#[test]
fn conversion_to_f32_takes_the_nearest() {
    let data = [i32::MIN, -1, 0, 16_777_217, i32::MAX];
    let temporary = Temporary::new(&file("int32", &[5], &data, true, true, "\n"));
    let opened = volume::open(&temporary.0).unwrap();
    let read = opened.read_region_f32(&region(&[0], &[5])).unwrap();
    assert_eq!(read, [-2_147_483_648.0, -1.0, 0.0, 16_777_216.0, 2_147_483_648.0]);
    let error = opened.read_region::<u8>(&region(&[0], &[5])).unwrap_err().to_string();
    assert!(error.contains("holds i32 voxels and cannot be read as u8"), "{error}");
}

/// All chunks of a cut in one pass, in any order of the list; empty chunks, too.
#[test]
fn regions_are_read_together() {
    let sizes = [9, 7, 8];
    let data = values(9 * 7 * 8, |i| i as u16);
    let cuts = [vec![0, 4, 4, 9], vec![0, 2, 7], vec![0, 1, 5, 8]];
    let mut boxes = Vec::new();
    for x in cuts[0].windows(2) {
        for y in cuts[1].windows(2) {
            for z in cuts[2].windows(2) {
                boxes.push(([x[0], y[0], z[0]], [x[1], y[1], z[1]]));
            }
        }
    }
    let regions: Vec<Region> = boxes.iter().map(|(start, end)| region(start, end)).collect();
    for gz in [false, true] {
        let temporary = Temporary::new(&file("uint16", &sizes, &data, true, gz, "\n"));
        let opened = volume::open(&temporary.0).unwrap();
        let mut seen = vec![0; boxes.len()];
        let read = opened.read_regions::<u16, IoError>(&regions, |number, voxels| {
            seen[number] += 1;
            assert_eq!(voxels, expected(&sizes, &data, &boxes[number].0, &boxes[number].1), "box {number}, gzip {gz}");
            Ok(())
        });
        read.unwrap();
        assert!(seen.iter().all(|&times| times == 1), "{seen:?}");
        // An error of the callback ends the read.
        let own = |_, _: Vec<f32>| Err(IoError::request(Path::new("mine"), "enough"));
        assert!(opened.read_regions_f32(&regions, own).unwrap_err().to_string().contains("enough"));
        let twice = [regions[0], regions[5], regions[0]];
        let error = opened.read_regions::<u16, IoError>(&twice, |_, _| Ok(())).unwrap_err().to_string();
        assert!(error.contains("overlap"), "{error}");
    }
}

#[test]
fn gzip_is_only_read_as_far_as_needed() {
    let data = values(64 * 64 * 64, |i| i as u8);
    let whole = file("uint8", &[64, 64, 64], &data, false, true, "\n");
    // The second half is missing: the first planes can be read, the others cannot.
    let temporary = Temporary::new(&whole[..whole.len() / 2]);
    let opened = volume::open(&temporary.0).unwrap();
    let first = opened.read_region::<u8>(&region(&[0, 0, 0], &[64, 64, 8])).unwrap();
    assert_eq!(first, data[..64 * 64 * 8]);
    let error = opened.read_region::<u8>(&region(&[0, 0, 60], &[1, 1, 61])).unwrap_err().to_string();
    assert!(error.contains("truncated"), "{error}");
}

#[test]
fn detached_headers_and_skips_are_read() {
    let data = Temporary::new(b"a line\nanother\nxxabcdef");
    let name = data.0.file_name().unwrap().to_str().unwrap();
    let head = format!("NRRD0004\ntype: uchar\ndimension: 2\nsizes: 3 2\nencoding: raw\ndata file: {name}\n");
    let read = |header: String| {
        let temporary = Temporary::new(header.as_bytes());
        volume::open(&temporary.0).and_then(|file| file.read_region::<u8>(&region(&[0, 0], &[3, 2])))
    };
    assert_eq!(read(format!("{head}line skip: 2\nbyte skip: 2\n")).unwrap(), b"abcdef");
    assert_eq!(read(format!("{head}line skip: 2\nbyte skip: 2\n\n")).unwrap(), b"abcdef");
    assert_eq!(read(format!("{head}byte skip: -1\n\n")).unwrap(), b"abcdef");
    assert_eq!(read(format!("{head}line skip: 2")).unwrap(), b"xxabcd");
    let short = read(format!("{head}line skip: 2\nbyte skip: 3")).unwrap_err().to_string();
    assert!(short.contains(name) && short.contains("after 5 of 6"), "{short}");
    let lines = read(format!("{head}line skip: 9000000000000000000")).unwrap_err().to_string();
    assert!(lines.contains("after 3 of 9000000000000000000 lines"), "{lines}");
    assert!(read(head.replace(name, "no-such-file")).unwrap_err().to_string().contains("no-such-file: cannot open"));
    // Attached, with bytes to skip inside of the compressed stream.
    let mut attached = b"NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: gzip\nbyte skip: 4\n\n".to_vec();
    attached.extend(gzip(b"skipabc"));
    let temporary = Temporary::new(&attached);
    let opened = volume::open(&temporary.0).unwrap();
    assert_eq!(opened.read_region::<u8>(&region(&[1], &[3])).unwrap(), b"bc");
}

/// Slices and slabs in separate files, by list and by pattern, each with its own bytes to skip.
#[test]
fn data_in_several_files_is_read() {
    let folder = Folder::new();
    let data = values(5 * 4 * 6, |i| i as u16);
    let head = "NRRD0004\ntype: uint16\nendian: big\ndimension: 3\nsizes: 5 4 6\nencoding: raw\nbyte skip: 3\n";
    for (slices, pattern) in
        [(1, "s%d.raw 10 0 -2"), (3, "s%02d.raw 7 8 1 3"), (2, "s%4u.raw 1 5 2 3"), (6, "s%d.raw 0 0 1")]
    {
        let words: Vec<&str> = pattern.split(' ').collect();
        let number = |word: usize| words[word].parse::<i32>().unwrap();
        let mut names = Vec::new();
        for (file, slab) in data.chunks(20 * slices).enumerate() {
            let number = number(1) + file as i32 * number(3);
            names.push(match words[0] {
                "s%02d.raw" => format!("s{number:02}.raw"),
                "s%4u.raw" => format!("s{number:4}.raw"),
                _ => format!("s{number}.raw"),
            });
            folder.file(&names[file], &[b"abc".to_vec(), bytes(slab, true)].concat());
        }
        let numbered = folder.file("numbered.nhdr", format!("{head}data file: {pattern}\n\n").as_bytes());
        holds(&volume::open(numbered).unwrap(), &[5, 4, 6], 1, &data);
        let list = format!("{head}data file: LIST 3\n{}\n", names.join("\r\n"));
        holds(&volume::open(folder.file("list.nhdr", list.as_bytes())).unwrap(), &[5, 4, 6], 1, &data);
        let last = names.last().unwrap();
        let short = [b"abc".to_vec(), bytes(&data[..20 * slices - 1], true)].concat();
        folder.file(last, &short);
        let error = volume::open(folder.0.join("list.nhdr")).unwrap_err().to_string();
        assert!(error.contains(last) && error.contains("truncated"), "{error}");
        std::fs::remove_file(folder.0.join(last)).unwrap();
        let error = volume::open(folder.0.join("list.nhdr")).unwrap_err().to_string();
        assert!(error.contains(last) && error.contains("cannot open"), "{error}");
    }
}

#[test]
fn components_text_and_origins_are_read() {
    let folder = Folder::new();
    let data = values(3 * 4 * 2 * 2, |i| i as i16);
    let head = "NRRD0005\ntype: short\ndimension: 4\nsizes: 3 4 2 2\n";
    let kinds = "kinds: RGB-color domain domain domain\nspacings: nan 0.5 2 3\n";
    let directions = "space: left-posterior-superior\nspace directions: none (0.3,0.4,0) (0,-2,0) (0,0,3)\nspace origin: (-1,2.5,7)\n";
    for (more, origin) in [(kinds, None), (directions, Some(&[-1.0, 2.5, 7.0][..]))] {
        let mut raw = format!("{head}{more}endian: little\nencoding: raw\n\n").into_bytes();
        raw.extend(bytes(&data, false));
        let text: Vec<String> = data.iter().map(ToString::to_string).collect();
        let text = format!("{head}{more}encoding: text\n\n{}\n", text.join(" \n"));
        for content in [raw, text.into_bytes()] {
            let file = volume::open(folder.file("c.nrrd", &content)).unwrap();
            holds(&file, &[4, 2, 2], 3, &data);
            assert_eq!((file.spacing(), file.origin()), (&[0.5, 2.0, 3.0][..], origin));
        }
    }
    let error_of = |text: &str| volume::open(folder.file("c.nrrd", text.as_bytes())).unwrap_err().to_string();
    let error = error_of(&format!("{head}encoding: text\n\n1 2 3"));
    assert!(error.contains("byte 41: 4 axes; 1 to 3 axes of voxels are read"), "{error}");
    let text = |numbers: &str| {
        let head = "NRRD0005\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: ascii\n\n";
        let file = volume::open(folder.file("c.nrrd", format!("{head}{numbers}").as_bytes()));
        file.and_then(|file| file.read_region::<u8>(&region(&[0], &[3]))).map_err(|error| error.to_string())
    };
    assert_eq!(text("7\t8\n 255"), Ok(vec![7, 8, 255]));
    assert_eq!(text("7 8 9 10"), Ok(vec![7, 8, 9]));
    for (numbers, wanted) in [
        ("7 8 256", "\"256\" is not a number of type u8"),
        ("7 -8 9", "\"-8\" is not a number"),
        ("7 8    ", "data end after 2 of 3 bytes"),
        ("7 8", "3 bytes of text cannot hold the 3 numbers"),
        (&format!("7 8 {}", "9".repeat(65)), "more than 64 characters"),
    ] {
        let error = text(numbers).unwrap_err();
        assert!(error.contains(wanted) && error.contains("c.nrrd, byte "), "{numbers}: {error}");
    }
}

/// With a byte skip of -1, the voxels are the end of a stream, after any other bytes such as the
/// header of another format.
#[test]
fn end_of_a_gzip_stream_is_read() {
    let folder = Folder::new();
    let data = values(60, |i| i as i16);
    let head = "NRRD0004\ntype: int16\ndimension: 3\nsizes: 5 4 3\nendian: big\nencoding: gzip\nbyte skip: -1\n";
    let header = folder.file("c.nhdr", format!("{head}data file: c.nii.gz\n").as_bytes());
    let raw = bytes(&data, true);
    for before in [0, 352, 100_000] {
        let (one, other) = (vec![7; before], vec![9; before]);
        folder.file("c.nii.gz", &[gzip(&one), gzip(&[&other, &raw[..50]].concat()), gzip(&raw[50..])].concat());
        holds(&volume::open(&header).unwrap(), &[5, 4, 3], 1, &data);
    }
    // The limit of 16 MiB before the voxels holds for every way to skip bytes.
    let zeros = gzip(&vec![0; 1 << 20]);
    folder.file("c.nii.gz", &[zeros.repeat(16), gzip(&raw)].concat());
    holds(&volume::open(&header).unwrap(), &[5, 4, 3], 1, &data);
    // Data beyond the limit is not decompressed.
    folder.file("c.nii.gz", &[&zeros.repeat(17)[..], b"no gzip"].concat());
    let skip = format!("{}data file: c.nii.gz\n", head.replace("skip: -1", "skip: 16777217"));
    for header in [&header, &folder.file("d.nhdr", skip.as_bytes())] {
        let error = failure(volume::open(header)).unwrap();
        assert!(error.contains("more than 16777216 bytes before the voxels"), "{error}");
    }
    folder.file("c.nii.gz", &gzip(&raw[1..]));
    let error = failure(volume::open(&header)).unwrap();
    assert!(error.contains("the data end after 119 of 120 bytes"), "{error}");
    let whole = gzip(&raw);
    folder.file("c.nii.gz", &whole[..whole.len() - 9]);
    assert!(failure(volume::open(&header)).unwrap().contains("c.nii.gz, byte "));
    let text = folder.file("t.nrrd", format!("{}\n1 2", head.replace("gzip", "text")).as_bytes());
    assert!(failure(volume::open(text)).unwrap().contains("byte skip -1 goes with encoding raw or gzip"));
}

#[test]
fn left_handed_spaces_become_right_handed() {
    let folder = Folder::new();
    let open = |space: &str| {
        let head = format!("NRRD0004\ntype: uint8\ndimension: 2\nspace: {space}\nsizes: 2 1\nencoding: raw\n");
        let text = format!("{head}space directions: (2,1) (0,3)\nspace origin: (4,5)\n\nab");
        volume::open(folder.file("c.nrrd", text.as_bytes())).unwrap()
    };
    for right in ["left-posterior-superior", "RAS", "3D-right-handed", "scanner-xyz"] {
        assert_eq!(open(right).directions().unwrap(), [vec![2.0, 1.0], vec![0.0, 3.0]]);
        assert_eq!(open(right).origin().unwrap(), [4.0, 5.0]);
    }
    for left in ["left-anterior-superior", "LAS", "LAST", "left-anterior-superior-time", "3D-left-handed"] {
        assert_eq!(open(left).directions().unwrap(), [vec![-2.0, 1.0], vec![0.0, 3.0]]);
        assert_eq!(open(left).origin().unwrap(), [-4.0, 5.0]);
    }
}

#[test]
fn scans_are_read() {
    let scans = [
        ("engine", ScalarKind::U8, [256, 256, 128]),
        ("bonsai", ScalarKind::U8, [256, 256, 256]),
        ("seg3d_mr", ScalarKind::U8, [160, 232, 160]),
        ("stroke_t1", ScalarKind::U8, [124, 160, 140]),
        ("tooth", ScalarKind::U16, [103, 94, 161]),
    ];
    for (name, kind, shape) in scans {
        let path = format!("{}/../../../shared/data/{name}.nrrd", env!("CARGO_MANIFEST_DIR"));
        if !Path::new(&path).exists() {
            continue;
        }
        let opened = volume::open(&path).unwrap();
        assert_eq!((opened.kind(), opened.shape()), (kind, Index::from(shape)), "{name}");
        let all = opened.read_region_f32(&Region::whole(opened.shape())).unwrap();
        let (start, end) = ([17, 30, 55], [90, 31, 60]);
        let part = opened.read_region_f32(&region(&start, &end)).unwrap();
        let sizes = shape.map(|n| n as usize);
        assert_eq!(part, expected(&sizes, &all, &start, &end), "{name}");
        assert!(all.iter().any(|&v| v > 100.0));
    }
}
