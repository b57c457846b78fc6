//! [`Fragments`]: fragments of transparent surfaces on this rank, per pixel, front first.

use std::cell::RefCell;

use zippy::array::{Growable, LocalArray};
use zippy::kernel::{Kernel, KernelSource, WgslComposer};
use zippy::{Layout, Operator, Result, World, wgsl_module};
use zippy_primitives::Primitives;

use super::bands::{BandedOutput, binding_bytes};
use super::opaque::Opaque;
use super::rasteriser::{Drawing, Pass, Rasteriser};
use crate::error::RenderError;
use crate::volume::kernels::FRAGMENT_WORDS;

/// Bytes of a fragment.
const BYTES: u64 = 4 * FRAGMENT_WORDS;

/// Maximum number of fragments of a pixel. More would make sorting and casting approach the loop
/// limit of software Vulkan; see `MAX_SAMPLES`.
const MAX_PER_PIXEL: u32 = 2048;

/// Operator of saturating sums.
const SATURATING: &str =
    "fn combine(a: u32, b: u32) -> u32 { return select(a + b, 0xffffffffu, b > 0xffffffffu - a); }";

pub(in crate::volume) struct Fragments<'w> {
    world: &'w World,
    size: (u32, u32),
    /// Number of fragments per pixel, then the offset of the pixel's fragments.
    cursors: LocalArray<u32, 1>,
    /// Per pixel: position of the nearest opaque surface, first fragment, end of the fragments.
    spans: LocalArray<[u32; 4], 1>,
    list: RefCell<Growable<u32>>,
    sort: Kernel,
}

/// The text of the kernel that sorts the fragments of each pixel.
pub(in crate::volume) fn sorting_kernel() -> WgslComposer {
    let composer = WgslComposer::new().constant("FRAGMENT_WORDS", FRAGMENT_WORDS as u32);
    composer.module(wgsl_module!("../../../shaders/surface/fragments.wgsl"))
}

impl<'w> Fragments<'w> {
    pub(crate) fn new(world: &'w World, name: &str, size: (u32, u32)) -> Result<Self> {
        let layout = Layout::new([i64::from(size.0) * i64::from(size.1)]);
        let text = sorting_kernel().compose()?;
        let mut list = world.growable(&format!("{name}.fragments"))?;
        list.set_len(FRAGMENT_WORDS)?;
        Ok(Self {
            world,
            size,
            cursors: world.local_array(&format!("{name}.cursors"), &layout)?,
            spans: world.local_array(&format!("{name}.spans"), &layout)?,
            list: RefCell::new(list),
            sort: world.kernel(KernelSource::text("shaders/surface/fragments.wgsl", text))?,
        })
    }

    /// Draws the fragments of this rank in front of the nearest opaque surface. Local; reads one
    /// number back.
    ///
    /// # Errors
    /// More fragments than a buffer holds, more in a row than a binding holds, or too many in a
    /// pixel.
    pub(super) fn draw(&self, rasteriser: &Rasteriser<'_>, drawing: &Drawing<'_>, opaque: &Opaque<'_>) -> Result<()> {
        self.cursors.all().fill(0)?;
        let nearest = opaque.nearest().local()?;
        let mut total = 0;
        if !drawing.surfaces.is_empty() {
            self.pass(rasteriser, Pass::Count, drawing, opaque, &|_| 0)?;
            let sum = Operator::custom("saturating sum", SATURATING);
            total = self.world.on_rank().combine(&self.cursors, &sum).reduce()?.unwrap_or(0);
            self.check_depth()?;
            self.make_room(total)?;
            self.world.on_rank().combine(&self.cursors, &Operator::Add).inclusive_scan(&self.cursors)?;
            let starts = self.starts(total)?;
            self.pass(rasteriser, Pass::Fill, drawing, opaque, &|row| BYTES * u64::from(starts[row as usize]))?;
        }
        self.sort
            .call()
            .update("fragments", self.list.borrow().all())
            .read("cursors", self.cursors.all())
            .read("nearest", nearest.all())
            .write("spans", self.spans.all())
            .param("total", total)
            .param("pixels", self.cursors.shape()[0] as i32)
            .over(self.spans.all())
            .run()
    }

    fn check_depth(&self) -> Result<()> {
        let deepest = self.world.on_rank().combine(&self.cursors, &Operator::Max).reduce()?.unwrap_or(0);
        if deepest > MAX_PER_PIXEL {
            let message = format!(
                "a pixel has {deepest} overlapping transparent triangles on rank {}; at most {MAX_PER_PIXEL} are possible: \
                 make surfaces opaque",
                self.world.rank(),
            );
            return Err(RenderError::Surface(message).into());
        }
        Ok(())
    }

    fn make_room(&self, total: u32) -> Result<()> {
        let (needed, most) = (BYTES * u64::from(total), self.world.limits().buffer_bytes);
        if needed > most {
            let (width, height) = self.size;
            let message = format!(
                "a picture of {width} x {height} pixels has {total} fragments of transparent surfaces on rank {}, of {BYTES} \
                 bytes each; a buffer here has at most {most} bytes: choose a smaller picture, or make surfaces opaque",
                self.world.rank(),
            );
            return Err(RenderError::Surface(message).into());
        }
        self.list.borrow_mut().set_len(FRAGMENT_WORDS * u64::from(total.max(1)))
    }

    /// First fragment of each row, and the total, from prefix sums over the pixels. An image in one
    /// band needs no sums for its inner rows.
    fn starts(&self, total: u32) -> Result<Vec<u32>> {
        let (row, rows) = (self.size.0 as usize, self.size.1 as usize);
        let most = (4 * row * rows).max((BYTES * u64::from(total)) as usize) as u64;
        if most <= binding_bytes(self.world) {
            return Ok((0..=rows).map(|at| if at == 0 { 0 } else { total }).collect());
        }
        let sums = self.cursors.all().read()?;
        Ok((0..=rows).map(|at| if at == 0 { 0 } else { sums[at * row - 1] }).collect())
    }

    fn pass(
        &self,
        rasteriser: &Rasteriser<'_>,
        pass: Pass,
        drawing: &Drawing<'_>,
        opaque: &Opaque<'_>,
        list_rows: &dyn Fn(u32) -> u64,
    ) -> Result<()> {
        let list = self.list.borrow();
        let leases = (opaque.nearest().local()?.lease()?, self.cursors.lease()?, list.lease()?);
        let (Some(nearest), Some(cursors), Some(list)) = leases else { return Ok(()) };
        let rows = |at| 4 * u64::from(self.size.0) * u64::from(at);
        let nearest = BandedOutput { binding: 2, buffer: nearest.raw(), rows: &rows };
        let cursors = BandedOutput { binding: 3, buffer: cursors.raw(), rows: &rows };
        let list = BandedOutput { binding: 4, buffer: list.raw(), rows: list_rows };
        rasteriser.draw(pass, drawing, &[nearest, cursors, list])?;
        self.cursors.core().mark_written(0);
        self.list.borrow().core().mark_written(0);
        Ok(())
    }

    pub(crate) fn spans(&self) -> &LocalArray<[u32; 4], 1> {
        &self.spans
    }

    pub(crate) fn list(&self) -> std::cell::Ref<'_, Growable<u32>> {
        self.list.borrow()
    }
}
