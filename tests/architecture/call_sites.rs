//! Rule: errors of public functions of a library name the source line of the call.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::cycles::{self, ModulePath};
use crate::rules::{Violation, is_tests, violation};
use crate::source_file::SourceFile;

/// Public function of a library that returns `Result<T>` with the library's own error.
struct FallibleFunction<'a> {
    source: &'a SourceFile,
    name: &'a str,
    /// Offset of the line with the name.
    start: usize,
    /// Offsets of the body.
    body: Range<usize>,
}

/// Number of public functions of a library that return its error, and a violation for each such
/// function that does not record its call site.
pub(crate) fn check(sources: &[SourceFile]) -> (usize, Vec<Violation>) {
    let all = fallible_functions(sources);
    let rule =
        "is public and returns an error: it must be `#[track_caller]` and its body must begin with `CallSite::enter()`";
    let report = |function: &FallibleFunction<'_>| {
        violation(function.source, function.source.line(function.start), format!("`{}` {rule}", function.name))
    };
    let violations = all.iter().filter(|function| !function.records_call_site()).map(report).collect();
    (all.len(), violations)
}

/// Code of a file without its unit tests.
fn code_without_tests(source: &SourceFile) -> &str {
    source.code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

fn fallible_functions(sources: &[SourceFile]) -> Vec<FallibleFunction<'_>> {
    let mut public = PublicNames { sources, ..PublicNames::default() };
    public.add_module(&ModulePath::new());
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !is_tests(&source.name)) {
        let code = code_without_tests(source);
        for (start, line) in lines(code) {
            let indent = line.len() - line.trim_start().len();
            let Some(name) = public_function(line.trim_start()) else { continue };
            let Some(signature_end) = end_of(&code[start..], &['{', ';']).map(|length| start + length) else {
                continue;
            };
            if !returns_error(&code[start..signature_end]) {
                continue;
            }
            let is_public = if indent == 0 {
                public.names.contains(&(&source.name, name))
            } else {
                implemented_type(&code[..start]).is_some_and(|name| public.has_type(source, name))
            };
            let attributes = code[..start].rfind(['{', '}', ';']).map_or(0, |end| end + 1);
            // Other crates of the project call hidden functions.
            if is_public && !code[attributes..start].contains("#[doc(hidden)]") {
                let length = end_of(&code[signature_end + 1..], &['}']).unwrap_or(0);
                let body = signature_end + 1..signature_end + 1 + length;
                found.push(FallibleFunction { source, name, start, body });
            }
        }
    }
    found
}

impl FallibleFunction<'_> {
    /// True if the function records its call site, or only calls another function, which then does.
    fn records_call_site(&self) -> bool {
        let code = &self.source.code;
        let before = code[..self.start].rfind(['{', '}', ';']).map_or(0, |end| end + 1);
        let body = &code[self.body.clone()];
        code[before..self.start].contains("#[track_caller]")
            && (body.contains("CallSite::") || !body.contains([';', '?']))
    }
}

/// Names of a library that other crates can use.
#[derive(Default)]
struct PublicNames<'a> {
    sources: &'a [SourceFile],
    /// Defining file and name of each item.
    names: BTreeSet<(&'a str, &'a str)>,
    /// Paths that have been added.
    visited: BTreeSet<ModulePath>,
}

impl<'a> PublicNames<'a> {
    fn source(&self, module: &ModulePath) -> Option<&'a SourceFile> {
        self.sources.iter().find(|source| !is_tests(&source.name) && cycles::module(&source.name) == *module)
    }

    fn add_module(&mut self, module: &ModulePath) {
        let Some(source) = self.source(module).filter(|_| self.visited.insert(module.clone())) else { return };
        let code = code_without_tests(source);
        for (start, line) in lines(code).filter(|(_, line)| line.starts_with("pub ")) {
            if let Some(child) = line.strip_prefix("pub mod ") {
                self.add_module(&[module.clone(), vec![word(child).to_owned()]].concat());
            } else if line.starts_with("pub use ") {
                let mut exports = Vec::new();
                cycles::parse_use_tree(&code[start + "pub use ".len()..], ModulePath::new(), &mut exports);
                exports.iter().for_each(|(name, path)| self.add_export(&resolved(module, path), name.is_empty()));
            } else if let Some(name) = defined_name(line) {
                self.names.insert((&source.name, name));
            }
        }
    }

    /// Adds the exported item of a path: a module, an item of a module, or, for a glob, all items.
    fn add_export(&mut self, path: &ModulePath, is_glob: bool) {
        if is_glob || self.source(path).is_some() {
            return self.add_module(path);
        }
        let Some((name, parent)) = path.split_last().filter(|_| self.visited.insert(path.clone())) else { return };
        let parent = parent.to_vec();
        let Some(source) = self.source(&parent) else { return };
        let code = code_without_tests(source);
        if let Some(name) = lines(code).filter_map(|(_, line)| defined_name(line)).find(|defined| defined == name) {
            self.names.insert((&source.name, name));
        }
        for (start, _) in lines(code).filter(|(_, line)| line.starts_with("pub") && line.contains(" use ")) {
            let mut exports = Vec::new();
            let tree = code[start..].find(" use ").map_or(code.len(), |length| start + length + " use ".len());
            cycles::parse_use_tree(&code[tree..], ModulePath::new(), &mut exports);
            for (_, path) in exports.iter().filter(|(exported, _)| exported == name) {
                self.add_export(&resolved(&parent, path), false);
            }
        }
    }

    /// True if a type with an `impl` block in a file is public. If the file defines a type of this
    /// name, only that type counts.
    fn has_type(&self, source: &SourceFile, name: &str) -> bool {
        let is_defined_here = lines(code_without_tests(source)).any(|(_, line)| defined_name(line) == Some(name));
        self.names.iter().any(|(file, public)| *public == name && (!is_defined_here || *file == source.name))
    }
}

/// Path from the crate root for a path in a module.
fn resolved(module: &ModulePath, path: &ModulePath) -> ModulePath {
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

/// Lines of code with their offsets, without white space at their ends.
fn lines(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line.trim_end()))
    })
}

/// Identifier at the start of a text.
fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Name of the public function that a line declares.
fn public_function(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let qualifiers = ["const ", "unsafe ", "async "];
    let rest = qualifiers.iter().fold(rest, |rest, qualifier| rest.strip_prefix(qualifier).unwrap_or(rest));
    rest.strip_prefix("fn ").map(word)
}

/// Name of the type or function that a line without indent defines, public or not.
fn defined_name(line: &str) -> Option<&str> {
    let rest =
        if line.starts_with("pub(") { line.split_once(") ")?.1 } else { line.strip_prefix("pub ").unwrap_or(line) };
    let kinds = ["struct ", "enum ", "union ", "fn ", "const fn ", "unsafe fn "];
    kinds.iter().find_map(|kind| rest.strip_prefix(kind)).map(word)
}

/// Offset of the first of the characters `ends` outside brackets.
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

/// True if a signature returns `Result<T>` with the error of the library, and not `Result<T, E>`.
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

/// Type of the `impl` block at the end of some code; `None` for an `impl` block of a trait.
fn implemented_type(code: &str) -> Option<&str> {
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

/// First word of a line without indent, with the qualifier `pub` or `unsafe` before it.
fn first_words(line: &str) -> &str {
    let qualifier = ["pub ", "unsafe "].iter().find(|qualifier| line.starts_with(**qualifier));
    let length = qualifier.map_or(0, |qualifier| qualifier.len());
    &line[..length + word(&line[length..]).len()]
}
