//! Views: cells for a viewer. Each rank extracts its cells from its chunks, and rank 0 assembles
//! them.
use zippy_protocol::{ElementType, MOST_VIEW_BYTES, View, ViewRequest};

use super::reports::gather_reports;
use crate::World;
use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::{PackedBox, StridedBox};
use crate::error::Result;
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// Extracts a view of an array's cells, on rank 0; the other ranks return `None`. The inner error
/// is the text for an invalid request. All ranks must call it, inside a collective operation.
pub(super) fn extract_view(world: &World, request: &ViewRequest, step: u64) -> Result<Option<Result<View, String>>> {
    let array = world.array_by_number(request.array.rank, request.array.number);
    let is_elsewhere = request.array.rank.is_some_and(|rank| rank as usize != world.rank());
    let part = match &array {
        None if is_elsewhere => Ok(Vec::new()),
        None => Err("there is no such array any more".to_string()),
        Some(array) => Selection::new(array, request).and_then(|selection| {
            let part = selection.extract(array).map_err(|error| error.to_string())?;
            // One rank has the whole array.
            if request.array.rank.is_some() { selection.assemble(array, &[part]) } else { Ok(part) }
        }),
    };
    let parts = gather_reports(world, part)?;
    let assemble = |parts: Result<Vec<Vec<u8>>, String>| {
        let mut parts = parts?;
        let cells = match (request.array.rank, &array) {
            (Some(rank), _) if (rank as usize) < parts.len() => parts.swap_remove(rank as usize),
            (None, Some(array)) => Selection::new(array, request)?.assemble(array, &parts)?,
            _ => return Err("there is no such rank".to_string()),
        };
        Ok(View { of: request.clone(), step, cells })
    };
    Ok(parts.map(assemble))
}

/// Selected cells of an array: a box with a stride along each axis.
struct Selection {
    /// First cell, and distance between cells along each axis.
    start: Index,
    stride: Index,
    /// Number of cells along each axis.
    extents: Index,
    /// Smallest box that contains the selected cells.
    region: Region,
    /// Chunk whose ghost cells are included; `None` for the cells that chunks own.
    chunk: Option<ChunkId>,
    /// Byte ranges to extract from each cell: offset and length.
    byte_ranges: Vec<(usize, usize)>,
    cell_bytes: usize,
}

/// Selected cells in one chunk.
struct ChunkShare {
    chunk: ChunkId,
    /// Indices of the cells within the view.
    indices: Region,
}

impl Selection {
    fn new(array: &ArrayCore, request: &ViewRequest) -> Result<Self, String> {
        let (name, axes) = (array.name(), array.chunks().axes());
        let lists = [&request.start, &request.end, &request.stride];
        if lists.iter().any(|list| list.len() != axes) || axes > MAX_AXES {
            return Err(format!(
                "array {name:?} has {axes} axes, and the box {} to {}",
                lists[0].len(),
                lists[1].len()
            ));
        }
        let extents = request.extents().ok_or_else(|| format!("a view of array {name:?} has strides below 1"))?;
        let chunk = request.chunk.map(|chunk| match usize::try_from(chunk) {
            Ok(chunk) if chunk < array.chunks().count() => Ok(chunk),
            _ => Err(format!("array {name:?} has {} chunks and no chunk {chunk}", array.chunks().count())),
        });
        let chunk = chunk.transpose()?;
        let limits = chunk.map_or_else(|| array.bounds(), |chunk| array.chunks().storage(chunk));
        let region = Region::new(&request.start, &request.end).map_err(|error| error.to_string())?;
        region.check_within(&limits, &format!("array {name:?}")).map_err(|error| error.to_string())?;
        let element = ElementType::from(array.element());
        let byte_ranges = match request.numbers {
            None => vec![(0, array.element().bytes)],
            Some(index) => {
                let numbers = element.numbers.get(usize::from(index)).ok_or_else(|| {
                    format!("cells of array {name:?} are {} with {} numbers", element.name, element.numbers.len())
                })?;
                let bytes = numbers.scalar.bytes();
                let first = numbers.offset as usize;
                (0..usize::from(numbers.components)).map(|component| (first + component * bytes, bytes)).collect()
            }
        };
        let cell_bytes = byte_ranges.iter().map(|(_, bytes)| bytes).sum();
        match request.bytes(cell_bytes) {
            Some(bytes) if bytes <= MOST_VIEW_BYTES => {}
            bytes => {
                let bytes =
                    bytes.map_or_else(|| "more bytes than can be counted".into(), |bytes| format!("{bytes} bytes"));
                return Err(format!(
                    "a view of array {name:?} would have {bytes}, and at most {MOST_VIEW_BYTES} are sent: ask for a smaller \
                     box or larger strides"
                ));
            }
        }
        // The stride of an axis with one cell has no effect.
        let stride = Index::from_fn(axes, |axis| if extents[axis] <= 1 { 1 } else { request.stride[axis] });
        let start = region.start;
        Ok(Self { start, stride, extents: Index::new(&extents), region, chunk, byte_ranges, cell_bytes })
    }

    /// Selected cells in each chunk of a rank; all ranks list the chunks in the same order.
    fn shares(&self, array: &ArrayCore, rank: usize) -> Vec<ChunkShare> {
        let mut shares = Vec::new();
        let mut add = |chunk: ChunkId, part: Region| {
            if array.ownership().owner(chunk).rank == rank {
                shares.extend(self.view_indices(&part).map(|indices| ChunkShare { chunk, indices }));
            }
        };
        match self.chunk {
            Some(chunk) => add(chunk, self.region),
            None => array.chunks().touching(&self.region, add),
        }
        shares
    }

    /// Indices within the view of the selected cells in a box of the array; `None` without cells.
    fn view_indices(&self, part: &Region) -> Option<Region> {
        let axes = self.start.axes();
        let first_index = |cell: i64, axis: usize| {
            let (distance, stride) = (cell - self.start[axis], self.stride[axis]);
            distance / stride + i64::from(distance % stride > 0)
        };
        let start = Index::from_fn(axes, |axis| first_index(part.start[axis], axis));
        let end = Index::from_fn(axes, |axis| first_index(part.end[axis], axis).min(self.extents[axis]));
        let holds = (0..axes).all(|axis| start[axis] < end[axis]);
        holds.then(|| Region::between(start, end))
    }

    /// Extracts the bytes of this rank's selected cells: chunk by chunk, and in each chunk one byte
    /// range after another.
    fn extract(&self, array: &ArrayCore) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        for ChunkShare { chunk, indices } in self.shares(array, array.rank()) {
            let axes = indices.axes();
            let first = Index::from_fn(axes, |axis| self.start[axis] + indices.start[axis] * self.stride[axis]);
            let whole = array.strided(chunk, &Region::at(first, Index::splat(axes, 1)));
            let Some(lease) = array.lease(chunk)? else { continue };
            for &(offset, bytes) in &self.byte_ranges {
                let per_cell = (array.element().bytes / bytes) as i64;
                let strides = Index::from_fn(axes, |axis| whole.strides[axis] * self.stride[axis] * per_cell);
                let view = StridedBox {
                    offset: whole.offset * per_cell as u64 + (offset / bytes) as u64,
                    extents: indices.extents(),
                    strides,
                };
                let length = indices.cells() as usize * bytes;
                let piece = PackedBox { buffer: &lease, view, payload_offset: 0 };
                let staged = array.device().gather(bytes, &[piece], length.next_multiple_of(8) as u64)?;
                all.extend_from_slice(&staged.as_ref()[..length]);
            }
        }
        Ok(all)
    }

    /// Assembles the bytes of all ranks in the order of the view.
    fn assemble(&self, array: &ArrayCore, parts: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        let mut cells = vec![0; self.extents.product().unwrap_or(0) as usize * self.cell_bytes];
        let view = Region::whole(self.extents);
        for (rank, part) in parts.iter().enumerate() {
            let mut rest = &part[..];
            for ChunkShare { indices, .. } in self.shares(array, rank) {
                let mut within = 0;
                for &(_, bytes) in &self.byte_ranges {
                    let length = indices.cells() as usize * bytes;
                    let Some((source, after)) = rest.split_at_checked(length) else {
                        return Err(format!("rank {rank} sent too few cells"));
                    };
                    rest = after;
                    let columns = indices.extents()[0] as usize;
                    let mut rows = indices;
                    rows.end =
                        Index::from_fn(rows.axes(), |axis| if axis == 0 { rows.start[0] + 1 } else { rows.end[axis] });
                    for (row, source) in rows.points().zip(source.chunks_exact(columns * bytes)) {
                        let at = view.offset(&row) as usize * self.cell_bytes + within;
                        for (column, number) in source.chunks_exact(bytes).enumerate() {
                            let at = at + column * self.cell_bytes;
                            cells[at..at + bytes].copy_from_slice(number);
                        }
                    }
                    within += bytes;
                }
            }
        }
        Ok(cells)
    }
}
