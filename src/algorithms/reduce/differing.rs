//! Cells of two boxes that differ, as the device finds them.

use std::rc::Rc;

use super::number::Number;
use super::source::{DIFFERING, kernel};
use super::spot::Spot;
use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::{BoxOf, FoldKernel};
use crate::element::Element;
use crate::error::{CallSite, Result};
use crate::region::Region;

/// The most words of a cell: an invocation looks at up to 512 cells, and Mesa's software driver stops its loops after 65,535
/// iterations.
const MOST_WORDS: usize = 64;

/// How many cells of two boxes of arrays of one type differ in some bit, and the first of them in the coordinates of the
/// first, axis 0 fastest. `None` where the host has to look: where the device is the host in disguise, which then does better
/// without kernels, and where cells are larger than 64 words.
///
/// Cost: one look at the cells, and where some differ as many more as the number of cells has bits, halving where they are.
///
/// # Errors
/// A failing device.
#[track_caller]
pub fn differing(arrays: [&Rc<ArrayCore>; 2], boxes: [(ChunkId, Region); 2]) -> Result<Option<(u64, Spot)>> {
    let _call = CallSite::enter();
    if arrays[0].device().is_host() || arrays[0].element().bytes > 4 * MOST_WORDS {
        return Ok(None);
    }
    let [(chunk, region), (beside, whole)] = boxes;
    let count = |part: Region| {
        let shifted = Region::at(whole.start + (part.start - region.start), part.extents());
        count(arrays, [(chunk, part), (beside, shifted)])
    };
    let cells = count(region)?;
    let first = if cells == 0 { Spot::NOWHERE } else { Spot::first(region, |part| Ok(count(part)? > 0))? };
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
    let pair = (BoxOf { buffer: first, view: one }, Some(BoxOf { buffer: second, view: other }));
    let kernel = FoldKernel { name: &name, source: &source, words: DIFFERING.words, constants: &[numbers] };
    let mut cells = 0;
    arrays[0].device().fold(&kernel, bytes, &[pair], &mut |words| cells += u64::from(words[0]))?;
    Ok(cells)
}
