//! Scan of WGSL text that naga cannot parse yet: finds its storage variables and the names that it
//! uses.
//!
//! The text calls helpers that do not exist yet. The scan finds the information needed to generate
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::wgsl::{Declaration, Kind, Tokens, is_word};

/// A `var<storage>` declaration of a kernel's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StorageVar {
    pub name: String,
    /// True for `read_write`.
    pub writable: bool,
    /// The text of `T` in `array<T>`; `None` if the variable is not a plain array.
    pub cell: Option<String>,
    /// True if `T` is `atomic<cell>`.
    pub atomic: bool,
    /// True if `T` is a structure with atomics, which cannot be loaded or stored as a whole.
    pub holds_atomics: bool,
    /// Byte range of the variable's name in the text.
    pub span: Range<usize>,
}

impl StorageVar {
    pub(super) fn declaration(&self) -> String {
        let access = if self.writable { "read_write" } else { "read" };
        let cell = self.cell.as_deref().unwrap_or("?");
        let ty = if self.atomic { format!("atomic<{cell}>") } else { cell.to_owned() };
        format!("var<storage, {access}> {}: array<{ty}>", self.name)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SourceScan {
    pub storage: Vec<StorageVar>,
    /// All identifiers except names of declarations.
    pub words: BTreeSet<String>,
    /// Declarations at module scope.
    pub declared: Vec<Declaration>,
    /// Functions that the text defines, by name.
    pub functions: BTreeMap<String, Declaration>,
    /// True if the text ends inside an item or a comment.
    pub open: bool,
    /// Bind groups that the text uses.
    pub groups: BTreeSet<u32>,
    pub entries: usize,
}

impl SourceScan {
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.storage.iter().position(|var| var.name == name)
    }

    /// True if a type contains atomics, directly or through declared types.
    fn holds_atomics(&self, ty: &str, text: &str) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![ty]);
        while let Some(part) = open.pop() {
            for word in Tokens::new(part).iter().filter(|word| is_word(word)) {
                if word == "atomic" {
                    return true;
                }
                let of_word =
                    |declared: &&Declaration| declared.kind == Kind::Other && &text[declared.name.clone()] == word;
                if let Some(found) = self.declared.iter().find(of_word).filter(|_| seen.insert(word)) {
                    open.push(&text[found.item.clone()]);
                }
            }
        }
        false
    }

    /// Returns the scanned text with those functions blanked that `entry` does not call. Offsets do
    /// not change.
    ///
    /// Bindings of the other functions are optional, so these functions cannot be validated.
    pub(super) fn reached_from(&self, entry: &str, text: &str) -> String {
        let mut reached = BTreeSet::new();
        let mut open = vec![entry];
        while let Some(name) = open.pop() {
            let Some(function) = self.functions.get(name).filter(|_| reached.insert(name)) else { continue };
            let item = &text[function.item.clone()];
            open.extend(Tokens::new(item).iter());
        }
        let mut out = text.to_owned();
        for (name, function) in &self.functions {
            if !reached.contains(name.as_str()) {
                let blank = text[function.item.clone()].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' });
                out.replace_range(function.item.clone(), &blank.collect::<String>());
            }
        }
        out
    }

    /// True if the text depends on the assignment of invocations to workgroups.
    pub(super) fn depends_on_workgroups(&self) -> bool {
        const WORDS: [&str; 7] = [
            "workgroup",
            "workgroup_id",
            "num_workgroups",
            "local_invocation_id",
            "local_invocation_index",
            "workgroupBarrier",
            "domain_workgroup",
        ];
        let of_lanes = |word: &String| word.starts_with("subgroup") || word.starts_with("quad");
        WORDS.iter().any(|word| self.words.contains(*word)) || self.words.iter().any(of_lanes)
    }

    pub(super) fn has_loops(&self) -> bool {
        ["loop", "for", "while"].iter().any(|word| self.words.contains(*word))
    }

    /// True if the text uses the variable or one of its helpers.
    pub(super) fn mentions(&self, var: &StorageVar, helpers: &[&str]) -> bool {
        self.words.contains(&var.name) || helpers.iter().any(|h| self.words.contains(&format!("{}_{h}", var.name)))
    }
}

/// Scans the declarations of `text`. Never fails: naga reports invalid text later.
pub(super) fn scan(text: &str) -> SourceScan {
    let tokens = Tokens::new(text);
    let word = |i: usize| tokens.get(i);
    let mut out = SourceScan::default();
    let mut aliases = BTreeMap::new();
    let mut declared = Vec::new();
    let mut names = BTreeSet::new();
    for i in 0..tokens.count() {
        match word(i) {
            "alias" if word(i + 2) == "=" => {
                aliases.insert(word(i + 1), type_tokens(i + 3, &word));
            }
            "group" if word(i.wrapping_sub(1)) == "@" && word(i + 1) == "(" => {
                let digits = word(i + 2).trim_end_matches(['u', 'i']);
                out.groups.extend(digits.parse::<u32>());
            }
            "compute" if word(i.wrapping_sub(1)) == "@" => out.entries += 1,
            "var" if word(i + 1) == "<" && word(i + 2) == "storage" => {
                let mut j = i + 3;
                let mut writable = false;
                while !matches!(word(j), ">" | "") {
                    writable |= word(j) == "read_write";
                    j += 1;
                }
                if word(j + 2) == ":" {
                    names.insert(j + 1);
                    declared.push((j + 1, writable, type_tokens(j + 3, &word)));
                }
            }
            _ => {}
        }
    }
    (out.declared, out.open) = tokens.declarations();
    let functions = out.declared.iter().filter(|declaration| declaration.kind == Kind::Function);
    out.functions = functions.map(|function| (text[function.name.clone()].to_owned(), function.clone())).collect();
    for (i, text) in tokens.iter().enumerate() {
        if !names.contains(&i) && is_word(text) {
            out.words.insert(text.to_owned());
        }
    }
    for (at, writable, ty) in declared {
        let (cell, atomic) = cell_type(&resolve_aliases(ty, &aliases), &aliases);
        let holds_atomics = !atomic && cell.as_deref().is_some_and(|cell| out.holds_atomics(cell, text));
        let (name, span) = (word(at).to_owned(), tokens.ranges[at].clone());
        out.storage.push(StorageVar { name, writable, cell, atomic, holds_atomics, span });
    }
    out
}

/// Returns the tokens of a type with leading aliases resolved. Chains are short; naga reports
/// cycles.
fn resolve_aliases<'a>(mut ty: Vec<&'a str>, aliases: &BTreeMap<&str, Vec<&'a str>>) -> Vec<&'a str> {
    for _ in 0..16 {
        match ty[..] {
            [one] => ty = aliases.get(one).cloned().unwrap_or(ty),
            _ => break,
        }
    }
    ty
}

/// Returns the tokens of a type, up to the `;`, `=` or closing bracket that ends it.
fn type_tokens<'a>(from: usize, word: &impl Fn(usize) -> &'a str) -> Vec<&'a str> {
    (from..).map(word).take_while(|t| !matches!(*t, ";" | "" | "=" | "@" | "}")).collect()
}

/// Returns the cell type of an array type: `T` for `array<T>`; `T` and true for `array<atomic<T>>`.
fn cell_type(ty: &[&str], aliases: &BTreeMap<&str, Vec<&str>>) -> (Option<String>, bool) {
    let ["array", "<", inner @ .., ">"] = ty else { return (None, false) };
    let mut depth = 0;
    for token in inner {
        match *token {
            "<" => depth += 1,
            ">" => depth -= 1,
            // The array has a fixed length, so it cannot match a section.
            "," if depth == 0 => return (None, false),
            _ => {}
        }
    }
    let cell = |ty: &[&str]| Some(resolve_aliases(ty.to_vec(), aliases).concat());
    match &resolve_aliases(inner.to_vec(), aliases)[..] {
        ["atomic", "<", scalar @ .., ">"] => (cell(scalar), true),
        other => (cell(other), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_declarations_and_skips_comments() {
        let text = "
            // var<storage> not_this: array<f32>;
            /* nor /* nested */ var<storage> that: array<f32>; */
            alias Cells = array<vec4<f32>>;
            @group(0) @binding(0) var<storage, read> a: array<f32>;
            @group(0) @binding(1) var<storage,read_write>b:array<atomic<u32>>;
            @group(0) @binding(2) var < storage > c : Cells;
            @group(0) @binding(3) var<storage> d: Header;
            @group(0) @binding(4) var<storage> e: array<f32, 8>;
            alias Word = u32;
            alias Counter = atomic<Word>;
            @group(0) @binding(5) var<storage> f: array<Word>;
            @group(0) @binding(6) var<storage, read_write> g: array<Counter>;
            fn helper() { let v = a_load(1); }
        ";
        let found = scan(text);
        let seen: Vec<_> =
            found.storage.iter().map(|v| (v.name.as_str(), v.writable, v.cell.as_deref(), v.atomic)).collect();
        let expected = [
            ("a", false, Some("f32"), false),
            ("b", true, Some("u32"), true),
            ("c", false, Some("vec4<f32>"), false),
            ("d", false, None, false),
            ("e", false, None, false),
            ("f", false, Some("u32"), false),
            ("g", true, Some("u32"), true),
        ];
        assert_eq!(seen, expected);
        assert!(found.words.contains("a_load") && !found.words.contains("not_this") && !found.words.contains("c"));
        assert!(&text[found.functions["helper"].name.clone()] == "helper");
        assert_eq!(&text[found.storage[1].span.clone()], "b");
    }

    #[test]
    fn functions_that_an_entry_point_does_not_reach_are_blanked() {
        let text = "const n = 2; fn a(v: f32) -> f32 { if v > 0 { return b(); } return 1; }\nfn b() {}\n\
                    @compute @workgroup_size(64)\nfn one() { /* ü b( */ a(1); }\n@compute @workgroup_size(1) fn two() { b(); }\n";
        let found = scan(text);
        let two = found.reached_from("two", text);
        assert_eq!(
            two.split_whitespace().collect::<Vec<_>>().join(" "),
            "const n = 2; fn b() {} @compute @workgroup_size(1) fn two() { b(); }"
        );
        assert_eq!((two.len(), two.find("fn two")), (text.len(), text.find("fn two")));
        assert_eq!(two.matches('\n').count(), text.matches('\n').count());
        assert!(
            found.reached_from("one", text).contains("fn b() {}") && !found.reached_from("one", text).contains("two")
        );
    }

    #[test]
    fn unfinished_text_is_scanned_without_panic() {
        for text in
            ["var<storage", "/* open", "alias a = a; var<storage> x: a;", "var<storage> é: array<ü>;", "fn", "@"]
        {
            scan(text);
        }
    }

    #[test]
    fn circular_aliases_are_resolved_in_finite_time() {
        scan("alias a = b; alias b = a; var<storage> x: a;");
    }
}
