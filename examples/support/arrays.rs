//! Hint for files with several arrays.

use zippy_files::quoted;
use zippy_io::volume::VolumeFile;

/// Largest number of array names in the hint.
const MAX_NAMES: usize = 20;

/// Text that names the arrays of a file and the option `--array`; empty for files with one array.
pub fn other_arrays(file: &VolumeFile) -> String {
    let names = file.arrays();
    if names.len() < 2 {
        return String::new();
    }
    let list: Vec<String> = names.iter().take(MAX_NAMES).map(|name| quoted(name)).collect();
    format!("; --array chooses one of {}", list.join(", "))
}
