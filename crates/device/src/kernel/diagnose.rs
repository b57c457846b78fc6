//! Conversion of naga's errors to errors with line, column and source line of the user's file.

use std::error::Error as _;
use std::ops::Range;

use super::scan::SourceScan;
use super::vocabulary::{Vocabulary, without_numbers};
use crate::error::KernelError;
use crate::wgsl;

/// Error of naga before the conversion to file, line and column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub message: String,
    pub notes: Vec<String>,
    /// Byte range in the user's text; `None` if naga reports no location in it.
    pub span: Option<Range<usize>>,
    /// First line of the generated helpers that naga reports, if no location is in the user's text.
    pub generated: Option<String>,
}

impl Fault {
    /// Converts a parse error of `text`; `user` is the length of the user's part of the text in
    /// bytes.
    pub(super) fn parse(error: &naga::front::wgsl::ParseError, text: &str, user: usize) -> Self {
        let spans: Vec<_> = error.labels().filter_map(|(span, _)| span.to_range()).collect();
        let mut notes: Vec<String> = error
            .labels()
            .filter(|(_, text)| !text.is_empty() && !error.message().contains(text))
            .map(|(_, text)| text.to_owned())
            .collect();
        notes.extend(error.notes().map(str::to_owned));
        notes.retain(|note| note != "unknown identifier");
        notes.dedup();
        let span = first_within(&spans, user);
        let generated = generated_line(&span, &spans, text);
        if span.is_none() && generated.is_none() {
            notes.push("the location is unknown: the error may be anywhere in the text".to_owned());
        }
        Self { message: without_numbers(error.message()), notes, span, generated }
    }

    /// Converts a validation error of `text`. An error of a whole entry point is located at its
    /// name.
    pub(super) fn validate(
        error: &naga::WithSpan<naga::valid::ValidationError>,
        module: &naga::Module,
        text: &str,
        user: usize,
        scan: &SourceScan,
    ) -> Self {
        let vocabulary = Vocabulary::new(module, text, error.as_inner());
        let mut chain = vec![error.as_inner().to_string()];
        let mut source = error.as_inner().source();
        while let Some(next) = source {
            chain.push(next.to_string());
            source = next.source();
        }
        chain.dedup();
        let mut chain: Vec<_> = chain.iter().map(|message| vocabulary.translate(message)).collect();
        let spans: Vec<_> = error.spans().filter_map(|(span, _)| span.to_range()).collect();
        let message = chain.pop().unwrap_or_default();
        let entry = || match error.as_inner() {
            naga::valid::ValidationError::EntryPoint { name, .. } => {
                scan.functions.get(name).map(|function| function.name.clone())
            }
            _ => None,
        };
        let span = first_within(&spans, user).or_else(entry);
        let generated = generated_line(&span, &spans, text);
        if span.is_some() {
            // The location already shows that the expression, the call and the function are
            // invalid.
            chain.retain(|message| !message.ends_with("is invalid"));
        }
        Self { message, notes: chain, span, generated }
    }

    /// Creates a fault of the whole text, without a location.
    pub(super) fn whole(message: String) -> Self {
        Self { message, notes: Vec::new(), span: None, generated: None }
    }

    /// Converts the fault to an error with line and column in `file`, or in the module of a
    /// composed text.
    pub(super) fn to_error(&self, file: &str, text: &str, hint: Option<String>) -> KernelError {
        if let Some(line) = &self.generated {
            let excerpt = self.notes.iter().fold(format!("  | {line}"), |text, note| format!("{text}\n  = {note}"));
            return KernelError::Generated { kernel: file.to_owned(), message: self.message.clone(), excerpt };
        }
        let at = self.span.clone().unwrap_or(0..0);
        let start = floor_boundary(text, at.start);
        let line = text[..start].matches('\n').count() + 1;
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let source = text[line_start..].lines().next().unwrap_or("");
        let column = text[line_start..start].chars().count() + 1;
        let end = floor_boundary(text, at.end.min(line_start + source.len())).max(start);
        let width = text[start..end].chars().count().max(1);

        let (file, line) = wgsl::locate_line(text, line).unwrap_or((file, line));
        let number = line.to_string();
        let blank = " ".repeat(number.len());
        let mut excerpt = String::new();
        if self.span.is_some() {
            // The marker line keeps tabs, so that the marker is aligned with the source line.
            let pad: String = source.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            excerpt = format!("{blank} |\n{number} | {source}\n{blank} | {pad}{}", "^".repeat(width));
        }
        for note in hint.iter().chain(&self.notes) {
            if !excerpt.is_empty() {
                excerpt.push('\n');
            }
            excerpt += &format!("{blank} = {note}");
        }
        KernelError::Wgsl { file: file.to_owned(), line, column, message: self.message.clone(), excerpt }
    }

    /// Returns the unknown identifier; `None` if the error is not about an identifier.
    pub(super) fn unknown_name<'a>(&self, text: &'a str) -> Option<&'a str> {
        let name = text.get(self.span.clone()?)?;
        self.message.starts_with("no definition in scope").then_some(name)
    }

    /// Returns the function that is called with a first argument of a wrong type; `None` for other
    /// errors.
    pub(super) fn misled_function<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (name, _) = text.get(self.span.clone()?)?.split_once('(')?;
        self.message.starts_with("Argument 0 value").then_some(name.trim())
    }

    /// True if the error is about positions with different numbers of axes, or a missing axis of a
    /// position.
    pub(super) fn mixes_positions(&self) -> bool {
        let message = self.message.replace("a pointer to ", "");
        let between = |before: &str, after: &str| {
            let texts = message.split(before).skip(1).filter_map(|rest| Some(rest.split_once(after)?.0.to_owned()));
            texts.collect::<Vec<_>>()
        };
        let types = match message.starts_with("the type of ") {
            true => between(" `", "`").into_iter().skip(1).collect(),
            false => {
                let last = message.rsplit_once(" type ").map(|(_, ty)| ty.trim_end_matches(')').to_owned());
                [between("(of type ", ")"), last.into_iter().collect()].concat()
            }
        };
        let axes = ["x", "y", "z", "w"];
        axes.iter().any(|axis| message == format!("invalid field accessor `{axis}`"))
            || types.iter().any(|ty| *ty != types[0]) && types.iter().all(|ty| is_position(ty))
    }
}

fn is_position(ty: &str) -> bool {
    matches!(ty, "i32" | "vec2<i32>" | "vec3<i32>" | "vec4<i32>") || ty.starts_with("array<i32, ")
}

pub(super) fn with_note(error: KernelError, note: &str) -> KernelError {
    match error {
        KernelError::Wgsl { file, line, column, message, mut excerpt } => {
            if !excerpt.is_empty() {
                excerpt.push('\n');
            }
            excerpt += &format!("{} = {note}", " ".repeat(line.to_string().len()));
            KernelError::Wgsl { file, line, column, message, excerpt }
        }
        other => other,
    }
}

/// Returns the innermost location in the user's part of the text, which naga lists first.
fn first_within(spans: &[Range<usize>], user: usize) -> Option<Range<usize>> {
    spans.iter().find(|span| span.end <= user).cloned()
}

/// Returns the first line that naga reports, if no location is in the user's text.
fn generated_line(user: &Option<Range<usize>>, spans: &[Range<usize>], text: &str) -> Option<String> {
    let first = spans.first().filter(|_| user.is_none())?;
    let start = floor_boundary(text, first.start);
    let before = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    text[before..].lines().next().map(|line| line.trim().to_owned())
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
