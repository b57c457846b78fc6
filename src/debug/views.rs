//! Cells for a viewer: each rank cuts its part out of its chunks, and rank 0 puts the parts together.

use super::protocol::{ElementType, MOST_VIEW_BYTES, View, ViewRequest};
use super::told::told;
use crate::World;
use crate::array::ArrayCore;
use crate::chunks::ChunkId;
use crate::device::{Piece, Strided};
use crate::error::Result;
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// A view, on rank 0; or what is wrong with the request. Called by all ranks, inside of an operation.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn view(world: &World, request: &ViewRequest, step: u64) -> Result<Option<Result<View, String>>> {
    let array = world.numbered(request.array.rank, request.array.number);
    let elsewhere = request.array.rank.is_some_and(|rank| rank as usize != world.rank());
    let part = match &array {
        None if elsewhere => Ok(Vec::new()),
        None => Err("there is no such array any more".to_string()),
        Some(array) => Cut::new(array, request).and_then(|cut| {
            let part = cut.part(array).map_err(|error| error.to_string())?;
            // Of one rank's array its part is all of it.
            if request.array.rank.is_some() { cut.joined(array, &[part]) } else { Ok(part) }
        }),
    };
    let parts = told(world, part)?;
    let joined = |parts: Result<Vec<Vec<u8>>, String>| {
        let mut parts = parts?;
        let cells = match (request.array.rank, &array) {
            (Some(rank), _) if (rank as usize) < parts.len() => parts.swap_remove(rank as usize),
            (None, Some(array)) => Cut::new(array, request)?.joined(array, &parts)?,
            _ => return Err("there is no such rank".to_string()),
        };
        Ok(View { of: request.clone(), step, cells })
    };
    Ok(parts.map(joined))
}

/// Some cells of an array, of which each rank has a part.
struct Cut {
    /// The cells from which the box begins, and from one to the next.
    start: Index,
    stride: Index,
    /// How many there are.
    extents: Index,
    /// The box.
    region: Region,
    /// Whose ghost cells count, too.
    chunk: Option<ChunkId>,
    /// What is taken of each cell: the first byte, and how many.
    taken: Vec<(usize, usize)>,
    cell_bytes: usize,
}

/// What a chunk has of it.
struct Share {
    chunk: ChunkId,
    /// In places of the view.
    places: Region,
}

impl Cut {
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
        let taken = match request.numbers {
            None => vec![(0, array.element().bytes)],
            Some(which) => {
                let numbers = element.numbers.get(usize::from(which)).ok_or_else(|| {
                    format!("cells of array {name:?} are {} with {} numbers", element.name, element.numbers.len())
                })?;
                let bytes = numbers.scalar.bytes();
                let first = numbers.offset as usize;
                (0..usize::from(numbers.components)).map(|component| (first + component * bytes, bytes)).collect()
            }
        };
        let cell_bytes = taken.iter().map(|(_, bytes)| bytes).sum();
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
        // Where there is one cell, any stride will do.
        let stride = Index::from_fn(axes, |axis| if extents[axis] <= 1 { 1 } else { request.stride[axis] });
        let start = region.start;
        Ok(Self { start, stride, extents: Index::new(&extents), region, chunk, taken, cell_bytes })
    }

    /// What each chunk of a rank has of it, in an order that all ranks know.
    fn shares(&self, array: &ArrayCore, rank: usize) -> Vec<Share> {
        let mut shares = Vec::new();
        let mut add = |chunk: ChunkId, part: Region| {
            if array.ownership().owner(chunk).rank == rank {
                shares.extend(self.places(&part).map(|places| Share { chunk, places }));
            }
        };
        match self.chunk {
            Some(chunk) => add(chunk, self.region),
            None => array.chunks().touching(&self.region, add),
        }
        shares
    }

    /// Which places of the view are in a part of the box.
    fn places(&self, part: &Region) -> Option<Region> {
        let axes = self.start.axes();
        let up = |cell: i64, axis: usize| {
            let (ahead, stride) = (cell - self.start[axis], self.stride[axis]);
            ahead / stride + i64::from(ahead % stride > 0)
        };
        let start = Index::from_fn(axes, |axis| up(part.start[axis], axis));
        let end = Index::from_fn(axes, |axis| up(part.end[axis], axis).min(self.extents[axis]));
        let holds = (0..axes).all(|axis| start[axis] < end[axis]);
        holds.then(|| Region::between(start, end))
    }

    /// This rank's cells: share by share, and of each what is taken of the cells, one after the other.
    fn part(&self, array: &ArrayCore) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        for Share { chunk, places } in self.shares(array, array.rank()) {
            let axes = places.axes();
            let first = Index::from_fn(axes, |axis| self.start[axis] + places.start[axis] * self.stride[axis]);
            let whole = array.strided(chunk, &Region::at(first, Index::splat(axes, 1)));
            let Some(lease) = array.lease(chunk)? else { continue };
            for &(offset, bytes) in &self.taken {
                let per_cell = (array.element().bytes / bytes) as i64;
                let strides = Index::from_fn(axes, |axis| whole.strides[axis] * self.stride[axis] * per_cell);
                let view = Strided {
                    offset: whole.offset * per_cell as u64 + (offset / bytes) as u64,
                    extents: places.extents(),
                    strides,
                };
                let length = places.cells() as usize * bytes;
                let piece = Piece { buffer: &lease, view, payload_offset: 0 };
                let staged = array.device().gather(bytes, &[piece], length.next_multiple_of(8) as u64)?;
                all.extend_from_slice(&staged.as_ref()[..length]);
            }
        }
        Ok(all)
    }

    /// The cells of all ranks in the order of the view.
    fn joined(&self, array: &ArrayCore, parts: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        let mut cells = vec![0; self.extents.product().unwrap_or(0) as usize * self.cell_bytes];
        let view = Region::whole(self.extents);
        for (rank, part) in parts.iter().enumerate() {
            let mut rest = &part[..];
            for Share { places, .. } in self.shares(array, rank) {
                let mut within = 0;
                for &(_, bytes) in &self.taken {
                    let length = places.cells() as usize * bytes;
                    let Some((own, behind)) = rest.split_at_checked(length) else {
                        return Err(format!("rank {rank} has told fewer cells than it has"));
                    };
                    rest = behind;
                    let columns = places.extents()[0] as usize;
                    let mut rows = places;
                    rows.end =
                        Index::from_fn(rows.axes(), |axis| if axis == 0 { rows.start[0] + 1 } else { rows.end[axis] });
                    for (row, source) in rows.points().zip(own.chunks_exact(columns * bytes)) {
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
