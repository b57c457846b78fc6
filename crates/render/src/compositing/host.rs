//! Coding and blending by the host, on memory that it shares with a software adapter: the same bits
//! as the kernels in less time.

use zippy::Result;
use zippy::World;
use zippy::array::GlobalArray;
use zippy::device::{Lease, StridedBox};

use super::canvases::Canvases;
use super::coded_round::{CodedRound, PatchEnd, Stream};
use super::mailboxes::Mailboxes;
use super::pixel::Pixel;
use super::stream::{self, Writer, lines};

/// Codes a stream of this rank; returns the stream's length in words.
pub(super) fn code<P: Pixel>(
    world: &World,
    coded: &CodedRound,
    stream: &Stream,
    on: &Canvases<'_, P>,
    mailboxes: &Mailboxes,
) -> Result<u64> {
    let (mut line, mut end) = (0, 0);
    for patch in stream.patches.iter().map(|&patch| &coded.patches[patch]) {
        let (pixels, view) = lease_pixels(on, &patch.from)?;
        let words = lease_words(&mailboxes.outbox, world.rank())?;
        world.gpu().lend([&pixels, &words], |[pixels, words]| {
            let pixels: &[P] = bytemuck::cast_slice(pixels);
            let words = &mut bytemuck::cast_slice_mut(words)[stream.outbox as usize..][..stream.capacity as usize];
            let mut writer = match line {
                0 => Writer::new(words, stream.lines),
                _ => Writer::resume(words, line, end),
            };
            for (at, length) in lines(&patch.from.region) {
                writer.write(&pixels[cell(&view, &patch.from, at)..][..length as usize]);
                line += 1;
            }
            end = writer.len();
        })?;
    }
    mailboxes.outbox.core().mark_written(world.rank());
    Ok(end)
}

/// Blends the streams that this rank received or coded for itself.
pub(super) fn blend<P: Pixel>(
    world: &World,
    coded: &CodedRound,
    on: &Canvases<'_, P>,
    mailboxes: &Mailboxes,
    opaque: Option<f32>,
) -> Result<()> {
    for patch in coded.patches.iter().filter(|patch| patch.to.rank == world.rank()) {
        let stream = &coded.streams[&(patch.from.rank, patch.to.rank)];
        let (of, start) = mailboxes.read(patch, stream);
        let (pixels, view) = lease_pixels(on, &patch.to)?;
        let words = lease_words(of, world.rank())?;
        world.gpu().lend([&pixels, &words], |[pixels, words]| {
            let pixels: &mut [P] = bytemuck::cast_slice_mut(pixels);
            let words = &bytemuck::cast_slice(words)[start as usize..][..stream.capacity as usize];
            for (line, (at, length)) in lines(&patch.to.region).enumerate() {
                let onto = &mut pixels[cell(&view, &patch.to, at)..][..length as usize];
                stream::blend(words, patch.line as usize + line, onto, patch.way, opaque);
            }
        })?;
        on.array(patch.to.canvas).core().mark_written(patch.to.chunk);
    }
    Ok(())
}

/// Leases the buffer of a patch end on this rank; returns the lease with the region's strides.
fn lease_pixels<P: Pixel>(on: &Canvases<'_, P>, end: &PatchEnd) -> Result<(Lease, StridedBox)> {
    let core = on.array(end.canvas).core();
    let lease = core.lease(end.chunk)?.expect("a chunk of this rank with cells");
    Ok((lease, core.strided(end.chunk, &end.region)))
}

fn lease_words(array: &GlobalArray<u32, 1>, rank: usize) -> Result<Lease> {
    Ok(array.core().lease(rank)?.expect("a rank with a stream has words for it"))
}

/// Index of a pixel of a region with dense rows.
fn cell(view: &StridedBox, end: &PatchEnd, at: [i64; 2]) -> usize {
    let start = end.region.start;
    view.offset as usize + ((at[0] - start[0]) + (at[1] - start[1]) * view.strides[1]) as usize
}
