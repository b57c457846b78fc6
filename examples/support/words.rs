//! Preparation of command-line words: values may begin with a minus sign.

use std::ffi::OsString;

/// Joins words that begin like a negative number with the option before them: `--iso -5,3` becomes
/// `--iso=-5,3`. The parser would read `-5,3` alone as the name of an option. An option without a
/// value rejects the word and names it.
pub fn with_negative_numbers(words: impl IntoIterator<Item = impl Into<OsString>>) -> Vec<OsString> {
    let mut bound: Vec<OsString> = Vec::new();
    let (mut is_open, mut is_over) = (false, false);
    for word in words {
        let word = word.into();
        match bound.last_mut() {
            Some(option) if is_open && begins_like_a_negative_number(&word) => {
                option.push("=");
                option.push(word);
                is_open = false;
            }
            _ => {
                is_over |= word == "--";
                let is_option = word.to_str().is_some_and(|word| word.starts_with("--") && !word.contains('='));
                is_open = is_option && !is_over;
                bound.push(word);
            }
        }
    }
    bound
}

/// True for a minus sign followed by a digit, a point or `inf`.
fn begins_like_a_negative_number(word: &OsString) -> bool {
    let rest = word.to_str().and_then(|word| word.strip_prefix('-'));
    rest.is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_digit() || first == '.')
            || rest.to_ascii_lowercase().starts_with("inf")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_number_after_an_option_is_its_value() {
        for (line, expected) in [
            ("p --iso -500,300 --json", "p --iso=-500,300 --json"),
            ("p --re -100", "p --re=-100"),
            ("p --re -.5", "p --re=-.5"),
            ("p --re -1e-5 -j", "p --re=-1e-5 -j"),
            ("p --crop -3:5,:,: file", "p --crop=-3:5,:,: file"),
            ("p --re=-1 -2", "p --re=-1 -2"),
            ("p -2 --re 3 -4", "p -2 --re 3 -4"),
            ("p --re -inf", "p --re=-inf"),
            ("p -- -3", "p -- -3"),
            ("p -- --x -3", "p -- --x -3"),
            ("p --re -Infinity", "p --re=-Infinity"),
            ("p --iso -i --iso --help", "p --iso -i --iso --help"),
        ] {
            let words = with_negative_numbers(line.split(' '));
            let expected: Vec<OsString> = expected.split(' ').map(OsString::from).collect();
            assert_eq!(words, expected, "{line}");
        }
    }
}
