//! Files that use each other in a ring.
//!
//! A path through a re-export leads to the file behind it, so that a module which only re-exports its children is in no
//! ring with them. Calls of methods are not seen.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;

/// A path of names, as of a module from the root of its crate.
pub type Path = Vec<String>;

/// Where the paths of a file start, and what it brings in by `use`.
struct File {
    module: Path,
    names: BTreeMap<String, Path>,
    paths: Vec<Path>,
}

/// The files of one crate by module.
type Files<'a> = BTreeMap<Path, (&'a str, File)>;

/// The rings among the files of one crate, each with all files that are in it, sorted.
pub fn rings(sources: &[Source]) -> Vec<Vec<&str>> {
    let files: Files = sources
        .iter()
        .filter(|source| !crate::rules::is_tests(&source.name))
        .map(|source| (module(&source.name), (source.name.as_str(), File::new(source))))
        .collect();
    let used = |file: &File| file.paths.iter().filter_map(|path| holder(&file.module, path, &files)).collect();
    let arrows: BTreeMap<&str, BTreeSet<&str>> = files.values().map(|(name, file)| (*name, used(file))).collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> = arrows.keys().map(|name| (*name, reach(name, &arrows))).collect();
    let ring = |name: &str| -> Vec<&str> {
        reached[name].iter().copied().filter(|other| *other != name && reached[other].contains(name)).collect()
    };
    let rings: BTreeSet<Vec<&str>> = arrows
        .keys()
        .map(|name| (name, ring(name)))
        .filter(|(_, others)| !others.is_empty())
        .map(|(name, others)| BTreeSet::from_iter(others.into_iter().chain([*name])).into_iter().collect())
        .collect();
    rings.into_iter().collect()
}

/// All files that arrows lead to from one.
fn reach<'a>(from: &str, arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = arrows[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(&arrows[next]);
        }
    }
    reached
}

/// `src/kernel/call.rs` → `kernel`, `call`.
pub fn module(name: &str) -> Path {
    let path = name.split_once("src/").map_or(name, |(_, path)| path).trim_end_matches(".rs");
    let mut module: Path = path.split('/').map(str::to_owned).collect();
    module.pop_if(|last| matches!(last.as_str(), "mod" | "lib"));
    module
}

impl File {
    fn new(source: &Source) -> Self {
        // Unit tests may build what they need from anywhere.
        let mut code = source.code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
        let (mut names, mut paths, mut reexported) = (BTreeMap::new(), Vec::new(), Vec::new());
        while let Some((start, public)) = next_use(&code) {
            let end = code[start..].find(';').map_or(code.len(), |length| start + length);
            let mut found = Vec::new();
            leaves(&code[start + "use ".len()..end], Vec::new(), &mut found);
            for (name, path) in found {
                names.insert(name.clone(), path.clone());
                if public { reexported.push((name, path)) } else { paths.push(path) }
            }
            code.replace_range(start..end, "");
        }
        // What is re-exported counts where the file itself uses it.
        let words: BTreeSet<&str> = code.split(|c| !of_word(c)).collect();
        paths.extend(reexported.into_iter().filter(|(name, _)| words.contains(name.as_str())).map(|(_, path)| path));
        for (colons, _) in code.match_indices("::") {
            let start = code[..colons].rfind(|c| !of_word(c)).map_or(0, |before| before + 1);
            if !code[..start].ends_with("::") {
                let mut found = Vec::new();
                leaves(&code[start..], Vec::new(), &mut found);
                paths.extend(found.into_iter().map(|(_, path)| path));
            }
        }
        Self { module: module(&source.name), names, paths }
    }
}

fn of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the next `use` statement starts, and whether it re-exports.
fn next_use(code: &str) -> Option<(usize, bool)> {
    let mut found = code.match_indices("use ").map(|(start, _)| (start, &code[..start]));
    let (start, before) = found.find(|(_, before)| !before.ends_with(of_word))?;
    let before = before.trim_end();
    Some((start, before.ends_with("pub") || before.ends_with(')')))
}

/// The paths of a tree such as `a::{b, c as d}`, each with the name that it brings in; what follows the tree.
pub fn leaves<'a>(mut text: &'a str, mut path: Path, found: &mut Vec<(String, Path)>) -> &'a str {
    loop {
        text = text.trim_start();
        if text.starts_with('{') {
            while text.starts_with(['{', ',']) {
                text = text[1..].trim_start();
                if !text.starts_with('}') {
                    text = leaves(text, path.clone(), found).trim_start();
                }
            }
            return text.strip_prefix('}').unwrap_or(text);
        }
        let (word, rest) = text.split_at(text.find(|c| !of_word(c)).unwrap_or(text.len()));
        path.extend((!word.is_empty()).then(|| word.to_owned()));
        let rest = rest.trim_start();
        match rest.strip_prefix("::") {
            Some(rest) => text = rest,
            None => {
                let alias = rest.strip_prefix("as ").and_then(|rest| rest.split(|c| !of_word(c)).next());
                found.push((alias.unwrap_or(word).to_owned(), path));
                return rest.trim_start_matches(|c| !matches!(c, ',' | '}' | ';'));
            }
        }
    }
}

/// The file that holds what a path names; none where that is of another crate.
fn holder<'a>(from: &Path, path: &Path, files: &Files<'a>) -> Option<&'a str> {
    let mut at = from.clone();
    let mut rest = path.iter();
    while let Some(word) = rest.as_slice().first() {
        match word.as_str() {
            "crate" => at.clear(),
            "super" => drop(at.pop()),
            "self" => {}
            child => {
                at.push(child.to_owned());
                if !files.contains_key(&at) {
                    at.pop();
                    break;
                }
            }
        }
        rest.next();
    }
    let (name, file) = files.get(&at).filter(|_| rest.len() < path.len())?;
    // A child module's own name stands in no `names`, so that this ends.
    let behind = rest.next().and_then(|word| file.names.get(word)).filter(|behind| *behind != path);
    behind.and_then(|behind| holder(&at, behind, files)).or(Some(name))
}
