//! Compositing of partial images in depth order with global-array operations (section 5.1 of the
//! paper).
//!
//! An [`Algorithm`] yields a [`BlendPlan`], rounds of blends as data. A [`Compositor`] executes the
//! plan on arrays, dense or run-length coded.

mod canvases;
mod coded;
mod coded_round;
mod compositor;
mod dense;
mod host;
mod kernels;
mod mailboxes;
mod pixel;
mod plan;
mod settings;
mod stream;

#[cfg(test)]
pub(crate) use self::kernels::kernel_texts;

pub use compositor::Compositor;
pub use pixel::Pixel;
pub use plan::{Blend, BlendPlan, BlendRule, Canvas, Round};
pub use settings::{Algorithm, Encoding, Layer, Settings};
