//! The grid of what a file says of its axes, which may be fewer than three.

use zippy::Grid;

/// Grid of axes of which a file gives spacing, origin and directions, these of any length and in a space of one to three
/// dimensions. Missing axes have a spacing of 1 and point across the others.
pub fn grid(spacing: &[f64], origin: &[f64], directions: Option<&[Vec<f64>]>) -> Grid {
    let number = |numbers: &[f64], at: usize, none: f64| numbers.get(at).copied().unwrap_or(none);
    let along_space = Grid::new(
        std::array::from_fn(|row| number(origin, row, 0.0)),
        std::array::from_fn(|axis| number(spacing, axis, 1.0)),
    );
    let Some(directions) = directions else { return along_space };
    let known = directions.iter().take(3).map(|vector| unit(std::array::from_fn(|row| number(vector, row, 0.0))));
    along_space.with_directions(completed(known.collect()))
}

/// Three directions of which the first ones are known.
fn completed(known: Vec<[f64; 3]>) -> [[f64; 3]; 3] {
    let along = |axis: usize| std::array::from_fn(|row| f64::from(u8::from(row == axis)));
    let across = |a: [f64; 3], b: [f64; 3]| {
        unit([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    };
    match known[..] {
        [a, b, c] => [a, b, c],
        [a, b] => {
            let third = across(a, b);
            // A slice of the plane of x and y points along z, also where one of its axes is reversed.
            [a, b, if third[2] < 0.0 { third.map(|part| 0.0 - part) } else { third }]
        }
        [a] => {
            let least = |&one: &usize, &other: &usize| a[one].abs().total_cmp(&a[other].abs());
            let beside = [1, 2, 0].into_iter().min_by(least).unwrap_or(1);
            let share = a[beside];
            let second: [f64; 3] = std::array::from_fn(|row| f64::from(u8::from(row == beside)) - share * a[row]);
            let second = unit(second);
            [a, second, across(a, second)]
        }
        _ => [along(0), along(1), along(2)],
    }
}

/// A vector of length 1; one without a direction stays as it is.
fn unit(vector: [f64; 3]) -> [f64; 3] {
    let most = vector.iter().fold(0.0_f64, |most, part| most.max(part.abs()));
    if most == 0.0 || !most.is_finite() {
        return vector;
    }
    let scaled = vector.map(|part| part / most);
    let length = scaled.iter().map(|part| part * part).sum::<f64>().sqrt();
    // Unit vectors keep their bits.
    if (length * most - 1.0).abs() < 1e-15 { vector } else { scaled.map(|part| part / length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_axes_point_across_the_known_ones() {
        let directions = |known: &[Vec<f64>]| grid(&[2.0], &[5.0, 6.0, 7.0], Some(known)).directions;
        let [x, y, z] = Grid::default().directions;
        assert_eq!(directions(&[]), [x, y, z]);
        assert_eq!(directions(&[vec![3.0]]), [x, y, z]);
        assert_eq!(directions(&[vec![2.0, 0.0], vec![0.0, 0.5]]), [x, y, z]);
        assert_eq!(directions(&[vec![0.0, 2.0], vec![3.0, 0.0]]), [y, x, z]);
        assert_eq!(directions(&[vec![0.0, 2.0, 0.0], vec![0.0, 0.0, 4.0]]), [y, z, x]);
        for known in [vec![0.0, 0.6, -0.8], vec![0.0, 0.0, 2.0], vec![1.0, 2.0, 3.0]] {
            let found = grid(&[2.0], &[5.0, 6.0, 7.0], Some(&[known]));
            assert_eq!((found.check(), found.is_mirrored()), (Ok(()), false), "{found:?}");
            assert_eq!((found.origin, found.spacing), ([5.0, 6.0, 7.0], [2.0, 1.0, 1.0]));
        }
        // Without a direction of its own an axis has no grid.
        assert!(grid(&[1.0; 3], &[], Some(&[vec![0.0; 3], y.to_vec(), z.to_vec()])).check().is_err());
    }

    #[test]
    fn unit_directions_keep_their_bits() {
        let turned = [[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [0.64, -0.48, 0.6]];
        assert_eq!(grid(&[], &[], Some(&turned.map(|vector| vector.to_vec()))).directions, turned);
    }
}
