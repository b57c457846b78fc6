//! Comparison of the cells of two boxes on the device.

use std::rc::Rc;

use super::cell_position::CellPosition;
use super::number::Number;
use super::source::{DIFFERING, kernel};
use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::{BufferBox, ReductionKernel};
use crate::element::Element;
use crate::error::{CallSite, Result};
use crate::region::Region;

/// Maximum number of words per cell for the device: an invocation compares up to 512 cells, and
/// Mesa's software driver stops loops after 65,535 iterations.
const MAX_WORDS_PER_CELL: usize = 64;

/// Counts the cells that differ in any bit between two boxes of arrays of the same type, and finds
/// the first of them, axis 0 fastest, in the coordinates of the first box. `None` if the host must
/// compare instead: on a software adapter with mapped memory, where the host is faster, and for
/// cells of more than 64 words.
///
/// Cost: one pass over the cells. If cells differ, about log₂(cells) more passes, each over half of
/// the previous region.
///
/// # Errors
/// A device failure.
#[track_caller]
pub(crate) fn count_differing(
    arrays: [&Rc<ArrayCore>; 2],
    boxes: [(ChunkId, Region); 2],
) -> Result<Option<(u64, CellPosition)>> {
    let _call = CallSite::enter();
    if arrays[0].device().is_host() || arrays[0].element().bytes > 4 * MAX_WORDS_PER_CELL {
        return Ok(None);
    }
    let [(chunk, region), (corresponding, whole)] = boxes;
    let count = |part: Region| {
        let shifted = Region::at(whole.start + (part.start - region.start), part.extents());
        count(arrays, [(chunk, part), (corresponding, shifted)])
    };
    let cells = count(region)?;
    let first =
        if cells == 0 { CellPosition::NOWHERE } else { CellPosition::bisect(region, |part| Ok(count(part)? > 0))? };
    Ok(Some((cells, first)))
}

fn count(arrays: [&Rc<ArrayCore>; 2], boxes: [(ChunkId, Region); 2]) -> Result<u64> {
    let bytes = arrays[0].element().bytes;
    let (format, info, numbers) = match bytes {
        1 => (u8::FORMAT, u8::INFO, 1),
        2 => (u16::FORMAT, u16::INFO, 1),
        _ => (u32::FORMAT, u32::INFO, bytes as u32 / 4),
    };
    let leases = [arrays[0].lease(boxes[0].0)?, arrays[1].lease(boxes[1].0)?];
    let (Some(format), [Some(first), Some(second)]) = (format, &leases) else { return Ok(0) };
    let (name, source) = kernel(&DIFFERING, &info, format);
    let [one, other] = [0, 1].map(|which| arrays[which].strided(boxes[which].0, &boxes[which].1));
    let pair = (BufferBox { buffer: first, view: one }, Some(BufferBox { buffer: second, view: other }));
    let kernel = ReductionKernel { name: &name, source: &source, words: DIFFERING.words, constants: &[numbers] };
    let mut cells = 0;
    arrays[0].device().reduce_boxes(&kernel, bytes, &[pair], &mut |words| cells += u64::from(words[0]))?;
    Ok(cells)
}
