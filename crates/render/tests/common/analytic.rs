//! Volumes whose images are known in closed form: cases A1 to A8 of the reference numbers.

use zippy_io::image::Image;
use zippy_render::volume::{Camera, Projection, TransferFunction};

/// Volume, look, and expected middle pixel.
#[derive(Clone)]
pub(crate) struct Case {
    pub name: String,
    pub shape: [i64; 3],
    pub spacing: [f64; 3],
    pub values: Vec<f32>,
    pub camera: Camera,
    pub transfer: TransferFunction,
    pub step: f64,
    /// Premultiplied intensity (the same in red, green and blue) and alpha.
    pub expected: [f64; 2],
    pub tolerance: f64,
}

/// Camera along axis 2, through the middle of the image at (x, y).
fn along_z(x: f64, y: f64, upwards: bool) -> Camera {
    let (from, to) = if upwards { (-3.0, 0.0) } else { (9.0, 0.0) };
    Camera {
        position: [x, y, from],
        focal_point: [x, y, to],
        view_up: [0.0, 1.0, 0.0],
        projection: Projection::Parallel { half_height: 0.25 },
    }
}

fn grey(values: &[[f64; 2]]) -> Vec<[f64; 4]> {
    values.iter().map(|&[value, c]| [value, c, c, c]).collect()
}

/// Opacity 1 - exp(-density * value) over a unit length, with many points.
fn density(most: f64, density: f64) -> Vec<[f64; 2]> {
    (0..=4096).map(|i| most * f64::from(i) / 4096.0).map(|v| [v, 1.0 - (-density * v).exp()]).collect()
}

fn fill(shape: [i64; 3], spacing: [f64; 3], value: impl Fn([f64; 3]) -> f64) -> Vec<f32> {
    let mut out = Vec::new();
    for z in 0..shape[2] {
        for y in 0..shape[1] {
            for x in 0..shape[0] {
                out.push(value([x as f64 * spacing[0], y as f64 * spacing[1], z as f64 * spacing[2]]) as f32);
            }
        }
    }
    out
}

/// Box of size 1 x 1 x 2, seen along its length.
fn column(name: &str, value: impl Fn(f64) -> f64, transfer: TransferFunction, samples: u32) -> Case {
    let (shape, spacing) = ([5, 5, 9], [0.25; 3]);
    Case {
        name: format!("{name}, {samples} samples"),
        shape,
        spacing,
        values: fill(shape, spacing, |p| value(p[2])),
        camera: along_z(0.53, 0.47, true),
        transfer,
        step: 2.0 / f64::from(samples),
        expected: [0.0; 2],
        tolerance: 1e-5,
    }
}

/// A1: constant density 1.5 of colour 0.8 over length 2.
pub(crate) fn a1(samples: u32) -> Case {
    let transfer = TransferFunction {
        opacity: vec![[7.0, 1.0 - (-1.5_f64).exp()]],
        colour: grey(&[[7.0, 0.8]]),
        unit_distance: 1.0,
    };
    Case { expected: [0.7601703453057089, 0.950212931632136], ..column("A1", |_| 7.0, transfer, samples) }
}

/// A2: density 0.9 s; colour 1, so that the intensity is the alpha.
pub(crate) fn a2(samples: u32) -> Case {
    let transfer = TransferFunction { opacity: density(2.0, 0.9), colour: grey(&[[0.0, 1.0]]), unit_distance: 1.0 };
    Case { expected: [0.8347011117784134; 2], ..column("A2", |s| s, transfer, samples) }
}

/// A3: constant density 1.5, colour s / 2.
pub(crate) fn a3(samples: u32) -> Case {
    let transfer = TransferFunction {
        opacity: vec![[0.0, 1.0 - (-1.5_f64).exp()]],
        colour: grey(&[[0.0, 0.0], [2.0, 1.0]]),
        unit_distance: 1.0,
    };
    Case { expected: [0.26695057550951473, 0.950212931632136], ..column("A3", |s| s, transfer, samples) }
}

/// A4: Gaussian blob, seen along an axis; voxels `1 / n` apart, samples half of that.
pub(crate) fn a4(n: i64) -> Case {
    let (shape, spacing) = ([2 * n + 1, 2 * n + 1, 2 * n + 1], [1.0 / n as f64; 3]);
    let r2 = |p: [f64; 3]| p.iter().map(|v| (v - 1.0).powi(2)).sum::<f64>();
    Case {
        name: format!("A4, {n} voxels per unit"),
        shape,
        spacing,
        values: fill(shape, spacing, |p| 4.0 * (-r2(p) / 0.08).exp()),
        camera: Camera { projection: Projection::Parallel { half_height: 0.49 }, ..along_z(1.0, 1.0, true) },
        transfer: TransferFunction { opacity: density(4.0, 1.0), colour: grey(&[[0.0, 1.0]]), unit_distance: 1.0 },
        step: 0.5 / n as f64,
        expected: [1.0 - (-0.8 * (2.0 * std::f64::consts::PI).sqrt()).exp(); 2],
        tolerance: 1e-5,
    }
}

/// A5: two slabs, each one step thick; A is in front of B or behind it.
pub(crate) fn a5(a_first: bool) -> Case {
    let (shape, spacing) = ([3, 3, 3], [1.0; 3]);
    Case {
        name: format!("A5, {}", if a_first { "A over B" } else { "B over A" }),
        shape,
        spacing,
        values: fill(shape, spacing, |p| [1.0, 1.0, 3.0][p[2] as usize]),
        camera: along_z(1.0, 1.0, a_first),
        transfer: TransferFunction {
            opacity: vec![[1.0, 0.6], [2.0, 0.5]],
            colour: grey(&[[1.0, 0.5], [2.0, 0.9]]),
            unit_distance: 1.0,
        },
        step: 1.0,
        expected: [if a_first { 0.48 } else { 0.6 }, 0.8],
        tolerance: 1e-5,
    }
}

/// A6: ball of radius 0.7 and density 2, seen along an axis; voxels `1 / n` apart, samples half of
/// that.
pub(crate) fn a6(n: i64) -> Case {
    let (shape, spacing) = ([2 * n, 2 * n, 2 * n], [1.0 / n as f64; 3]);
    let middle = (2 * n - 1) as f64 / (2 * n) as f64;
    let inside = |p: [f64; 3]| p.iter().map(|v| (v - middle).powi(2)).sum::<f64>() < 0.49;
    Case {
        name: format!("A6, {n} voxels per unit"),
        shape,
        spacing,
        values: fill(shape, spacing, |p| if inside(p) { 2.0 } else { 0.0 }),
        camera: Camera { projection: Projection::Parallel { half_height: 0.49 }, ..along_z(middle, middle, true) },
        transfer: TransferFunction { opacity: density(2.0, 1.0), colour: grey(&[[0.0, 1.0]]), unit_distance: 1.0 },
        step: 0.5 / n as f64,
        expected: [1.0 - (-2.8_f64).exp(); 2],
        tolerance: (-2.8_f64).exp() / n as f64,
    }
}

/// A7: spike of density 500 between the values 0.500 and 0.502, on a value that rises from 0 to 1
/// over length 1. All pixels are equal. Only integration over values can resolve the spike.
pub(crate) fn a7(samples: u32) -> Case {
    let (shape, spacing) = ([3, 3, 2], [0.5, 0.5, 1.0]);
    let sigma = 500.0_f64;
    // Over a short length, so that the opacity stays below 1.
    let opacity = 1.0 - (-sigma * 0.002).exp();
    Case {
        name: format!("A7, {samples} samples"),
        shape,
        spacing,
        values: fill(shape, spacing, |p| p[2]),
        camera: along_z(0.53, 0.47, true),
        transfer: TransferFunction {
            opacity: vec![[0.0, 0.0], [0.5, 0.0], [0.5, opacity], [0.502, opacity], [0.502, 0.0], [1.0, 0.0]],
            colour: grey(&[[0.0, 1.0]]),
            unit_distance: 0.002,
        },
        step: 1.0 / f64::from(samples),
        expected: [0.6321205588285577; 2],
        tolerance: 0.01 * 0.6321205588285577,
    }
}

/// A8: one sample of opacity 0.1 per unit, over another distance.
pub(crate) fn a8(step: f64, alpha: f64) -> Case {
    let (shape, spacing) = ([3, 3, 2], [1.0, 1.0, step]);
    Case {
        name: format!("A8, step {step}"),
        shape,
        spacing,
        values: fill(shape, spacing, |_| 3.0),
        camera: along_z(1.0, 1.0, true),
        transfer: TransferFunction { opacity: vec![[3.0, 0.1]], colour: grey(&[[3.0, 1.0]]), unit_distance: 1.0 },
        step,
        expected: [alpha; 2],
        tolerance: 1e-5,
    }
}

/// Cases that are exact up to rounding, for every renderer.
pub(crate) fn exact_cases() -> Vec<Case> {
    let mut cases = vec![a1(1), a1(37), a1(256), a2(16), a2(100), a5(true), a5(false)];
    cases.extend([(0.5, 0.05131670194948623), (0.25, 0.025996253574703254), (2.0, 0.19)].map(|(s, a)| a8(s, a)));
    cases
}

/// Checks the exact cases with pre-integration, including the spike, which is invisible without.
pub(crate) fn check_preintegrated(mut middle: impl FnMut(&Case, bool) -> [f32; 4]) {
    for case in exact_cases() {
        // The slabs of A5 are defined by samples; segments are at most two voxels long.
        if case.name.starts_with("A5") || case.spacing.iter().any(|spacing| case.step > 2.0 * spacing) {
            continue;
        }
        let [intensity, _, _, alpha] = middle(&case, true).map(f64::from);
        let off = (intensity - case.expected[0]).abs().max((alpha - case.expected[1]).abs());
        assert!(off <= case.tolerance, "{} with pre-integration: off by {off:e}", case.name);
    }
    for samples in [64, 37, 128] {
        let case = a7(samples);
        let [intensity, _, _, alpha] = middle(&case, true).map(f64::from);
        assert!((alpha - case.expected[1]).abs() < case.tolerance, "{}: alpha {alpha}", case.name);
        assert!((intensity - case.expected[0]).abs() < case.tolerance, "{}: intensity {intensity}", case.name);
    }
    // Samples 1/64 apart miss the spike; a sample in it would have a depth of 7.8.
    let [_, _, _, alpha] = middle(&a7(64), false).map(f64::from);
    assert_eq!(alpha, 0.0, "A7 without pre-integration");
    let [_, _, _, alpha] = middle(&a7(5000), false).map(f64::from);
    assert!((alpha - 0.6321).abs() < 0.05, "A7, as many samples as the spike needs: {alpha}");
    // A3: colours change within a segment. The error is a tenth of that of samples alone, and of
    // second order.
    for (samples, bound) in [(4, 5e-3), (16, 3.2e-4), (64, 2.2e-5)] {
        let case = a3(samples);
        let off = (f64::from(middle(&case, true)[0]) - case.expected[0]).abs();
        assert!(off < bound, "{} with pre-integration: off by {off:e}", case.name);
    }
}

/// Checks all exact cases, and A3. `middle` renders a case with an odd size and returns its middle
/// pixel.
pub(crate) fn check(mut middle: impl FnMut(&Case) -> [f32; 4]) {
    let mut error = |case: &Case| {
        let [red, green, blue, alpha] = middle(case).map(f64::from);
        assert!(red == green && green == blue, "{}: {red} {green} {blue}", case.name);
        [red - case.expected[0], alpha - case.expected[1]].map(f64::abs)
    };
    for case in exact_cases() {
        let [intensity, alpha] = error(&case);
        assert!(intensity.max(alpha) <= case.tolerance, "{}: off by {intensity:e} and {alpha:e}", case.name);
    }
    // A3: errors of the midpoint rule decrease 16-fold for 4 times as many samples.
    for (samples, known) in [(16, 9.2739909e-4), (64, 5.7994270e-5), (256, 3.6247664e-6)] {
        let [intensity, alpha] = error(&a3(samples));
        assert!((intensity - known).abs() < 0.02 * known + 3e-7, "A3, {samples} samples: {intensity:e}");
        assert!(alpha < 1e-5, "A3, {samples} samples: alpha off by {alpha:e}");
    }
}

/// Closed form of a blob or a ball: optical depth of a ray at a distance from the middle.
struct RadialDepth {
    middle: f64,
    depth: fn(f64) -> f64,
}

impl RadialDepth {
    /// Distance of each pixel's ray from the middle, and the error of its alpha.
    fn errors(&self, case: &Case, image: &Image) -> Vec<(f64, f64)> {
        let Projection::Parallel { half_height } = case.camera.projection else { return Vec::new() };
        let (width, height) = (image.width as f64, image.height as f64);
        let place = |pixel: usize| {
            let (column, row) = ((pixel % image.width) as f64, (pixel / image.width) as f64);
            // Axis 0 points to the left: the camera looks along axis 2, axis 1 is up.
            let x = case.camera.position[0] - half_height * (2.0 * column + 1.0 - width) / height;
            let y = case.camera.position[1] + half_height * (height - 2.0 * row - 1.0) / height;
            f64::hypot(x - self.middle, y - self.middle)
        };
        let off = |(pixel, colour): (usize, &[f32; 4])| {
            let distance = place(pixel);
            (distance, (f64::from(colour[3]) - (1.0 - (-(self.depth)(distance)).exp())).abs())
        };
        image.pixels.iter().enumerate().map(off).collect()
    }
}

/// Voxels per unit of length.
const SIZES: [i64; 7] = [10, 13, 17, 22, 29, 38, 49];

/// Order of convergence: slope of the regression line through the logarithms of the errors.
fn order(errors: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = SIZES.iter().zip(errors).map(|(&n, error)| ((n as f64).ln(), error.ln())).collect();
    let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let products = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>();
    -products / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

/// Checks the convergence of the blob (A4) and the ball (A6) with the distance of voxels and
/// samples: the error of every ray, and the overall error. `picture` renders a case at a size.
pub(crate) fn check_orders(mut picture: impl FnMut(&Case, (u32, u32)) -> Image) {
    let mut errors = |case: &Case, round: &RadialDepth, within: f64| -> Vec<(f64, f64)> {
        let all = round.errors(case, &picture(case, (31, 23)));
        all.into_iter().filter(|(distance, _)| *distance < within).collect()
    };
    let root_mean_square = |errors: &[(f64, f64)]| {
        (errors.iter().map(|(_, error)| error * error).sum::<f64>() / errors.len() as f64).sqrt()
    };
    let (mut blobs, mut balls) = (Vec::new(), Vec::new());
    for n in SIZES {
        // Trilinear interpolation and midpoints are of second order.
        let blob =
            RadialDepth { middle: 1.0, depth: |d| 0.8 * (2.0 * std::f64::consts::PI).sqrt() * (-d * d / 0.08).exp() };
        let found = errors(&a4(n), &blob, 1.0);
        for (distance, off) in &found {
            // An eighth of the second derivatives across the ray (of both axes, or of the larger
            // one), integrated along it, plus a fifth for terms of higher order.
            let (curved, depth) = (25.0 * (distance / 0.2).powi(2), (blob.depth)(*distance));
            let most = (curved - 25.0).max(50.0 - curved).max(25.0);
            let bound = 1.2 * most * depth * (-depth).exp() / (8 * n * n) as f64;
            assert!(*off < bound, "A4, {n} voxels per unit, distance {distance}: off by {off:e}, bound {bound:e}");
        }
        blobs.push(root_mean_square(&found));
        // A jump is of first order: the surface, and the ray, may appear half a voxel displaced.
        let chord = |d: f64| 4.0 * (0.49 - d * d).max(0.0).sqrt();
        let ball = RadialDepth { middle: (2 * n - 1) as f64 / (2 * n) as f64, depth: chord };
        let found = errors(&a6(n), &ball, 0.69);
        for (distance, off) in &found {
            let steep = distance / (0.49 - distance * distance).sqrt();
            let bound = (2.0 + steep) / n as f64 * (-chord(*distance)).exp();
            assert!(*off < bound, "A6, {n} voxels per unit, distance {distance}: off by {off:e}, bound {bound:e}");
        }
        balls.push(root_mean_square(&found));
    }
    let (blob, ball) = (order(&blobs), order(&balls));
    assert!((1.9..2.2).contains(&blob), "A4 is of order {blob}: {blobs:?}");
    assert!((0.85..1.15).contains(&ball), "A6 is of order {ball}: {balls:?}");
}
