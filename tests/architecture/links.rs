//! Rule for Markdown pages: relative links lead to files or directories that exist, and anchors to
//! headings.

use std::path::{Component, Path, PathBuf};

use crate::rules::{Violation, violation};
use crate::source_file::SourceFile;
use crate::{assert_none, root, sources};

struct Link {
    line: usize,
    target: String,
}

/// Links of a page that lead nowhere. `root` is the directory of the project.
fn broken_links(root: &Path, page: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    for Link { line, target } in links(&page.text) {
        if target.contains(':') || target.starts_with('/') {
            continue;
        }
        let (path, anchor) = target.split_once('#').map_or((&*target, None), |(path, anchor)| (path, Some(anchor)));
        let is_in_page = path.is_empty();
        let file = if is_in_page { PathBuf::from(&page.name) } else { path_from_root(&page.name, path) };
        if !is_in_page && !root.join(&file).exists() {
            found.push(violation(page, line, format!("the link {target} leads to no file")));
        } else if let Some(anchor) = anchor
            && file.extension().is_some_and(|ending| ending == "md")
        {
            let text = if is_in_page { page.text.clone() } else { std::fs::read_to_string(root.join(&file)).unwrap() };
            if !headings(&text).iter().any(|heading| heading == anchor) {
                found.push(violation(page, line, format!("the link {target} leads to no heading")));
            }
        }
    }
    found
}

/// Lines of a page outside of code blocks, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number, line))
    })
}

/// Links `[text](target)` and pictures `![text](target)` outside of code.
fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, content) in prose(text) {
        let without_code: String = content.split('`').step_by(2).collect::<Vec<_>>().join("``");
        for (start, _) in without_code.match_indices("](") {
            let rest = &without_code[start + 2..];
            if let Some(end) = rest.find(')') {
                found.push(Link { line, target: rest[..end].to_owned() });
            }
        }
    }
    found
}

/// Path of a link relative to the root, without `.` and `..`.
fn path_from_root(page: &str, link: &str) -> PathBuf {
    let mut path = Path::new(page).parent().unwrap_or(Path::new("")).to_path_buf();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => _ = path.pop(),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

/// Anchors of the headings of a page, as repository web pages make them: lower case, without
/// punctuation, hyphens for spaces.
fn headings(text: &str) -> Vec<String> {
    let titles = prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| line.trim_start_matches('#'));
    let anchor = |title: &str| {
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    titles.map(anchor).collect()
}

#[test]
fn links_of_pages_lead_to_files_and_headings() {
    let pages = sources(".md");
    assert!(pages.len() > 20, "the pages were not found");
    assert_none(pages.iter().flat_map(|page| broken_links(&root(), page)).collect());
}

mod tests {
    use super::*;

    fn rules(page: &str) -> Vec<String> {
        let page = SourceFile::new("docs/page.md", page);
        broken_links(&root(), &page).into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        for text in [
            "see [this](missing.md)",
            "![a picture](../docs/missing.png)",
            "[two](../README.md) [links](../src/missing.rs)",
            "[no heading](../README.md#no-such-heading)",
            "# Here\n[there](#there)",
            "`code` [this](missing.md) `code`",
        ] {
            assert_eq!(rules(text).len(), 1, "{text}");
        }
        assert!(rules("one\ntwo [x](y.md)")[0].starts_with("docs/page.md:2: "));
    }

    #[test]
    fn good_links_are_not_found() {
        for text in [
            "[a page](../README.md), [a directory](../src/), [the web](https://example.org/missing.md)",
            "# What is *here*, and `why`?\n[here](#what-is-here-and-why)",
            "[a heading](../README.md#the-paper)",
            "`[code](missing.md)`\n```rust\nlet a = b[c](missing.md);\n```",
        ] {
            assert_eq!(rules(text), [""; 0], "{text}");
        }
    }
}
