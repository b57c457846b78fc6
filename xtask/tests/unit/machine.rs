//! Fake machines in temporary directories.

use super::*;
use std::fs;

/// A machine whose files are in a temporary directory, which the destructor removes.
pub(crate) struct FakeMachine {
    pub machine: InspectedMachine,
}

impl FakeMachine {
    pub(crate) fn new(name: &str, os: &'static str) -> Self {
        let root = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        let vars = [("PATH", "/usr/local/bin:/usr/bin"), ("HOME", "/home/me")];
        FakeMachine {
            machine: InspectedMachine {
                root,
                os,
                vars: vars.map(|(k, v)| (k.into(), v.into())).into(),
                root_user: false,
            },
        }
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let path = self.machine.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn program(self, path: &str) -> Self {
        self.script(path, "#!/bin/sh\n")
    }

    /// Adds an executable script. Another process writes the file: children of concurrent tests
    /// would inherit the open file of this process, and Linux does not execute files that are open
    /// for writing.
    pub(crate) fn script(self, path: &str, text: &str) -> Self {
        let path = self.machine.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let write = r#"printf %s "$1" > "$2" && chmod +x "$2""#;
        assert!(Command::new("sh").args(["-c", write, "sh", text]).arg(path).status().unwrap().success());
        self
    }

    pub(crate) fn root_user(mut self) -> Self {
        self.machine.root_user = true;
        self
    }

    pub(crate) fn var(mut self, name: &str, value: &str) -> Self {
        self.machine.vars.insert(name.into(), value.into());
        self
    }

    fn driver(self, manifest: &str, library: &str) -> Self {
        self.file(manifest, &format!(r#"{{"ICD": {{"library_path": "{library}"}}}}"#))
    }
}

impl Drop for FakeMachine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.machine.root);
    }
}

const LAVAPIPE: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
const LAVAPIPE_LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so";

fn linux(name: &str) -> FakeMachine {
    FakeMachine::new(name, "linux")
}

fn with_loader(name: &str) -> FakeMachine {
    linux(name).file("/usr/lib/x86_64-linux-gnu/libvulkan.so.1", "")
}

#[test]
fn bare_machine_has_neither_vulkan_nor_libclang_nor_mpi() {
    let bare = linux("bare");
    assert!(bare.machine.graphics_problem().unwrap().contains("loader"));
    assert_eq!(bare.machine.libclang(), None);
    assert_eq!(bare.machine.which("mpicc"), None);
    assert_eq!(bare.machine.hidden_mpi(), None);
}

#[test]
fn vulkan_loader_without_driver_library_is_a_problem() {
    assert!(with_loader("loader").machine.graphics_problem().unwrap().contains("icd.d"));
    let dangling = with_loader("dangling").driver(LAVAPIPE, LAVAPIPE_LIBRARY);
    assert!(dangling.machine.graphics_problem().unwrap().contains("lvp_icd"));
    let whole = dangling.file(LAVAPIPE_LIBRARY, "");
    assert_eq!(whole.machine.graphics_problem(), None);
    let broken = with_loader("broken").file(LAVAPIPE, "not json");
    assert!(broken.machine.graphics_problem().is_some());
}

#[test]
fn driver_manifest_names_library_by_name_or_relative_path() {
    let named = with_loader("named").driver("/etc/vulkan/icd.d/lvp_icd.json", "libvulkan_lvp.so");
    assert!(named.machine.graphics_problem().is_some());
    assert_eq!(named.file("/usr/lib64/libvulkan_lvp.so", "").machine.graphics_problem(), None);
    let relative = with_loader("relative").driver("/etc/vulkan/icd.d/lvp_icd.json", "./drivers/lvp.so");
    assert!(relative.machine.graphics_problem().is_some());
    assert_eq!(relative.file("/etc/vulkan/icd.d/drivers/lvp.so", "").machine.graphics_problem(), None);
}

#[test]
fn variables_of_the_loader_replace_its_search_path() {
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
fn graphics_on_macos_have_no_problem() {
    assert_eq!(FakeMachine::new("mac", "macos").machine.graphics_problem(), None);
}

#[test]
fn libclang_is_found_on_each_distribution() {
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
fn libclang_is_found_on_macos() {
    let xcode =
        FakeMachine::new("xcode", "macos").file("/Library/Developer/CommandLineTools/usr/lib/libclang.dylib", "");
    assert!(xcode.machine.libclang().is_some());
    let brew = FakeMachine::new("brew", "macos").file("/opt/homebrew/opt/llvm/lib/libclang.dylib", "");
    assert_eq!(brew.machine.libclang(), Some("/opt/homebrew/opt/llvm/lib".into()));
}

#[cfg(unix)]
#[test]
fn which_finds_executable_files_on_search_path() {
    let machine = linux("path").program("/usr/bin/mpicc").file("/usr/bin/mpirun", "not executable");
    assert_eq!(machine.machine.which("mpicc"), Some("/usr/bin/mpicc".into()));
    assert_eq!(machine.machine.which("mpirun"), None);
    assert_eq!(machine.machine.which("/usr/bin/mpicc"), Some("/usr/bin/mpicc".into()));
    assert_eq!(machine.machine.hidden_mpi(), None);
}

#[cfg(unix)]
#[test]
fn hidden_mpi_of_fedora_is_found_unless_mpicc_is_set() {
    let fedora = linux("hides").program("/usr/lib64/openmpi/bin/mpicc");
    assert_eq!(fedora.machine.which("mpicc"), None);
    assert_eq!(fedora.machine.hidden_mpi(), Some("/usr/lib64/openmpi"));
    assert_eq!(fedora.var("MPICC", "/opt/mpi/bin/mpicc").machine.hidden_mpi(), None);
}
