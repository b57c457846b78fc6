//! Application of a filter to a field; the result is a mesh of cells.

use zippy::Result;
use zippy::collective::CollectiveWorld;
use zippy::error::CallSite;
use zippy_io::mesh::CellCounts;

use super::tetrahedra::remainder;
use crate::field::attribute::Attribute;
use crate::field::block::{BRICK, Block, ROWS, Samples, set_bits};
use crate::field::bricked_chunk::BrickedChunk;
use crate::field::tree::Extremes;
use crate::field::values::between;
use crate::field::view::View;
use crate::messages::prefix_sums;
use crate::points::brick_points::{BrickPoints, PointStart};
use crate::points::chunk_points::{ChunkPoints, Layer, number};
use crate::points::inside::Inside;
use crate::points::interpolate::{PointPositions, values};
use crate::points::list::Points;
use crate::points::numbering::{EVERYWHERE, Words, along, for_each};
use crate::points::weld;
use crate::volume_mesh::VolumeMesh;

/// Rule that selects a part of a field.
pub(super) trait Filter {
    /// True if the filter may keep something of a brick with these extremes.
    fn may_keep(&self, found: Extremes) -> bool;

    /// True if kept cells may have points in the bricks after them although the filter keeps
    /// nothing there.
    fn reaches_next_bricks(&self) -> bool {
        false
    }

    /// Selects the kept part of a brick; fills the block with the brick's samples and the next
    /// samples.
    fn keep(&self, at: [i64; 3], part: &BrickedChunk, samples: &dyn Samples, block: &mut Block) -> BrickSelection;

    /// Isovalue that locates the points between a kept and a removed sample.
    fn isovalue(&self) -> f32;
}

/// Kept part of a brick.
pub(super) struct BrickSelection {
    pub points: Words<8>,
    pub cells: KeptCells,
}

pub(super) struct KeptCells {
    /// Completely kept cells, as bits by row.
    pub whole: [u32; ROWS],
    /// Kept samples, for cells that are cut.
    pub inside: Option<Inside>,
}

/// Applies a filter to a field; the mesh has the values of this field and of further fields.
/// Collective.
#[track_caller]
pub(super) fn solid(
    view: &View<'_>,
    name: &str,
    filter: &dyn Filter,
    attributes: &[&dyn Attribute],
) -> Result<VolumeMesh> {
    let _call = CallSite::enter();
    let world = view.world;
    let (mut lists, mut kept): ([Listed; 2], Vec<Vec<KeptCells>>) = Default::default();
    let chunk_points = world.failing("filtering a field", || {
        let piece = |&(chunk, part, bricks)| {
            let mut piece = ChunkPoints::new(chunk, part, bricks, 1, &|found| 0..usize::from(filter.may_keep(found)));
            if filter.reaches_next_bricks() {
                piece.spread();
            }
            let mut found = Vec::new();
            view.samples.samples(chunk, &mut |part, samples| {
                list(&mut piece, (part, samples), (view, filter), &mut lists, &mut found);
            })?;
            kept.push(found);
            Ok(piece)
        };
        view.chunks.iter().map(piece).collect::<Result<Vec<_>>>()
    });
    let mut chunk_points = chunk_points?;
    let counts = number(world, &mut chunk_points, 1)?[0];
    let fitted = view.fitted(attributes)?;
    world.failing("filtering a field", || {
        let mut mesh = VolumeMesh::default();
        for (piece, kept) in chunk_points.iter().zip(&kept) {
            let layer = &piece.layers[0];
            let bases = [layer.before[0], counts[0] + layer.before[1]].map(|base| base as u32);
            let mut cells = CellAppender { mesh: &mut mesh, mirrored: view.mirrored };
            cells.add(&piece.part, layer, kept, bases);
        }
        let [mut own, ghosts] = lists;
        own.positions.extend(ghosts.positions);
        mesh.points = Points { own: counts[0] as usize, positions: own.positions, ..Points::default() };
        let point_positions = [[own.point_positions, ghosts.point_positions]];
        let further = fitted.iter().map(|(name, field)| (name.as_str(), &**field));
        for (name, field) in std::iter::once((name, view.samples)).chain(further) {
            let all = values(&chunk_points, EVERYWHERE, &point_positions, field)?.remove(0);
            mesh.points.fields.push((name.into(), all));
        }
        set_offsets(view, &mut mesh)?;
        let owned = (&**view.placement.chunks(), &**view.placement.ownership());
        let numbers = weld::ghosts(world, owned, &chunk_points, EVERYWHERE, &[mesh.points.before])?.remove(0);
        let VolumeMesh { points, hexahedra, tetrahedra, .. } = &mut mesh;
        points.weld(&numbers, hexahedra.as_flattened_mut().iter_mut().chain(tetrahedra.as_flattened_mut()));
        Ok(mesh)
    })
}

/// Points in the order of their numbers.
#[derive(Default)]
struct Listed {
    positions: Vec<[f32; 3]>,
    point_positions: PointPositions,
}

/// Adds the own points and ghosts of a chunk, and lists the kept cells of its own bricks.
fn list(
    ChunkPoints { visits, layers, .. }: &mut ChunkPoints<8>,
    (part, samples): (&BrickedChunk, &dyn Samples),
    (view, filter): (&View<'_>, &dyn Filter),
    lists: &mut [Listed; 2],
    found: &mut Vec<KeptCells>,
) {
    let mut block = Block::new();
    // Bricks visited only for cells that begin elsewhere may be empty.
    visits.retain(|visit| {
        let (is_own, start) = (part.is_own(visit.at), part.samples(visit.at).start);
        let kept = filter.keep(visit.at, part, samples, &mut block);
        if filter.reaches_next_bricks() && kept.points.as_flattened().iter().all(|word| *word == 0) {
            return false;
        }
        let list = &mut lists[usize::from(!is_own)];
        for_each(&kept.points, |at, kind| {
            let direction = EVERYWHERE[kind];
            let mut index = std::array::from_fn(|axis| (part.start[axis] + start[axis] + at[axis]) as f64);
            if direction != 0 {
                let part = between(block.at(at), block.at(along(at, direction)), filter.isovalue());
                (0..3).filter(|axis| direction >> axis & 1 == 1).for_each(|axis| index[axis] += part);
                list.point_positions.along.push(part);
            }
            list.positions.push(view.grid.position(index));
        });
        layers[0].numbering.add(part, visit.at, kept.points, 0);
        if is_own {
            found.push(kept.cells);
        }
        true
    });
}

/// Corners of a grid cell in VTK's order.
const HEXAHEDRON: [u8; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

struct CellAppender<'a> {
    mesh: &'a mut VolumeMesh,
    /// True if the grid is left-handed, which reverses the order of corners.
    mirrored: bool,
}

impl CellAppender<'_> {
    /// Adds the cells of a chunk. `bases`: index of the first own point and ghost.
    fn add(&mut self, part: &BrickedChunk, layer: &Layer<8>, kept: &[KeptCells], bases: [u32; 2]) {
        for (brick, kept) in layer.numbering.bricks.iter().zip(kept) {
            let near = BrickPoints::new(&layer.numbering, part, brick, bases);
            each(kept.whole, |at| self.whole(&near, at));
            if let Some(inside) = &kept.inside {
                each(inside.cells(), |at| self.cut(&near, at, inside.case(at)));
            }
        }
    }

    fn whole(&mut self, near: &BrickPoints<8>, at: [usize; 3]) {
        let [a, b, c, d, e, f, g, h] = HEXAHEDRON.map(|corner| near.number(PointStart::new(0, corner), at));
        let cell = if self.mirrored { [e, f, g, h, a, b, c, d] } else { [a, b, c, d, e, f, g, h] };
        self.mesh.hexahedra.push(cell);
    }

    fn cut(&mut self, near: &BrickPoints<8>, at: [usize; 3], case: u8) {
        for cell in &remainder(case).tetrahedra {
            let [a, b, c, d] = cell.map(|place| near.number(place, at));
            self.mesh.tetrahedra.push(if self.mirrored { [a, c, b, d] } else { [a, b, c, d] });
        }
    }
}

/// Calls `found` with the position of each set bit.
fn each(rows: [u32; ROWS], mut found: impl FnMut([usize; 3])) {
    for (row, word) in rows.into_iter().enumerate() {
        set_bits(word).for_each(|x| found([x, row % BRICK[1], row / BRICK[1]]));
    }
}

/// Computes the offset of this rank's part in the whole mesh. Collective.
fn set_offsets(view: &View<'_>, mesh: &mut VolumeMesh) -> Result<()> {
    let cells = [mesh.hexahedra.len(), mesh.tetrahedra.len()].map(|count| count as u64);
    let [before, all] = prefix_sums(view.world, &[mesh.points.own as u64, cells[0], cells[1]])?;
    let cells = |counts: &[u64]| CellCounts { hexahedra: counts[1], tetrahedra: counts[2] };
    (mesh.points.before, mesh.before) = (before[0], cells(&before));
    (mesh.all_points, mesh.all) = (all[0], cells(&all));
    Ok(())
}
