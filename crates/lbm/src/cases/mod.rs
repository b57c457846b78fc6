//! Standard flows, by name.

mod case;
mod case_list;
mod case_options;
mod periodic_cases;
mod stream_cases;
mod wall_cases;

pub use case::{Case, ExactVelocity};
pub use case_list::{CASES, CaseEntry};
pub use case_options::CaseOptions;
