//! Checks of the Vulkan loader and its drivers.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::RunSetting;

/// Library name of the Vulkan loader that wgpu opens.
#[cfg(target_os = "linux")]
const LOADER: &str = "libvulkan.so.1";

/// Library name of NVIDIA's driver. Containers often have it without its ICD manifest file.
#[cfg(target_os = "linux")]
const NVIDIA: &str = "libGLX_nvidia.so.0";

/// Adds the variables with which programs find a Vulkan loader and NVIDIA's driver to `setting`. A
/// loader in the directory `lib` of the archive has priority over that of the system.
#[cfg(target_os = "linux")]
pub(crate) fn prepare(setting: &mut RunSetting) -> Result<()> {
    let archive_lib = setting.home.join("lib");
    if archive_lib.join(LOADER).exists() {
        let inherited = std::env::var("LD_LIBRARY_PATH").map_or(String::new(), |path| format!(":{path}"));
        setting.variables.push(("LD_LIBRARY_PATH".into(), format!("{}{inherited}", archive_lib.display())));
    } else if !is_loadable(LOADER) {
        bail!(
            "this machine has no Vulkan loader ({LOADER}). Install it (Debian and Ubuntu: libvulkan1, Fedora: vulkan-loader, Arch: \
             vulkan-icd-loader), or put the file into {}",
            archive_lib.display()
        );
    }
    let manifests = icd_manifests();
    let names_nvidia = |file: &PathBuf| std::fs::read_to_string(file).is_ok_and(|text| text.contains("_nvidia."));
    if !manifests.iter().any(names_nvidia) && is_loadable(NVIDIA) {
        let file = setting.out.join("nvidia_icd.json");
        let text = format!(
            r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "{NVIDIA}", "api_version": "1.3.0"}}}}"#
        );
        std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        crate::say(&format!("NVIDIA's driver has no ICD manifest on this machine; using {}.", file.display()));
        let all = std::env::join_paths(manifests.iter().chain([&file])).unwrap_or(file.clone().into_os_string());
        for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
            setting.variables.push((name.into(), all.to_string_lossy().into_owned()));
        }
    }
    Ok(())
}

/// No preparation: Metal and DX12 are parts of their systems.
#[cfg(not(target_os = "linux"))]
pub fn prepare(_: &mut RunSetting) -> Result<()> {
    Ok(())
}

/// True if the dynamic linker finds a library.
#[cfg(target_os = "linux")]
fn is_loadable(name: &str) -> bool {
    // SAFETY: any program may load the Vulkan loader and drivers, and no function of them is
    // called.
    unsafe { libloading::Library::new(name) }.is_ok()
}

/// ICD manifest files of Vulkan drivers, in the directories that the loader searches.
fn icd_manifests() -> Vec<PathBuf> {
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        if let Some(files) = std::env::var_os(name).filter(|files| !files.is_empty()) {
            return std::env::split_paths(&files).collect();
        }
    }
    let home = std::env::var("HOME").unwrap_or_default();
    let shared = std::env::var("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share".into());
    let search_path = format!("{home}/.config:/etc/xdg:/etc:{home}/.local/share:{shared}");
    let entries = std::env::split_paths(&search_path).flat_map(|directory| {
        std::fs::read_dir(directory.join("vulkan/icd.d")).into_iter().flatten().flatten().map(|entry| entry.path())
    });
    entries.filter(|file| file.extension().is_some_and(|end| end == "json")).collect()
}

/// GPU device nodes and Vulkan drivers of this machine, for the error of a missing GPU.
pub(crate) fn diagnostics() -> String {
    let nodes = ["/dev/nvidia0", "/dev/nvidiactl", "/dev/dri", "/dev/kfd"].map(Path::new);
    let nodes: Vec<String> = nodes.iter().filter(|node| node.exists()).map(|node| node.display().to_string()).collect();
    let manifests: Vec<String> = icd_manifests().iter().map(|file| file.display().to_string()).collect();
    let listed = |names: Vec<String>| if names.is_empty() { "none".into() } else { names.join(", ") };
    format!("device nodes: {}; ICD manifests of Vulkan drivers: {}", listed(nodes), listed(manifests))
}
