//! Coding and blending by the host, on memory that it shares with a software adapter: the same bits as by the kernels, sooner.

use zippy::Result;
use zippy::array::GlobalArray;
use zippy::device::{Lease, Strided};
use zippy::world::World;

use super::Pixel;
use super::coded::Boxes;
use super::compositor::Canvases;
use super::exchange::{End, Exchange, Slot};
use super::stream::{Writer, blend_line, lines};

/// Codes a slot of this rank; returns the words.
pub(super) fn code<P: Pixel>(
    world: &World,
    exchange: &Exchange,
    slot: &Slot,
    on: &Canvases<P>,
    boxes: &Boxes,
) -> Result<u64> {
    let (mut line, mut end) = (0, 0);
    for piece in slot.pieces.iter().map(|&piece| &exchange.pieces[piece]) {
        let (pixels, view) = place(on, &piece.from)?;
        let words = streams(&boxes.outbox, world.rank())?;
        world.gpu().lend([&pixels, &words], |pixels, words| {
            let pixels: &[P] = bytemuck::cast_slice(pixels);
            let words = &mut bytemuck::cast_slice_mut(words)[slot.outbox as usize..][..slot.capacity as usize];
            let mut writer = match line {
                0 => Writer::new(words, slot.lines),
                _ => Writer::resume(words, line, end),
            };
            for (at, length) in lines(&piece.from.region) {
                writer.line(&pixels[cell(&view, &piece.from, at)..][..length as usize]);
                line += 1;
            }
            end = writer.len();
        })?;
    }
    Ok(end)
}

/// Blends what this rank has been sent, and what it has coded for itself.
pub(super) fn blend<P: Pixel>(
    world: &World,
    exchange: &Exchange,
    on: &Canvases<P>,
    boxes: &Boxes,
    opaque: f32,
) -> Result<()> {
    for piece in exchange.pieces.iter().filter(|piece| piece.to.rank == world.rank()) {
        let slot = &exchange.slots[&(piece.from.rank, piece.to.rank)];
        let (of, start) = match piece.from.rank == piece.to.rank {
            true => (&boxes.outbox, slot.outbox),
            false => (&boxes.inbox, slot.inbox),
        };
        let (pixels, view) = place(on, &piece.to)?;
        let words = streams(of, world.rank())?;
        world.gpu().lend([&pixels, &words], |pixels, words| {
            let pixels: &mut [P] = bytemuck::cast_slice_mut(pixels);
            let stream = &bytemuck::cast_slice(words)[start as usize..][..slot.capacity as usize];
            for (line, (at, length)) in lines(&piece.to.region).enumerate() {
                let onto = &mut pixels[cell(&view, &piece.to, at)..][..length as usize];
                blend_line(stream, piece.line as usize + line, onto, piece.way, opaque);
            }
        })?;
    }
    Ok(())
}

/// The buffer of an end on this rank, and where its region lies in it.
fn place<P: Pixel>(on: &Canvases<P>, end: &End) -> Result<(Lease, Strided)> {
    let core = on.array(end.canvas).core();
    let lease = core.lease(end.chunk)?.expect("a chunk of this rank with cells");
    Ok((lease, core.strided(end.chunk, &end.region)))
}

fn streams(of: &GlobalArray<u32, 1>, rank: usize) -> Result<Lease> {
    Ok(of.core().lease(rank)?.expect("a rank with a slot has words for it"))
}

/// The index of a pixel of a region; rows lie dense.
fn cell(view: &Strided, end: &End, at: [i64; 2]) -> usize {
    let start = end.region.start;
    view.offset as usize + ((at[0] - start[0]) + (at[1] - start[1]) * view.strides[1]) as usize
}
