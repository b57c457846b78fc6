//! A small parser of command lines: long flags, `--name value` or `--name=value`, everything else is an error.

/// One flag of a command.
pub struct Flag {
    /// With its dashes.
    pub name: &'static str,
    /// What the value is called in the help; `None` for a switch.
    pub value: Option<&'static str>,
    /// One line of help.
    pub help: &'static str,
}

/// A switch.
pub const fn switch(name: &'static str, help: &'static str) -> Flag {
    Flag { name, value: None, help }
}

/// A flag with a value.
pub const fn value(name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag { name, value: Some(value), help }
}

/// Flags that every command which sets the machine up knows.
pub const SETUP_FLAGS: [Flag; 2] = [
    switch("--yes", "install what is missing without asking (nothing is ever asked without a terminal)"),
    switch("--no-setup", "install nothing; fail later if something is missing"),
];

/// What a command accepts.
pub struct Spec {
    /// The command's name.
    pub command: &'static str,
    /// Text above the list of flags.
    pub about: &'static str,
    /// The flags.
    pub flags: Vec<Flag>,
    /// Whether arguments after `--` are handed on.
    pub rest: bool,
}

/// A parsed command line.
#[derive(Debug, PartialEq)]
pub struct Parsed {
    values: Vec<(&'static str, String)>,
    /// What stood after `--`.
    pub rest: Vec<String>,
}

impl Spec {
    /// Parses; `Ok(None)` means that help was asked for and printed.
    pub fn parse(&self, arguments: &[String]) -> Result<Option<Parsed>, String> {
        let mut parsed = Parsed { values: Vec::new(), rest: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--help" || argument == "-h" {
                say!("{}", self.help());
                return Ok(None);
            }
            if argument == "--" && self.rest {
                parsed.rest = arguments.cloned().collect();
                break;
            }
            let (name, inline) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_string())),
                _ => (argument.as_str(), None),
            };
            let Some(flag) = self.flags.iter().find(|flag| flag.name == name) else {
                return Err(self.unknown(name));
            };
            let value = match (flag.value, inline) {
                (None, None) => String::new(),
                (None, Some(_)) => return Err(format!("{name} takes no value")),
                (Some(_), Some(value)) => value,
                (Some(what), None) => {
                    arguments.next().filter(|next| *next != "--").cloned().ok_or(format!("{name} needs a {what}"))?
                }
            };
            parsed.values.push((flag.name, value));
        }
        Ok(Some(parsed))
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.flags.iter().map(|flag| flag.name).collect();
        let hint = if self.rest && suggest(name, &names).is_empty() {
            format!(" (arguments for the program itself go after `--`: cargo xtask {} … -- {name})", self.command)
        } else {
            suggest(name, &names)
        };
        format!(
            "`cargo xtask {0}` does not know {name:?}{hint}\nIt knows: {1}. `cargo xtask {0} --help` explains them.",
            self.command,
            names.join(" "),
        )
    }

    fn help(&self) -> String {
        let mut text = format!("{}\n", self.about);
        let label = |flag: &Flag| flag.value.map_or(flag.name.to_string(), |value| format!("{} {value}", flag.name));
        let width = self.flags.iter().map(|flag| label(flag).len()).max().unwrap_or(0).max("--help".len());
        for flag in &self.flags {
            text += &format!("\n  {:width$}  {}", label(flag), flag.help);
        }
        text + &format!("\n  {:width$}  this text", "--help")
    }
}

impl Parsed {
    /// Whether a flag was given.
    pub fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(known, _)| *known == name)
    }

    /// The last value of a flag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Every value of a flag that may be repeated.
    pub fn all(&self, name: &str) -> Vec<&str> {
        self.values.iter().filter(|(known, _)| *known == name).map(|(_, value)| value.as_str()).collect()
    }
}

/// `"; did you mean …?"` where something close exists, else nothing.
pub fn suggest(given: &str, known: &[&str]) -> String {
    let close = known.iter().map(|name| (distance(given, name), name)).min();
    match close {
        Some((edits, name)) if edits * 2 <= name.len() => format!("; did you mean {name:?}?"),
        _ => String::new(),
    }
}

/// Number of one-letter edits between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec {
            command: "mpi",
            about: "About.",
            flags: vec![value("-n", "N", "ranks"), switch("--dev", "quick build")],
            rest: true,
        }
    }

    fn parse(line: &str) -> Result<Parsed, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        spec().parse(&words).map(|parsed| parsed.expect("help was not asked for"))
    }

    #[test]
    fn values_switches_and_the_rest() {
        let parsed = parse("-n 4 --dev -- --size 8x8 -- x").unwrap();
        assert_eq!(parsed.get("-n"), Some("4"));
        assert!(parsed.has("--dev"));
        assert_eq!(parsed.rest, ["--size", "8x8", "--", "x"]);
        assert_eq!(parse("-n 4 -n 5").unwrap().get("-n"), Some("5"));
        assert_eq!(parse("-n 4 -n 5").unwrap().all("-n"), ["4", "5"]);
    }

    #[test]
    fn mistakes_are_explained() {
        assert!(parse("--devv").unwrap_err().contains("did you mean \"--dev\"?"));
        assert!(parse("--size").unwrap_err().contains("go after `--`"));
        assert_eq!(parse("-n").unwrap_err(), "-n needs a N");
        assert_eq!(parse("-n --").unwrap_err(), "-n needs a N");
        assert_eq!(parse("--dev=1").unwrap_err(), "--dev takes no value");
        assert!(parse("stray").is_err());
    }

    #[test]
    fn edit_distance() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(suggest("banch", &["bench", "demo"]), "; did you mean \"bench\"?");
        assert_eq!(suggest("zzzzz", &["bench", "demo"]), "");
    }
}
