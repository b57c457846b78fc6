//! Special fields and isovalues.

use zippy::{Config, Split, run_with};
use zippy_isosurface::{Extractor, Grid};

use super::fields::{Field, random};
use super::support::launcher::counts;

#[test]
fn fields_without_surface_give_empty_mesh() {
    for shape in [[1, 1, 1], [5, 1, 1], [1, 7, 9], [0, 4, 4], [2, 2, 2], [6, 5, 4]] {
        let field = Field::new(shape, |_| 3.0_f32);
        for isovalue in [2.0, 3.0, 4.0] {
            let found = field.statistics(3, isovalue);
            assert_eq!((found.vertices, found.triangles, found.euler, found.bounds), (0, 0, 0, None));
        }
    }
    // Layers that differ, but no cells.
    let flat = Field::new([8, 8, 1], |[x, ..]| x as f32);
    assert_eq!(flat.statistics(2, 3.5).vertices, 0);
}

#[test]
fn single_cell_has_one_triangle() {
    let field = Field::new([2, 2, 2], |at| if at == [0, 0, 0] { 1.0_f32 } else { -1.0 });
    for ranks in [1, 3, 8] {
        let (_, found) = field.cut(ranks, |layout| layout.split_all(Split::Even(2)), 0.0);
        assert_eq!((found.vertices, found.triangles, found.open_edges), (3, 1, 3));
        assert_eq!(found.bounds, Some([[1.0, 2.0, 3.0], [1.25, 2.375, 3.625]]));
    }
}

#[test]
fn isovalue_that_is_not_finite_is_an_error() {
    let field = Field::new([4, 4, 4], |[x, ..]| x as f32);
    for isovalue in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let errors = run_with(Config::threads(counts(&[2])[0]), |world| {
            let array = field.array(world, &zippy::Layout::new([4, 4, 4]).split_all(Split::Auto), None)?;
            let extractor = Extractor::new(world, &array, Grid::default())?;
            let error = extractor.extract(isovalue).unwrap_err().to_string();
            assert_eq!(extractor.extract(1.5)?.vertices(), 16);
            Ok(error)
        });
        for error in errors.unwrap() {
            assert!(error.contains("it must be a finite number"), "{error}");
        }
    }
}

#[test]
fn grid_without_volume_is_an_error() {
    let results = run_with(Config::threads(counts(&[2])[0]), |world| {
        let array = world.array::<f32, 3>("field", &zippy::Layout::new([4, 4, 4]).split_all(Split::Auto))?;
        let mut all = Vec::new();
        for spacing in [[1.0, 0.0, 1.0], [1.0, f64::NAN, 1.0], [1.0, 1e39, 1.0]] {
            all.push(Extractor::new(world, &array, Grid::new([0.0; 3], spacing)).err().unwrap().to_string());
        }
        Ok(all)
    });
    for errors in results.unwrap() {
        assert!(errors[..2].iter().all(|error| error.contains("finite and positive")), "{errors:?}");
        assert!(errors[2].contains("exceeds the range of f32"), "{errors:?}");
    }
}

#[test]
fn surfaces_of_nan_and_infinite_samples_are_closed() {
    let strange = [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE / 8.0];
    let field = Field::new([35, 9, 8], |[x, y, z]| {
        let one = random((x + 40 * (y + 40 * z)) as u32);
        let other = random((x + 40 * (y + 40 * z)) as u32 + 1_000_000);
        if one < 0.4 { strange[(one * 20.0) as usize] } else { other - 0.5 }
    });
    for outside in [-1.0, f32::NAN, f32::NEG_INFINITY] {
        let field = field.padded(outside);
        let (alone, found) = field.alone(0.0);
        assert_eq!((found.open_edges, found.nonmanifold_edges), (0, 0), "{found:?}");
        assert_eq!(found.vertices, field.crossed_edges(0.0) + found.interior_vertices);
        let bounds = found.bounds.unwrap();
        assert!(bounds.as_flattened().iter().all(|x| x.is_finite()), "{bounds:?}");
        assert!(alone.vertices.iter().flatten().all(|&bits| !f32::from_bits(bits).is_nan()));
        let cut = field.cut(5, |layout| layout.split_all(Split::Auto), 0.0).0;
        assert!(cut.is_none_or(|cut| cut == alone));
    }
}

/// NaN is outside; the surface passes an infinite sample at the position of its neighbour.
#[test]
fn surface_at_nan_and_infinite_samples() {
    for (inside, outside, place) in [
        (1.0, f32::NAN, 1.0),
        (1.0, f32::NEG_INFINITY, 1.0),
        (f32::INFINITY, -1.0, 1.5),
        (f32::INFINITY, f32::NAN, 1.25),
        (0.0, -1.0, 1.0),
    ] {
        let field = Field::new([2, 2, 2], |[x, ..]| if x == 0 { inside } else { outside });
        let (whole, found) = field.alone(0.0);
        assert_eq!((found.vertices, found.triangles), (4, 2), "{inside} {outside}");
        assert!(whole.vertices.iter().all(|vertex| f32::from_bits(vertex[0]) == place), "{inside} {outside}");
    }
}

/// Differences of numbers of any magnitude, and neighbours of infinite samples.
#[test]
fn surface_of_large_samples_has_exact_positions() {
    for (inside, outside, isovalue, fraction) in [
        (f32::MAX, f32::MIN, f32::MIN / 2.0, 0.75),
        (f32::INFINITY, -1e38, 0.0, 1.0),
        (f32::INFINITY, f32::MIN, 0.0, 1.0),
        (f32::MAX, f32::NEG_INFINITY, 0.0, 0.0),
    ] {
        let field = Field::new([2, 2, 2], |[x, ..]| if x == 0 { inside } else { outside });
        let whole = field.alone(isovalue).0;
        let expected = 1.0 + 0.5 * fraction;
        assert!(whole.vertices.iter().all(|vertex| f32::from_bits(vertex[0]) == expected), "{inside} {outside}");
    }
}

/// Each vertex has the label of its ball, on all ranks that have the vertex.
#[test]
fn vertices_have_the_labels_of_their_components() {
    let field = Field::new([30, 12, 12], |[x, y, z]| {
        let ball = |centre: f32| (x as f32 - centre).hypot((y as f32 - 5.4).hypot(z as f32 - 5.6));
        4.1 - ball(6.3).min(ball(22.7))
    });
    let all = run_with(Config::threads(counts(&[5])[0]), |world| {
        let array = field.array(world, &zippy::Layout::new(field.shape).split_all(Split::Auto), None)?;
        let mesh = Extractor::new(world, &array, Grid::default())?.extract(0.0)?;
        let labels = zippy_isosurface::components(world, &mesh)?;
        assert_eq!(labels.len(), mesh.positions().len());
        let sides = mesh.positions().iter().map(|position| position[0] > 14.5);
        Ok(sides.zip(labels).collect::<Vec<_>>())
    });
    let all: std::collections::BTreeSet<(bool, u64)> = all.unwrap().into_iter().flatten().collect();
    assert!(all.iter().any(|(_, label)| *label == 0) || counts(&[1]) != [1]);
    let labels = |side: bool| all.iter().filter(|found| found.0 == side).count();
    assert!(labels(false) <= 1 && labels(true) <= 1, "{all:?}");
    assert!(all.len() < 2 || all.first().unwrap().1 != all.last().unwrap().1);
}

/// Positions follow the grid; normals are perpendicular to the plane of all vertices.
#[test]
fn skewed_grid_has_positions_and_normals_in_space() {
    let field = Field::new([6, 5, 7], |[x, y, z]| (2 * x + y + 3 * z) as f32);
    let steps = [[0.5, 0.1, 0.0], [-0.3, 0.8, 0.2], [0.1, 0.0, -1.5]];
    let grid = Grid::from_steps([3.0, -2.0, 1.0], steps);
    run_with(Config::threads(counts(&[3])[0]), |world| {
        let array = field.array(world, &zippy::Layout::new(field.shape).split_all(Split::Auto), None)?;
        let mesh = Extractor::with_normals(world, &array, grid)?.extract(12.4)?;
        // n with n . steps = (2, 1, 3), so that the field is n . (position - origin).
        let determinant = |m: [[f64; 3]; 3]| -> f64 {
            let minor = |i: usize| {
                let (a, b) = ((i + 1) % 3, (i + 2) % 3);
                m[1][a] * m[2][b] - m[1][b] * m[2][a]
            };
            (0..3).map(|i| m[0][i] * minor(i)).sum()
        };
        let slope: [f64; 3] = std::array::from_fn(|column| {
            let mut m = steps;
            [2.0, 1.0, 3.0].into_iter().enumerate().for_each(|(row, value)| m[row][column] = value);
            determinant(m) / determinant(steps)
        });
        let length = slope.iter().map(|x| x * x).sum::<f64>().sqrt();
        for (position, normal) in mesh.positions().iter().zip(mesh.normals()) {
            let value: f64 = (0..3).map(|i| slope[i] * (f64::from(position[i]) - grid.origin[i])).sum();
            assert!((value - 12.4).abs() < 1e-4, "{position:?}");
            assert!((0..3).all(|i| (f64::from(normal[i]) + slope[i] / length).abs() < 1e-5), "{normal:?}");
        }
        assert!(mesh.vertices() > 50);
        Ok(())
    })
    .unwrap();
}

/// Mirrored axes would turn a mesh inside out if triangles kept their orientation.
#[test]
fn mirrored_grid_has_a_positive_volume() {
    let field = Field::new([12, 12, 12], |at| 4.2 - at.map(|x| (x as f32 - 5.5).powi(2)).iter().sum::<f32>().sqrt());
    let volumes = [[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -2.0, 1.0]].map(|spacing| {
        let found = run_with(Config::threads(counts(&[2])[0]), |world| {
            let array = field.array(world, &zippy::Layout::new([12, 12, 12]).split_all(Split::Auto), None)?;
            let steps =
                std::array::from_fn(|axis| std::array::from_fn(|row| if row == axis { spacing[axis] } else { 0.0 }));
            let grid = Grid::from_steps([0.0; 3], steps);
            let mesh = Extractor::with_normals(world, &array, grid)?.extract(0.0)?;
            let middle: [f64; 3] = std::array::from_fn(|axis| 5.5 * spacing[axis]);
            for (position, normal) in mesh.positions().iter().zip(mesh.normals()) {
                let away: f64 =
                    (0..3).map(|axis| (f64::from(position[axis]) - middle[axis]) * f64::from(normal[axis])).sum();
                assert!(away > 0.0);
            }
            Ok(zippy_isosurface::statistics(world, &mesh)?.volume)
        });
        found.unwrap()[0]
    });
    assert!(volumes[0] > 280.0 && volumes[0] < 310.4, "{volumes:?}");
    assert!((volumes[1] - volumes[0]).abs() < 1e-3 && (volumes[2] - 2.0 * volumes[0]).abs() < 1e-3, "{volumes:?}");
}
