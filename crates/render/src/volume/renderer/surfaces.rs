//! Surfaces of a [`VolumeRenderer`].

use zippy::Result;
use zippy::element::Element;
use zippy::error::CallSite;

use super::VolumeRenderer;
use crate::volume::surface::{DeviceTriangles, Surface, TriangleImport, Triangles};

impl<T: Element> VolumeRenderer<'_, T> {
    /// Creates a surface in the volume from each rank's part of its triangles, in any boxes of the
    /// volume; see [`set_surface`](Self::set_surface). Its arrays are named `name` and a suffix.
    /// Collective.
    ///
    /// # Errors
    /// As [`set_surface`](Self::set_surface).
    #[track_caller]
    pub fn surface(&self, name: &str, triangles: &Triangles<'_>) -> Result<Surface> {
        let _call = CallSite::enter();
        let surface = Surface::new(self.world, name, &self.brick_owners);
        let mut surface = self.world.agree(&format!("surface({name:?})"), surface)?;
        self.set_surface(&mut surface, triangles)?;
        Ok(surface)
    }

    /// Replaces the triangles of a surface. Collective; each triangle goes to the ranks whose
    /// bricks it may cross. Parts outside of the volume are invisible. After an error the surface
    /// has no triangles.
    ///
    /// A call site warns once, in the first of these cases:
    ///
    /// * More than half of the triangles lie outside of the volume.
    /// * Neighbouring `f32` positions at the far end of the volume are more than a sixteenth of the
    ///   least spacing apart.
    ///
    /// # Errors
    /// Inconsistent lists of triangles; more on a rank than a buffer holds, at 28 bytes per vertex
    /// and 12 per triangle; no memory, or a failure of this or another rank.
    #[track_caller]
    pub fn set_surface(&self, surface: &mut Surface, triangles: &Triangles<'_>) -> Result<()> {
        let _call = CallSite::enter();
        surface.replace(&self.brick_owners, |surface| surface.take(self.world, triangles))
    }

    /// [`surface`](Self::surface) from arrays on the device; see
    /// [`set_surface_on_device`](Self::set_surface_on_device). Collective.
    ///
    /// # Errors
    /// As [`set_surface_on_device`](Self::set_surface_on_device).
    #[track_caller]
    pub fn surface_on_device(&self, name: &str, triangles: &DeviceTriangles<'_>) -> Result<Surface> {
        let _call = CallSite::enter();
        let surface = Surface::new(self.world, name, &self.brick_owners);
        let mut surface = self.world.agree(&format!("surface({name:?})"), surface)?;
        self.set_surface_on_device(&mut surface, triangles)?;
        Ok(surface)
    }

    /// Replaces the triangles of a surface by triangles in arrays on each rank's device.
    /// Collective. Images have the same bits as with [`set_surface`](Self::set_surface). After an
    /// error the surface has no triangles.
    ///
    /// The call reads the arrays and does not keep them. Kernels locate the triangles. Only
    /// triangles near bricks of other ranks, or with more than 64 bricks in reach, are read back;
    /// the former are sent to these ranks. The renderer keeps this list, 96 bytes per triangle, at
    /// its largest size.
    ///
    /// # Errors
    /// - Inconsistent arrays, positions or normals that are not finite, vertex indices out of
    ///   range.
    /// - Voxels further apart than 8.5e37, or nearer than 3e-39.
    /// - More on a rank than a buffer holds, at 28 bytes per vertex and 12 per triangle.
    /// - No memory, or a failure of this or another rank.
    #[track_caller]
    pub fn set_surface_on_device(&self, surface: &mut Surface, triangles: &DeviceTriangles<'_>) -> Result<()> {
        let _call = CallSite::enter();
        surface.replace(&self.brick_owners, |surface| {
            let mut intake = self.intake.borrow_mut();
            if intake.is_none() {
                let made = TriangleImport::new(self.world, &format!("{}.surfaces", self.name));
                *intake = Some(self.world.agree("allocating surfaces", made)?);
            }
            let intake = intake.as_mut().expect("just made");
            surface.take_from_device(self.world, intake, triangles)
        })
    }
}
