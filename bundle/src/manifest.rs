//! [`Manifest`]: description of an archive, from `cargo xtask bundle`.

use std::path::Path;

use serde::Deserialize;

/// Sources and compiler of an archive.
#[derive(Debug, Deserialize)]
pub(crate) struct Manifest {
    pub commit: String,
    pub rustc: String,
}

impl Manifest {
    /// Reads `bundle.json` of an unpacked archive.
    pub(crate) fn read(home: &Path) -> Result<Self, String> {
        let path = home.join("bundle.json");
        let problem = |error: &dyn std::fmt::Display| format!("{}: {error}; unpack the whole archive", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| problem(&error))?;
        serde_json::from_str(&text).map_err(|error| problem(&error))
    }
}
