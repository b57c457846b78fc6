//! The rules themselves. Each takes sources and returns what is broken.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::source::Source;

/// The layers, from the bottom of what is known to the top of what may be used: a module may use rows above its own
/// row, and modules of its own row as long as they do not use each other in a circle.
pub const LAYERS: [&[&str]; 12] = [
    &["error", "element", "extents", "grid", "trace", "wgsl"],
    &["region"],
    &["layout", "chunks", "ownership", "locate"],
    &["plan", "oracle"],
    &["transport"],
    &["device"],
    &["history"],
    &["kernel", "array"],
    &["world"],
    &["algorithms"],
    &["debug"],
    &["start"],
];

/// One broken rule, and where.
#[derive(Clone)]
pub struct Broken {
    file: String,
    line: usize,
    rule: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.rule)
    }
}

pub fn broken(source: &Source, line: usize, rule: impl Into<String>) -> Broken {
    Broken { file: source.name.clone(), line, rule: rule.into() }
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

/// The direction of the layers, over the files of the `src/` of one crate.
pub fn layers(sources: &[Source]) -> Vec<Broken> {
    let exports =
        sources.iter().find(|source| within(&source.name) == Some("lib.rs")).map(reexports).unwrap_or_default();
    let mut found = Vec::new();
    let mut beside: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
    for (index, source) in sources.iter().enumerate() {
        let Some(own) = module_of(&source.name) else { continue };
        let Some(row) = layer(own) else {
            found.push(broken(source, 1, format!("module `{own}` is not in the table of layers")));
            continue;
        };
        for (offset, name) in crate_paths(source) {
            let used = exports.get(&name).unwrap_or(&name);
            let line = source.line(offset);
            match layer(used) {
                _ if used == own => {}
                None => found.push(broken(source, line, format!("`{used}` is not in the table of layers"))),
                // Tests start programs.
                Some(other) if other > row && used == "start" && tests_at(source, offset) => {}
                Some(other) if other > row => {
                    let rule = format!("`{own}` (layer {row}) must not use `{used}` (layer {other})");
                    found.push(broken(source, line, rule));
                }
                // Tests may build what they need from their own row: a circle of theirs closes in no program.
                Some(other) if other == row && !is_tests(&source.name) => {
                    beside.entry((own.into(), used.clone())).or_insert((index, line));
                }
                Some(_) => {}
            }
        }
    }
    found.extend(circle(sources, &beside));
    found
}

/// The first edge between modules of one row that leads back to where it came from.
fn circle(sources: &[Source], beside: &BTreeMap<(String, String), (usize, usize)>) -> Option<Broken> {
    beside.iter().find_map(|((from, to), (index, line))| {
        let mut reached = BTreeSet::from([to]);
        loop {
            let next: BTreeSet<_> =
                beside.keys().filter(|(start, end)| reached.contains(start) && !reached.contains(end)).collect();
            if next.is_empty() {
                break;
            }
            reached.extend(next.into_iter().map(|(_, end)| end));
        }
        let rule = format!("`{from}` and `{to}`, of one layer, use each other in a circle");
        reached.contains(from).then(|| broken(&sources[*index], *line, rule))
    })
}

/// The path of a file inside of its crate's `src/`.
fn within(name: &str) -> Option<&str> {
    name.split_once("src/").map(|(_, path)| path)
}

/// The top module of a file of a crate; nothing for the crate root and for programs.
fn module_of(name: &str) -> Option<&str> {
    let top = within(name)?.split('/').next()?;
    let module = top.strip_suffix(".rs").unwrap_or(top);
    (!matches!(module, "lib" | "main" | "bin")).then_some(module)
}

/// Whether a file holds the unit tests of a module.
pub fn is_tests(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.ends_with("_tests.rs") || name.contains("/tests/")
}

/// Whether a place in a file is in unit tests.
fn tests_at(source: &Source, offset: usize) -> bool {
    is_tests(&source.name) || source.code[..offset].contains("#[cfg(test)]\nmod tests {")
}

/// How many `super` lead from a file's own module to the crate root.
fn depth(name: &str) -> usize {
    let parts = within(name).unwrap_or(name).split('/').count();
    if name.ends_with("/mod.rs") { parts - 1 } else { parts }
}

/// The names that follow `crate::` (or as many `super::` as lead there), with their offsets.
fn crate_paths(source: &Source) -> Vec<(usize, String)> {
    let supers = "super::".repeat(depth(&source.name));
    let mut found = Vec::new();
    for prefix in ["crate::", supers.as_str()] {
        for (offset, _) in source.code.match_indices(prefix) {
            let before = source.code[..offset].chars().next_back();
            let joined = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
            // Inside a module of a file, `super` is the file itself.
            let nested = prefix != "crate::" && inside_module(&source.code[..offset]);
            if !joined && !nested {
                let names = first_names(&source.code[offset + prefix.len()..]);
                found.extend(names.into_iter().map(|(inner, name)| (offset + prefix.len() + inner, name)));
            }
        }
    }
    found
}

/// Whether the text ends inside an inline `mod name { … }`.
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

/// The first name of a path, or of each path of a `{…}` group.
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

/// What `lib.rs` exports at the top, by the name it has there: name → module.
fn reexports(lib: &Source) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (offset, _) in lib.code.match_indices("pub use ") {
        let statement = lib.code[offset + "pub use ".len()..].split(';').next().unwrap_or_default();
        let statement = statement.trim().trim_start_matches("crate::").trim_start_matches("self::");
        let Some((module, rest)) = statement.split_once("::") else { continue };
        // Modules of another crate keep their names.
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

/// A file longer than the limit has to say why: its first comment contains "long because".
pub fn length(source: &Source, limit: usize) -> Option<Broken> {
    let lines = source.lines();
    let excused = source.first_comment().to_lowercase().contains("long because");
    let rule = format!("{lines} lines; above {limit}, split the file or say \"Long because …\" in its first comment");
    (lines > limit && !excused).then(|| broken(source, limit + 1, rule))
}

/// The middle of some numbers, the lower one of two.
pub fn median(mut numbers: Vec<usize>) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// Rows of the design page's table of layers (`| 1 | `region` | … |`) that differ from [`LAYERS`], which is what holds.
pub fn design_table(page: &str) -> Vec<Broken> {
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
            found.push(Broken { file: file(), line: index + 1, rule });
        }
    }
    if shown < LAYERS.len() {
        found.push(Broken { file: file(), line: 1, rule: format!("{shown} of {} layers shown", LAYERS.len()) });
    }
    found
}

/// Marks of unfinished work and tests that are switched off.
pub fn unfinished(source: &Source) -> Vec<Broken> {
    // Spelled in pieces, so that this file does not break the rule.
    let words = [concat!("TO", "DO"), concat!("FIX", "ME")];
    let code = [concat!("to", "do!"), concat!("unimple", "mented!"), concat!("d", "bg!("), concat!("#[ig", "nore")];
    let whole = |text: &str, offset: usize, word: &str| {
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let starts_word = word.starts_with(|c: char| c.is_alphanumeric());
        let ends_word = word.ends_with(|c: char| c.is_alphanumeric()) && !word.starts_with('#');
        let within_left = starts_word && part(text[..offset].chars().next_back());
        let within_right = ends_word && part(text[offset + word.len()..].chars().next());
        !within_left && !within_right
    };
    let search = |text: &str, words: &[&str]| {
        let hits = words.iter().flat_map(|word| text.match_indices(*word).collect::<Vec<_>>());
        hits.filter(|(offset, word)| whole(text, *offset, word))
            .map(|(offset, word)| broken(source, source.line(offset), format!("{word} does not belong in the project")))
            .collect::<Vec<_>>()
    };
    [search(&source.text, &words), search(&source.code, &code)].concat()
}

fn has_unsafe(code: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

/// The names of environment variables of the project that stand in strings of a text, with their offsets.
fn variables(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("\"ZIPPY_").filter_map(|(quote, _)| {
        let name = text[quote + 1..].split('"').next().unwrap_or_default();
        let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        (is_name && name != "ZIPPY_").then_some((quote, name))
    })
}

/// Environment variables that are not in the file that lists all. Its unit tests, and names in `misspelled`, do not count.
pub fn unlisted_variables(sources: &[Source], list: &str, misspelled: &[&str]) -> Vec<Broken> {
    let listed = sources.iter().find(|source| source.name == list).map_or("", |source| &source.text);
    let listed = listed.split("#[cfg(test)]").next().unwrap_or_default();
    let known: BTreeSet<&str> = variables(listed).map(|(_, name)| name).chain(misspelled.iter().copied()).collect();
    let of_source = |source: &Source| {
        let unknown = variables(&source.text).filter(|(_, name)| !known.contains(name));
        let rule = |(at, name)| broken(source, source.line(at), format!("{name} is not in {list}"));
        unknown.map(rule).collect::<Vec<_>>()
    };
    sources.iter().filter(|source| source.name != list).flat_map(of_source).collect()
}

/// `unsafe` needs its reason within the eight lines above it.
pub fn unsafe_without_reason(source: &Source) -> Vec<Broken> {
    let lines: Vec<&str> = source.text.lines().collect();
    let reasoned = |index: usize| {
        lines[index.saturating_sub(8)..=index].iter().any(|line| line.contains("SAFETY:") || line.contains("# Safety"))
    };
    let found = source.code.lines().enumerate().filter(|(index, code)| has_unsafe(code) && !reasoned(*index));
    found.map(|(index, _)| broken(source, index + 1, "`unsafe` without a `// SAFETY:` reason above it")).collect()
}

/// Crates without unsafe code that do not forbid it.
pub fn unsafe_allowed_for_nothing(sources: &[Source]) -> Vec<Broken> {
    // What a crate includes from elsewhere for an allocator is unsafe.
    let is_unsafe = |source: &Source| has_unsafe(&source.code) || source.code.contains("#[global_allocator]");
    let roots = sources.iter().filter(|source| {
        let directory = ["src/lib.rs", "src/main.rs"].iter().find_map(|root| source.name.strip_suffix(root));
        let of_crate = |other: &&Source| directory.is_some_and(|own| other.name.starts_with(&format!("{own}src/")));
        directory.is_some() && !sources.iter().filter(of_crate).any(is_unsafe)
    });
    let rule = "no file of this crate has unsafe code: write `#![forbid(unsafe_code)]`";
    roots.filter(|root| !root.code.contains("#![forbid(unsafe_code)]")).map(|root| broken(root, 1, rule)).collect()
}

/// Crates of which two versions in one program could not work together.
pub fn doubled(lock: &str) -> Vec<Broken> {
    let names = ["wgpu", "naga", "egui", "winit"];
    let count = |name: &str| lock.lines().filter(|line| *line == format!("name = \"{name}\"")).count();
    let twice = names.iter().filter(|name| count(name) > 1);
    twice
        .map(|name| Broken { file: "Cargo.lock".into(), line: 1, rule: format!("more than one version of {name}") })
        .collect()
}
