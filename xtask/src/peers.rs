//! Other programs that benchmarks measure beside ours, all of them under `target/peers`: Python packages in a virtual
//! environment of the project's own, and IceT, a compositing library, called by a program of ours.

use std::path::{Path, PathBuf};

use crate::context::{Built, Context};
use crate::debian;
use crate::mpi::{Family, Mpi};
use crate::process::succeed;

/// Where a benchmark finds the Python that has its peers.
pub const PYTHON: &str = "ZIPPY_BENCH_PYTHON";

/// What IceT's runs are called.
pub const ICET: &str = "icet";

/// Benchmarks that have peers in Python, and the packages that these come in.
const PACKAGES: [(&str, &str); 1] = [("ranks_volume", "vtk")];

/// The packages that these benchmarks are compared with.
pub fn packages(benchmarks: &[String]) -> Vec<&'static str> {
    PACKAGES
        .iter()
        .filter(|(name, _)| benchmarks.iter().any(|known| known == name))
        .map(|(_, package)| *package)
        .collect()
}

/// Makes the virtual environment, installs the packages that it lacks, and returns its Python.
pub fn python(context: &Context, packages: &[&str]) -> Result<PathBuf, String> {
    let home = context.target().join("peers");
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let hinted = |message: String| {
        format!(
            "{message}. --peers needs Python 3 with venv and pip, and a package index that pip can reach (PIP_INDEX_URL \
             names another one); without --peers no Python is used"
        )
    };
    if !python.exists() {
        let system = ["python3", "python"].into_iter().find_map(|name| context.machine.which(name));
        let system = system.ok_or_else(|| hinted("there is no python3 on the search path".into()))?;
        say!("==> a Python environment for peers in {}", home.display());
        let mut command = context.command(system);
        succeed(command.args(["-m", "venv"]).arg(&home), "making a virtual environment").map_err(hinted)?;
    }
    for package in packages {
        let look = format!("import importlib.util, sys; sys.exit(importlib.util.find_spec('{package}') is None)");
        let there = context.command(&python).args(["-c", &look]).output();
        if there.is_ok_and(|output| output.status.success()) {
            continue;
        }
        say!("==> installing the Python package {package} there");
        let install = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", package];
        let mut command = context.command(&python);
        succeed(command.args(install), &format!("installing {package} with pip")).map_err(hinted)?;
    }
    Ok(python)
}

/// Unpacks IceT from Debian's packages of ParaView, whose part it is, and builds the program that calls it.
pub fn icet(context: &Context, mpi: &Mpi) -> Result<Built, String> {
    if mpi.family != Family::OpenMpi {
        return Err(format!("Debian's is linked with Open MPI, and this is {}", mpi.family.name()));
    }
    let home = context.target().join("peers").join(ICET);
    if debian::find(&home, "IceT.h").is_none() {
        debian::unpack(context, &["paraview", "paraview-dev"], &home)?;
    }
    let part = |name: &str| debian::find(&home, name).ok_or(format!("the packages have no {name}"));
    let (header, core, transport) = (part("IceT.h")?, part("libvtkIceTCore-")?, part("libvtkIceTMPI-")?);
    let path = home.join(ICET);
    let mut compile = context.command(&mpi.compiler);
    compile.arg("-O2").arg("-I").arg(directory(&header)).arg(context.root.join("benches/peers/icet.c"));
    compile.args([&transport, &core]).arg(format!("-Wl,-rpath,{}", directory(&core).display()));
    succeed(compile.arg("-lm").arg("-o").arg(&path), "compiling benches/peers/icet.c")?;
    Ok(Built { name: ICET.into(), kind: "bench".into(), path })
}

fn directory(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

#[cfg(test)]
#[path = "../tests/unit/peers.rs"]
mod tests;
