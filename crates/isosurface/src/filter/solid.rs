//! The part of a field that a filter keeps, as cells.

use zippy::Result;
use zippy::error::CallSite;
use zippy_io::mesh::CellCounts;

use super::tetrahedra::left;
use crate::field::attribute::Attribute;
use crate::field::block::{BRICK, Block, ROWS, Samples, places};
use crate::field::part::Part;
use crate::field::tree::Extremes;
use crate::field::values::between;
use crate::field::view::View;
use crate::messages::sums;
use crate::points::inside::Inside;
use crate::points::interpolate::{Places, values};
use crate::points::list::Points;
use crate::points::near::{Near, Place};
use crate::points::numbering::{EVERYWHERE, Words, along, for_each};
use crate::points::piece::{Layer, Piece, number};
use crate::points::weld;
use crate::volume_mesh::VolumeMesh;

/// What is kept of a field.
pub trait Filter {
    /// Whether something may be kept of a brick with such values.
    fn wants(&self, found: Extremes) -> bool;

    /// Whether bricks that follow one have points of its cells, though nothing is kept of them.
    fn spreads(&self) -> bool {
        false
    }

    /// What is kept of a brick. Fills the block with its samples and those that follow.
    fn keep(&self, at: [i64; 3], part: &Part, samples: &dyn Samples, block: &mut Block) -> Kept;

    /// The value between two samples of which one is kept and the other is not.
    fn isovalue(&self) -> f32;
}

/// What is kept of a brick.
pub struct Kept {
    pub points: Words<8>,
    pub cells: KeptCells,
}

pub struct KeptCells {
    /// Cells of which all is kept.
    pub whole: [u32; ROWS],
    /// Which samples are kept, where cells are cut.
    pub inside: Option<Inside>,
}

/// What a filter keeps of a field, with the values of this and of further fields. Collective.
///
/// # Errors
/// A rank with too many points; an attribute of another shape; a transfer or a device fails.
#[track_caller]
pub fn solid(view: &View, name: &str, filter: &dyn Filter, attributes: &[&dyn Attribute]) -> Result<VolumeMesh> {
    let _call = CallSite::enter();
    let world = view.world;
    let (mut lists, mut kept): ([Listed; 2], Vec<Vec<KeptCells>>) = Default::default();
    let pieces = world.failing("filtering a field", || {
        let piece = |&(chunk, part, bricks)| {
            let mut piece = Piece::new(chunk, part, bricks, 1, &|found| 0..usize::from(filter.wants(found)));
            if filter.spreads() {
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
    let mut pieces = pieces?;
    let counts = number(world, &mut pieces, 1)?[0];
    let fitted = view.fitted(attributes)?;
    world.failing("filtering a field", || {
        let mut mesh = VolumeMesh::default();
        for (piece, kept) in pieces.iter().zip(&kept) {
            let layer = &piece.layers[0];
            let bases = [layer.before[0], counts[0] + layer.before[1]].map(|base| base as u32);
            let mut cells = Cells { mesh: &mut mesh, mirrored: view.mirrored };
            cells.add(&piece.part, layer, kept, bases);
        }
        let [mut own, ghosts] = lists;
        own.positions.extend(ghosts.positions);
        mesh.points = Points { own: counts[0] as usize, positions: own.positions, ..Points::default() };
        let places = [[own.places, ghosts.places]];
        let further = fitted.iter().map(|(name, field)| (name.as_str(), &**field));
        for (name, field) in std::iter::once((name, view.samples)).chain(further) {
            let all = values(&pieces, EVERYWHERE, &places, field)?.remove(0);
            mesh.points.fields.push((name.into(), all));
        }
        place(view, &mut mesh)?;
        let owned = (&**view.placement.chunks(), &**view.placement.ownership());
        let numbers = weld::ghosts(world, owned, &pieces, EVERYWHERE, &[mesh.points.before])?.remove(0);
        let VolumeMesh { points, hexahedra, tetrahedra, .. } = &mut mesh;
        points.weld(&numbers, hexahedra.as_flattened_mut().iter_mut().chain(tetrahedra.as_flattened_mut()));
        Ok(mesh)
    })
}

/// Points in the order of their numbers.
#[derive(Default)]
struct Listed {
    positions: Vec<[f32; 3]>,
    places: Places,
}

/// Adds the points that are kept of a chunk, own ones and ghosts, and lists what is kept of its own bricks.
fn list(
    Piece { visits, layers, .. }: &mut Piece<8>,
    (part, samples): (&Part, &dyn Samples),
    (view, filter): (&View, &dyn Filter),
    lists: &mut [Listed; 2],
    found: &mut Vec<KeptCells>,
) {
    let mut block = Block::new();
    // Bricks that were visited for cells that begin elsewhere may have nothing.
    visits.retain(|visit| {
        let (is_own, start) = (part.is_own(visit.at), part.samples(visit.at).start);
        let kept = filter.keep(visit.at, part, samples, &mut block);
        if filter.spreads() && kept.points.as_flattened().iter().all(|word| *word == 0) {
            return false;
        }
        let list = &mut lists[usize::from(!is_own)];
        for_each(&kept.points, |at, kind| {
            let direction = EVERYWHERE[kind];
            let mut index = std::array::from_fn(|axis| (part.start[axis] + start[axis] + at[axis]) as f64);
            if direction != 0 {
                let part = between(block.at(at), block.at(along(at, direction)), filter.isovalue());
                (0..3).filter(|axis| direction >> axis & 1 == 1).for_each(|axis| index[axis] += part);
                list.places.along.push(part);
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

/// Corners of a cell of the grid in VTK's order.
const HEXAHEDRON: [u8; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

/// Cells that are added to a mesh.
struct Cells<'a> {
    mesh: &'a mut VolumeMesh,
    /// Whether the grid is, so that corners go round the other way.
    mirrored: bool,
}

impl Cells<'_> {
    /// Adds the cells of a chunk. Own points count from the first of `bases`, ghosts from the second.
    fn add(&mut self, part: &Part, layer: &Layer<8>, kept: &[KeptCells], bases: [u32; 2]) {
        for (brick, kept) in layer.numbering.bricks.iter().zip(kept) {
            let near = Near::new(&layer.numbering, part, brick, bases);
            each(kept.whole, |at| self.whole(&near, at));
            if let Some(inside) = &kept.inside {
                each(inside.cells(), |at| self.cut(&near, at, inside.case(at)));
            }
        }
    }

    fn whole(&mut self, near: &Near<8>, at: [usize; 3]) {
        let [a, b, c, d, e, f, g, h] = HEXAHEDRON.map(|corner| near.number(Place::new(0, corner), at));
        let cell = if self.mirrored { [e, f, g, h, a, b, c, d] } else { [a, b, c, d, e, f, g, h] };
        self.mesh.hexahedra.push(cell);
    }

    fn cut(&mut self, near: &Near<8>, at: [usize; 3], case: u8) {
        for cell in &left(case).tetrahedra {
            let [a, b, c, d] = cell.map(|place| near.number(place, at));
            self.mesh.tetrahedra.push(if self.mirrored { [a, c, b, d] } else { [a, b, c, d] });
        }
    }
}

/// Calls `found` with each cell of some rows.
fn each(rows: [u32; ROWS], mut found: impl FnMut([usize; 3])) {
    for (row, word) in rows.into_iter().enumerate() {
        places(word).for_each(|x| found([x, row % BRICK[1], row / BRICK[1]]));
    }
}

/// Finds where this rank's part stands in the whole. Collective.
fn place(view: &View, mesh: &mut VolumeMesh) -> Result<()> {
    let cells = [mesh.hexahedra.len(), mesh.tetrahedra.len()].map(|count| count as u64);
    let [before, all] = sums(view.world, &[mesh.points.own as u64, cells[0], cells[1]])?;
    let cells = |of: &[u64]| CellCounts { hexahedra: of[1], tetrahedra: of[2] };
    (mesh.points.before, mesh.before) = (before[0], cells(&before));
    (mesh.all_points, mesh.all) = (all[0], cells(&all));
    Ok(())
}
