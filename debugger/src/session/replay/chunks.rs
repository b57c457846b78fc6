//! [`join_chunks`]: assembles an array whose chunks were recorded separately.

use std::sync::Arc;

use zippy_protocol::{ArrayEntry, ChunkEntry, View, ViewRequest};

/// Returns all cells of an array from views of its chunks.
///
/// # Errors
/// A chunk is missing or invalid.
pub(super) fn join_chunks(entry: &ArrayEntry, chunk_views: &[Arc<View>]) -> Result<View, String> {
    let wrong = || format!("the recorded chunks of `{}` are invalid", entry.name);
    let (axes, bytes) = (entry.shape.len(), entry.element.bytes as usize);
    let of = ViewRequest {
        array: entry.array,
        chunk: None,
        start: vec![0; axes],
        end: entry.shape.clone(),
        stride: vec![1; axes],
        numbers: None,
    };
    let there: usize = chunk_views.iter().map(|chunk_view| chunk_view.cells.len()).sum();
    let size = of.bytes(bytes).filter(|&size| size <= there).ok_or_else(wrong)?;
    let mut cells = vec![0; size];
    let (mut copied, mut step) = (0, 0);
    for chunk_view in chunk_views {
        let chunk =
            chunk_view.of.chunk.and_then(|chunk| entry.chunks.get(usize::try_from(chunk).ok()?)).ok_or_else(wrong)?;
        copied += copy_chunk(&mut cells, entry, chunk_view, chunk).ok_or_else(wrong)?;
        step = chunk_view.step;
    }
    if copied == size { Ok(View { of, step, cells }) } else { Err(wrong()) }
}

/// Copies the owned cells of a chunk to their positions. Returns their number of bytes, or `None`
/// for an invalid view.
fn copy_chunk(whole: &mut [u8], entry: &ArrayEntry, chunk_view: &View, chunk: &ChunkEntry) -> Option<usize> {
    let (axes, bytes, of) = (entry.shape.len(), entry.element.bytes as usize, &chunk_view.of);
    let alike = [&chunk.start, &chunk.end, &of.start, &of.end, &of.stride].iter().all(|list| list.len() == axes);
    let within = |axis: usize| {
        let (start, end) = (chunk.start[axis], chunk.end[axis]);
        start >= of.start[axis].max(0) && start < end && end <= of.end[axis].min(entry.shape[axis])
    };
    let plain = of.numbers.is_none() && of.stride.iter().all(|&stride| stride == 1);
    if !alike || axes == 0 || !plain || !(0..axes).all(within) || of.bytes(bytes) != Some(chunk_view.cells.len()) {
        return None;
    }
    let extents = of.extents()?;
    let length = (chunk.end[0] - chunk.start[0]) as usize * bytes;
    let (mut at, mut copied) = (chunk.start.clone(), 0);
    loop {
        let (mut from, mut to) = (0, 0);
        for axis in (0..axes).rev() {
            from = from * extents[axis] + at[axis] - of.start[axis];
            to = to * entry.shape[axis] + at[axis];
        }
        let (from, to) = (from as usize * bytes, to as usize * bytes);
        whole.get_mut(to..to + length)?.copy_from_slice(chunk_view.cells.get(from..from + length)?);
        copied += length;
        let next = (1..axes).find(|&axis| at[axis] + 1 < chunk.end[axis]);
        let Some(next) = next else { return Some(copied) };
        at[next] += 1;
        (1..next).for_each(|axis| at[axis] = chunk.start[axis]);
    }
}
