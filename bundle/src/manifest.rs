//! [`Manifest`]: description of an archive, from `cargo xtask bundle`.

use std::path::Path;

use anyhow::{Error, Result, anyhow};
use serde::Deserialize;

/// Sources and compiler of an archive.
#[derive(Debug, Deserialize)]
pub(crate) struct Manifest {
    pub commit: String,
    pub rustc: String,
}

impl Manifest {
    /// Reads `bundle.json` of an unpacked archive.
    pub(crate) fn read(home: &Path) -> Result<Self> {
        let path = home.join("bundle.json");
        let text = std::fs::read_to_string(&path).map_err(Error::from);
        let manifest = text.and_then(|text| Ok(serde_json::from_str(&text)?));
        manifest.map_err(|error| anyhow!("{}: {error:#}; unpack the whole archive", path.display()))
    }
}
