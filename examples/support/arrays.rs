//! Advice where a file's array does not do.

use zippy_io::quoted;
use zippy_io::volume::VolumeFile;

/// Names at most.
const MOST: usize = 20;

/// A hint at `--array`, if the file has several arrays.
pub fn other_arrays(file: &VolumeFile) -> String {
    let names = file.arrays();
    if names.len() < 2 {
        return String::new();
    }
    let list: Vec<String> = names.iter().take(MOST).map(|name| quoted(name)).collect();
    format!("; --array chooses one of {}", list.join(", "))
}
