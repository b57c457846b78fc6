//! The program `lbm` as a process: pictures, window, restarts and ends.

#[path = "../../../../crates/testing/src/running.rs"]
mod running;
#[path = "../../../../crates/testing/src/screen.rs"]
mod screen;

mod command_line;
mod ends;
mod fields;
mod pictures;
mod restart;
mod window;
