//! Widgets for looking at arrays while a program runs.
