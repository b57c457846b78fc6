//! Addition of the cells that triangles pass through to a solid.

use zippy::{Result, World};

use super::rank_share::rank_share;
use super::solid_mask::{SolidMask, SolidMaskBuilder};
use super::triangle::{Triangle, TriangleList, area_vector, cross, dot, subtract};

type Bounds = [[f64; 3]; 2];

/// Faces of a cell as bits: bit 2 × axis is the lower face, bit 2 × axis + 1 the upper face.
#[derive(Clone, Copy)]
struct FaceSet(u8);

impl FaceSet {
    fn contains(self, face: usize) -> bool {
        self.0 >> face & 1 == 1
    }

    fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Direction from the cell across the faces of an axis: -1, 0 or 1.
    fn direction(self, axis: usize) -> i64 {
        i64::from(self.contains(2 * axis + 1)) - i64::from(self.contains(2 * axis))
    }
}

/// Adds the cells that triangles pass through to a solid. Collective.
///
/// Triangles are in cells, with cell centres at whole numbers. A cell with an axis-parallel
/// triangle within `skin` of some faces is added only if no neighbour across these faces is solid,
/// so that a face between two cells thickens nothing.
pub(super) fn thicken(
    world: &World,
    inside: SolidMask,
    triangles: &TriangleList<impl Fn(usize) -> Triangle>,
    skin: f64,
) -> Result<SolidMask> {
    let (start, extents) = (inside.start(), inside.extents());
    let mut builder = SolidMaskBuilder::from_mask(&inside);
    let mut at_faces: Vec<([i64; 3], FaceSet)> = Vec::new();
    for triangle in rank_share(world, triangles.count as i64).map(|index| (triangles.get)(index as usize)) {
        let low: [i64; 3] = std::array::from_fn(|axis| {
            let least = triangle.iter().fold(f64::INFINITY, |least, corner| least.min(corner[axis]));
            ((least - 0.5).ceil() as i64).max(start[axis])
        });
        let high: [i64; 3] = std::array::from_fn(|axis| {
            let most = triangle.iter().fold(f64::NEG_INFINITY, |most, corner| most.max(corner[axis]));
            ((most + 0.5).floor() as i64).saturating_add(1).min(start[axis] + extents[axis])
        });
        visit_touched_cells(&triangle, low, high, &mut |cell| {
            let faces = faces_within_skin(&triangle, cell, skin);
            if faces.len() > 0 && is_along_faces(&triangle, faces) {
                at_faces.push((cell, faces));
            } else {
                builder.set(std::array::from_fn(|axis| cell[axis] - start[axis]));
            }
        });
    }
    let mut solid = builder.merge_ranks(world)?;
    // Cells at one face before cells at an edge, and these before cells at a corner.
    for count in 1..=3 {
        let mut builder = SolidMaskBuilder::from_mask(&solid);
        for (cell, faces) in at_faces.iter().filter(|(_, faces)| faces.len() == count) {
            if !has_solid_neighbour(&solid, *cell, *faces) {
                builder.set(std::array::from_fn(|axis| cell[axis] - start[axis]));
            }
        }
        solid = builder.merge_ranks(world)?;
    }
    Ok(solid)
}

fn has_solid_neighbour(solid: &SolidMask, cell: [i64; 3], faces: FaceSet) -> bool {
    (1..8).any(|axes| {
        let step = |axis: usize| if axes >> axis & 1 == 1 { faces.direction(axis) } else { 0 };
        let neighbour = std::array::from_fn(|axis| cell[axis] + step(axis));
        neighbour != cell && solid.contains_unwrapped(neighbour)
    })
}

/// True if a triangle is parallel or perpendicular to each of the faces. Oblique triangles may
/// close a way across an edge of cells.
fn is_along_faces(triangle: &Triangle, faces: FaceSet) -> bool {
    const ANGLE_TOLERANCE: f64 = 1e-4;
    let normal = area_vector(triangle);
    let length = dot(normal, normal).sqrt();
    let is_straight = |component: f64| {
        component.abs() <= ANGLE_TOLERANCE * length || component.abs() >= (1.0 - ANGLE_TOLERANCE) * length
    };
    (0..6).all(|face| !faces.contains(face) || is_straight(normal[face / 2]))
}

/// Calls `visit` for each cell from `low` (inclusive) to `high` (exclusive) that a triangle
/// touches.
fn visit_touched_cells(triangle: &Triangle, low: [i64; 3], high: [i64; 3], visit: &mut impl FnMut([i64; 3])) {
    let extents: [i64; 3] = std::array::from_fn(|axis| high[axis] - low[axis]);
    let bounds = [low.map(|x| x as f64 - 0.5), high.map(|x| x as f64 - 0.5)];
    if extents.iter().any(|&n| n < 1) || !touches(triangle, &bounds) {
        return;
    }
    let axis = (0..3).max_by_key(|&axis| extents[axis]).unwrap_or(0);
    if extents[axis] == 1 {
        return visit(low);
    }
    let (mut end, mut start) = (high, low);
    end[axis] = low[axis] + extents[axis] / 2;
    start[axis] = end[axis];
    visit_touched_cells(triangle, low, end, visit);
    visit_touched_cells(triangle, start, high, visit);
}

/// Faces of a cell that have the whole part of the triangle in the cell within `skin`.
fn faces_within_skin(triangle: &Triangle, cell: [i64; 3], skin: f64) -> FaceSet {
    let is_near = |face: &usize| {
        let mut bounds = [cell.map(|x| x as f64 - 0.5), cell.map(|x| x as f64 + 0.5)];
        bounds[face % 2][face / 2] += if face % 2 == 1 { -skin } else { skin };
        !touches(triangle, &bounds)
    };
    FaceSet((0..6).filter(is_near).fold(0, |faces, face| faces | 1 << face))
}

/// True if a triangle and a box have a common point: no axis separates them (Akenine-Möller 2001).
fn touches(triangle: &Triangle, [low, high]: &Bounds) -> bool {
    let centre: [f64; 3] = std::array::from_fn(|axis| 0.5 * (low[axis] + high[axis]));
    let half: [f64; 3] = std::array::from_fn(|axis| 0.5 * (high[axis] - low[axis]));
    let triangle = triangle.map(|corner| subtract(corner, centre));
    let separates = |axis: [f64; 3]| {
        let along = triangle.map(|corner| dot(axis, corner));
        let reach: f64 = (0..3).map(|k| half[k] * axis[k].abs()).sum();
        along.iter().all(|&x| x > reach) || along.iter().all(|&x| x < -reach)
    };
    let unit = |axis: usize| std::array::from_fn(|k| if k == axis { 1.0 } else { 0.0 });
    let [a, b, c] = triangle;
    let edges = [subtract(b, a), subtract(c, b), subtract(a, c)];
    !((0..3).any(|axis| separates(unit(axis)))
        || separates(cross(edges[0], edges[1]))
        || edges.iter().any(|&edge| (0..3).any(|axis| separates(cross(unit(axis), edge)))))
}

#[cfg(test)]
mod tests {
    use super::touches;

    #[test]
    fn triangle_touches_only_boxes_that_it_crosses() {
        let unit = [[-0.5; 3], [0.5; 3]];
        let corner = |distance: f64| [[distance, 0.0, 0.0], [0.0, distance, 0.0], [0.0, 0.0, distance]];
        // The plane x + y + z = distance meets the cube up to the corner at 1.5.
        assert!(touches(&corner(1.49), &unit) && !touches(&corner(1.51), &unit));
        let through = [[-9.0, -9.0, 0.1], [9.0, -9.0, 0.1], [0.0, 9.0, 0.1]];
        assert!(touches(&through, &unit));
        assert!(!touches(&through.map(|[x, y, z]| [x, y, z + 0.41]), &unit));
        let next_to_edge = [[0.4, 0.7, -2.0], [0.4, 0.7, 2.0], [0.7, 0.4, 0.0]];
        assert!(!touches(&next_to_edge, &unit));
    }
}
