//! Command lines. A command's help is its list of flags: what the help does not explain is an error.

use lexopt::Arg::{Long, Short, Value};

/// What stands for `{setup}` in the help of commands that set the machine up.
const SETUP: &str =
    "  --yes                 install what is missing without asking (nothing is ever asked without a terminal)
  --no-setup            install nothing; fail later if something is missing
  --help                this text";

/// A parsed command line.
#[derive(Debug, PartialEq)]
pub struct Parsed {
    values: Vec<(String, String)>,
    /// What stood after `--`, where the help has an end like that.
    pub rest: Vec<String>,
}

/// Parses the arguments of a command; `Ok(None)` means that help was asked for and printed. A line of the help that begins
/// with a dash explains a flag; a word behind its name stands for a value.
pub fn parse(command: &str, help: &str, arguments: &[String]) -> Result<Option<Parsed>, String> {
    let help = help.replace("{setup}", SETUP);
    let lines = help.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| line.starts_with('-')));
    let labels = lines.map(|line| line.split("  ").next().unwrap_or_default());
    let flags: Vec<(&str, bool)> =
        labels.map(|label| label.split_once(' ').map_or((label, false), |(name, _)| (name, true))).collect();
    let takes_rest = help.contains("[-- ");
    let end = arguments.iter().position(|word| takes_rest && word == "--").unwrap_or(arguments.len());
    let mut parsed = Parsed { values: Vec::new(), rest: arguments.iter().skip(end + 1).cloned().collect() };
    let mut parser = lexopt::Parser::from_args(&arguments[..end]);
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        let name = match argument {
            Short('h') => "--help".into(),
            Short(letter) => format!("-{letter}"),
            Long(name) => format!("--{name}"),
            Value(word) => word.to_string_lossy().into_owned(),
        };
        if name == "--help" {
            say!("{help}");
            return Ok(None);
        }
        let Some((_, takes_value)) = flags.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = flags.iter().map(|(name, _)| *name).collect();
            let hint = match suggest(&name, &names) {
                hint if hint.is_empty() && takes_rest => {
                    format!(" (arguments for the program itself go after `--`: cargo xtask {command} … -- {name})")
                }
                hint => hint,
            };
            let names = names.join(" ");
            return Err(format!(
                "`cargo xtask {command}` does not know {name:?}{hint}\nIt knows: {names}. `cargo xtask {command} --help` explains them."
            ));
        };
        let value = if *takes_value { parser.value().map_err(|error| error.to_string())? } else { Default::default() };
        parsed.values.push((name, value.to_string_lossy().into_owned()));
    }
    Ok(Some(parsed))
}

impl Parsed {
    /// Whether a flag was given.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The last value of a flag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).pop()
    }

    /// Every value of a flag that may be repeated.
    pub fn all(&self, name: &str) -> Vec<&str> {
        self.values.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }
}

/// Says that there is no such thing, what may have been meant, and what there is.
pub fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    format!("there is no {kind} {name:?}{}\nThere are: {}", suggest(name, known), known.join(" "))
}

/// `"; did you mean …?"` where something close exists, else nothing.
pub fn suggest(given: &str, known: &[&str]) -> String {
    match known.iter().map(|name| (strsim::levenshtein(given, name), name)).min() {
        Some((edits, name)) if edits * 2 <= name.len() => format!("; did you mean {name:?}?"),
        _ => String::new(),
    }
}

#[cfg(test)]
#[path = "../tests/unit/args.rs"]
mod tests;
