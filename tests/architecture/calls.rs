//! Public functions that return an error of the library name the line that called them.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::rings::{self, Path};
use crate::rules::{Broken, broken, is_tests};
use crate::source::Source;

/// A public function of a library that returns `Result<T>` with the library's own error.
struct Fallible<'a> {
    source: &'a Source,
    name: &'a str,
    start: usize,
    body: Range<usize>,
}

/// How many public functions of a library return its error, and those among them that do not name the line that called them.
pub fn unguarded(sources: &[Source]) -> (usize, Vec<Broken>) {
    let all = fallible(sources);
    let rule = "is public and returns an error: it is `#[track_caller]` and begins with `CallSite::enter()`";
    let unguarded = all.iter().filter(|one| !one.is_guarded());
    let told = |one: &Fallible| broken(one.source, one.source.line(one.start), format!("`{}` {rule}", one.name));
    (all.len(), unguarded.map(told).collect())
}

/// The code of a file without its unit tests.
fn program(source: &Source) -> &str {
    source.code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

fn fallible(sources: &[Source]) -> Vec<Fallible<'_>> {
    let mut public = Public { sources, ..Public::default() };
    public.module(&Path::new());
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !is_tests(&source.name)) {
        let code = program(source);
        for (start, line) in lines(code) {
            let indent = line.len() - line.trim_start().len();
            let Some(name) = function(line.trim_start()) else { continue };
            let Some(signature_end) = end_of(&code[start..], &['{', ';']).map(|length| start + length) else {
                continue;
            };
            if !returns_error(&code[start..signature_end]) {
                continue;
            }
            let is_public = match indent {
                0 => public.names.contains(&(&source.name, name)),
                _ => implemented(&code[..start]).is_some_and(|of| public.has_type(source, of)),
            };
            if is_public {
                let length = end_of(&code[signature_end + 1..], &['}']).unwrap_or(0);
                found.push(Fallible { source, name, start, body: signature_end + 1..signature_end + 1 + length });
            }
        }
    }
    found
}

impl Fallible<'_> {
    /// A body that is one call of another public function leaves the line to that.
    fn is_guarded(&self) -> bool {
        let code = &self.source.code;
        let before = code[..self.start].rfind(['{', '}', ';']).map_or(0, |end| end + 1);
        let body = &code[self.body.clone()];
        code[before..self.start].contains("#[track_caller]")
            && (body.contains("CallSite::") || !body.contains([';', '?']))
    }
}

/// What other crates can name: each name with the file that defines it.
#[derive(Default)]
struct Public<'a> {
    sources: &'a [Source],
    names: BTreeSet<(&'a str, &'a str)>,
    seen: BTreeSet<Path>,
}

impl<'a> Public<'a> {
    fn source(&self, module: &Path) -> Option<&'a Source> {
        self.sources.iter().find(|source| !is_tests(&source.name) && rings::module(&source.name) == *module)
    }

    /// All that a public module has.
    fn module(&mut self, module: &Path) {
        let Some(source) = self.source(module).filter(|_| self.seen.insert(module.clone())) else { return };
        let code = program(source);
        for (start, line) in lines(code).filter(|(_, line)| line.starts_with("pub ")) {
            if let Some(child) = line.strip_prefix("pub mod ") {
                self.module(&[module.clone(), vec![word(child).to_owned()]].concat());
            } else if line.starts_with("pub use ") {
                let mut leaves = Vec::new();
                rings::leaves(&code[start + "pub use ".len()..], Path::new(), &mut leaves);
                leaves.iter().for_each(|(name, path)| self.export(&resolved(module, path), name.is_empty()));
            } else if let Some(name) = defined(line) {
                self.names.insert((&source.name, name));
            }
        }
    }

    /// What a path names: a module, something of one, or all of it.
    fn export(&mut self, path: &Path, is_all: bool) {
        if is_all || self.source(path).is_some() {
            return self.module(path);
        }
        let Some((name, holder)) = path.split_last().filter(|_| self.seen.insert(path.clone())) else { return };
        let holder = holder.to_vec();
        let Some(source) = self.source(&holder) else { return };
        let code = program(source);
        if let Some(name) = lines(code).filter_map(|(_, line)| defined(line)).find(|own| own == name) {
            self.names.insert((&source.name, name));
        }
        for (start, _) in lines(code).filter(|(_, line)| line.starts_with("pub") && line.contains(" use ")) {
            let mut leaves = Vec::new();
            let tree = code[start..].find(" use ").map_or(code.len(), |length| start + length + " use ".len());
            rings::leaves(&code[tree..], Path::new(), &mut leaves);
            for (_, path) in leaves.iter().filter(|(own, _)| own == name) {
                self.export(&resolved(&holder, path), false);
            }
        }
    }

    /// Whether a type that is implemented in a file is public: that of the file itself, where it has one of this name.
    fn has_type(&self, source: &Source, name: &str) -> bool {
        let is_own = lines(program(source)).any(|(_, line)| defined(line) == Some(name));
        self.names.iter().any(|(file, public)| *public == name && (!is_own || *file == source.name))
    }
}

/// A path of a module from the root of its crate.
fn resolved(module: &Path, path: &Path) -> Path {
    let mut at = module.clone();
    for word in path {
        match word.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            child => at.push(child.to_owned()),
        }
    }
    at
}

fn lines(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line.trim_end()))
    })
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The name of a public function that a line begins.
fn function(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = ["const ", "unsafe ", "async "].iter().fold(rest, |rest, one| rest.strip_prefix(one).unwrap_or(rest));
    rest.strip_prefix("fn ").map(word)
}

/// The name of a type or function that a line without indent defines, public or not.
fn defined(line: &str) -> Option<&str> {
    let rest =
        if line.starts_with("pub(") { line.split_once(") ")?.1 } else { line.strip_prefix("pub ").unwrap_or(line) };
    let kinds = ["struct ", "enum ", "union ", "fn ", "const fn ", "unsafe fn "];
    kinds.iter().find_map(|kind| rest.strip_prefix(kind)).map(word)
}

/// Where the first of these stands that is in no bracket.
fn end_of(code: &str, ends: &[char]) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in code.char_indices() {
        if depth == 0 && ends.contains(&letter) {
            return Some(at);
        }
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a signature returns `Result` of one type, whose error is the library's.
fn returns_error(signature: &str) -> bool {
    let signature = signature.split("\nwhere").next().unwrap_or_default().split(" where ").next().unwrap_or_default();
    let mut from = 0;
    let mut returned = None;
    while let Some(length) = end_of(&signature[from..], &['-']) {
        from += length + 1;
        returned = signature[from..].strip_prefix('>').or(returned);
    }
    let Some(returned) = returned.map(str::trim) else { return false };
    let inner = ["", "crate::", "zippy::"].iter().find_map(|path| returned.strip_prefix(path)?.strip_prefix("Result<"));
    let mut depth = 0;
    inner.is_some_and(|inner| {
        !inner.chars().any(|letter| {
            match letter {
                '<' | '(' | '[' => depth += 1,
                '>' | ')' | ']' => depth -= 1,
                _ => {}
            }
            letter == ',' && depth == 0
        })
    })
}

/// The type whose `impl` the end of some code is in, none where it implements a trait.
fn implemented(code: &str) -> Option<&str> {
    let opens =
        |line: &str| ["impl", "unsafe impl", "pub trait", "trait", "mod", "pub mod"].contains(&first_words(line));
    let (start, line) = lines(code).filter(|(_, line)| opens(line)).last()?;
    let mut head = line.strip_prefix("impl").map(|_| code[start + "impl".len()..].split('{').next())??;
    if head.starts_with('<') {
        let mut depth = 0;
        let end = head.char_indices().find(|(at, letter)| {
            match letter {
                '<' => depth += 1,
                '>' if !head[..*at].ends_with('-') => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        head = &head[end.0 + 1..];
    }
    let head = head.split("where").next().unwrap_or_default();
    let path = head.trim().split(['<', ' ']).next().unwrap_or_default();
    (!head.contains(" for ")).then(|| path.rsplit("::").next().unwrap_or_default())
}

/// The first word of a line without indent, with `pub` or `unsafe` in front of it.
fn first_words(line: &str) -> &str {
    let more = ["pub ", "unsafe "].iter().find(|one| line.starts_with(**one)).map_or(0, |one| one.len());
    &line[..more + word(&line[more..]).len()]
}
