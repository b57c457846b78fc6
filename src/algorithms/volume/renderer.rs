//! [`VolumeRenderer`]: a distributed volume into one picture, with kernels and global-array operations only.

use std::time::Instant;

use super::camera::Camera;
use super::order::depth_order;
use super::space::Space;
use super::transfer::{TransferFunction, TransferTable};
use super::view::{MAX_SAMPLES, View};
use crate::algorithms::compositing::{BINARY, swap};
use crate::algorithms::image::Image;
use crate::array::{ChunkRef, GlobalArray, LocalArray};
use crate::element::{Element, ElementKind, Scalar};
use crate::error::{RenderError, Result};
use crate::kernel::{Kernel, KernelSource};
use crate::layout::{Layout, Split};
use crate::plan::Moved;
use crate::world::World;

type Pixels = GlobalArray<[f32; 4], 3>;

/// Renders one distributed volume from any camera, sort-last: each chunk is cast where it lives, the partial pictures are
/// blended by binary swap.
pub struct VolumeRenderer<'w, T> {
    world: &'w World,
    volume: GlobalArray<T, 3>,
    spacing: [f64; 3],
    size: (u32, u32),
    /// One partial picture for each chunk, on the chunk's owner.
    partial: Pixels,
    /// The blended picture, on the control rank.
    finished: Pixels,
    kernel: Kernel,
    space: Space<'w>,
    /// Which blocks of each chunk of this rank may be visible.
    occupied: Vec<LocalArray<u32, 3>>,
}

/// A rendered picture and what it took on this rank.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The picture, on rank 0; `None` elsewhere.
    pub image: Option<Image>,
    /// Seconds of ray casting, until the device was done.
    pub cast_secs: f64,
    /// Seconds of blending.
    pub composite_secs: f64,
    /// Seconds to read the picture back, on rank 0.
    pub read_secs: f64,
    /// What blending moved on this rank.
    pub moved: Moved,
}

impl<'w, T: Element> VolumeRenderer<'w, T> {
    /// A renderer of `volume` for pictures of `size` (width, height). The volume needs one ghost cell on the upper side of
    /// each axis, up to date whenever it is rendered; how it is cut does not matter as long as its chunks have a depth
    /// order. `spacing` is the distance of voxels along each axis. Collective; makes the arrays `<volume>.partial` and
    /// `<volume>.finished`.
    ///
    /// # Errors
    /// Cells that are not one number each, missing ghost cells, an axis of fewer than two voxels, a name that is taken, or
    /// no memory.
    pub fn new(world: &'w World, volume: &GlobalArray<T, 3>, spacing: [f64; 3], size: (u32, u32)) -> Result<Self> {
        let cell = match T::INFO.kind {
            ElementKind::Packed(_) | ElementKind::Scalar(Scalar::U32) => "u32",
            ElementKind::Scalar(Scalar::I32) => "i32",
            ElementKind::Scalar(Scalar::F32) => "f32",
            _ => {
                let message = format!("cells of {} cannot be rendered; i8 to u32 and f32 can", T::INFO.name);
                return Err(RenderError::Volume(message).into());
            }
        };
        let chunks = volume.core().chunks();
        if chunks.count() > 1 && chunks.ghost_hi().iter().any(|&width| width < 1) {
            let message = format!("array \"{}\" needs one ghost cell on the upper side of each axis", volume.name());
            return Err(RenderError::Volume(message).into());
        }
        // Shape, spacing and size are checked here, before arrays are made, whatever the camera will be.
        let coarse = spacing.iter().fold(0.0, |most: f64, &s| most.max(s));
        View::new(&Camera::overview(volume.shape(), spacing), size, volume.shape(), spacing, coarse)?;
        let (width, height) = (i64::from(size.0), i64::from(size.1));
        let count = chunks.count();
        let layers = Layout::new([width, height, count as i64]).split([Split::Whole, Split::Whole, Split::Even(count)]);
        let name = volume.name();
        let partial =
            world.array_owned(&format!("{name}.partial"), &layers, volume.core().ownership().as_ref().clone())?;
        let finished =
            world.array(&format!("{name}.finished"), &Layout::new([width, height, 1]).split_all(Split::Whole))?;
        let text = concat!(include_str!("../../../shaders/rays.wgsl"), include_str!("../../../shaders/raycast.wgsl"));
        let text = text.replace("CELL", cell);
        let kernel = world.kernel(KernelSource::text("shaders/raycast.wgsl", text))?;
        let space = Space::new(world, name, cell)?;
        let whole = volume.shape().map(|n| (n - 1) as i32);
        let occupied = volume.chunks().map(|chunk| space.blocks(cells(&chunk, whole))).collect();
        let occupied = world.agree("making a renderer", occupied)?;
        let volume = volume.clone();
        Ok(Self { world, volume, spacing, size, partial, finished, kernel, space, occupied })
    }

    /// Renders: samples every `step` (in the unit of the spacing) through the transfer function. Collective; rank 0 gets
    /// the picture. Communication: that of [`swap`].
    ///
    /// # Errors
    /// A camera, transfer function or step that makes no sense, chunks without a depth order, or a failure of this or of
    /// another rank.
    pub fn render(&self, camera: &Camera, transfer: &TransferFunction, step: f64) -> Result<Frame> {
        let view = View::new(camera, self.size, self.volume.shape(), self.spacing, step)?;
        let table = transfer.table(step)?;
        let chunks = self.volume.core().chunks();
        let boxes: Vec<_> = (0..chunks.count())
            .map(|chunk| {
                let region = chunks.region(chunk);
                (std::array::from_fn(|axis| region.start[axis]), std::array::from_fn(|axis| region.end[axis]))
            })
            .collect();
        let order = depth_order(&boxes, camera, self.spacing)?;

        let start = Instant::now();
        let cast = self.cast(&view, table);
        let cast = cast.and_then(|()| Ok(self.world.gpu().wait()?));
        self.world.agree("ray casting", cast)?;
        let cast_secs = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let moved = swap(self.world, &self.partial, &order, &self.finished, BINARY)?;
        let composite_secs = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let mut image = None;
        for chunk in self.finished.chunks() {
            let pixels = chunk.all().read()?;
            image = Some(Image { width: self.size.0 as usize, height: self.size.1 as usize, pixels });
        }
        Ok(Frame { image, cast_secs, composite_secs, read_secs: start.elapsed().as_secs_f64(), moved })
    }

    /// Casts every chunk of this rank into its partial picture. Local.
    fn cast(&self, view: &View, table: TransferTable) -> Result<()> {
        let table = self.space.table(table)?;
        for ((chunk, picture), occupied) in self.volume.chunks().zip(self.partial.chunks()).zip(&self.occupied) {
            let (low, high) = cells(&chunk, view.cells);
            if (0..3).any(|axis| low[axis] >= high[axis]) {
                picture.all().write(&vec![[0.0; 4]; picture.region().cells() as usize])?;
                continue;
            }
            let origin = origin(&chunk)?;
            self.space.mark(&chunk, origin, (low, high), &table, occupied)?;
            let (mut first, most) = (0, view.most_samples());
            while first == 0 || first < most {
                self.kernel
                    .call()
                    .read("volume", chunk.with_ghosts())
                    .read("transfer", table.entries.all())
                    .read("occupied", occupied.all())
                    .update("image", picture.all())
                    .over(picture.all())
                    .param("eye", view.eye)
                    .param("sample_distance", view.step)
                    .param("forward", view.forward)
                    .param("bend", if view.parallel { 0.0_f32 } else { 1.0 })
                    .param("right", view.right)
                    .param("first_value", table.table.first)
                    .param("up", view.up)
                    .param("per_value", table.table.per_value)
                    .param("per_length", view.per_length)
                    .param("last_entry", (table.table.entries.len() - 1) as f32)
                    .param("cells", view.cells)
                    .param("first_sample", first as i32)
                    .param("low", low)
                    .param("end_sample", (first + MAX_SAMPLES) as i32)
                    .param("high", high)
                    .param("resume", u32::from(first > 0))
                    .param("origin", origin)
                    .param("size", [view.width as i32, view.height as i32])
                    .run()?;
                first += MAX_SAMPLES;
            }
        }
        Ok(())
    }
}

/// The global coordinate of the first voxel that the kernels see.
fn origin<T: Element>(chunk: &ChunkRef<T, 3>) -> Result<[i32; 3]> {
    let start = chunk.with_ghosts().region()?.start;
    Ok(std::array::from_fn(|axis| start[axis] as i32))
}

/// The cells that a chunk of voxels answers for: from its first voxel up to the next chunk's.
fn cells<T: Element>(chunk: &ChunkRef<T, 3>, all: [i32; 3]) -> ([i32; 3], [i32; 3]) {
    let region = chunk.region();
    let low = std::array::from_fn(|axis| region.start[axis] as i32);
    (low, std::array::from_fn(|axis| (region.end[axis] as i32).min(all[axis])))
}
