//! The viewer without a window: what is shown, recordings, programs, the command line.

mod chunks;
mod colours;
mod commands;
mod digits;
mod fake;
mod full_disk;
mod geometry;
mod hostile;
mod pictures;
mod programs;
mod recordings;
mod running;
mod support;
mod tour;
mod unchanged;
