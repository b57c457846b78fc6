//! Software on this machine, found by inspection of files only: takes milliseconds, and tests can
//! use a fake machine.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::process::output;

/// File system and environment of the machine that xtask inspects: this machine, or a fake one in
/// tests.
pub(crate) struct InspectedMachine {
    /// Root of the file system: `/`, or a directory with the files of a fake machine.
    pub root: PathBuf,
    /// Operating system, as in [`std::env::consts::OS`].
    pub os: &'static str,
    /// Environment variables.
    pub vars: HashMap<String, String>,
    /// True if the user of this process is root.
    pub root_user: bool,
}

/// Directories of MPI installations on Fedora and related distributions, outside the search path.
const MPI_HOMES: [&str; 2] = ["/usr/lib64/openmpi", "/usr/lib64/mpich"];

/// Directories of shared libraries, and the directories of Xcode and Homebrew with libclang.
/// Libraries may also be in subdirectories for an architecture or a version of LLVM.
const LIBRARY_DIRS: &str = "/usr/local/lib64:/usr/local/lib:/usr/lib64:/usr/lib:\
    /Library/Developer/CommandLineTools/usr/lib:\
    /Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib:\
    /usr/local/opt/llvm/lib:/opt/homebrew/opt/llvm/lib";

impl InspectedMachine {
    /// The machine of this process.
    pub(crate) fn real() -> Self {
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let vars = std::env::vars_os().filter_map(text).collect();
        let root_user = output(Command::new("id").arg("-u")).is_ok_and(|user| user == "0");
        InspectedMachine { root: "/".into(), os: std::env::consts::OS, vars, root_user }
    }

    /// Path on the real file system of an absolute path of this machine.
    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// True if an absolute path of this machine exists.
    pub(crate) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.at(path).exists()
    }

    /// Paths of the entries of a directory, sorted; empty if the directory does not exist.
    pub(crate) fn list(&self, directory: impl AsRef<Path>) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.at(&directory)).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| directory.as_ref().join(entry.file_name())).collect();
        paths.sort();
        paths
    }

    /// Value of an environment variable; `None` if it is not set or empty.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Finds a program by name on the search path, or by its path. Returns a path of this machine.
    pub(crate) fn which(&self, name: &str) -> Option<PathBuf> {
        let path = if name.contains('/') { "/" } else { self.var("PATH").unwrap_or_default() };
        std::env::split_paths(path).map(|dir| dir.join(name)).find(|path| is_program(&self.at(path)))
    }

    /// True if Cargo has a subcommand, such as `fmt`.
    pub(crate) fn has_cargo_command(&self, name: &str) -> bool {
        let cargo = self.which(self.var("CARGO").unwrap_or("cargo"));
        cargo.is_some_and(|cargo| output(Command::new(self.at(cargo)).args([name, "--version"])).is_ok())
    }

    /// Directory of an MPI installation outside the search path; `None` if `MPICC` or the search
    /// path names an installation.
    pub(crate) fn hidden_mpi(&self) -> Option<&'static str> {
        let on_path = self.which("mpicc").is_some() || self.var("MPICC").is_some();
        MPI_HOMES.into_iter().find(|home| !on_path && self.which(&format!("{home}/bin/mpicc")).is_some())
    }

    /// Reason why Vulkan finds no adapter; `None` if it can find one. Systems other than Linux
    /// include Metal or DX12.
    pub(crate) fn graphics_problem(&self) -> Option<String> {
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

    /// Manifest files of Vulkan drivers, in the directories that the loader searches.
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

    /// True if the library of a driver manifest exists. The manifest names the library by an
    /// absolute path, by a path relative to the manifest, or by a file name.
    fn driver_exists(&self, manifest: &Path) -> bool {
        let text = std::fs::read_to_string(self.at(manifest)).unwrap_or_default();
        let json: Value = serde_json::from_str(&text).unwrap_or_default();
        let library = json["ICD"]["library_path"].as_str();
        library.is_some_and(|name| self.has_library(name) || self.exists(manifest.with_file_name("").join(name)))
    }

    /// True if a shared library is in a directory of [`Self::linker_dirs`].
    pub(crate) fn has_library(&self, name: &str) -> bool {
        self.linker_dirs().iter().any(|dir| self.exists(dir.join(name)))
    }

    /// Directories that the dynamic linker may search, and that bindgen searches for libclang:
    ///
    /// * the directories in `LD_LIBRARY_PATH`;
    /// * the directories in [`LIBRARY_DIRS`];
    /// * their subdirectories such as /usr/lib/x86_64-linux-gnu, /usr/lib/llvm-14/lib and
    ///   /usr/lib64/llvm17/lib64.
    fn linker_dirs(&self) -> Vec<PathBuf> {
        let usual = format!("{}:{LIBRARY_DIRS}", self.var("LD_LIBRARY_PATH").unwrap_or_default());
        let nested = std::env::split_paths(LIBRARY_DIRS).flat_map(|dir| self.list(dir));
        let nested = nested.filter(|dir| ["-linux-", "/llvm"].iter().any(|part| dir.to_string_lossy().contains(part)));
        let nested = nested.flat_map(|dir| [dir.join("lib"), dir.join("lib64"), dir]);
        std::env::split_paths(&usual).chain(nested).collect()
    }

    /// Directory that contains libclang, or the value of `LIBCLANG_PATH` if libclang is there.
    pub(crate) fn libclang(&self) -> Option<PathBuf> {
        let dirs = self.var("LIBCLANG_PATH").map_or_else(|| self.linker_dirs(), |path| vec![path.into()]);
        dirs.into_iter().find(|dir| self.has_libclang(dir))
    }

    /// True if a directory contains a file such as libclang.so.1, libclang-14.so or libclang.dylib,
    /// or if `LIBCLANG_PATH` is set and the path is a file.
    fn has_libclang(&self, path: &Path) -> bool {
        let is_libclang = |file: &PathBuf| {
            let file = file.to_string_lossy();
            file.contains("/libclang.") || file.contains("/libclang-") && !file.contains("/libclang-cpp")
        };
        self.var("LIBCLANG_PATH").is_some() && self.at(path).is_file() || self.list(path).iter().any(is_libclang)
    }
}

/// True for a file with permission to execute; on systems without that permission, for every file.
fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    let is_executable =
        |data: &std::fs::Metadata| std::os::unix::fs::PermissionsExt::mode(&data.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let is_executable = |_: &std::fs::Metadata| true;
    path.metadata().is_ok_and(|data| data.is_file() && is_executable(&data))
}

#[cfg(test)]
#[path = "../tests/unit/machine.rs"]
pub(crate) mod tests;
