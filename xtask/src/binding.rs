//! Keeping the MPI binding (the crate `mpi-sys`) in step with the library: its build script asks the compiler wrapper
//! once and is not run again when MPICC, or what the wrapper stands for, changes.

use std::path::Path;
use std::process::Stdio;

use crate::context::Context;
use crate::machine::Machine;
use crate::mpi::{self, Mpi};
use crate::say;

/// Throws the built binding away where it links another library than the compiler wrapper names now, so that the next
/// build makes it anew. Looks at a few small files, no more, when everything fits.
pub fn refresh(context: &Context, mpi: &Mpi) -> Result<(), String> {
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
        let mut command = context.cargo();
        command.args(["clean", "--quiet", "--package", "mpi-sys", "--profile", profile]).stdin(Stdio::null());
        let status = command.status().map_err(|error| format!("cargo clean: {error}"))?;
        if !status.success() {
            return Err(format!("`cargo clean --package mpi-sys --profile {profile}` failed ({status})"));
        }
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
mod tests {
    use super::*;
    use crate::machine::Os;
    use crate::machine::tests::Pretend;

    const OPEN_MPI: &str = "gcc -I/usr/lib/openmpi/include -L/usr/lib/openmpi/lib -lmpi\n";
    const MPICH: &str = "gcc -Wl,-z,relro -I/usr/include/mpich -L/usr/lib/x86_64-linux-gnu -lmpich\n";
    const BUILT: &str = "cargo:rerun-if-changed=src/rsmpi.c\ncargo:rustc-link-lib=static=rsmpi\n\
        cargo:rustc-link-search=native=/p/target/debug/build/mpi-sys-1/out\n\
        cargo:rustc-link-search=native=/usr/lib/openmpi/lib\ncargo:rustc-link-lib=mpi\n";

    #[test]
    fn a_binding_is_compared_with_the_wrapper() {
        assert_eq!(announced(BUILT), flags(OPEN_MPI));
        assert_ne!(announced(BUILT), flags(MPICH));
        assert_ne!(announced(BUILT), flags(&OPEN_MPI.replace("/usr/lib/openmpi/lib", "/opt/openmpi/lib")));
        assert_eq!(flags("icc \"-L/opt/intel/lib\" -L'/opt/intel/lib' -lmpi"), ["-L/opt/intel/lib", "-lmpi"]);
    }

    #[test]
    fn every_build_of_the_binding_is_looked_at() {
        let machine = Pretend::new("binding", Os::Linux)
            .file("/p/build/mpi-sys-1/output", BUILT)
            .file("/p/build/mpi-sys-2/build-script-build", "")
            .file("/p/build/mpi-0/output", "other");
        assert_eq!(outputs(&machine.machine, Path::new("/p/build")), [BUILT]);
    }
}
