//! Other programs that benchmarks measure beside ours: Python packages in a virtual environment of the project's own.

use std::path::PathBuf;
use std::process::Command;

use crate::context::Context;

/// Where a benchmark finds the Python that has its peers.
pub const VARIABLE: &str = "ZIPPY_BENCH_PYTHON";

/// Benchmarks that have peers, and the packages that these come in.
const PACKAGES: [(&str, &str); 1] = [("ranks_volume", "vtk")];

/// The packages that these benchmarks are compared with.
pub fn packages<'a>(benchmarks: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let of = |name| PACKAGES.iter().filter(move |(known, _)| *known == name).map(|(_, package)| *package);
    benchmarks.into_iter().flat_map(of).collect()
}

/// Makes the virtual environment under `target/`, installs the packages that it lacks, and returns its Python.
pub fn ready(context: &Context, packages: &[&str]) -> Result<PathBuf, String> {
    let home = context.target().join("peers");
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        let names = ["python3", "python"];
        let Some(system) = names.into_iter().find_map(|name| context.machine.which(name)) else {
            return Err(
                "--peers needs Python 3 to run VTK; there is no python3 on the search path. Install it, or leave \
                        --peers out"
                    .into(),
            );
        };
        say!("==> a Python environment for peers in {}", home.display());
        step(context.command(system).args(["-m", "venv"]).arg(&home), "making a virtual environment")
            .map_err(hinted)?;
    }
    for package in packages {
        let look = format!("import importlib.util, sys; sys.exit(importlib.util.find_spec('{package}') is None)");
        let there = context.command(&python).args(["-c", &look]).output();
        if there.is_ok_and(|output| output.status.success()) {
            continue;
        }
        say!("==> installing the Python package {package} there");
        let install = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", package];
        step(context.command(&python).args(install), &format!("installing {package} with pip")).map_err(hinted)?;
    }
    Ok(python)
}

/// Runs a command that must succeed.
pub fn step(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what} failed ({status})")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}

fn hinted(message: String) -> String {
    format!(
        "{message}. --peers needs Python 3 with venv and pip, and a package index that pip can reach (PIP_INDEX_URL names \
         another one); without --peers no Python is used"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_benchmarks() {
        assert_eq!(packages(["plans", "ranks_volume", "ranks_ghosts"]), ["vtk"]);
        assert!(packages(["plans"]).is_empty());
    }
}
