//! How a [`VolumeRenderer`] takes surfaces.

use zippy::Result;
use zippy::element::Element;
use zippy::error::CallSite;

use super::VolumeRenderer;
use crate::volume::surface::{DeviceTriangles, Intake, Surface, Triangles};

impl<T: Element> VolumeRenderer<'_, T> {
    /// A surface in the volume from each rank's part of it, whatever boxes of the volume that is from; see
    /// [`set_surface`](Self::set_surface). Its arrays are called `name` and a suffix. Collective.
    ///
    /// # Errors
    /// As [`set_surface`](Self::set_surface).
    #[track_caller]
    pub fn surface(&self, name: &str, triangles: &Triangles) -> Result<Surface> {
        let _call = CallSite::enter();
        let surface = Surface::new(self.world, name, &self.dealt);
        let mut surface = self.world.agree(&format!("surface({name:?})"), surface)?;
        self.set_surface(&mut surface, triangles)?;
        Ok(surface)
    }

    /// Gives a surface other triangles. Collective; each goes to the ranks whose bricks it reaches into. What lies outside
    /// of the volume is not seen. After an error the surface has no triangles.
    ///
    /// A call site warns once, in the first of these cases:
    ///
    /// * More than half of the triangles lie outside of the volume.
    /// * Neighbouring `f32` positions at the far end of the volume are more than a sixteenth of the
    ///   least spacing apart.
    ///
    /// # Errors
    /// Lists of triangles that do not go together; more on a rank than a buffer holds, at 28 bytes a vertex and 12 a triangle;
    /// no memory, or a failure of this or of another rank.
    #[track_caller]
    pub fn set_surface(&self, surface: &mut Surface, triangles: &Triangles) -> Result<()> {
        let _call = CallSite::enter();
        surface.replace(&self.dealt, |surface| surface.take(self.world, triangles))
    }

    /// [`surface`](Self::surface) from arrays on the device; see
    /// [`set_surface_on_device`](Self::set_surface_on_device). Collective.
    ///
    /// # Errors
    /// As [`set_surface_on_device`](Self::set_surface_on_device).
    #[track_caller]
    pub fn surface_on_device(&self, name: &str, triangles: &DeviceTriangles) -> Result<Surface> {
        let _call = CallSite::enter();
        let surface = Surface::new(self.world, name, &self.dealt);
        let mut surface = self.world.agree(&format!("surface({name:?})"), surface)?;
        self.set_surface_on_device(&mut surface, triangles)?;
        Ok(surface)
    }

    /// Gives a surface other triangles, which are in arrays on each rank's device: the same picture, to the bit, as of
    /// [`set_surface`](Self::set_surface). Collective. The arrays are read and not kept, so that they can be filled anew
    /// afterwards. Kernels find where triangles are; only those that come near bricks of other ranks are read back, and go to
    /// these, and those that may reach into more than 64 bricks. The renderer keeps the list of them, 96 bytes each, at its
    /// largest. After an error the surface has no triangles.
    ///
    /// # Errors
    /// Arrays that do not go together, positions or normals that are not finite, triangles of vertices that are not there;
    /// voxels further apart than 8.5e37, or nearer than 3e-39; more on a rank than a buffer holds, at 28 bytes a vertex and 12 a
    /// triangle; no memory, or a failure of this or of another rank.
    #[track_caller]
    pub fn set_surface_on_device(&self, surface: &mut Surface, triangles: &DeviceTriangles) -> Result<()> {
        let _call = CallSite::enter();
        surface.replace(&self.dealt, |surface| {
            let mut intake = self.intake.borrow_mut();
            if intake.is_none() {
                let made = Intake::new(self.world, &format!("{}.surfaces", self.name));
                *intake = Some(self.world.agree("making room for surfaces", made)?);
            }
            let intake = intake.as_mut().expect("just made");
            surface.take_from_device(self.world, intake, triangles)
        })
    }
}
