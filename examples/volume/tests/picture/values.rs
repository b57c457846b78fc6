//! Values: slope and intercept, precision of floats, axis directions, and notes in the report.

use ::volume::report::Outcome;
use ::volume::scene::Rendered;
use ::volume::units::{self, NumberStatistics};
use serde_json::{Value, json};
use zippy_io::image::Image;
use zippy_io::volume;
use zippy_render::volume::Rescale;

use super::common::nrrd::{Temporary, file, values};
use super::{SHAPE, failures, file_with_ends, run, scan};

/// Little-endian NIfTI-1 file; `fields` are offsets and contents of header fields.
fn nifti<T: bytemuck::Pod>(datatype: i16, data: &[T], fields: &[(usize, &[f32])]) -> Temporary {
    let mut bytes = vec![0_u8; 352];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, &348_i32.to_le_bytes());
    let dim = [3, SHAPE[0] as i16, SHAPE[1] as i16, SHAPE[2] as i16, 1, 1, 1, 1];
    put(40, bytemuck::cast_slice(&dim));
    put(70, bytemuck::cast_slice(&[datatype, size_of::<T>() as i16 * 8]));
    put(76, bytemuck::cast_slice(&[1.0_f32; 8]));
    put(108, &352_f32.to_le_bytes());
    put(344, b"n+1\0");
    fields.iter().for_each(|(at, numbers)| put(*at, bytemuck::cast_slice(numbers)));
    bytes.extend(bytemuck::cast_slice::<T, u8>(data));
    Temporary::new(&bytes)
}

/// Integers of 0 to 200 that differ between voxels: two peaks on a sloped background.
fn numbers() -> Vec<i16> {
    let heap = |p: [i64; 3], middle: [f64; 3]| {
        let square: f64 = (0..3).map(|a| (p[a] as f64 - middle[a]).powi(2)).sum();
        (-square / 9.0).exp()
    };
    let points = (0..SHAPE[2]).flat_map(|z| (0..SHAPE[1]).flat_map(move |y| (0..SHAPE[0]).map(move |x| [x, y, z])));
    points
        .map(|p| {
            (150.0 * heap(p, [4.0, 5.0, 3.0])
                + 180.0 * heap(p, [9.0, 6.0, 6.0])
                + (p[0] * p[0] + 3 * p[1]) as f64 / 7.0) as i16
        })
        .collect()
}

const COMMON: [&str; 5] = ["--size", "30x26", "--shade", "--split", "2x2x1"];

fn picture(path: &Temporary, words: &[&str]) -> Option<Rendered> {
    run(3, &[&COMMON[..], &["--input", path.0.to_str().unwrap()], words].concat())
}

fn report(rendered: &Rendered) -> Value {
    let size = (rendered.image.width, rendered.image.height);
    let outcome = Outcome { size, output: "a.png".into(), total_secs: 1.0, single: None, reference: None };
    let (json, text) = (rendered.report.json(&outcome), rendered.report.text(&outcome));
    for note in json["notes"].as_array().unwrap() {
        assert!(text.contains(&format!("\nnote: {}", note.as_str().unwrap())), "{text}");
    }
    json
}

fn assert_same(found: &Image, expected: &Image, most: f64, name: &str) {
    let difference = found.difference(expected).unwrap().max_abs;
    assert!(difference <= most, "{name}: {difference}");
    assert!(expected.pixels.iter().filter(|pixel| pixel[3] > 0.05).count() > 50, "{name}");
}

/// A volume with slope and intercept gives the picture of a volume of the scaled values, for all
/// transfer functions.
#[test]
fn slope_and_intercept_of_the_file_are_applied() {
    let air: Vec<i16> = numbers().iter().map(|v| v * 11 - 1000).collect();
    let stored: Vec<i16> = air.iter().map(|v| v + 1024).collect();
    let halves: Vec<u16> = air.iter().map(|v| (600 - v / 2) as u16).collect();
    let even: Vec<i16> = air.iter().map(|v| v / 2 * 2).collect();
    let transfer = Temporary::new(
        br#"{"opacity_points": [[-700, 0], [0, 0.3], [500, 0.9]], "rgb_points": [[-1000, 0, 0, 1], [600, 1, 0.9, 0]]}"#,
    );
    let transfer = ["--transfer", transfer.0.to_str().unwrap()];
    let looks: [&[&str]; 4] = [&transfer, &["--preset", "ct-soft"], &["--preset", "ct-bone"], &[]];
    for look in looks {
        let shifted = (nifti(4, &air, &[]), nifti(4, &stored, &[(112, &[1.0, -1024.0])]));
        let turned = (nifti(4, &even, &[]), nifti(512, &halves, &[(112, &[-2.0, 1200.0])]));
        for (number, (plain, scaled)) in [shifted, turned].into_iter().enumerate() {
            // Histogram bins include their lower bound. A negative slope exchanges the bounds,
            // which changes presets.
            if number == 1 && look.is_empty() {
                continue;
            }
            let (Some(plain), Some(scaled)) = (picture(&plain, look), picture(&scaled, look)) else { continue };
            assert_same(&scaled.image, &plain.image, 1e-5, &format!("{look:?}, {number}"));
            let (plain, scaled) = (report(&plain), report(&scaled));
            assert_eq!(scaled["input"]["values"], plain["input"]["values"]);
            assert_eq!(scaled["input"]["intercept"], json!([-1024.0, 1200.0][number]));
            assert!(scaled["notes"].to_string().contains("* stored number"), "{scaled}");
        }
    }
}

#[test]
fn nan_with_negative_slope_is_drawn_as_the_smallest_value() {
    let value = |v: i16| if v % 5 == 3 { f32::NAN } else { f32::from(v) };
    let plain: Vec<f32> = numbers().into_iter().map(value).collect();
    let turned: Vec<f32> = plain.iter().map(|v| (200.0 - v) / 2.0).collect();
    let transfer =
        Temporary::new(br#"{"opacity_points": [[20, 0], [180, 0.9]], "rgb_points": [[0, 0, 0, 1], [200, 1, 0.9, 0]]}"#);
    let look = ["--transfer", transfer.0.to_str().unwrap()];
    let (plain, turned) = (nifti(16, &plain, &[]), nifti(16, &turned, &[(112, &[-2.0, 200.0])]));
    let (Some(plain), Some(turned)) = (picture(&plain, &look), picture(&turned, &look)) else { return };
    assert_same(&turned.image, &plain.image, 1e-5, "turned");
    assert!(report(&turned)["input"]["nan"].as_u64().unwrap() > 100);
}

/// Offsets and scales beyond the precision of 32-bit floats do not change the picture.
#[test]
fn numbers_beyond_f32_precision_are_distinguished() {
    let plain = numbers();
    let sizes = SHAPE.map(|n| n as usize);
    let doubles = |name: &str, make: &dyn Fn(f64) -> f64| {
        let data: Vec<f64> = plain.iter().map(|&v| make(v.into())).collect();
        (name.to_string(), Temporary::new(&file("double", &sizes, &data, false, false, "\n")))
    };
    let whole = |name: &str, bytes: Vec<u8>| (name.to_string(), Temporary::new(&bytes));
    let longs: Vec<i64> = plain.iter().map(|&v| i64::from(v) + (1 << 60)).collect();
    let most: Vec<u64> = plain.iter().map(|&v| u64::MAX - 250 + v as u64).collect();
    let ints: Vec<i32> = plain.iter().map(|&v| i32::from(v) - 2_000_000_001).collect();
    let words: Vec<u32> = plain.iter().map(|&v| v as u32 + 4_000_000_001).collect();
    let files = [
        doubles("1e12", &|v| v + 1e12),
        doubles("pressure", &|v| 101_325.0 + 1e-4 * v),
        doubles("1e300", &|v| v * 1e300),
        doubles("-1e305", &|v| v * 1e303 - 1e305),
        doubles("1e-320", &|v| v * 1e-318),
        whole("i64", file("int64", &sizes, &longs, true, true, "\n")),
        whole("u64", file("uint64", &sizes, &most, false, false, "\n")),
        whole("i32", file("int32", &sizes, &ints, false, true, "\n")),
        whole("u32", file("uint32", &sizes, &words, false, false, "\n")),
    ];
    let expected = picture(&doubles("plain", &|v| v).1, &[]);
    // Histogram bins of integers have integer bounds, which changes presets.
    let whole = picture(&Temporary::new(&file("short", &sizes, &plain, false, false, "\n")), &[]);
    for (name, path) in &files {
        let expected = if name.ends_with("32") { &whole } else { &expected };
        let (Some(found), Some(expected)) = (picture(path, &[]), expected) else { continue };
        // Denormal numbers have few digits.
        assert_same(&found.image, &expected.image, if name == "1e-320" { 2e-2 } else { 1e-4 }, name);
    }
    // Slope and intercept of the file apply in addition.
    let doubles: Vec<f64> = plain.iter().map(|&v| v.into()).collect();
    let scaled: Vec<f64> = plain.iter().map(|&v| 1e12 + f64::from(v)).collect();
    let scaled = nifti(64, &scaled, &[(112, &[2.0, 7.0])]);
    if let (Some(found), Some(expected)) = (picture(&scaled, &[]), picture(&nifti(64, &doubles, &[]), &[])) {
        assert_same(&found.image, &expected.image, 1e-4, "scaled");
        assert_eq!(report(&found)["input"]["values"][0], json!(2e12 + 7.0));
    }
}

#[test]
fn units_make_numbers_fit_f32() {
    let found = |numbers: &[f64]| {
        let mut found = NumberStatistics::default();
        numbers.iter().for_each(|&number| found.add(number));
        found
    };
    let plain = Rescale::default();
    for (numbers, whole) in [
        (&[0.0, 255.0][..], true),
        (&[16_777_000.0, 16_777_216.0], true),
        (&[-3.5, -3.5], false),
        (&[1000.0, 1004.0], false),
        (&[0.0, 1e29], false),
        (&[f64::NAN, f64::INFINITY], false),
        (&[], false),
        // Markers of missing data.
        (&[-9e36, 0.0, 5.0, 9.96921e36, 9.96921e36, f64::INFINITY], false),
        (&[0.0, 1.8e19], true),
    ] {
        assert_eq!(found(numbers).units(whole), plain, "{numbers:?}");
    }
    assert_eq!(found(&[1000.0, 1003.0]).units(false), Rescale { slope: 1.0, intercept: 1000.0 });
    assert_eq!(found(&[2e9, 2e9 + 5.0]).units(true), Rescale { slope: 1.0, intercept: 2e9 });
    assert_eq!(found(&[0.1, 0.1]).units(false), Rescale { slope: 1.0, intercept: 0.1 });
    assert_eq!(found(&[0.0, 1e300, 2e300]).units(false).slope, 2.0_f64.powi(997));
    assert_eq!(found(&[1e300]).units(false), Rescale { slope: 1.0, intercept: 1e300 });
    assert_eq!(found(&[1e-40, 0.0]).units(false).intercept, 0.0);
    // NaN, infinite and far numbers have separate counts.
    let odd = found(&[f64::NAN, 1.0, -2.0, f64::NEG_INFINITY, 1e30, f64::NAN]);
    assert_eq!((odd.all, odd.nan, odd.infinite, odd.far, odd.range()), (6, 2, 1, 1, Some((-2.0, 1.0))));
    assert_eq!([f64::NAN, -1e300, 0.5, f64::INFINITY].map(|v| units::float(v, -1e30)), [-1e30, -1e30, 0.5, 1e30]);
    assert_eq!(units::float(f64::NAN, 1e30), 1e30);
}

#[test]
fn report_counts_non_finite_numbers() {
    let pictures = [file_with_ends(f32::NAN, f32::INFINITY), scan("double", |_| f64::NAN, false, false)]
        .map(|path| picture(&path, &[]));
    let [Some(rendered), Some(nothing)] = pictures else { return };
    let json = report(&rendered);
    let (nan, infinite) = (json["input"]["nan"].as_u64().unwrap(), json["input"]["infinite"].as_u64().unwrap());
    let phantom = zippy_render::volume::Phantom { shape: SHAPE };
    let voxels =
        zippy::region::Region::whole(SHAPE.into()).points().map(|p| phantom.value([p[0], p[1], p[2]]) / 41 % 7);
    let counted = |rest: u16| voxels.clone().filter(|&found| found == rest).count() as u64;
    assert_eq!((nan, infinite, json["empty"].as_bool()), (counted(3), counted(5), Some(false)));
    assert!(json["notes"].to_string().contains(&format!("{nan} are NaN, {infinite} are infinite; NaN and")), "{json}");
    let json = report(&nothing);
    assert!(json["notes"].to_string().contains("the volume has no useful number"), "{json}");
    assert_eq!(json["empty"], json!(true));
}

/// An empty picture gives a note; a crop box outside of the volume is an error.
#[test]
fn empty_pictures_give_a_note() {
    let small = ["--phantom-size", "9x8x7", "--size", "12x12"];
    let with = |words: &[&'static str]| [&small[..], words].concat();
    for (words, empty) in [(&["--clip", "1,0,0,50"][..], true), (&["--clip", "1,0,0,4"], false)] {
        let Some(rendered) = run(2, &with(words)) else { continue };
        let json = report(&rendered);
        assert_eq!((json["empty"].as_bool(), json["notes"].to_string().contains("no pixel")), (Some(empty), empty));
    }
    for crop in ["8:20,:,:", ":,-3:0,:", ":,:,100:"] {
        for message in failures(2, &with(&["--crop", crop].map(|word| -> &'static str { word.to_string().leak() }))) {
            assert!(message.contains("nothing of the volume, which extends over 0:8,0:7,0:6"), "{message}");
        }
    }
}

#[test]
fn transfer_points_beyond_f32_are_accepted() {
    let far = |far: &str| {
        let points = format!(r#"[[-{far}, 0], [{far}, 1]], "rgb_points": [[0, 1, 1, 1]]"#);
        Temporary::new(format!(r#"{{"opacity_points": {points}, "opacity_unit_distance": 1}}"#).as_bytes())
    };
    let path = scan("uint8", |v| v as u8, false, false);
    let drawn = |text: &Temporary| picture(&path, &["--transfer", text.0.to_str().unwrap()]);
    let half = Temporary::new(br#"{"opacity_points": [[0, 0.5]], "rgb_points": [[0, 1, 1, 1]]}"#);
    for text in ["1e300", "1.7e308", "1e12"] {
        if let (Some(found), Some(expected)) = (drawn(&far(text)), drawn(&half)) {
            assert_same(&found.image, &expected.image, 1e-5, text);
        }
    }
}

/// Axis directions of four formats, and in the report.
#[test]
fn axis_directions_are_read_and_reported() {
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|v| v.to_vec());
    let minus = |v: &[f64]| v.iter().map(|part| 0.0 - part).collect::<Vec<f64>>();
    let data = values(SHAPE.iter().product::<i64>() as usize, |i| i as u8);
    let read = |file: Temporary| volume::open(&file.0).unwrap().directions().map(<[Vec<f64>]>::to_vec);
    let text = |head: String| Temporary::new(&[head.as_bytes(), &data].concat());
    let nrrd =
        |more: &str| text(format!("NRRD0004\ntype: uint8\ndimension: 3\nsizes: 13 11 9\nencoding: raw\n{more}\n"));
    let space = "space: left-posterior-superior\nspace directions:";
    assert_eq!(read(nrrd("spacings: 1 2 3\n")), None);
    let exchanged = read(nrrd(&format!("{space} (0,-2,0) (1,0,0) (0,0,1)\n"))).unwrap();
    assert_eq!(exchanged, [vec![0.0, -2.0, 0.0], x.clone(), z.clone()]);
    let meta = |rows: &str| {
        let head = "ObjectType = Image\nNDims = 3\nDimSize = 13 11 9\nElementType = MET_UCHAR\n";
        text(format!("{head}TransformMatrix = {rows}\nElementDataFile = LOCAL\n"))
    };
    let turned = read(meta("0 1 0 0 0 1 1 0 0")).unwrap();
    assert_eq!(turned, [y.clone(), z.clone(), x.clone()]);
    // The codes of both forms are adjacent 16-bit integers.
    let codes = |qform: i16, sform: i16| [f32::from_bits((qform as u16 as u32) | (sform as u16 as u32) << 16)];
    let rows: [f32; 12] = [-1.0, 0.0, 0.0, 5.0, 0.0, 0.6, -0.8, 6.0, 0.0, 0.8, 0.6, 7.0];
    assert_eq!(read(nifti(2, &data, &[(280, &rows)])), None);
    let matrix = read(nifti(2, &data, &[(252, &codes(0, 1)), (280, &rows)])).unwrap();
    let near = |a: &[Vec<f64>], b: &[Vec<f64>]| {
        assert!(a.iter().flatten().zip(b.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?}, {b:?}");
    };
    near(&matrix, &[minus(&x), vec![0.0, 0.6, 0.8], vec![0.0, -0.8, 0.6]]);
    // The matrix has precedence over the quaternion.
    assert_eq!(read(nifti(2, &data, &[(252, &codes(1, 1)), (256, &[0.0, 0.0, 1.0]), (280, &rows)])), Some(matrix));
    // Half a turn around the third axis (a = b = c = 0, d = 1); a quarter around the first, and a
    // left-handed quarter around the second.
    let quaternion = |b: f32, c: f32, d: f32, handed: f32| {
        read(nifti(2, &data, &[(252, &codes(1, 0)), (256, &[b, c, d]), (280, &rows), (76, &[handed])])).unwrap()
    };
    near(&quaternion(0.0, 0.0, 1.0, 1.0), &[minus(&x), minus(&y), z.clone()]);
    let root = 0.5_f32.sqrt();
    near(&quaternion(root, 0.0, 0.0, 1.0), &[x.clone(), z.clone(), minus(&y)]);
    near(&quaternion(0.0, root, 0.0, -1.0), &[minus(&z), y.clone(), minus(&x)]);
    let element = r#"<?xml version="1.0"?><VTKFile type="ImageData" version="1.0" byte_order="LittleEndian">
        <ImageData WholeExtent="0 1 0 0 0 0" Origin="0 0 0" Spacing="1 1 1" Direction="0 0 1 1 0 0 0 -1 0">
        <Piece Extent="0 1 0 0 0 0"><PointData><DataArray type="UInt8" Name="s" format="ascii">1 2</DataArray></PointData>
        </Piece></ImageData></VTKFile>"#;
    let columns = read(Temporary::new(element.as_bytes())).unwrap();
    assert_eq!(columns, [y.clone(), minus(&z), x.clone()]);

    if let Some(rendered) = picture(&nrrd(&format!("{space} (0,1,0) (-1,0,0) (0,0,2)\nspace origin: (5,6,7)\n")), &[]) {
        let json = report(&rendered);
        assert_eq!(json["input"]["directions"], json!([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]));
        assert_eq!(
            (&json["input"]["origin"], &json["input"]["spacing"]),
            (&json!([5.0, 6.0, 7.0]), &json!([1.0, 1.0, 2.0]))
        );
        assert_eq!(json["notes"], json!([]), "{json}");
    }
}

#[test]
fn nifti_offset_zero_means_data_follow_the_header() {
    let data: Vec<i16> = numbers();
    let file = nifti(4, &data, &[(108, &[0.0])]);
    let found = volume::open(&file.0).unwrap();
    assert_eq!(found.read_region::<i16>(&zippy::region::Region::whole(SHAPE.into())).unwrap(), data);
}
