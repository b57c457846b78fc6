//! The built MPI binding, which must be built for the MPI library of this machine.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::context::Context;
use crate::mpi::{self, Mpi};
use crate::process::succeed;

/// Finds the MPI installation that builds and starts programs.
///
/// Deletes the built MPI binding (the crate `mpi-sys`) if it may be for another library: Cargo does
/// not run the build script of the binding again if `MPICC` or the compiler wrapper changes. A
/// record under the target directory holds the compiler command of the last build.
///
/// # Errors
/// No compiler wrapper, no launcher of the same family, or a failure to write the record.
pub(crate) fn ready(context: &Context) -> Result<Mpi> {
    let mpi = mpi::find(&context.machine)?;
    let (record, link_line) = (context.scratch("mpi")?.join("wrapper"), mpi::link_line(&mpi.compiler)?);
    if is_stale(&context.target(), &record, &link_line) {
        let _ = writeln!(std::io::stderr(), "The MPI binding may be built for another library; it is built again.");
        for profile in ["dev", "release"] {
            let clean = ["clean", "--quiet", "--package", "mpi-sys", "--profile", profile];
            succeed(&mut context.cargo(&clean), "`cargo clean` for the MPI binding")?;
        }
    }
    std::fs::write(&record, link_line).with_context(|| record.display().to_string())?;
    Ok(mpi)
}

/// True if the built MPI binding may be for another library: the record holds another compiler
/// command, or a built binding has no record.
fn is_stale(target: &Path, record: &Path, link_line: &str) -> bool {
    let names = |profile| std::fs::read_dir(target.join(profile).join("build")).into_iter().flatten().flatten();
    let is_binding = |file: std::fs::DirEntry| file.file_name().to_string_lossy().starts_with("mpi-sys-");
    let built = || ["debug", "release"].into_iter().flat_map(names).any(is_binding);
    std::fs::read_to_string(record).map_or_else(|_| built(), |recorded| recorded != link_line)
}

#[cfg(test)]
#[path = "../tests/unit/mpi_binding.rs"]
mod tests;
