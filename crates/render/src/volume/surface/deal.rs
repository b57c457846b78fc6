//! Which rank draws which triangles: a fragment is blended by the rank that casts the brick in which it lies, so that each
//! rank has the triangles that reach into its bricks.

use std::collections::{BTreeMap, HashMap};

use zippy::transport::{copied, values};
use zippy::{Result, World};

use super::triangles::{Corner, Triangles};
use crate::volume::bricks::{CellBox, Lattice, joined};
use crate::volume::space::boxes_of_all;

/// Triangles and the vertices that they use.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub corners: Vec<Corner>,
    pub order: Vec<u32>,
}

/// Triangles for one rank, while they are gathered.
#[derive(Default)]
struct Gathered {
    drawn: Drawn,
    /// Where each vertex is among them: in a list, or in a map.
    near: Vec<u32>,
    far: HashMap<u32, u32>,
}

/// A vertex that is not among them yet.
const NOWHERE: u32 = u32::MAX;

/// Where bricks are.
#[derive(Debug, PartialEq)]
pub(in crate::volume) struct Bricks {
    pub lattice: Lattice,
    /// The rank of each brick.
    pub ranks: Vec<usize>,
    /// The distance of voxels.
    pub spacing: [f64; 3],
}

impl Bricks {
    /// Rounding moves fragments by less than this many voxels; so do rasterisers, which may move vertices by a sixteenth of a
    /// pixel, while a pixel is not wider than eight voxels.
    fn margin(&self) -> [f64; 3] {
        self.lattice.all_cells().map(|cells| 0.5 + 1e-6 * f64::from(cells))
    }

    /// The cells that a triangle may reach into, those around the volume among them.
    fn cells(&self, places: [[f32; 3]; 3]) -> CellBox {
        let margin = self.margin();
        let ends = |axis: usize| {
            let along = places.map(|place| f64::from(place[axis]));
            let low = along.iter().fold(f64::INFINITY, |least, &at| least.min(at));
            let high = along.iter().fold(f64::NEG_INFINITY, |most, &at| most.max(at));
            [(low - margin[axis]).floor(), (high + margin[axis]).floor() + 1.0]
        };
        // Fragments outside of the volume belong to the cells at its border.
        let last = |axis: usize| f64::from(self.lattice.all_cells()[axis]);
        let low = std::array::from_fn(|axis| ends(axis)[0].clamp(0.0, last(axis) - 1.0) as i32);
        (low, std::array::from_fn(|axis| ends(axis)[1].clamp(1.0, last(axis)) as i32))
    }

    /// Sends each triangle to the ranks that have the bricks it reaches into. Collective.
    pub(super) fn deal(&self, world: &World, of: &Triangles) -> Result<Drawn> {
        let mut gathered: BTreeMap<usize, Gathered> = BTreeMap::new();
        // Most stay here: for them a look into a list instead of one into a map.
        let own = Gathered { near: vec![NOWHERE; of.positions.len()], ..Gathered::default() };
        gathered.insert(world.rank(), own);
        for corners in of.triangles {
            let made = corners.map(|vertex| of.corner(vertex as usize, self.spacing));
            let bricks = self.lattice.around(&self.cells(made.map(|corner| corner.place)));
            let mut ranks: Vec<usize> = self.lattice.within(&bricks).map(|brick| self.ranks[brick]).collect();
            ranks.sort_unstable();
            ranks.dedup();
            for rank in ranks {
                let Gathered { drawn, near, far } = gathered.entry(rank).or_default();
                for (&vertex, corner) in corners.iter().zip(made) {
                    let place = match near.get_mut(vertex as usize) {
                        Some(place) => place,
                        None => far.entry(vertex).or_insert(NOWHERE),
                    };
                    if *place == NOWHERE {
                        *place = drawn.corners.len() as u32;
                        drawn.corners.push(corner);
                    }
                    drawn.order.push(*place);
                }
            }
        }
        let mut all = gathered.remove(&world.rank()).map(|own| own.drawn).unwrap_or_default();
        let messages = gathered
            .iter()
            .flat_map(|(&rank, Gathered { drawn, .. })| [(rank, copied(&drawn.corners)), (rank, copied(&drawn.order))]);
        let received = world.group().sparse_exchange(messages.collect())?;
        for both in received.chunks_exact(2) {
            let first = all.corners.len() as u32;
            all.corners.extend(values::<Corner>(&both[0].1)?);
            all.order.extend(values::<u32>(&both[1].1)?.iter().map(|place| first + place));
        }
        Ok(all)
    }

    /// For each brick of all ranks the cells of it that triangles may reach into; `drawn` are those of this rank.
    /// Collective.
    pub(super) fn reached(&self, world: &World, drawn: &Drawn) -> Result<Vec<Option<CellBox>>> {
        let mut own: BTreeMap<usize, CellBox> = BTreeMap::new();
        for corners in drawn.order.as_chunks::<3>().0 {
            let cells = self.cells(corners.map(|place| drawn.corners[place as usize].place));
            for brick in self.lattice.within(&self.lattice.around(&cells)) {
                if self.ranks[brick] == world.rank() {
                    let cells = common(&cells, &self.lattice.cells(&self.lattice.single(brick)));
                    own.entry(brick).and_modify(|known| *known = joined(known, &cells)).or_insert(cells);
                }
            }
        }
        boxes_of_all(world, own, self.lattice.count())
    }
}

/// What both hold.
fn common((low, high): &CellBox, (other_low, other_high): &CellBox) -> CellBox {
    let low = std::array::from_fn(|axis| low[axis].max(other_low[axis]));
    (low, std::array::from_fn(|axis| high[axis].min(other_high[axis])))
}
