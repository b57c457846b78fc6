//! Volume rendering by VTK, in a Python process (peers/vtk_volume.py).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use zippy_render::volume::{Camera, Projection, TransferFunction};

use super::peer::Peer;

/// Environment variable with the path of a Python interpreter that has VTK; set by
/// `cargo xtask bench --peers`.
pub(crate) const PYTHON_VARIABLE: &str = "ZIPPY_BENCH_PYTHON";

/// A running VTK process with a scene; ends on drop.
pub(crate) struct Vtk {
    peer: Peer,
    // Declared after `peer`, because the process uses it until the end.
    scratch: Scratch,
    /// Version of VTK, and the OpenGL renderer of the GPU mapper.
    pub about: String,
}

/// A scene for VTK: 8-bit voxels, x fastest, with camera and transfer function.
pub(crate) struct Scene<'a> {
    pub voxels: &'a [u8],
    pub shape: [i64; 3],
    pub spacing: [f64; 3],
    pub camera: &'a Camera,
    pub transfer: &'a TransferFunction,
    pub size: (u32, u32),
    pub step: f64,
}

impl Vtk {
    pub(crate) fn wanted() -> bool {
        std::env::var_os(PYTHON_VARIABLE).is_some()
    }

    /// Starts VTK with a scene. The projection must be perspective.
    pub(crate) fn start(scene: &Scene<'_>) -> Result<Self, String> {
        let python = std::env::var_os(PYTHON_VARIABLE).ok_or("no Python with VTK was named")?;
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/vtk_volume.py");
        let scratch = Scratch::new()?;
        let voxels = scratch.0.join("voxels");
        std::fs::write(&voxels, scene.voxels).map_err(|error| format!("{}: {error}", voxels.display()))?;
        let peer = Peer::start("VTK's Python", Command::new(python).arg(program).stderr(Stdio::null()))?;
        let mut vtk = Self { peer, scratch, about: String::new() };
        let Projection::Perspective { vertical_fov_degrees } = scene.camera.projection else {
            return Err("this scene is not in perspective".into());
        };
        let answer = vtk.peer.request(&json!({
            "do": "scene",
            "voxels": voxels,
            "shape": scene.shape,
            "spacing": scene.spacing,
            "size": scene.size,
            "position": scene.camera.position,
            "focal_point": scene.camera.focal_point,
            "view_up": scene.camera.view_up,
            "fov_degrees": vertical_fov_degrees,
            "opacity": scene.transfer.opacity,
            "colour": scene.transfer.colour,
            "unit_distance": scene.transfer.unit_distance,
            "step": scene.step,
        }))?;
        let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or("unknown").to_string();
        vtk.about = format!("VTK {} on {}", text("vtk"), text("renderer"));
        Ok(vtk)
    }

    /// Draws with the mapper `gpu` or `cpu`. On return, the pixels are in host memory.
    pub(crate) fn render(&mut self, mapper: &str, shaded: bool) -> Result<(), String> {
        self.peer.request(&json!({ "do": "render", "mapper": mapper, "shaded": shaded })).map(drop)
    }

    /// Draws and returns the picture: 8 bits each of red, green and blue, top row first.
    pub(crate) fn picture(&mut self, mapper: &str, shaded: bool) -> Result<Vec<u8>, String> {
        let file = self.scratch.0.join("picture");
        self.peer.request(&json!({ "do": "render", "mapper": mapper, "shaded": shaded, "picture": file }))?;
        std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
    }
}

/// A temporary directory for files that are exchanged with a peer; removed on drop.
pub(crate) struct Scratch(pub PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self, String> {
        let scratch = std::env::temp_dir().join(format!("zippy-bench-{}", std::process::id()));
        std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        Ok(Self(scratch))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
