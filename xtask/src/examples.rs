//! How the examples are run as tests: each ends in assertions, so its exit code is the verdict.

use std::process::Command;

/// Arguments of the examples that need some; `{out}` is a file name to write to.
const ARGUMENTS: [(&str, &[&str]); 1] =
    [("volume", &["--size", "96x64", "--output", "{out}.png", "--compare-single", "--json"])];

/// Examples that are tools: `doctor` is run by `cargo xtask doctor`.
const TOOLS: [&str; 1] = ["doctor"];

/// How an example is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// As threads of one process.
    Threads(usize),
    /// As processes under the launcher.
    Mpi(usize),
}

impl Ranks {
    /// For people.
    pub fn label(self) -> String {
        match self {
            Ranks::Threads(n) => format!("{n} thread rank{}", if n == 1 { "" } else { "s" }),
            Ranks::Mpi(n) => format!("{n} MPI ranks"),
        }
    }
}

/// Whether an example is run as a test.
pub fn is_tested(name: &str) -> bool {
    !TOOLS.contains(&name)
}

/// Adds an example's arguments and its number of thread ranks to a command.
pub fn prepare(command: &mut Command, name: &str, ranks: Ranks) {
    let arguments = ARGUMENTS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, arguments)| arguments);
    let out = format!("{name}-{}", ranks.label().replace(' ', "-"));
    command.args(arguments.iter().map(|argument| argument.replace("{out}", &out)));
    if let Ranks::Threads(n) = ranks {
        command.env("ZIPPY_RANKS", n.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_ranks() {
        let mut command = Command::new("volume");
        prepare(&mut command, "volume", Ranks::Threads(4));
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert!(words.contains(&"volume-4-thread-ranks.png".to_string()), "{words:?}");
        assert!(command.get_envs().any(|(name, value)| name == "ZIPPY_RANKS" && value == Some("4".as_ref())));
        assert!(is_tested("listings") && !is_tested("doctor"));
    }
}
