//! Rule: files of a crate do not use each other in a cycle.
//!
//! A path through a re-export counts as a use of the re-exported file, so a module that only
//! re-exports its children has no cycle with them. The rule does not detect uses by calls of
//! methods.

use std::collections::{BTreeMap, BTreeSet};

use crate::source_file::SourceFile;

/// Path of identifiers, for example of a module from the root of its crate.
pub(crate) type ModulePath = Vec<String>;

/// Paths in a file, and names that its `use` declarations import.
struct FileUses {
    /// Module of the file, where its relative paths start.
    module: ModulePath,
    /// Path of each imported name.
    imports: BTreeMap<String, ModulePath>,
    /// All paths in the code, except re-exports that the file itself does not use.
    paths: Vec<ModulePath>,
}

/// Name and uses of each file of a crate, by module.
type FilesByModule<'a> = BTreeMap<ModulePath, (&'a str, FileUses)>;

/// Cycles among the files of one crate, each as the sorted list of its files.
pub(crate) fn cycles(sources: &[SourceFile]) -> Vec<Vec<&str>> {
    let files: FilesByModule<'_> = sources
        .iter()
        .filter(|source| !crate::rules::is_tests(&source.name))
        .map(|source| (module(&source.name), (source.name.as_str(), FileUses::new(source))))
        .collect();
    let used =
        |file: &FileUses| file.paths.iter().filter_map(|path| defining_file(&file.module, path, &files)).collect();
    let uses: BTreeMap<&str, BTreeSet<&str>> = files.values().map(|(name, file)| (*name, used(file))).collect();
    let reachable: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|name| (*name, reachable_files(name, &uses))).collect();
    let cycle = |name: &str| -> Vec<&str> {
        reachable[name].iter().copied().filter(|other| *other != name && reachable[other].contains(name)).collect()
    };
    let cycles: BTreeSet<Vec<&str>> = uses
        .keys()
        .map(|name| (name, cycle(name)))
        .filter(|(_, others)| !others.is_empty())
        .map(|(name, others)| BTreeSet::from_iter(others.into_iter().chain([*name])).into_iter().collect())
        .collect();
    cycles.into_iter().collect()
}

/// All files that a file uses, directly or through other files.
fn reachable_files<'a>(from: &str, uses: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = uses[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(&uses[next]);
        }
    }
    reached
}

/// Module of a file, such as `kernel`, `call` for `src/kernel/call.rs`.
pub(crate) fn module(name: &str) -> ModulePath {
    let path = name.split_once("src/").map_or(name, |(_, path)| path).trim_end_matches(".rs");
    let mut module: ModulePath = path.split('/').map(str::to_owned).collect();
    module.pop_if(|last| matches!(last.as_str(), "mod" | "lib"));
    module
}

impl FileUses {
    fn new(source: &SourceFile) -> Self {
        // Unit tests may use all files.
        let mut code = source.code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
        let (mut imports, mut paths, mut reexported) = (BTreeMap::new(), Vec::new(), Vec::new());
        while let Some((start, is_public)) = next_use(&code) {
            let end = code[start..].find(';').map_or(code.len(), |length| start + length);
            let mut found = Vec::new();
            parse_use_tree(&code[start + "use ".len()..end], Vec::new(), &mut found);
            for (name, path) in found {
                imports.insert(name.clone(), path.clone());
                if is_public { reexported.push((name, path)) } else { paths.push(path) }
            }
            code.replace_range(start..end, "");
        }
        // A re-export counts as a use only if the code of the file contains its name.
        let words: BTreeSet<&str> = code.split(|c| !is_word_char(c)).collect();
        paths.extend(reexported.into_iter().filter(|(name, _)| words.contains(name.as_str())).map(|(_, path)| path));
        for (colons, _) in code.match_indices("::") {
            let start = code[..colons].rfind(|c| !is_word_char(c)).map_or(0, |before| before + 1);
            if !code[..start].ends_with("::") {
                let mut found = Vec::new();
                parse_use_tree(&code[start..], Vec::new(), &mut found);
                paths.extend(found.into_iter().map(|(_, path)| path));
            }
        }
        Self { module: module(&source.name), imports, paths }
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Offset of the next `use` declaration, and true if it is a re-export.
fn next_use(code: &str) -> Option<(usize, bool)> {
    let mut found = code.match_indices("use ").map(|(start, _)| (start, &code[..start]));
    let (start, before) = found.find(|(_, before)| !before.ends_with(is_word_char))?;
    let before = before.trim_end();
    Some((start, before.ends_with("pub") || before.ends_with(')')))
}

/// Parses a use tree such as `a::{b, c as d}` after the prefix `path`. Appends to `found` each
/// imported name with its path; the name of a glob import is empty. Returns the text after the
/// tree.
pub(crate) fn parse_use_tree<'a>(
    mut text: &'a str,
    mut path: ModulePath,
    found: &mut Vec<(String, ModulePath)>,
) -> &'a str {
    loop {
        text = text.trim_start();
        if text.starts_with('{') {
            while text.starts_with(['{', ',']) {
                text = text[1..].trim_start();
                if !text.starts_with('}') {
                    text = parse_use_tree(text, path.clone(), found).trim_start();
                }
            }
            return text.strip_prefix('}').unwrap_or(text);
        }
        let (word, rest) = text.split_at(text.find(|c| !is_word_char(c)).unwrap_or(text.len()));
        path.extend((!word.is_empty()).then(|| word.to_owned()));
        let rest = rest.trim_start();
        match rest.strip_prefix("::") {
            Some(rest) => text = rest,
            None => {
                let alias = rest.strip_prefix("as ").and_then(|rest| rest.split(|c| !is_word_char(c)).next());
                found.push((alias.unwrap_or(word).to_owned(), path));
                return rest.trim_start_matches(|c| !matches!(c, ',' | '}' | ';'));
            }
        }
    }
}

/// File that defines the item of a path in the module `from`; `None` for an item of another crate.
fn defining_file<'a>(from: &ModulePath, path: &ModulePath, files: &FilesByModule<'a>) -> Option<&'a str> {
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
    // The recursion ends because `imports` does not contain the names of child modules.
    let import = rest.next().and_then(|word| file.imports.get(word)).filter(|import| *import != path);
    import.and_then(|import| defining_file(&at, import, files)).or(Some(name))
}
