//! The cells that a kernel reaches through helpers, found before it runs.
//!
//! A kernel that loads and stores only at its position plus constants, as stencils do, can run part
//! by part, each over the memory around it. The analysis follows integers through naga's module:
//! constants, counters of loops with constant ends, and distances from the position of the
//! invocation. All else is unknown, and a position that is unknown may be anywhere.

mod loops;
#[cfg(test)]
mod tests;
mod value;
mod walk;

use naga::Module;

use super::scan::SourceScan;
use super::signature::VarShape;
#[cfg(test)]
use value::Interval;
pub use value::Reach;
use walk::Walk;

/// The reach of an entry point in the array of each storage variable.
pub fn reach(module: &Module, entry: &str, scan: &SourceScan, shapes: &[VarShape]) -> Vec<Reach> {
    let mut reach = vec![Reach::Nothing; scan.storage.len()];
    match module.entry_points.iter().find(|point| point.name == entry) {
        Some(point) => drop(Walk::of_entry(module, &point.function, scan, shapes, &mut reach).run()),
        None => reach.fill(Reach::Anywhere),
    }
    reach
}
