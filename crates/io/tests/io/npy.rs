//! NumPy arrays, written from the format's description.

use zippy_io::volume::{self, FileScalar, NumpyAxes, OpenOptions, open_with};

use super::common::nrrd::values;
use super::common::volumes::{Folder, bytes, failure, holds};

fn npy(version: u8, descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    with_header(version, &header, data)
}

fn with_header(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let width = if version == 1 { 2 } else { 4 };
    let mut header = header.to_string();
    while !(6 + 2 + width + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    out.extend(&(header.len() as u32).to_le_bytes()[..width]);
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

/// Reorders the numbers of an array of this shape (NumPy's) from C order to Fortran order.
fn in_fortran<T: Copy>(shape: &[usize], data: &[T]) -> Vec<T> {
    let mut strides = vec![1; shape.len()];
    (1..shape.len()).rev().for_each(|axis| strides[axis - 1] = strides[axis] * shape[axis]);
    let number = |mut place: usize| {
        shape.iter().zip(&strides).fold(0, |number, (size, stride)| {
            let at = place % size;
            place /= size;
            number + at * stride
        })
    };
    (0..data.len()).map(|place| data[number(place)]).collect()
}

/// Numbers of the volume for a NumPy array with indices xyz: NumPy's first axis becomes the
/// fastest; a last axis of components stays.
fn by_first_axis<T: Copy>(shape: &[usize], components: usize, data: &[T]) -> Vec<T> {
    let voxels: Vec<usize> = (0..data.len() / components).collect();
    in_fortran(shape, &voxels).into_iter().flat_map(|voxel| data[voxel * components..][..components].to_vec()).collect()
}

fn both_orders<T: FileScalar + PartialEq + std::fmt::Debug>(name: &str, make: impl Fn(u64) -> T) {
    let folder = Folder::new();
    let data = values(5 * 4 * 3, make);
    for variant in 0..12 {
        let (big, fortran, version) = (variant & 1 > 0, variant & 2 > 0, 1 + (variant >> 2) as u8);
        let order = if size_of::<T>() == 1 { '|' } else { ['<', '>'][usize::from(big)] };
        let descr = format!("'{order}{name}'");
        let write = |shape: &[usize]| {
            let stored = if fortran { in_fortran(shape, &data) } else { data.clone() };
            let said: String = shape.iter().map(|size| format!("{size},")).collect();
            folder.file("a.npy", &npy(version, &descr, fortran, &format!("({said})"), &bytes(&stored, big)))
        };
        let xyz = |components| OpenOptions { components, axes: NumpyAxes::Xyz, ..OpenOptions::default() };
        let path = write(&[3, 4, 5]);
        let file = volume::open(&path).unwrap();
        assert_eq!((file.spacing(), file.format()), (&[1.0; 3][..], "NumPy"));
        holds(&file, &[5, 4, 3], 1, &data);
        let turned = by_first_axis(&[3, 4, 5], 1, &data);
        holds(&open_with(&path, &xyz(false)).unwrap(), &[3, 4, 5], 1, &turned);
        let path = write(&[5, 12]);
        holds(&volume::open(&path).unwrap(), &[12, 5], 1, &data);
        holds(&open_with(&path, &xyz(false)).unwrap(), &[5, 12], 1, &by_first_axis(&[5, 12], 1, &data));
        let path = write(&[60]);
        holds(&volume::open(&path).unwrap(), &[60], 1, &data);
        holds(&open_with(&path, &xyz(false)).unwrap(), &[60], 1, &data);
        let path = write(&[2, 3, 5, 2]);
        holds(&volume::open(&path).unwrap(), &[5, 3, 2], 2, &data);
        let turned = by_first_axis(&[2, 3, 5], 2, &data);
        holds(&open_with(&path, &xyz(false)).unwrap(), &[2, 3, 5], 2, &turned);
        let path = write(&[3, 4, 5, 1]);
        holds(&volume::open(&path).unwrap(), &[5, 4, 3], 1, &data);
        holds(&open_with(&path, &xyz(false)).unwrap(), &[3, 4, 5], 1, &by_first_axis(&[3, 4, 5], 1, &data));
        let components = OpenOptions { components: true, ..OpenOptions::default() };
        let path = write(&[3, 5, 4]);
        holds(&open_with(&path, &components).unwrap(), &[5, 3], 4, &data);
        holds(&open_with(&path, &xyz(true)).unwrap(), &[3, 5], 4, &by_first_axis(&[3, 5], 4, &data));
    }
}

#[test]
fn every_type_order_and_version_is_read() {
    both_orders::<u8>("u1", |i| i as u8);
    both_orders::<i8>("i1", |i| i as i8);
    both_orders::<u16>("u2", |i| i as u16);
    both_orders::<i16>("i2", |i| i as i16);
    both_orders::<u32>("u4", |i| i as u32);
    both_orders::<i32>("i4", |i| i as i32);
    both_orders::<u64>("u8", |i| i);
    both_orders::<i64>("i8", |i| i as i64);
    both_orders::<half::f16>("f2", |i| half::f16::from_bits(i as u16));
    both_orders::<f32>("f4", |i| f32::from_bits(i as u32));
    both_orders::<f64>("f8", f64::from_bits);
}

/// As `numpy.load` reads it, with a note.
#[test]
fn bytes_after_the_array_are_left_out_with_a_note() {
    let folder = Folder::new();
    let data = bytes(&[1_u16, 2, 3, 4, 5, 6], false);
    for rest in [&b"\n"[..], &[7; 100]] {
        let content = npy(1, "'<u2'", false, "(1, 2, 3)", &[&data[..], rest].concat());
        let file = volume::open(folder.file("a.npy", &content)).unwrap();
        holds(&file, &[3, 2, 1], 1, &[1_u16, 2, 3, 4, 5, 6]);
        let [note] = &file.notes()[..] else { panic!("{:?}", file.notes()) };
        assert!(note.starts_with(&format!("{} bytes follow the data", rest.len())), "{note}");
    }
}

/// Bytes that `numpy.save` writes for `numpy.arange(6, dtype='>i2').reshape(2, 3)`.
#[test]
fn file_of_numpy_is_read() {
    let mut file = b"\x93NUMPY\x01\x00v\x00{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
    file.resize(127, b' ');
    file.extend(b"\n\0\0\0\x01\0\x02\0\x03\0\x04\0\x05");
    let folder = Folder::new();
    holds(&volume::open(folder.file("a.npy", &file)).unwrap(), &[3, 2], 1, &[0_i16, 1, 2, 3, 4, 5]);
    let spelt = b"{\"shape\":(3L,2),'fortran_order':True,\"descr\":'|b1'}\n";
    let mut file = b"\x93NUMPY\x02\x00".to_vec();
    file.extend((spelt.len() as u32).to_le_bytes());
    file.extend(spelt);
    file.extend([1, 0, 0, 1, 1, 0]);
    holds(&volume::open(folder.file("a.npy", &file)).unwrap(), &[2, 3], 1, &[1_u8, 1, 0, 1, 0, 0]);
}

#[test]
fn errors_name_the_defect_and_the_byte() {
    let folder = Folder::new();
    let error_of = |content: &[u8]| {
        let path = folder.file("a.npy", content);
        let error = failure(volume::open(&path)).expect("an error");
        assert!(error.starts_with(path.to_str().unwrap()) && error.contains(", byte "), "{error}");
        error
    };
    let plain = |descr: &str, shape: &str| npy(1, descr, false, shape, &[0; 24]);
    for (descr, shape, wanted) in [
        ("'<c8'", "(3,)", "convert the array"),
        ("'|O'", "(3,)", "convert the array"),
        ("'|S4'", "(6,)", "convert the array"),
        ("'<M8[ns]'", "(3,)", "convert the array"),
        ("[('x', '<f4'), ('y', '<f4')]", "(3,)", "records are not read"),
        ("'|u2'", "(12,)", "unknown byte order"),
        ("''", "(24,)", "convert the array"),
        ("'é2'", "(24,)", "convert the array"),
        ("3", "(24,)", "the header should have"),
        ("'<u2'", "()", "0 axes"),
        ("'<u2'", "(2, 3, 0)", "a size of 0"),
        ("'<u2'", "(2, -6)", "a size of -6"),
        ("'<u2'", "(1, 1, 3, 2, 2)", "5 axes"),
        ("'|u1'", "(1, 1, 1, 24)", "24 entries along the last axis"),
        ("'<u2'", "(9223372036854775807, 2)", "more bytes than fit 63 bits"),
        ("'<u2'", "(9223372036854775808,)", "an integer of 64 bits"),
        ("'<u2'", "(2; 6)", "the header should have ')'"),
        ("'<u2'", "12", "the header should have"),
        ("'<u2'", "True", "shape must be a tuple"),
        ("'<u2'", "(4294967296, 1073741824)", "after 24 of 9223372036854775808 bytes"),
        ("'<u2'", "(13,)", "after 24 of 26 bytes"),
    ] {
        let error = error_of(&plain(descr, shape));
        let wanted = wanted.replace("after 24 of 9223372036854775808 bytes", "more bytes than fit 63 bits");
        assert!(error.contains(&wanted), "{descr} {shape}: {error}");
    }
    for (header, wanted) in [
        ("{'descr': '<u2', 'fortran_order': False}", "no entry \"shape\""),
        ("{'fortran_order': False, 'shape': (12,)}", "no entry \"descr\""),
        ("{'descr': '<u2', 'fortran_order': 0, 'shape': (12,)}", "the header should have"),
        ("{'descr': '<u2', 'fortran_order': '', 'shape': (12,)}", "must be True or False"),
        ("{'descr': '<u2', 'descr': '<u2', 'fortran_order': False, 'shape': (12,)}", "\"descr\" is given twice"),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (12,)} x", "should have nothing here"),
        ("{'descr': '<u2", "should have '\\''"),
        ("{'descr': [('a', ']'", "the end of a list"),
        ("", "should have '{'"),
    ] {
        let error = error_of(&with_header(1, header, &[0; 24]));
        assert!(error.contains(wanted), "{header}: {error}");
    }
    assert!(error_of(&npy(4, "'<u2'", false, "(12,)", &[0; 24])).contains("version 4"));
    // The byte is that of the value.
    assert!(error_of(&plain("'<c4'", "(6,)")).contains(", byte 20: "), "{}", error_of(&plain("'<c4'", "(6,)")));
    let whole = plain("'<u2'", "(12,)");
    for cut in 6..whole.len() {
        error_of(&whole[..cut]);
    }
    // A declared header of 4 GiB, in files of a few bytes or two MiB.
    let mut absurd = b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec();
    assert!(error_of(&absurd).contains("ends inside the header"));
    absurd.resize(2 << 20, b' ');
    assert!(error_of(&absurd).contains("a header of 4294967295 bytes"));
}
