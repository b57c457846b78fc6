//! Messages for names that a checkpoint does not have: the arrays that it has, and those that the program may have meant.

use zippy::element::ElementInfo;
use zippy::extents::Index;

use super::element::SavedType;
use super::manifest::Manifest;
use crate::{quoted, said};

/// A saved array, as a message lists it.
struct Listed<'a> {
    name: &'a str,
    /// Type of its cells, and its shape where it has one.
    cells: String,
    /// Whether it has the wanted type and number of axes.
    fits: bool,
}

/// Message for a global array of a type and a number of axes.
pub fn array(manifest: &Manifest, name: &str, (wanted, axes): (&ElementInfo, usize)) -> String {
    let wanted = SavedType::of(wanted);
    let arrays = manifest.arrays.iter().map(|array| Listed {
        name: &array.name,
        cells: format!("{}, {}", said(&array.element.to_string()), Index::new(&array.shape)),
        fits: array.element.is(&wanted) && array.shape.len() == axes,
    });
    message("array", name, &arrays.collect::<Vec<_>>())
}

/// Message for a growable array of a type.
pub fn growable(manifest: &Manifest, name: &str, wanted: &ElementInfo) -> String {
    let wanted = SavedType::of(wanted);
    let growables = manifest.growables.iter().map(|growable| Listed {
        name: &growable.name,
        cells: said(&growable.element.to_string()),
        fits: growable.element.is(&wanted),
    });
    message("growable array", name, &growables.collect::<Vec<_>>())
}

fn message(what: &str, name: &str, listed: &[Listed<'_>]) -> String {
    let all: Vec<String> = listed.iter().map(|one| format!("{} ({})", quoted(one.name), one.cells)).collect();
    let there = if all.is_empty() { "none".to_string() } else { all.join(", ") };
    let message = format!("has no {what} called {name:?}; it has {there}");
    let fitting: Vec<String> = listed.iter().filter(|one| one.fits).map(|one| quoted(one.name)).collect();
    if fitting.is_empty() {
        return message;
    }
    let fitting = fitting.join(", ");
    format!(
        "{message}; of the wanted type and number of axes: {fitting}. An array keeps its own name when variables are swapped \
         (`mem::swap`): `Contents::array_as` and `growable_as` save under a name that the program gives"
    )
}
