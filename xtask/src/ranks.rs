//! Programs of this project, started on a number of ranks.

use std::path::Path;
use std::process::Command;

use crate::context::Context;
use crate::mpi::{self, Mpi};

/// How a program is started.
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

/// Reads a number of ranks.
pub fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(ranks @ 1..=65_536) => Ok(ranks),
        _ => Err(format!("{text:?} is not a number of ranks (1 to 65536)")),
    }
}

/// A command that runs a program on ranks, or where none are asked for with the program's own choice.
pub fn command(context: &Context, mpi: Option<&Mpi>, program: &Path, ranks: Option<Ranks>) -> Result<Command, String> {
    let mut command = context.command(program);
    match ranks {
        Some(Ranks::Mpi(n)) => {
            let mpi = mpi.ok_or("this needs MPI")?;
            mpi::check_linked(mpi, program)?;
            command = mpi::command(context, mpi, n, program);
        }
        Some(Ranks::Threads(n)) => _ = command.env("ZIPPY_RANKS", n.to_string()),
        None => {}
    }
    Ok(command)
}

#[cfg(test)]
#[path = "../tests/unit/ranks.rs"]
mod tests;
