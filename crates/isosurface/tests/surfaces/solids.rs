//! Thresholds and clips: against direct loops, for every cut, and for special values.

use std::collections::{BTreeMap, BTreeSet};

use zippy::{Config, Layout, Split, run_with};
use zippy_isosurface::{Corners, Extractor, Grid, IsosurfaceError, Side};

use super::fields::{Field, random};
use super::solid::{GRID, Solid, alone, assert_positive_volumes, cuts, filtered, owned};
use super::support::launcher;

const SHAPE: [i64; 3] = [37, 11, 9];

const RANKS: [usize; 7] = [3, 5, 3, 5, 3, 1, 4];

/// Random samples, some of them NaN.
fn noisy() -> Field<f32> {
    Field::new(SHAPE, |[x, y, z]| {
        let one = random((x * 7919 + y * 104_729 + z * 1_299_709) as u32);
        if one > 0.97 { f32::NAN } else { one }
    })
}

pub(crate) fn plain(shape: [i64; 3]) -> Field<f32> {
    Field::new(shape, |[x, y, z]| random((x + 50 * (y + 50 * z)) as u32) - 0.4)
}

pub(crate) fn corners([x, y, z]: [i64; 3]) -> [[i64; 3]; 8] {
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
        .map(|[i, j, k]| [x + i, y + j, z + k])
}

pub(crate) fn cells(shape: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    let [x, y, z] = shape.map(|n| n - 1);
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
}

/// Position of a sample of the tests' grid, as bits.
fn position_bits([x, y, z]: [i64; 3]) -> [u32; 3] {
    [1.0 + 0.5 * x as f32, 2.0 + 0.75 * y as f32, 3.0 + 1.25 * z as f32].map(f32::to_bits)
}

pub(crate) fn volume_of(shape: [i64; 3]) -> f64 {
    shape.iter().zip([0.5, 0.75, 1.25]).map(|(&n, step)| (n - 1) as f64 * step).product()
}

#[test]
fn thresholds_equal_direct_selection() {
    let field = noisy();
    for (range, rule, least) in [
        (0.1..=0.9, Corners::All, 100),
        (0.3..=0.32, Corners::Any, 100),
        (0.5..=0.5, Corners::All, 0),
        (f32::NEG_INFINITY..=f32::INFINITY, Corners::All, 1000),
        (0.999..=f32::INFINITY, Corners::Any, 0),
    ] {
        let is_in = |at: [i64; 3]| field.at(at) >= *range.start() && field.at(at) <= *range.end();
        let is_kept = |cell: &[i64; 3]| match rule {
            Corners::All => corners(*cell).into_iter().all(is_in),
            Corners::Any => corners(*cell).into_iter().any(is_in),
        };
        let kept: BTreeSet<[[u32; 3]; 8]> =
            cells(SHAPE).filter(is_kept).map(|cell| corners(cell).map(position_bits)).collect();
        let points: BTreeMap<[u32; 3], u32> = cells(SHAPE)
            .filter(is_kept)
            .flat_map(corners)
            .map(|at| (position_bits(at), field.at(at).to_bits()))
            .collect();
        assert!(kept.len() >= least, "{}", kept.len());
        let check = |found: Solid| {
            let at = |point: usize| -> [u32; 3] { std::array::from_fn(|axis| found.points[point][axis]) };
            let cells: BTreeSet<[[u32; 3]; 8]> =
                found.cells.iter().map(|cell| std::array::from_fn(|corner| at(cell[corner]))).collect();
            assert!(cells == kept && found.cells.len() == kept.len());
            assert!(found.points.iter().map(|point| ([point[0], point[1], point[2]], point[3])).eq(points.clone()));
            let volume = kept.len() as f64 * 0.5 * 0.75 * 1.25;
            assert_eq!(found.found.volume, volume, "whole numbers of cells");
        };
        check(alone(&field, GRID, |_, extractor| extractor.threshold(range.clone(), rule, &[])));
        for (cut, ranks) in cuts().into_iter().zip(RANKS) {
            filtered(&field, ranks, cut, |_, extractor| extractor.threshold(range.clone(), rule, &[]))
                .into_iter()
                .for_each(check);
        }
    }
}

/// Smooth fields skip whole bricks, including bricks with corners of another chunk's cells.
#[test]
fn thresholds_and_clips_of_smooth_fields_are_the_same_for_every_number_of_ranks() {
    let mut cells = [0; 3];
    for number in 0..8 {
        let wave = |place: i64, axis: u32| {
            let length = 5.0 + 20.0 * random(97 * number + 7 * axis);
            ((place as f32 + 50.0 * random(31 * number + axis)) / length).sin()
        };
        let field = Field::new([41, 23, 19], |[x, y, z]| wave(x, 1) + wave(y, 2) * wave(z, 3) + 0.5 * wave(x + y, 4));
        let low = 1.5 * random(number) - 0.7;
        for (filter, rule) in [Some(Corners::Any), Some(Corners::All), None].into_iter().enumerate() {
            let filtering = |_: &zippy::World, extractor: &Extractor<'_, f32>| match rule {
                Some(rule) => extractor.threshold(low..=low + 0.2, rule, &[]),
                None => extractor.clip(low, Side::Above, &[]),
            };
            let expected = alone(&field, GRID, filtering);
            cells[filter] += expected.found.cells.hexahedra;
            for ranks in [2, 3, 5, 8] {
                let found = filtered(&field, ranks, |layout| layout.split_all(Split::Auto), filtering);
                assert!(found.is_none_or(|found| found == expected), "field {number}, {rule:?}, {ranks} ranks");
            }
        }
    }
    assert!(cells.iter().all(|&cells| cells > 500), "{cells:?}");
}

#[test]
fn the_same_clip_for_every_cut() {
    // Includes samples that equal the isovalue.
    let rough = Field::new(SHAPE, |at| {
        let value = noisy().at(at);
        if value < 0.2 { value } else { (8.0 * value).floor() / 8.0 }
    });
    for (field, isovalue) in [(&noisy(), 0.5), (&rough, 0.5)] {
        for side in [Side::Above, Side::Below] {
            let clip = |_: &zippy::World, extractor: &Extractor<'_, f32>| extractor.clip(isovalue, side, &[]);
            let expected = alone(field, GRID, clip);
            assert!(expected.found.cells.hexahedra > 5 && expected.found.cells.tetrahedra > 4000);
            for (cut, ranks) in cuts().into_iter().zip(RANKS) {
                assert!(filtered(field, ranks, cut, clip).is_none_or(|found| found == expected));
            }
            let ranks = launcher::counts(&[4])[0];
            let owners = (0..24).map(|chunk| [0, 3, 1, 3, 0][chunk % 5] % ranks).collect();
            let found = owned(field, Config::threads(ranks), &cuts()[3], Some(owners), GRID, clip);
            assert!(found.is_none_or(|found| found == expected));
        }
    }
}

/// NaN, infinities and ties: both sides together fill the whole box, on any grid.
#[test]
fn clips_of_special_samples_and_grids_fill_the_box() {
    let strange = [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE / 8.0];
    let field = Field::new([35, 9, 8], |[x, y, z]| {
        let one = random((x + 40 * (y + 40 * z)) as u32);
        if one < 0.4 { strange[(one * 20.0) as usize] } else { random((z + 9 * (y + 40 * x)) as u32) - 0.5 }
    });
    let skewed = Grid::from_steps([3.0, -2.0, 1.0], [[0.5, 0.1, 0.0], [-0.3, 0.8, 0.2], [0.1, 0.0, -1.5]]);
    let determinant = |[a, b, c]: [[f64; 3]; 3]| -> f64 {
        (0..3).map(|i| a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3])).sum()
    };
    for grid in [GRID, skewed, Grid::from_steps([0.0; 3], [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])] {
        let both = [Side::Above, Side::Below]
            .map(|side| alone(&field, grid, move |_, extractor| extractor.clip(0.0, side, &[])));
        let box_ = 34.0 * 8.0 * 7.0 * determinant(grid.steps()).abs();
        let sum = both[0].found.volume + both[1].found.volume;
        assert!((sum - box_).abs() < 1e-5 * box_, "{sum} {box_}");
        assert!(both.iter().all(|solid| solid.found.volume > 0.1 * box_));
        both.iter().for_each(assert_positive_volumes);
        let all = alone(&field, grid, |_, extractor| extractor.threshold(0.0..=0.2, Corners::Any, &[]));
        assert_positive_volumes(&all);
        let cells = all.found.cells.hexahedra as f64;
        assert!((all.found.volume - cells * determinant(grid.steps()).abs()).abs() < 1e-4 * cells && cells > 100.0);
    }
}

/// Linear fields, whose values follow from positions.
#[test]
fn values_of_further_fields() {
    let field = plain(SHAPE);
    let check = |solid: Solid| {
        for point in 0..solid.points.len() {
            let [x, y, z] = solid.position(point);
            let (i, j, k) = ((x - 1.0) / 0.5, (y - 2.0) / 0.75, (z - 3.0) / 1.25);
            assert!((f64::from(solid.value(point, 1)) - (3.0 * i - 5.0 * j + 7.0 * k)).abs() < 1e-4);
            assert!(solid.value(point, 0) > -1e-6);
        }
        assert!(solid.points.len() > 3000);
    };
    let clip = |world: &zippy::World, extractor: &Extractor<'_, f32>| {
        let other = world.array::<i16, 3>("other", &Layout::new(SHAPE).split_all(Split::Auto))?;
        other.fill_with(|[x, y, z]| (3 * x - 5 * y + 7 * z) as i16)?;
        let mesh = extractor.clip(0.0, Side::Above, &[&other])?;
        let names: Vec<&str> = mesh.fields().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["field", "other"]);
        Ok(mesh)
    };
    for cut in cuts().into_iter().take(4) {
        filtered(&field, 3, cut, clip).into_iter().for_each(check);
    }
}

/// Each face has two tetrahedra, or lies on the isosurface, on the box, or on a hexahedron.
#[test]
fn faces_of_tetrahedra_fit_together() {
    let wave = |place: i64, length: f32| (place as f32 / length).sin();
    let field =
        Field::new([23, 17, 15], |[x, y, z]| wave(x, 3.1) + wave(y, 2.7) * wave(z, 4.3) + 0.1 * wave(x + z, 1.3));
    for side in [Side::Above, Side::Below] {
        let solid = alone(&field, GRID, |_, extractor| extractor.clip(0.2, side, &[]));
        let mut faces: BTreeMap<[usize; 3], usize> = BTreeMap::new();
        let mut of_hexahedra = BTreeSet::new();
        for cell in &solid.cells {
            match cell[..] {
                [a, b, c, d] => {
                    for mut face in [[a, b, c], [a, b, d], [a, c, d], [b, c, d]] {
                        face.sort_unstable();
                        *faces.entry(face).or_default() += 1;
                    }
                }
                _ => of_hexahedra.extend(cell.iter().copied()),
            }
        }
        let [low, high] = solid.found.bounds.unwrap();
        for (face, count) in &faces {
            assert!(*count <= 2, "{face:?} has {count} tetrahedra");
            let on = |is_there: &dyn Fn(usize) -> bool| face.iter().all(|&point| is_there(point));
            let is_cut = on(&|point| (solid.value(point, 0) - 0.2).abs() < 1e-5);
            let is_outer = (0..3).any(|axis| {
                let at = |point: usize| solid.position(point)[axis] as f32;
                on(&|point| at(point) == low[axis]) || on(&|point| at(point) == high[axis])
            });
            let is_beside_whole = on(&|point| of_hexahedra.contains(&point));
            assert!(*count == 2 || is_cut || is_outer || is_beside_whole, "{face:?} has one tetrahedron");
        }
        assert!(faces.len() > 5000, "{}", faces.len());
    }
}

#[test]
fn empty_and_full_selections() {
    for shape in [[1, 1, 1], [5, 1, 1], [1, 7, 9], [0, 4, 4], [2, 2, 2], [6, 5, 4]] {
        let field = Field::new(shape, |_| 3.0_f32);
        let cells = shape.iter().map(|n| (n - 1).max(0) as u64).product::<u64>();
        let check = |filter: &(dyn Fn(&Extractor<'_, f32>) -> zippy::Result<zippy_isosurface::VolumeMesh> + Sync),
                     expected| {
            let solid = filtered(&field, 3, |layout| layout.split_all(Split::Auto), |_, extractor| filter(extractor));
            if let Some(solid) = solid {
                let counts = solid.found.cells;
                assert_eq!((counts.hexahedra, counts.all()), (expected, expected), "{shape:?}");
                assert_eq!(solid.found.bounds.is_some(), expected > 0);
            }
        };
        check(&|one| one.clip(3.0, Side::Above, &[]), cells);
        check(&|one| one.clip(3.0, Side::Below, &[]), 0);
        check(&|one| one.clip(3.5, Side::Below, &[]), cells);
        check(&|one| one.clip(3.5, Side::Above, &[]), 0);
        check(&|one| one.threshold(3.0..=3.0, Corners::All, &[]), cells);
        check(&|one| one.threshold(3.5..=4.0, Corners::Any, &[]), 0);
    }
}

#[test]
fn invalid_ranges_are_errors_on_every_rank() {
    let results = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let field = plain([6, 5, 4]).array(world, &Layout::new([6, 5, 4]).split_all(Split::Auto), None)?;
        let extractor = Extractor::new(world, &field, Grid::default())?;
        let other = world.array::<u8, 3>("other", &Layout::new([6, 5, 5]).split_all(Split::Auto))?;
        let mut errors = Vec::new();
        for (low, high) in [(1.0, 0.0), (f32::NAN, 1.0), (0.0, f32::NAN)] {
            errors.push(extractor.threshold(low..=high, Corners::All, &[]).unwrap_err());
        }
        for isovalue in [f32::NAN, f32::INFINITY] {
            errors.push(extractor.clip(isovalue, Side::Below, &[]).unwrap_err());
        }
        errors.push(extractor.clip(0.0, Side::Below, &[&other]).unwrap_err());
        assert!(extractor.clip(0.0, Side::Below, &[])?.point_count() > 0, "the world goes on");
        Ok(errors.iter().map(ToString::to_string).collect::<Vec<_>>())
    });
    for errors in results.unwrap() {
        let found = |part: &str| errors.iter().filter(|error| error.contains(part)).count();
        assert_eq!((found("not above the second"), found("finite number"), found("the same shape")), (3, 2, 1));
        assert!(errors[0].contains(&IsosurfaceError::Range(1.0, 0.0).to_string()), "{errors:?}");
    }
}
