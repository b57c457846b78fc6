//! Output files, read with independent decoders.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use zippy_io::image::Image;

use super::{failures, rendered};

const SMALL: [&str; 4] = ["--phantom-size", "17x15x13", "--size", "22x18"];

/// An empty directory; dropping it removes it.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("zippy-volume-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Decodes the frames of a PNG file without conversion.
fn decoded(path: impl AsRef<Path>) -> (png::Info<'static>, Vec<Vec<u8>>) {
    let mut reader = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
    let info = reader.info().clone();
    let frames = info.animation_control.map_or(1, |control| control.num_frames);
    let frame = |_| {
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut bytes).unwrap();
        bytes
    };
    (info, (0..frames).map(frame).collect())
}

/// Runs a job and returns its picture in the process that has it.
fn written(words: &[&str]) -> Option<Image> {
    rendered(2, &[&SMALL[..], words].concat(), true).map(|rendered| rendered.image)
}

#[test]
fn png_with_16_bits_and_alpha_equals_the_picture() {
    let directory = Directory::new("alpha");
    let path = directory.file("a.png");
    let Some(image) = written(&["--depth", "16", "--alpha", "--output", &path]) else { return };
    let (info, frames) = decoded(&path);
    assert_eq!((info.width, info.height), (22, 18));
    assert_eq!((info.bit_depth, info.color_type), (png::BitDepth::Sixteen, png::ColorType::Rgba));
    let mut translucent = 0;
    for (pixel, stored) in image.pixels.iter().zip(frames[0].chunks_exact(8)) {
        let level = |part: usize| f64::from(u16::from_be_bytes([stored[2 * part], stored[2 * part + 1]])) / 65535.0;
        let alpha = f64::from(pixel[3]);
        assert!((level(3) - alpha).abs() <= 0.6 / 65535.0);
        // PNG has straight colours, the picture has premultiplied colours.
        for part in 0..3 {
            assert!((level(part) * alpha - f64::from(pixel[part])).abs() <= 1.2 / 65535.0, "{pixel:?}: {stored:?}");
        }
        translucent += usize::from(alpha > 0.1 && alpha < 0.9);
    }
    assert!(translucent > 5, "{translucent} translucent pixels");
}

#[test]
fn background_is_blended_below_the_picture() {
    let directory = Directory::new("background");
    let path = directory.file("a.png");
    let Some(image) = written(&["--background", "#ff8000", "--output", &path]) else { return };
    let (info, frames) = decoded(&path);
    assert_eq!((info.bit_depth, info.color_type), (png::BitDepth::Eight, png::ColorType::Rgb));
    for (pixel, stored) in image.pixels.iter().zip(frames[0].chunks_exact(3)) {
        for (part, behind) in [1.0, 128.0 / 255.0, 0.0].into_iter().enumerate() {
            let expected = (f64::from(pixel[part]) + (1.0 - f64::from(pixel[3])) * behind) * 255.0;
            assert!((f64::from(stored[part]) - expected).abs() <= 0.51, "{pixel:?}: {stored:?}");
        }
    }
}

#[test]
fn npy_file_has_the_floats_of_the_picture() {
    let directory = Directory::new("floats");
    let path = directory.file("a.npy");
    let Some(image) = written(&["--output", &path]) else { return };
    let bytes = std::fs::read(&path).unwrap();
    let head = std::str::from_utf8(&bytes[10..bytes.len() - 22 * 18 * 16]).unwrap();
    assert!(head.contains("'<f4'") && head.contains("(18, 22, 4,)"), "{head}");
    let floats = bytes[bytes.len() - 22 * 18 * 16..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
    assert!(floats.eq(image.pixels.as_flattened().iter().copied()));
    assert!(image.pixels.iter().any(|pixel| pixel[3] > 0.9));
}

#[test]
fn movies_have_different_frames_of_the_same_camera_path() {
    let directory = Directory::new("movie");
    let (movie, stills) = (directory.file("a.apng"), directory.file("frame_%03d.png"));
    let path = ["--movie", "orbit", "--frames", "5"];
    let Some(last) = written(&[&path[..], &["--fps", "8", "--output", &movie]].concat()) else {
        // Writing numbered frames is collective.
        assert!(written(&[&path[..], &["--output", &stills]].concat()).is_none());
        return;
    };
    let numbered = written(&[&path[..], &["--output", &stills]].concat()).unwrap();
    assert_eq!(numbered, last);
    let (info, frames) = decoded(&movie);
    assert_eq!((info.frame_control.unwrap().delay_num, info.frame_control.unwrap().delay_den), (1, 8));
    assert_eq!((info.animation_control.unwrap().num_frames, info.animation_control.unwrap().num_plays), (5, 0));
    for (number, frame) in frames.iter().enumerate() {
        assert!(frames[..number].iter().all(|other| other != frame), "frame {number}");
        assert_eq!(&decoded(directory.file(&format!("frame_{number:03}.png"))).1[0], frame);
    }
    assert_eq!(last.over_background([0.0; 3]), frames[4]);
    let names = ["a.apng", "frame_000.png", "frame_001.png", "frame_002.png", "frame_003.png", "frame_004.png"];
    assert_eq!(directory.names(), names);
}

#[test]
fn failed_movie_leaves_no_file() {
    let directory = Directory::new("fails");
    let path = directory.file("a.apng");
    let keys = directory.file("keys.json");
    // At this zoom the camera is at its focal point and has no direction.
    std::fs::write(&keys, r#"{"keyframes": [{"azimuth": 0}, {"azimuth": 1, "zoom": 1e18}]}"#).unwrap();
    let movie = ["--movie", &keys, "--frames", "3", "--output", &path];
    for message in failures(2, &[&SMALL[..], &movie].concat()) {
        assert!(message.contains("focal point"), "{message}");
    }
    assert_eq!(directory.names(), ["keys.json"]);
    for message in failures(2, &[&SMALL[..], &["--output", &directory.file("no/such/a.png")]].concat()) {
        assert!(message.contains("a.png: cannot write: the folder") && message.contains("is missing"), "{message}");
    }
}
