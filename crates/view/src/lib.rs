//! Widgets for looking at arrays while a program runs, and the window they live in.
//!
//! Nothing here knows of ranks: widgets change plain values ([`Camera`](zippy_render::volume::Camera),
//! [`TransferFunction`](zippy_render::volume::TransferFunction)) and say whether they did; the program takes it from
//! there. Every widget can be used by keyboard alone and has a name for screen readers.
#![forbid(unsafe_code)]

mod control;
mod distribution;
mod orbit;
mod pace;
pub mod panels;
mod picture;
mod theme;
mod transfer;
mod window;

pub use control::{CameraControl, seen_at};
pub use eframe;
pub use egui;
pub use pace::Pace;
pub use picture::{Picture, colour_image};
pub use transfer::TransferEditor;
pub use window::{WindowError, open};
