//! The program `volume` as a process: output, files, signals, and the window.
#![cfg(target_os = "linux")]

#[path = "../../../../tests/support/launcher.rs"]
#[allow(dead_code)]
mod launcher;
mod process;
mod running;
mod screen;
#[cfg(feature = "view")]
mod view;
