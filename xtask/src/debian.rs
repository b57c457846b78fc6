//! Files out of Debian's packages: downloaded and unpacked under `target/`, never installed.

use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::process::succeed;

/// Downloads packages into a directory and unpacks them there.
pub fn unpack(context: &Context, packages: &[&str], home: &Path) -> Result<(), String> {
    let tools = ["apt-get", "dpkg-deb"].map(|name| context.machine.which(name));
    let [Some(apt), Some(dpkg)] = tools else {
        return Err("it is taken from Debian's packages, by apt-get, which is not here".into());
    };
    say!("==> unpacking Debian's {} in {}", packages.join(" and "), home.display());
    let problem = |error: std::io::Error| format!("{}: {error}", home.display());
    std::fs::create_dir_all(home).map_err(problem)?;
    succeed(context.command(apt).arg("download").args(packages).current_dir(home), "apt-get download")?;
    for package in files(home).into_iter().filter(|file| file.extension().is_some_and(|end| end == "deb")) {
        succeed(context.command(&dpkg).arg("-x").arg(&package).arg(home), "dpkg-deb")?;
        std::fs::remove_file(&package).map_err(problem)?;
    }
    Ok(())
}

/// The first regular file below a directory whose name begins so.
pub fn find(directory: &Path, start: &str) -> Option<PathBuf> {
    files(directory).into_iter().find_map(|file| match file.symlink_metadata() {
        Ok(about) if about.is_dir() => find(&file, start),
        Ok(about) if about.is_file() => {
            let named = file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(start));
            named.then_some(file)
        }
        _ => None,
    })
}

/// What is directly in a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[cfg(test)]
#[path = "../tests/unit/debian.rs"]
mod tests;
