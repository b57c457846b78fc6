//! List of the standard cases.

use super::case::Case;
use super::case_options::CaseOptions;
use super::periodic_cases::{shear_wave, taylor_green_2d, taylor_green_3d};
use super::stream_cases::{cylinder, object, sphere};
use super::wall_cases::{cavity_2d, cavity_3d, couette, poiseuille};
use crate::error::FlowError;

/// Entry of a standard case in the list of cases.
pub struct CaseEntry {
    /// Name of the case.
    pub name: &'static str,
    /// Description of the case and of its size `n`.
    pub description: &'static str,
    /// True if the size may be the cells along each axis.
    takes_extents: bool,
    build: fn(&CaseOptions) -> Result<Case, FlowError>,
}

const fn entry(
    name: &'static str,
    description: &'static str,
    build: fn(&CaseOptions) -> Result<Case, FlowError>,
) -> CaseEntry {
    CaseEntry { name, description, takes_extents: false, build }
}

/// All standard cases.
pub static CASES: [CaseEntry; 10] = [
    entry("shear", "a wave of shear in a periodic square that dies away; n cells a side", shear_wave),
    entry("taylor-green2d", "vortices in a periodic square that die away; n cells a side", taylor_green_2d),
    entry("taylor-green3d", "vortices in a periodic cube that break up; n cells a side", taylor_green_3d),
    entry("couette", "fluid between a wall at rest and one that moves, n cells apart", couette),
    entry("poiseuille", "fluid between two walls n cells apart, pulled along by a force", poiseuille),
    entry("cavity2d", "a square box whose lid moves; n cells a side", cavity_2d),
    entry("cavity3d", "a cubic box whose lid moves; n cells a side", cavity_3d),
    entry("cylinder", "a cylinder in a channel (Schäfer and Turek 1996, 2D-1); n cells a diameter", cylinder),
    CaseEntry {
        takes_extents: true,
        ..entry(
            "sphere",
            "a sphere in a stream; n cells along each axis, a fifth of the second one its diameter",
            sphere,
        )
    },
    CaseEntry {
        takes_extents: true,
        ..entry("object", "a solid from a file, a scan or a surface, in a stream; n cells along each axis", object)
    },
];

impl Case {
    /// Creates a standard case by its name.
    ///
    /// # Errors
    /// An unknown name; a size of the wrong form; a number out of range.
    pub fn by_name(name: &str, options: &CaseOptions) -> Result<Self, FlowError> {
        let Some(entry) = CASES.iter().find(|entry| entry.name == name) else {
            let known = CASES.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
            return Err(FlowError::UnknownCase { name: name.to_owned(), known });
        };
        options.check_size(name, entry.takes_extents)?;
        let mut case = (entry.build)(options)?;
        case.problem = case.problem.precision(options.precision);
        if let Some(collision) = options.collision {
            case.problem = case.problem.collision(collision);
        }
        if let Some(constant) = options.smagorinsky {
            case.problem = case.problem.smagorinsky(constant);
        }
        Ok(case)
    }
}
