//! The Vulkan loader and the drivers that it finds.

use std::path::{Path, PathBuf};

use crate::Setting;

/// Name under which wgpu asks for the loader.
#[cfg(target_os = "linux")]
const LOADER: &str = "libvulkan.so.1";

/// NVIDIA's driver, which containers often have without the file that announces it.
#[cfg(target_os = "linux")]
const NVIDIA: &str = "libGLX_nvidia.so.0";

/// Makes sure that programs find a Vulkan loader, or says what is missing. A loader in `lib` of the
/// archive comes before the system's. Metal and DX12 come with their systems.
#[cfg(target_os = "linux")]
pub fn prepare(setting: &mut Setting) -> Result<(), String> {
    let own = setting.home.join("lib");
    if own.join(LOADER).exists() {
        let rest = std::env::var("LD_LIBRARY_PATH").map_or(String::new(), |rest| format!(":{rest}"));
        setting.variables.push(("LD_LIBRARY_PATH".into(), format!("{}{rest}", own.display())));
    } else if !loads(LOADER) {
        return Err(format!(
            "there is no Vulkan loader here ({LOADER}). Install it (Debian and Ubuntu: libvulkan1, Fedora: vulkan-loader, Arch: \
             vulkan-icd-loader), or put the file into {}",
            own.display()
        ));
    }
    let announced = manifests();
    let names_it = |file: &PathBuf| std::fs::read_to_string(file).is_ok_and(|text| text.contains("_nvidia."));
    if !announced.iter().any(names_it) && loads(NVIDIA) {
        let file = setting.out.join("nvidia_icd.json");
        let text = format!(
            r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "{NVIDIA}", "api_version": "1.3.0"}}}}"#
        );
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        crate::say(&format!("No file announces NVIDIA's driver, which is here: {} does.", file.display()));
        let all = std::env::join_paths(announced.iter().chain([&file])).unwrap_or(file.clone().into_os_string());
        for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
            setting.variables.push((name.into(), all.to_string_lossy().into_owned()));
        }
    }
    Ok(())
}

/// Metal and DX12 come with their systems.
#[cfg(not(target_os = "linux"))]
pub fn prepare(_: &mut Setting) -> Result<(), String> {
    Ok(())
}

/// Whether the dynamic linker finds a library.
#[cfg(target_os = "linux")]
fn loads(name: &str) -> bool {
    // SAFETY: the loader and drivers are made to be loaded by any program, and nothing of them is called.
    unsafe { libloading::Library::new(name) }.is_ok()
}

/// Files that announce Vulkan drivers, where the loader looks for them.
fn manifests() -> Vec<PathBuf> {
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        if let Some(files) = std::env::var_os(name).filter(|files| !files.is_empty()) {
            return std::env::split_paths(&files).collect();
        }
    }
    let home = std::env::var("HOME").unwrap_or_default();
    let shared = std::env::var("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share".into());
    let places = format!("{home}/.config:/etc/xdg:/etc:{home}/.local/share:{shared}");
    let entries = std::env::split_paths(&places).flat_map(|place| {
        std::fs::read_dir(place.join("vulkan/icd.d")).into_iter().flatten().flatten().map(|entry| entry.path())
    });
    entries.filter(|file| file.extension().is_some_and(|end| end == "json")).collect()
}

/// Facts about this machine that explain why a GPU does not answer.
pub fn facts() -> String {
    let nodes = ["/dev/nvidia0", "/dev/nvidiactl", "/dev/dri", "/dev/kfd"].map(Path::new);
    let nodes: Vec<String> = nodes.iter().filter(|node| node.exists()).map(|node| node.display().to_string()).collect();
    let manifests: Vec<String> = manifests().iter().map(|file| file.display().to_string()).collect();
    let listed = |names: Vec<String>| if names.is_empty() { "none".into() } else { names.join(", ") };
    format!("device nodes: {}; files that announce Vulkan drivers: {}", listed(nodes), listed(manifests))
}
