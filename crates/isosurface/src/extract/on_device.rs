//! Extraction by kernels into arrays on the device.

use zippy::Result;
use zippy::collective::CollectiveWorld;

use super::by_kernels::{classify, sections};
use crate::device_mesh::DeviceMesh;
use crate::error::IsosurfaceError;
use crate::field::attribute::Attribute;
use crate::field::view::View;

/// Fills device arrays with the surface of an isovalue and the values of a further field.
/// Collective.
pub(super) fn fill(view: &View<'_>, isovalue: f32, field: Option<&dyn Attribute>, to: &mut DeviceMesh) -> Result<()> {
    let world = view.world;
    let none = |what: &str| IsosurfaceError::NoKernels(what.to_string());
    let Some(kernels) = view.kernels else { return Err(none("of this field").into()) };
    let field = view.fitted(field.as_slice())?.pop();
    if let Some((name, field)) = &field
        && !field.element().is_some_and(|element| kernels.read(element))
    {
        return Err(none(&format!("with values of {name:?}")).into());
    }
    let Some(classified) = classify(view, kernels, &[isovalue], false)? else {
        return Err(IsosurfaceError::NoRoom(world.limits().buffer_bytes).into());
    };
    world.failing("extracting an isosurface", || {
        view.timed(|| {
            kernels.upload(&classified.counted.numbers)?;
            let generator = classified.generator(view, kernels, 0);
            generator.positions(view.grid, &mut to.positions)?;
            if view.normals {
                generator.normals(view.grid, &mut to.normals)?;
            }
            if let Some((_, field)) = &field {
                let along = &mut kernels.mesh_arrays.borrow_mut().along;
                generator.along(along)?;
                generator.values(&sections(view, |chunk| field.section(chunk)), along, &mut to.values)?;
            }
            generator.triangles(classified.counted.triangles[0], view.mirrored, &mut to.triangles)?;
            to.own = classified.counts[0][0];
            (to.has_normals, to.has_values) = (view.normals, field.is_some());
            Ok(())
        })
    })
}
