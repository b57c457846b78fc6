//! Programs of this project, started on a number of ranks.

use std::path::Path;
use std::process::Command;

use crate::context::Context;
use crate::mpi;

/// How a program is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// With its own choice.
    Own,
    /// As threads of one process.
    Threads(usize),
    /// As processes under the launcher.
    Mpi(usize),
}

impl Ranks {
    /// For people.
    pub fn label(self) -> String {
        match self {
            Ranks::Own => "its own choice of ranks".into(),
            Ranks::Threads(n) => format!("{n} thread rank{}", if n == 1 { "" } else { "s" }),
            Ranks::Mpi(n) => format!("{n} MPI ranks"),
        }
    }
}

/// Reads a number of ranks.
pub fn count(text: &str) -> Result<usize, String> {
    let ranks = text.parse().ok().filter(|ranks| (1..=65_536).contains(ranks));
    ranks.ok_or_else(|| format!("{text:?} is not a number of ranks (1 to 65536)"))
}

/// A command that runs a program on ranks; refuses one that is linked with another library than the launcher's.
pub fn command(context: &Context, program: &Path, ranks: Ranks) -> Result<Command, String> {
    let mut command = context.command(program);
    // A launcher started from inside another would take this process for one of its ranks.
    const OF_RANKS: [&str; 5] = ["ZIPPY_RANKS", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK"];
    match ranks {
        Ranks::Own => {}
        Ranks::Threads(n) => _ = command.env("ZIPPY_RANKS", n.to_string()),
        Ranks::Mpi(n) => {
            let mpi = context.mpi.as_ref().ok_or("this needs MPI")?;
            mpi::check_linked(mpi, program)?;
            command = context.command(&mpi.launcher);
            mpi::prepare(context, mpi, &mut command);
            OF_RANKS.iter().for_each(|name| _ = command.env_remove(name));
            command.arg("-n").arg(n.to_string()).arg(program);
        }
    }
    Ok(command)
}

#[cfg(test)]
#[path = "../tests/unit/ranks.rs"]
mod tests;
