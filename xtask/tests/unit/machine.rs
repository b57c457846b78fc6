//! Pretended machines, built in a temporary directory.

use super::*;
use std::fs;

/// A directory that is removed at the end of the test.
pub struct Pretend {
    pub machine: Machine,
}

impl Pretend {
    pub fn new(name: &str, os: &'static str) -> Self {
        let root = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        let vars = [("PATH", "/usr/local/bin:/usr/bin"), ("HOME", "/home/me")];
        Pretend {
            machine: Machine { root, os, vars: vars.map(|(k, v)| (k.into(), v.into())).into(), root_user: false },
        }
    }

    pub fn file(self, path: &str, text: &str) -> Self {
        let at = self.machine.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
        self
    }

    pub fn program(self, path: &str) -> Self {
        self.script(path, "#!/bin/sh\n")
    }

    /// A program that can be run. Another process writes it: a child that a test beside this one starts meanwhile would
    /// hold a file of ours open for writing, and such a file cannot be run.
    pub fn script(self, path: &str, text: &str) -> Self {
        let at = self.machine.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        let write = r#"printf %s "$1" > "$2" && chmod +x "$2""#;
        assert!(Command::new("sh").args(["-c", write, "sh", text]).arg(at).status().unwrap().success());
        self
    }

    pub fn root_user(mut self) -> Self {
        self.machine.root_user = true;
        self
    }

    pub fn var(mut self, name: &str, value: &str) -> Self {
        self.machine.vars.insert(name.into(), value.into());
        self
    }

    fn driver(self, manifest: &str, library: &str) -> Self {
        self.file(manifest, &format!(r#"{{"ICD": {{"library_path": "{library}"}}}}"#))
    }
}

impl Drop for Pretend {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.machine.root);
    }
}

const LAVAPIPE: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
const LAVAPIPE_LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so";

fn linux(name: &str) -> Pretend {
    Pretend::new(name, "linux")
}

fn with_loader(name: &str) -> Pretend {
    linux(name).file("/usr/lib/x86_64-linux-gnu/libvulkan.so.1", "")
}

#[test]
fn a_bare_machine_has_nothing() {
    let bare = linux("bare");
    assert!(bare.machine.graphics_problem().unwrap().contains("loader"));
    assert_eq!(bare.machine.libclang(), None);
    assert_eq!(bare.machine.which("mpicc"), None);
    assert_eq!(bare.machine.hidden_mpi(), None);
}

#[test]
fn a_loader_needs_a_driver_that_exists() {
    assert!(with_loader("loader").machine.graphics_problem().unwrap().contains("icd.d"));
    let dangling = with_loader("dangling").driver(LAVAPIPE, LAVAPIPE_LIBRARY);
    assert!(dangling.machine.graphics_problem().unwrap().contains("lvp_icd"));
    let whole = dangling.file(LAVAPIPE_LIBRARY, "");
    assert_eq!(whole.machine.graphics_problem(), None);
    let broken = with_loader("broken").file(LAVAPIPE, "not json");
    assert!(broken.machine.graphics_problem().is_some());
}

#[test]
fn bare_library_names_and_relative_ones() {
    let named = with_loader("named").driver("/etc/vulkan/icd.d/lvp_icd.json", "libvulkan_lvp.so");
    assert!(named.machine.graphics_problem().is_some());
    assert_eq!(named.file("/usr/lib64/libvulkan_lvp.so", "").machine.graphics_problem(), None);
    let relative = with_loader("relative").driver("/etc/vulkan/icd.d/lvp_icd.json", "./drivers/lvp.so");
    assert!(relative.machine.graphics_problem().is_some());
    assert_eq!(relative.file("/etc/vulkan/icd.d/drivers/lvp.so", "").machine.graphics_problem(), None);
}

#[test]
fn the_loaders_variables_win() {
    let hidden = with_loader("hidden")
        .driver(LAVAPIPE, LAVAPIPE_LIBRARY)
        .file(LAVAPIPE_LIBRARY, "")
        .var("VK_DRIVER_FILES", "/nowhere.json");
    assert!(hidden.machine.graphics_problem().is_some());
    let named = hidden.var("VK_DRIVER_FILES", LAVAPIPE);
    assert_eq!(named.machine.graphics_problem(), None);
    let home = with_loader("home").driver("/home/me/.local/share/vulkan/icd.d/lvp.json", "/opt/lvp.so");
    assert_eq!(home.file("/opt/lvp.so", "").machine.graphics_problem(), None);
}

#[test]
fn metal_needs_nothing() {
    assert_eq!(Pretend::new("mac", "macos").machine.graphics_problem(), None);
}

#[test]
fn libclang_by_distribution() {
    for (name, path) in [
        ("debian", "/usr/lib/llvm-14/lib/libclang.so.1"),
        ("ubuntu", "/usr/lib/x86_64-linux-gnu/libclang-18.so.18"),
        ("fedora", "/usr/lib64/libclang.so.20.1"),
        ("fedora-older", "/usr/lib64/llvm17/lib64/libclang.so.17"),
        ("arch", "/usr/lib/libclang.so"),
    ] {
        assert!(linux(name).file(path, "").machine.libclang().is_some(), "{path}");
    }
    let cpp_only = linux("cpp").file("/usr/lib/x86_64-linux-gnu/libclang-cpp.so.14", "");
    assert_eq!(cpp_only.machine.libclang(), None);
    let linker = linux("linker").file("/usr/lib64/ld-linux-x86-64.so.2", "");
    assert_eq!(linker.machine.libclang(), None);
    let wrong = linux("wrong").file("/usr/lib/libclang.so", "").var("LIBCLANG_PATH", "/opt/none");
    assert_eq!(wrong.machine.libclang(), None);
}

#[test]
fn libclang_on_macs() {
    let xcode = Pretend::new("xcode", "macos").file("/Library/Developer/CommandLineTools/usr/lib/libclang.dylib", "");
    assert!(xcode.machine.libclang().is_some());
    let brew = Pretend::new("brew", "macos").file("/opt/homebrew/opt/llvm/lib/libclang.dylib", "");
    assert_eq!(brew.machine.libclang(), Some("/opt/homebrew/opt/llvm/lib".into()));
}

#[cfg(unix)]
#[test]
fn programs_are_found_on_the_path_only() {
    let machine = linux("path").program("/usr/bin/mpicc").file("/usr/bin/mpirun", "not executable");
    assert_eq!(machine.machine.which("mpicc"), Some("/usr/bin/mpicc".into()));
    assert_eq!(machine.machine.which("mpirun"), None);
    assert_eq!(machine.machine.which("/usr/bin/mpicc"), Some("/usr/bin/mpicc".into()));
    assert_eq!(machine.machine.hidden_mpi(), None);
}

#[cfg(unix)]
#[test]
fn fedora_hides_its_mpi() {
    let fedora = linux("hides").program("/usr/lib64/openmpi/bin/mpicc");
    assert_eq!(fedora.machine.which("mpicc"), None);
    assert_eq!(fedora.machine.hidden_mpi(), Some("/usr/lib64/openmpi"));
    assert_eq!(fedora.var("MPICC", "/opt/mpi/bin/mpicc").machine.hidden_mpi(), None);
}
