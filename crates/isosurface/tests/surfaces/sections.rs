//! Planar sections, against areas in closed form.

use zippy::transport::{copied, values};
use zippy::{Config, Layout, Result, Split, run_with};
use zippy_isosurface::{Attribute, Grid, Plane, Statistics, cut, statistics};

use super::fields::{Field, random};
use super::solid::cuts;
use super::support::launcher;

const SHAPE: [i64; 3] = [37, 11, 9];

/// Corners of a triangle, each with its position and two values, as bits.
type Triangle = [[u32; 5]; 3];

/// Section of a field of random samples, with the values of a linear field; all triangles on rank
/// 0.
fn section(
    config: Config,
    shape: [i64; 3],
    how: impl Fn(Layout) -> Layout + Sync,
    grid: Grid,
    plane: Plane,
) -> (Option<Vec<Triangle>>, Statistics) {
    let found = run_with(config, |world| {
        let layout = how(Layout::new(shape));
        let field =
            Field::new(shape, |[x, y, z]| random((x + 50 * (y + 50 * z)) as u32)).array(world, &layout, None)?;
        let linear = world.array::<i16, 3>("linear", &Layout::new(shape).split_all(Split::Auto))?;
        linear.fill_with(|[x, y, z]| (3 * x - 5 * y + 7 * z) as i16)?;
        let attributes: [&dyn Attribute; 1] = [&linear];
        let mesh = cut(world, &field, grid, plane, &attributes)?;
        let names: Vec<&str> = mesh.fields().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["field", "linear"]);
        let mut words = Vec::new();
        for &vertex in mesh.triangles().iter().flatten() {
            let of = mesh.fields().iter().map(|(_, values)| values[vertex as usize]);
            words.extend(mesh.positions()[vertex as usize].into_iter().chain(of).map(f32::to_bits));
        }
        let parts = world.group().gather(0, copied(&words))?;
        let parts = parts.map(|parts| parts.iter().map(values::<u32>).collect::<Result<Vec<_>>>()).transpose()?;
        let triangles = parts.map(|parts| {
            let mut all: Vec<Triangle> = parts
                .iter()
                .flat_map(|words| words.as_chunks::<5>().0.as_chunks::<3>().0)
                .map(|&[a, b, c]| [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap())
                .collect();
            all.sort_unstable();
            all
        });
        Ok((triangles, statistics(world, &mesh)?))
    });
    let found = found.unwrap();
    let numbers = found[0].1.clone();
    (found.into_iter().find_map(|(triangles, _)| triangles), numbers)
}

fn alone(shape: [i64; 3], grid: Grid, plane: Plane) -> (Vec<Triangle>, Statistics) {
    let (triangles, found) = section(Config::apart(1), shape, |layout| layout, grid, plane);
    (triangles.unwrap(), found)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| a[axis] * b[axis]).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn check(triangles: &[Triangle], grid: Grid, plane: Plane) {
    let length = dot(plane.normal, plane.normal).sqrt();
    for triangle in triangles {
        let [a, b, c] = triangle.map(|corner| [0, 1, 2].map(|axis| f64::from(f32::from_bits(corner[axis]))));
        for (corner, at) in triangle.iter().zip([a, b, c]) {
            let distance = (dot(plane.normal, at) - plane.offset) / length;
            assert!(distance.abs() < 1e-5, "{at:?}: {distance}");
            // Index of the vertex, by Cramer's rule.
            let [u, v, w] = grid.steps();
            let from = [0, 1, 2].map(|axis| at[axis] - grid.origin[axis]);
            let volume = dot(u, cross(v, w));
            let index = [dot(from, cross(v, w)), dot(u, cross(from, w)), dot(u, cross(v, from))].map(|x| x / volume);
            let expected = 3.0 * index[0] - 5.0 * index[1] + 7.0 * index[2];
            let value = f64::from(f32::from_bits(corner[4]));
            assert!((value - expected).abs() < 1e-3, "{at:?}: {value} and not {expected}");
            assert!((0.0..=1.0).contains(&f32::from_bits(corner[3])));
        }
        let side = |to: [f64; 3]| [0, 1, 2].map(|axis| to[axis] - a[axis]);
        assert!(dot(cross(side(b), side(c)), plane.normal) >= -1e-6 * length, "{triangle:?}");
    }
}

#[test]
fn section_areas_equal_closed_form() {
    let (shape, root) = ([9, 9, 9], f64::sqrt);
    for (normal, offset, area) in [
        ([0.0, 0.0, 1.0], 3.5, 64.0),
        ([0.0, -2.0, 0.0], -6.5, 64.0),
        ([1.0, 0.0, 0.0], 3.0, 64.0),
        ([-1.0, 0.0, 0.0], -3.0, 64.0),
        ([1.0, 1.0, 0.0], 8.0, 64.0 * root(2.0)),
        ([-1.0, -1.0, 0.0], -8.0, 64.0 * root(2.0)),
        ([1.0, 0.0, -1.0], 0.0, 64.0 * root(2.0)),
        ([1.0, 1.0, 1.0], 12.0, 64.0 * 0.75 * root(3.0)),
        ([-1.0, -1.0, -1.0], -12.0, 64.0 * 0.75 * root(3.0)),
        ([1.0, 1.0, 1.0], 8.0, 0.25 * root(3.0) * 128.0),
        ([1.0, 1.0, 1.0], 7.3, 0.25 * root(3.0) * 2.0 * 7.3 * 7.3),
        ([1.0, 0.0, 0.0], 0.0, 64.0),
        ([-1.0, 0.0, 0.0], 0.0, 64.0),
        ([0.0, 3.0, 0.0], 24.0, 64.0),
        ([0.0, -3.0, 0.0], -24.0, 64.0),
        ([0.0, 0.0, 1.0], 8.0, 64.0),
        // Outside of the box, or through an edge or a corner.
        ([0.0, 0.0, 1.0], 8.001, 0.0),
        ([0.0, 0.0, 1.0], -1e300, 0.0),
        ([1.0, 1.0, 0.0], 0.0, 0.0),
        ([-1.0, -1.0, 0.0], 0.0, 0.0),
        ([1.0, 1.0, 1.0], 24.0, 0.0),
        ([-1.0, -1.0, -1.0], -24.0, 0.0),
    ] {
        let plane = Plane { normal, offset };
        let (triangles, found) = alone(shape, Grid::default(), plane);
        assert!((found.area - area).abs() < 1e-4, "{plane:?}: {} and not {area}", found.area);
        assert_eq!((triangles.is_empty(), found.nonmanifold_edges), (area == 0.0, 0), "{plane:?}");
        let disc = (i64::from(area > 0.0), u64::from(area > 0.0));
        assert_eq!((found.euler, found.components), disc, "{plane:?}");
        check(&triangles, Grid::default(), plane);
    }
}

/// Planes through samples of a skewed grid with an arbitrary origin.
#[test]
fn rounding_leaves_no_hole_in_section() {
    let grid = Grid::from_steps([0.1, -7.3, 1e3], [[0.3, 0.1, 0.0], [-0.3, 0.7, 0.2], [0.1, 0.0, -1.1]]);
    let [u, v, w] = grid.steps();
    for (one, other, third, last) in [(u, v, w, 8), (v, w, u, 36), (w, u, v, 10)] {
        for turn in [1.0, -1.0] {
            let normal = cross(one, other).map(|x| turn * x);
            let area = dot(normal, normal).sqrt();
            for layer in 0..=last {
                let at = [0, 1, 2].map(|axis| grid.origin[axis] + f64::from(layer) * third[axis]);
                let plane = Plane { normal, offset: dot(normal, at) };
                let found = alone([37, 11, 9], grid, plane).1;
                let cells = 36 * 10 * 8 / last;
                assert_eq!((found.triangles, found.euler), (2 * cells as u64, 1), "layer {layer}");
                // Positions near 1000 are rounded to 32 bits.
                assert!((found.area / (area * f64::from(cells)) - 1.0).abs() < 1e-3, "{}", found.area);
            }
        }
    }
}

#[test]
fn section_is_equal_for_every_cut() {
    let skewed = Grid::from_steps([3.0, -2.0, 1.0], [[0.5, 0.1, 0.0], [-0.3, 0.8, 0.2], [0.1, 0.0, -1.5]]);
    for (grid, plane) in [
        (Grid::default(), Plane { normal: [1.0, 1.0, 1.0], offset: 20.0 }),
        (Grid::default(), Plane { normal: [0.0, 0.0, -1.0], offset: 0.0 }),
        (skewed, Plane { normal: [0.3, -0.8, 0.5], offset: 1.7 }),
    ] {
        let (expected, numbers) = alone(SHAPE, grid, plane);
        assert!(numbers.triangles > 100 && numbers.euler == 1 && numbers.components == 1, "{numbers:?}");
        check(&expected, grid, plane);
        for (how, ranks) in cuts().into_iter().zip([3, 5, 3, 5, 3, 1, 4]) {
            let (found, others) = section(Config::threads(launcher::counts(&[ranks])[0]), SHAPE, how, grid, plane);
            assert!(found.is_none_or(|found| found == expected) && others == numbers);
        }
    }
}

#[test]
fn thin_fields_have_no_section() {
    for shape in [[1, 1, 1], [5, 1, 7], [1, 7, 9], [0, 4, 4]] {
        for plane in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|normal| Plane { normal, offset: 0.0 }) {
            let config = Config::threads(launcher::counts(&[3])[0]);
            let (_, found) = section(config, shape, |layout| layout.split_all(Split::Auto), Grid::default(), plane);
            assert_eq!((found.vertices, found.triangles), (0, 0));
        }
    }
}

/// A vertex between a number and NaN has a number.
#[test]
fn nan_values_occur_only_at_nan_samples() {
    let shape = [6, 6, 6];
    run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let field = Field::new(shape, |[x, y, z]| if x == 2 { f32::NAN } else { (y + z) as f32 });
        let array = field.array(world, &Layout::new(shape).split_all(Split::Auto), None)?;
        let mesh = cut(world, &array, Grid::default(), Plane { normal: [0.0, 1.0, 0.0], offset: 2.5 }, &[])?;
        for (position, value) in mesh.positions().iter().zip(&mesh.fields()[0].1) {
            assert_eq!(value.is_nan(), position[0] == 2.0);
        }
        assert_eq!(mesh.triangle_count(), 50);
        Ok(())
    })
    .unwrap();
}

#[test]
fn invalid_plane_is_an_error_on_every_rank() {
    let results = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let array = world.array::<u8, 3>("field", &Layout::new([4; 3]).split_all(Split::Auto))?;
        let refused = |grid: Grid, normal: [f64; 3], offset: f64| {
            cut(world, &array, grid, Plane { normal, offset }, &[]).unwrap_err().to_string()
        };
        let errors = [
            refused(Grid::default(), [0.0; 3], 1.0),
            refused(Grid::default(), [1.0, f64::NAN, 0.0], 1.0),
            refused(Grid::default(), [1.0, 0.0, 0.0], f64::INFINITY),
            refused(Grid::new([0.0; 3], [1.0, 0.0, 1.0]), [1.0, 0.0, 0.0], 1.0),
        ];
        let plane = Plane { normal: [1e-300, 0.0, 0.0], offset: 1.5e-300 };
        assert_eq!(cut(world, &array, Grid::default(), plane, &[])?.triangle_count(), 18, "the world goes on");
        Ok(errors)
    });
    for errors in results.unwrap() {
        assert!(
            errors[..3].iter().all(|error| error.contains("its normal")) && errors[3].contains("finite and positive")
        );
    }
}
