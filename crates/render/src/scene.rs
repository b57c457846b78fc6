//! Scenes in JSON: camera, transfer function, sample distance, background.
//!
//! A file holds an object with a list `scenes`. The name of a scene is its `file` without `.png`.
//! Required fields of a scene:
//!
//! - `projection`: "perspective, vertical FOV 40 deg" or "parallel, half-height 172.05";
//! - `camera_position`, `focal_point`, `view_up`;
//! - `opacity_points`: list of `[value, opacity]`;
//! - `rgb_points`: list of `[value, red, green, blue]`.
//!
//! Optional fields, with their defaults: `opacity_unit_distance` (1), `sample_distance` (1),
//! `background` (black), `size` (`[width, height]`), `shade` (false), and the light's `ambient`,
//! `diffuse`, `specular` and `shininess` (those of [`Shading`]). Other fields are ignored.

use std::path::Path;

use serde::Deserialize;
use zippy_files::json;
use zippy_files::quoted;
use zippy_io::IoError;

use crate::volume::{Camera, Projection, Shading, TransferFunction};

/// Parameters of an image, except for the volume.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Name of the scene.
    pub name: String,
    /// Position, direction and projection of the camera.
    pub camera: Camera,
    /// Colours and opacities.
    pub transfer: TransferFunction,
    /// Distance between samples, in the volume's unit of length.
    pub sample_distance: f64,
    /// Background colour: red, green and blue.
    pub background: [f32; 3],
    /// Light, if the scene is shaded.
    pub shading: Option<Shading>,
    /// Width and height in pixels, if the scene defines them.
    pub size: Option<(u32, u32)>,
}

#[derive(Deserialize)]
struct SceneFile {
    scenes: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    file: String,
    #[serde(default = "default_distance")]
    sample_distance: f64,
    projection: String,
    size: Option<(u32, u32)>,
    camera_position: [f64; 3],
    focal_point: [f64; 3],
    view_up: [f64; 3],
    opacity_points: Vec<[f64; 2]>,
    rgb_points: Vec<[f64; 4]>,
    #[serde(default = "default_distance")]
    opacity_unit_distance: f64,
    #[serde(default)]
    background: [f32; 3],
    #[serde(default)]
    shade: bool,
    ambient: Option<f64>,
    diffuse: Option<f64>,
    specular: Option<f64>,
    shininess: Option<f64>,
}

fn default_distance() -> f64 {
    1.0
}

impl Entry {
    fn name(&self) -> &str {
        self.file.strip_suffix(".png").unwrap_or(&self.file)
    }

    fn shading(&self) -> Shading {
        let default = Shading::default();
        Shading {
            ambient: self.ambient.unwrap_or(default.ambient),
            diffuse: self.diffuse.unwrap_or(default.diffuse),
            specular: self.specular.unwrap_or(default.specular),
            shininess: self.shininess.unwrap_or(default.shininess),
        }
    }
}

/// Reads the scene `name` of a file, or its only scene. Local.
///
/// # Errors
/// As [`json::read`]; no such scene (the message lists the file's scenes); a malformed transfer
/// function.
pub fn read(path: impl AsRef<Path>, name: Option<&str>) -> Result<Scene, IoError> {
    let path = path.as_ref();
    let file: SceneFile = json::read(path, "a list \"scenes\"")?;
    let names = || file.scenes.iter().take(20).map(|entry| quoted(entry.name())).collect::<Vec<_>>().join(", ");
    let entry = match (name, &file.scenes[..]) {
        (None, [only]) => only,
        (None, _) => return Err(IoError::request(path, format!("a scene must be named; there are: {}", names()))),
        (Some(name), scenes) => scenes.iter().find(|entry| entry.name() == name).ok_or_else(|| {
            IoError::request(path, format!("no scene is called {}; there are: {}", quoted(name), names()))
        })?,
    };
    let projection = projection(&entry.projection).ok_or_else(|| {
        let message = format!(
            "scene {}: projection {}; it must read \"perspective, vertical FOV 40 deg\" or \"parallel, half-height 100\"",
            quoted(entry.name()),
            quoted(&entry.projection)
        );
        IoError::request(path, message)
    })?;
    let transfer = TransferFunction {
        opacity: entry.opacity_points.clone(),
        colour: entry.rgb_points.clone(),
        unit_distance: entry.opacity_unit_distance,
    };
    transfer.check().map_err(|error| IoError::request(path, format!("scene {}: {error}", quoted(entry.name()))))?;
    Ok(Scene {
        name: entry.name().to_string(),
        camera: Camera {
            position: entry.camera_position,
            focal_point: entry.focal_point,
            view_up: entry.view_up,
            projection,
        },
        transfer,
        sample_distance: entry.sample_distance,
        background: entry.background,
        shading: entry.shade.then(|| entry.shading()),
        size: entry.size,
    })
}

fn projection(text: &str) -> Option<Projection> {
    let (kind, rest) = text.split_once(',')?;
    let rest = rest.trim();
    match kind.trim() {
        "perspective" => {
            let number = rest.strip_prefix("vertical FOV")?.trim().strip_suffix("deg")?;
            Some(Projection::Perspective { vertical_fov_degrees: number.trim().parse().ok()? })
        }
        "parallel" => {
            let number = rest.strip_prefix("half-height")?;
            Some(Projection::Parallel { half_height: number.trim().parse().ok()? })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projections_are_read_strictly() {
        assert_eq!(
            projection("perspective, vertical FOV 40 deg"),
            Some(Projection::Perspective { vertical_fov_degrees: 40.0 })
        );
        let parallel = Projection::Parallel { half_height: 172.0501307758875 };
        assert_eq!(projection("parallel, half-height 172.0501307758875"), Some(parallel));
        for wrong in
            ["perspective", "perspective, vertical FOV 40", "oblique, half-height 3", "parallel, half-height x"]
        {
            assert_eq!(projection(wrong), None);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let path = std::env::temp_dir().join(format!("zippy-scene-{}.json", std::process::id()));
        let scene = |extra: &str| {
            format!(
                r#"{{"scenes": [{{"file": "a.png", "projection": "parallel, half-height 3", "camera_position": [0, 0, 9],
                "focal_point": [0, 0, 0], "view_up": [0, 1, 0], "opacity_points": [[0, 0], [9, 1]],
                "rgb_points": [[0, 0, 0, 1]]{extra}}}]}}"#
            )
        };
        let attempt = |text: &str, name: Option<&str>| {
            std::fs::write(&path, text).unwrap();
            read(&path, name).map_err(|error| error.to_string())
        };
        let good = attempt(&scene(""), None).unwrap();
        assert_eq!((good.name.as_str(), good.sample_distance, good.size), ("a", 1.0, None));
        assert_eq!(attempt(&scene(""), Some("a")).unwrap(), good);
        assert!(attempt(&scene(""), Some("b")).unwrap_err().ends_with("no scene is called \"b\"; there are: \"a\""));
        assert!(attempt("{\n \"scenes\": [ } ", None).unwrap_err().contains("byte 15"));
        assert!(attempt("{\"scenes\": []}", None).unwrap_err().contains("must be named"));
        assert!(attempt(&scene(", \"background\": [1]"), None).unwrap_err().contains("invalid length 1"));
        assert!(attempt(&scene("").replace("half-height", "height"), None).unwrap_err().contains("projection"));
        assert_eq!(good.shading, None);
        let lit = attempt(&scene(", \"shade\": true, \"specular\": 0.5"), None).unwrap();
        assert_eq!(lit.shading, Some(Shading { specular: 0.5, ..Shading::default() }));
        assert!(attempt(&scene("").replace("[9, 1]", "[9, 7]"), None).unwrap_err().contains("must be 0 to 1"));
        assert!(attempt(&scene("").replace("focal_point", "focus"), None).unwrap_err().contains("focal_point"));
        std::fs::remove_file(&path).unwrap();
    }
}
