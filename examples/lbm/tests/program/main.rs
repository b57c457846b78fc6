//! The program `lbm` as a process: pictures, window, restarts and ends.

#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../../../crates/testing/src/running.rs"]
mod running;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../../../crates/testing/src/screen.rs"]
mod screen;

mod command_line;
mod ends;
mod fields;
mod pictures;
mod restart;
mod window;
