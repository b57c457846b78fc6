//! WGSL before naga can parse it, because Zippy adds declarations to it later: composition of
//! texts, and a tokenizer that finds declarations and reserved names.

#[macro_use]
mod composer;
#[cfg(test)]
mod composer_tests;
mod names;
mod parameter_branches;

pub use composer::{WgslComposer, WgslConstant, WgslModule};
pub(crate) use composer::{locate_line, tidy_path};
pub use names::{PREFIX, reserved, taken};
#[cfg(test)]
pub(crate) use parameter_branches::parameter_branches;
pub use parameter_branches::{check_parameter_branches, check_text};

use std::ops::Range;

/// Tokens of a WGSL text: identifiers, numbers and single characters. Comments and white space are
/// skipped.
#[derive(Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    /// Byte range of each token in the text.
    pub ranges: Vec<Range<usize>>,
    /// True if the text ends inside a comment.
    pub open_comment: bool,
}

/// Kind of a named item at module scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A function.
    Function,
    /// A variable, constant, type or alias.
    Other,
}

/// Named item at module scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Kind of the item.
    pub kind: Kind,
    /// Byte range of the name.
    pub name: Range<usize>,
    /// Byte range of the item, from its attributes to its end.
    pub item: Range<usize>,
}

/// True if a token is an identifier or a keyword.
pub fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

impl<'a> Tokens<'a> {
    /// Splits a text into tokens.
    pub fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let (mut ranges, mut open_comment) = (Vec::new(), false);
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            if rest.starts_with(b"//") {
                at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                let (len, closed) = block_comment(rest);
                (at, open_comment) = (at + len, !closed);
            } else if rest[0].is_ascii_whitespace() {
                at += 1;
            } else {
                let word =
                    text[at..].chars().take_while(|&c| c == '_' || c.is_alphanumeric()).map(char::len_utf8).sum();
                let len = if word > 0 { word } else { text[at..].chars().next().map_or(1, char::len_utf8) };
                ranges.push(at..at + len);
                at += len;
            }
        }
        Self { text, ranges, open_comment }
    }

    /// Returns the number of tokens.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Returns token `i`, or an empty string after the last token.
    pub fn get(&self, i: usize) -> &'a str {
        self.ranges.get(i).map_or("", |range| &self.text[range.clone()])
    }

    /// Iterates over the tokens in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> {
        (0..self.count()).map(|i| self.get(i))
    }

    /// Returns the named items at module scope, and true if the text ends inside an item or a
    /// comment. An item ends with a `;` or with a closing brace that is not nested in other
    /// brackets.
    pub fn declarations(&self) -> (Vec<Declaration>, bool) {
        let mut found = Vec::new();
        let (mut depth, mut start, mut open) = (0, 0, None);
        for i in 0..self.count() {
            match self.get(i) {
                "fn" if depth == 0 => open = Some((Kind::Function, i + 1)),
                "struct" | "alias" | "const" | "override" if depth == 0 => open = Some((Kind::Other, i + 1)),
                "var" if depth == 0 => open = Some((Kind::Other, self.after_template(i + 1))),
                "{" | "(" => depth += 1,
                "}" | ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(self.get(i), "}" | ";") {
                if let Some((kind, name)) = open.take()
                    && is_word(self.get(name))
                {
                    let (name, item) = (self.ranges[name].clone(), self.ranges[start].start..self.ranges[i].end);
                    found.push(Declaration { kind, name, item });
                }
                start = i + 1;
            }
        }
        (found, self.open_comment || start < self.count())
    }

    /// Returns the index of the token after the template list `<…>` at `i`, or `i` if there is
    /// none.
    fn after_template(&self, i: usize) -> usize {
        if self.get(i) != "<" {
            return i;
        }
        (i..self.count()).find(|&i| self.get(i) == ">").unwrap_or(i) + 1
    }
}

/// Returns the length of the block comment at the start of `bytes`, and true if the comment ends.
/// WGSL block comments nest.
fn block_comment(bytes: &[u8]) -> (usize, bool) {
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return (at, true);
        }
    }
    (at, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_found_outside_of_brackets() {
        let text = "enable f16; const n = 2; override m: u32 = 3; alias A = vec4<f32>; struct B { fn_: f32 }\n\
                    @group(0) @binding(0) var<storage, read> c: array<f32>; var<private> d: u32;\n\
                    @must_use fn e(f: f32) -> f32 { var g = f; const h = 1; return g; } const_assert n > 1;";
        let (found, open) = Tokens::new(text).declarations();
        let names: Vec<_> = found.iter().map(|d| &text[d.name.clone()]).collect();
        assert_eq!((names.join(" ").as_str(), open), ("n m A B c d e", false));
        assert!(text[found[6].item.clone()].starts_with("@must_use") && found[6].kind == Kind::Function);
        for open in ["fn a() {", "var<storage", "const a = (1", "@compute", "const a = 1; /* /* */"] {
            assert!(Tokens::new(open).declarations().1, "{open}");
        }
    }
}
