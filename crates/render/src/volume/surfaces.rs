//! How a [`VolumeRenderer`] takes surfaces.

use zippy::Result;
use zippy::element::Element;

use super::renderer::VolumeRenderer;
use super::surface::{DeviceTriangles, Intake, Surface, Triangles};

impl<T: Element> VolumeRenderer<'_, T> {
    /// A surface in the volume from each rank's part of it, whatever boxes of the volume that is from; see
    /// [`set_surface`](Self::set_surface). Its arrays are called `name` and a suffix. Collective.
    ///
    /// # Errors
    /// As [`set_surface`](Self::set_surface), and a name that is taken.
    pub fn surface(&self, name: &str, triangles: &Triangles) -> Result<Surface> {
        let surface = Surface::new(self.world, name, &self.dealt);
        let mut surface = self.world.agree("making a surface", surface)?;
        self.set_surface(&mut surface, triangles)?;
        Ok(surface)
    }

    /// Gives a surface other triangles. Collective; each goes to the ranks whose bricks it reaches into. What lies outside
    /// of the volume is not seen. After an error the surface has no triangles.
    ///
    /// # Errors
    /// Lists of triangles that do not go together, no memory, or a failure of this or of another rank.
    pub fn set_surface(&self, surface: &mut Surface, triangles: &Triangles) -> Result<()> {
        surface.set(self.world, &self.dealt, triangles)
    }

    /// [`surface`](Self::surface) from arrays on the device; see
    /// [`set_surface_on_device`](Self::set_surface_on_device). Collective.
    ///
    /// # Errors
    /// As [`set_surface_on_device`](Self::set_surface_on_device), and a name that is taken.
    pub fn surface_on_device(&self, name: &str, triangles: &DeviceTriangles) -> Result<Surface> {
        let surface = Surface::new(self.world, name, &self.dealt);
        let mut surface = self.world.agree("making a surface", surface)?;
        self.set_surface_on_device(&mut surface, triangles)?;
        Ok(surface)
    }

    /// Gives a surface other triangles, which are in arrays on each rank's device: the same picture, to the bit, as of
    /// [`set_surface`](Self::set_surface). Collective. The arrays are read and not kept, so that they can be filled anew
    /// afterwards. Kernels find where triangles are; only those that come near bricks of other ranks are read back, and go to
    /// these. After an error the surface has no triangles.
    ///
    /// # Errors
    /// Arrays that do not go together, positions or normals that are not finite, triangles of vertices that are not there;
    /// voxels so far apart that `f32` does not have the distance; no memory, or a failure of this or of another rank.
    pub fn set_surface_on_device(&self, surface: &mut Surface, triangles: &DeviceTriangles) -> Result<()> {
        let mut intake = self.intake.borrow_mut();
        if intake.is_none() {
            let made = Intake::new(self.world, &format!("{}.surfaces", self.name));
            *intake = Some(self.world.agree("making room for surfaces", made)?);
        }
        let intake = intake.as_mut().expect("just made");
        surface.set_on_device(self.world, &self.dealt, intake, triangles)
    }
}
