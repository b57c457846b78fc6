//! Table of all cell cases, computed once.

use std::sync::LazyLock;

use super::contours::contours;
use super::groups::Groups;
use super::{Corner, Edge, ambiguous, band, connected, disc, ends, is_inside, joined};

/// Vertex of a cell's triangles: the number of its edge, or from 12 on an interior vertex.
pub(super) type Vertex = u8;

/// Index of a shape in the table.
pub(crate) type ShapeNumber = u16;

pub(crate) const MOST_INTERIOR: usize = 4;

/// Triangulation of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Triangles, counterclockwise as seen from lower values.
    pub triangles: Vec<[Vertex; 3]>,
    /// Edges with vertices, as bits.
    pub edges: u16,
    /// Edges (bits) of each interior vertex; the mean of their vertices is the start of its search.
    pub interior: Vec<u16>,
}

impl Shape {
    pub(super) fn add_interior(&mut self, edges: &[Edge]) -> Vertex {
        self.interior.push(edges.iter().fold(0, |mask, edge| mask | 1 << edge));
        11 + self.interior.len() as Vertex
    }
}

/// Triangulation for two corner groups that are connected only inside the cell.
#[derive(Clone, Debug)]
struct Bridge {
    /// One corner of each group.
    between: (Corner, Corner),
    shape: ShapeNumber,
}

/// Triangulations of a case with decided ambiguous faces.
#[derive(Clone, Debug)]
struct Entry {
    plain: ShapeNumber,
    bridges: Vec<Bridge>,
}

/// Table of all cases.
#[derive(Debug)]
pub(crate) struct Table {
    /// First entry of each case; a case has one entry per decision of its ambiguous faces.
    starts: [usize; 256],
    entries: Vec<Entry>,
    shapes: Vec<Shape>,
}

pub(crate) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(Table::new);
    &TABLE
}

impl Table {
    fn new() -> Self {
        let mut table = Self { starts: [0; 256], entries: Vec::new(), shapes: Vec::new() };
        for case in 0..=255 {
            table.starts[usize::from(case)] = table.entries.len();
            let faces = ambiguous(case);
            for packed in 0..1_u8 << faces.count_ones() {
                table.add(case, scatter_bits(packed, faces));
            }
        }
        table
    }

    /// True if a case has one shape for all values.
    pub(crate) fn is_plain(&self, case: u8) -> bool {
        let case = usize::from(case);
        let end = self.starts.get(case + 1).copied().unwrap_or(self.entries.len());
        end - self.starts[case] == 1 && self.entries[self.starts[case]].bridges.is_empty()
    }

    /// Shape number of a plain case.
    pub(crate) fn plain(&self, case: u8) -> ShapeNumber {
        self.entries[self.starts[usize::from(case)]].plain
    }

    /// Shapes, in the order of their numbers.
    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    pub(crate) fn numbered(&self, number: ShapeNumber) -> &Shape {
        &self.shapes[usize::from(number)]
    }

    /// Shape number of a cell; bit `i` of `case` is set if value `i` is not negative.
    pub(crate) fn shape(&self, case: u8, values: &[f64; 8]) -> ShapeNumber {
        let packed = gather_bits(joined(case, values), ambiguous(case));
        let entry = &self.entries[self.starts[usize::from(case)] + usize::from(packed)];
        if entry.bridges.is_empty() {
            return entry.plain;
        }
        let groups = connected(values);
        let bridge =
            entry.bridges.iter().find(|bridge| groups.group_of(bridge.between.0) == groups.group_of(bridge.between.1));
        bridge.map_or(entry.plain, |bridge| bridge.shape)
    }

    /// Adds an entry and its shapes.
    fn add(&mut self, case: u8, joined: u8) {
        let contours = contours(case, joined);
        let shapes = &mut self.shapes;
        let mut shape = |band: Option<(usize, usize)>| {
            let mut shape = Shape::default();
            for (i, contour) in contours.iter().enumerate() {
                match band {
                    Some((a, b)) if i == a => band::add(&mut shape, contour, &contours[b]),
                    Some((_, b)) if i == b => {}
                    _ => disc::add(&mut shape, contour),
                }
            }
            shape.edges = contours.iter().flatten().fold(0, |mask, edge| mask | 1 << edge);
            assert!(shape.interior.len() <= MOST_INTERIOR, "{shape:?}");
            shapes.push(shape);
            (shapes.len() - 1) as ShapeNumber
        };
        let plain = shape(None);
        let groups = Groups::on_faces(case, joined);
        let sides: Vec<[Corner; 2]> = contours.iter().map(|contour| sides(case, &groups, contour[0])).collect();
        let mut bridges = Vec::new();
        for inside in [true, false] {
            for a in 0..contours.len() {
                for b in a + 1..contours.len() {
                    let (own, around) = (usize::from(!inside), usize::from(inside));
                    let between = (sides[a][own], sides[b][own]);
                    // Both groups border the same third group.
                    if sides[a][around] == sides[b][around] && groups.face_each_other(between) {
                        bridges.push(Bridge { between, shape: shape(Some((a, b))) });
                    }
                }
            }
        }
        self.entries.push(Entry { plain, bridges });
    }
}

/// Groups of the inside and the outside end of an edge.
fn sides(case: u8, groups: &Groups, edge: Edge) -> [Corner; 2] {
    let (a, b) = ends(edge);
    let (inside, outside) = if is_inside(case, a) { (a, b) } else { (b, a) };
    [groups.group_of(inside), groups.group_of(outside)]
}

/// Gathers the bits of `bits` at the set bits of `mask`.
fn gather_bits(bits: u8, mask: u8) -> u8 {
    let positions = (0..8).filter(|bit| mask >> bit & 1 == 1);
    positions.enumerate().fold(0, |packed, (to, from)| packed | (bits >> from & 1) << to)
}

/// Inverse of [`gather_bits`].
fn scatter_bits(packed: u8, mask: u8) -> u8 {
    let positions = (0..8).filter(|bit| mask >> bit & 1 == 1);
    positions.enumerate().fold(0, |bits, (from, to)| bits | (packed >> from & 1) << to)
}

#[cfg(test)]
impl Table {
    pub(super) fn shapes_of(&self, case: u8, joined: u8) -> impl Iterator<Item = &Shape> {
        let entry = &self.entries[self.starts[usize::from(case)] + usize::from(gather_bits(joined, ambiguous(case)))];
        let numbers = std::iter::once(entry.plain).chain(entry.bridges.iter().map(|bridge| bridge.shape));
        numbers.map(|number| self.numbered(number))
    }
}
