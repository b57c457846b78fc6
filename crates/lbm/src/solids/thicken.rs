//! The cells that triangles pass through.

use zippy::{Result, World};

use super::angle::{area, cross, dot, less};
use super::bits::{Draft, Solid, share};

type Corners = [[f64; 3]; 3];

/// Least and greatest coordinate of a box along each axis.
type Bounds = [[f64; 3]; 2];

/// Adds the cells that triangles pass through to a solid. Collective.
///
/// Triangles are in cells, with middles at whole numbers. A triangle along the axes that passes
/// through a cell within `skin` of some of its faces adds the cell only where no neighbour across
/// them is solid: a face between two cells thickens nothing.
pub fn thicken(
    world: &World,
    inside: Solid,
    count: usize,
    triangle: impl Fn(usize) -> Corners,
    skin: f64,
) -> Result<Solid> {
    let [start, extents] = inside.window();
    let mut draft = Draft::of(&inside);
    let mut at_faces: Vec<([i64; 3], u8)> = Vec::new();
    for corners in share(world, count as i64).map(|number| triangle(number as usize)) {
        // Cells of the window that its box touches.
        let low: [i64; 3] = std::array::from_fn(|axis| {
            let least = corners.iter().fold(f64::INFINITY, |least, corner| least.min(corner[axis]));
            ((least - 0.5).ceil() as i64).max(start[axis])
        });
        let high: [i64; 3] = std::array::from_fn(|axis| {
            let most = corners.iter().fold(f64::NEG_INFINITY, |most, corner| most.max(corner[axis]));
            ((most + 0.5).floor() as i64).saturating_add(1).min(start[axis] + extents[axis])
        });
        visit(&corners, low, high, &mut |cell| {
            let place = std::array::from_fn(|axis| cell[axis] - start[axis]);
            match faces_near(&corners, cell, skin) {
                0 => draft.set(place),
                faces if is_along(&corners, faces) => at_faces.push((cell, faces)),
                _ => draft.set(place),
            }
        });
    }
    let mut solid = draft.shared(world)?;
    // Those at a face before those at an edge, and these before those at a corner.
    for count in 1..=3 {
        let mut draft = Draft::of(&solid);
        for (cell, faces) in at_faces.iter().filter(|(_, faces)| faces.count_ones() == count) {
            if !is_beyond(&solid, *cell, *faces) {
                draft.set(std::array::from_fn(|axis| cell[axis] - start[axis]));
            }
        }
        solid = draft.shared(world)?;
    }
    Ok(solid)
}

/// Whether a neighbour across some of the faces is solid.
fn is_beyond(solid: &Solid, cell: [i64; 3], faces: u8) -> bool {
    let is_near = |face: usize| i64::from(faces >> face & 1);
    let way = |axis: usize| is_near(2 * axis + 1) - is_near(2 * axis);
    (1..8).any(|axes| {
        let beyond = std::array::from_fn(|axis| cell[axis] + if axes >> axis & 1 == 1 { way(axis) } else { 0 });
        beyond != cell && solid.contains_unwrapped(beyond)
    })
}

/// Whether a triangle is parallel to faces, or ends at them at a right angle. Others may close a
/// way across an edge of cells.
fn is_along(corners: &Corners, faces: u8) -> bool {
    const STRAIGHT: f64 = 1e-4;
    let normal = area(corners);
    let length = dot(normal, normal).sqrt();
    let is_straight = |part: f64| part.abs() <= STRAIGHT * length || part.abs() >= (1.0 - STRAIGHT) * length;
    (0..6).all(|face| faces >> face & 1 == 0 || is_straight(normal[face / 2]))
}

/// Calls `found` for each cell from `low` on and before `high` that a triangle touches.
fn visit(corners: &Corners, low: [i64; 3], high: [i64; 3], found: &mut impl FnMut([i64; 3])) {
    let extents: [i64; 3] = std::array::from_fn(|axis| high[axis] - low[axis]);
    let bounds = [low.map(|x| x as f64 - 0.5), high.map(|x| x as f64 - 0.5)];
    if extents.iter().any(|&n| n < 1) || !touches(corners, &bounds) {
        return;
    }
    let axis = (0..3).max_by_key(|&axis| extents[axis]).unwrap_or(0);
    if extents[axis] == 1 {
        return found(low);
    }
    let (mut end, mut start) = (high, low);
    end[axis] = low[axis] + extents[axis] / 2;
    start[axis] = end[axis];
    visit(corners, low, end, found);
    visit(corners, start, high, found);
}

/// A bit for each face of a cell, lower and upper by axis, near which the whole part of the
/// triangle in the cell is.
fn faces_near(corners: &Corners, cell: [i64; 3], skin: f64) -> u8 {
    let is_near = |face: &usize| {
        let mut bounds = [cell.map(|x| x as f64 - 0.5), cell.map(|x| x as f64 + 0.5)];
        bounds[face % 2][face / 2] += if face % 2 == 1 { -skin } else { skin };
        !touches(corners, &bounds)
    };
    (0..6).filter(is_near).fold(0, |faces, face| faces | 1 << face)
}

/// Whether a triangle and a box have a point in common: no axis separates them (Akenine-Möller
/// 2001).
fn touches(corners: &Corners, [low, high]: &Bounds) -> bool {
    let middle: [f64; 3] = std::array::from_fn(|axis| 0.5 * (low[axis] + high[axis]));
    let half: [f64; 3] = std::array::from_fn(|axis| 0.5 * (high[axis] - low[axis]));
    let corners = corners.map(|corner| less(corner, middle));
    let separates = |axis: [f64; 3]| {
        let along = corners.map(|corner| dot(axis, corner));
        let reach: f64 = (0..3).map(|k| half[k] * axis[k].abs()).sum();
        along.iter().all(|&x| x > reach) || along.iter().all(|&x| x < -reach)
    };
    let unit = |axis: usize| std::array::from_fn(|k| if k == axis { 1.0 } else { 0.0 });
    let [a, b, c] = corners;
    let edges = [less(b, a), less(c, b), less(a, c)];
    !((0..3).any(|axis| separates(unit(axis)))
        || separates(cross(edges[0], edges[1]))
        || edges.iter().any(|&edge| (0..3).any(|axis| separates(cross(unit(axis), edge)))))
}

#[cfg(test)]
mod tests {
    use super::touches;

    #[test]
    fn triangle_touches_boxes_that_it_crosses_and_no_others() {
        let unit = [[-0.5; 3], [0.5; 3]];
        let corner = |far: f64| [[far, 0.0, 0.0], [0.0, far, 0.0], [0.0, 0.0, far]];
        // The plane x + y + z = far meets the cube up to its corner at 1.5.
        assert!(touches(&corner(1.49), &unit) && !touches(&corner(1.51), &unit));
        let through = [[-9.0, -9.0, 0.1], [9.0, -9.0, 0.1], [0.0, 9.0, 0.1]];
        assert!(touches(&through, &unit));
        assert!(!touches(&through.map(|[x, y, z]| [x, y, z + 0.41]), &unit));
        // In the plane x + y = 1.1, next to an edge.
        let beside = [[0.4, 0.7, -2.0], [0.4, 0.7, 2.0], [0.7, 0.4, 0.0]];
        assert!(!touches(&beside, &unit));
    }
}
