//! The cells that a kernel reaches through helpers, found before it runs.
//!
//! A kernel that loads and stores only at its position plus constants, as stencils do, can run part by part, each over the memory
//! around it. The analysis follows integers through naga's module: constants, counters of loops with constant ends, and
//! distances from the position of the invocation. All else is unknown, and a position that is unknown may be anywhere.

#[cfg(test)]
mod tests;
mod value;
mod walk;

use naga::Module;

use super::scan::SourceScan;
use super::signature::VarShape;
pub use value::Interval;
use walk::Walk;

/// Cells of one array that the invocations of a kernel reach, for each axis of the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    Nothing,
    Box(Vec<Interval>),
    Anywhere,
}

impl Reach {
    /// Adds the cells of another box.
    fn add(&mut self, other: Option<Vec<Interval>>) {
        let joined = match (&*self, other) {
            (_, None) | (Self::Anywhere, _) => None,
            (Self::Nothing, Some(other)) => Some(other),
            (Self::Box(own), Some(other)) => own.iter().zip(other).map(|(own, other)| own.join(other)).collect(),
        };
        *self = joined.map_or(Self::Anywhere, Self::Box);
    }
}

/// The reach of an entry point in the array of each storage variable.
pub fn reach(module: &Module, entry: &str, scan: &SourceScan, shapes: &[VarShape]) -> Vec<Reach> {
    let mut reach = vec![Reach::Nothing; scan.storage.len()];
    match module.entry_points.iter().find(|point| point.name == entry) {
        Some(point) => drop(Walk::of_entry(module, &point.function, scan, shapes, &mut reach).run()),
        None => reach.fill(Reach::Anywhere),
    }
    reach
}
