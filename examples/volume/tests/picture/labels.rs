//! Label maps: one colour for each label, without interpolation.

use std::collections::BTreeSet;

use zippy_render::volume::{Distribution, Preset};

use super::common::nrrd::{Temporary, file};
use super::{failures, options, render_uncut, run};

const SHAPE: [usize; 3] = [24, 22, 20];

/// Labels of three balls, two of them in contact.
fn label_of_voxel(at: usize, labels: [i32; 3]) -> i32 {
    let place = [at % SHAPE[0], at / SHAPE[0] % SHAPE[1], at / SHAPE[0] / SHAPE[1]];
    let balls = [([8, 11, 10], 6), ([16, 10, 10], 5), ([11, 6, 14], 4)];
    let holds = |&(middle, radius): &([i32; 3], i32)| {
        let squared: i32 = (0..3).map(|axis| (place[axis] as i32 - middle[axis]).pow(2)).sum();
        squared <= radius * radius
    };
    balls.iter().position(holds).map_or(0, |ball| labels[ball])
}

/// 8-bit colours of labels and of the background.
fn expected_colours(labels: &[i32], [least, most]: [i32; 2]) -> BTreeSet<[u8; 3]> {
    let values = Distribution { min: least.into(), max: most.into(), counts: vec![1] };
    let transfer = Preset::Labels.transfer(&values, 1.0);
    let bytes = |colour: [f64; 3]| colour.map(|part| (255.0 * part).round() as u8);
    labels.iter().map(|&label| bytes(transfer.colour_at(label.into()))).chain([[0; 3]]).collect()
}

/// 8-bit colours of the pixels over black.
fn picture_colours(image: &zippy_io::image::Image) -> BTreeSet<[u8; 3]> {
    image
        .pixels
        .iter()
        .map(|&[red, green, blue, _]| [red, green, blue].map(|part| (255.0 * part).round() as u8))
        .collect()
}

#[test]
fn each_label_has_one_colour_on_any_number_of_ranks() {
    for labels in [[1, 3, 2], [1, 200, 4], [-7, 12_175, 3]] {
        let data: Vec<i32> = (0..SHAPE.iter().product()).map(|at| label_of_voxel(at, labels)).collect();
        let scan = Temporary::new(&file("int32", &SHAPE, &data, false, true, "\n"));
        let path = scan.0.to_str().unwrap();
        let arguments = [path, "--preset", "labels", "--size", "60x50"];
        let expected = render_uncut(&arguments);
        let range = [labels.iter().copied().min().unwrap().min(0), labels.iter().copied().max().unwrap()];
        assert_eq!(picture_colours(&expected), expected_colours(&labels, range), "{labels:?}");
        for ranks in [2, 5] {
            let Some(rendered) = run(ranks, &arguments) else { continue };
            assert_eq!(rendered.image.difference(&expected).unwrap().max_abs, 0.0, "{ranks} ranks, {labels:?}");
        }
        // Linear interpolation creates colours of other labels.
        let linear = render_uncut(&[&arguments[..], &["--interpolation", "linear"]].concat());
        assert!(picture_colours(&linear) != expected_colours(&labels, range), "{labels:?}");
    }
}

#[test]
fn nearest_voxels_are_an_option_of_any_preset() {
    let data: Vec<u8> = (0..SHAPE.iter().product()).map(|at| 100 * label_of_voxel(at, [1, 2, 1]) as u8).collect();
    let scan = Temporary::new(&file("uint8", &SHAPE, &data, false, true, "\n"));
    let path = scan.0.to_str().unwrap();
    let arguments = [path, "--preset", "grey-ramp", "--size", "40x30", "--interpolation", "nearest"];
    let expected = render_uncut(&arguments);
    let Some(rendered) = run(3, &arguments) else { return };
    assert_eq!(rendered.image.difference(&expected).unwrap().max_abs, 0.0);
    let linear = render_uncut(&[&arguments[..6], &["linear"]].concat());
    assert!(linear.difference(&expected).unwrap().max_abs > 0.05);
}

#[test]
fn preintegration_of_labels_is_an_error() {
    for arguments in [["--preset", "labels"], ["--interpolation", "nearest"]] {
        let error = options(&[&arguments[..], &["--preintegrated"]].concat()).unwrap_err();
        assert!(error.contains("--preintegrated needs linear interpolation"), "{error}");
    }
    let data: Vec<i32> = (0..SHAPE.iter().product()).map(|at| label_of_voxel(at, [1, 70_000, 2])).collect();
    let scan = Temporary::new(&file("int32", &SHAPE, &data, false, true, "\n"));
    for message in failures(2, &[scan.0.to_str().unwrap(), "--preset", "labels", "--size", "9x9"]) {
        assert!(message.contains("labels that differ by at most 65536"), "{message}");
    }
}
