//! NIfTI-1 and NIfTI-2 files, written from the two header structs of the format.

use zippy_io::volume::{self, FileScalar};

use super::common::nrrd::{gzip, values};
use super::common::volumes::{Folder, bytes, failure, holds};

/// NIfTI header with its fields in the order of the structs.
struct Header {
    big: bool,
    second: bool,
    pair: bool,
    dim: [i64; 8],
    datatype: i16,
    bitpix: i16,
    pixdim: [f64; 8],
    offset: i64,
    scale: (f64, f64),
    /// Codes of the two transforms, the quaternion's offset, last column of the matrix.
    forms: (i32, i32, [f64; 3], [f64; 3]),
}

struct Writer(Vec<u8>, bool);

impl Writer {
    fn put<T: bytemuck::Pod>(&mut self, value: T) {
        self.0.extend(bytes(&[value], self.1));
    }

    fn float(&mut self, value: f64, wide: bool) {
        if wide { self.put(value) } else { self.put(value as f32) }
    }

    fn blank(&mut self, count: usize) {
        self.0.resize(self.0.len() + count, 0);
    }

    fn forms(&mut self, header: &Header, wide: bool) {
        let (_, _, quaternion, matrix) = header.forms;
        (0..3).for_each(|_| self.float(0.0, wide));
        quaternion.iter().for_each(|&value| self.float(value, wide));
        for (row, column) in matrix.into_iter().enumerate() {
            let unit = [0, 1, 2].map(|axis| if axis == row { 1.0 } else { 0.0 });
            unit.iter().chain([&column]).for_each(|&value| self.float(value, wide));
        }
    }
}

impl Header {
    fn new(sizes: &[usize], datatype: i16, bitpix: i16) -> Self {
        let mut dim = [1; 8];
        dim[0] = sizes.len() as i64;
        sizes.iter().zip(&mut dim[1..]).for_each(|(&size, dim)| *dim = size as i64);
        let pixdim = [-1.0, 0.5, 1.25, 70.0, 2.0, 0.0, 0.0, 0.0];
        let forms = (0, 0, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
        let scale = (0.0, 0.0);
        Self { big: false, second: false, pair: false, dim, datatype, bitpix, pixdim, offset: 0, scale, forms }
    }

    fn write(&self) -> Vec<u8> {
        let mut out = Writer(Vec::new(), self.big);
        if self.second {
            self.write_second(&mut out)
        } else {
            self.write_first(&mut out)
        }
        out.0
    }

    fn write_first(&self, out: &mut Writer) {
        out.put(348_i32);
        out.blank(10 + 18 + 4 + 2 + 1 + 1); // data_type, db_name, extents, session_error, regular, dim_info
        self.dim.iter().for_each(|&size| out.put(size as i16));
        out.blank(3 * 4 + 2); // intent_p1 to intent_p3, intent_code
        out.put(self.datatype);
        out.put(self.bitpix);
        out.blank(2); // slice_start
        self.pixdim.iter().for_each(|&distance| out.put(distance as f32));
        out.put(self.offset as f32);
        out.put(self.scale.0 as f32);
        out.put(self.scale.1 as f32);
        out.blank(2 + 1 + 1); // slice_end, slice_code, xyzt_units
        out.blank(4 * 4 + 2 * 4); // cal_max, cal_min, slice_duration, toffset, glmax, glmin
        out.blank(80 + 24); // descrip, aux_file
        out.put(self.forms.0 as i16);
        out.put(self.forms.1 as i16);
        out.forms(self, false);
        out.blank(16); // intent_name
        out.0.extend(if self.pair { b"ni1\0" } else { b"n+1\0" });
        assert_eq!(out.0.len(), 348);
    }

    fn write_second(&self, out: &mut Writer) {
        out.put(540_i32);
        out.0.extend(if self.pair { b"ni2\0\r\n\x1a\n" } else { b"n+2\0\r\n\x1a\n" });
        out.put(self.datatype);
        out.put(self.bitpix);
        self.dim.iter().for_each(|&size| out.put(size));
        out.blank(3 * 8); // intent_p1 to intent_p3
        self.pixdim.iter().for_each(|&distance| out.put(distance));
        out.put(self.offset);
        out.put(self.scale.0);
        out.put(self.scale.1);
        out.blank(4 * 8 + 2 * 8); // cal_max, cal_min, slice_duration, toffset, slice_start, slice_end
        out.blank(80 + 24); // descrip, aux_file
        out.put(self.forms.0);
        out.put(self.forms.1);
        out.forms(self, true);
        out.blank(4 + 4 + 4 + 16 + 1 + 15); // slice_code, xyzt_units, intent_code, intent_name, dim_info, unused
        assert_eq!(out.0.len(), 540);
    }

    /// Header, no extension, `gap` bytes, voxels.
    fn single(mut self, data: &[u8], gap: usize) -> Vec<u8> {
        self.offset = if self.second { 544 } else { 352 } + gap as i64;
        [self.write(), vec![0; 4], vec![0xEE; gap], data.to_vec()].concat()
    }
}

fn every_storage<T: FileScalar + PartialEq + std::fmt::Debug>(
    datatype: i16,
    components: usize,
    make: impl Fn(u64) -> T,
) {
    let folder = Folder::new();
    for sizes in [vec![9], vec![4, 5], vec![5, 4, 3]] {
        let data = values(sizes.iter().product::<usize>() * components, &make);
        for variant in 0..4 {
            let (big, second) = (variant & 1 > 0, variant & 2 > 0);
            let header = |pair| {
                let plain = Header::new(&sizes, datatype, (size_of::<T>() * components * 8) as i16);
                Header { big, second, pair, ..plain }
            };
            let check = |path| {
                let file = volume::open(path).unwrap();
                assert_eq!(file.spacing(), &[0.5, 1.25, 70.0][..sizes.len()]);
                assert_eq!((file.origin(), file.rescale(), file.format()), (None, None, "NIfTI"));
                holds(&file, &sizes, components, &data);
            };
            let raw = bytes(&data, big);
            let single = header(false).single(&raw, 16);
            check(folder.file("a.nii", &single));
            check(folder.file("a.nii.gz", &gzip(&single)));
            let (hdr, img) = (header(true).write(), [b"gap".as_slice(), &raw].concat());
            let skipping = Header { offset: 3, ..header(true) }.write();
            folder.file("p.img", &img);
            check(folder.file("p.hdr", &skipping));
            check(folder.0.join("p.img"));
            folder.file("q.img.gz", &gzip(&raw));
            check(folder.file("q.hdr", &hdr));
            check(folder.0.join("q.img.gz"));
            folder.file("r.img.gz", &gzip(&img));
            check(folder.file("r.hdr.gz", &gzip(&skipping)));
            check(folder.0.join("r.img.gz"));
        }
    }
}

#[test]
fn every_type_order_version_and_storage_is_read() {
    every_storage::<u8>(2, 1, |i| i as u8);
    every_storage::<i16>(4, 1, |i| i as i16);
    every_storage::<i32>(8, 1, |i| i as i32);
    every_storage::<f32>(16, 1, |i| f32::from_bits(i as u32));
    every_storage::<f64>(64, 1, f64::from_bits);
    every_storage::<u8>(128, 3, |i| i as u8);
    every_storage::<i8>(256, 1, |i| i as i8);
    every_storage::<u16>(512, 1, |i| i as u16);
    every_storage::<u32>(768, 1, |i| i as u32);
    every_storage::<i64>(1024, 1, |i| i as i64);
    every_storage::<u64>(1280, 1, |i| i);
    every_storage::<u8>(2304, 4, |i| i as u8);
}

#[test]
fn scale_and_origin() {
    let folder = Folder::new();
    let open = |header: Header| volume::open(folder.file("a.nii", &header.single(&[7; 24], 0))).unwrap();
    for second in [false, true] {
        let plain = || Header { second, ..Header::new(&[4, 3, 2], 2, 8) };
        assert_eq!(open(Header { scale: (2.5, -1024.0), ..plain() }).rescale(), Some((2.5, -1024.0)));
        for (scale, notes) in [
            ((0.0, 5.0), 0),
            ((1.0, 0.0), 0),
            ((f64::NAN, f64::NAN), 0),
            ((f64::INFINITY, 0.0), 1),
            ((f64::NEG_INFINITY, 7.0), 1),
        ] {
            let file = open(Header { scale, ..plain() });
            assert_eq!((file.rescale(), file.notes().len()), (None, notes), "{scale:?}");
        }
        let (quaternion, matrix) = ([-1.0, 2.5, 3.0], [4.0, 5.0, -6.5]);
        let forms = [
            (1, 1, Some(&matrix[..])),
            (1, 0, Some(&quaternion)),
            (0, 2, Some(&matrix)),
            (0, 0, None),
            (3, -1, Some(&quaternion)),
        ];
        for (qform, sform, origin) in forms {
            assert_eq!(open(Header { forms: (qform, sform, quaternion, matrix), ..plain() }).origin(), origin);
        }
        // A single time step; an axis of one voxel without a distance.
        let mut many = Header { second, ..Header::new(&[4, 6, 1, 1, 1], 2, 8) };
        many.pixdim[3] = 0.0;
        assert_eq!(open(many).spacing(), [0.5, 1.25, 1.0]);
    }
}

#[test]
fn errors_name_the_defect_and_the_byte() {
    let folder = Folder::new();
    let error_of = |content: &[u8]| {
        let path = folder.file("w.nii", content);
        let error = failure(volume::open(&path)).expect("an error");
        assert!(error.starts_with(path.to_str().unwrap()) && error.contains(", byte "), "{error}");
        error
    };
    type Change = fn(&mut Header);
    let cases: [(Change, &str); 14] = [
        (|h| h.dim[0] = 0, "0 axes in dim[0]"),
        (|h| h.dim[0] = 8, "8 axes in dim[0]"),
        (|h| h.dim[2] = 0, "a size of 0"),
        (|h| h.dim[2] = -3, "a size of -3"),
        (|h| (h.dim[0], h.dim[4]) = (4, 2), "dim[4] has 2 time steps"),
        (|h| (h.dim[0], h.dim[5]) = (5, 3), "dim[5] has 3 values"),
        (|h| h.dim[3] = 3, "after 24 of 36 bytes"),
        (|h| h.datatype = 32, "datatype 32"),
        (|h| h.datatype = 1, "datatype 1"),
        (|h| h.datatype = 4, "bitpix 8; datatype 4 has 16 bits"),
        (|h| h.pixdim[3] = f64::NAN, "a spacing of NaN on axis 2"),
        (|h| h.pixdim[3] = f64::INFINITY, "a spacing of inf on axis 2"),
        (|h| h.scale = (2.0, f64::INFINITY), "scl_inter inf"),
        (|h| h.forms = (1, 0, [f64::NAN; 3], [0.0; 3]), "an origin of"),
    ];
    for second in [false, true] {
        for (change, wanted) in &cases {
            let mut header = Header { second, big: second, ..Header::new(&[4, 3, 2], 2, 8) };
            change(&mut header);
            let content = header.single(&[7; 24], 0);
            for content in [content.clone(), gzip(&content)] {
                let error = error_of(&content);
                assert!(error.contains(wanted), "{wanted}: {error}");
            }
        }
        let plain = || Header { second, ..Header::new(&[4, 3, 2], 2, 8) };
        for (offset, wanted) in [(100, "vox_offset 100"), (-352, "vox_offset -352"), (1_000_000, "after 0 of 24 bytes")]
        {
            let header = Header { offset, ..plain() }.write();
            let error = error_of(&[header, vec![7; 28]].concat());
            assert!(error.contains(wanted), "{offset}: {error}");
        }
        let mut no_magic = plain().single(&[7; 24], 0);
        let magic = if second { 4 } else { 344 };
        no_magic[magic..magic + 4].fill(0);
        assert!(error_of(&no_magic).contains(&format!("byte {magic}: no NIfTI magic")));
        let whole = plain().single(&[7; 24], 0);
        (4..whole.len()).for_each(|cut| assert!(error_of(&whole[..cut]).contains("byte ")));
        let packed = gzip(&whole);
        (0..packed.len()).for_each(|cut| drop(error_of(&packed[..cut])));
        let pair = folder.file("pair.txt", &Header { pair: true, ..plain() }.write());
        assert!(failure(volume::open(pair)).unwrap().contains("must end in .hdr"));
        let alone = folder.file("alone.hdr", &Header { pair: true, ..plain() }.write());
        assert!(failure(volume::open(alone)).unwrap().contains("alone.img: cannot open"));
    }
    let huge = Header { second: true, ..Header::new(&[1 << 40, 1 << 40, 2], 2, 8) };
    assert!(error_of(&huge.single(&[7; 24], 0)).contains("more bytes than fit 63 bits"));
    let bomb = Header { second: true, ..Header::new(&[1 << 20, 1 << 20, 4], 2, 8) };
    assert!(error_of(&gzip(&bomb.single(&[0; 5000], 0))).contains("cannot hold the 4398046511104 bytes"));
    assert!(error_of(&gzip(b"something else")).contains("not a volume of a known format"));
    let odd = Header { offset: 352, ..Header::new(&[4, 3, 2], 2, 8) };
    let mut odd = [odd.write(), vec![7; 28]].concat();
    odd[108..112].copy_from_slice(&352.5_f32.to_le_bytes());
    assert!(error_of(&odd).contains("vox_offset 352.5"), "{}", error_of(&odd));
}

/// A matrix that maps all voxels to a point, a line or a plane, or is not finite.
#[test]
fn singular_matrix_gives_way_to_the_quaternion_or_the_distances() {
    let folder = Folder::new();
    let (quaternion, matrix) = ([-1.0, 2.5, 3.0], [4.0, 5.0, -6.5]);
    let rows: [[[f32; 4]; 3]; 4] = [
        [[0.0; 4]; 3],
        [[1.0, 2.0, 0.0, 4.0], [0.0, 0.0, 3.0, 5.0], [0.0, 0.0, 0.0, 6.0]],
        [[f32::NAN, 0.0, 0.0, 4.0], [0.0, 1.0, 0.0, 5.0], [0.0, 0.0, 1.0, 6.0]],
        [[1.0, 0.0, 0.0, f32::INFINITY], [0.0, 1.0, 0.0, 5.0], [0.0, 0.0, 1.0, 6.0]],
    ];
    for (qform, origin, taken) in [(1, Some(&quaternion[..]), "qform"), (0, None, "the distances of pixdim")] {
        for row in rows {
            let header = Header { forms: (qform, 1, quaternion, matrix), ..Header::new(&[4, 3, 2], 2, 8) };
            let mut content = header.single(&[7; 24], 0);
            for (number, part) in row.as_flattened().iter().enumerate() {
                content[280 + 4 * number..][..4].copy_from_slice(&part.to_le_bytes());
            }
            let file = volume::open(folder.file("a.nii", &content)).unwrap();
            assert_eq!((file.origin(), file.spacing()), (origin, &[0.5, 1.25, 70.0][..]));
            let [note] = &file.notes()[..] else { panic!("{:?}", file.notes()) };
            assert!(note.contains("sform (code 1)") && note.contains(taken), "{note}");
            assert!(file.grid().check().is_ok());
        }
    }
}

/// Files that nibabel and the reference library read, with a note.
#[test]
fn contradictions_and_surplus_are_read_with_a_note() {
    let folder = Folder::new();
    let data = values(24, |i| i as u8);
    type Change = fn(&mut Header);
    let cases: [(Change, &[f64], &[&str]); 8] = [
        (|_| {}, &[0.5, 1.25, 70.0], &[]),
        (|h| h.pixdim[1] = 0.0, &[1.0, 1.25, 70.0], &["pixdim[1] is 0; 1 is taken"]),
        (|h| h.pixdim[2] = -1.5, &[0.5, 1.5, 70.0], &["pixdim[2] is -1.5; 1.5 is taken"]),
        (|h| (h.dim[0], h.dim[4]) = (4, 0), &[0.5, 1.25, 70.0], &["dim[4] is 0; 1 is taken"]),
        (
            |h| (h.dim[0], h.dim[4], h.dim[5]) = (5, 0, 0),
            &[0.5, 1.25, 70.0],
            &["dim[4] is 0; 1 is taken", "dim[5] is 0; 1 is taken"],
        ),
        (
            |h| (h.forms.1, h.pixdim) = (2, [1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0]),
            &[1.0; 3],
            &[
                "the distances of sform, [1.0, 1.0, 1.0], and of pixdim, [1.0, 1.0, 2.0], differ: positions follow sform",
            ],
        ),
        (
            |h| (h.forms, h.pixdim) = ((1, 2, [0.0; 3], [4.0, 5.0, 6.0]), [1.0; 8]),
            &[1.0; 3],
            &["two transforms that differ, sform (code 2) and qform (code 1): positions follow sform"],
        ),
        (|h| (h.forms, h.pixdim) = ((1, 2, [4.0, 5.0, 6.0], [4.0, 5.0, 6.0]), [1.0; 8]), &[1.0; 3], &[]),
    ];
    for second in [false, true] {
        for (change, spacing, notes) in &cases {
            let mut header = Header { second, big: second, ..Header::new(&[4, 3, 2], 2, 8) };
            change(&mut header);
            let content = header.single(&data, 0);
            for name in ["n.nii", "n.nii.gz"] {
                let content = if name == "n.nii" { content.clone() } else { gzip(&content) };
                let file = volume::open(folder.file(name, &content)).unwrap();
                assert_eq!(file.spacing(), *spacing, "{notes:?}");
                let found = file.notes();
                let alike =
                    found.len() == notes.len() && found.iter().zip(*notes).all(|(found, note)| found.contains(note));
                assert!(alike, "{found:?}, {notes:?}");
                holds(&file, &[4, 3, 2], 1, &data);
            }
        }
        let whole = Header { second, ..Header::new(&[4, 3, 2], 2, 8) }.single(&data, 0);
        for (name, content, note) in [
            ("s.nii", [&whole[..], b"\n"].concat(), "1 bytes follow the data"),
            ("s.nii", [&whole[..], &[0; 16]].concat(), "16 bytes follow the data"),
            ("s.nii.gz", [&gzip(&whole)[..], &[0; 5000]].concat(), "5000 zeros follow the gzip data"),
            ("s.nii.gz", [&gzip(&whole)[..], b"x"].concat(), "other bytes follow the gzip data"),
            ("s.nii.gz", [&gzip(&whole)[..], b"\x1f"].concat(), "other bytes follow the gzip data"),
            ("s.nii.gz", [&gzip(&whole)[..], b"\x1fx"].concat(), "other bytes follow the gzip data"),
            ("s.nii.gz", [&gzip(&whole)[..], b"\x1f\x8bno header"].concat(), "other bytes follow the gzip data"),
            ("s.nii.gz", [&gzip(&whole)[..], b"\x1f\x8b"].concat(), "other bytes follow the gzip data"),
            ("s.nii.gz", gzip(&[&whole[..], b"\n"].concat()), "more data follow than the header declares"),
            (
                "s.nii.gz",
                [gzip(&whole[..200]), gzip(&whole[200..]), vec![0; 3]].concat(),
                "3 zeros follow the gzip data",
            ),
        ] {
            let file = volume::open(folder.file(name, &content)).unwrap();
            holds(&file, &[4, 3, 2], 1, &data);
            let notes = file.notes();
            assert!(
                notes.len() == usize::from(!note.is_empty()) && notes.iter().all(|found| found.contains(note)),
                "{notes:?}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn names_of_pairs_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    let data = values(24, |i| i as u8);
    let path = |name: &[u8]| folder.0.join(OsStr::from_bytes(name));
    let write = |name: &[u8], content: &[u8]| std::fs::write(path(name), content).unwrap();
    let header = Header { pair: true, ..Header::new(&[4, 3, 2], 2, 8) }.write();
    write(b"\xff.a.hdr", &header);
    write(b"\xff.a.img", &data);
    write(b"\xfe.hdr.gz", &gzip(&header));
    write(b"\xfe.img", &data);
    for name in [&b"\xff.a.hdr"[..], b"\xff.a.img", b"\xfe.hdr.gz", b"\xfe.img"] {
        holds(&volume::open(path(name)).unwrap(), &[4, 3, 2], 1, &data);
    }
    write(b"\xfd.hdr", &header);
    let error = failure(volume::open(path(b"\xfd.hdr"))).unwrap();
    assert!(error.contains("\u{fffd}.img: cannot open"), "{error}");
}
