//! Ray caster on the CPU: the reference implementation for the shader.

use zippy::Grid;
use zippy::device::colour::{over, saturate_opacity};
use zippy_io::image::Image;

use super::cells::{locate, value_at};
use super::classes::Classes;
use super::integrals::IntegralTable;
use super::look::{Interpolation, Look, Shading};
use super::shading::{gradient_of, lit};
use super::transfer::TransferTable;
use super::view::View;
use crate::error::RenderError;

/// Number of samples that are blended among themselves before they join the pixel. Small partial
/// sums limit rounding.
pub(super) const BLOCK: u32 = 32;

/// Ray caster on the CPU with all features of a [`Look`]; equivalent to
/// `shaders/volume/march.wgsl`. Local; cost: eight voxels per sample, and 32 more with light.
///
/// ```
/// use zippy_render::volume::{Camera, Look, TransferFunction, Twin};
///
/// // A ramp along axis 2, seen as a whole.
/// let (shape, spacing) = ([9, 9, 9], [1.0; 3]);
/// let camera = Camera::overview(shape, spacing);
/// let look = Look { size: (8, 8), ..Look::new(camera, TransferFunction::ramp(0.0, 8.0)) };
/// let twin = Twin::new(&look, shape, spacing, |[_, _, z]| z as f32)?;
/// assert!(twin.picture(&[([0; 3], [8; 3])]).pixels[8 * 4 + 4][3] > 0.1);
/// # Ok::<(), zippy_render::RenderError>(())
/// ```
pub struct Twin<V> {
    /// Rays of the image.
    pub view: View,
    classes: Classes,
    light: Option<Shading>,
    interpolation: Interpolation,
    components: i32,
    /// Factor that scales a component of a direct colour to 0 to 1.
    scale: f32,
    /// Alpha from which a pixel becomes opaque.
    opaque: f32,
    voxel: V,
}

impl<V: Fn([i32; 3]) -> f32> Twin<V> {
    /// Ray caster of a volume of `shape` voxels of one component on a grid; `voxel` returns the
    /// value at a global coordinate.
    ///
    /// # Errors
    /// As [`View::of`], or the transfer function is malformed.
    pub fn new(look: &Look, shape: [i64; 3], grid: impl Into<Grid>, voxel: V) -> Result<Self, RenderError> {
        Self::with_components(look, shape, grid, (1, 1.0), voxel)
    }

    /// Ray caster of voxels with several components, interleaved on axis 0: `voxel` is called with
    /// `[components * x + component, y, z]`.
    ///
    /// - Two components: colour, opacity.
    /// - Four components: red, green and blue, multiplied by `scale`, and opacity.
    ///
    /// # Errors
    /// As [`View::of`]; the transfer function is malformed; `components` is not one, two or four.
    pub fn with_components(
        look: &Look,
        shape: [i64; 3],
        grid: impl Into<Grid>,
        (components, scale): (usize, f32),
        voxel: V,
    ) -> Result<Self, RenderError> {
        if ![1, 2, 4].contains(&components) {
            let message = format!("voxels of {components} components cannot be rendered; one, two and four can");
            return Err(RenderError::Volume(message));
        }
        let view = View::of(look, shape, grid)?;
        let classes = Classes::of(look, components)?;
        let (components, opaque) = (components as i32, 1.0 - look.ends_at());
        let (light, interpolation) = (look.shading, look.interpolation);
        Ok(Self { view, classes, light, interpolation, components, scale, opaque, voxel })
    }

    /// Casts boxes of cells, `(start, end)` half-open, front first, and blends the fragments of
    /// every pixel in this order.
    pub fn picture(&self, boxes: &[([i32; 3], [i32; 3])]) -> Image {
        let mut image = Image::new(self.view.width as usize, self.view.height as usize);
        for (index, pixel) in image.pixels.iter_mut().enumerate() {
            let (column, row) = (index as u32 % self.view.width, index as u32 / self.view.width);
            for &cells in boxes {
                *pixel = saturate_opacity(over(*pixel, self.fragment((column, row), cells)), self.opaque);
            }
        }
        image
    }

    /// Blended samples of a pixel in one box of cells, front to back, until the pixel is opaque.
    pub fn fragment(&self, (column, row): (u32, u32), (start, end): ([i32; 3], [i32; 3])) -> [f32; 4] {
        let ray = self.view.ray(column, row);
        let towards = self.unit(ray.delta);
        // The ends of segments may lie one cell outside.
        let around: [[i32; 3]; 2] = [start.map(|c| c - 1), end.map(|c| c + 1)];
        let around = around.map(|corner| std::array::from_fn(|axis| corner[axis].clamp(0, self.view.cells[axis])));
        let (mut accumulated, mut samples) = ([0.0; 4], ray.samples_in(self.view.cells, start, end));
        while !samples.is_empty() && accumulated[3] < 1.0 {
            // Partial sums start at fixed samples, so that a complete sum has the same bits in
            // every box.
            let stop = ((samples.start / BLOCK + 1) * BLOCK).min(samples.end);
            let mut sum = [0.0; 4];
            for sample in samples.start..stop {
                let (cell, share) = locate(ray.position(sample), [start, end]);
                let mut colour = match &self.classes {
                    Classes::Points(table) => self.point(table, cell, share),
                    Classes::Segments(table) => {
                        let ends = [sample, sample + 1].map(|steps| locate(ray.at(steps as f32), around));
                        self.segment(table, ends)
                    }
                };
                if let Some(light) = &self.light {
                    colour = self.lit(colour, (cell, share), towards, light);
                }
                sum = over(sum, colour);
            }
            accumulated = saturate_opacity(over(accumulated, sum), self.opaque);
            samples.start = stop;
        }
        accumulated
    }

    fn lit(
        &self,
        colour: [f32; 4],
        (cell, share): ([i32; 3], [f32; 3]),
        towards: [f32; 3],
        light: &Shading,
    ) -> [f32; 4] {
        let last = |p| self.component(p, self.components - 1);
        let gradient = gradient_of(last, cell, self.view.cells, share);
        lit(colour, self.view.gradient_in_space(gradient), towards, light)
    }

    fn component(&self, [x, y, z]: [i32; 3], component: i32) -> f32 {
        (self.voxel)([self.components * x + component, y, z])
    }

    fn value(&self, component: i32, cell: [i32; 3], share: [f32; 3]) -> f32 {
        value_at(&|p| self.component(p, component), self.interpolation, cell, share)
    }

    fn direct(&self, value: f32) -> f32 {
        (value * self.scale).clamp(0.0, 1.0)
    }

    /// Premultiplied colour and alpha of a sample; equivalent to `shaders/volume/point.wgsl`.
    fn point(&self, table: &TransferTable, cell: [i32; 3], share: [f32; 3]) -> [f32; 4] {
        let value = |component| self.value(component, cell, share);
        let [mut red, mut green, mut blue, _] = table.sample(value(0));
        let alpha = table.sample(value(self.components - 1))[3];
        if self.components == 4 {
            [red, green, blue] = [0, 1, 2].map(|component| self.direct(value(component)));
        }
        [red * alpha, green * alpha, blue * alpha, alpha]
    }

    /// Premultiplied colour and alpha of the segment between two positions; equivalent to
    /// `shaders/volume/segment.wgsl`.
    fn segment(&self, table: &IntegralTable, ends: [([i32; 3], [f32; 3]); 2]) -> [f32; 4] {
        let values = |component| ends.map(|(cell, share)| self.value(component, cell, share));
        let depth = values(self.components - 1).map(|value| table.position_in(value));
        let mut colour = table.segment(depth, values(0).map(|value| table.position_in(value)));
        if self.components == 4 {
            for component in 0..3 {
                let [front, back] = values(component).map(|value| self.direct(value));
                colour[component as usize] = 0.5 * (front + back) * colour[3];
            }
        }
        colour
    }

    /// Normalises a direction in voxels to length 1 in space.
    fn unit(&self, delta: [f32; 3]) -> [f32; 3] {
        let v = self.view.to_space(delta);
        let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
        v.map(|part| part / length)
    }
}
