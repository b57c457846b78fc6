//! Comparisons with exact solutions and published tables.

use zippy::{Error, Result, World};
use zippy_lbm::cases::{Case, ExactVelocity};
use zippy_lbm::{Fields, Flow};

/// Maximum difference between the velocity and the exact solution in any cell, relative to the
/// speed. Collective.
pub(crate) fn exact_error(
    world: &World,
    case: &Case,
    flow: &Flow<'_>,
    fields: &Fields,
    exact: &ExactVelocity,
) -> Result<f64> {
    let box_ranges = flow.box_ranges();
    let mut largest = [0.0_f64];
    for chunk in fields.velocity.chunks() {
        for (at, found) in chunk.region().points().zip(chunk.all().read()?) {
            let cell: [i64; 3] = std::array::from_fn(|axis| at[axis] - box_ranges[axis].start);
            if (0..3).all(|axis| box_ranges[axis].contains(&at[axis])) {
                let wanted = exact(cell, flow.steps())[at[3] as usize];
                largest[0] = largest[0].max((f64::from(found) - wanted).abs());
            }
        }
    }
    world.group().all_reduce(&mut largest, |a, b| *a = a.max(*b))?;
    Ok(largest[0] / case.speed)
}

/// Differences between a square cavity and the table of Ghia et al., and extreme velocities on the
/// centre lines, relative to the lid speed.
pub(crate) struct GhiaComparison {
    /// Maximum error of the velocity component u on the vertical centre line.
    pub error_u: f64,
    /// Maximum error of the velocity component v on the horizontal centre line.
    pub error_v: f64,
    pub u_min: f64,
    pub v_max: f64,
    pub v_min: f64,
}

/// Tables I and II for Reynolds number 100 of U. Ghia, K. N. Ghia, C. T. Shin, J. Comput. Phys. 48,
/// 387-411 (1982): y and u on the vertical centre line (`GHIA_U`), x and v on the horizontal centre
/// line (`GHIA_V`).
const GHIA_U: [(f64, f64); 17] = [
    (1.0, 1.0),
    (0.9766, 0.84123),
    (0.9688, 0.78871),
    (0.9609, 0.73722),
    (0.9531, 0.68717),
    (0.8516, 0.23151),
    (0.7344, 0.00332),
    (0.6172, -0.13641),
    (0.5, -0.20581),
    (0.4531, -0.2109),
    (0.2813, -0.15662),
    (0.1719, -0.1015),
    (0.1016, -0.06434),
    (0.0703, -0.04775),
    (0.0625, -0.04192),
    (0.0547, -0.03717),
    (0.0, 0.0),
];
const GHIA_V: [(f64, f64); 17] = [
    (0.0, 0.0),
    (0.9688, -0.05906),
    (0.9609, -0.07391),
    (0.9531, -0.08864),
    (0.9453, -0.10313),
    (0.9063, -0.16914),
    (0.8594, -0.22445),
    (0.8047, -0.24533),
    (0.5, 0.05454),
    (0.2344, 0.17527),
    (0.2266, 0.17507),
    (0.1563, 0.16077),
    (0.0938, 0.12317),
    (0.0781, 0.1089),
    (0.0703, 0.10091),
    (0.0625, 0.09233),
    (1.0, 0.0),
];

/// Compares a square cavity with the table of Ghia et al. Collective.
pub(crate) fn compare_with_ghia(
    world: &World,
    case: &Case,
    flow: &Flow<'_>,
    fields: &Fields,
) -> Result<GhiaComparison> {
    if case.name != "cavity2d" || (case.reynolds() - 100.0).abs() > 1e-9 {
        return Err(Error::program("--compare ghia is a table for the case cavity2d at --re 100"));
    }
    let [x, y, z] = flow.box_ranges();
    let n = x.end - x.start;
    // The middle line of cells, or the two lines next to the middle.
    let middle = |start: i64| start + (n - 1) / 2..start + n / 2 + 1;
    let u = world.get(fields.velocity.at((middle(x.start), y.clone(), z.start, 0)))?;
    let v = world.get(fields.velocity.at((x.clone(), middle(y.start), z.start, 1)))?;
    let mut fetched = world.fence()?;
    let (u, v) = (fetched.redeem(u)?, fetched.redeem(v)?);
    let (n, wide) = (n as usize, u.len() / n as usize);
    let mean = |at: &dyn Fn(usize) -> f32| (0..wide).map(|k| f64::from(at(k))).sum::<f64>() / wide as f64 / case.speed;
    let u = (0..n).map(|i| mean(&|k| u[i * wide + k])).collect();
    let v = (0..n).map(|i| mean(&|k| v[k * n + i])).collect();
    let (u, v) = (CentreLine::new(u, 1.0), CentreLine::new(v, 0.0));
    let error = |line: &CentreLine, table: &[(f64, f64)]| {
        table.iter().map(|&(at, value)| (line.interpolate(at) - value).abs()).fold(0.0, f64::max)
    };
    let samples = |line: &CentreLine| -> Vec<f64> {
        (0..=CENTRE_LINE_SAMPLES).map(|i| line.interpolate(f64::from(i) / f64::from(CENTRE_LINE_SAMPLES))).collect()
    };
    let least = |line: &CentreLine| samples(line).into_iter().fold(f64::INFINITY, f64::min);
    let greatest = |line: &CentreLine| samples(line).into_iter().fold(f64::NEG_INFINITY, f64::max);
    Ok(GhiaComparison {
        error_u: error(&u, &GHIA_U),
        error_v: error(&v, &GHIA_V),
        u_min: least(&u),
        v_max: greatest(&v),
        v_min: least(&v),
    })
}

/// Number of points of a centre line at which extreme velocities are searched.
const CENTRE_LINE_SAMPLES: u32 = 20_000;

/// Velocity component along a centre line, at cell centres between two walls at positions 0 and 1.
struct CentreLine {
    /// Positions and velocities.
    points: Vec<(f64, f64)>,
}

impl CentreLine {
    /// `wall_velocity` is the velocity of the wall at 1; the wall at 0 is at rest.
    fn new(cells: Vec<f64>, wall_velocity: f64) -> Self {
        let n = cells.len() as f64;
        let mut points = vec![(0.0, 0.0)];
        points.extend(cells.into_iter().enumerate().map(|(i, value)| ((i as f64 + 0.5) / n, value)));
        points.push((1.0, wall_velocity));
        Self { points }
    }

    /// Cubic interpolation through the four nearest points.
    fn interpolate(&self, x: f64) -> f64 {
        let count = self.points.len();
        let after = self.points.partition_point(|&(at, _)| at <= x);
        let first = after.saturating_sub(2).min(count.saturating_sub(4));
        let four = &self.points[first..(first + 4).min(count)];
        let term = |(i, &(at, value)): (usize, &(f64, f64))| {
            let others = four.iter().enumerate().filter(|(j, _)| *j != i);
            others.fold(value, |product, (_, &(other, _))| product * (x - other) / (at - other))
        };
        four.iter().enumerate().map(term).sum()
    }
}
