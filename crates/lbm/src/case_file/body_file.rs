//! Files of bodies.

use std::path::PathBuf;
use std::rc::Rc;

use zippy::{Result, World};

use crate::solids::SolidShape;

/// File of a body.
#[derive(Debug, Clone, PartialEq)]
pub enum BodyFile {
    /// A scan.
    Scan {
        /// Path as in the case file.
        file: PathBuf,
        /// Values above this are solid.
        above: f64,
        /// Values above this are not solid.
        below: Option<f64>,
        /// Order of the indices of a NumPy array, `zyx` or `xyz`.
        axes: Option<String>,
    },
    /// A surface of triangles.
    Surface {
        /// Path as in the case file.
        file: PathBuf,
    },
}

impl BodyFile {
    /// Path as in the case file.
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::Scan { file, .. } | Self::Surface { file } => file,
        }
    }
}

/// Reads the file of a body. Collective.
pub type LoadShape<'l> = dyn Fn(&World, &BodyFile) -> Result<Rc<dyn SolidShape>> + 'l;
