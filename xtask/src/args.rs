//! Parser of command lines. The help text of a command declares its flags; every other flag is an
//! error.

use anyhow::{Result, bail};
use lexopt::Arg::{Long, Short, Value};

/// Replacement for `{setup}` in the help of commands that set the machine up.
const SETUP_FLAGS_HELP: &str =
    "  --yes                 install missing packages without a question (without a terminal there is never a question)
  --no-setup            install nothing; fail later if something is missing
  --help                print this text";

/// A parsed command line.
#[derive(Debug, PartialEq)]
pub(crate) struct Parsed {
    values: Vec<(String, String)>,
    /// Arguments after `--`, for commands whose help contains `[-- `.
    pub rest: Vec<String>,
}

/// Parses the arguments of a command. Returns `Ok(None)` after it has printed the help for `--help`
/// or `-h`.
///
/// A line of the help that begins with two spaces and a dash declares a flag. A word after the name
/// of the flag means that the flag takes a value.
///
/// # Errors
/// An unknown flag, a flag without its value, or a value for a flag that takes none.
pub(crate) fn parse(command: &str, help: &str, arguments: &[String]) -> Result<Option<Parsed>> {
    let help = help.replace("{setup}", SETUP_FLAGS_HELP);
    let lines = help.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| line.starts_with('-')));
    let labels = lines.map(|line| line.split("  ").next().unwrap_or_default());
    let (names, values): (Vec<&str>, Vec<&str>) =
        labels.map(|label| label.split_once(' ').unwrap_or((label, ""))).unzip();
    let takes_rest = help.contains("[-- ");
    let end = arguments.iter().position(|word| takes_rest && word == "--").unwrap_or(arguments.len());
    let mut parsed = Parsed { values: Vec::new(), rest: arguments.iter().skip(end + 1).cloned().collect() };
    let mut parser = lexopt::Parser::from_args(&arguments[..end]);
    while let Some(argument) = parser.next()? {
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
        let Some(index) = names.iter().position(|known| *known == name) else {
            let problem = unknown("option", &name, &names);
            let hint = format!("\nArguments for the program itself go after `--`: cargo xtask {command} … -- {name}");
            let hint = if takes_rest { &hint } else { "" };
            bail!("{problem}\n`cargo xtask {command} --help` explains them.{hint}");
        };
        let value = if values[index].is_empty() { Ok(Default::default()) } else { parser.value() };
        parsed.values.push((name, value?.to_string_lossy().into_owned()));
    }
    Ok(Some(parsed))
}

impl Parsed {
    /// True if the command line has the flag.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Last value of a flag; `Some("")` for a flag that takes no value.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).pop()
    }

    /// All values of a flag, in the order of the command line.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.values.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }
}

/// Error text for an unknown name: the most similar known name, if any is similar, and all known
/// names.
pub(crate) fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    let closest = known.iter().map(|known| (strsim::levenshtein(name, known), known)).min();
    let hint = match closest {
        Some((edits, known)) if edits * 2 <= known.len() => format!("; did you mean {known:?}?"),
        _ => String::new(),
    };
    format!("there is no {kind} {name:?}{hint}\nThere are: {}", known.join(" "))
}

#[cfg(test)]
#[path = "../tests/unit/args.rs"]
mod tests;
