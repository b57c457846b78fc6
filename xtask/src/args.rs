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
    let (names, values): (Vec<&str>, Vec<&str>) =
        labels.map(|label| label.split_once(' ').unwrap_or((label, ""))).unzip();
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
        let Some(at) = names.iter().position(|known| *known == name) else {
            let problem = unknown("option", &name, &names);
            let rest = format!("\nArguments for the program itself go after `--`: cargo xtask {command} … -- {name}");
            let rest = if takes_rest { &rest } else { "" };
            return Err(format!("{problem}\n`cargo xtask {command} --help` explains them.{rest}"));
        };
        let value = if values[at].is_empty() { Ok(Default::default()) } else { parser.value() };
        parsed.values.push((name, value.map_err(|error| error.to_string())?.to_string_lossy().into_owned()));
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
