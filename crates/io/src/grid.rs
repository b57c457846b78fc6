//! Grids from the axes of a file, which can be fewer than three.

use zippy_plan::Grid;

use crate::voxels::Stated;

pub(crate) type Directions = Vec<Vec<f64>>;

/// Grid of up to three axes in a space of one to three dimensions. The lengths of the directions
/// are ignored. Missing axes have a spacing of 1 and are perpendicular to the others.
pub(crate) fn grid(spacing: &[f64], origin: &[f64], directions: Option<&[Vec<f64>]>) -> Grid {
    let number = |numbers: &[f64], at: usize, none: f64| numbers.get(at).copied().unwrap_or(none);
    let along_space = Grid::new(
        std::array::from_fn(|row| number(origin, row, 0.0)),
        std::array::from_fn(|axis| number(spacing, axis, 1.0)),
    );
    let Some(directions) = directions else { return along_space };
    let known = directions.iter().take(3).map(|vector| unit(std::array::from_fn(|row| number(vector, row, 0.0))));
    along_space.with_directions(complete_directions(known.collect()))
}

/// Moves the lengths of directions into the spacing: returns the new spacing and unit vectors.
///
/// In a file, voxel `i` of an axis has the position `i * spacing * direction`, so the length of a
/// direction is a factor of the spacing. The default spacing is 1. If all directions have length 1,
/// both stay unchanged.
pub(crate) fn move_lengths_into_spacing(
    mut spacing: Option<Stated<Vec<f64>>>,
    directions: Option<Stated<Directions>>,
) -> (Option<Stated<Vec<f64>>>, Option<Directions>) {
    let Some(Stated { value: mut directions, at }) = directions else { return (spacing, None) };
    let lengths: Vec<f64> = directions.iter_mut().map(|vector| normalise(vector)).collect();
    if lengths.iter().any(|&length| length != 1.0) {
        let spacing = spacing.get_or_insert_with(|| Stated::new(vec![1.0; lengths.len()], at));
        spacing.value.iter_mut().zip(lengths).for_each(|(spacing, length)| *spacing *= length);
    }
    (spacing, Some(directions))
}

fn complete_directions(known: Vec<[f64; 3]>) -> [[f64; 3]; 3] {
    let along = |axis: usize| std::array::from_fn(|row| f64::from(u8::from(row == axis)));
    let perpendicular = |a: [f64; 3], b: [f64; 3]| {
        unit([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    };
    match known[..] {
        [a, b, c] => [a, b, c],
        [a, b] => {
            let third = perpendicular(a, b);
            // A slice of the x-y plane gets the direction of z, even if one of its axes is
            // reversed.
            [a, b, if third[2] < 0.0 { third.map(|part| 0.0 - part) } else { third }]
        }
        [a] => {
            let least = |&i: &usize, &j: &usize| a[i].abs().total_cmp(&a[j].abs());
            let least_axis = [1, 2, 0].into_iter().min_by(least).unwrap_or(1);
            let share = a[least_axis];
            let second: [f64; 3] = std::array::from_fn(|row| f64::from(u8::from(row == least_axis)) - share * a[row]);
            let second = unit(second);
            [a, second, perpendicular(a, second)]
        }
        _ => [along(0), along(1), along(2)],
    }
}

fn unit(mut vector: [f64; 3]) -> [f64; 3] {
    normalise(&mut vector);
    vector
}

/// Normalises a vector and returns its length. A zero or non-finite vector stays unchanged and
/// counts as length 1.
fn normalise(vector: &mut [f64]) -> f64 {
    let most = vector.iter().fold(0.0_f64, |most, part| most.max(part.abs()));
    if most == 0.0 || !vector.iter().all(|part| part.is_finite()) {
        return 1.0;
    }
    let scaled = vector.iter().map(|part| (part / most).powi(2)).sum::<f64>().sqrt();
    // Unit vectors keep their bits.
    if (scaled * most - 1.0).abs() < 1e-15 {
        return 1.0;
    }
    vector.iter_mut().for_each(|part| *part = *part / most / scaled);
    scaled * most
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
        // Two known directions and a zero vector give no grid.
        assert!(grid(&[1.0; 3], &[], Some(&[vec![0.0; 3], y.to_vec(), z.to_vec()])).check().is_err());
    }

    #[test]
    fn lengths_of_directions_are_factors_of_the_spacing() {
        let stated = |vectors: Vec<Vec<f64>>| Some(Stated::new(vectors, 7));
        let vectors = vec![vec![2.0, 0.0, 0.0], vec![0.0, -3.0, 4.0], vec![0.0; 3], vec![f64::NAN, 1.0, 0.0]];
        let (spacing, directions) =
            move_lengths_into_spacing(Some(Stated::new(vec![0.5, 2.0, 3.0, 4.0], 5)), stated(vectors.clone()));
        assert_eq!(spacing, Some(Stated::new(vec![1.0, 10.0, 3.0, 4.0], 5)));
        let directions = directions.unwrap();
        assert_eq!(directions[..3], [vec![1.0, 0.0, 0.0], vec![0.0, -0.6, 0.8], vec![0.0; 3]]);
        assert!(directions[3][0].is_nan() && directions[3][1] == 1.0);
        assert_eq!(move_lengths_into_spacing(None, stated(vectors)).0, Some(Stated::new(vec![2.0, 5.0, 1.0, 1.0], 7)));
        let extreme = stated(vec![vec![3e300, 4e300], vec![3e-300, -4e-300]]);
        let (Some(Stated { value: lengths, .. }), Some(extreme)) = move_lengths_into_spacing(None, extreme) else {
            panic!("no spacing")
        };
        assert!((lengths[0] / 5e300 - 1.0).abs() < 1e-15 && (lengths[1] / 5e-300 - 1.0).abs() < 1e-15, "{lengths:?}");
        assert!(extreme.iter().all(|vector| (vector[0] - 0.6).abs() < 1e-15 && (vector[1].abs() - 0.8).abs() < 1e-15));
    }

    #[test]
    fn unit_directions_keep_their_bits() {
        let turned = [[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [0.64, -0.48, 0.6]];
        let vectors = turned.map(|vector| vector.to_vec()).to_vec();
        assert_eq!(grid(&[], &[], Some(&vectors)).directions, turned);
        assert_eq!(move_lengths_into_spacing(None, Some(Stated::new(vectors.clone(), 7))), (None, Some(vectors)));
    }
}
