//! How much of a surface its solid cells show.

use std::collections::{HashMap, HashSet};

use zippy::{Result, World};

use super::angle::{area, middle};
use super::bits::{Solid, share};
use super::room::Room;

type Corners = [[f64; 3]; 3];

/// The part of a surface that solid cells show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Projected areas of the surface along x, y and z, in cells², front and back as one: of a
    /// convex shape its outlines. Parts of the surface in the solid, and beyond the box, do not
    /// count.
    pub surface: [f64; 3],
    /// Those of the solid cells.
    pub solid: [u64; 3],
    /// The share of the surface that has no solid cell within a cell.
    pub lost: f64,
    /// Edges between triangles that face different ways, and all edges. Counted only if something
    /// is lost.
    pub turned_edges: [u64; 2],
}

/// Longest edge of the parts into which triangles are split, in cells.
const PART: f64 = 0.5;

/// Unit of sums of areas, in cells².
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// Sums over a surface: projected areas, its area, and the part of it that is lost, in [`UNIT`]s.
/// Integers, so that they are the same for every number of ranks.
type Sums = [i64; 5];

impl Coverage {
    /// Compares a surface, with triangles in cells, with its solid. Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub(super) fn of(
        world: &World,
        room: &Room,
        solid: &Solid,
        count: usize,
        triangle: impl Fn(usize) -> Corners,
    ) -> Result<Self> {
        let all = |numbers: &mut dyn Iterator<Item = usize>| {
            let mut sums = [0; 5];
            numbers.for_each(|number| add(&mut sums, room, solid, &triangle(number)));
            sums
        };
        let own = share(world, count as i64);
        let own = own.start as usize..own.end as usize;
        let mut sums = [all(&mut own.clone())];
        let add_all = |one: &mut Sums, other: &Sums| one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        world.group().all_reduce(&mut sums, add_all)?;
        let mut coverage = Self::from_sums(sums[0], solid);
        if coverage.warns() {
            // Triangles that are there twice are seen once. Every rank knows all of them.
            let mut known = HashSet::new();
            let first: Vec<bool> = (0..count).map(|number| known.insert(sorted(triangle(number)))).collect();
            if known.len() < count {
                let mut sums = [all(&mut own.filter(|&number| first[number]))];
                world.group().all_reduce(&mut sums, add_all)?;
                coverage = Self::from_sums(sums[0], solid);
            }
            coverage.turned_edges = turned_edges((0..count).filter(|&number| first[number]).map(triangle));
        }
        Ok(coverage)
    }

    fn from_sums(sums: Sums, solid: &Solid) -> Self {
        let [x, y, z, whole, lost] = sums.map(|sum| sum as f64 * UNIT);
        let lost = if whole > 0.0 { lost / whole } else { 0.0 };
        Self { surface: [x, y, z].map(|area| 0.5 * area), solid: solid.faces(), lost, turned_edges: [0; 2] }
    }

    /// Whether more is lost than at sharp edges and by rounding to cells.
    fn warns(&self) -> bool {
        let missing = |axis: usize| {
            let area = self.surface[axis];
            area - self.solid[axis] as f64 > (0.05 * area).max(2.0 * area.sqrt())
        };
        let whole: f64 = self.surface.iter().sum();
        self.lost * whole > 1.0 && self.lost > 1e-3 || (0..3).any(missing)
    }

    /// A text for people where parts of the surface are lost.
    pub(super) fn warning(&self) -> Option<String> {
        let ([a, b, c], [d, e, f], lost) = (self.surface, self.solid, 100.0 * self.lost);
        let turned = match self.turned_edges {
            [0, _] => String::new(),
            [turned, edges] => format!(", and {turned} of its {edges} edges have triangles that face different ways"),
        };
        self.warns().then(|| {
            format!(
                "the surface is not closed by its solid cells: along x, y and z its projected areas are {a:.1}, {b:.1} and {c:.1} \
                 cells², those of the solid {d}, {e} and {f}; {lost:.1} % of the surface has no solid cell next to it{turned}. \
                 Parts thinner than a cell and turned triangles become holes: take smaller cells, or thicken it"
            )
        })
    }
}

/// Adds a triangle to the sums, in parts of [`PART`]. Parts outside of the box are skipped before
/// they are divided: the work depends on the cells of the box, not on the size of the triangle.
fn add(sums: &mut Sums, room: &Room, solid: &Solid, triangle: &Corners) {
    let periods = room.periods();
    let may_be_inside = |corners: &Corners| {
        (0..3).all(|axis| {
            let [a, b, c] = [0, 1, 2].map(|k| corners[k][axis]);
            let is_near = a.min(b).min(c) < room.cells[axis] as f64 - 0.5 && a.max(b).max(c) >= -0.5;
            [a, b, c].iter().all(|x| x.is_finite()) && (periods[axis].is_some() || is_near)
        })
    };
    // No recursion: triangles of any size are divided, and stacks of threads are small.
    let mut parts = vec![*triangle];
    while let Some(corners) = parts.pop() {
        if !may_be_inside(&corners) {
            continue;
        }
        let length = |k: usize| {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>()
        };
        let longest = (0..3).max_by(|&one, &other| length(one).total_cmp(&length(other))).unwrap_or(0);
        if length(longest) <= PART * PART {
            add_part(sums, room, solid, &corners);
            continue;
        }
        let [a, b, c] = [0, 1, 2].map(|k| corners[(longest + k) % 3]);
        let half = std::array::from_fn(|axis| 0.5 * a[axis] + 0.5 * b[axis]);
        // No number is between neighbouring floats; these are further apart than cells.
        if half != a && half != b {
            parts.extend([[half, b, c], [a, half, c]]);
        }
    }
}

/// Adds a part of a triangle, not larger than [`PART`].
fn add_part(sums: &mut Sums, room: &Room, solid: &Solid, corners: &Corners) {
    let (normal, point) = (area(corners), middle(corners));
    let periods = room.periods();
    let is_inside =
        |axis: usize| periods[axis].is_some() || (-0.5..room.cells[axis] as f64 - 0.5).contains(&point[axis]);
    if !(0..3).all(is_inside) {
        return;
    }
    let cell: [i64; 3] = point.map(|x| (x + 0.5).floor() as i64);
    let around = || (0..27).map(|k| [cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1]);
    let is_solid = |place: [i64; 3]| solid.contains_unwrapped(place);
    if around().all(is_solid) {
        return;
    }
    let size = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
    for (sum, normal) in sums.iter_mut().zip(normal) {
        *sum += in_units(normal.abs());
    }
    sums[3] += in_units(size);
    sums[4] += if around().any(is_solid) { 0 } else { in_units(size) };
}

fn in_units(area: f64) -> i64 {
    (area / UNIT).round() as i64
}

fn bits(corner: [f64; 3]) -> [u64; 3] {
    // Both zeros are one corner.
    corner.map(|x| (x + 0.0).to_bits())
}

fn sorted(corners: Corners) -> [[u64; 3]; 3] {
    let mut corners = corners.map(bits);
    corners.sort_unstable();
    corners
}

/// How many edges of two triangles both go along in one direction, and how many edges there are.
fn turned_edges(triangles: impl Iterator<Item = Corners>) -> [u64; 2] {
    // Of each edge from its lesser corner to the other one: triangles that go along it, and against
    // it.
    let mut edges: HashMap<[[u64; 3]; 2], [u32; 2]> = HashMap::new();
    for corners in triangles {
        let corners = corners.map(bits);
        for (a, b) in (0..3).map(|k| (corners[k], corners[(k + 1) % 3])).filter(|(a, b)| a != b) {
            let against = usize::from(a > b);
            edges.entry([a.min(b), a.max(b)]).or_default()[against] += 1;
        }
    }
    let turned = edges.values().filter(|&&[along, against]| along.abs_diff(against) > 1).count();
    [turned as u64, edges.len() as u64]
}
