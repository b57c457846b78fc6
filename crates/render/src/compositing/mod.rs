//! Compositing: partial pictures, in depth order, into one, over global-array operations (the paper's section 5.1).
//!
//! An [`Algorithm`] is first a [`BlendPlan`], rounds of blends as data, and is then carried out on arrays by a [`Compositor`],
//! dense or run-length coded.

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

pub use compositor::Compositor;
pub use pixel::Pixel;
pub use plan::{Blend, BlendPlan, Canvas, Round, Way};
pub use settings::{Algorithm, Encoding, Layer, Settings};
