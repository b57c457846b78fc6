//! Starts programs of this project on a number of ranks.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::context::Context;
use crate::mpi;

/// Number and kind of the ranks of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ranks {
    /// The default of the program.
    Default,
    /// Threads of one process.
    Threads(usize),
    /// Processes under the MPI launcher.
    Mpi(usize),
}

impl Ranks {
    /// Text for messages, such as `4 MPI ranks`.
    pub(crate) fn label(self) -> String {
        match self {
            Ranks::Default => "its default number of ranks".into(),
            Ranks::Threads(n) => format!("{n} thread rank{}", if n == 1 { "" } else { "s" }),
            Ranks::Mpi(n) => format!("{n} MPI ranks"),
        }
    }
}

/// Parses a number of ranks.
pub(crate) fn count(text: &str) -> Result<usize> {
    let ranks = text.parse().ok().filter(|ranks| (1..=65_536).contains(ranks));
    ranks.with_context(|| format!("{text:?} is not a number of ranks (1 to 65536)"))
}

/// Returns a command that runs a program on ranks.
///
/// # Errors
/// MPI is requested and is not available, or the program is linked with another MPI library than
/// the launcher's.
pub(crate) fn command(context: &Context, program: &Path, ranks: Ranks) -> Result<Command> {
    let mut command = context.command(program);
    // With these variables of an outer launcher, the inner launcher would treat this process as a
    // rank.
    const RANK_VARIABLES: [&str; 5] = ["ZIPPY_RANKS", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK"];
    match ranks {
        Ranks::Default => {}
        Ranks::Threads(n) => _ = command.env("ZIPPY_RANKS", n.to_string()),
        Ranks::Mpi(n) => {
            let mpi = context.mpi.as_ref().context("this needs MPI")?;
            mpi::check_linked(mpi, program)?;
            command = context.command(&mpi.launcher);
            mpi::prepare(&context.machine, mpi, &mut command);
            RANK_VARIABLES.iter().for_each(|name| _ = command.env_remove(name));
            command.arg("-n").arg(n.to_string()).arg(program);
        }
    }
    Ok(command)
}

#[cfg(test)]
#[path = "../tests/unit/ranks.rs"]
mod tests;
