//! Files without a header, and voxels of several components.

use zippy_render::volume::{Phantom, Twin};

use super::common::nrrd::{Temporary, gzip};
use super::looks::{assert_near, look};
use super::{failures, run};

const SHAPE: [i64; 3] = [13, 11, 9];
const SPACING: [f64; 3] = [0.5, 1.0, 1.25];

/// Component of a voxel. The last component is the phantom, the others encode the position.
fn component_value([x, y, z]: [i64; 3], component: i64, components: i64) -> u16 {
    match component {
        last if last == components - 1 => Phantom { shape: SHAPE }.value([x, y, z]),
        0 => (x * 5000 + z * 100) as u16,
        1 => (y * 5500 + x * 100) as u16,
        _ => (z * 7000 + y * 100) as u16,
    }
}

/// All numbers as bytes, the components of a voxel adjacent.
fn content(components: i64, bytes: impl Fn(u16) -> Vec<u8>) -> Vec<u8> {
    let [nx, ny, nz] = SHAPE;
    let voxels = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    voxels.flat_map(|p| (0..components).map(move |c| component_value(p, c, components))).flat_map(bytes).collect()
}

fn transfer_file() -> Temporary {
    Temporary::new(
        br#"{"opacity_points": [[500, 0], [1300, 0.3], [4000, 0.9]],
        "rgb_points": [[0, 0.1, 0.3, 1], [4000, 1, 0.8, 0.2], [60000, 0, 1, 0]]}"#,
    )
}

/// Raw files of one, two and four components, in both byte orders, compressed or not, with or
/// without an offset, give the picture of the reference renderer.
#[test]
fn raw_files_give_the_picture_of_the_reference() {
    let transfer = transfer_file();
    for components in [1, 2, 4] {
        let lead = |content: Vec<u8>| [vec![0xA5; 17], content].concat();
        let (little, big) =
            (content(components, |v| v.to_le_bytes().into()), content(components, |v| v.to_be_bytes().into()));
        let floats = content(components, |v| f64::from(v).to_le_bytes().into());
        let files: [(Vec<u8>, &[&str]); 4] = [
            (little.clone(), &["--raw-type", "u16"]),
            (gzip(&little), &["--raw-type", "u16", "--raw-gzip"]),
            (gzip(&lead(big)), &["--raw-type", "u16", "--raw-endian", "big", "--raw-offset", "17", "--raw-gzip"]),
            (lead(floats), &["--raw-type", "f64", "--raw-offset", "17"]),
        ];
        let mut first = None;
        // Colour components need the fixed range of an integer type.
        for (bytes, kind) in files.iter().take(if components == 4 { 3 } else { 4 }) {
            let file = Temporary::new(bytes);
            let count = components.to_string();
            let common =
                ["--raw-shape", "13x11x9", "--raw-spacing", "0.5,1,1.25", "--size", "40x36", "--components", &count];
            let paths = ["--input", file.0.to_str().unwrap(), "--transfer", transfer.0.to_str().unwrap()];
            let words = [&common[..], &paths, kind].concat();
            let Some(rendered) = run(3, &words) else { continue };
            let voxel = |[x, y, z]: [i32; 3]| {
                let (x, y, z) = (i64::from(x), i64::from(y), i64::from(z));
                f32::from(component_value([x / components, y, z], x % components, components))
            };
            let most = content(components, |v| v.to_le_bytes().into());
            let values = most.chunks(2).map(|bytes| f64::from(u16::from_le_bytes([bytes[0], bytes[1]])));
            let look = look(&words, SHAPE, SPACING, values);
            let scale = (components as usize, 1.0 / 65535.0);
            let twin = Twin::with_components(&look, SHAPE, SPACING, scale, voxel).unwrap();
            assert_near(
                &rendered.image,
                &twin.picture(&[([0; 3], twin.view.cells)]),
                &format!("{components}, {kind:?}"),
            );
            assert_eq!(first.get_or_insert(rendered.image.clone()), &rendered.image, "{components}, {kind:?}");
        }
    }
}

/// Presets fit opacities to the range of the second component, independent of the first.
#[test]
fn presets_fit_each_component_to_its_own_values() {
    let [nx, ny, nz] = SHAPE;
    let voxels = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    // Opacity in the right half only; colours from -1000 below to 1000 above, with one NaN.
    let numbers = voxels.flat_map(|[x, _, z]| {
        let colour = if [x, z] == [0, 4] { f32::NAN } else { -1000.0 + 250.0 * z as f32 };
        [colour, if x > 6 { 1.0_f32 } else { 0.0 }]
    });
    let file = Temporary::new(&numbers.flat_map(f32::to_le_bytes).collect::<Vec<_>>());
    let words = ["--raw-shape", "13x11x9", "--raw-type", "f32", "--components", "2", "--preset", "grey-ramp"];
    let view = ["--size", "40x30", "--azimuth", "-90", "--elevation", "0", "--projection", "parallel"];
    let Some(rendered) = run(3, &[&words[..], &view, &["--input", file.0.to_str().unwrap()]].concat()) else { return };
    let pixel = |column: usize, row: usize| rendered.image.pixels[40 * row + column];
    assert_eq!(pixel(15, 15), [0.0; 4]);
    // Half the opacity in each of eleven voxels; dark below, bright above.
    let [below, above] = [pixel(24, 20), pixel(24, 10)];
    assert!(below[3] > 0.99 && above[3] > 0.99 && below[0] < 0.4 && above[0] > 0.6, "{below:?} {above:?}");
    let json = rendered.report.json(&super::outcome(None));
    assert_eq!(json["input"]["nan"], 11);
}

/// A raw file and NumPy arrays in C and Fortran order, indexed zyx or xyz, give the same picture.
#[test]
fn numpy_arrays_of_every_order_are_drawn_alike() {
    let transfer = transfer_file();
    let common = ["--size", "40x36", "--transfer", transfer.0.to_str().unwrap()];
    let [nx, ny, nz] = SHAPE;
    let plain = content(1, |v| v.to_le_bytes().into());
    // Reversed: z is the fastest axis.
    let turned: Vec<u8> = (0..nx)
        .flat_map(|x| (0..ny).flat_map(move |y| (0..nz).map(move |z| [x, y, z])))
        .flat_map(|at| component_value(at, 0, 1).to_le_bytes())
        .collect();
    let npy = |order: &str, shape: &str, bytes: &[u8]| {
        let head = format!("{:<117}\n", format!("{{'descr': '<u2', 'fortran_order': {order}, 'shape': ({shape}), }}"));
        Temporary::new(&[b"\x93NUMPY\x01\x00\x76\x00", head.as_bytes(), bytes].concat())
    };
    let files = [
        (Temporary::new(&plain), &["--raw-shape", "13x11x9", "--raw-type", "u16"][..]),
        (npy("False", "9, 11, 13", &plain), &[]),
        (npy("True", "9, 11, 13", &turned), &["--axes", "zyx"]),
        (npy("False", "13, 11, 9", &turned), &["--axes", "xyz"]),
        (npy("True", "13, 11, 9", &plain), &["--axes", "xyz"]),
    ];
    let mut first = None;
    for (file, words) in &files {
        let words = [&common[..], &["--input", file.0.to_str().unwrap()], words].concat();
        let Some(rendered) = run(3, &words) else { return };
        assert_eq!(rendered.report.json(&super::outcome(None))["input"]["shape"], serde_json::json!(SHAPE));
        assert!(rendered.image.pixels.iter().any(|pixel| pixel[3] > 0.0));
        assert!(*first.get_or_insert(rendered.image.pixels.clone()) == rendered.image.pixels, "{words:?}");
    }
}

#[test]
fn raw_files_that_contradict_the_options_are_refused() {
    let plain = content(2, |v| v.to_le_bytes().into());
    let (plain, compressed) = (Temporary::new(&plain), Temporary::new(&gzip(&plain)));
    let (plain, compressed) = (plain.0.to_str().unwrap(), compressed.0.to_str().unwrap());
    let common = ["--raw-shape", "13x11x9", "--raw-type", "u16", "--size", "8x8"];
    let cases: [(&str, &[&str], &str); 4] = [
        (plain, &["--components", "2", "--raw-gzip"], "gzip"),
        (plain, &["--components", "4"], "13x11x9 voxels of 4 x u16 need a file of 10296 bytes; it has 5148"),
        (plain, &[], "13x11x9 voxels of u16 need a file of 2574 bytes; it has 5148"),
        (compressed, &["--components", "2"], "2 x u16 need a file of 5148 bytes"),
    ];
    for (path, more, wanted) in cases {
        for message in failures(3, &[&common[..], &["--input", path], more].concat()) {
            assert!(message.contains(path) && message.contains(wanted), "{more:?}: {message}");
        }
    }
}

#[test]
fn file_errors_name_the_file_and_the_correction() {
    let plain = content(1, |v| v.to_le_bytes().into());
    let voxels = Temporary::new(&plain);
    let name = voxels.0.file_name().unwrap().to_str().unwrap();
    let npy = |shape: &str, count: usize| {
        let head = format!("{:<117}\n", format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}"));
        Temporary::new(&[b"\x93NUMPY\x01\x00\x76\x00", head.as_bytes(), &vec![7; count]].concat())
    };
    let nrrd = |more: &str| {
        Temporary::new(format!("NRRD0004\ntype: uint16\nendian: little\nencoding: raw\n{more}").as_bytes())
    };
    let (three, cube) = (npy("9, 11, 13, 3", 1287 * 3), npy("9, 11, 20", 1980));
    let detached = nrrd(&format!("dimension: 3\nsizes: 13 11 19\ndata file: {name}\n"));
    let whole_nrrd = nrrd(&format!("dimension: 3\nsizes: 13 11 9\ndata file: {name}\n"));
    let rude = nrrd("dimension: 3\nsizes: 13 11 9\ndata file: a\u{1b}[31mred\u{7}\n");
    let thin = nrrd(&format!("dimension: 3\nsizes: 117 11 1\ndata file: {name}\n"));
    let long = nrrd(&format!("dimension: 3\nsizes: 13 11 9\nspacings: 1e30 1 1\ndata file: {name}\n"));
    let meta = Temporary::new(
        format!(
            "ObjectType = Image\nNDims = 3\nDimSize = 13 11 18\nElementType = MET_USHORT\nElementDataFile = {name}\n"
        )
        .as_bytes(),
    );
    let cases: [(&Temporary, &[&str], &[&str]); 9] = [
        (&voxels, &[], &[name, "not an NRRD, NIfTI", "--raw-shape and --raw-type"]),
        (&three, &["--components", "1"], &["has 3 numbers in each voxel; volumes of 1, 2 and 4"]),
        (&three, &[], &["has 3 numbers in each voxel; volumes of 1, 2 and 4"]),
        (&cube, &["--components", "2"], &["20 entries along the last axis", "(z, y, x, c)"]),
        (&detached, &[], &[detached.0.to_str().unwrap(), name, "after 2574 of 5434 bytes"]),
        (&meta, &[], &[meta.0.to_str().unwrap(), name, "after 2574 of 5148 bytes"]),
        (&rude, &[], &["a\\u{1b}[31mred\\u{7}: cannot open"]),
        (&thin, &[], &[thin.0.to_str().unwrap(), "117 x 11 x 1 voxels"]),
        (&long, &[], &[long.0.to_str().unwrap(), "spacing of [1e30"]),
    ];
    for (file, words, wanted) in cases {
        for message in failures(2, &[&["--size", "8x8", "--input", file.0.to_str().unwrap()], words].concat()) {
            assert!(wanted.iter().all(|part| message.contains(part)), "{words:?}: {message}");
            assert!(!message.contains('\u{1b}') && !message.contains('\u{7}'), "{message:?}");
        }
    }
    // Surplus data are ignored with a note, as in other programs.
    let surplus = nrrd(&format!("dimension: 3\nsizes: 13 11 7\ndata file: {name}\n"));
    if let Some(rendered) = run(2, &["--size", "8x8", surplus.0.to_str().unwrap()]) {
        let outcome = super::outcome(None);
        let (json, text) = (rendered.report.json(&outcome), rendered.report.text(&outcome));
        assert!(json["notes"][0].as_str().unwrap().contains("572 bytes follow the data"), "{json}");
        assert!(text.contains("note: 572 bytes follow the data"), "{text}");
    }
    let whole = npy("9, 11, 13", 1287);
    for message in failures(2, &["--size", "8x8", "--input", whole.0.to_str().unwrap(), "--array", "a"]) {
        assert!(message.contains("is NumPy, which has no arrays"), "{message}");
    }
    for message in failures(2, &["--size", "8x8", "--input", whole_nrrd.0.to_str().unwrap(), "--axes", "xyz"]) {
        assert!(message.contains("is NRRD, which says itself where x is"), "{message}");
    }
}
