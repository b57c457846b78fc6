//! Look options and scene files, compared with the CPU reference renderer.

use ::volume::picture_setup::{self, PictureSetup};
use ::volume::value_mapping::ValueMapping;
use zippy::region::Region;
use zippy_io::image::Image;
use zippy_render::volume::{Distribution, Look, Phantom, Rescale, Shading, Twin, Values};

use super::common::nrrd::Temporary;
use super::{options, run};

/// Look of a command line for a volume. It must not depend on the distribution of the values.
pub(crate) fn look(
    words: &[&str],
    shape: [i64; 3],
    spacing: [f64; 3],
    values: impl Iterator<Item = f64> + Clone,
) -> Look {
    let setup =
        PictureSetup::new(&options(words).unwrap(), shape, spacing, Some(picture_setup::phantom(shape))).unwrap();
    let nothing = Distribution { min: f64::NAN, max: f64::NAN, counts: Vec::new() };
    let look = setup.look(&identity_mapping(Values { components: vec![nothing], left_out: 0 }));
    let (min, max) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
    Look { transfer: look.transfer.within(min, max), ..look }
}

/// Mapping without units, slope and intercept.
fn identity_mapping(stored: Values) -> ValueMapping {
    ValueMapping { stored, units: Rescale::default(), file: Rescale::default() }
}

/// Checks a picture against the reference. Only the contraction of products and sums differs.
pub(crate) fn assert_near(picture: &Image, expected: &Image, name: &str) {
    let difference = picture.difference(expected).unwrap();
    assert!(difference.max_abs <= 1e-5 && difference.psnr_db >= 110.0, "{name}: {difference:?}");
    let visible = picture.pixels.iter().filter(|pixel| pixel[3] > 0.2).count();
    assert!(visible > 100, "{name}: {visible} pixels");
}

const SHAPE: [i64; 3] = [21, 19, 17];

fn scene(light: &str) -> Temporary {
    let text = format!(
        r#"{{"scenes": [{{"file": "lit.png", "size": [34, 30], "sample_distance": 0.5,
        "projection": "perspective, vertical FOV 40 deg", "camera_position": [31, -17, 24], "focal_point": [10, 9, 8],
        "view_up": [0, 0, 1], "opacity_points": [[500, 0], [1300, 0.3], [4095, 0.9]],
        "rgb_points": [[0, 0.2, 0.4, 0.9], [4095, 1, 0.7, 0.3]], "background": [0.2, 0.1, 0]{light}}}]}}"#
    );
    Temporary::new(text.as_bytes())
}

/// The picture has the light of its scene, with all, some and no terms; `--shade` lights a scene
/// without light.
#[test]
fn scenes_are_drawn_with_their_light() {
    let all = Shading { ambient: 0.4, diffuse: 0.3, specular: 0.9, shininess: 3.0 };
    let bright = Shading { ambient: 0.4, diffuse: 0.6, specular: 0.2, shininess: 20.0 };
    let cases = [
        ("", false, None),
        (r#", "ambient": 0.4, "specular": 0.9"#, false, None),
        (r#", "shade": true"#, false, Some(Shading::default())),
        (r#", "shade": true, "specular": 0.8"#, false, Some(Shading { specular: 0.8, ..Shading::default() })),
        (r#", "shade": true, "ambient": 0.4, "diffuse": 0.3, "specular": 0.9, "shininess": 3"#, false, Some(all)),
        (r#", "shade": true, "ambient": 0.4, "diffuse": 0.3, "specular": 0.9, "shininess": 3"#, true, Some(all)),
        ("", true, Some(bright)),
    ];
    let mut pictures: Vec<(Option<Shading>, Image)> = Vec::new();
    for (light, shade, shading) in cases {
        let scene = scene(light);
        let mut words = vec!["--phantom-size", "21x19x17", "--scene", scene.0.to_str().unwrap()];
        words.extend(shade.then_some("--shade"));
        let phantom = Phantom { shape: SHAPE };
        let points: Vec<_> = Region::whole(SHAPE.into()).points().collect();
        let values = points.iter().map(|p| f64::from(phantom.value([p[0], p[1], p[2]])));
        let found = look(&words, SHAPE, [1.0; 3], values);
        assert_eq!(found.shading, shading, "{light}, --shade: {shade}");
        let twin = Twin::new(&found, SHAPE, [1.0; 3], |p| f32::from(phantom.value(p.map(i64::from)))).unwrap();
        let Some(rendered) = run(2, &words) else { continue };
        assert_eq!((rendered.image.width, rendered.background), (34, [0.2, 0.1, 0.0]));
        assert_near(&rendered.image, &twin.picture(&[([0; 3], twin.view.cells)]), light);
        pictures.push((shading, rendered.image));
    }
    for (number, (shading, picture)) in pictures.iter().enumerate() {
        for (other, earlier) in &pictures[..number] {
            let apart = picture.difference(earlier).unwrap().max_abs;
            assert!(if shading == other { apart == 0.0 } else { apart > 0.02 }, "{shading:?}, {other:?}: {apart}");
        }
    }
}

fn values() -> Values {
    Values { components: vec![Distribution { min: 0.0, max: 1.0, counts: vec![1, 1] }], left_out: 0 }
}

#[test]
fn light_options_replace_single_components() {
    let lit = scene(r#", "shade": true, "ambient": 0.4, "shininess": 3"#);
    let unlit = scene("");
    let shading = |words: &[&str]| {
        let words = [&["--phantom-size", "21x19x17"], words].concat();
        PictureSetup::new(&options(&words).unwrap(), SHAPE, [1.0; 3], None)
            .map(|setup| setup.look(&identity_mapping(values())).shading)
    };
    let some = |ambient, diffuse, specular, shininess| Some(Shading { ambient, diffuse, specular, shininess });
    assert_eq!(shading(&[]).unwrap(), None);
    assert_eq!(shading(&["--shade", "--ambient", "0.5"]).unwrap(), some(0.5, 0.6, 0.2, 20.0));
    let all = ["--shade", "--ambient", "0", "--diffuse", "1", "--specular", "0.25", "--shininess", "1"];
    assert_eq!(shading(&all).unwrap(), some(0.0, 1.0, 0.25, 1.0));
    let path = lit.0.to_str().unwrap();
    assert_eq!(shading(&["--scene", path, "--diffuse", "0.25"]).unwrap(), some(0.4, 0.25, 0.2, 3.0));
    let error = shading(&["--scene", unlit.0.to_str().unwrap(), "--specular", "0.5"]).unwrap_err().to_string();
    assert!(error.contains("give --shade"), "{error}");
}

/// The default camera shows a cropped volume as large as a volume of that size.
#[test]
fn default_camera_fits_the_cropped_box() {
    let camera = |words: &[&str], shape: [i64; 3]| {
        let words = [&["--phantom-size", "30"], words].concat();
        let setup = PictureSetup::new(&options(&words).unwrap(), shape, [1.0, 2.0, 0.5], None).unwrap();
        setup.look(&identity_mapping(values())).camera
    };
    let shape = [31, 21, 41];
    let cropped = camera(&["--crop", "10:20,-5:6,:"], shape);
    // The remaining box: 10 to 20, 0 to 6, 0 to 20.
    let small = camera(&[], [11, 4, 41]);
    let moved = |point: [f64; 3]| [point[0] + 10.0, point[1], point[2]];
    for (found, wanted) in [(cropped.focal_point, moved(small.focal_point)), (cropped.position, moved(small.position))]
    {
        assert!((0..3).all(|axis| (found[axis] - wanted[axis]).abs() < 1e-9), "{found:?}, {wanted:?}");
    }
    assert_eq!(cropped.projection, small.projection);
}
