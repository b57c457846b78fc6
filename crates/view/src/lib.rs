//! Widgets that display and edit volume renderings while a program runs, and their window.
//!
//! Module [`live`] is a window for pictures that the ranks of the program render. Widgets are
//! independent of ranks: they change plain values such as [`Camera`](zippy_render::volume::Camera)
//! and [`TransferFunction`](zippy_render::volume::TransferFunction), and return true after a
//! change. The program applies the values. Every widget works with the keyboard alone and has a
//! name for screen readers.
#![forbid(unsafe_code)]

mod control;
mod distribution;
mod frame_pacing;
pub mod live;
mod orbit;
pub mod panels;
mod picture;
mod theme;
mod transfer;
mod window;

pub use control::{CameraControl, seen_at};
pub use eframe;
pub use egui;
pub use frame_pacing::FramePacing;
pub use picture::{Picture, colour_image};
pub use transfer::TransferEditor;
pub use window::{WindowError, open};
