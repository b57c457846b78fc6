//! Camera paths from JSON files: key frames with smooth interpolation.

use std::path::Path;

use serde::Deserialize;
use zippy_files::json;
use zippy_io::IoError;

use super::pose::Pose;

/// JSON file of a camera path, with key frames in ascending order of their times.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct PathFile {
    #[serde(default)]
    closed: bool,
    keyframes: Vec<Keyframe>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Keyframe {
    time: Option<f64>,
    azimuth: f64,
    #[serde(default = "default_elevation")]
    elevation: f64,
    #[serde(default = "default_zoom")]
    zoom: f64,
    focal_point: Option<[f64; 3]>,
}

fn default_elevation() -> f64 {
    29.0
}

fn default_zoom() -> f64 {
    1.0
}

/// Interpolated quantities: azimuth, elevation, logarithm of the zoom, focal point.
type KeyPoint = [f64; 6];

/// Camera path through key frames.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    times: Vec<f64>,
    points: Vec<KeyPoint>,
    /// True if the path ends where it begins, so that the movie can repeat.
    closed: bool,
    /// True if the key frames have focal points.
    has_focal_points: bool,
}

impl Track {
    /// Reads a JSON file. Local.
    ///
    /// # Errors
    /// Errors of [`json::read`]; key frames that make no path.
    pub fn read(path: &Path) -> Result<Self, IoError> {
        let file: PathFile = json::read(path, "a list \"keyframes\"")?;
        Self::new(&file).map_err(|message| IoError::request(path, message))
    }

    fn new(file: &PathFile) -> Result<Self, String> {
        let keys = &file.keyframes;
        if keys.len() < 2 {
            return Err(format!("{} key frames; a path needs at least 2", keys.len()));
        }
        let has_focal_points = keys[0].focal_point.is_some();
        if keys.iter().any(|key| key.focal_point.is_some() != has_focal_points) {
            return Err("some key frames have a focal_point and some have none; give all or none".into());
        }
        let is_valid = |key: &&Keyframe| key.zoom > 0.0 && (-90.0..=90.0).contains(&key.elevation);
        if let Some(Keyframe { elevation, zoom, .. }) = keys.iter().find(|key| !is_valid(key)) {
            let wrong = format!("a key frame has an elevation of {elevation} and a zoom of {zoom}");
            return Err(format!("{wrong}; elevation must be -90 to 90 and zoom above 0"));
        }
        let times: Vec<f64> = keys.iter().enumerate().map(|(number, key)| key.time.unwrap_or(number as f64)).collect();
        if let Some(index) =
            times.windows(2).position(|pair| pair[0].partial_cmp(&pair[1]) != Some(std::cmp::Ordering::Less))
        {
            return Err(format!("key frame {} is at {}, not after {}", index + 1, times[index + 1], times[index]));
        }
        let points: Vec<KeyPoint> = keys
            .iter()
            .map(|key| {
                let [x, y, z] = key.focal_point.unwrap_or_default();
                [key.azimuth, key.elevation, key.zoom.ln(), x, y, z]
            })
            .collect();
        let (first, last) = (&points[0], &points[points.len() - 1]);
        if file.closed && ((last[0] - first[0]) % 360.0 != 0.0 || last[1..] != first[1..]) {
            return Err(
                "a closed path must end with its first key frame, a multiple of 360 degrees of azimuth later".into()
            );
        }
        Ok(Self { times, points, closed: file.closed, has_focal_points })
    }

    /// Poses of `frames` frames at equal intervals over the time of the path. A closed path does
    /// not repeat its first pose.
    pub fn poses(&self, frames: u32) -> Vec<Pose> {
        let (first, last) = (self.times[0], self.times[self.times.len() - 1]);
        let steps = if self.closed { frames } else { (frames - 1).max(1) };
        (0..frames).map(|frame| self.pose_at(first + (last - first) * f64::from(frame) / f64::from(steps))).collect()
    }

    /// Pose at a time: a cubic Hermite spline through the key frames. The slope at a key frame is
    /// the slope between its neighbours, so that the speed is continuous.
    fn pose_at(&self, time: f64) -> Pose {
        let count = self.times.len();
        let from = self.times.partition_point(|&key| key <= time).clamp(1, count - 1) - 1;
        let length = self.times[from + 1] - self.times[from];
        let s = (time - self.times[from]) / length;
        let (begin, end) = (self.slope_at_keyframe(from), self.slope_at_keyframe(from + 1));
        let (p, q) = (&self.points[from], &self.points[from + 1]);
        let [azimuth, elevation, zoom, x, y, z] = std::array::from_fn(|i| {
            let (step, bump) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s));
            p[i] + (q[i] - p[i]) * step + length * bump * (begin[i] * (1.0 - s) - end[i] * s)
        });
        let focal_point = self.has_focal_points.then_some([x, y, z]);
        Pose { azimuth, elevation: elevation.clamp(-90.0, 90.0), zoom: zoom.exp(), focal_point }
    }

    fn slope_at_keyframe(&self, key: usize) -> KeyPoint {
        let last = self.times.len() - 1;
        let between = |from: usize, to: usize| -> KeyPoint {
            let length = self.times[to] - self.times[from];
            std::array::from_fn(|i| (self.points[to][i] - self.points[from][i]) / length)
        };
        match key {
            // The neighbours of an end of a closed path are on both sides of the seam.
            0 if self.closed => self.seam_slope(last),
            _ if key == last && self.closed => self.seam_slope(last),
            0 => between(0, 1),
            _ if key == last => between(last - 1, last),
            _ => between(key - 1, key + 1),
        }
    }

    fn seam_slope(&self, last: usize) -> KeyPoint {
        let length = self.times[last] - self.times[last - 1] + self.times[1] - self.times[0];
        std::array::from_fn(|i| {
            let change = self.points[last][i] - self.points[last - 1][i] + self.points[1][i] - self.points[0][i];
            change / length
        })
    }
}
