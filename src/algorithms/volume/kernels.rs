//! The ray caster's text, put together from parts for what a picture needs, and compiled once for each combination.

use std::cell::RefCell;
use std::collections::HashMap;

use super::transfer::TransferTable;
use super::view::View;
use crate::error::Result;
use crate::kernel::{Kernel, KernelSource, ParamValue};
use crate::world::World;

/// What changes the ray caster's text: everything else is data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Features {
    /// Voxel cells of each place, in a row.
    pub components: usize,
    /// Whether pixels have 8 bits a component instead of 32.
    pub rgba8: bool,
    /// Whether rays take several passes.
    pub passes: bool,
}

/// The ray casters of a volume.
pub(super) struct Kernels<'w> {
    world: &'w World,
    /// What WGSL sees voxels as.
    cell: &'static str,
    made: RefCell<HashMap<Features, Kernel>>,
}

impl<'w> Kernels<'w> {
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
        let kernel = self.world.kernel(KernelSource::text("shaders/volume/march.wgsl", text(self.cell, features)))?;
        self.made.borrow_mut().insert(features, kernel.clone());
        Ok(kernel)
    }
}

/// All parts in a row.
fn text(cell: &str, features: Features) -> String {
    let Features { components, rgba8, passes } = features;
    let head = format!("const COMPONENTS = {components};\n");
    let cells = include_str!("../../../shaders/volume/cells.wgsl").replace("CELL", cell);
    let parts = [
        head.as_str(),
        include_str!("../../../shaders/volume/rays.wgsl"),
        include_str!("../../../shaders/volume/limits.wgsl"),
        &cells,
        include_str!("../../../shaders/volume/classify.wgsl"),
        match rgba8 {
            true => include_str!("../../../shaders/volume/pixel_rgba8.wgsl"),
            false => include_str!("../../../shaders/volume/pixel_f32.wgsl"),
        },
        match passes {
            true => include_str!("../../../shaders/volume/passes.wgsl"),
            false => include_str!("../../../shaders/volume/one_pass.wgsl"),
        },
        include_str!("../../../shaders/volume/march.wgsl"),
    ];
    parts.concat()
}

/// The parameters that are the same for all layers of a picture.
pub(super) fn of_picture(view: &View, table: &TransferTable) -> Vec<(&'static str, ParamValue)> {
    vec![
        ("eye", view.eye.into()),
        ("sample_distance", view.step.into()),
        ("forward", view.forward.into()),
        ("bend", if view.parallel { 0.0_f32 } else { 1.0 }.into()),
        ("right", view.right.into()),
        ("first_value", table.first.into()),
        ("up", view.up.into()),
        ("per_value", table.per_value.into()),
        ("per_length", view.per_length.into()),
        ("last_entry", ((table.entries.len() - 1) as f32).into()),
        ("cells", view.cells.into()),
        ("size", [view.width as i32, view.height as i32].into()),
    ]
}
