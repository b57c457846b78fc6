//! Small flows with all kinds of sides, cells and collisions, as a `Problem` and as a
//! `ReferenceFlow`.

use zippy::{Result, World};
use zippy_lbm::{CellIndex, Collision, Cut, Flow, Precision, Problem, Side, VelocitySet};

use super::reference_flow::{CellRole, ReferenceFlow};

/// Side of the box as plain data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TestSide {
    Periodic,
    Wall,
    Lid([f64; 3]),
    Mirror,
    /// Speed along the axis.
    Inflow(f64),
    Pressure(f64),
    Outlet(f64),
}

use TestSide::{Inflow, Lid, Mirror, Outlet, Periodic, Pressure, Wall};

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub name: &'static str,
    pub set: VelocitySet,
    pub extents: [i64; 3],
    pub sides: [[TestSide; 2]; 3],
    pub force: [f64; 3],
    pub is_bgk: bool,
    pub is_cumulant: bool,
    pub smagorinsky: f64,
    pub viscosity: f64,
    /// True with scattered solid cells, some of them moving.
    pub has_solids: bool,
    /// True with a force for each cell.
    pub has_force_field: bool,
    pub precision: Precision,
}

/// Pseudorandom number from 0 to 1 for a cell.
fn noise(at: CellIndex, salt: i64) -> f64 {
    let mut x = (at[0] * 7_919 + at[1] * 104_729 + at[2] * 1_299_709 + salt * 15_485_863) as u64;
    x = (x ^ x >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x >> 11) as f64 / (1_u64 << 53) as f64
}

fn density(at: CellIndex) -> f64 {
    1.0 + 0.02 * (noise(at, 1) - 0.5)
}

impl Case {
    fn velocity(&self, at: CellIndex) -> [f64; 3] {
        let u = [2, 3, 4].map(|salt| 0.06 * (noise(at, salt) - 0.5));
        if self.set == VelocitySet::D2Q9 { [u[0], u[1], 0.0] } else { u }
    }

    fn force_at(&self, at: CellIndex) -> [f64; 3] {
        let force = [7, 8, 9].map(|salt| 1e-3 * (noise(at, salt) - 0.5));
        match (self.has_force_field, self.set) {
            (false, _) => [0.0; 3],
            (true, VelocitySet::D2Q9) => [force[0], force[1], 0.0],
            (true, _) => force,
        }
    }

    fn solid_velocity(&self, at: CellIndex) -> Option<[f64; 3]> {
        let is_solid = self.has_solids && noise(at, 5) < 0.1;
        let plane = self.set == VelocitySet::D2Q9;
        is_solid.then(|| if noise(at, 6) < 0.3 { [0.02, -0.01, if plane { 0.0 } else { 0.015 }] } else { [0.0; 3] })
    }

    pub(crate) fn problem(&self) -> Problem {
        let side = |beyond: TestSide, axis: usize, up: f64| match beyond {
            Periodic => Side::Periodic,
            Wall => Side::Wall,
            Lid(u) => Side::MovingWall(u),
            Mirror => Side::FreeSlip,
            Inflow(speed) => {
                let mut u = [0.0; 3];
                u[axis] = up * speed;
                Side::Velocity(std::rc::Rc::new(move |_| u))
            }
            Pressure(density) => Side::Pressure(density),
            Outlet(density) => Side::Outlet(density),
        };
        let [for_cells, for_surfaces, for_fluid] = [self.clone(), self.clone(), self.clone()];
        let mut problem = Problem::new(self.set, self.extents).viscosity(self.viscosity).force(self.force);
        for (axis, [below, above]) in self.sides.into_iter().enumerate() {
            problem = problem.sides(axis, side(below, axis, 1.0), side(above, axis, -1.0));
        }
        if self.is_bgk {
            problem = problem.collision(Collision::Bgk);
        }
        if self.is_cumulant {
            problem = problem.collision(Collision::Cumulant);
        }
        if self.smagorinsky > 0.0 {
            problem = problem.smagorinsky(self.smagorinsky);
        }
        if self.has_force_field {
            let case = self.clone();
            problem = problem.force_field(move |at| case.force_at(at));
        }
        problem
            .precision(self.precision)
            .moving_body(
                [0.0; 3],
                move |at| for_cells.solid_velocity(at).is_some(),
                move |at| for_surfaces.solid_velocity(at).unwrap_or_default(),
            )
            .initial_flow(density, move |at| for_fluid.velocity(at))
    }

    fn side_layers(&self, axis: usize) -> i64 {
        (self.sides[axis][0] != Periodic).into()
    }

    fn role(&self, at: CellIndex) -> CellRole {
        let beyond: Vec<(usize, TestSide)> = (0..3)
            .filter(|&axis| !(0..self.extents[axis]).contains(&at[axis]))
            .map(|axis| (axis, self.sides[axis][usize::from(at[axis] >= 0)]))
            .collect();
        let mirrors = [0, 1, 2].map(|axis| beyond.contains(&(axis, Mirror)));
        if mirrors.contains(&true) {
            let nearest =
                |axis: usize| if mirrors[axis] { at[axis].clamp(0, self.extents[axis] - 1) } else { at[axis] };
            return match self.role([0, 1, 2].map(nearest)) {
                CellRole::Solid => CellRole::Solid,
                CellRole::Moving(u) => CellRole::Moving([0, 1, 2].map(|k| if mirrors[k] { -u[k] } else { u[k] })),
                _ => CellRole::Mirror(mirrors),
            };
        }
        if !beyond.is_empty() {
            let lids: Vec<_> =
                beyond.iter().filter_map(|(_, one)| if let Lid(u) = one { Some(*u) } else { None }).collect();
            let open = |(_, one): &(usize, TestSide)| matches!(one, Inflow(_) | Pressure(_) | Outlet(_));
            return match (beyond.iter().any(|one| one.1 == Wall || open(one)), lids.first()) {
                (true, _) => CellRole::Solid,
                (false, Some(&u)) if lids.iter().all(|other| *other == u) => CellRole::Moving(u),
                _ => CellRole::Solid,
            };
        }
        if let Some(u) = self.solid_velocity(at) {
            return if u == [0.0; 3] { CellRole::Solid } else { CellRole::Moving(u) };
        }
        for axis in 0..3 {
            for (side, up) in [(0, 1_i64), (1, -1)] {
                let end = if side == 0 { 0 } else { self.extents[axis] - 1 };
                let mut normal = [0; 3];
                normal[axis] = up;
                match self.sides[axis][side] {
                    Inflow(speed) if at[axis] == end => {
                        return CellRole::Velocity { normal, u: normal.map(|n| n as f64 * speed) };
                    }
                    Pressure(density) if at[axis] == end => return CellRole::Pressure { normal, density },
                    Outlet(density) if at[axis] == end => {
                        let before = std::array::from_fn(|axis| at[axis] + normal[axis]);
                        return match self.solid_velocity(before) {
                            Some(_) => CellRole::Pressure { normal, density },
                            None => CellRole::Outlet { normal, density },
                        };
                    }
                    _ => {}
                }
            }
        }
        CellRole::Fluid
    }

    /// 3 ν of a cell: at least 0.06 in four layers at an open side, and 0.8 times the minimum of
    /// the layer before in each further layer.
    fn viscous_time(&self, at: CellIndex) -> f64 {
        let open = |axis: usize, side: usize| matches!(self.sides[axis][side], Inflow(_) | Pressure(_) | Outlet(_));
        let layers =
            (0..3).flat_map(|axis| [(open(axis, 0), at[axis]), (open(axis, 1), self.extents[axis] - 1 - at[axis])]);
        let least = |(_, layer): (bool, i64)| 0.06 * 0.8_f64.powi((layer - 3).max(0) as i32);
        layers.filter(|&(open, _)| open).map(least).fold(3.0 * self.viscosity, f64::max)
    }

    pub(crate) fn reference(&self) -> ReferenceFlow {
        let layers = [0, 1, 2].map(|axis| self.side_layers(axis));
        let shape = std::array::from_fn(|axis| self.extents[axis] + 2 * layers[axis]);
        let mut reference = ReferenceFlow {
            set: self.set,
            shape,
            periodic: layers.map(|layer| layer == 0),
            roles: Vec::new(),
            viscous_times: Vec::new(),
            magic: (!self.is_bgk).then_some(3.0 / 16.0),
            smagorinsky: self.smagorinsky,
            is_cumulant: self.is_cumulant,
            steps: 0,
            forces: Vec::new(),
            f: Vec::new(),
        };
        let cell = |at: [i64; 3]| -> CellIndex { std::array::from_fn(|axis| at[axis] - layers[axis]) };
        reference.roles =
            (0..shape.iter().product::<i64>() as usize).map(|i| self.role(cell(reference.cell(i)))).collect();
        let total = |at| {
            let more = self.force_at(at);
            [0, 1, 2].map(|axis| self.force[axis] + more[axis])
        };
        reference.viscous_times =
            (0..reference.roles.len()).map(|i| self.viscous_time(cell(reference.cell(i)))).collect();
        let walls =
            |i: usize| matches!(reference.roles[i], CellRole::Solid | CellRole::Moving(_) | CellRole::Mirror(_));
        reference.forces = (0..reference.roles.len())
            .map(|i| if walls(i) { self.force } else { total(cell(reference.cell(i))) })
            .collect();
        reference.set_equilibrium(|at| density(cell(at)), |at| self.velocity(cell(at)));
        reference
    }

    pub(crate) fn flow<'w>(&self, world: &'w World, cut: &Cut) -> Result<Flow<'w>> {
        Flow::new(world, &self.problem(), cut)
    }
}

/// Cases with every kind of side, cell and collision for each velocity set.
pub(crate) fn all_cases() -> Vec<Case> {
    let plain = |name, set, extents, sides| Case {
        name,
        set,
        extents,
        sides,
        force: [0.0; 3],
        is_bgk: false,
        is_cumulant: false,
        smagorinsky: 0.0,
        viscosity: 0.05,
        has_solids: false,
        has_force_field: false,
        precision: Precision::Single,
    };
    let around = [Periodic; 2];
    let mut cases = Vec::new();
    for set in [VelocitySet::D3Q19, VelocitySet::D3Q27] {
        cases.push(Case { force: [1e-4, -2e-4, 3e-4], ..plain("periodic", set, [7, 6, 5], [around; 3]) });
        cases.push(Case {
            has_solids: true,
            is_bgk: true,
            ..plain("solids", set, [9, 7, 8], [around, [Wall, Lid([0.03, 0.0, -0.02])], around])
        });
        cases.push(Case {
            smagorinsky: 0.17,
            force: [1e-4, 0.0, 0.0],
            ..plain("duct", set, [6, 7, 5], [[Inflow(0.03), Pressure(1.01)], [Mirror, Mirror], [Wall, Mirror]])
        });
    }
    cases.push(Case {
        is_cumulant: true,
        has_solids: true,
        force: [1e-4, -2e-4, 3e-4],
        ..plain("cumulants", VelocitySet::D3Q27, [7, 6, 5], [around, [Wall, Lid([0.03, 0.0, -0.02])], around])
    });
    cases.push(Case {
        is_cumulant: true,
        smagorinsky: 0.17,
        ..plain("cumulants", VelocitySet::D3Q27, [6, 7, 5], [[Inflow(0.03), Pressure(1.01)], [Mirror, Mirror], around])
    });
    let plane = VelocitySet::D2Q9;
    cases.push(Case { force: [1e-4, 2e-4, 0.0], is_bgk: true, ..plain("torus", plane, [11, 7, 1], [around; 3]) });
    cases.push(Case {
        has_solids: true,
        ..plain("cavity", plane, [13, 9, 1], [[Wall, Wall], [Wall, Lid([0.05, 0.0, 0.0])], around])
    });
    let stream = [[Inflow(0.03), Outlet(1.0)], [Mirror, Mirror], [Mirror, Wall]];
    cases.push(Case { has_solids: true, ..plain("stream", VelocitySet::D3Q19, [8, 6, 5], stream) });
    cases.push(Case {
        force: [1e-4, 0.0, 0.0],
        ..plain("stream", plane, [7, 11, 1], [[Wall, Lid([0.0, 0.02, 0.0])], [Outlet(1.0), Inflow(-0.03)], around])
    });
    cases.push(Case {
        has_solids: true,
        smagorinsky: 0.1,
        ..plain("channel", plane, [12, 8, 1], [[Pressure(1.02), Inflow(-0.02)], [Wall, Mirror], around])
    });
    // So low that sponge layers raise it.
    for case in
        cases.iter_mut().filter(|case| case.name == "stream" || case.is_cumulant || case.is_bgk && case.name == "duct")
    {
        case.viscosity = 0.004;
    }
    let forced = ["duct", "cumulants", "stream"].map(|name| cases.iter().rposition(|case| case.name == name));
    for number in forced.into_iter().flatten() {
        cases[number].has_force_field = true;
    }
    // Each axis is a fold axis of some cases, with an even and an odd number of cells.
    let half = |case: &Case| Case { precision: Precision::Half, ..case.clone() };
    let halves = ["periodic", "solids", "duct", "cumulants", "cavity", "stream"];
    let halves: Vec<Case> =
        halves.iter().flat_map(|name| cases.iter().rfind(|case| case.name == *name).map(half)).collect();
    cases.extend(halves);
    let half = |case: Case| Case { precision: Precision::Half, ..case };
    cases.push(half(plain("slab", plane, [8, 7, 1], [around; 3])));
    // Walls and mirrors that meet at the fold; an outlet after it.
    let room = [around, [Wall, Lid([0.0, 0.0, 0.02])], [Mirror, Lid([0.03, 0.0, 0.0])]];
    cases.push(half(Case { has_solids: true, ..plain("room", VelocitySet::D3Q19, [5, 4, 6], room) }));
    let out = [[Wall, Wall], [Inflow(0.03), Outlet(1.0)], around];
    cases.push(half(Case { has_solids: true, viscosity: 0.004, ..plain("stream", plane, [7, 9, 1], out) }));
    cases
}
