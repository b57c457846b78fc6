//! [`joined`]: an array whose chunks were recorded one by one.

use std::sync::Arc;

use zippy::debug::protocol::{ArrayEntry, ChunkEntry, View, ViewRequest};

/// All cells of an array, of the chunks that own them.
///
/// # Errors
/// They are not there, or make no sense.
pub fn joined(entry: &ArrayEntry, parts: &[Arc<View>]) -> Result<View, String> {
    let wrong = || format!("the recorded chunks of `{}` make no sense", entry.name);
    let (axes, bytes) = (entry.shape.len(), entry.element.bytes as usize);
    let of = ViewRequest {
        array: entry.array,
        chunk: None,
        start: vec![0; axes],
        end: entry.shape.clone(),
        stride: vec![1; axes],
        numbers: None,
    };
    let there: usize = parts.iter().map(|part| part.cells.len()).sum();
    let size = of.bytes(bytes).filter(|&size| size <= there).ok_or_else(wrong)?;
    let mut cells = vec![0; size];
    let (mut placed, mut step) = (0, 0);
    for part in parts {
        let chunk = part.of.chunk.and_then(|chunk| entry.chunks.get(usize::try_from(chunk).ok()?)).ok_or_else(wrong)?;
        placed += place(&mut cells, entry, part, chunk).ok_or_else(wrong)?;
        step = part.step;
    }
    if placed == size { Ok(View { of, step, cells }) } else { Err(wrong()) }
}

/// Puts the cells that a chunk owns where they belong; how many bytes. None where they do not fit.
fn place(whole: &mut [u8], entry: &ArrayEntry, part: &View, chunk: &ChunkEntry) -> Option<usize> {
    let (axes, bytes, of) = (entry.shape.len(), entry.element.bytes as usize, &part.of);
    let alike = [&chunk.start, &chunk.end, &of.start, &of.end, &of.stride].iter().all(|list| list.len() == axes);
    let within = |axis: usize| {
        let (start, end) = (chunk.start[axis], chunk.end[axis]);
        start >= of.start[axis].max(0) && start < end && end <= of.end[axis].min(entry.shape[axis])
    };
    let plain = of.numbers.is_none() && of.stride.iter().all(|&stride| stride == 1);
    if !alike || axes == 0 || !plain || !(0..axes).all(within) || of.bytes(bytes) != Some(part.cells.len()) {
        return None;
    }
    let extents = of.extents()?;
    let length = (chunk.end[0] - chunk.start[0]) as usize * bytes;
    let (mut at, mut placed) = (chunk.start.clone(), 0);
    loop {
        let (mut from, mut to) = (0, 0);
        for axis in (0..axes).rev() {
            from = from * extents[axis] + at[axis] - of.start[axis];
            to = to * entry.shape[axis] + at[axis];
        }
        let (from, to) = (from as usize * bytes, to as usize * bytes);
        whole.get_mut(to..to + length)?.copy_from_slice(part.cells.get(from..from + length)?);
        placed += length;
        let next = (1..axes).find(|&axis| at[axis] + 1 < chunk.end[axis]);
        let Some(next) = next else { return Some(placed) };
        at[next] += 1;
        (1..next).for_each(|axis| at[axis] = chunk.start[axis]);
    }
}
