//! NRRD files: every defect is an error that names the file and the byte.

use std::path::Path;

use proptest::prelude::*;
use zippy_io::volume;
use zippy_plan::region::Region;

use super::common::nrrd::{Temporary, file, gzip, region, values};

/// Text of the first error from opening and reading everything.
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
        let notes = noted(&Temporary::new(&more).0);
        let wanted = if gz { "other bytes follow the gzip data" } else { "1 bytes follow the data" };
        assert!(notes.len() == 1 && notes[0].contains(wanted), "{notes:?}");
    }
    let mut oversized = b"NRRD0001\ntype: uint8\ndimension: 1\nsizes: 4\nencoding: gz\n\n".to_vec();
    oversized.extend(gzip(&[1, 2, 3, 4, 5]));
    let notes = noted(&Temporary::new(&oversized).0);
    assert!(notes.len() == 1 && notes[0].contains("more data follow than the header declares"), "{notes:?}");
}

fn noted(path: &std::path::Path) -> Vec<String> {
    let opened = volume::open(path).unwrap();
    opened.read_region_f32(&Region::whole(opened.shape())).unwrap();
    opened.notes()
}

#[test]
fn axis_with_a_negative_spacing_points_the_other_way() {
    let head = "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 3 2\nencoding: raw\n";
    for (more, position) in [
        ("spacings: -2 3\n", [-4.0, 3.0, 0.0]),
        ("spacings: -2 nan\n", [-4.0, 1.0, 0.0]),
        ("spacings: -2 -3\naxis mins: 5 6\ncenters: node node\n", [1.0, 3.0, 0.0]),
    ] {
        let content = [format!("{head}{more}\n").as_bytes(), &[1, 2, 3, 4, 5, 6]].concat();
        let opened = volume::open(&Temporary::new(&content).0).unwrap();
        assert_eq!(opened.grid().position([2.0, 1.0, 0.0]), position, "{more}");
        assert!(opened.notes().iter().all(|note| note.contains("points the other way")), "{:?}", opened.notes());
        assert_eq!(opened.notes().len(), more.matches(" -").count());
    }
}

#[test]
fn truncations_name_file_and_byte() {
    let whole = file("uint8", &[6, 2], &[1_u8; 12], false, false, "\n");
    let temporary = Temporary::new(&whole[..whole.len() - 5]);
    let error = failure(&temporary.0).unwrap();
    let wanted = format!(
        "{}, byte {}: the data end after 7 of 12 bytes; the file is truncated or its sizes are wrong",
        temporary.0.display(),
        whole.len() - 5
    );
    assert_eq!(error, wanted);
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

fn error_of_text(text: &str) -> String {
    let temporary = Temporary::new(text.as_bytes());
    let error = volume::open(&temporary.0).map(|_| ()).unwrap_err().to_string();
    let name = temporary.0.display().to_string();
    error.strip_prefix(&name).unwrap_or_else(|| panic!("{error} does not begin with {name}")).to_string()
}

/// Error for a header with one line changed or added.
fn error_of_change(change: &str) -> String {
    let field = change.split(':').next().unwrap();
    let mut lines: Vec<String> = ["type: uint16", "dimension: 3", "sizes: 5 4 3", "endian: big", "encoding: raw"]
        .iter()
        .filter(|line| !line.starts_with(field))
        .map(ToString::to_string)
        .collect();
    // Per-axis fields must follow the dimension.
    lines.insert(if field == "dimension" { 1 } else { 2 }, change.to_string());
    let text = format!("NRRD0005\n{}\n\n", lines.join("\n"));
    error_of_text(&text)
}

#[test]
fn errors_name_the_defect_and_the_byte() {
    let cases = [
        ("type: quaternion", "unknown type"),
        ("type: block", "block"),
        ("type: float32", "unknown type"),
        ("dimension: 0", "dimension 0; it must be 1 to 16"),
        ("dimension: 99999999999999999999", "not an integer of 64 bits"),
        ("dimension: 5", "5 axes; 1 to 3 axes"),
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
        ("space directions: (1,0,0) none (0,0,1)", "axis 1 has no direction: it holds components"),
        ("space directions: (1,0,0 (0,1,0) (0,0,1)", "is not a number"),
        ("kinds: RGB-color domain domain", "kind RGB-color has 3 samples, axis 0 has 5"),
        ("kinds: domain vector domain", "axis 1 is of kind vector: it holds components"),
        ("kinds: domain domain flavour", "unknown kind \"flavour\" of axis 2"),
        ("space origin: (0, inf, 0)", "an origin of [0.0, inf, 0.0]"),
        ("space origin: 0 0 0", "a vector must begin with"),
        ("data file: x%dy 1 3", "has 2 values, 3 are needed"),
        ("data file: x%sy 1 3 1", "must hold one %d"),
        ("data file: x%d%d 1 3 1", "must hold one %d"),
        ("data file: x%d 1 1000000 1", "1 to 65536 files are read"),
        ("data file: x%d 1 3 0", "1 to 65536 files are read"),
        ("data file: x%d 1 2 1", "2 files cannot hold 3 slices"),
        ("data file: x%d 1 3 1 1", "files of \"1\" axes for a volume of 3"),
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
        let error = error_of_change(change);
        assert!(error.starts_with(", byte ") && error.contains(wanted), "{change}: {error}");
    }
    // The byte is that of the value.
    assert!(error_of_change("type: block").starts_with(", byte 41: "), "{}", error_of_change("type: block"));
    let long = format!("space directions: ({}1) (0,1,0) (0,0,1)", "1,".repeat(500_000));
    assert!(
        error_of_change(&long).contains("a vector of 500001 numbers; at most 8 are read"),
        "{}",
        error_of_change(&long)
    );
    for missing in ["type", "dimension", "sizes", "endian", "encoding"] {
        let text: String = ["type: int16", "dimension: 1", "sizes: 5", "endian: big", "encoding: raw"]
            .iter()
            .filter(|line| !line.starts_with(missing))
            .fold("NRRD0005\n".to_string(), |text, line| text + line + "\n");
        let error = error_of_text(&(text + "\n"));
        assert!(
            error.contains(&format!("\"{missing}\"")) || error.contains("before \"dimension\""),
            "{missing}: {error}"
        );
    }
    let head = "NRRD0004\ntype: int8\ndimension: 3\nsizes: 5 4 3\nencoding: raw\n";
    assert!(
        error_of_text(&format!("{head}data file: LIST 1\n")).contains("byte 71: files of \"1\" axes for a volume of 3")
    );
    for (names, wanted) in [("", "0 files cannot hold 3 slices"), ("a\nb\n", "2 files cannot hold 3 slices")] {
        let error = error_of_text(&format!("{head}data file: LIST\n{names}"));
        assert!(error.contains(wanted), "{error}");
    }
    let twice = "NRRD0001\ntype: int8\ntype: int8\n\n";
    assert!(error_of_text(twice).contains("given twice"));
    for magic in ["NRRD", "NRRD0006\n\n", "NRRD00051\n\n"] {
        assert!(error_of_text(magic).contains("not an NRRD file"), "{magic:?}: {}", error_of_text(magic));
    }
    for magic in ["", "nrrd0001\n\n", "P6\n"] {
        assert!(error_of_text(magic).contains("not a volume of a known format"), "{magic:?}: {}", error_of_text(magic));
    }
}

#[test]
fn hostile_sizes_allocate_nothing() {
    // 4 EiB declared by a file of a few bytes: both encodings are refused by the length alone.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// A mutated file gives an error or the right number of voxels, never a panic.
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

    /// Headers made of words of real headers.
    #[test]
    fn word_salad_never_panics(words in prop::collection::vec(0_usize..28, 0..40)) {
        let vocabulary = [
            "NRRD0004", "\n", "\n", "\r\n", "type: ", "uint16", "dimension: ", "3", "1", "sizes: ", "5 4 3", " ", "-1",
            "18446744073709551616", "endian: ", "big", "encoding: ", "raw", "gzip", "space directions: ", "(1,0,0)", "none",
            "nan", "kinds: ", "data file: ", "x", "labels: ", "\"",
        ];
        let text: String = words.iter().fold("NRRD0004\n".into(), |text, &word| text + vocabulary[word]);
        let temporary = Temporary::new(text.as_bytes());
        if let Err(error) = volume::open(&temporary.0) {
            prop_assert!(error.to_string().contains("zippy-nrrd") || text.contains("data file"), "{}", error);
        }
    }
}
