//! Coding and blending by kernels.

use std::cell::RefCell;
use std::collections::HashMap;

use zippy::array::{ChunkRef, GlobalArray, LocalArray, LocalSection};
use zippy::element::Element;
use zippy::kernel::{Kernel, KernelSource};
use zippy::layout::Layout;
use zippy::world::World;
use zippy::{Operator, Result};

use super::Pixel;
use super::coded::Boxes;
use super::compositor::Canvases;
use super::exchange::{End, Exchange, Piece, Slot};
use super::plan::Way;
use super::stream::lines;

const COUNT: &str = include_str!("../../shaders/compositing/count.wgsl");
const WRITE: &str = include_str!("../../shaders/compositing/write.wgsl");
const BLEND: &str = include_str!("../../shaders/compositing/blend.wgsl");

type Line = [u32; 4];

/// The kernels, compiled when first used, and the tables of lines that they work on.
pub(super) struct Kernels<'w> {
    world: &'w World,
    name: String,
    compiled: RefCell<HashMap<(&'static str, &'static str), Kernel>>,
    tables: RefCell<Option<(LocalArray<Line, 1>, LocalArray<u32, 1>)>>,
}

impl<'w> Kernels<'w> {
    pub fn new(world: &'w World, name: &str) -> Self {
        Self { world, name: name.to_string(), compiled: RefCell::default(), tables: RefCell::new(None) }
    }

    /// Codes a slot of this rank: kernels count the words of each line, the host adds them up, and kernels write.
    /// Returns the words.
    pub fn code<P: Pixel>(&self, exchange: &Exchange, slot: &Slot, on: &Canvases<P>, boxes: &Boxes) -> Result<u64> {
        let outbox = chunk(&boxes.outbox, self.world.rank());
        let mut table = vec![slot.lines as u32 + 1];
        let pieces: Vec<&Piece> = slot.pieces.iter().map(|&piece| &exchange.pieces[piece]).collect();
        for together in pieces.chunk_by(|a, b| (a.from.canvas, a.from.chunk) == (b.from.canvas, b.from.chunk)) {
            let pixels = chunk(on.array(together[0].from.canvas), together[0].from.chunk);
            let mut todo: Vec<Line> = Vec::new();
            for piece in together {
                todo.extend(lines(&piece.from.region).map(|(at, length)| {
                    let [x, y] = within(&pixels, at);
                    [x, y, length as u32, 0]
                }));
            }
            let (on_device, counts) = self.tables(&todo)?;
            self.kernel::<P>("count", COUNT, "")?
                .call()
                .read("pixels", pixels.all())
                .read("lines", on_device.clone())
                .write("counts", counts.clone())
                .run()?;
            for (line, words) in todo.iter_mut().zip(counts.read()?) {
                let start = table[table.len() - 1];
                line[3] = slot.outbox as u32 + start;
                table.push(start + words);
            }
            on_device.write(&todo)?;
            self.kernel::<P>("write", WRITE, P::WGSL[3])?
                .call()
                .read("pixels", pixels.all())
                .read("lines", on_device)
                .write("counts", counts)
                .update("stream", outbox.all())
                .run()?;
        }
        let start = slot.outbox as i64;
        outbox.at(start..start + table.len() as i64).write(&table)?;
        Ok(u64::from(table[table.len() - 1]))
    }

    /// Blends what this rank has been sent, and what it has coded for itself: pieces that do not meet side by side.
    pub fn blend<P: Pixel>(&self, exchange: &Exchange, on: &Canvases<P>, boxes: &Boxes, opaque: f32) -> Result<()> {
        let mut batch: Vec<&Piece> = Vec::new();
        for piece in exchange.pieces.iter().filter(|piece| piece.to.rank == self.world.rank()) {
            let alike = |other: &Piece| {
                (other.to.canvas, other.to.chunk, other.way) == (piece.to.canvas, piece.to.chunk, piece.way)
                    && is_local(other) == is_local(piece)
                    && !other.to.region.intersects(&piece.to.region)
            };
            if !batch.iter().all(|other| alike(other)) {
                self.blend_batch(exchange, &batch, on, boxes, opaque)?;
                batch.clear();
            }
            batch.push(piece);
        }
        self.blend_batch(exchange, &batch, on, boxes, opaque)
    }

    fn blend_batch<P: Pixel>(
        &self,
        exchange: &Exchange,
        batch: &[&Piece],
        on: &Canvases<P>,
        boxes: &Boxes,
        opaque: f32,
    ) -> Result<()> {
        let Some(first) = batch.first() else { return Ok(()) };
        let End { canvas, chunk: number, .. } = first.to;
        let onto = chunk(on.array(canvas), number);
        let stream = chunk(if is_local(first) { &boxes.outbox } else { &boxes.inbox }, self.world.rank());
        let mut todo: Vec<Line> = Vec::new();
        for piece in batch {
            let slot = &exchange.slots[&(piece.from.rank, piece.to.rank)];
            let start = if is_local(piece) { slot.outbox } else { slot.inbox };
            todo.extend(lines(&piece.to.region).enumerate().map(|(line, (at, _))| {
                let [x, y] = within(&onto, at);
                [x, y, (start + piece.line) as u32 + line as u32, start as u32]
            }));
        }
        let (on_device, counts) = self.tables(&todo)?;
        self.kernel::<P>("blend", BLEND, P::WGSL[2])?
            .call()
            .read("stream", stream.all())
            .read("lines", on_device)
            .write("counts", counts)
            .update("onto", onto.all())
            .param("way", way_of(first.way))
            .param("opaque", opaque)
            .run()
    }

    /// The lines on the device, and as many words.
    fn tables(&self, lines: &[Line]) -> Result<(LocalSection<Line, 1>, LocalSection<u32, 1>)> {
        let count = lines.len() as i64;
        let mut kept = self.tables.borrow_mut();
        if kept.as_ref().is_none_or(|(lines, _)| lines.shape()[0] < count) {
            *kept = None;
            let layout = Layout::new([count]);
            let name = |suffix: &str| format!("{}.{suffix}", self.name);
            let lines = self.world.local_array(&name("lines"), &layout)?;
            *kept = Some((lines, self.world.local_array(&name("words of lines"), &layout)?));
        }
        let (on_device, words) = kept.as_ref().expect("just made");
        let on_device = on_device.at(0..count);
        on_device.write(lines)?;
        Ok((on_device, words.at(0..count)))
    }

    fn kernel<P: Pixel>(&self, name: &'static str, text: &str, access: &str) -> Result<Kernel> {
        let mut compiled = self.compiled.borrow_mut();
        let key = (name, P::INFO.name);
        if let Some(kernel) = compiled.get(&key) {
            return Ok(kernel.clone());
        }
        let source = [text, P::WGSL[1], Operator::COLOURS, access].join("\n").replace("PIXEL", P::WGSL[0]);
        let path = format!("shaders/compositing/{name}.wgsl");
        Ok(compiled.entry(key).or_insert(self.world.kernel(KernelSource::text(path, source))?).clone())
    }
}

fn is_local(piece: &Piece) -> bool {
    piece.from.rank == piece.to.rank
}

/// A chunk of this rank.
fn chunk<T: Element, const D: usize>(of: &GlobalArray<T, D>, number: usize) -> ChunkRef<T, D> {
    of.chunks().find(|chunk| chunk.id() == number).expect("a chunk of this rank")
}

/// A cell of a chunk, from its first one.
fn within<T: Element>(chunk: &ChunkRef<T, 2>, at: [i64; 2]) -> [u32; 2] {
    let start = chunk.region().start;
    [0, 1].map(|axis| (at[axis] - start[axis]) as u32)
}

/// How the kernel is told.
fn way_of(way: Way) -> u32 {
    match way {
        Way::Alone => 0,
        Way::InFront => 1,
        Way::Behind => 2,
    }
}
