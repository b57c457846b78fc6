//! Coding and blending by kernels.

use std::cell::RefCell;
use std::collections::HashMap;

use zippy::Result;
use zippy::World;
use zippy::array::{ChunkRef, GlobalArray, LocalArray, LocalSection};
use zippy::device::colour;
use zippy::element::Element;
use zippy::kernel::{Kernel, KernelSource, WgslComposer, WgslModule};
use zippy::layout::Layout;
use zippy::wgsl_module;

use super::canvases::Canvases;
use super::coded_round::{CodedRound, Patch, PatchEnd, Stream};
use super::mailboxes::Mailboxes;
use super::pixel::Pixel;
use super::plan::BlendRule;
use super::stream::lines;

/// Work of a kernel on a line of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum LineWork {
    /// Counts the words of a line.
    Count,
    /// Writes a line as words.
    Write,
    /// Blends a line of words onto pixels.
    Blend,
}

impl LineWork {
    fn module(self) -> WgslModule {
        match self {
            Self::Count => wgsl_module!("../../shaders/compositing/count.wgsl"),
            Self::Write => wgsl_module!("../../shaders/compositing/write.wgsl"),
            Self::Blend => wgsl_module!("../../shaders/compositing/blend.wgsl"),
        }
    }
}

/// Opacity that no pixel reaches.
const NEVER: f32 = 1e30;

type Line = [u32; 4];

/// Kernels for coding and blending, compiled on first use, and their tables of lines.
pub(super) struct CodingKernels<'w> {
    world: &'w World,
    name: String,
    compiled: RefCell<HashMap<(LineWork, &'static str), Kernel>>,
    tables: RefCell<Option<(LocalArray<Line, 1>, LocalArray<u32, 1>)>>,
}

impl<'w> CodingKernels<'w> {
    pub(super) fn new(world: &'w World, name: &str) -> Self {
        Self { world, name: name.to_string(), compiled: RefCell::default(), tables: RefCell::new(None) }
    }

    /// Codes a stream of this rank; returns the stream's length in words. Kernels count the words
    /// of each line, the host sums them, and kernels write.
    pub(super) fn code<P: Pixel>(
        &self,
        coded: &CodedRound,
        stream: &Stream,
        on: &Canvases<'_, P>,
        mailboxes: &Mailboxes,
    ) -> Result<u64> {
        let outbox = chunk(&mailboxes.outbox, self.world.rank());
        let mut table = vec![stream.lines as u32 + 1];
        let patches: Vec<&Patch> = stream.patches.iter().map(|&patch| &coded.patches[patch]).collect();
        for together in patches.chunk_by(|a, b| (a.from.canvas, a.from.chunk) == (b.from.canvas, b.from.chunk)) {
            let pixels = chunk(on.array(together[0].from.canvas), together[0].from.chunk);
            let mut todo: Vec<Line> = Vec::new();
            for patch in together {
                todo.extend(lines(&patch.from.region).map(|(at, length)| {
                    let [x, y] = within(&pixels, at);
                    [x, y, length as u32, 0]
                }));
            }
            let (on_device, counts) = self.tables(&todo)?;
            self.kernel::<P>(LineWork::Count)?
                .call()
                .read("pixels", pixels.all())
                .read("lines", on_device.clone())
                .write("counts", counts.clone())
                .run()?;
            for (line, words) in todo.iter_mut().zip(counts.read()?) {
                let start = table[table.len() - 1];
                line[3] = stream.outbox as u32 + start;
                table.push(start + words);
            }
            on_device.write(&todo)?;
            self.kernel::<P>(LineWork::Write)?
                .call()
                .read("pixels", pixels.all())
                .read("lines", on_device)
                .write("counts", counts)
                .update("stream", outbox.all())
                .run()?;
        }
        let start = stream.outbox as i64;
        outbox.at(start..start + table.len() as i64).write(&table)?;
        Ok(u64::from(table[table.len() - 1]))
    }

    /// Blends the streams that this rank received or coded for itself; patches that do not overlap
    /// are blended in parallel.
    pub(super) fn blend<P: Pixel>(
        &self,
        coded: &CodedRound,
        on: &Canvases<'_, P>,
        mailboxes: &Mailboxes,
        opaque: Option<f32>,
    ) -> Result<()> {
        let mut batch: Vec<&Patch> = Vec::new();
        for patch in coded.patches.iter().filter(|patch| patch.to.rank == self.world.rank()) {
            let alike = |other: &Patch| {
                (other.to.canvas, other.to.chunk, other.way) == (patch.to.canvas, patch.to.chunk, patch.way)
                    && other.is_local() == patch.is_local()
                    && !other.to.region.intersects(&patch.to.region)
            };
            if !batch.iter().all(|other| alike(other)) {
                self.blend_batch(coded, &batch, on, mailboxes, opaque)?;
                batch.clear();
            }
            batch.push(patch);
        }
        self.blend_batch(coded, &batch, on, mailboxes, opaque)
    }

    fn blend_batch<P: Pixel>(
        &self,
        coded: &CodedRound,
        batch: &[&Patch],
        on: &Canvases<'_, P>,
        mailboxes: &Mailboxes,
        opaque: Option<f32>,
    ) -> Result<()> {
        let Some(first) = batch.first() else { return Ok(()) };
        let PatchEnd { canvas, chunk: number, .. } = first.to;
        let onto = chunk(on.array(canvas), number);
        let stream_of = |patch: &Patch| &coded.streams[&(patch.from.rank, patch.to.rank)];
        let (of, _) = mailboxes.read(first, stream_of(first));
        let mut todo: Vec<Line> = Vec::new();
        for patch in batch {
            let (_, start) = mailboxes.read(patch, stream_of(patch));
            todo.extend(lines(&patch.to.region).enumerate().map(|(line, (at, _))| {
                let [x, y] = within(&onto, at);
                [x, y, (start + patch.line) as u32 + line as u32, start as u32]
            }));
        }
        let (on_device, counts) = self.tables(&todo)?;
        self.kernel::<P>(LineWork::Blend)?
            .call()
            .read("stream", chunk(of, self.world.rank()).all())
            .read("lines", on_device)
            .write("counts", counts)
            .update("onto", onto.all())
            .param("way", first.way as u32)
            .param("opaque", opaque.unwrap_or(NEVER))
            .run()
    }

    /// Uploads the lines and allocates one word per line.
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

    fn kernel<P: Pixel>(&self, work: LineWork) -> Result<Kernel> {
        let mut compiled = self.compiled.borrow_mut();
        let key = (work, P::INFO.name);
        if let Some(kernel) = compiled.get(&key) {
            return Ok(kernel.clone());
        }
        let source = KernelSource::text(work.module().file(), line_kernel::<P>(work).compose()?);
        Ok(compiled.entry(key).or_insert(self.world.kernel(source)?).clone())
    }
}

/// The text of a kernel that runs `work` on each line.
fn line_kernel<P: Pixel>(work: LineWork) -> WgslComposer {
    WgslComposer::new()
        .constant("WORDS", (size_of::<P>() / 4) as i32)
        .used_constants(BLEND_RULES.map(|(name, rule)| (name, rule as u32)))
        .modules([colour::WGSL, P::WGSL, wgsl_module!("../../shaders/compositing/lines.wgsl"), work.module()])
}

/// The texts of all kernels, with names.
#[cfg(test)]
pub(crate) fn kernel_texts() -> Vec<(String, WgslComposer)> {
    let works = [LineWork::Count, LineWork::Write, LineWork::Blend];
    let of_work = |work: LineWork| {
        [
            (format!("{work:?}, f32"), line_kernel::<[f32; 4]>(work)),
            (format!("{work:?}, rgba8"), line_kernel::<u32>(work)),
        ]
    };
    works.into_iter().flat_map(of_work).collect()
}

fn chunk<T: Element, const D: usize>(array: &GlobalArray<T, D>, number: usize) -> ChunkRef<T, D> {
    array.chunks().find(|chunk| chunk.id() == number).expect("a chunk of this rank")
}

/// Offset of a cell from the first cell of a chunk.
fn within<T: Element>(chunk: &ChunkRef<T, 2>, at: [i64; 2]) -> [u32; 2] {
    let start = chunk.region().start;
    [0, 1].map(|axis| (at[axis] - start[axis]) as u32)
}

/// Names of the rules in the kernels. The number of a rule is that of the variant.
const BLEND_RULES: [(&str, BlendRule); 3] =
    [("ALONE", BlendRule::Alone), ("IN_FRONT", BlendRule::InFront), ("BEHIND", BlendRule::Behind)];
