//! Camera paths in JSON: poses at given times, and smoothly from one to the next.

use std::path::Path;

use serde::Deserialize;
use zippy_io::IoError;
use zippy_io::json;

use super::pose::Pose;

/// Keyframe frames in the order of their times.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    closed: bool,
    keyframes: Vec<Keyframe>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Keyframe {
    time: Option<f64>,
    azimuth: f64,
    #[serde(default = "elevation")]
    elevation: f64,
    #[serde(default = "zoom")]
    zoom: f64,
    focal_point: Option<[f64; 3]>,
}

fn elevation() -> f64 {
    29.0
}

fn zoom() -> f64 {
    1.0
}

/// What is interpolated: azimuth, elevation, the logarithm of the zoom, the focal point.
type Point = [f64; 6];

/// A path through key frames.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    times: Vec<f64>,
    points: Vec<Point>,
    /// Whether the path comes back to where it began, so that the movie runs on for ever.
    closed: bool,
    /// Whether focal points are given.
    focused: bool,
}

impl Track {
    /// Reads a file. Local.
    ///
    /// # Errors
    /// As [`json::read`], or the key frames make no path.
    pub fn read(path: &Path) -> Result<Self, IoError> {
        let file: File = json::read(path, "a list \"keyframes\"")?;
        Self::new(&file).map_err(|message| IoError::request(path, message))
    }

    fn new(file: &File) -> Result<Self, String> {
        let keys = &file.keyframes;
        if keys.len() < 2 {
            return Err(format!("{} key frames; a path needs at least 2", keys.len()));
        }
        let focused = keys[0].focal_point.is_some();
        if keys.iter().any(|key| key.focal_point.is_some() != focused) {
            return Err("some key frames have a focal_point and some have none; give all or none".into());
        }
        let sound = |key: &&Keyframe| key.zoom > 0.0 && (-90.0..=90.0).contains(&key.elevation);
        if let Some(Keyframe { elevation, zoom, .. }) = keys.iter().find(|key| !sound(key)) {
            let wrong = format!("a key frame has an elevation of {elevation} and a zoom of {zoom}");
            return Err(format!("{wrong}; elevation must be -90 to 90 and zoom above 0"));
        }
        let times: Vec<f64> = keys.iter().enumerate().map(|(number, key)| key.time.unwrap_or(number as f64)).collect();
        if let Some(late) =
            times.windows(2).position(|pair| pair[0].partial_cmp(&pair[1]) != Some(std::cmp::Ordering::Less))
        {
            return Err(format!("key frame {} is at {}, not after {}", late + 1, times[late + 1], times[late]));
        }
        let points: Vec<Point> = keys
            .iter()
            .map(|key| {
                let [x, y, z] = key.focal_point.unwrap_or_default();
                [key.azimuth, key.elevation, key.zoom.ln(), x, y, z]
            })
            .collect();
        let (first, last) = (&points[0], &points[points.len() - 1]);
        if file.closed && ((last[0] - first[0]) % 360.0 != 0.0 || last[1..] != first[1..]) {
            return Err(
                "a closed path ends where it begins: its last key frame must be the first one again, whole turns of \
                        azimuth apart"
                    .into(),
            );
        }
        Ok(Self { times, points, closed: file.closed, focused })
    }

    /// The poses of `frames` frames, evenly spread over the time of the path; a closed path does not repeat its first
    /// one.
    pub fn poses(&self, frames: u32) -> Vec<Pose> {
        let (first, last) = (self.times[0], self.times[self.times.len() - 1]);
        let steps = if self.closed { frames } else { (frames - 1).max(1) };
        (0..frames).map(|frame| self.at(first + (last - first) * f64::from(frame) / f64::from(steps))).collect()
    }

    /// A cubic between the key frames around a time, whose slopes at key frames are those between their neighbours:
    /// speed does not jump.
    fn at(&self, time: f64) -> Pose {
        let count = self.times.len();
        let from = self.times.partition_point(|&key| key <= time).clamp(1, count - 1) - 1;
        let length = self.times[from + 1] - self.times[from];
        let s = (time - self.times[from]) / length;
        let (begin, end) = (self.slope(from), self.slope(from + 1));
        let (p, q) = (&self.points[from], &self.points[from + 1]);
        let [azimuth, elevation, zoom, x, y, z] = std::array::from_fn(|i| {
            let (forth, back) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s));
            p[i] + (q[i] - p[i]) * forth + length * back * (begin[i] * (1.0 - s) - end[i] * s)
        });
        let focal_point = self.focused.then_some([x, y, z]);
        Pose { azimuth, elevation: elevation.clamp(-90.0, 90.0), zoom: zoom.exp(), focal_point }
    }

    /// Change per unit of time at a key frame.
    fn slope(&self, key: usize) -> Point {
        let last = self.times.len() - 1;
        let between = |from: usize, to: usize| -> Point {
            let length = self.times[to] - self.times[from];
            std::array::from_fn(|i| (self.points[to][i] - self.points[from][i]) / length)
        };
        match key {
            // Around the ends of a closed path.
            0 if self.closed => self.around(last),
            _ if key == last && self.closed => self.around(last),
            0 => between(0, 1),
            _ if key == last => between(last - 1, last),
            _ => between(key - 1, key + 1),
        }
    }

    fn around(&self, last: usize) -> Point {
        let length = self.times[last] - self.times[last - 1] + self.times[1] - self.times[0];
        std::array::from_fn(|i| {
            let change = self.points[last][i] - self.points[last - 1][i] + self.points[1][i] - self.points[0][i];
            change / length
        })
    }
}
