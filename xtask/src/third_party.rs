//! Third-party software for tests and benchmarks, all of it under `target/` and never installed on
//! the system:
//!
//! * a second Vulkan driver for tests;
//! * a Python environment with VTK and other peers of benchmarks;
//! * IceT, a compositing library, and a program that measures it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::context::{BuiltProgram, Context};
use crate::mpi::OPEN_MPI;
use crate::process::{output, succeed};

/// Name of the benchmark of IceT.
pub(crate) const ICET: &str = "icet";

/// Python packages of the benchmarks that compare with VTK and with file libraries. The packages
/// depend on NumPy.
pub(crate) const VTK_AND_FILES: &str = "vtk scikit-image h5py zarr";

/// Creates a virtual environment with Python packages, separated by spaces, and sets
/// `ZIPPY_BENCH_PYTHON` to its interpreter. Keeps an existing environment and its packages.
pub(crate) fn python(context: &mut Context, packages: &str) -> Result<()> {
    let home = context.target().join("peers");
    let python = home.join("bin/python");
    say!(
        "==> {packages} in {}: needs Python 3 with venv and pip, and an index for pip (PIP_INDEX_URL)",
        home.display()
    );
    if !python.exists() {
        succeed(context.command("python3").args(["-m", "venv"]).arg(&home), "creating a virtual environment")?;
    }
    let pip = "-m pip install --quiet --disable-pip-version-check --no-input".split(' ');
    let mut install = context.command(&python);
    succeed(install.args(pip).args(packages.split(' ')), &format!("installing {packages} with pip"))?;
    context.machine.vars.insert("ZIPPY_BENCH_PYTHON".into(), python.display().to_string());
    Ok(())
}

/// Unpacks IceT from Debian's packages of ParaView, and builds the benchmark program that calls it.
pub(crate) fn icet(context: &Context) -> Result<BuiltProgram> {
    let mpi = context.mpi.as_ref().context("it needs MPI")?;
    if mpi.family != &OPEN_MPI {
        bail!("Debian's IceT is linked with Open MPI, and the MPI library here is {}", mpi.family.name);
    }
    let home = context.target().join("peers").join(ICET);
    unpack_debian_packages(context, "paraview paraview-dev", &home)?;
    let (header, core, transport) = (
        find_file_by_prefix(&home, "IceT.h")?,
        find_file_by_prefix(&home, "libvtkIceTCore-")?,
        find_file_by_prefix(&home, "libvtkIceTMPI-")?,
    );
    let directory = |file: &Path| file.with_file_name("").display().to_string();
    let path = home.join(ICET);
    let mut compile = context.command(&mpi.compiler);
    compile.args(["-O2", "-I", &directory(&header)]).arg(context.root.join("benches/peers/icet.c"));
    compile.args([&transport, &core]).arg(format!("-Wl,-rpath,{}", directory(&core)));
    succeed(compile.arg("-lm").arg("-o").arg(&path), "compiling benches/peers/icet.c")?;
    Ok(BuiltProgram { name: ICET.into(), kind: "bench".into(), path })
}

/// Selects a second Vulkan driver for tests: the driver whose manifest the user has set, else
/// SwiftShader from Debian's package `chromium-common`.
pub(crate) fn use_other_driver(context: &mut Context) -> Result<()> {
    // Old Vulkan loaders know only the second variable.
    let names = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
    let named = names.iter().find_map(|name| context.machine.var(name)).map(String::from);
    let manifest = named.map_or_else(|| swiftshader(context), Ok)?;
    say!("VK_DRIVER_FILES={manifest}");
    context.machine.vars.extend(names.map(|name| (name.into(), manifest.clone())));
    context.machine.vars.remove("ZIPPY_ADAPTER");
    Ok(())
}

fn swiftshader(context: &Context) -> Result<String> {
    say!(
        "Using SwiftShader from Debian; set VK_DRIVER_FILES to the manifest (…_icd.json) of another driver to test that."
    );
    let home = context.scratch("swiftshader")?;
    unpack_debian_packages(context, "chromium-common", &home)?;
    Ok(find_file_by_prefix(&home, "vk_swiftshader_icd.json")?.display().to_string())
}

/// Downloads Debian packages into a directory and unpacks them there. Does nothing if an earlier
/// call has finished: the file `whole` marks that.
fn unpack_debian_packages(context: &Context, packages: &str, home: &Path) -> Result<()> {
    if home.join("whole").exists() {
        return Ok(());
    }
    say!("==> unpacking Debian's {packages} in {}", home.display());
    std::fs::create_dir_all(home).with_context(|| home.display().to_string())?;
    let script = format!("apt-get download {packages}; for f in *.deb; do dpkg-deb -x $f .; rm $f; done; touch whole");
    succeed(context.command("sh").args(["-ec", &script]).current_dir(home), "unpacking Debian's packages")
}

/// Finds a regular file below a directory by the first letters of its name.
fn find_file_by_prefix(directory: &Path, prefix: &str) -> Result<PathBuf> {
    let words = ["-type", "f", "-name", &format!("{prefix}*"), "-print", "-quit"];
    let path = output(Command::new("find").arg(directory).args(words))?;
    if path.is_empty() { Err(anyhow!("there is no {prefix} in {}", directory.display())) } else { Ok(path.into()) }
}

#[cfg(test)]
#[path = "../tests/unit/third_party.rs"]
mod tests;
