//! What is on this machine, found by looking at files only: milliseconds, and testable on a pretended machine.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::process::output;

/// A machine as its file system and environment show it.
pub struct Machine {
    /// `/`, or a directory that pretends to be.
    pub root: PathBuf,
    /// The operating system, as [`std::env::consts::OS`] names it.
    pub os: &'static str,
    /// The environment.
    pub vars: HashMap<String, String>,
    /// Whether this is run by the administrator.
    pub root_user: bool,
}

/// Where Fedora and its relatives keep MPI libraries, off the search path.
const MPI_HOMES: [&str; 2] = ["/usr/lib64/openmpi", "/usr/lib64/mpich"];

/// Where shared libraries are, or below directories of these for an architecture or a version of LLVM; and where Xcode and
/// Homebrew keep libclang.
const LIBRARY_DIRS: &str = "/usr/local/lib64:/usr/local/lib:/usr/lib64:/usr/lib:\
    /Library/Developer/CommandLineTools/usr/lib:\
    /Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib:\
    /usr/local/opt/llvm/lib:/opt/homebrew/opt/llvm/lib";

impl Machine {
    /// The machine this runs on.
    pub fn real() -> Self {
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let vars = std::env::vars_os().filter_map(text).collect();
        let root_user = output(Command::new("id").arg("-u")).is_ok_and(|user| user == "0");
        Machine { root: "/".into(), os: std::env::consts::OS, vars, root_user }
    }

    /// The place of an absolute path under this machine's root.
    pub fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Whether a path exists.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.at(path).exists()
    }

    /// What is in a directory, sorted; nothing where there is none.
    pub fn list(&self, directory: impl AsRef<Path>) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.at(&directory)).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| directory.as_ref().join(entry.file_name())).collect();
        paths.sort();
        paths
    }

    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The program of this name on the search path, as a path of this machine; or the program at a path.
    pub fn which(&self, name: &str) -> Option<PathBuf> {
        let path = if name.contains('/') { "/" } else { self.var("PATH").unwrap_or_default() };
        std::env::split_paths(path).map(|dir| dir.join(name)).find(|path| is_program(&self.at(path)))
    }

    /// An MPI installation off the search path, if the search path itself has none.
    pub fn hidden_mpi(&self) -> Option<&'static str> {
        let on_path = self.which("mpicc").is_some() || self.var("MPICC").is_some();
        MPI_HOMES.into_iter().find(|home| !on_path && self.which(&format!("{home}/bin/mpicc")).is_some())
    }

    /// Why no adapter can be expected, or nothing if one can. Metal and DX12 come with the system.
    pub fn graphics_problem(&self) -> Option<String> {
        if self.os != "linux" {
            return None;
        }
        if !self.has_library("libvulkan.so.1") {
            return Some("no Vulkan loader (libvulkan.so.1)".into());
        }
        let manifests = self.driver_manifests();
        let driver = manifests.iter().any(|manifest| self.driver_exists(manifest));
        (!driver).then(|| format!("no Vulkan driver whose library exists (manifests in vulkan/icd.d: {manifests:?})"))
    }

    /// Manifest files of Vulkan drivers, where the loader looks for them.
    fn driver_manifests(&self) -> Vec<PathBuf> {
        if let Some(files) = self.var("VK_DRIVER_FILES").or(self.var("VK_ICD_FILENAMES")) {
            return std::env::split_paths(files).filter(|file| self.exists(file)).collect();
        }
        let home = self.var("HOME").unwrap_or("/root");
        let shared = self.var("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share");
        let directories = format!("{home}/.config:/etc/xdg:/etc:{home}/.local/share:{shared}");
        let files = std::env::split_paths(&directories).flat_map(|dir| self.list(dir.join("vulkan/icd.d")));
        files.filter(|file| file.extension().is_some_and(|end| end == "json")).collect()
    }

    /// Whether the library that a driver manifest names exists: a path, absolute or seen from the manifest, or a name.
    fn driver_exists(&self, manifest: &Path) -> bool {
        let text = std::fs::read_to_string(self.at(manifest)).unwrap_or_default();
        let json: Value = serde_json::from_str(&text).unwrap_or_default();
        let library = json["ICD"]["library_path"].as_str();
        library.is_some_and(|name| self.has_library(name) || self.exists(manifest.with_file_name("").join(name)))
    }

    /// Whether a shared library is in one of the usual directories.
    pub fn has_library(&self, name: &str) -> bool {
        self.linker_dirs().iter().any(|dir| self.exists(dir.join(name)))
    }

    /// Directories where the dynamic linker may look, and where bindgen looks for libclang: those of the environment, the
    /// usual ones, and those below them such as /usr/lib/x86_64-linux-gnu, /usr/lib/llvm-14/lib and /usr/lib64/llvm17/lib64.
    fn linker_dirs(&self) -> Vec<PathBuf> {
        let usual = format!("{}:{LIBRARY_DIRS}", self.var("LD_LIBRARY_PATH").unwrap_or_default());
        let below = std::env::split_paths(LIBRARY_DIRS).flat_map(|dir| self.list(dir));
        let below = below.filter(|dir| ["-linux-", "/llvm"].iter().any(|part| dir.to_string_lossy().contains(part)));
        let below = below.flat_map(|dir| [dir.join("lib"), dir.join("lib64"), dir]);
        std::env::split_paths(&usual).chain(below).collect()
    }

    /// A directory that holds libclang, or what `LIBCLANG_PATH` says.
    pub fn libclang(&self) -> Option<PathBuf> {
        let dirs = self.var("LIBCLANG_PATH").map_or_else(|| self.linker_dirs(), |path| vec![path.into()]);
        dirs.into_iter().find(|dir| self.has_libclang(dir))
    }

    /// Whether `LIBCLANG_PATH` names this file, or it is a directory with libclang.so.1, libclang-14.so or libclang.dylib.
    fn has_libclang(&self, place: &Path) -> bool {
        let fits = |path: &PathBuf| {
            let path = path.to_string_lossy();
            path.contains("/libclang.") || path.contains("/libclang-") && !path.contains("/libclang-cpp")
        };
        self.var("LIBCLANG_PATH").is_some() && self.at(place).is_file() || self.list(place).iter().any(fits)
    }
}

/// Whether a file can be run; nothing else than Unix says that of a file.
fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    let runs = |about: &std::fs::Metadata| std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let runs = |_: &std::fs::Metadata| true;
    path.metadata().is_ok_and(|about| about.is_file() && runs(&about))
}

#[cfg(test)]
#[path = "../tests/unit/machine.rs"]
pub mod tests;
