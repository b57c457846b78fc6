//! IceT, a compositing library, as a peer of benchmarks: unpacked from Debian's packages of ParaView, whose part it is, and
//! called by a program of ours.

use std::path::{Path, PathBuf};

use crate::context::{Built, Context};
use crate::mpi::{Family, Mpi};
use crate::peers::step;

/// What the peer's runs are called.
pub const NAME: &str = "icet";

/// The packages with its libraries and its headers.
const PACKAGES: [&str; 2] = ["paraview", "paraview-dev"];

/// Downloads and unpacks IceT under `target/peers`, where it is not yet, and builds the program that calls it. Nothing is
/// installed.
pub fn ready(context: &Context, mpi: &Mpi) -> Result<Built, String> {
    if mpi.family != Family::OpenMpi {
        return Err(format!("Debian's is linked with Open MPI, and this is {}", mpi.family.name()));
    }
    let home = context.target().join("peers").join("icet");
    std::fs::create_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    if find(&home, "IceT.h").is_none() {
        let tools = ["apt-get", "dpkg-deb"].map(|name| context.machine.which(name));
        let [Some(apt), Some(dpkg)] = tools else {
            return Err("it is taken from Debian's packages, by apt-get".into());
        };
        say!("==> IceT from the packages {} to {}", PACKAGES.join(" and "), home.display());
        step(context.command(apt).arg("download").args(PACKAGES).current_dir(&home), "apt-get download")?;
        for package in files(&home).into_iter().filter(|file| file.extension().is_some_and(|end| end == "deb")) {
            step(context.command(&dpkg).arg("-x").arg(&package).arg(&home), "dpkg-deb")?;
            std::fs::remove_file(&package).map_err(|error| format!("{}: {error}", package.display()))?;
        }
    }
    let part = |name: &str| find(&home, name).ok_or(format!("the packages have no {name}"));
    let (header, core, transport) = (part("IceT.h")?, part("libvtkIceTCore-")?, part("libvtkIceTMPI-")?);
    let path = home.join(NAME);
    let mut compile = context.command(&mpi.compiler);
    compile.arg("-O2").arg("-I").arg(directory(&header)).arg(context.root.join("benches/peers/icet.c"));
    compile.args([&transport, &core]).arg(format!("-Wl,-rpath,{}", directory(&core).display()));
    step(compile.arg("-lm").arg("-o").arg(&path), "compiling benches/peers/icet.c")?;
    Ok(Built { name: NAME.into(), kind: "bench".into(), path })
}

fn directory(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

/// The files directly in a directory, and the directories.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// The first regular file below a directory whose name begins so.
fn find(directory: &Path, start: &str) -> Option<PathBuf> {
    files(directory).into_iter().find_map(|file| match file.symlink_metadata() {
        Ok(about) if about.is_dir() => find(&file, start),
        Ok(about) if about.is_file() => {
            let named = file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(start));
            named.then_some(file)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_the_start_of_their_names() {
        let home = std::env::temp_dir().join(format!("zippy-icet-{}", std::process::id()));
        let below = home.join("usr/lib");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(below.join("libvtkIceTCore-pv5.so.5"), "").unwrap();
        std::fs::write(home.join("other"), "").unwrap();
        assert_eq!(find(&home, "libvtkIceTCore-"), Some(below.join("libvtkIceTCore-pv5.so.5")));
        assert_eq!(find(&home, "IceT.h"), None);
        assert_eq!(find(&home.join("none"), "other"), None);
        std::fs::remove_dir_all(&home).unwrap();
    }
}
