//! Texts of all shaders of the renderer, for tests.

use zippy::kernel::WgslComposer;

pub(crate) use super::surface::drawing_shader;
use super::{kernels, space, surface};

/// The texts of all kernels, with names.
pub(crate) fn kernel_texts() -> Vec<(String, WgslComposer)> {
    [kernels::ray_caster_texts(), space::kernel_texts(), surface::kernel_texts()].concat()
}
