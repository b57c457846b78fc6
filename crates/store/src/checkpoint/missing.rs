//! Messages for unknown array names: a list of the saved arrays, and suggested names.

use zippy::element::ElementInfo;
use zippy::extents::Index;
use zippy_files::{quoted, said};

use super::element::SavedType;
use super::manifest::Manifest;

const MOST_LISTED_NAMES: usize = 12;

const MOST_TYPOS: usize = 2;

struct ListedArray<'a> {
    name: &'a str,
    /// Element type, and shape if there is one.
    cells: String,
    /// True if type and number of axes are the wanted ones.
    fits: bool,
}

pub(super) fn array(manifest: &Manifest, name: &str, (wanted, axes): (&ElementInfo, usize)) -> String {
    let wanted = SavedType::of(wanted);
    let arrays = manifest.arrays.iter().map(|array| ListedArray {
        name: &array.name,
        cells: format!("{}, {}", said(&array.element.to_string()), Index::new(&array.shape)),
        fits: array.element.has_layout_of(&wanted) && array.shape.len() == axes,
    });
    if manifest.growables.iter().any(|growable| growable.name == name) {
        return format!("has no array called {name:?}, but a growable array: load it with `Checkpoint::growable`");
    }
    message("array", name, &arrays.collect::<Vec<_>>())
}

pub(super) fn growable(manifest: &Manifest, name: &str, wanted: &ElementInfo) -> String {
    let wanted = SavedType::of(wanted);
    let growables = manifest.growables.iter().map(|growable| ListedArray {
        name: &growable.name,
        cells: said(&growable.element.to_string()),
        fits: growable.element.has_layout_of(&wanted),
    });
    if manifest.arrays.iter().any(|array| array.name == name) {
        return format!(
            "has no growable array called {name:?}, but an array: load it with `Checkpoint::array` or `fill`"
        );
    }
    message("growable array", name, &growables.collect::<Vec<_>>())
}

fn message(kind: &str, name: &str, listed: &[ListedArray<'_>]) -> String {
    let there = join_first(listed.iter().map(|entry| format!("{} ({})", quoted(entry.name), entry.cells)));
    let message = format!("has no {kind} called {name:?}; it has {there}");
    let typos = |entry: &&ListedArray<'_>| strsim::damerau_levenshtein(entry.name, name);
    // Short names, and names that differ in a number, are similar without a typo.
    let most = (name.chars().count() / 2).saturating_sub(1).min(MOST_TYPOS);
    let letters = |name: &str| name.chars().filter(|letter| !letter.is_numeric()).collect::<String>();
    let is_misspelled = |entry: &&ListedArray<'_>| typos(entry) <= most && letters(entry.name) != letters(name);
    if let Some(closest) = listed.iter().min_by_key(typos).filter(is_misspelled) {
        return format!("{message}; did you mean {}?", quoted(closest.name));
    }
    if !listed.iter().any(|entry| entry.fits) {
        return message;
    }
    let fitting = join_first(listed.iter().filter(|entry| entry.fits).map(|entry| quoted(entry.name)));
    format!(
        "{message}; of the wanted type and number of axes: {fitting}. An array keeps its own name when variables are swapped \
         (`mem::swap`): `Contents::array_as` and `growable_as` save under a name that the program gives"
    )
}

/// Joins the first [`MOST_LISTED_NAMES`] entries, and counts the others.
fn join_first(entries: impl Iterator<Item = String>) -> String {
    let entries: Vec<String> = entries.collect();
    match entries.len() {
        0 => "none".into(),
        count if count > MOST_LISTED_NAMES => {
            format!("{} and {} more", entries[..MOST_LISTED_NAMES].join(", "), count - MOST_LISTED_NAMES)
        }
        _ => entries.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, fits: bool) -> ListedArray<'_> {
        ListedArray { name, cells: "f32, 4".into(), fits }
    }

    #[test]
    fn misspelled_name_is_reported_with_the_closest_one() {
        let all = [listed("pressure", true), listed("density", true), listed("u", true), listed("field0", true)];
        for (name, alike) in [("presure", "pressure"), ("desnity", "density")] {
            let text = message("array", name, &all);
            assert!(text.ends_with(&format!("; did you mean {alike:?}?")), "{text}");
        }
        for name in ["velocity", "v", "u0", "field1"] {
            let text = message("array", name, &all);
            assert!(text.contains("mem::swap") && !text.contains("did you mean"), "{text}");
        }
    }

    #[test]
    fn list_of_many_names_is_shortened() {
        let names: Vec<String> = (0..100).map(|number| format!("field {number}")).collect();
        let all: Vec<ListedArray<'_>> = names.iter().map(|name| listed(name, true)).collect();
        let text = message("array", "x", &all);
        assert!(text.contains("\"field 11\" (f32, 4) and 88 more; of the wanted") && text.len() < 700, "{text}");
    }
}
