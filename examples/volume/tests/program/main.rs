//! The program `volume` as a process: output, files, signals, and the window.
#![cfg(target_os = "linux")]

mod process;
#[cfg(feature = "view")]
mod view;
