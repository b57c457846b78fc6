//! [`Fragments`]: of each pixel the fragments of transparent surfaces on this rank, front first.

use std::cell::RefCell;

use zippy::array::{Growable, LocalArray};
use zippy::kernel::{Kernel, KernelSource};
use zippy::wgpu::BufferUsages;
use zippy::{Layout, Operator, Result, World};

use super::opaque::Opaque;
use super::rasteriser::{Drawing, Pass, Rasteriser};
use crate::error::RenderError;

/// Words of a fragment: its place on the ray, and two times two components of 16 bits.
const WORDS: u64 = 3;

/// Sums that stop at the end of their range.
const SATURATING: &str =
    "fn combine(a: u32, b: u32) -> u32 { return select(a + b, 0xffffffffu, b > 0xffffffffu - a); }";

/// The fragments of a picture.
pub(in crate::volume) struct Fragments<'w> {
    world: &'w World,
    size: (u32, u32),
    /// How many each pixel has, then where they begin.
    cursors: LocalArray<u32, 1>,
    /// For each pixel where the nearest opaque surface stands, its first fragment and the one behind its last.
    spans: LocalArray<[u32; 4], 1>,
    list: RefCell<Growable<u32>>,
    sort: Kernel,
}

impl<'w> Fragments<'w> {
    /// Local.
    pub fn new(world: &'w World, name: &str, size: (u32, u32)) -> Result<Self> {
        let layout = Layout::new([i64::from(size.0) * i64::from(size.1)]);
        let text = include_str!("../../../shaders/surface/fragments.wgsl");
        let mut list = world.growable_for(&format!("{name}.fragments"), BufferUsages::empty())?;
        list.set_len(WORDS)?;
        Ok(Self {
            world,
            size,
            cursors: world.local_array(&format!("{name}.cursors"), &layout)?,
            spans: world.local_array(&format!("{name}.spans"), &layout)?,
            list: RefCell::new(list),
            sort: world.kernel(KernelSource::text("shaders/surface/fragments.wgsl", text))?,
        })
    }

    /// Draws those of this rank that lie in front of the nearest opaque surface. Local; reads one number back.
    ///
    /// # Errors
    /// More of them than a binding holds.
    pub(super) fn draw(&self, rasteriser: &Rasteriser, drawing: &Drawing, opaque: &Opaque) -> Result<()> {
        self.cursors.all().fill(0)?;
        let nearest = opaque.nearest().local()?;
        let mut total = 0;
        if !drawing.surfaces.is_empty() {
            self.pass(rasteriser, Pass::Count, drawing, opaque)?;
            let sum = Operator::custom("saturating sum", SATURATING);
            total = self.world.on_rank().reduce(&self.cursors, &sum)?.unwrap_or(0);
            self.make_room(total)?;
            self.world.on_rank().inclusive_scan(&self.cursors, &self.cursors, &Operator::Add)?;
            self.pass(rasteriser, Pass::Fill, drawing, opaque)?;
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

    fn make_room(&self, total: u32) -> Result<()> {
        let (needed, most) = (4 * WORDS * u64::from(total), self.world.binding_bytes());
        if needed > most {
            let (width, height) = self.size;
            let message = format!(
                "a picture of {width} x {height} pixels has {total} fragments of transparent surfaces on rank {}, of {} bytes \
                 each; at most {} bytes are possible here: choose a smaller picture, or make surfaces opaque",
                self.world.rank(),
                4 * WORDS,
                most
            );
            return Err(RenderError::Surface(message).into());
        }
        self.list.borrow_mut().set_len(WORDS * u64::from(total.max(1)))
    }

    fn pass(&self, rasteriser: &Rasteriser, pass: Pass, drawing: &Drawing, opaque: &Opaque) -> Result<()> {
        let list = self.list.borrow();
        let leases = (opaque.nearest().local()?.lease()?, self.cursors.lease()?, list.lease()?);
        let (Some(nearest), Some(cursors), Some(list)) = leases else { return Ok(()) };
        rasteriser.draw(pass, drawing, &[(2, nearest.raw(), 4), (3, cursors.raw(), 4), (4, list.raw(), 0)])
    }

    /// For each pixel its span.
    pub fn spans(&self) -> &LocalArray<[u32; 4], 1> {
        &self.spans
    }

    /// All fragments.
    pub fn list(&self) -> std::cell::Ref<'_, Growable<u32>> {
        self.list.borrow()
    }
}
