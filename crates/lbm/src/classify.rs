//! Role of each cell in the lattice of a problem.

use crate::cell_index::CellIndex;
use crate::lattice_cell::{LatticeCell, OpenCondition};
use crate::problem::Problem;
use crate::side::Side;

/// Cell after reflection at free-slip sides and wrapping along periodic axes.
pub(crate) struct ReflectedCell {
    pub cell: CellIndex,
    /// Steps along each axis from the image beyond free-slip sides to the cell.
    pub steps: [i64; 3],
}

impl Problem {
    /// True for cells of the box with fluid; false outside of the box.
    pub fn is_fluid(&self, cell: CellIndex) -> bool {
        self.contains(cell) && self.classify(cell).is_fluid()
    }

    /// Reflects a cell one layer beyond free-slip sides into the box, and wraps it along periodic
    /// axes.
    pub(crate) fn reflect(&self, cell: CellIndex) -> ReflectedCell {
        let mut reflected = ReflectedCell { cell, steps: [0; 3] };
        for (axis, x) in cell.into_iter().enumerate() {
            let cells = self.extents[axis];
            if self.is_periodic(axis) {
                reflected.cell[axis] = x.rem_euclid(cells);
                continue;
            }
            reflected.steps[axis] = match &self.sides[axis] {
                [Side::FreeSlip, _] if x == -1 => 1,
                [_, Side::FreeSlip] if x == cells => -1,
                _ => 0,
            };
            reflected.cell[axis] += reflected.steps[axis];
        }
        reflected
    }

    /// Role of a cell in the box or up to two cells beyond it.
    pub(crate) fn classify(&self, cell: CellIndex) -> LatticeCell {
        let ReflectedCell { cell, steps } = self.reflect(cell);
        let role = self.classify_reflected(cell);
        match role {
            LatticeCell::MovingSolid(velocity) => {
                let image = |axis: usize| if steps[axis] == 0 { velocity[axis] } else { -velocity[axis] };
                LatticeCell::MovingSolid(std::array::from_fn(image))
            }
            _ if steps != [0; 3] && role.is_fluid() => LatticeCell::Mirror(steps),
            _ => role,
        }
    }

    fn classify_reflected(&self, cell: CellIndex) -> LatticeCell {
        let side_beyond = |axis: usize| match cell[axis] {
            x if x < 0 => Some(&self.sides[axis][0]),
            x if x >= self.extents[axis] => Some(&self.sides[axis][1]),
            _ => None,
        };
        let sides = [side_beyond(0), side_beyond(1), side_beyond(2)];
        if sides.iter().any(Option::is_some) {
            return classify_outside(sides);
        }
        if let Some(body) = self.bodies.iter().find(|body| (body.is_inside)(cell)) {
            let velocity = (body.velocity)(cell);
            let is_at_rest = velocity == [0.0; 3];
            return if is_at_rest { LatticeCell::Solid } else { LatticeCell::MovingSolid(velocity) };
        }
        (0..3).find_map(|axis| self.classify_at_open_side(cell, axis)).unwrap_or(LatticeCell::Fluid)
    }

    fn classify_at_open_side(&self, cell: CellIndex, axis: usize) -> Option<LatticeCell> {
        for (side, end) in self.sides[axis].iter().zip([0, self.extents[axis] - 1]) {
            if cell[axis] != end {
                continue;
            }
            let mut normal = [0; 3];
            normal[axis] = if end == 0 { 1 } else { -1 };
            let condition = match side {
                Side::Velocity(velocity) => OpenCondition::Velocity(velocity(cell)),
                Side::Pressure(density) => OpenCondition::Pressure(*density),
                Side::Outlet(density) if self.has_inner_neighbour(cell, axis, normal) => {
                    OpenCondition::Outlet(*density)
                }
                Side::Outlet(density) => OpenCondition::Pressure(*density),
                _ => continue,
            };
            return Some(LatticeCell::Open { normal, condition });
        }
        None
    }

    /// True if an outlet cell has a fluid neighbour that is not at an open side itself.
    fn has_inner_neighbour(&self, cell: CellIndex, axis: usize, normal: [i64; 3]) -> bool {
        let neighbour = std::array::from_fn(|axis| cell[axis] + normal[axis]);
        self.extents[axis] > 2 && !self.bodies.iter().any(|body| (body.is_inside)(neighbour))
    }
}

/// Role of a cell beyond one or, at edges and corners, several sides: moving if all sides are walls
/// with the same velocity, otherwise at rest (including cells beyond open sides and images).
fn classify_outside(sides: [Option<&Side>; 3]) -> LatticeCell {
    let mut common_velocity = None;
    for side in sides.into_iter().flatten() {
        match side {
            Side::MovingWall(velocity) if common_velocity.is_none_or(|other| other == *velocity) => {
                common_velocity = Some(*velocity);
            }
            _ => return LatticeCell::Solid,
        }
    }
    common_velocity.map_or(LatticeCell::Solid, LatticeCell::MovingSolid)
}

#[cfg(test)]
mod tests {
    use super::{LatticeCell, OpenCondition, Problem, Side, classify_outside};
    use crate::velocity_set::VelocitySet;

    #[test]
    fn corner_moves_only_if_all_its_walls_move_alike() {
        let lid = Side::MovingWall([0.1, 0.0, 0.0]);
        let other = Side::MovingWall([0.0, 0.0, 0.1]);
        let (wall, open) = (Side::Wall, Side::Pressure(1.0));
        let corner = |sides: [&Side; 3]| classify_outside(sides.map(Some));
        for rotation in 0..3 {
            let rotated = |mut sides: [&Side; 3]| {
                sides.rotate_left(rotation);
                corner(sides)
            };
            assert_eq!(rotated([&lid, &lid, &wall]), LatticeCell::Solid);
            assert_eq!(rotated([&lid, &lid, &other]), LatticeCell::Solid);
            assert_eq!(rotated([&lid, &lid, &open]), LatticeCell::Solid);
        }
        assert_eq!(corner([&lid; 3]), LatticeCell::MovingSolid([0.1, 0.0, 0.0]));
    }

    #[test]
    fn cells_beyond_free_slip_sides_are_images() {
        let lid = || Side::MovingWall([0.1, 0.0, 0.2]);
        let problem = Problem::new(VelocitySet::D3Q19, [4, 5, 6])
            .sides(0, Side::FreeSlip, Side::Pressure(1.0))
            .sides(1, lid(), Side::FreeSlip)
            .sides(2, Side::FreeSlip, Side::FreeSlip)
            .moving_body([0.0; 3], |[x, y, _]| x == 0 && y == 2, |_| [0.01, 0.02, 0.03]);
        assert_eq!(problem.classify([-1, 1, 3]), LatticeCell::Mirror([1, 0, 0]));
        assert_eq!(problem.classify([2, 5, 3]), LatticeCell::Mirror([0, -1, 0]));
        assert_eq!(problem.classify([2, 5, -1]), LatticeCell::Mirror([0, -1, 1]));
        assert_eq!(problem.classify([-1, 5, 6]), LatticeCell::Mirror([1, -1, -1]));
        assert_eq!(problem.classify([3, 5, 6]), LatticeCell::Mirror([0, -1, -1]));
        assert_eq!(problem.classify([-1, 2, 3]), LatticeCell::MovingSolid([-0.01, 0.02, 0.03]));
        assert_eq!(problem.classify([-1, 2, -1]), LatticeCell::MovingSolid([-0.01, 0.02, -0.03]));
        assert_eq!(problem.classify([-1, -1, 3]), LatticeCell::MovingSolid([-0.1, 0.0, 0.2]));
        assert_eq!(problem.classify([4, 5, 3]), LatticeCell::Solid);
        assert_eq!(problem.classify([-2, 1, 3]), LatticeCell::Solid);
        let closed = |axis| Problem::new(VelocitySet::D3Q19, [4, 5, 6]).sides(axis, Side::FreeSlip, Side::Wall);
        assert_eq!(closed(1).classify([-3, -1, 7]), LatticeCell::Mirror([0, 1, 0]));
    }

    #[test]
    fn outlet_without_inner_neighbour_is_a_pressure() {
        let condition = |cells: i64, x: i64| {
            let problem = Problem::new(VelocitySet::D3Q19, [cells, 4, 4]);
            match problem.sides(0, Side::Pressure(1.1), Side::Outlet(0.9)).classify([x, 2, 2]) {
                LatticeCell::Open { condition, .. } => condition,
                cell => panic!("{cell:?}"),
            }
        };
        assert_eq!(condition(3, 2), OpenCondition::Outlet(0.9));
        assert_eq!(condition(2, 1), OpenCondition::Pressure(0.9));
        assert_eq!(condition(2, 0), OpenCondition::Pressure(1.1));
    }
}
