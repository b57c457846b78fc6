//! Shaders of a crate and their twins: reference versions in Rust.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Shaders of the crate in `root`, by path relative to `shaders/`.
pub fn files(root: &str) -> BTreeMap<String, String> {
    below(&Path::new(root).join("shaders"), "wgsl")
}

/// Shaders without a twin.
///
/// A twin is a Rust file or function with the name of its shader, and mentions the shader or its
/// folder. `elsewhere` lists shaders that are covered by the twin of another shader, with its file.
pub fn without_twin(root: &str, elsewhere: &[(&str, &str)]) -> Vec<String> {
    let root = Path::new(root);
    let rust = ["src", "tests"].map(|folder| root.join(folder)).into_iter().filter(|folder| folder.is_dir());
    let rust: Vec<_> = rust.map(|folder| below(&folder, "rs")).collect();
    let has_twin = |shader: &String| {
        let path = shader.trim_end_matches(".wgsl");
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let [function, generic] = [format!("fn {name}("), format!("fn {name}<")];
        let is_twin = |(file, text): (&String, &String)| {
            let named = Path::new(file).file_stem().is_some_and(|stem| stem == name);
            let says = text.contains(&format!("{name}.wgsl"))
                || !folder.is_empty() && text.contains(&format!("shaders/{folder}`"));
            says && (named || text.contains(&function) || text.contains(&generic))
        };
        let listed = elsewhere.iter().any(|(part, file)| *part == path && root.join(file).is_file());
        listed || rust.iter().flatten().any(is_twin)
    };
    files(&root.display().to_string()).into_keys().filter(|shader| !has_twin(shader)).collect()
}

fn below(folder: &Path, extension: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                let name = path.strip_prefix(folder).expect("below it").display().to_string();
                found.insert(name.replace('\\', "/"), std::fs::read_to_string(&path).expect("text"));
            }
        }
    }
    found
}
