//! Files of which bodies are made.

use std::path::PathBuf;
use std::rc::Rc;

use zippy::{Result, World};

use crate::solids;

/// A file of which a body is made.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A scan.
    Scan {
        /// Where it is, as the text says it.
        file: PathBuf,
        /// Solid is what is above this.
        above: f64,
        /// And not above this.
        below: Option<f64>,
        /// How the indices of a NumPy array are called, `zyx` or `xyz`.
        axes: Option<String>,
    },
    /// A surface of triangles.
    Surface {
        /// Where it is, as the text says it.
        file: PathBuf,
    },
}

/// Reads the file of a body. Collective.
pub type Load<'l> = dyn Fn(&World, &Source) -> Result<Rc<dyn solids::Shape>> + 'l;
