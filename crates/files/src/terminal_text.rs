//! Untrusted text in terminal messages: control characters are escaped and long text is shortened.

use std::path::Path;

const QUOTED: usize = 60;
const PATH: usize = 300;
const MESSAGE: usize = 500;

/// Quotes a word or a line of a file for an error message.
pub fn quoted(text: &str) -> String {
    let beginning: String = text.chars().take(QUOTED).collect();
    if beginning.len() == text.len() {
        return format!("{text:?}");
    }
    format!("{beginning:?}... ({} bytes)", text.len())
}

/// Formats a path for a terminal: control characters are escaped and the middle of a long path is
/// omitted.
pub fn shown(path: &Path) -> String {
    escape_and_shorten(&path.display().to_string(), PATH)
}

/// Formats a message for a terminal: control characters and line ends are escaped and the middle of
/// a long message is omitted.
pub fn said(message: &str) -> String {
    escape_and_shorten(message, MESSAGE)
}

/// Escapes characters that a terminal interprets or hides, and omits the middle of a long text.
fn escape_and_shorten(text: &str, most: usize) -> String {
    let escape = |letter: char| {
        if is_invisible_or_control(letter) { letter.escape_default().to_string() } else { letter.into() }
    };
    let escaped: String = text.chars().map(escape).collect();
    let count = escaped.chars().count();
    if count <= most {
        return escaped;
    }
    let beginning: String = escaped.chars().take(most / 2).collect();
    let end: String = escaped.chars().skip(count - most / 2).collect();
    format!("{beginning} [... {} characters ...] {end}", count - most / 2 * 2)
}

/// True for characters that act on the text around them: controls, directions, joiners, tags.
fn is_invisible_or_control(letter: char) -> bool {
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
        // The limit also holds if every character is escaped.
        assert!(said(&"\u{1b}".repeat(100_000)).chars().count() < 550);
    }
}
