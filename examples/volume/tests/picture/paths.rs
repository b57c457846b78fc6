//! Camera paths of movies.

use ::volume::keyframes::Track;
use ::volume::movie::{self, CameraPath};
use ::volume::pose::{Framing, Pose};
use zippy_render::volume::{Camera, Projection};

use super::common::nrrd::Temporary;

const FRAMING: Framing = Framing { low: [0.0; 3], high: [40.0, 30.0, 40.0], is_parallel: false, fov: 40.0 };

fn start(framing: &Framing) -> Camera {
    framing.camera(&Pose { azimuth: 10.0, elevation: 20.0, zoom: 1.0, focal_point: None }).unwrap()
}

fn is_near(a: [f64; 3], b: [f64; 3]) -> bool {
    (0..3).all(|axis| (a[axis] - b[axis]).abs() < 1e-9)
}

fn distance(camera: &Camera) -> f64 {
    (0..3).map(|axis| (camera.position[axis] - camera.focal_point[axis]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn orbit_frames_have_increasing_azimuths() {
    let cameras = CameraPath::Orbit.cameras(&start(&FRAMING), &FRAMING, 8).unwrap();
    for (frame, camera) in cameras.iter().enumerate() {
        let azimuth = 10.0 + 45.0 * frame as f64;
        let expected = FRAMING.camera(&Pose { azimuth, elevation: 20.0, zoom: 1.0, focal_point: None }).unwrap();
        assert!(
            is_near(camera.position, expected.position) && is_near(camera.view_up, expected.view_up),
            "frame {frame}"
        );
        assert_eq!((camera.focal_point, camera.projection), (expected.focal_point, expected.projection));
    }
    // A camera whose up direction is perpendicular to z orbits around its up direction.
    let aside = Camera {
        view_up: [0.0, 2.0, 0.0],
        position: [90.0, 15.0, 20.0],
        focal_point: [20.0, 15.0, 20.0],
        ..start(&FRAMING)
    };
    let cameras = CameraPath::Orbit.cameras(&aside, &FRAMING, 4).unwrap();
    assert!(is_near(cameras[1].position, [20.0, 15.0, -50.0]), "{:?}", cameras[1]);
    assert!(is_near(cameras[1].view_up, aside.view_up));
}

#[test]
fn rock_and_zoom_return_to_the_start() {
    let begin = start(&FRAMING);
    let rock = CameraPath::Rock.cameras(&begin, &FRAMING, 12).unwrap();
    let side = FRAMING.camera(&Pose { azimuth: 40.0, elevation: 20.0, zoom: 1.0, focal_point: None }).unwrap();
    assert!(is_near(rock[0].position, begin.position) && is_near(rock[3].position, side.position));
    assert!(is_near(rock[6].position, begin.position) && !is_near(rock[9].position, side.position));
    let zoom = CameraPath::Zoom.cameras(&begin, &FRAMING, 10).unwrap();
    assert!(is_near(zoom[0].position, begin.position));
    assert!((distance(&zoom[5]) - distance(&begin) / 2.0).abs() < 1e-9);
    assert!((distance(&zoom[3]) - distance(&zoom[7])).abs() < 1e-9);
    let parallel_framing = Framing { is_parallel: true, ..FRAMING };
    let begin = start(&parallel_framing);
    let zoom = CameraPath::Zoom.cameras(&begin, &parallel_framing, 2).unwrap();
    let half = |camera: &Camera| match camera.projection {
        Projection::Parallel { half_height } => half_height,
        Projection::Perspective { .. } => panic!("{camera:?}"),
    };
    assert_eq!(zoom[1].position, begin.position);
    assert!((half(&zoom[1]) - half(&begin) / 2.0).abs() < 1e-9);
}

#[test]
fn angle_of_view_does_not_change_the_size() {
    let height = |camera: Camera| match camera.projection {
        Projection::Parallel { half_height } => half_height,
        Projection::Perspective { vertical_fov_degrees } => {
            distance(&camera) * (vertical_fov_degrees / 2.0).to_radians().tan()
        }
    };
    let overview = height(Camera::overview([41, 31, 21], [1.0, 1.0, 2.0]));
    for framing in [FRAMING, Framing { fov: 12.0, ..FRAMING }, Framing { is_parallel: true, ..FRAMING }] {
        let pose = Pose { azimuth: 3.0, elevation: -90.0, zoom: 1.0, focal_point: None };
        assert!((height(framing.camera(&pose).unwrap()) - overview).abs() < 1e-9);
        assert!((height(framing.camera(&Pose { zoom: 2.5, ..pose }).unwrap()) - overview / 2.5).abs() < 1e-9);
    }
}

fn track(text: &str) -> Result<Track, String> {
    let file = Temporary::new(text.as_bytes());
    Track::read(&file.0).map_err(|error| error.to_string())
}

#[test]
fn path_passes_key_frames_with_continuous_speed() {
    let text = r#"{"keyframes": [{"azimuth": 0}, {"time": 1.5, "azimuth": 90, "zoom": 2, "elevation": 80},
        {"time": 2, "azimuth": 60}, {"time": 4, "azimuth": 60, "elevation": -10}]}"#;
    let track = track(text).unwrap();
    let poses = track.poses(4001);
    assert_eq!(poses[0], Pose { azimuth: 0.0, elevation: 29.0, zoom: 1.0, focal_point: None });
    let pose = poses[1500];
    assert!(
        (pose.azimuth - 90.0).abs() < 1e-9 && (pose.elevation - 80.0).abs() < 1e-9 && (pose.zoom - 2.0).abs() < 1e-9
    );
    assert!((poses[2000].azimuth - 60.0).abs() < 1e-9 && (poses[4000].elevation + 10.0).abs() < 1e-9);
    let speed = |frame: usize| poses[frame + 1].azimuth - poses[frame].azimuth;
    let jump = (0..3999).map(|frame| (speed(frame + 1) - speed(frame)).abs()).fold(0.0, f64::max);
    let fastest = (0..4000).map(|frame| speed(frame).abs()).fold(0.0, f64::max);
    assert!(jump < 0.02 * fastest, "{jump} of {fastest}");
    assert_eq!(track.poses(1)[0], poses[0]);
}

#[test]
fn closed_paths_have_no_seam() {
    let text = r#"{"closed": true, "keyframes": [{"azimuth": 0, "focal_point": [1, 2, 3]},
        {"azimuth": 100, "focal_point": [4, 2, 3]}, {"azimuth": 360, "focal_point": [1, 2, 3]}]}"#;
    let poses = track(text).unwrap().poses(1000);
    let (first, last) = (poses[0], poses[999]);
    assert!((last.azimuth - 360.0).abs() < 1.0 && last.azimuth < 360.0);
    let before = 360.0 - last.azimuth;
    assert!((poses[1].azimuth - before).abs() < 0.02 * before, "{} and {before}", poses[1].azimuth);
    assert_eq!(first.focal_point, Some([1.0, 2.0, 3.0]));
}

#[test]
fn malformed_camera_path_is_an_error_with_its_reason() {
    let cases = [
        ("{", "EOF"),
        ("[1]", "byte 0: not a JSON object with a list \"keyframes\""),
        (r#"{"keyframes": [{"azimuth": 0}]}"#, "1 key frames; a path needs at least 2"),
        (r#"{"keyframes": [{"azimuth": 0}, {"elevation": 0}]}"#, "missing field `azimuth`"),
        (r#"{"keyframes": [{"azimuth": 0}, {"azimut": 0}]}"#, "unknown field `azimut`"),
        (
            r#"{"keyframes": [{"azimuth": 0, "time": 3}, {"azimuth": 1, "time": 3}]}"#,
            "key frame 1 is at 3, not after 3",
        ),
        (r#"{"keyframes": [{"azimuth": 0, "zoom": 0}, {"azimuth": 1}]}"#, "zoom of 0"),
        (r#"{"keyframes": [{"azimuth": 0, "elevation": 100}, {"azimuth": 1}]}"#, "elevation of 100"),
        (r#"{"keyframes": [{"azimuth": 0, "focal_point": [0, 0, 0]}, {"azimuth": 1}]}"#, "give all or none"),
        (r#"{"closed": true, "keyframes": [{"azimuth": 0}, {"azimuth": 90}]}"#, "must end with its first key frame"),
    ];
    for (text, wanted) in cases {
        let message = track(text).unwrap_err();
        assert!(message.contains(wanted), "{text}: {message}");
    }
    assert_eq!(movie::parse_path("a.json"), Ok(CameraPath::File("a.json".into())));
    if cfg!(unix) {
        let endless = Track::read(std::path::Path::new("/dev/zero")).unwrap_err();
        assert!(endless.to_string().contains("not a regular file"), "{endless}");
    }
    let missing = movie::parse_path("no/such.json").unwrap().cameras(&start(&FRAMING), &FRAMING, 5).unwrap_err();
    assert!(missing.to_string().contains("cannot open"), "{missing}");
}

/// The files in the help text.
#[test]
fn shown_files_are_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let poses = Track::read(&folder.join("keyframes.json")).unwrap().poses(6);
    assert_eq!((poses[0].azimuth, poses[0].zoom, poses.len()), (-47.0, 1.0, 6));
    let transfer = zippy_render::transfer::read(folder.join("transfer.json")).unwrap();
    assert!(transfer.opacity_at(600.0) == 0.0 && transfer.opacity_at(4095.0) == 0.9);
}
