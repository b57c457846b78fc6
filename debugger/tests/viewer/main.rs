//! The viewer without a window: pictures, recordings, programs and the command line.

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
