//! Source text of the ray caster, assembled from parts and compiled once per combination.

use std::cell::RefCell;
use std::collections::HashMap;

use zippy::Result;
use zippy::World;
use zippy::device::{colour, has_wide_vectors};
use zippy::element::{Element, ElementKind, Packed, Scalar};
use zippy::kernel::{Kernel, KernelSource, ParamValue, WgslComposer, WgslModule};
use zippy::wgsl_module;

use super::bricks::BLOCK;
use super::classes::Classes;
use super::look::{Interpolation, Look, MAX_CLIP_PLANES, Shading};
use super::march::BLOCK as BLOCK_SAMPLES;
use super::view::{MAX_STEPS, View};

/// Features that change the text of the ray caster; all other settings are parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Features {
    /// Number of clip planes.
    pub planes: usize,
    /// Number of components per voxel, interleaved on axis 0.
    pub components: usize,
    /// True if pixels have 8-bit components instead of f32.
    pub rgba8: bool,
    /// True if rays take several passes.
    pub passes: bool,
    /// True if the look has light.
    pub lit: bool,
    /// True if the transfer function is integrated between samples.
    pub preintegrated: bool,
    /// Interpolation of voxels.
    pub interpolation: Interpolation,
    /// True if the scene has surfaces.
    pub surfaces: bool,
}

impl Features {
    /// Features of a look; the array holds `rgba8`, `passes` and `surfaces`.
    pub(super) fn of(look: &Look, components: usize, [rgba8, passes, surfaces]: [bool; 3]) -> Self {
        let (planes, lit) = (look.clip.len(), look.shading.is_some());
        let Look { preintegrated, interpolation, .. } = *look;
        Self { planes, components, rgba8, passes, lit, preintegrated, interpolation, surfaces }
    }
}

/// Ray casters of a volume, compiled on first use.
pub(super) struct RayCasters<'w> {
    world: &'w World,
    /// WGSL type of the voxels.
    cell: &'static str,
    made: RefCell<HashMap<Features, Kernel>>,
}

impl<'w> RayCasters<'w> {
    /// Creates the cache for voxels of WGSL type `cell`. Local; compiles nothing yet.
    pub(super) fn new(world: &'w World, cell: &'static str) -> Self {
        Self { world, cell, made: RefCell::default() }
    }

    /// Ray caster with these features. Local.
    ///
    /// # Errors
    /// The text does not compile.
    pub(super) fn get(&self, features: Features) -> Result<Kernel> {
        if let Some(kernel) = self.made.borrow().get(&features) {
            return Ok(kernel.clone());
        }
        let source = KernelSource::text("shaders/volume/march.wgsl", ray_caster(self.cell, features).compose()?);
        let kernel = self.world.kernel(source.prefer_driver(has_wide_vectors()))?;
        self.made.borrow_mut().insert(features, kernel.clone());
        Ok(kernel)
    }
}

/// Words of a fragment of a surface: position on the ray, and two times two components of 16 bits.
pub(super) const FRAGMENT_WORDS: u64 = 3;

/// Rays of an image: the first part of the ray caster and of the rasteriser.
fn rays(planes: usize) -> WgslComposer {
    WgslComposer::new()
        .constant("PLANES", planes as i32)
        .constant("MAX_CLIP_PLANES", MAX_CLIP_PLANES as i32)
        .constant("MAX_STEPS", MAX_STEPS)
        .module(wgsl_module!("../../shaders/volume/view.wgsl"))
}

/// Parts of the text that shaders of surfaces use.
pub(super) fn rays_and_light(planes: usize) -> WgslComposer {
    rays(planes)
        .module(wgsl_module!("../../shaders/volume/decay.wgsl"))
        .module(wgsl_module!("../../shaders/volume/light.wgsl"))
}

/// Pixel format of layers.
pub(super) fn format_of_pixels(rgba8: bool) -> WgslModule {
    if rgba8 {
        wgsl_module!("../../shaders/volume/pixel_rgba8.wgsl")
    } else {
        wgsl_module!("../../shaders/volume/pixel_f32.wgsl")
    }
}

/// The text of a ray caster for voxels of WGSL type `cell`.
fn ray_caster(cell: &str, features: Features) -> WgslComposer {
    let Features { planes, components, rgba8, passes, lit, preintegrated, interpolation, surfaces } = features;
    let composer = WgslComposer::new()
        .constant("COMPONENTS", components as i32)
        .constant("SUM_BITS", BLOCK_SAMPLES.ilog2())
        .constant("SIDE_BITS", BLOCK.ilog2())
        .alias("Cell", cell)
        .module(colour::WGSL)
        .append(rays(planes));
    let composer = if surfaces { composer.constant("FRAGMENT_WORDS", FRAGMENT_WORDS as u32) } else { composer };
    composer.modules([
        wgsl_module!("../../shaders/volume/cells.wgsl"),
        match interpolation {
            Interpolation::Linear => wgsl_module!("../../shaders/volume/linear.wgsl"),
            Interpolation::Nearest => wgsl_module!("../../shaders/volume/nearest.wgsl"),
        },
        wgsl_module!("../../shaders/volume/direct.wgsl"),
        wgsl_module!("../../shaders/volume/decay.wgsl"),
        if preintegrated {
            wgsl_module!("../../shaders/volume/segment.wgsl")
        } else {
            wgsl_module!("../../shaders/volume/point.wgsl")
        },
        wgsl_module!("../../shaders/volume/light.wgsl"),
        if lit {
            wgsl_module!("../../shaders/volume/shading.wgsl")
        } else {
            wgsl_module!("../../shaders/volume/unlit.wgsl")
        },
        format_of_pixels(rgba8),
        if rgba8 {
            wgsl_module!("../../shaders/volume/hidden_rgba8.wgsl")
        } else {
            wgsl_module!("../../shaders/volume/hidden_f32.wgsl")
        },
        if passes {
            wgsl_module!("../../shaders/volume/passes.wgsl")
        } else {
            wgsl_module!("../../shaders/volume/one_pass.wgsl")
        },
        if surfaces {
            wgsl_module!("../../shaders/surface/on_ray.wgsl")
        } else {
            wgsl_module!("../../shaders/surface/none.wgsl")
        },
        wgsl_module!("../../shaders/volume/march.wgsl"),
    ])
}

/// The texts of ray casters with all features for voxels of 32-bit floats, and with some for other
/// voxels; with names.
#[cfg(test)]
pub(super) fn ray_caster_texts() -> Vec<(String, WgslComposer)> {
    let mut texts = Vec::new();
    for cell in ["f32", "i32", "u32"] {
        for components in [1, 2, 4] {
            for bits in 0..if cell == "f32" { 64 } else { 4 } {
                let has = |bit: u32| bits >> bit & 1 == 1;
                let interpolation = if has(1) { Interpolation::Nearest } else { Interpolation::Linear };
                let features = Features {
                    planes: if has(0) { MAX_CLIP_PLANES } else { 0 },
                    components,
                    rgba8: has(2),
                    passes: has(3),
                    lit: has(0),
                    preintegrated: has(4),
                    interpolation,
                    surfaces: has(5),
                };
                texts.push((format!("{features:?} of {cell}"), ray_caster(cell, features)));
            }
        }
    }
    texts
}

/// Parameters of a view, in the order of `struct View`.
pub(super) type ViewParameters = [(&'static str, ParamValue)];

/// Parameters that all layers of an image share; `direct` scales the components of a direct colour
/// to 0 to 1.
pub(super) fn picture_parameters(
    look: &Look,
    view: &View,
    classes: &Classes,
    direct: f32,
) -> Vec<(&'static str, ParamValue)> {
    let (first_value, per_value) = classes.scale();
    let [depth_unit, colour_unit] = classes.units();
    let Shading { ambient, diffuse, specular, shininess } = look.shading.unwrap_or_default();
    vec![
        ("eye", view.eye.into()),
        ("sample_distance", view.step.into()),
        ("forward", view.forward.into()),
        ("bend", if view.parallel { 0.0_f32 } else { 1.0 }.into()),
        ("right", view.right.into()),
        ("first_value", first_value.into()),
        ("up", view.up.into()),
        ("per_value", per_value.into()),
        ("per_length", view.per_length.into()),
        ("last_entry", ((classes.count() - 1) as f32).into()),
        ("cells", view.cells.into()),
        ("jitter", if view.jitter { 1.0_f32 } else { 0.0 }.into()),
        ("crop_low", view.low.into()),
        ("depth_unit", depth_unit.into()),
        ("crop_high", view.high.into()),
        ("colour_unit", colour_unit.into()),
        ("light", [ambient, diffuse, specular, shininess].map(|part| part as f32).into()),
        ("planes", view.planes.into()),
        ("directions", columns(&view.directions).into()),
        ("inverse", columns(&view.inverse).into()),
        ("size", [view.width as i32, view.height as i32].into()),
        ("direct", direct.into()),
    ]
}

/// Columns of a matrix, padded as WGSL arrays require.
fn columns(matrix: &[[f32; 3]; 3]) -> [[f32; 4]; 3] {
    matrix.map(|[x, y, z]| [x, y, z, 0.0])
}

/// Factor that scales a component of a direct colour to 0 to 1.
pub(super) fn direct<T: Element>() -> f32 {
    match T::INFO.kind {
        ElementKind::Packed(Packed::I8) => 1.0 / 127.0,
        ElementKind::Packed(Packed::U8) => 1.0 / 255.0,
        ElementKind::Packed(Packed::I16) => 1.0 / 32_767.0,
        ElementKind::Packed(Packed::U16) => 1.0 / 65_535.0,
        ElementKind::Scalar(Scalar::I32) => 1.0 / i32::MAX as f32,
        ElementKind::Scalar(Scalar::U32) => 1.0 / u32::MAX as f32,
        _ => 1.0,
    }
}
