//! What is on this machine, found by looking at files only: milliseconds, and testable on a pretended machine.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The operating systems that set-up distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Os {
    Linux,
    Mac,
    Other,
}

/// A machine as its file system and environment show it.
pub struct Machine {
    /// `/`, or a directory that pretends to be.
    pub root: PathBuf,
    pub os: Os,
    /// The environment.
    pub vars: HashMap<String, String>,
}

/// Where Fedora and its relatives keep MPI libraries, off the search path.
const MPI_HOMES: [&str; 2] = ["/usr/lib64/openmpi", "/usr/lib64/mpich"];

const LIBRARY_DIRS: [&str; 6] = ["/usr/local/lib64", "/usr/local/lib", "/usr/lib64", "/usr/lib", "/lib64", "/lib"];

const MAC_LIBCLANG_DIRS: [&str; 3] = [
    "/Library/Developer/CommandLineTools/usr/lib",
    "/Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib",
    "/usr/local/opt/llvm/lib",
];

impl Machine {
    /// The machine this runs on.
    pub fn real() -> Self {
        let os = match std::env::consts::OS {
            "linux" => Os::Linux,
            "macos" => Os::Mac,
            _ => Os::Other,
        };
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Machine { root: "/".into(), os, vars: std::env::vars_os().filter_map(text).collect() }
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

    /// Names in a directory, sorted; nothing where there is none.
    pub fn list(&self, directory: impl AsRef<Path>) -> Vec<String> {
        let entries = std::fs::read_dir(self.at(directory)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The first of these programs on the search path, as a path of this machine.
    pub fn which(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            return is_program(&self.at(name)).then(|| name.into());
        }
        let directories = self.var("PATH").unwrap_or_default().split(':').filter(|dir| !dir.is_empty());
        directories.map(|dir| Path::new(dir).join(name)).find(|path| is_program(&self.at(path)))
    }

    /// An MPI installation off the search path, if the search path itself has none.
    pub fn hidden_mpi(&self) -> Option<&'static str> {
        let on_path = self.which("mpicc").is_some() || self.var("MPICC").is_some();
        MPI_HOMES.into_iter().find(|home| !on_path && is_program(&self.at(format!("{home}/bin/mpicc"))))
    }

    /// Why no Vulkan (or other) adapter can be expected, or nothing if one can.
    pub fn graphics_problem(&self) -> Option<String> {
        match self.os {
            // Metal and DX12 come with the system.
            Os::Mac | Os::Other => None,
            Os::Linux if !self.library_exists("libvulkan.so.1") => Some("no Vulkan loader (libvulkan.so.1)".into()),
            Os::Linux => self.driver_problem(),
        }
    }

    fn driver_problem(&self) -> Option<String> {
        let manifests = self.driver_manifests();
        if manifests.is_empty() {
            return Some("no Vulkan driver (no file in any vulkan/icd.d directory)".into());
        }
        let present: Vec<&PathBuf> = manifests.iter().filter(|manifest| self.driver_exists(manifest)).collect();
        if present.is_empty() {
            return Some(format!("the driver library that {} names does not exist", manifests[0].display()));
        }
        let software = |manifest: &&PathBuf| {
            let name = manifest.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            ["lvp", "lavapipe", "swiftshader", "swrast"].iter().any(|software| name.contains(software))
        };
        let device = self.list("/dev/dri").iter().any(|name| name.starts_with("renderD"))
            || self.exists("/dev/nvidia0")
            || self.exists("/dev/dxg");
        (!device && !present.iter().any(software))
            .then(|| "the Vulkan drivers here are for GPUs, but there is no GPU device (no /dev/dri/renderD*)".into())
    }

    /// Manifest files of Vulkan drivers, in the loader's own search order.
    fn driver_manifests(&self) -> Vec<PathBuf> {
        for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
            if let Some(files) = self.var(name) {
                return files.split(':').map(PathBuf::from).filter(|file| self.exists(file)).collect();
            }
        }
        let home = self.var("HOME").unwrap_or("/nonexistent");
        let or = |name: &str, default: String| self.var(name).map_or(default, String::from);
        let directories = [
            or("XDG_CONFIG_HOME", format!("{home}/.config")),
            or("XDG_CONFIG_DIRS", "/etc/xdg".into()),
            "/etc".into(),
            or("XDG_DATA_HOME", format!("{home}/.local/share")),
            or("XDG_DATA_DIRS", "/usr/local/share:/usr/share".into()),
        ]
        .join(":");
        let directories = directories.split(':').map(|dir| Path::new(dir).join("vulkan/icd.d"));
        let files = directories.flat_map(|dir| self.list(&dir).into_iter().map(move |name| dir.join(name)));
        files.filter(|file| file.extension().is_some_and(|end| end == "json")).collect()
    }

    /// Whether the library that a driver manifest names exists (a bare name is left to the loader's search).
    fn driver_exists(&self, manifest: &Path) -> bool {
        let Ok(text) = std::fs::read_to_string(self.at(manifest)) else { return false };
        let Ok(json) = serde_json::from_str::<Value>(&text) else { return false };
        match json["ICD"]["library_path"].as_str() {
            None => false,
            Some(library) if library.starts_with('/') => self.exists(library),
            Some(library) if library.contains('/') => self.exists(manifest.with_file_name("").join(library)),
            Some(library) => self.library_exists(library),
        }
    }

    /// Whether a shared library is in one of the usual directories.
    pub fn library_exists(&self, name: &str) -> bool {
        self.library_dirs().iter().any(|dir| self.exists(dir.join(name)))
    }

    /// Directories where the dynamic linker may look: the usual ones, their architecture subdirectories, and those of
    /// the environment.
    fn library_dirs(&self) -> Vec<PathBuf> {
        let from_env = self.var("LD_LIBRARY_PATH").unwrap_or_default().split(':').filter(|dir| !dir.is_empty());
        let mut dirs: Vec<PathBuf> = from_env.map(PathBuf::from).collect();
        for dir in LIBRARY_DIRS {
            let nested = self.list(dir).into_iter().filter(|name| name.contains("-linux-"));
            dirs.extend(nested.map(|name| Path::new(dir).join(name)));
            dirs.push(dir.into());
        }
        dirs
    }

    /// A directory that holds libclang where bindgen finds it by itself, or where `LIBCLANG_PATH` says.
    pub fn libclang(&self) -> Option<PathBuf> {
        if let Some(path) = self.var("LIBCLANG_PATH") {
            let directory = Path::new(path);
            return (self.has_libclang(directory) || self.at(path).is_file()).then(|| directory.into());
        }
        let nested = |dir: &&str| -> Vec<PathBuf> {
            // /usr/lib/llvm-14/lib, /usr/lib64/llvm17/lib, …
            let names = self.list(dir).into_iter().filter(|name| name.starts_with("llvm"));
            names.flat_map(|name| ["lib", "lib64"].map(|lib| Path::new(dir).join(&name).join(lib))).collect()
        };
        let dirs: Vec<PathBuf> = match self.os {
            Os::Mac => MAC_LIBCLANG_DIRS.map(PathBuf::from).into(),
            _ => self.library_dirs().into_iter().chain(LIBRARY_DIRS.iter().flat_map(nested)).collect(),
        };
        dirs.into_iter().find(|dir| self.has_libclang(dir))
    }

    /// Where Homebrew on Apple silicon keeps libclang; bindgen does not look there by itself.
    pub fn hidden_libclang(&self) -> Option<&'static str> {
        let dir = "/opt/homebrew/opt/llvm/lib";
        (self.os == Os::Mac && self.libclang().is_none() && self.has_libclang(Path::new(dir))).then_some(dir)
    }

    fn has_libclang(&self, directory: &Path) -> bool {
        let matches = |name: &String| {
            let versioned = name.starts_with("libclang-") && !name.starts_with("libclang-cpp") && name.contains(".so");
            name == "libclang.so" || name == "libclang.dylib" || name.starts_with("libclang.so.") || versioned
        };
        self.list(directory).iter().any(matches)
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}

#[cfg(test)]
#[path = "../tests/unit/machine.rs"]
pub mod tests;
