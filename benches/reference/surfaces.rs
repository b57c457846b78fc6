//! Isosurfaces by VTK and scikit-image, in a Python process (peers/isosurface.py).

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::peer::Peer;
use super::vtk::{PYTHON_VARIABLE, Scratch};

/// A running Python process with a field; ends on drop.
pub(crate) struct Surfaces {
    peer: Peer,
    // Declared after `peer`, because the process uses it until the end.
    _scratch: Scratch,
    pub about: String,
}

impl Surfaces {
    /// Starts the process with a field of samples, x fastest. `kind` is the sample type: `uint8` or
    /// `float32`.
    pub(crate) fn start(samples: &[u8], kind: &str, shape: [i64; 3]) -> Result<Self, String> {
        let python = std::env::var_os(PYTHON_VARIABLE).ok_or("no Python with VTK was named")?;
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/isosurface.py");
        let scratch = Scratch::new()?;
        let file = scratch.0.join("samples");
        std::fs::write(&file, samples).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut peer = Peer::start("VTK's Python", Command::new(python).arg(program).stderr(Stdio::null()))?;
        let answer = peer.request(&json!({ "do": "field", "samples": file, "type": kind, "shape": shape }))?;
        let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or("unknown").to_string();
        let about = format!("VTK {}, scikit-image {}", text("vtk"), text("skimage"));
        Ok(Self { peer, _scratch: scratch, about })
    }

    /// Seconds of an extraction, without the communication with the process.
    pub(crate) fn secs(&mut self, by: &str, isovalue: f32, normals: bool) -> Result<f64, String> {
        let answer =
            self.peer.request(&json!({ "do": "surface", "by": by, "isovalue": isovalue, "normals": normals }))?;
        answer.get("secs").and_then(Value::as_f64).ok_or_else(|| format!("no seconds in {answer}"))
    }

    pub(crate) fn counts(&mut self, by: &str, isovalue: f32) -> Result<Value, String> {
        self.peer.request(&json!({ "do": "surface", "by": by, "isovalue": isovalue, "normals": false, "euler": true }))
    }
}
