//! A second Vulkan implementation to test on: SwiftShader, out of Debian's package of Chromium's parts.

use std::path::PathBuf;

use crate::context::Context;
use crate::debian;

/// What a manifest of its own sets for the Vulkan loader, by its name of today and by the one before.
pub const VARIABLES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// The manifest of the other driver: what the user has set for the loader, else SwiftShader's.
pub fn manifest(context: &Context) -> Result<PathBuf, String> {
    if let Some(named) = VARIABLES.iter().find_map(|name| context.machine.var(name)) {
        return Ok(named.into());
    }
    swiftshader(context).map_err(|why| {
        format!(
            "there is no SwiftShader: {why}. Where Debian's package chromium-common cannot be had, set VK_DRIVER_FILES to \
             the manifest (…_icd.json) of any Vulkan driver to test on"
        )
    })
}

/// Downloads it where it is not yet.
fn swiftshader(context: &Context) -> Result<PathBuf, String> {
    const MANIFEST: &str = "vk_swiftshader_icd.json";
    let home = context.scratch("swiftshader")?;
    if debian::find(&home, MANIFEST).is_none() {
        debian::unpack(context, &["chromium-common"], &home)?;
    }
    debian::find(&home, MANIFEST).ok_or(format!("the package has no {MANIFEST}"))
}
