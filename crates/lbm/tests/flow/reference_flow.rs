//! Reference flow on vectors, in `f64` and with two copies of the populations: they collide, then
//! stream. Walls are cells that reflect populations.

use zippy_lbm::VelocitySet;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CellRole {
    Fluid,
    Solid,
    Moving([f64; 3]),
    /// Image of a fluid cell beyond free-slip sides of these axes.
    Mirror([bool; 3]),
    Velocity {
        normal: [i64; 3],
        u: [f64; 3],
    },
    Pressure {
        normal: [i64; 3],
        density: f64,
    },
    Outlet {
        normal: [i64; 3],
        density: f64,
    },
}

pub(crate) struct ReferenceFlow {
    pub set: VelocitySet,
    pub shape: [i64; 3],
    pub periodic: [bool; 3],
    pub roles: Vec<CellRole>,
    /// 3 ν of each cell.
    pub viscous_times: Vec<f64>,
    /// `None` for one relaxation time.
    pub magic: Option<f64>,
    pub smagorinsky: f64,
    pub is_cumulant: bool,
    pub steps: u64,
    pub forces: Vec<[f64; 3]>,
    /// Arrived populations: population `q` of cell `i` at `i * count + q`.
    pub f: Vec<f64>,
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl ReferenceFlow {
    /// Sets the equilibrium of density and velocity, in moving walls with their velocity.
    pub(crate) fn set_equilibrium(
        &mut self,
        density: impl Fn([i64; 3]) -> f64,
        velocity: impl Fn([i64; 3]) -> [f64; 3],
    ) {
        for i in 0..self.roles.len() {
            let (mut rho, mut u) = (1.0, [0.0; 3]);
            match self.roles[i] {
                CellRole::Moving(wall) => u = wall,
                _ if self.is_fluid(i) => (rho, u) = (density(self.cell(i)), velocity(self.cell(i))),
                _ => {}
            }
            for q in 0..self.set.count() {
                let force = 1.5 * self.set.weight(q) * dot(self.velocity(q), self.forces[i]);
                self.f.push(self.equilibrium(q, rho, u) - force);
            }
        }
    }

    pub(crate) fn cell(&self, i: usize) -> [i64; 3] {
        let [nx, ny, _] = self.shape;
        let i = i as i64;
        [i % nx, i / nx % ny, i / nx / ny]
    }

    /// Index of a cell, wrapped along periodic axes.
    fn index(&self, at: [i64; 3]) -> Option<usize> {
        let mut index = 0;
        for axis in (0..3).rev() {
            let n = self.shape[axis];
            let x = if self.periodic[axis] { at[axis].rem_euclid(n) } else { at[axis] };
            if !(0..n).contains(&x) {
                return None;
            }
            index = index * n + x;
        }
        Some(index as usize)
    }

    pub(crate) fn is_fluid(&self, i: usize) -> bool {
        !matches!(self.roles[i], CellRole::Solid | CellRole::Moving(_) | CellRole::Mirror(_))
    }

    fn velocity(&self, q: usize) -> [f64; 3] {
        self.set.velocity(q).map(|c| c as f64)
    }

    fn equilibrium(&self, q: usize, density: f64, u: [f64; 3]) -> f64 {
        let cu = dot(self.velocity(q), u);
        self.set.weight(q) * density * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * dot(u, u))
    }

    /// Density and velocity of a cell, including half of the force.
    pub(crate) fn moments(&self, i: usize) -> (f64, [f64; 3]) {
        let count = self.set.count();
        let f = &self.f[i * count..(i + 1) * count];
        self.open_flow(i, f).unwrap_or_else(|| moments(self.set, f, self.forces[i]))
    }

    /// Density and velocity at an open side, from the known populations.
    fn open_flow(&self, i: usize, f: &[f64]) -> Option<(f64, [f64; 3])> {
        let normal = match self.roles[i] {
            CellRole::Velocity { normal, .. } | CellRole::Pressure { normal, .. } | CellRole::Outlet { normal, .. } => {
                normal.map(|x| x as f64)
            }
            _ => return None,
        };
        let sum =
            |sign: f64| -> f64 { (0..f.len()).filter(|&q| dot(self.velocity(q), normal) == sign).map(|q| f[q]).sum() };
        let known = sum(0.0) + 2.0 * sum(-1.0) - 0.5 * dot(self.forces[i], normal);
        match self.roles[i] {
            CellRole::Velocity { u, .. } => Some((known / (1.0 - dot(u, normal)), u)),
            CellRole::Pressure { density, .. } => Some((density, normal.map(|x| x * (1.0 - known / density)))),
            CellRole::Outlet { density, .. } => {
                let n = normal;
                let at = self.cell(i);
                let before = self.index(std::array::from_fn(|axis| at[axis] + n[axis] as i64)).expect("a cell");
                let count = f.len();
                let (near, u) = moments(self.set, &self.f[before * count..(before + 1) * count], self.forces[before]);
                // Mean of the stored values, and their slopes along the side.
                let back: Vec<usize> = (0..count).filter(|&q| dot(self.velocity(q), n) > 0.0).collect();
                let value = |q: usize| f[q] - self.set.weight(q);
                let inward = back.iter().map(|&q| value(q)).sum::<f64>() / back.len() as f64;
                let slope = |axis: usize| {
                    let square: f64 = back.iter().map(|&q| self.velocity(q)[axis].powi(2)).sum();
                    back.iter().map(|&q| value(q) * self.velocity(q)[axis]).sum::<f64>() / square.max(1.0)
                };
                let speed = 2.0 * (-dot(u, n)).clamp(0.0, 1.0);
                let blend = |old: f64, new: f64| (old + speed * new) / (1.0 + speed);
                let old = [0, 1, 2].map(|axis| if n[axis] != 0.0 { n[axis] * inward } else { slope(axis) });
                let old = if self.steps < 2 { u } else { old };
                // The incoming invariant is free of outgoing sound.
                let wave = if self.steps < 2 { 0.0 } else { (near - density) / 3.0_f64.sqrt() };
                let length = (0..3).find(|&axis| normal[axis] != 0.0).map_or(1, |axis| self.shape[axis] - 2);
                let restored = 0.2 / 3.0_f64.sqrt() / length as f64 * wave;
                let still: [f64; 3] = std::array::from_fn(|axis| u[axis] + wave * n[axis]);
                let mean: [f64; 3] = std::array::from_fn(|axis| blend(old[axis], still[axis]) - restored * n[axis]);
                // Fluid leaves at the mean speed plus that of a sound wave: rho (1 + out + c (rho -
                // wanted)) = known.
                let (out, sound) = (-dot(mean, n), 1.0 / 3.0_f64.sqrt());
                let linear = 1.0 + out - sound * density;
                let rho = (-linear + (linear * linear + 4.0 * sound * known).sqrt()) / (2.0 * sound);
                let through = 1.0 - known / rho;
                Some((rho, [0, 1, 2].map(|axis| if n[axis] != 0.0 { n[axis] * through } else { mean[axis] })))
            }
            _ => None,
        }
    }

    pub(crate) fn step(&mut self) {
        let count = self.set.count();
        let mut next = self.f.clone();
        for i in 0..self.roles.len() {
            let at = self.cell(i);
            let arrived = |q: usize| {
                let c = self.set.velocity(q);
                let from = self.index([at[0] - c[0], at[1] - c[1], at[2] - c[2]]);
                if from.is_some() { self.f[i * count + q] } else { self.set.weight(q) }
            };
            let leaving = self.leave_cell(i, (0..count).map(arrived).collect());
            for (q, value) in leaving.into_iter().enumerate() {
                let c = self.set.velocity(q);
                let Some(to) = self.index([at[0] + c[0], at[1] + c[1], at[2] + c[2]]) else { continue };
                match self.roles[to] {
                    // Half-way specular reflection in the same step.
                    CellRole::Mirror(axes) if self.is_fluid(i) => {
                        let way =
                            |back: i64| std::array::from_fn(|axis| if axes[axis] { back * c[axis] } else { c[axis] });
                        let [along, turned]: [[i64; 3]; 2] = [way(0), way(-1)];
                        let to = self.index(std::array::from_fn(|axis| at[axis] + along[axis])).expect("a cell");
                        let q = (0..count).find(|&q| self.set.velocity(q) == turned).expect("a mirror image");
                        next[to * count + q] = value;
                    }
                    _ if matches!(self.roles[i], CellRole::Mirror(_)) => {}
                    _ => next[to * count + q] = value,
                }
            }
        }
        self.f = next;
        self.steps += 1;
    }

    fn leave_cell(&self, i: usize, f: Vec<f64>) -> Vec<f64> {
        let count = self.set.count();
        match self.roles[i] {
            CellRole::Fluid => self.collide(i, f),
            CellRole::Solid => (0..count).map(|q| f[self.set.opposite(q)]).collect(),
            CellRole::Moving(u) => {
                let back = |q: usize| {
                    let (from, at) = (self.set.opposite(q), self.cell(i));
                    let c = self.set.velocity(from);
                    let fluid =
                        self.index([at[0] - c[0], at[1] - c[1], at[2] - c[2]]).is_some_and(|n| self.is_fluid(n));
                    let push = 6.0 * self.set.weight(q) * dot(self.velocity(from), u);
                    f[from] - if fluid { push } else { 0.0 }
                };
                (0..count).map(back).collect()
            }
            CellRole::Mirror(_) => f,
            CellRole::Velocity { normal, .. } | CellRole::Pressure { normal, .. } | CellRole::Outlet { normal, .. } => {
                let (density, u) = self.open_flow(i, &f).expect("an open side");
                let mut leaving = self.collide(i, self.regularise(i, &f, normal, density, u));
                if matches!(self.roles[i], CellRole::Outlet { .. }) {
                    let n = normal.map(|x| x as f64);
                    let along = [0, 1, 2].map(|axis| if n[axis] == 0.0 { u[axis] } else { 0.0 });
                    // Normal velocity without the sound wave.
                    let CellRole::Outlet { density: wanted, .. } = self.roles[i] else { unreachable!("an outlet") };
                    let inward = dot(u, n) + (density - wanted) / 3.0_f64.sqrt();
                    for q in (0..count).filter(|&q| dot(self.velocity(q), n) < 0.0) {
                        leaving[q] = self.set.weight(q) + inward - dot(self.velocity(q), along);
                    }
                }
                leaving
            }
        }
    }

    /// Latt's regularised populations: unknown populations have the stress of their opposites.
    fn regularise(&self, i: usize, f: &[f64], normal: [i64; 3], density: f64, u: [f64; 3]) -> Vec<f64> {
        let n = normal.map(|x| x as f64);
        let beyond = |q: usize| f[q] - self.equilibrium(q, density, u);
        let mut stress = [[0.0; 3]; 3];
        for q in 0..f.len() {
            let part = if dot(self.velocity(q), n) > 0.0 { beyond(self.set.opposite(q)) } else { beyond(q) };
            for (a, row) in stress.iter_mut().enumerate() {
                for (b, sum) in row.iter_mut().enumerate() {
                    *sum += part * self.velocity(q)[a] * self.velocity(q)[b];
                }
            }
        }
        let population = |q: usize| {
            let c = self.velocity(q);
            let mut sum = 0.0;
            for a in 0..3 {
                for b in 0..3 {
                    sum += (c[a] * c[b] - if a == b { 1.0 / 3.0 } else { 0.0 }) * stress[a][b];
                }
            }
            self.equilibrium(q, density, u) + self.set.weight(q) * (4.5 * sum - 1.5 * dot(c, self.forces[i]))
        };
        (0..f.len()).map(population).collect()
    }

    fn collide(&self, i: usize, f: Vec<f64>) -> Vec<f64> {
        let (set, force) = (self.set, self.forces[i]);
        let (density, u) = moments(set, &f, force);
        let beyond: Vec<f64> = (0..f.len()).map(|q| f[q] - self.equilibrium(q, density, u)).collect();
        let viscous_time = self.viscous_times[i];
        let magic = self.magic.unwrap_or(viscous_time * viscous_time);
        let (mut plus, mut minus) = (1.0 / (viscous_time + 0.5), 1.0 / (magic / viscous_time + 0.5));
        if self.smagorinsky > 0.0 {
            let mut square = 0.0;
            for a in 0..3 {
                for b in 0..3 {
                    let stress: f64 = (0..f.len()).map(|q| beyond[q] * self.velocity(q)[a] * self.velocity(q)[b]).sum();
                    square += stress * stress;
                }
            }
            let time = 1.0 / plus;
            let grown = 18.0 * 2.0_f64.sqrt() * self.smagorinsky.powi(2) * square.sqrt() / density;
            plus = 2.0 / (time + (time * time + grown).sqrt());
            minus = 1.0 / (0.5 + magic / (1.0 / plus - 0.5));
        }
        if self.is_cumulant {
            return self.collide_cumulants(&f, density, u, plus, force);
        }
        let source = |q: usize| {
            let c = self.velocity(q);
            let both = 9.0 * dot(c, u) * dot(c, force) - 3.0 * dot(u, force);
            (set.weight(q) * both, set.weight(q) * 3.0 * dot(c, force))
        };
        (0..f.len())
            .map(|q| {
                let (one, other) = (beyond[q], beyond[set.opposite(q)]);
                let (even, uneven) = source(q);
                f[q] - plus * 0.5 * (one + other) - minus * 0.5 * (one - other)
                    + (1.0 - 0.5 * plus) * even
                    + (1.0 - 0.5 * minus) * uneven
            })
            .collect()
    }
}

impl ReferenceFlow {
    /// Cumulant collision: populations of a Gaussian with relaxed second moments.
    fn collide_cumulants(&self, f: &[f64], density: f64, u: [f64; 3], rate: f64, force: [f64; 3]) -> Vec<f64> {
        let mut second = [[0.0; 3]; 3];
        for (q, f) in f.iter().enumerate() {
            let away: Vec<f64> = (0..3).map(|axis| self.velocity(q)[axis] - u[axis]).collect();
            for (a, row) in second.iter_mut().enumerate() {
                for (b, sum) in row.iter_mut().enumerate() {
                    *sum += f * away[a] * away[b];
                }
            }
        }
        // Geier et al. 2015, equations 58 to 63, with a rate of 1 for the trace.
        let [xx, yy, zz] = [second[0][0], second[1][1], second[2][2]];
        let du = -rate / (2.0 * density) * (2.0 * xx - yy - zz) - (xx + yy + zz - density) / (2.0 * density);
        let dv = du + 3.0 * rate / (2.0 * density) * (xx - yy);
        let dw = du + 3.0 * rate / (2.0 * density) * (xx - zz);
        let [sx, sy, sz] = [u[0] * u[0] * du, u[1] * u[1] * dv, u[2] * u[2] * dw];
        let xy = (1.0 - rate) * (xx - yy) - 3.0 * density * (1.0 - rate / 2.0) * (sx - sy);
        let xz = (1.0 - rate) * (xx - zz) - 3.0 * density * (1.0 - rate / 2.0) * (sx - sz);
        let trace = density - 3.0 * density * 0.5 * (sx + sy + sz);
        let mut variance = second.map(|row| row.map(|value| (1.0 - rate) * value / density));
        variance[0][0] = (trace + xy + xz) / 3.0 / density;
        variance[1][1] = variance[0][0] - xy / density;
        variance[2][2] = variance[0][0] - xz / density;
        let mean: [f64; 3] = std::array::from_fn(|axis| u[axis] + 0.5 * force[axis] / density);
        // From the moments 1, c and c² along an axis to the velocities -1, 0 and 1.
        let inverse = [[0.0, -0.5, 0.5], [1.0, 0.0, -1.0], [0.0, 0.5, 0.5]];
        let population = |q: usize| {
            let rows = self.set.velocity(q).map(|c| inverse[(c + 1) as usize]);
            let mut sum = 0.0;
            for (a, x) in rows[0].iter().enumerate() {
                for (b, y) in rows[1].iter().enumerate() {
                    for (c, z) in rows[2].iter().enumerate() {
                        let axes = [vec![0; a], vec![1; b], vec![2; c]].concat();
                        sum += x * y * z * moment(&axes, mean, &variance);
                    }
                }
            }
            density * sum
        };
        (0..f.len()).map(population).collect()
    }
}

/// Mean of a product of components of a Gaussian, by Isserlis' theorem.
fn moment(axes: &[usize], mean: [f64; 3], variance: &[[f64; 3]; 3]) -> f64 {
    let Some((&first, rest)) = axes.split_first() else { return 1.0 };
    let pair = |(i, &other): (usize, &usize)| {
        let others = [&rest[..i], &rest[i + 1..]].concat();
        variance[first][other] * moment(&others, mean, variance)
    };
    mean[first] * moment(rest, mean, variance) + rest.iter().enumerate().map(pair).sum::<f64>()
}

fn moments(set: VelocitySet, f: &[f64], force: [f64; 3]) -> (f64, [f64; 3]) {
    let density: f64 = f.iter().sum();
    let axis = |axis: usize| -> f64 {
        let momentum: f64 = f.iter().enumerate().map(|(q, f)| f * set.velocity(q)[axis] as f64).sum();
        (momentum + 0.5 * force[axis]) / density
    };
    (density, [axis(0), axis(1), axis(2)])
}
