//! The ray caster's text, put together from parts for what a picture needs, and compiled once for each combination.

use std::cell::RefCell;
use std::collections::HashMap;

use zippy::Result;
use zippy::device::{colour, has_wide_vectors};
use zippy::element::{Element, ElementKind, Packed, Scalar};
use zippy::kernel::{Kernel, KernelSource, ParamValue};
use zippy::world::World;

use super::classes::Classes;
use super::look::{Interpolation, Look, Shading};
use super::view::View;

/// What changes the ray caster's text: everything else is data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Features {
    /// Clip planes.
    pub planes: usize,
    /// Voxel cells of each place, in a row.
    pub components: usize,
    /// Whether pixels have 8 bits a component instead of 32.
    pub rgba8: bool,
    /// Whether rays take several passes.
    pub passes: bool,
    /// Whether there is light.
    pub lit: bool,
    /// Whether the transfer function is integrated between samples.
    pub preintegrated: bool,
    /// How values between voxels are found.
    pub interpolation: Interpolation,
    /// Whether surfaces stand in the volume.
    pub surfaces: bool,
}

impl Features {
    /// Those of a look; the last three are `rgba8`, `passes` and `surfaces`.
    pub fn of(look: &Look, components: usize, [rgba8, passes, surfaces]: [bool; 3]) -> Self {
        let (planes, lit) = (look.clip.len(), look.shading.is_some());
        let Look { preintegrated, interpolation, .. } = *look;
        Self { planes, components, rgba8, passes, lit, preintegrated, interpolation, surfaces }
    }
}

/// The ray casters of a volume.
pub(super) struct RayCasters<'w> {
    world: &'w World,
    /// What WGSL sees voxels as.
    cell: &'static str,
    made: RefCell<HashMap<Features, Kernel>>,
}

impl<'w> RayCasters<'w> {
    /// For voxels that WGSL sees as `cell`. Local; compiles nothing yet.
    pub fn new(world: &'w World, cell: &'static str) -> Self {
        Self { world, cell, made: RefCell::default() }
    }

    /// The ray caster with these features. Local.
    ///
    /// # Errors
    /// Its text is wrong.
    pub fn get(&self, features: Features) -> Result<Kernel> {
        if let Some(kernel) = self.made.borrow().get(&features) {
            return Ok(kernel.clone());
        }
        let source = KernelSource::text("shaders/volume/march.wgsl", text(self.cell, features));
        let kernel = self.world.kernel(source.prefer_driver(has_wide_vectors()))?;
        self.made.borrow_mut().insert(features, kernel.clone());
        Ok(kernel)
    }
}

/// The parts that shaders of surfaces need.
pub(super) fn rays_and_light(planes: usize) -> String {
    let head = format!("const PLANES = {planes};\n");
    let parts = [
        head.as_str(),
        include_str!("../../shaders/volume/view.wgsl"),
        include_str!("../../shaders/volume/decay.wgsl"),
        include_str!("../../shaders/volume/light.wgsl"),
    ];
    parts.concat()
}

/// The format of the pixels of layers.
pub(super) fn format_of_pixels(rgba8: bool) -> &'static str {
    match rgba8 {
        true => include_str!("../../shaders/volume/pixel_rgba8.wgsl"),
        false => include_str!("../../shaders/volume/pixel_f32.wgsl"),
    }
}

/// All parts in a row.
fn text(cell: &str, features: Features) -> String {
    let Features { planes, components, rgba8, passes, lit, preintegrated, interpolation, surfaces } = features;
    let head = format!("const PLANES = {planes};\nconst COMPONENTS = {components};\n");
    let cells = include_str!("../../shaders/volume/cells.wgsl").replace("CELL", cell);
    let parts = [
        head.as_str(),
        colour::WGSL,
        include_str!("../../shaders/volume/view.wgsl"),
        &cells,
        match interpolation {
            Interpolation::Linear => include_str!("../../shaders/volume/linear.wgsl"),
            Interpolation::Nearest => include_str!("../../shaders/volume/nearest.wgsl"),
        },
        include_str!("../../shaders/volume/direct.wgsl"),
        include_str!("../../shaders/volume/decay.wgsl"),
        match preintegrated {
            true => include_str!("../../shaders/volume/segment.wgsl"),
            false => include_str!("../../shaders/volume/point.wgsl"),
        },
        include_str!("../../shaders/volume/light.wgsl"),
        match lit {
            true => include_str!("../../shaders/volume/shading.wgsl"),
            false => include_str!("../../shaders/volume/unlit.wgsl"),
        },
        format_of_pixels(rgba8),
        match rgba8 {
            true => include_str!("../../shaders/volume/hidden_rgba8.wgsl"),
            false => include_str!("../../shaders/volume/hidden_f32.wgsl"),
        },
        match passes {
            true => include_str!("../../shaders/volume/passes.wgsl"),
            false => include_str!("../../shaders/volume/one_pass.wgsl"),
        },
        match surfaces {
            true => include_str!("../../shaders/surface/on_ray.wgsl"),
            false => include_str!("../../shaders/surface/none.wgsl"),
        },
        include_str!("../../shaders/volume/march.wgsl"),
    ];
    parts.concat()
}

/// The parameters of a view, in the order of `struct View`.
pub(super) type ViewParameters = [(&'static str, ParamValue)];

/// The parameters that are the same for all layers of a picture. `direct` makes a component of a direct colour 0 to 1.
pub(super) fn of_picture(look: &Look, view: &View, classes: &Classes, direct: f32) -> Vec<(&'static str, ParamValue)> {
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

/// Columns of a matrix as arrays of WGSL have them.
fn columns(matrix: &[[f32; 3]; 3]) -> [[f32; 4]; 3] {
    matrix.map(|[x, y, z]| [x, y, z, 0.0])
}

/// What makes a component of a direct colour 0 to 1.
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
