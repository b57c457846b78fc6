//! Texts of all shaders of the renderer, for tests.

use zippy::kernel::WgslComposer;

use super::{kernels, space, surface};

/// The text of the rasteriser.
pub(crate) fn drawing_shader(planes: usize) -> WgslComposer {
    surface::drawing_shader(planes)
}

/// The texts of all kernels, with names.
pub(crate) fn kernel_texts() -> Vec<(String, WgslComposer)> {
    [kernels::ray_caster_texts(), space::kernel_texts(), surface::kernel_texts()].concat()
}
