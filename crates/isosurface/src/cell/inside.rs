//! Connectivity of corners inside a cell, by a plane sweep along the last axis.
//!
//! The interpolant is bilinear in each plane, with the values of four parallel edges at the plane's
//! corners. Neighbouring corners of one sign are connected, opposite corners by the sign of the
//! plane's saddle. Signs of corners change only at crossed edges.
//!
//! Between two crossed edges, the sign of the saddle is that of a quadratic. The algorithm
//! evaluates signs of products, slopes and a discriminant, never roots. It rounds in `f64` and is
//! exact for integers and half-integers of up to 12 bits.

use super::Corner;
use super::groups::Groups;

/// First corners of the edges along the last axis, in circular order.
const EDGES: [Corner; 4] = [0, 1, 3, 2];

/// Groups of corners of one sign that are connected inside a cell or on its faces.
pub(crate) fn connected(values: &[f64; 8]) -> Groups {
    let low = EDGES.map(|corner| values[usize::from(corner)]);
    let high = EDGES.map(|corner| values[usize::from(corner | 4)]);
    let mut sweep = Sweep { groups: Groups::singletons(), low, high, saddle: Quadratic::saddle(&low, &high) };
    let mut crossed: Vec<(SweepPosition, usize)> = Vec::with_capacity(4);
    for edge in 0..4 {
        if (low[edge] >= 0.0) == (high[edge] >= 0.0) {
            sweep.groups.merge(EDGES[edge], EDGES[edge] | 4);
        } else {
            crossed.push((SweepPosition { part: low[edge].abs(), whole: low[edge].abs() + high[edge].abs() }, edge));
        }
    }
    crossed.sort_by(|a, b| a.0.cmp(&b.0));
    let mut inside = low.map(|value| value >= 0.0);
    let mut last = Plane { at: SweepPosition { part: 0.0, whole: 1.0 }, saddle: sign(&low) };
    sweep.connect_in_plane(inside, &last);
    for simultaneous in crossed.chunk_by(|a, b| a.0.cmp(&b.0).is_eq()) {
        let mut in_plane = inside;
        // Zero counts as inside.
        simultaneous.iter().for_each(|&(_, edge)| in_plane[edge] = true);
        let zero = |edge: usize| simultaneous.iter().any(|&(_, crossed)| crossed == edge);
        let product = |a: usize, b: usize| {
            if zero(a) || zero(b) {
                0.0
            } else if in_plane[a] == in_plane[b] {
                1.0
            } else {
                -1.0
            }
        };
        let plane = Plane { at: simultaneous[0].0, saddle: product(0, 2) - product(1, 3) };
        sweep.connect_between(inside, &last, &plane);
        sweep.connect_in_plane(in_plane, &plane);
        simultaneous.iter().for_each(|&(_, edge)| inside[edge] = high[edge] >= 0.0);
        last = plane;
    }
    let end = Plane { at: SweepPosition { part: 1.0, whole: 1.0 }, saddle: sign(&high) };
    sweep.connect_between(inside, &last, &end);
    sweep.connect_in_plane(high.map(|value| value >= 0.0), &end);
    sweep.groups
}

/// Sign of a face's saddle if values 0 and 2 are inside and the others outside.
fn sign(values: &[f64; 4]) -> f64 {
    let (a, b) = (values[0] * values[2], values[1] * values[3]);
    f64::from(i8::from(a > b) - i8::from(a < b))
}

/// Position `part / whole` along the sweep; `whole` is positive.
#[derive(Clone, Copy)]
struct SweepPosition {
    part: f64,
    whole: f64,
}

impl SweepPosition {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.part * other.whole).total_cmp(&(other.part * self.whole))
    }
}

/// Plane of the sweep, across the last axis.
#[derive(Clone, Copy)]
struct Plane {
    at: SweepPosition,
    /// Number with the sign of the saddle's quadratic in this plane.
    saddle: f64,
}

/// `a t² + b t + c`.
struct Quadratic {
    a: f64,
    b: f64,
    c: f64,
}

impl Quadratic {
    /// Quadratic with the sign of the saddle if edges 0 and 2 are inside and the others outside.
    fn saddle(low: &[f64; 4], high: &[f64; 4]) -> Self {
        let step: [f64; 4] = std::array::from_fn(|edge| high[edge] - low[edge]);
        Self {
            a: step[0] * step[2] - step[1] * step[3],
            b: (low[0] * step[2] + step[0] * low[2]) - (low[1] * step[3] + step[1] * low[3]),
            c: low[0] * low[2] - low[1] * low[3],
        }
    }

    /// Number with the sign of the slope.
    fn slope(&self, at: &SweepPosition) -> f64 {
        2.0 * self.a * at.part + self.b * at.whole
    }

    /// True if `sign` times the quadratic is positive (with `zero_suffices`: not negative) anywhere
    /// between two planes.
    fn reaches(&self, sign: f64, from: &Plane, to: &Plane, zero_suffices: bool) -> bool {
        let rises_and_falls = sign * self.slope(&from.at) > 0.0 && sign * self.slope(&to.at) < 0.0;
        let square = self.b * self.b - 4.0 * self.a * self.c;
        let top = rises_and_falls && (square > 0.0 || zero_suffices && square == 0.0);
        sign * from.saddle > 0.0 || sign * to.saddle > 0.0 || top
    }
}

struct Sweep {
    groups: Groups,
    low: [f64; 4],
    high: [f64; 4],
    saddle: Quadratic,
}

impl Sweep {
    /// Merges groups that are connected in a plane with these signs at its corners.
    fn connect_in_plane(&mut self, inside: [bool; 4], plane: &Plane) {
        self.connect_neighbours(inside);
        if let Some((sign, first)) = alternating(inside) {
            self.connect_diagonal(inside, if sign * plane.saddle >= 0.0 { first } else { 1 - first });
        }
    }

    /// Merges groups that are connected between two planes, where corners have these signs.
    fn connect_between(&mut self, inside: [bool; 4], from: &Plane, to: &Plane) {
        if from.at.cmp(&to.at).is_ge() {
            return;
        }
        self.connect_neighbours(inside);
        if let Some((sign, first)) = alternating(inside) {
            if self.saddle.reaches(sign, from, to, true) {
                self.connect_diagonal(inside, first);
            }
            if self.saddle.reaches(-sign, from, to, false) {
                self.connect_diagonal(inside, 1 - first);
            }
        }
    }

    fn connect_neighbours(&mut self, inside: [bool; 4]) {
        for edge in 0..4 {
            let next = (edge + 1) % 4;
            if inside[edge] == inside[next] {
                self.groups.merge(self.end(edge, inside[edge]), self.end(next, inside[next]));
            }
        }
    }

    fn connect_diagonal(&mut self, inside: [bool; 4], first: usize) {
        let [a, b] = [first, first + 2].map(|edge| self.end(edge, inside[edge]));
        self.groups.merge(a, b);
    }

    /// End of an edge with the given sign.
    fn end(&self, edge: usize, inside: bool) -> Corner {
        debug_assert!((self.low[edge] >= 0.0) == inside || (self.high[edge] >= 0.0) == inside);
        if (self.low[edge] >= 0.0) == inside { EDGES[edge] } else { EDGES[edge] | 4 }
    }
}

/// Sign and inside diagonal of a plane whose opposite corners have equal signs.
fn alternating(inside: [bool; 4]) -> Option<(f64, usize)> {
    match inside {
        [true, false, true, false] => Some((1.0, 0)),
        [false, true, false, true] => Some((-1.0, 1)),
        _ => None,
    }
}
