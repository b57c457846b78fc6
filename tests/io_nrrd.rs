//! NRRD files: every encoding, type and byte order; every region; everything that can be wrong with them.

use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use zippy::extents::Index;
use zippy::io::nrrd::Header;
use zippy::io::volume::{self, ScalarKind, Voxel};
use zippy::region::Region;

/// A file that goes away with its test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(bytes: &[u8]) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("zippy-nrrd-{}-{number}.nrrd", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Values that encode their position and use all bytes of the type.
fn values<T>(count: usize, make: impl Fn(u64) -> T) -> Vec<T> {
    (0..count as u64).map(|i| make(i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ i)).collect()
}

fn file<T: Voxel>(name: &str, sizes: &[usize], data: &[T], big: bool, gz: bool, ending: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = bytemuck::cast_slice(data).to_vec();
    if big {
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    let sizes_text = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let lines = [
        "NRRD0004".to_string(),
        "# a comment: with a colon".to_string(),
        format!("type: {name}"),
        format!("dimension: {}", sizes.len()),
        "key:=value".to_string(),
        format!("sizes:  {sizes_text} "),
        format!("endian: {}", if big { "big" } else { "little" }),
        format!("Encoding: {}", if gz { "gzip" } else { "raw" }),
        format!("spacings: {}", ["0.5", "2", "nan"][..sizes.len()].join(" ")),
        String::new(),
        String::new(),
    ];
    let mut out = lines.join(ending).into_bytes();
    out.extend(if gz { gzip(&bytes) } else { bytes });
    out
}

fn expected<T: Copy>(sizes: &[usize], data: &[T], start: &[usize], end: &[usize]) -> Vec<T> {
    let at = |values: &[usize], axis: usize, other: usize| values.get(axis).copied().unwrap_or(other);
    let mut out = Vec::new();
    for z in at(start, 2, 0)..at(end, 2, 1) {
        for y in at(start, 1, 0)..at(end, 1, 1) {
            for x in at(start, 0, 0)..at(end, 0, 1) {
                out.push(data[x + at(sizes, 0, 1) * (y + at(sizes, 1, 1) * z)]);
            }
        }
    }
    out
}

fn region(start: &[usize], end: &[usize]) -> Region {
    Region::between(index(start), index(end))
}

fn index(values: &[usize]) -> Index {
    Index::from_fn(values.len(), |axis| values[axis] as i64)
}

fn round_trip<T: Voxel + PartialEq + std::fmt::Debug>(name: &str, make: impl Fn(u64) -> T) {
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
fn every_type_order_encoding_and_region() {
    round_trip::<u8>("unsigned char", |i| i as u8);
    round_trip::<i16>("short int", |i| i as i16);
    round_trip::<u16>("uint16_t", |i| i as u16);
    round_trip::<f32>("float", |i| f32::from_bits(i as u32));
    round_trip::<f64>("double", f64::from_bits);
}

#[test]
fn other_types_are_read_whole() {
    fn whole<T: Voxel + PartialEq + std::fmt::Debug>(name: &str, make: impl Fn(u64) -> T) {
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

#[test]
fn regions_outside_are_refused() {
    let temporary = Temporary::new(&file("uint8", &[4, 3], &[0_u8; 12], false, false, "\n"));
    let opened = volume::open(&temporary.0).unwrap();
    for (start, end) in
        [([0, 0], [5, 3]), ([-1, 0], [4, 3]), ([2, 2], [1, 3]), ([0, 4], [0, 4]), ([0, 0], [i64::MAX, 1])]
    {
        assert!(
            opened.read_region::<u8>(&Region { start: start.into(), end: end.into() }).is_err(),
            "{start:?} {end:?}"
        );
    }
    assert!(opened.read_region::<u8>(&region(&[0], &[4])).is_err());
}

/// Opens and reads everything: the text of the first error.
fn failure(path: &Path) -> Option<String> {
    let opened = match volume::open(path) {
        Ok(opened) => opened,
        Err(error) => return Some(error.to_string()),
    };
    let shape = opened.shape();
    opened.read_region_f32(&Region::whole(shape)).err().map(|error| error.to_string())
}

#[test]
fn every_truncation_is_an_error() {
    let data = values(60, |i| i as u16);
    for gz in [false, true] {
        let whole = file("uint16", &[5, 4, 3], &data, false, gz, "\n");
        for cut in 0..whole.len() {
            let temporary = Temporary::new(&whole[..cut]);
            let error = failure(&temporary.0).unwrap_or_else(|| panic!("cut at {cut} of {}, gzip {gz}", whole.len()));
            assert!(error.contains(temporary.0.to_str().unwrap()) && error.contains("byte "), "{error}");
        }
        assert_eq!(failure(&Temporary::new(&whole).0), None);
        let mut more = whole.clone();
        more.push(7);
        let error = failure(&Temporary::new(&more).0).expect("one byte too many");
        assert!(error.contains("byte "), "{error}");
    }
    // A gzip stream that holds one byte more than declared.
    let mut oversized = b"NRRD0001\ntype: uint8\ndimension: 1\nsizes: 4\nencoding: gz\n\n".to_vec();
    oversized.extend(gzip(&[1, 2, 3, 4, 5]));
    let error = failure(&Temporary::new(&oversized).0).unwrap();
    assert!(error.contains("go on after the 4 bytes"), "{error}");
}

#[test]
fn truncations_name_file_and_byte() {
    let whole = file("uint8", &[6, 2], &[1_u8; 12], false, false, "\n");
    let temporary = Temporary::new(&whole[..whole.len() - 5]);
    let error = failure(&temporary.0).unwrap();
    let wanted = format!(
        "{}, byte {}: the data end after 7 of 12 bytes that the header declares; the file is truncated",
        temporary.0.display(),
        whole.len() - 5
    );
    assert_eq!(error, wanted);
}

#[test]
fn gzip_is_only_read_as_far_as_needed() {
    let data = values(64 * 64 * 64, |i| i as u8);
    let whole = file("uint8", &[64, 64, 64], &data, false, true, "\n");
    // The last half is missing; a rank that needs the first planes only does not notice, the others do.
    let temporary = Temporary::new(&whole[..whole.len() / 2]);
    let opened = volume::open(&temporary.0).unwrap();
    let first = opened.read_region::<u8>(&region(&[0, 0, 0], &[64, 64, 8])).unwrap();
    assert_eq!(first, data[..64 * 64 * 8]);
    let error = opened.read_region::<u8>(&region(&[0, 0, 60], &[1, 1, 61])).unwrap_err().to_string();
    assert!(error.contains("truncated"), "{error}");
}

#[test]
fn detached_headers_and_skips() {
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
    let oversized = read(format!("{head}line skip: 2")).unwrap_err().to_string();
    assert!(oversized.contains("go on after the 6 bytes"), "{oversized}");
    let short = read(format!("{head}line skip: 2\nbyte skip: 3")).unwrap_err().to_string();
    assert!(short.contains(name) && short.contains("after 5 of 6"), "{short}");
    let lines = read(format!("{head}line skip: 9000000000000000000")).unwrap_err().to_string();
    assert!(lines.contains("after 3 of 9000000000000000000 lines"), "{lines}");
    assert!(read(head.replace(name, "no-such-file")).unwrap_err().to_string().contains("no-such-file: cannot open"));
    assert!(read(head.replace(name, "LIST\n")).unwrap_err().to_string().contains("several files"));
    // Attached, with bytes to skip inside the compressed stream.
    let mut attached = b"NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: gzip\nbyte skip: 4\n\n".to_vec();
    attached.extend(gzip(b"skipabc"));
    let temporary = Temporary::new(&attached);
    let opened = volume::open(&temporary.0).unwrap();
    assert_eq!(opened.read_region::<u8>(&region(&[1], &[3])).unwrap(), b"bc");
}

/// What a header with one line changed or added is told.
fn told(change: &str) -> String {
    let field = change.split(':').next().unwrap();
    let mut lines: Vec<String> = ["type: uint16", "dimension: 3", "sizes: 5 4 3", "endian: big", "encoding: raw"]
        .iter()
        .filter(|line| !line.starts_with(field))
        .map(ToString::to_string)
        .collect();
    // Fields per axis must come after the dimension.
    lines.insert(if field == "dimension" { 1 } else { 2 }, change.to_string());
    let text = format!("NRRD0005\n{}\n\n", lines.join("\n"));
    Header::parse(Path::new("x.nrrd"), text.as_bytes(), true).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn wrong_headers_say_what_is_wrong_and_where() {
    let cases = [
        ("type: quaternion", "unknown type"),
        ("type: block", "block"),
        ("type: float32", "unknown type"),
        ("dimension: 0", "dimension 0; it must be 1 to 16"),
        ("dimension: 99999999999999999999", "not an integer of 64 bits"),
        ("dimension: 4", "4 axes; 1 to 3 axes"),
        ("sizes: 5 4", "has 2 values, 3 are needed"),
        ("sizes: 5 4 0", "a size of 0"),
        ("sizes: 5 -4 3", "a size of -4"),
        ("sizes: 3000000000 3000000000 3000000000", "more bytes than fit 63 bits"),
        ("sizes: 9223372036854775807 1 1", "more bytes than fit 63 bits"),
        ("encoding: bzip2", "convert the file to raw or gzip"),
        ("encoding: rot13", "unknown encoding"),
        ("endian: middle", "must be little or big"),
        ("spacings: 1 0 1", "a spacing of 0 on axis 1"),
        ("spacings: 1 inf 1", "a spacing of inf on axis 1"),
        ("spacings: 1 one 1", "\"one\" is not a number"),
        ("space directions: (1,0,0) (0,1,0)", "has 2 values"),
        ("space directions: none (0,1,0) (0,0,1)", "axis 0 has no direction"),
        ("space directions: (1,0,0 (0,1,0) (0,0,1)", "is not a number"),
        ("kinds: RGB-color domain domain", "axis 0 holds components (RGB-color)"),
        ("labels: \"a\" \"b\"", "has 2 values"),
        ("labels: a b c", "outside double quotes"),
        ("units: \"a\" \"b\" \"c", "not closed"),
        ("byte skip: -2", "at least -1"),
        ("line skip: -1", "negative"),
        ("colour: blue", "unknown field \"colour\""),
        ("content:none", "followed by a space"),
        ("nonsense", "neither"),
    ];
    for (change, wanted) in cases {
        let error = told(change);
        assert!(error.starts_with("x.nrrd, byte ") && error.contains(wanted), "{change}: {error}");
    }
    // The byte is that of the value.
    assert!(told("type: block").starts_with("x.nrrd, byte 41: "), "{}", told("type: block"));
    for missing in ["type", "dimension", "sizes", "endian", "encoding"] {
        let text: String = ["type: int16", "dimension: 1", "sizes: 5", "endian: big", "encoding: raw"]
            .iter()
            .filter(|line| !line.starts_with(missing))
            .fold("NRRD0005\n".to_string(), |text, line| text + line + "\n");
        let error = Header::parse(Path::new("x"), (text + "\n").as_bytes(), true).unwrap_err().to_string();
        assert!(
            error.contains(&format!("\"{missing}\"")) || error.contains("before \"dimension\""),
            "{missing}: {error}"
        );
    }
    let twice = "NRRD0001\ntype: int8\ntype: int8\n\n";
    assert!(Header::parse(Path::new("x"), twice.as_bytes(), true).unwrap_err().to_string().contains("given twice"));
    for magic in ["", "NRRD", "NRRD0006\n\n", "NRRD00051\n\n", "nrrd0001\n\n", "P6\n"] {
        let error = Header::parse(Path::new("x"), magic.as_bytes(), true).unwrap_err().to_string();
        assert!(error.contains("not an NRRD file"), "{magic:?}: {error}");
    }
}

#[test]
fn hostile_sizes_allocate_nothing() {
    // 4 EiB declared by a file of a few bytes: both encodings are refused from the length alone.
    for encoding in ["raw", "gzip"] {
        let head =
            format!("NRRD0005\ntype: int8\ndimension: 3\nsizes: 4294967296 1073741824 1\nencoding: {encoding}\n\n");
        let mut bytes = head.into_bytes();
        bytes.extend(gzip(&[0; 1000]));
        let error = failure(&Temporary::new(&bytes).0).unwrap();
        assert!(error.contains("truncated"), "{error}");
    }
    let endless = vec![b'#'; 3 << 20];
    let mut bytes = b"NRRD0005\n".to_vec();
    bytes.extend(endless);
    let error = failure(&Temporary::new(&bytes).0).unwrap();
    assert!(error.contains("no empty line closes the header within 1048576 bytes"), "{error}");
}

#[test]
fn missing_files_are_named() {
    let error = volume::open("no/such/file.nrrd").unwrap_err().to_string();
    assert!(error.starts_with("no/such/file.nrrd: cannot open: "), "{error}");
    assert!(volume::open(std::env::temp_dir()).is_err());
}

#[test]
fn the_scans_are_read() {
    let scans = [
        ("engine", ScalarKind::U8, [256, 256, 128]),
        ("bonsai", ScalarKind::U8, [256, 256, 256]),
        ("seg3d_mr", ScalarKind::U8, [160, 232, 160]),
        ("stroke_t1", ScalarKind::U8, [124, 160, 140]),
        ("tooth", ScalarKind::U16, [103, 94, 161]),
    ];
    for (name, kind, shape) in scans {
        let path = format!("../shared/data/{name}.nrrd");
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens to a file, reading it is an error or the right number of voxels, never a panic.
    #[test]
    fn mutations_never_panic(
        gz in any::<bool>(),
        edits in prop::collection::vec((0_usize..400, any::<u8>(), 0_u8..4), 1..6),
    ) {
        let data = values(60, |i| i as i16);
        let mut bytes = file("int16", &[5, 4, 3], &data, true, gz, "\n");
        for (at, byte, edit) in edits {
            let at = at % bytes.len();
            match edit {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => bytes.insert(at, b"0123456789 :\n"[byte as usize % 13]),
                _ => { bytes.remove(at); }
            }
        }
        let temporary = Temporary::new(&bytes);
        if let Ok(opened) = volume::open(&temporary.0) {
            let shape = opened.shape();
            if let Ok(read) = opened.read_region_f32(&Region::whole(shape)) {
                prop_assert_eq!(Some(read.len() as u64), shape.product());
            }
        }
    }

    /// Headers out of the words of real ones.
    #[test]
    fn word_salad_never_panics(words in prop::collection::vec(0_usize..28, 0..40)) {
        let vocabulary = [
            "NRRD0004", "\n", "\n", "\r\n", "type: ", "uint16", "dimension: ", "3", "1", "sizes: ", "5 4 3", " ", "-1",
            "18446744073709551616", "endian: ", "big", "encoding: ", "raw", "gzip", "space directions: ", "(1,0,0)", "none",
            "nan", "kinds: ", "data file: ", "x", "labels: ", "\"",
        ];
        let text: String = words.iter().fold("NRRD0004\n".into(), |text, &word| text + vocabulary[word]);
        for complete in [true, false] {
            if let Ok(header) = Header::parse(Path::new("x"), text.as_bytes(), complete) {
                prop_assert!(header.bytes as usize <= text.len());
            }
        }
    }
}
