//! Files without a header: every type, byte order, offset and number of components; invalid
//! layouts.

use zippy_io::volume::{self, Endian, FileScalar, RawLayout, ScalarKind, VolumeFile};

use super::common::nrrd::{gzip, values};
use super::common::volumes::{Folder, bytes, failure, holds};

fn all_layouts<T: FileScalar + PartialEq + std::fmt::Debug>(make: impl Fn(u64) -> T) {
    let folder = Folder::new();
    for (sizes, components) in [(vec![7], 1), (vec![4, 5], 3), (vec![5, 3, 4], 1), (vec![3, 4, 2], 4)] {
        let data = values(sizes.iter().product::<usize>() * components, &make);
        for variant in 0..8 {
            let (big, gz, offset) = (variant & 1 > 0, variant & 2 > 0, [0, 13][variant >> 2]);
            let mut content = vec![0xA5; offset];
            content.extend(bytes(&data, big));
            let path = folder.file("volume.raw", &if gz { gzip(&content) } else { content });
            let layout = RawLayout {
                components: components as i64,
                endian: if big { Endian::Big } else { Endian::Little },
                offset: offset as u64,
                spacing: vec![0.25; sizes.len()],
                gzip: gz,
                ..RawLayout::new(sizes.iter().map(|&n| n as i64).collect::<Vec<_>>(), T::KIND)
            };
            let file = VolumeFile::raw(&path, layout).unwrap();
            assert_eq!((file.spacing(), file.origin(), file.format()), (&vec![0.25; sizes.len()][..], None, "raw"));
            holds(&file, &sizes, components, &data);
        }
    }
}

#[test]
fn every_type_and_layout_is_read() {
    all_layouts::<u8>(|i| i as u8);
    all_layouts::<i8>(|i| i as i8);
    all_layouts::<u16>(|i| i as u16);
    all_layouts::<i16>(|i| i as i16);
    all_layouts::<u32>(|i| i as u32);
    all_layouts::<i32>(|i| i as i32);
    all_layouts::<u64>(|i| i);
    all_layouts::<i64>(|i| i as i64);
    all_layouts::<f32>(|i| f32::from_bits(i as u32));
    all_layouts::<f64>(f64::from_bits);
}

#[test]
fn layouts_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let path = folder.file("v.raw", &[7; 24]);
    let fits = RawLayout::new([4, 3, 2], ScalarKind::U8);
    assert_eq!(VolumeFile::raw(&path, fits.clone()).unwrap().spacing(), [1.0; 3]);
    let with = |change: &dyn Fn(&mut RawLayout)| {
        let mut layout = fits.clone();
        change(&mut layout);
        let error = failure(VolumeFile::raw(&path, layout)).unwrap();
        assert!(error.starts_with(path.to_str().unwrap()), "{error}");
        error
    };
    type Change = fn(&mut RawLayout);
    let cases: [(Change, &str); 14] = [
        (|l| l.shape = vec![], "0 axes"),
        (|l| l.shape = vec![2, 2, 2, 3], "4 axes"),
        (|l| l.shape[1] = 0, "a size of 0"),
        (|l| l.shape[1] = -3, "a size of -3"),
        (|l| l.shape = vec![i64::MAX, 2, 1], "more bytes than fit 63 bits"),
        (
            |l| l.shape = vec![1 << 40, 1 << 20, 1],
            "1099511627776x1048576x1 voxels of u8 need a file of 1152921504606846976 bytes; it has 24",
        ),
        (|l| l.components = 0, "0 components"),
        (|l| l.components = 1 << 40, "1099511627776 components"),
        (|l| l.kind = ScalarKind::U16, "4x3x2 voxels of u16 need a file of 48 bytes; it has 24"),
        (|l| l.shape[2] = 1, "4x3x1 voxels of u8 need a file of 12 bytes; it has 24"),
        (|l| l.offset = 1, "of u8 after 1 bytes need a file of 25 bytes; it has 24"),
        (|l| l.offset = u64::MAX, "need a file of 18446744073709551615 bytes; it has 24"),
        (|l| l.spacing = vec![1.0, f64::NAN, 1.0], "a spacing of NaN on axis 1"),
        (|l| l.spacing = vec![1.0], "1 spacings were given for 3 axes"),
    ];
    for (change, wanted) in cases {
        let error = with(&change);
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    assert!(with(&|l| l.gzip = true).contains("corrupt"));
    let error = failure(volume::open(&path)).unwrap();
    assert!(error.contains("byte 0: not a volume of a known format") && error.contains("layout"), "{error}");
    assert!(failure(VolumeFile::raw(&folder.0, fits.clone())).unwrap().contains("not a regular file"));
    assert!(failure(VolumeFile::raw(folder.0.join("none"), fits)).unwrap().contains("cannot open"));
}

#[test]
fn command_line_words_are_parsed() {
    assert_eq!("u16".parse(), Ok(ScalarKind::U16));
    assert_eq!("f64".parse(), Ok(ScalarKind::F64));
    assert_eq!("big".parse(), Ok(Endian::Big));
    for (name, kind) in [
        ("float", ScalarKind::F32),
        ("Float32", ScalarKind::F32),
        ("MET_FLOAT", ScalarKind::F32),
        ("double", ScalarKind::F64),
        ("half", ScalarKind::F16),
        ("float16", ScalarKind::F16),
        ("uint16", ScalarKind::U16),
        ("uint16_t", ScalarKind::U16),
        ("unsigned short", ScalarKind::U16),
        ("MET_USHORT", ScalarKind::U16),
        ("UINT16", ScalarKind::U16),
        ("short", ScalarKind::I16),
        ("unsigned char", ScalarKind::U8),
        ("uchar", ScalarKind::U8),
        ("signed char", ScalarKind::I8),
        ("int", ScalarKind::I32),
        ("unsigned-int", ScalarKind::U32),
        ("unsigned long long", ScalarKind::U64),
        ("int64", ScalarKind::I64),
    ] {
        assert_eq!(name.parse(), Ok(kind), "{name}");
    }
    assert!("words".parse::<ScalarKind>().unwrap_err().contains("none of u8, i8, u16"));
    assert!("long".parse::<ScalarKind>().unwrap_err().contains("give int32 or int64"));
    assert!("middle".parse::<Endian>().unwrap_err().contains("neither little nor big"));
}
