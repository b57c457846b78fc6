//! The description of an archive, which `cargo xtask bundle` writes.

use std::path::Path;

use serde::Deserialize;

/// What was built, from which sources and with what.
#[derive(Debug, Deserialize)]
pub struct Manifest {
    /// Of the sources.
    pub commit: String,
    pub rustc: String,
}

impl Manifest {
    /// Reads `bundle.json` of an unpacked archive.
    pub fn read(home: &Path) -> Result<Self, String> {
        let path = home.join("bundle.json");
        let problem = |error: &dyn std::fmt::Display| {
            format!("{}: {error}; the archive is not unpacked as a whole", path.display())
        };
        let text = std::fs::read_to_string(&path).map_err(|error| problem(&error))?;
        serde_json::from_str(&text).map_err(|error| problem(&error))
    }
}
