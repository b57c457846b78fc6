//! The viewer without a window: what is shown, recordings, programs, the command line.

mod colours;
mod geometry;
