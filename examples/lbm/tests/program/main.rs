//! The program `lbm` as a process: pictures, window, restarts and ends.

#[path = "../../../volume/tests/program/running.rs"]
mod running;
#[path = "../../../volume/tests/program/screen.rs"]
mod screen;

mod command_line;
mod ends;
mod fields;
mod pictures;
mod restart;
mod window;
