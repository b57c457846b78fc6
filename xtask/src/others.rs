//! What others have made and tests and benchmarks take, all of it under `target/` and never installed: a second Vulkan driver
//! to test on; VTK in a Python environment of the project's own; IceT, a compositing library, called by a program of ours.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::{Built, Context};
use crate::mpi::OPEN_MPI;
use crate::process::{output, succeed};

/// What IceT's runs are called.
pub const ICET: &str = "icet";

/// Python packages of benchmarks with VTK and files of others. They bring NumPy.
pub const VTK_AND_FILES: &str = "vtk scikit-image h5py zarr";

/// Makes the virtual environment, installs the packages that are not there yet, and names its
/// Python for benchmarks.
pub fn python(context: &mut Context, packages: &str) -> Result<(), String> {
    let home = context.target().join("peers");
    let python = home.join("bin/python");
    say!(
        "==> {packages} in {}: needs Python 3 with venv and pip, and an index for pip (PIP_INDEX_URL)",
        home.display()
    );
    if !python.exists() {
        succeed(context.command("python3").args(["-m", "venv"]).arg(&home), "making a virtual environment")?;
    }
    let pip = "-m pip install --quiet --disable-pip-version-check --no-input".split(' ');
    let mut install = context.command(&python);
    succeed(install.args(pip).args(packages.split(' ')), &format!("installing {packages} with pip"))?;
    context.machine.vars.insert("ZIPPY_BENCH_PYTHON".into(), python.display().to_string());
    Ok(())
}

/// Unpacks IceT from Debian's packages of ParaView, whose part it is, and builds the program that calls it.
pub fn icet(context: &Context) -> Result<Built, String> {
    let mpi = context.mpi.as_ref().ok_or("it needs MPI")?;
    if mpi.family != &OPEN_MPI {
        return Err(format!("Debian's is linked with Open MPI, and this is {}", mpi.family.name));
    }
    let home = context.target().join("peers").join(ICET);
    unpack(context, "paraview paraview-dev", &home)?;
    let (header, core, transport) =
        (find(&home, "IceT.h")?, find(&home, "libvtkIceTCore-")?, find(&home, "libvtkIceTMPI-")?);
    let directory = |file: &Path| file.with_file_name("").display().to_string();
    let path = home.join(ICET);
    let mut compile = context.command(&mpi.compiler);
    compile.args(["-O2", "-I", &directory(&header)]).arg(context.root.join("benches/peers/icet.c"));
    compile.args([&transport, &core]).arg(format!("-Wl,-rpath,{}", directory(&core)));
    succeed(compile.arg("-lm").arg("-o").arg(&path), "compiling benches/peers/icet.c")?;
    Ok(Built { name: ICET.into(), kind: "bench".into(), path })
}

/// Takes a second Vulkan driver to test on: the one whose manifest the user has set for the loader, else SwiftShader, out of
/// Debian's package of Chromium's parts.
pub fn use_other_driver(context: &mut Context) -> Result<(), String> {
    // The variable of today and the one before.
    let names = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
    let named = names.iter().find_map(|name| context.machine.var(name)).map(String::from);
    let manifest = named.map_or_else(|| swiftshader(context), Ok)?;
    say!("VK_DRIVER_FILES={manifest}");
    context.machine.vars.extend(names.map(|name| (name.into(), manifest.clone())));
    context.machine.vars.remove("ZIPPY_ADAPTER");
    Ok(())
}

fn swiftshader(context: &Context) -> Result<String, String> {
    say!("SwiftShader comes from Debian; VK_DRIVER_FILES may name another driver's manifest (…_icd.json) instead.");
    let home = context.scratch("swiftshader")?;
    unpack(context, "chromium-common", &home)?;
    Ok(find(&home, "vk_swiftshader_icd.json")?.display().to_string())
}

/// Downloads Debian's packages into a directory and unpacks them there, if that has not been done.
fn unpack(context: &Context, packages: &str, home: &Path) -> Result<(), String> {
    if home.join("whole").exists() {
        return Ok(());
    }
    say!("==> unpacking Debian's {packages} in {}", home.display());
    std::fs::create_dir_all(home).map_err(|error| format!("{}: {error}", home.display()))?;
    let script = format!("apt-get download {packages}; for f in *.deb; do dpkg-deb -x $f .; rm $f; done; touch whole");
    succeed(context.command("sh").args(["-ec", &script]).current_dir(home), "taking it from Debian's packages")
}

/// The first regular file below a directory whose name begins so.
fn find(directory: &Path, start: &str) -> Result<PathBuf, String> {
    let words = ["-type", "f", "-name", &format!("{start}*"), "-print", "-quit"];
    let path = output(Command::new("find").arg(directory).args(words))?;
    if path.is_empty() { Err(format!("there is no {start} in {}", directory.display())) } else { Ok(path.into()) }
}

#[cfg(test)]
#[path = "../tests/unit/others.rs"]
mod tests;
