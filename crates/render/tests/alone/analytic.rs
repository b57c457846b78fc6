//! CPU ray caster against closed forms: the analytic cases with and without pre-integration, cuts,
//! jitter, components, light, early ray termination.

use zippy_io::image::Image;
use zippy_render::volume::{ClipPlane, Crop, Look, Shading, TransferFunction, Twin};

use crate::common::analytic::{self, Case};

const SIZE: (u32, u32) = (5, 3);

fn look(case: &Case) -> Look {
    Look { step: case.step, size: SIZE, ..Look::new(case.camera.clone(), case.transfer.clone()) }
}

fn picture(case: &Case, look: &Look) -> Image {
    let [nx, ny, _] = case.shape.map(|n| n as i32);
    let voxel = |[x, y, z]: [i32; 3]| case.values[(x + nx * (y + ny * z)) as usize];
    let twin = Twin::new(look, case.shape, case.spacing, voxel).unwrap();
    twin.picture(&[([0; 3], twin.view.cells)])
}

fn middle(case: &Case, look: &Look) -> [f32; 4] {
    picture(case, look).pixels[7]
}

#[test]
fn closed_form_pictures() {
    analytic::check(|case| middle(case, &look(case)));
    analytic::check_orders(|case, size| picture(case, &Look { size, ..look(case) }));
}

#[test]
fn closed_form_pictures_with_preintegration() {
    analytic::check_preintegrated(|case, preintegrated| middle(case, &Look { preintegrated, ..look(case) }));
}

/// Case A1 with cuts of the length of 2.
#[test]
fn cuts_leave_the_expected_length() {
    let case = analytic::a1(64);
    let plane = |normal, offset| ClipPlane { normal, offset };
    let crop = |low, high| Some(Crop { low: [0.0, 0.0, low], high: [1.0, 1.0, high] });
    // The ray runs upwards along axis 2 at x = 0.53, y = 0.47.
    let looks = [
        (Look { clip: vec![plane([0.0, 0.0, 1.0], 0.75)], ..look(&case) }, 1.25),
        (Look { clip: vec![plane([0.0, 0.0, -3.0], -1.5)], ..look(&case) }, 0.5),
        (Look { clip: vec![plane([0.0, 0.0, 1.0], 0.25), plane([0.0, 0.0, -1.0], -1.0)], ..look(&case) }, 0.75),
        (Look { clip: vec![plane([-1.0, 0.0, 1.0], 1.0)], ..look(&case) }, 0.47),
        (Look { clip: vec![plane([1.0, 0.0, 0.0], 0.5)], ..look(&case) }, 2.0),
        (Look { clip: vec![plane([1.0, 0.0, 0.0], 0.6)], ..look(&case) }, 0.0),
        (Look { crop: crop(0.5, 1.25), ..look(&case) }, 0.75),
        (Look { crop: crop(-5.0, 0.5), ..look(&case) }, 0.5),
        (Look { crop: crop(2.5, 3.0), ..look(&case) }, 0.0),
        (Look { crop: crop(0.5, 1.25), clip: vec![plane([0.0, 0.0, 1.0], 1.0)], ..look(&case) }, 0.25),
        (Look { crop: Some(Crop { low: [0.6, 0.0, 0.0], high: [1.0, 1.0, 2.0] }), ..look(&case) }, 0.0),
    ];
    for preintegrated in [false, true] {
        for (number, (look, length)) in looks.iter().enumerate() {
            let look = Look { preintegrated, ..look.clone() };
            let alpha = f64::from(middle(&case, &look)[3]);
            // Lengths are whole numbers of steps to half a step.
            let through = |length: f64| (-1.5 * length).exp();
            let half = case.step / 2.0 + 1e-6;
            let (most, least) = (1.0 - through(length + half), 1.0 - through(length - half));
            assert!((least..=most).contains(&alpha) || (*length == 0.0 && alpha == 0.0), "look {number}: {alpha}");
        }
    }
}

#[test]
fn cuts_are_in_units_of_length() {
    let case = Case { spacing: [0.5, 0.25, 0.125], ..analytic::a1(64) };
    let mut look = look(&case);
    look.step = 1.0 / 64.0;
    let alpha = |look: &Look| f64::from(middle(&case, look)[3]);
    assert!((alpha(&look) - (1.0 - (-1.5_f64).exp())).abs() < 1e-5);
    look.clip = vec![ClipPlane { normal: [2.0, 0.0, 2.0], offset: 2.0 * (0.53 + 0.25) }];
    assert!((alpha(&look) - (1.0 - (-1.5 * 0.75_f64).exp())).abs() < 1e-5);
    look.crop = Some(Crop { low: [0.0, 0.0, 0.0], high: [9.0, 9.0, 0.5] });
    assert!((alpha(&look) - (1.0 - (-1.5 * 0.25_f64).exp())).abs() < 1e-5);
}

#[test]
fn jitter_shifts_samples_and_nothing_else() {
    // Jitter has no effect on a constant, but on a colour that varies along the ray.
    let constant = analytic::a1(16);
    let plain = picture(&constant, &look(&constant));
    let shifted = picture(&constant, &Look { jitter: true, ..look(&constant) });
    assert!(plain.difference(&shifted).unwrap().max_abs < 1e-6);
    let case = analytic::a3(16);
    let big = |jitter| Look { jitter, size: (41, 31), ..look(&case) };
    let (plain, shifted) = (picture(&case, &big(false)), picture(&case, &big(true)));
    let seen: Vec<usize> = (0..41 * 31).filter(|&i| plain.pixels[i][3] > 0.9).collect();
    let offsets: Vec<f32> = seen.iter().map(|&i| shifted.pixels[i][0] - plain.pixels[i][0]).collect();
    let (least, most) = offsets.iter().fold((0.0_f32, 0.0_f32), |(lo, hi), &o| (lo.min(o), hi.max(o)));
    let mean = offsets.iter().sum::<f32>() / offsets.len() as f32;
    // Half a step is 1/32 of the length: the colour changes by up to 0.03 times the opacity, in
    // both directions, evenly distributed.
    assert!(least < -0.025 && most > 0.025 && least > -0.031 && most < 0.031, "{least} to {most}");
    assert!(mean.abs() < 0.002, "{mean} of {}", offsets.len());
    // Jitter is a fixed function of the pixel.
    assert_eq!(picture(&case, &big(true)), shifted);
}

/// Two components: colour, opacity. Four components: direct colour, opacity.
#[test]
fn components_are_colour_and_opacity() {
    let case = analytic::a1(32);
    let transfer = TransferFunction {
        opacity: vec![[0.0, 0.0], [100.0, 0.8]],
        colour: vec![[0.0, 0.0, 1.0, 0.25], [100.0, 1.0, 0.0, 0.25]],
        unit_distance: 1.0,
    };
    let cell = [20.0, 50.0, 40.0, 75.0];
    let pixel = |components: usize, preintegrated: bool| {
        let look = Look { transfer: transfer.clone(), preintegrated, ..look(&case) };
        let voxel = |[x, _, _]: [i32; 3]| {
            assert!((0..5 * components as i32).contains(&x));
            cell[(x % components as i32) as usize]
        };
        let twin = Twin::with_components(&look, case.shape, case.spacing, (components, 0.01), voxel).unwrap();
        twin.picture(&[([0; 3], twin.view.cells)]).pixels[7].map(f64::from)
    };
    let alpha = |value: f64| 1.0 - (1.0 - 0.008 * value).powi(2);
    for preintegrated in [false, true] {
        let expected =
            [(1, [0.2, 0.8, 0.25], alpha(20.0)), (2, [0.2, 0.8, 0.25], alpha(50.0)), (4, [0.2, 0.5, 0.4], alpha(75.0))];
        for (components, rgb, alpha) in expected {
            let found = pixel(components, preintegrated);
            let wanted = [rgb[0] * alpha, rgb[1] * alpha, rgb[2] * alpha, alpha];
            let off = (0..4).map(|c| (found[c] - wanted[c]).abs()).fold(0.0, f64::max);
            // Integrals count as constant within 1/4096 of the range of values.
            let bound = if preintegrated { 2.5e-4 } else { 1e-5 };
            assert!(off < bound, "{components} components, {preintegrated}: {found:?}, not {wanted:?}");
        }
    }
    let one = Twin::with_components(&look(&case), case.shape, case.spacing, (3, 1.0), |_| 0.0).map(|_| ());
    assert!(one.unwrap_err().to_string().contains("3 components"));
}

/// The gradient of a density along axis 2 is parallel to the ray; from the side, perpendicular.
#[test]
fn light_depends_on_the_gradient() {
    let case = analytic::a2(64);
    let light = Shading { ambient: 0.25, diffuse: 0.5, specular: 0.125, shininess: 8.0 };
    for preintegrated in [false, true] {
        let lit = Look { shading: Some(light), preintegrated, ..look(&case) };
        let [intensity, _, _, alpha] = middle(&case, &lit).map(f64::from);
        assert!((alpha - case.expected[1]).abs() < 1e-5);
        assert!((intensity - 0.875 * alpha).abs() < 1e-5, "{intensity} of {alpha}");
        // At 45 degrees the cosine is sqrt(1/2); anisotropic voxels must not change the direction
        // of the gradient.
        let mut slanted = Case { spacing: [0.5, 0.25, 0.125], ..case.clone() };
        slanted.camera.position = [1.0 - 4.0, 0.5, 0.5 - 4.0];
        slanted.camera.focal_point = [1.0, 0.5, 0.5];
        let [intensity, _, _, alpha] = middle(&slanted, &Look { camera: slanted.camera.clone(), ..lit }).map(f64::from);
        let shade = 0.25 + 0.5 * 0.5_f64.sqrt() + 0.125 / 16.0;
        assert!(alpha > 0.3 && (intensity - shade * alpha).abs() < 1e-5, "{intensity} of {alpha}");
    }
    let constant = analytic::a1(64);
    let [intensity, _, _, alpha] = middle(&constant, &Look { shading: Some(light), ..look(&constant) }).map(f64::from);
    assert!((intensity - 0.25 * 0.8 * alpha).abs() < 1e-6);
}

/// No component changes by more than the remaining share of light.
#[test]
fn rays_end_early_within_the_bound() {
    let case = analytic::a3(256);
    let dense = TransferFunction { opacity: vec![[0.0, 0.999]], ..case.transfer.clone() };
    let with = |termination: f32| Look { transfer: dense.clone(), termination, ..look(&case) };
    let whole = middle(&case, &with(0.0));
    assert!(whole[3] < 1.0 && whole[3] > 0.9999);
    for termination in [0.1, 0.01, 2.0_f32.powi(-12)] {
        let ended = middle(&case, &with(termination));
        assert_eq!(ended[3], 1.0);
        let off = (0..4).map(|c| (ended[c] - whole[c]).abs()).fold(0.0, f32::max);
        assert!(off > 0.0 && off <= termination, "{termination}: off by {off}");
    }
    // Light can make colours brighter than 1: rays end later.
    let bright = Shading { ambient: 1.0, diffuse: 0.5, specular: 1.0, shininess: 1.0 };
    let slope = Case { values: (0..225).map(|i| 7.0 + (i / 25) as f32).collect(), ..analytic::a1(256) };
    let dense =
        TransferFunction { opacity: vec![[0.0, 0.999]], colour: vec![[0.0, 1.0, 1.0, 1.0]], unit_distance: 1.0 };
    // Rays end after whole blocks of 32 samples, each of which transmits 10^-0.75 of the light;
    // light makes it 2.5 times as bright.
    for blocks in [2, 4] {
        let termination = 1.05 * 10.0_f32.powf(-0.75 * blocks as f32);
        let lit = |termination| {
            let look = Look { transfer: dense.clone(), shading: Some(bright), termination, ..look(&slope) };
            (middle(&slope, &look), look.ends_at())
        };
        let ((whole, _), (ended, ends_at)) = (lit(0.0), lit(termination));
        let off = (0..4).map(|c| (ended[c] - whole[c]).abs()).fold(0.0, f32::max);
        assert!(off > 0.2 * termination && off <= termination, "{termination}: off by {off}");
        assert!(ended[3] == 1.0 && (ends_at - termination / 2.5).abs() < 1e-9, "{ended:?}, {ends_at}");
    }
    assert_eq!(middle(&case, &with(1e-7)), whole, "as long as light comes through, nothing ends");
}

#[test]
fn long_steps_are_not_integrated() {
    let case = analytic::a1(4);
    let long = Look { preintegrated: true, step: 0.51, ..look(&case) };
    let error = Twin::new(&long, case.shape, case.spacing, |_| 0.0).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("0.51") && error.contains("0.5"), "{error}");
}

/// With all features on, cuts between boxes change rounding only.
#[test]
fn boxes_join_without_seams() {
    let case = analytic::a4(10);
    let look = Look {
        shading: Some(Shading::default()),
        preintegrated: true,
        jitter: true,
        clip: vec![ClipPlane { normal: [1.0, 0.5, 0.25], offset: 1.3 }],
        crop: Some(Crop { low: [0.1; 3], high: [1.9, 1.8, 1.7] }),
        size: (23, 17),
        ..look(&case)
    };
    let [nx, ny, _] = case.shape.map(|n| n as i32);
    let voxel = |[x, y, z]: [i32; 3]| case.values[(x + nx * (y + ny * z)) as usize];
    let twin = Twin::new(&look, case.shape, case.spacing, voxel).unwrap();
    let whole = twin.picture(&[([0; 3], twin.view.cells)]);
    assert!(whole.pixels.iter().filter(|pixel| pixel[3] > 0.1).count() > 100);
    let cut = twin.picture(&[([0; 3], [20, 20, 7]), ([0, 0, 7], [20, 20, 8]), ([0, 0, 8], [20, 20, 20])]);
    let difference = whole.difference(&cut).unwrap();
    assert!(difference.max_abs < 1e-6, "{difference:?}");
}
