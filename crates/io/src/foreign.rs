//! Text that others wrote, in messages for a terminal: escaped, so that it cannot speak to the terminal, and cut, so that
//! what is said about it can still be read.

use std::path::Path;

/// Characters of a word or a line that are quoted.
const QUOTED: usize = 60;
/// Characters of a path.
const PATH: usize = 300;
/// Characters of a message, whoever wrote it.
const MESSAGE: usize = 500;

/// A word or a line of a file in double quotes, as an error shows it.
pub fn quoted(text: &str) -> String {
    let beginning: String = text.chars().take(QUOTED).collect();
    if beginning.len() == text.len() {
        return format!("{text:?}");
    }
    format!("{beginning:?}... ({} bytes)", text.len())
}

/// A path for a terminal, control characters escaped and the middle of a long one left out: headers name files, and so
/// does whoever packs an archive.
pub fn shown(path: &Path) -> String {
    tame(&path.display().to_string(), PATH)
}

/// A message for a terminal, of which parts may come from other libraries that quote what they read: control characters,
/// ends of lines too, escaped and the middle of a long one left out.
pub fn said(message: &str) -> String {
    tame(message, MESSAGE)
}

/// The text with what a terminal would obey or hide escaped; of a long one the beginning and the end.
fn tame(text: &str, most: usize) -> String {
    let escape = |letter: char| if obeyed(letter) { letter.escape_default().to_string() } else { letter.into() };
    let tame: String = text.chars().map(escape).collect();
    let count = tame.chars().count();
    if count <= most {
        return tame;
    }
    let beginning: String = tame.chars().take(most / 2).collect();
    let end: String = tame.chars().skip(count - most / 2).collect();
    format!("{beginning} [... {} characters ...] {end}", count - most / 2 * 2)
}

/// Whether a character acts on the text around it instead of being seen: controls, directions, joiners, tags.
fn obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_escaped_and_cut() {
        assert_eq!(quoted("a \"b\" é"), r#""a \"b\" é""#);
        assert_eq!(quoted("\x1b[31m\u{202e}x\u{7}"), r#""\u{1b}[31m\u{202e}x\u{7}""#);
        assert_eq!(quoted(&"é".repeat(60)), format!("{:?}", "é".repeat(60)));
        assert_eq!(quoted(&"é".repeat(61)), format!("{:?}... (122 bytes)", "é".repeat(60)));
    }

    #[test]
    fn paths_and_messages_keep_both_ends() {
        assert_eq!(shown(Path::new("a b/ü\x1b]0;x\u{9b}.nrrd")), r"a b/ü\u{1b}]0;x\u{9b}.nrrd");
        let long = shown(Path::new(&format!("first/{}/last.nrrd", "x".repeat(1000))));
        assert!(long.starts_with("first/x") && long.ends_with("x/last.nrrd"), "{long}");
        assert!(long.contains("x [... 716 characters ...] x"), "{long}");
        assert_eq!(said("plain, \"quoted\" and it's"), "plain, \"quoted\" and it's");
        // Even where all of it is escaped.
        assert!(said(&"\u{1b}".repeat(100_000)).chars().count() < 550);
    }
}
