//! Points of piecewise-linear functions: `[value, parts..]`, with ascending values.

/// Adds a point after all points with smaller or equal values. Returns its index.
pub(super) fn add<const N: usize>(points: &mut Vec<[f64; N]>, point: [f64; N]) -> usize {
    let at = points.partition_point(|other| other[0] <= point[0]);
    points.insert(at, point);
    at
}

/// Moves the value of a point, at most to the values of its neighbours and to the ends of `range`.
/// The index of the point stays the same.
pub(super) fn shift<const N: usize>(points: &mut [[f64; N]], index: usize, value: f64, range: [f64; 2]) {
    let low = index.checked_sub(1).map_or(range[0], |left| points[left][0]);
    let high = points.get(index + 1).map_or(range[1], |right| right[0]);
    points[index][0] = value.max(low).min(high.max(low));
}

/// Removes a point, except the last one. Returns true if the point was removed.
pub(super) fn remove<const N: usize>(points: &mut Vec<[f64; N]>, index: usize) -> bool {
    let removed = points.len() > 1 && index < points.len();
    if removed {
        points.remove(index);
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_points() -> Vec<[f64; 2]> {
        vec![[10.0, 0.1], [20.0, 0.2], [30.0, 0.3]]
    }

    #[test]
    fn points_stay_in_order() {
        let mut points = three_points();
        assert_eq!(add(&mut points, [20.0, 0.9]), 2);
        assert_eq!(add(&mut points, [5.0, 0.5]), 0);
        assert_eq!(points, [[5.0, 0.5], [10.0, 0.1], [20.0, 0.2], [20.0, 0.9], [30.0, 0.3]]);
        shift(&mut points, 1, 100.0, [0.0, 50.0]);
        assert_eq!(points[1], [20.0, 0.1]);
        shift(&mut points, 1, 1.0, [0.0, 50.0]);
        assert_eq!(points[1], [5.0, 0.1]);
        shift(&mut points, 0, -7.0, [0.0, 50.0]);
        shift(&mut points, 4, 99.0, [0.0, 50.0]);
        assert_eq!((points[0][0], points[4][0]), (0.0, 50.0));
    }

    #[test]
    fn the_last_point_stays() {
        let mut points = three_points();
        assert!(remove(&mut points, 1) && !remove(&mut points, 5));
        assert_eq!(points, [[10.0, 0.1], [30.0, 0.3]]);
        assert!(remove(&mut points, 1) && !remove(&mut points, 0));
        assert_eq!(points, [[10.0, 0.1]]);
    }
}
