//! Rules on source files. Each rule takes files and returns its violations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::source_file::SourceFile;

/// Layers of modules. A module may use modules of rows above its own row, and modules of its own
/// row if the uses form no cycle.
pub(crate) const LAYERS: [&[&str]; 12] = [
    &["array_kind", "error", "element", "extents", "ghost_state", "grid", "process", "trace", "wgsl"],
    &["region"],
    &["layout", "chunks", "ownership", "locate"],
    &["plan"],
    &["transport"],
    &["device"],
    &["history"],
    &["kernel", "array"],
    &["world"],
    &["algorithms"],
    &["debug"],
    &["start"],
];

/// Violation of a rule in a line of a file.
#[derive(Clone)]
pub(crate) struct Violation {
    file: String,
    line: usize,
    rule: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.rule)
    }
}

pub(crate) fn violation(source: &SourceFile, line: usize, rule: impl Into<String>) -> Violation {
    Violation { file: source.name.clone(), line, rule: rule.into() }
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

/// Rule: modules use only modules of permitted layers ([`LAYERS`]). `sources` are the files of
/// `src/` of one crate.
pub(crate) fn layers(sources: &[SourceFile]) -> Vec<Violation> {
    let exports =
        sources.iter().find(|source| path_in_src(&source.name) == Some("lib.rs")).map(reexports).unwrap_or_default();
    let mut found = Vec::new();
    let mut within_rows = UsesWithinRows::new();
    for (index, source) in sources.iter().enumerate() {
        let Some(module) = module_of(&source.name) else { continue };
        let Some(row) = layer(module) else {
            found.push(violation(source, 1, format!("module `{module}` is not in the table of layers")));
            continue;
        };
        for (offset, name) in crate_paths(source) {
            let used = exports.get(&name).unwrap_or(&name);
            let line = source.line(offset);
            match layer(used) {
                _ if used == module => {}
                None => found.push(violation(source, line, format!("`{used}` is not in the table of layers"))),
                Some(other) if other > row && used == "start" && is_test_at(source, offset) => {}
                Some(other) if other > row => {
                    let rule = format!("`{module}` (layer {row}) must not use `{used}` (layer {other})");
                    found.push(violation(source, line, rule));
                }
                // Tests may use all modules of their row: they cause no cycle in the library.
                Some(other) if other == row && !is_tests(&source.name) => {
                    within_rows.entry((module.into(), used.clone())).or_insert((index, line));
                }
                Some(_) => {}
            }
        }
    }
    found.extend(first_cycle(sources, &within_rows));
    found
}

/// Using and used module of one row, with the index of the first file with such a use, and its
/// line.
type UsesWithinRows = BTreeMap<(String, String), (usize, usize)>;

/// Violation by the first use between modules of one row that is part of a cycle.
fn first_cycle(sources: &[SourceFile], uses: &UsesWithinRows) -> Option<Violation> {
    uses.iter().find_map(|((from, to), (index, line))| {
        let mut reached = BTreeSet::from([to]);
        loop {
            let next: BTreeSet<_> =
                uses.keys().filter(|(start, end)| reached.contains(start) && !reached.contains(end)).collect();
            if next.is_empty() {
                break;
            }
            reached.extend(next.into_iter().map(|(_, end)| end));
        }
        let rule = format!("`{from}` and `{to}` of the same layer use each other in a cycle");
        reached.contains(from).then(|| violation(&sources[*index], *line, rule))
    })
}

/// Path of a file relative to the `src/` of its crate.
fn path_in_src(name: &str) -> Option<&str> {
    name.split_once("src/").map(|(_, path)| path)
}

/// Top-level module of a file; `None` for the crate root and for binaries.
fn module_of(name: &str) -> Option<&str> {
    let top = path_in_src(name)?.split('/').next()?;
    let module = top.strip_suffix(".rs").unwrap_or(top);
    (!matches!(module, "lib" | "main" | "bin")).then_some(module)
}

/// True for files of unit tests.
pub(crate) fn is_tests(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.ends_with("_tests.rs") || name.contains("/tests/")
}

/// True if an offset of a file is in unit tests.
fn is_test_at(source: &SourceFile, offset: usize) -> bool {
    is_tests(&source.name) || source.code[..offset].contains("#[cfg(test)]\nmod tests {")
}

/// Number of `super` from the module of a file to the crate root.
fn depth(name: &str) -> usize {
    let parts = path_in_src(name).unwrap_or(name).split('/').count();
    if name.ends_with("/mod.rs") { parts - 1 } else { parts }
}

/// Names after `crate::`, or after `super::` up to the crate root, with their offsets.
fn crate_paths(source: &SourceFile) -> Vec<(usize, String)> {
    let supers = "super::".repeat(depth(&source.name));
    let mut found = Vec::new();
    for prefix in ["crate::", supers.as_str()] {
        for (offset, _) in source.code.match_indices(prefix) {
            let before = source.code[..offset].chars().next_back();
            let is_continuation = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
            // In an inline module, `super` is the module of the file.
            let is_nested = prefix != "crate::" && inside_module(&source.code[..offset]);
            if !is_continuation && !is_nested {
                let names = first_names(&source.code[offset + prefix.len()..]);
                found.extend(names.into_iter().map(|(inner, name)| (offset + prefix.len() + inner, name)));
            }
        }
    }
    found
}

/// True if the text ends inside an inline `mod name { … }`.
fn inside_module(before: &str) -> bool {
    let mut open = Vec::new();
    for (offset, c) in before.char_indices() {
        match c {
            '{' => {
                let head = before[..offset].trim_end().rsplit([';', '{', '}', ']']).next().unwrap_or_default();
                open.push(head.split_whitespace().any(|word| word == "mod"));
            }
            '}' => {
                open.pop();
            }
            _ => {}
        }
    }
    open.contains(&true)
}

/// First name of a path, or of each path of a `{…}` group, with its offset.
fn first_names(text: &str) -> Vec<(usize, String)> {
    let name_at = |offset: usize| {
        let start = offset + (text[offset..].len() - text[offset..].trim_start().len());
        let name: String = text[start..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        (!name.is_empty() && name != "self").then_some((start, name))
    };
    let start = text.len() - text.trim_start().len();
    if !text[start..].starts_with('{') {
        return name_at(start).into_iter().collect();
    }
    let mut depth = 0;
    let mut names = Vec::new();
    for (offset, c) in text.char_indices().skip_while(|(offset, _)| *offset < start) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(c, '{' | ',') {
            names.extend(name_at(offset + 1));
        }
    }
    names
}

/// Module of each name that `lib.rs` re-exports.
fn reexports(lib: &SourceFile) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (offset, _) in lib.code.match_indices("pub use ") {
        let statement = lib.code[offset + "pub use ".len()..].split(';').next().unwrap_or_default();
        let statement = statement.trim().trim_start_matches("crate::").trim_start_matches("self::");
        let Some((module, rest)) = statement.split_once("::") else { continue };
        // Re-exports of another crate of the project are no modules of this crate.
        if module.starts_with("zippy_") {
            continue;
        }
        let words: Vec<&str> = rest.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        for (index, word) in words.iter().enumerate() {
            if *word != "as" && words.get(index + 1) != Some(&"as") {
                exports.insert(word.to_string(), module.to_string());
            }
        }
    }
    exports
}

/// Rule: a file has at most `limit` lines, or gives a reason after "long because" in its first
/// comment.
pub(crate) fn length(source: &SourceFile, limit: usize) -> Option<Violation> {
    let lines = source.lines();
    let has_reason = source.first_comment().to_lowercase().contains("long because");
    let rule = format!("{lines} lines; above {limit}, split the file or write \"Long because …\" in its first comment");
    (lines > limit && !has_reason).then(|| violation(source, limit + 1, rule))
}

/// Median of numbers: the lower of two middle numbers, and 0 without numbers.
pub(crate) fn median(mut numbers: Vec<usize>) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// Rule: the table of layers on the design page equals [`LAYERS`]. A row of the table is `` | 1 |
/// `region` | … | ``.
pub(crate) fn design_table(page: &str) -> Vec<Violation> {
    let file = || "DESIGN.md".to_string();
    let mut shown = 0;
    let mut found = Vec::new();
    let lines = page.lines().enumerate().skip_while(|(_, line)| !line.starts_with("| layer |"));
    for (index, line) in lines.take_while(|(_, line)| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (Some(Ok(number)), Some(modules)) = (cells.get(1).map(|cell| cell.parse::<usize>()), cells.get(2)) else {
            continue;
        };
        shown += 1;
        let modules: Vec<&str> = modules.split('`').skip(1).step_by(2).collect();
        if LAYERS.get(number).is_none_or(|layer| *layer != modules) {
            let rule = format!("layer {number} is {:?}", LAYERS.get(number).copied().unwrap_or_default());
            found.push(Violation { file: file(), line: index + 1, rule });
        }
    }
    if shown < LAYERS.len() {
        found.push(Violation { file: file(), line: 1, rule: format!("{shown} of {} layers shown", LAYERS.len()) });
    }
    found
}

/// Rule: no marks of unfinished work, no debug output, and no ignored tests.
pub(crate) fn unfinished(source: &SourceFile) -> Vec<Violation> {
    // Concatenated, because this file must not violate the rule itself.
    let words = [concat!("TO", "DO"), concat!("FIX", "ME")];
    let code = [concat!("to", "do!"), concat!("unimple", "mented!"), concat!("d", "bg!("), concat!("#[ig", "nore")];
    let is_whole_word = |text: &str, offset: usize, word: &str| {
        let is_word_char = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let starts_word = word.starts_with(|c: char| c.is_alphanumeric());
        let ends_word = word.ends_with(|c: char| c.is_alphanumeric()) && !word.starts_with('#');
        let continues_left = starts_word && is_word_char(text[..offset].chars().next_back());
        let continues_right = ends_word && is_word_char(text[offset + word.len()..].chars().next());
        !continues_left && !continues_right
    };
    let search = |text: &str, words: &[&str]| {
        let hits = words.iter().flat_map(|word| text.match_indices(*word).collect::<Vec<_>>());
        hits.filter(|(offset, word)| is_whole_word(text, *offset, word))
            .map(|(offset, word)| {
                violation(source, source.line(offset), format!("{word} does not belong in the project"))
            })
            .collect::<Vec<_>>()
    };
    [search(&source.text, &words), search(&source.code, &code)].concat()
}

fn has_unsafe(code: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

/// Names of environment variables of the project in strings of a text, with their offsets.
fn variables(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("\"ZIPPY_").filter_map(|(quote, _)| {
        let name = text[quote + 1..].split('"').next().unwrap_or_default();
        let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        (is_name && name != "ZIPPY_").then_some((quote, name))
    })
}

/// Rule: the file `list` contains all environment variables of the project. Names in its unit tests
/// do not count as listed; names in `misspelled` need not be listed.
pub(crate) fn unlisted_variables(sources: &[SourceFile], list: &str, misspelled: &[&str]) -> Vec<Violation> {
    let listed = sources.iter().find(|source| source.name == list).map_or("", |source| &source.text);
    let listed = listed.split("#[cfg(test)]").next().unwrap_or_default();
    let known: BTreeSet<&str> = variables(listed).map(|(_, name)| name).chain(misspelled.iter().copied()).collect();
    let violations = |source: &SourceFile| {
        let unknown = variables(&source.text).filter(|(_, name)| !known.contains(name));
        let rule = |(at, name)| violation(source, source.line(at), format!("{name} is not in {list}"));
        unknown.map(rule).collect::<Vec<_>>()
    };
    sources.iter().filter(|source| source.name != list).flat_map(violations).collect()
}

/// Rule: `unsafe` has a comment with `SAFETY:` or `# Safety` in the eight lines above it.
pub(crate) fn unsafe_without_reason(source: &SourceFile) -> Vec<Violation> {
    let lines: Vec<&str> = source.text.lines().collect();
    let has_reason = |index: usize| {
        lines[index.saturating_sub(8)..=index].iter().any(|line| line.contains("SAFETY:") || line.contains("# Safety"))
    };
    let found = source.code.lines().enumerate().filter(|(index, code)| has_unsafe(code) && !has_reason(*index));
    found.map(|(index, _)| violation(source, index + 1, "`unsafe` without a `// SAFETY:` reason above it")).collect()
}

/// Rule: crates without unsafe code forbid it.
pub(crate) fn unsafe_not_forbidden(sources: &[SourceFile]) -> Vec<Violation> {
    // The code of a global allocator is unsafe, and may be in a file outside `src/`.
    let is_unsafe = |source: &SourceFile| has_unsafe(&source.code) || source.code.contains("#[global_allocator]");
    let roots = sources.iter().filter(|source| {
        let directory = ["src/lib.rs", "src/main.rs"].iter().find_map(|root| source.name.strip_suffix(root));
        let is_in_crate = |other: &&SourceFile| {
            directory.is_some_and(|directory| other.name.starts_with(&format!("{directory}src/")))
        };
        directory.is_some() && !sources.iter().filter(is_in_crate).any(is_unsafe)
    });
    let rule = "no file of this crate has unsafe code: write `#![forbid(unsafe_code)]`";
    roots.filter(|root| !root.code.contains("#![forbid(unsafe_code)]")).map(|root| violation(root, 1, rule)).collect()
}

/// Rule: the lock file has one version of wgpu, naga, egui and winit, because two versions in one
/// program could not exchange values.
pub(crate) fn duplicate_dependencies(lock: &str) -> Vec<Violation> {
    let names = ["wgpu", "naga", "egui", "winit"];
    let count = |name: &str| lock.lines().filter(|line| *line == format!("name = \"{name}\"")).count();
    let duplicates = names.iter().filter(|name| count(name) > 1);
    duplicates
        .map(|name| Violation { file: "Cargo.lock".into(), line: 1, rule: format!("more than one version of {name}") })
        .collect()
}
