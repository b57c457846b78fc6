//! The window of an application, with errors that suggest a solution.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use eframe::{App, CreationContext, NativeOptions};
use egui::ViewportBuilder;

use crate::theme;

/// Reason for a missing window.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WindowError {
    /// There is no display.
    #[error(
        "there is no display for a window: {0}; run it on a desktop, through `ssh -X`, or under a virtual X server \
         (`xvfb-run -a`)"
    )]
    NoDisplay(String),
    /// The display, its driver or a library failed.
    #[error(
        "the window could not be shown: {0}; it needs a display and, on Linux, libxkbcommon, libxkbcommon-x11, \
         libX11-xcb, libXcursor, libXi and a Vulkan or OpenGL driver"
    )]
    Failed(String),
}

/// Opens a window of `size` points with the application from `make`, and returns after the window
/// is closed. Must be called on the main thread. Works with any adapter that can draw on the
/// display, also in software.
///
/// # Errors
/// There is no display, or the display fails.
pub fn open(
    title: &str,
    size: [f32; 2],
    create_app: impl FnOnce(&CreationContext<'_>) -> Box<dyn App>,
) -> Result<(), WindowError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(why) = missing_display(cfg!(all(unix, not(target_os = "macos"))), variable) {
        return Err(WindowError::NoDisplay(why));
    }
    let viewport =
        ViewportBuilder::default().with_title(title).with_inner_size(size).with_min_inner_size([480.0, 320.0]);
    let options = NativeOptions { viewport, ..NativeOptions::default() };
    let run = || {
        eframe::run_native(
            title,
            options,
            Box::new(|context| {
                theme::apply(&context.egui_ctx);
                Ok(create_app(context))
            }),
        )
    };
    // The crate that loads the libraries of the display panics if a library is missing.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(eframe::Error::WinitEventLoop(error))) => {
            let display = variable("DISPLAY").or_else(|| variable("WAYLAND_DISPLAY")).unwrap_or_default();
            Err(WindowError::NoDisplay(format!("display {display:?} does not answer ({error})")))
        }
        Ok(Err(error)) => Err(WindowError::Failed(error.to_string())),
        Err(panic) => Err(WindowError::Failed(panic_message(&*panic))),
    }
}

/// Returns the reason for a missing display, on a system that names displays with environment
/// variables (`uses_variables`).
fn missing_display(uses_variables: bool, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let names = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
    let missing = uses_variables && names.iter().all(|name| variable(name).is_none());
    missing.then(|| "neither DISPLAY nor WAYLAND_DISPLAY is set".into())
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_display_is_reported_without_an_attempt() {
        let nothing = |_: &str| None;
        let x = |name: &str| (name == "DISPLAY").then(|| ":7".to_owned());
        assert_eq!(missing_display(false, nothing), None);
        assert_eq!(missing_display(true, x), None);
        let error = WindowError::NoDisplay(missing_display(true, nothing).unwrap()).to_string();
        assert!(error.contains("DISPLAY") && error.contains("xvfb-run"), "{error}");
    }
}
