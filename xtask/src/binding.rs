//! Keeping the MPI binding (the crate `mpi-sys`) in step with the library: its build script asks the compiler wrapper
//! once and is not run again when MPICC, or what the wrapper stands for, changes.

use std::path::Path;

use crate::context::Context;
use crate::machine::Machine;
use crate::mpi::{self, Mpi};
use crate::{process, say};

/// The MPI to build and start programs with, and a binding that will be built for it.
pub fn ready(context: &Context) -> Result<Mpi, String> {
    let mpi = mpi::find(context)?;
    refresh(context, &mpi)?;
    Ok(mpi)
}

/// Throws the built binding away where it links another library than the compiler wrapper names now, so that the next
/// build makes it anew. Looks at a few small files, no more, when everything fits.
fn refresh(context: &Context, mpi: &Mpi) -> Result<(), String> {
    // With one of these the build script does not ask the wrapper.
    if ["MPI_PKG_CONFIG", "CRAY_MPICH_DIR"].iter().any(|name| context.machine.var(name).is_some()) {
        return Ok(());
    }
    let wanted = flags(&mpi::link_line(&mpi.compiler)?);
    for (directory, profile) in [("debug", "dev"), ("release", "release")] {
        let outputs = outputs(&context.machine, &context.target().join(directory).join("build"));
        if outputs.iter().all(|output| announced(output) == wanted) {
            continue;
        }
        say::complain(format_args!(
            "The MPI binding in target/{directory} was built for another library; it is built again."
        ));
        let clean = ["clean", "--quiet", "--package", "mpi-sys", "--profile", profile];
        process::succeed(&mut context.cargo(&clean), &format!("`cargo {}`", clean.join(" ")))?;
    }
    Ok(())
}

/// What build scripts of the binding have told Cargo.
fn outputs(machine: &Machine, build: &Path) -> Vec<String> {
    let names = machine.list(build).into_iter().filter(|name| name.starts_with("mpi-sys-"));
    names.filter_map(|name| std::fs::read_to_string(machine.at(build.join(name).join("output"))).ok()).collect()
}

/// Libraries and their directories, in order of the alphabet: `-lmpi` and `-L/usr/lib/openmpi`.
fn flags(line: &str) -> Vec<String> {
    let plain = line.replace(['"', '\''], "");
    let words = plain.split_whitespace().filter(|word| word.starts_with("-l") || word.starts_with("-L"));
    sorted(words.map(String::from))
}

/// The same of what a build script has told Cargo, without the small library that it builds itself.
fn announced(output: &str) -> Vec<String> {
    let flag = |line: &str| {
        let library = line.strip_prefix("cargo:rustc-link-lib=").filter(|name| !name.starts_with("static="));
        let search = line.strip_prefix("cargo:rustc-link-search=native=");
        let directory = search.filter(|path| !(path.contains("/build/mpi-sys-") && path.ends_with("/out")));
        library.map(|name| format!("-l{name}")).or(directory.map(|path| format!("-L{path}")))
    };
    sorted(output.lines().filter_map(flag))
}

fn sorted(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut words: Vec<String> = words.collect();
    words.sort();
    words.dedup();
    words
}

#[cfg(test)]
#[path = "../tests/unit/binding.rs"]
mod tests;
