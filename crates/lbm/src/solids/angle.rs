//! Solid angles: of a triangle exactly, of many that are far away by their moments.

/// What triangles look like from afar.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moments {
    /// The mean of their middles, by area.
    pub centre: [f64; 3],
    /// The sum of area × normal.
    pub normal: [f64; 3],
    /// The sum of area × (middle − centre)ᵢ × normalⱼ.
    pub first: [[f64; 3]; 3],
}

type Corners = [[f64; 3]; 3];

pub fn less(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

pub fn middle([a, b, c]: &Corners) -> [f64; 3] {
    std::array::from_fn(|axis| (a[axis] + b[axis] + c[axis]) / 3.0)
}

/// Area × normal.
pub fn area([a, b, c]: &Corners) -> [f64; 3] {
    cross(less(*b, *a), less(*c, *a)).map(|x| 0.5 * x)
}

/// The solid angle of a triangle (van Oosterom and Strackee 1983), positive from the side that its normal leaves; `None` from
/// a point on it.
pub fn exact(corners: &Corners, point: [f64; 3]) -> Option<f64> {
    /// What is less than this part of its terms is zero but for rounding.
    const ROUNDED: f64 = 1e-14;
    let [a, b, c] = corners.map(|corner| less(corner, point));
    let (la, lb, lc) = (length(a), length(b), length(c));
    let scale = la * lb * lc;
    let volume = dot(a, cross(b, c));
    let flat = scale + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    if volume.abs() <= ROUNDED * scale {
        // In its plane: on it, or beside it, from where nothing is seen.
        return (flat > ROUNDED * scale).then_some(0.0);
    }
    Some(2.0 * volume.atan2(flat))
}

impl Moments {
    pub fn of(triangles: impl Iterator<Item = Corners> + Clone) -> Self {
        let (mut sum, mut whole, mut normal, mut plain, mut count) = ([0.0; 3], 0.0, [0.0; 3], [0.0; 3], 0.0);
        for corners in triangles.clone() {
            let (n, at) = (area(&corners), middle(&corners));
            let size = length(n);
            for axis in 0..3 {
                sum[axis] += size * at[axis];
                plain[axis] += at[axis];
                normal[axis] += n[axis];
            }
            whole += size;
            count += 1.0;
        }
        let centre = if whole > 0.0 { sum.map(|x| x / whole) } else { plain.map(|x| x / count) };
        let mut first = [[0.0; 3]; 3];
        for corners in triangles {
            let (n, far) = (area(&corners), less(middle(&corners), centre));
            for (row, far) in first.iter_mut().zip(far) {
                row.iter_mut().zip(n).for_each(|(x, n)| *x += far * n);
            }
        }
        Self { centre, normal, first }
    }

    /// The solid angle from a point at `r` before the centre.
    pub fn angle(&self, r: [f64; 3]) -> f64 {
        let square = dot(r, r);
        let cube = square * square.sqrt();
        let trace: f64 = (0..3).map(|axis| self.first[axis][axis]).sum();
        let along = dot(r, self.first.map(|row| dot(row, r)));
        (dot(self.normal, r) + trace - 3.0 * along / square) / cube
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::{Moments, exact};

    /// An eighth of all directions through a face of an octahedron; from outside the negative, seen from a corner nothing.
    #[test]
    fn an_octahedron_is_seen_all_around() {
        let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert!((exact(&corners, [0.0; 3]).unwrap() - PI / 2.0).abs() < 1e-14);
        let third = 2.0 / 3.0;
        let mirrored = exact(&corners, [third; 3]).unwrap();
        assert!((mirrored + PI / 2.0).abs() < 1e-14, "{mirrored}");
        assert_eq!(exact(&corners, [1.0 / 3.0; 3]), None);
        assert_eq!(exact(&corners, [0.5, 0.5, 0.0]), None);
        assert_eq!(exact(&corners, [0.0, 0.0, 1.0]), None);
        // In its plane, beside it.
        assert_eq!(exact(&corners, [1.0, 1.0, -1.0]), Some(0.0));
    }

    /// What two moments leave out falls with the fourth power of the distance.
    #[test]
    fn moments_are_of_second_order() {
        let at = |i: i32, j: i32| {
            let (x, y) = (f64::from(i) / 3.0, f64::from(j) / 3.0);
            [x, y, -0.4 * x * x - 0.2 * x * y * y + 0.1 * y]
        };
        let square =
            |i: i32, j: i32| [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]];
        let patch: Vec<_> = (-3..3).flat_map(|i| (-3..3).flat_map(move |j| square(i, j))).collect();
        let moments = Moments::of(patch.iter().copied());
        for direction in [[1.0, 0.2, 0.3], [0.1, -0.4, 1.0], [0.7, 0.7, -0.6]] {
            let error = |far: f64| {
                let point: [f64; 3] = std::array::from_fn(|axis| moments.centre[axis] - far * direction[axis]);
                let sum: f64 = patch.iter().map(|corners| exact(corners, point).unwrap()).sum();
                (moments.angle(direction.map(|x| far * x)) - sum).abs()
            };
            let order = (error(8.0) / error(16.0)).log2();
            assert!(order > 3.7, "{direction:?}: {}, {}, order {order}", error(8.0), error(16.0));
        }
    }
}
